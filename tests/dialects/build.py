"""Foreign spans by hand: ids from names, times in seconds."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from agentpath_sdk.trajectories.model import ToolCall, Trajectory
from agentpath_sdk.trajectories.reconstruct import reconstruct
from agentpath_sdk.trajectories.span_record import SpanEvent, SpanRecord

EPOCH = 1_700_000_000 * 10**9


def hexed(name: str, digits: int) -> str:
    return hashlib.sha256(name.encode()).hexdigest()[:digits]


def span(
    key: str,
    attributes: dict[str, Any] | None = None,
    *,
    parent: str | None = None,
    at: float = 0.0,
    lasts: float = 1.0,
    trace: str = "one",
    name: str | None = None,
    scope: str | None = None,
    **more: Any,
) -> SpanRecord:
    """Return a span known as ``key``, from second ``at`` on."""
    return SpanRecord(
        trace_id=hexed(trace, 32),
        span_id=hexed(key, 16),
        name=key if name is None else name,
        parent_span_id=None if parent is None else hexed(parent, 16),
        start_unix_nano=EPOCH + round(at * 1e9),
        end_unix_nano=EPOCH + round((at + lasts) * 1e9),
        attributes=attributes or {},
        scope=scope,
        **more,
    )


def event(name: str, **attributes: Any) -> SpanEvent:
    return SpanEvent(name=name, attributes=attributes)


def only_run(*spans: SpanRecord) -> Trajectory:
    (run,) = reconstruct(spans)
    return run


def only_step(*spans: SpanRecord) -> ToolCall:
    (step,) = only_run(*spans).steps
    return step


def as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


# --- OpenInference ---------------------------------------------------------------------------------------------------

LANGCHAIN = "openinference.instrumentation.langchain"


def oi_agent(key: str = "helper", **more: Any) -> SpanRecord:
    return span(key, {"openinference.span.kind": "AGENT", "agent.name": key}, lasts=100, **more)


def oi_tool(key: str, given: Any = None, *, parent: str | None = "helper", **more: Any) -> SpanRecord:
    attributes: dict[str, Any] = {"openinference.span.kind": "TOOL", "tool.name": more.pop("tool", key)}
    if given is not None:
        attributes["input.value"] = given if isinstance(given, str) else as_json(given)
    return span(key, attributes | more.pop("attributes", {}), parent=parent, **more)


def oi_model(key: str, *calls: tuple[str, Any, str], parent: str | None = "helper", **more: Any) -> SpanRecord:
    attributes: dict[str, Any] = {"openinference.span.kind": "LLM", "llm.output_messages.0.message.role": "assistant"}
    for number, (tool, arguments, call_id) in enumerate(calls):
        start = f"llm.output_messages.0.message.tool_calls.{number}.tool_call"
        attributes |= {f"{start}.id": call_id, f"{start}.function.name": tool}
        if arguments is not None:
            attributes[f"{start}.function.arguments"] = as_json(arguments)
    return span(key, attributes | more.pop("attributes", {}), parent=parent, **more)
