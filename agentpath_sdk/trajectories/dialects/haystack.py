"""Haystack's own tracer: ``haystack.agent.*``, ``haystack.component.*``, ``haystack.tool.*``."""

from __future__ import annotations

from typing import Any, Final

from agentpath_sdk.trajectories.dialects import messages
from agentpath_sdk.trajectories.dialects.contents import answer_in, loaded, query_in
from agentpath_sdk.trajectories.dialects.dialect import Answer, Dialect, Request, Role, attribute
from agentpath_sdk.trajectories.shapes import as_object
from agentpath_sdk.trajectories.span_record import SpanRecord

__all__ = ["HAYSTACK"]

_NAME: Final = "haystack.component.name"
_TYPE: Final = "haystack.component.type"
_TOOL: Final = "haystack.tool.name"
_TOOL_OUTPUT: Final = "haystack.agent.step.tool.output"
_INPUTS: Final = (
    "haystack.agent.input", "haystack.agent.step.llm.input", "haystack.component.input", "haystack.pipeline.input_data",
)  # fmt: skip
_OUTPUTS: Final = (
    "haystack.agent.output", "haystack.agent.step.llm.output", "haystack.component.output",
    "haystack.pipeline.output_data",
)  # fmt: skip
_given: Final = attribute(*_INPUTS)
_said: Final = attribute(*_OUTPUTS)


def _role(span: SpanRecord) -> Role | None:
    name = span.name
    if name == "haystack.agent.step.tool" or _TOOL in span.attributes:
        return "tool"
    if name == "haystack.agent.run":
        return "agent"
    if name == "haystack.agent.step.llm":
        return "model"
    if name in ("haystack.pipeline.run", "haystack.async_pipeline.run"):
        return "chain"
    return _component_role(span) if name == "haystack.component.run" else "unsaid"


def _component_role(span: SpanRecord) -> Role:
    kind = str(span.attributes.get(_TYPE, ""))
    if kind == "Agent":
        return "agent"
    if kind == "ToolInvoker":
        return "invoker"
    return "model" if kind.endswith("Generator") else "none"


def _agent_name(span: SpanRecord) -> Any:
    return span.attributes.get(_NAME) if span.attributes.get(_TYPE) == "Agent" else None


def _error(span: SpanRecord) -> str | None:
    if span.attributes.get("haystack.tool.error") is not True:
        return None
    said = loaded(span.attributes.get(_TOOL_OUTPUT))
    return said if isinstance(said, str) and said else "the call returned an error"


def _executed(span: SpanRecord) -> tuple[Answer, ...] | None:
    return messages.answered(_said(span)) or None


def _requests(span: SpanRecord) -> tuple[Request, ...] | None:
    return messages.requests(_said(span)) or None


def _answered(span: SpanRecord) -> tuple[Answer, ...] | None:
    return messages.answered(_given(span)) or None


def _transcript(span: SpanRecord) -> tuple[messages.Message, ...] | None:
    return messages.transcript(_said(span)) or None


def _query(span: SpanRecord) -> str | None:
    return query_in(_given(span))


def _final_answer(span: SpanRecord) -> str | None:
    said = _said(span)
    return None if not as_object(loaded(said)) else answer_in(said)


def _without_history(span: SpanRecord) -> dict[str, Any] | None:
    name = next((name for name in _INPUTS if name in span.attributes), None)
    return None if name is None else {name: messages.abridged(span.attributes[name])}


HAYSTACK: Final = Dialect(
    name="haystack",
    role=_role,
    marks=frozenset(
        {_NAME, _TOOL, "haystack.agent.max_steps", "haystack.agent.step", "haystack.pipeline.metadata",
         "haystack.agent.step.tool.input", _TOOL_OUTPUT, *_INPUTS, *_OUTPUTS}
    ),
    agent_name=_agent_name,
    tool_name=attribute(_TOOL),
    call_id=attribute("haystack.tool.call.id"),
    arguments=attribute("haystack.agent.step.tool.input"),
    result=attribute(_TOOL_OUTPUT),
    returned_error=_error,
    executed=_executed,
    query=_query,
    final_answer=_final_answer,
    transcript=_transcript,
    input=_given,
    output=_said,
    requests=_requests,
    answered=_answered,
    without_history=_without_history,
)  # fmt: skip
