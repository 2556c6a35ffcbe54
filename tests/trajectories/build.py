"""Spans by hand: ids from names, times in seconds."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from agentpath_sdk import semconv
from agentpath_sdk.trajectories.span_record import SpanEvent, SpanRecord

SECOND = 1_000_000_000
EPOCH = 1_700_000_000 * SECOND


def trace_id(name: str) -> str:
    """Return the trace id that stands for ``name``."""
    return hashlib.sha256(b"t" + name.encode()).hexdigest()[:32]


def span_id(name: str) -> str:
    """Return the span id that stands for ``name``."""
    return hashlib.sha256(b"s" + name.encode()).hexdigest()[:16]


def nanos(seconds: float) -> int:
    return EPOCH + round(seconds * SECOND)


def span(
    key: str,
    attributes: dict[str, Any] | None = None,
    *,
    parent: str | None = None,
    start: float = 0.0,
    end: float | None = None,
    trace: str = "one",
    name: str | None = None,
    scope: str | None = "agentpath_sdk",
    **more: Any,
) -> SpanRecord:
    """Return a span known as ``key``."""
    return SpanRecord(
        trace_id=trace_id(trace),
        span_id=span_id(key),
        name=name if name is not None else key,
        parent_span_id=None if parent is None else span_id(parent),
        start_unix_nano=nanos(start),
        end_unix_nano=nanos(start + 1 if end is None else end),
        attributes=attributes or {},
        scope=scope,
        **more,
    )


def agent(key: str, *, agent_name: str | None = "planner", calls: int | None = None, **more: Any) -> SpanRecord:
    """Return an agent's span."""
    attributes: dict[str, Any] = {semconv.OPERATION_NAME: semconv.OP_INVOKE_AGENT, **more.pop("attributes", {})}
    if agent_name is not None:
        attributes[semconv.AGENT_NAME] = agent_name
    if calls is not None:
        attributes[semconv.RUN_CALLS] = calls
    if (query := more.pop("query", None)) is not None:
        attributes[semconv.INPUT_MESSAGES] = messages(user(query))
    if (answer := more.pop("answer", None)) is not None:
        attributes[semconv.OUTPUT_MESSAGES] = messages(assistant(answer))
    return span(key, attributes, **more)


def tool(
    key: str, tool_name: str, arguments: Any = None, result: Any = None, call_id: str | None = None, **more: Any
) -> SpanRecord:
    """Return a tool's span; arguments and result as JSON text unless they are text already."""
    attributes: dict[str, Any] = {
        semconv.OPERATION_NAME: semconv.OP_EXECUTE_TOOL,
        semconv.TOOL_NAME: tool_name,
        **more.pop("attributes", {}),
    }
    if arguments is not None:
        attributes[semconv.TOOL_CALL_ARGUMENTS] = arguments if isinstance(arguments, str) else json.dumps(arguments)
    if result is not None:
        attributes[semconv.TOOL_CALL_RESULT] = result if isinstance(result, str) else json.dumps(result)
    if call_id is not None:
        attributes[semconv.TOOL_CALL_ID] = call_id
    return span(key, attributes, **more)


def model(key: str, *output: dict[str, Any], given: Any = None, **more: Any) -> SpanRecord:
    """Return a model's span whose answer is one message of the parts ``output``."""
    attributes: dict[str, Any] = {
        semconv.OPERATION_NAME: semconv.OP_CHAT,
        semconv.OUTPUT_MESSAGES: messages({"role": "assistant", "parts": list(output)}),
        **more.pop("attributes", {}),
    }
    if given is not None:
        attributes[semconv.INPUT_MESSAGES] = given
    return span(key, attributes, **more)


def asks(tool_name: str, arguments: Any, call_id: str | None = None) -> dict[str, Any]:
    """Return a message part that asks for a call."""
    return {"type": "tool_call", "id": call_id, "name": tool_name, "arguments": arguments}


def says(content: str) -> dict[str, Any]:
    """Return a message part of text."""
    return {"type": "text", "content": content}


def user(content: str) -> dict[str, Any]:
    return {"role": "user", "parts": [says(content)]}


def assistant(content: str) -> dict[str, Any]:
    return {"role": "assistant", "parts": [says(content)]}


def messages(*found: dict[str, Any]) -> str:
    return json.dumps(found, ensure_ascii=False)


def exception(kind: str, message: str) -> tuple[SpanEvent, ...]:
    """Return the event of an exception that left a span."""
    return (SpanEvent(name="exception", attributes={"exception.type": kind, "exception.message": message}),)
