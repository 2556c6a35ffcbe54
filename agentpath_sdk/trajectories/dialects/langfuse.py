"""Langfuse: ``langfuse.observation.*``, values as JSON text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from agentpath_sdk.trajectories.dialects import messages
from agentpath_sdk.trajectories.dialects.argument_shapes import from_python_call
from agentpath_sdk.trajectories.dialects.contents import answer_in, loaded, query_in
from agentpath_sdk.trajectories.dialects.dialect import Answer, Dialect, Request, Role, attribute
from agentpath_sdk.trajectories.dialects.langchain_metadata import UNNAMED, is_agent_run
from agentpath_sdk.trajectories.dialects.results import call_id_in, error_in, result_in
from agentpath_sdk.trajectories.shapes import as_object
from agentpath_sdk.trajectories.span_record import SpanRecord

__all__ = ["LANGFUSE"]

_TYPE: Final = "langfuse.observation.type"
_INPUT: Final = "langfuse.observation.input"
_OUTPUT: Final = "langfuse.observation.output"
_METADATA: Final = "langfuse.observation.metadata."
_TYPES: Final[Mapping[str, Role]] = {
    "generation": "model",
    "tool": "tool",
    "agent": "agent",
    "chain": "chain",
    "span": "function",
    "retriever": "retrieval",
    "embedding": "none",
    "evaluator": "none",
    "guardrail": "none",
    "event": "none",
}


def _role(span: SpanRecord) -> Role | None:
    role: Role = _TYPES.get(str(span.attributes.get(_TYPE, "")).lower(), "unsaid")
    if role != "chain":
        return role
    return (
        "agent"
        if is_agent_run({k: _metadata(span, k) for k in ("lc_agent_name", "ls_integration")}, span.name)
        else role
    )


def _metadata(span: SpanRecord, name: str) -> Any:
    return loaded(span.attributes.get(_METADATA + name))


def _agent_name(span: SpanRecord) -> str | None:
    said = _metadata(span, "lc_agent_name")
    if isinstance(said, str) and said not in UNNAMED:
        return said
    named = span.attributes.get(_TYPE) in ("agent", "chain") and span.name not in UNNAMED
    return span.name if named else None


def _call_id(span: SpanRecord) -> str | None:
    said = _metadata(span, "tool_call_id")
    return str(said) if said else call_id_in(span.attributes.get(_OUTPUT))


def _arguments(span: SpanRecord) -> Any:
    return from_python_call(span.attributes.get(_INPUT))


def _result(span: SpanRecord) -> Any:
    said = span.attributes.get(_OUTPUT)
    return None if said is None else result_in(said)


def _returned_error(span: SpanRecord) -> str | None:
    if span.attributes.get("langfuse.observation.level") == "ERROR":
        return str(span.attributes.get("langfuse.observation.status_message") or "the call failed")
    return error_in(span.attributes.get(_OUTPUT))


def _requests(span: SpanRecord) -> tuple[Request, ...] | None:
    return messages.requests(span.attributes.get(_OUTPUT)) or None


def _answered(span: SpanRecord) -> tuple[Answer, ...] | None:
    return messages.answered(span.attributes.get(_INPUT)) or None


def _transcript(span: SpanRecord) -> tuple[messages.Message, ...] | None:
    return messages.transcript(span.attributes.get(_OUTPUT)) or None


def _query(span: SpanRecord) -> str | None:
    return query_in(span.attributes.get(_INPUT))


def _final_answer(span: SpanRecord) -> str | None:
    return answer_in(span.attributes.get(_OUTPUT))


def _conversation(span: SpanRecord) -> Any:
    for name in ("session.id", "langfuse.session.id", "langfuse.trace.metadata.thread_id"):
        if (said := span.attributes.get(name)) is not None:
            return loaded(said)
    return next((said for n in ("langfuse_session_id", "thread_id") if (said := _metadata(span, n)) is not None), None)


def _usage(*names: str) -> Any:
    def read(span: SpanRecord) -> int | None:
        found = as_object(loaded(span.attributes.get("langfuse.observation.usage_details"))) or {}
        return next((int(said) for name in names if isinstance(said := found.get(name), int)), None)

    return read


def _without_history(span: SpanRecord) -> dict[str, Any] | None:
    given = span.attributes.get(_INPUT)
    return None if given is None else {_INPUT: messages.abridged(given)}


LANGFUSE: Final = Dialect(
    name="langfuse",
    role=_role,
    marks=frozenset({_TYPE, "langfuse.session.id"}),
    agent_name=_agent_name,
    tool_name=lambda span: span.name,
    call_id=_call_id,
    arguments=_arguments,
    result=_result,
    returned_error=_returned_error,
    conversation_id=_conversation,
    query=_query,
    final_answer=_final_answer,
    transcript=_transcript,
    model_name=attribute("langfuse.observation.model.name"),
    input=attribute(_INPUT),
    output=attribute(_OUTPUT),
    requests=_requests,
    answered=_answered,
    input_tokens=_usage("input", "input_tokens", "prompt_tokens"),
    output_tokens=_usage("output", "output_tokens", "completion_tokens"),
    without_history=_without_history,
)
