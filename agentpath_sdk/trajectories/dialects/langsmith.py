"""LangSmith over OpenTelemetry: ``langsmith.span.kind``, ``langsmith.metadata.*``, JSON in ``gen_ai.prompt``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from agentpath_sdk.trajectories.dialects import messages
from agentpath_sdk.trajectories.dialects.contents import answer_in, loaded, query_in
from agentpath_sdk.trajectories.dialects.dialect import Answer, Dialect, Request, Role, attribute
from agentpath_sdk.trajectories.dialects.langchain_metadata import UNNAMED, is_agent_run
from agentpath_sdk.trajectories.dialects.results import call_id_in, error_in, result_in
from agentpath_sdk.trajectories.shapes import as_object
from agentpath_sdk.trajectories.span_record import SpanRecord

__all__ = ["LANGSMITH"]

_KIND: Final = "langsmith.span.kind"
_INPUT: Final = "gen_ai.prompt"
_OUTPUT: Final = "gen_ai.completion"
_METADATA: Final = "langsmith.metadata."
_KINDS: Final[Mapping[str, Role]] = {
    "llm": "model",
    "tool": "tool",
    "chain": "chain",
    "retriever": "retrieval",
    "embedding": "none",
    "prompt": "none",
    "parser": "none",
}


def _role(span: SpanRecord) -> Role | None:
    role: Role = _KINDS.get(str(span.attributes.get(_KIND, "")).lower(), "unsaid")
    if role != "chain":
        return role
    metadata = {name: span.attributes.get(_METADATA + name) for name in ("lc_agent_name", "ls_integration")}
    if is_agent_run(metadata, span.name):
        return "agent"
    return "function" if span.attributes.get(_METADATA + "ls_method") == "traceable" else role


def _agent_name(span: SpanRecord) -> str | None:
    said = span.attributes.get(_METADATA + "lc_agent_name")
    if said is None and _role(span) in ("chain", "agent"):
        said = span.name
    return None if said is None or str(said) in UNNAMED else str(said)


def _tool_name(span: SpanRecord) -> str | None:
    return str(span.attributes.get("gen_ai.tool.name") or span.name)


def _call_id(span: SpanRecord) -> str | None:
    return call_id_in(span.attributes.get(_OUTPUT)) if span.attributes.get(_KIND) == "tool" else None


def _result(span: SpanRecord) -> Any:
    said = span.attributes.get(_OUTPUT)
    return None if said is None else result_in(said)


def _returned_error(span: SpanRecord) -> str | None:
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


def _usage(name: str) -> Any:
    def read(span: SpanRecord) -> int | None:
        said = (as_object(loaded(span.attributes.get(_METADATA + "usage_metadata"))) or {}).get(name)
        return said if isinstance(said, int) else None

    return read


def _without_history(span: SpanRecord) -> dict[str, Any] | None:
    given = span.attributes.get(_INPUT)
    return None if given is None else {_INPUT: messages.abridged(given)}


LANGSMITH: Final = Dialect(
    name="langsmith",
    role=_role,
    marks=frozenset({_KIND}),
    agent_name=_agent_name,
    tool_name=_tool_name,
    call_id=_call_id,
    arguments=attribute(_INPUT),
    result=_result,
    returned_error=_returned_error,
    # ``langsmith.trace.session_name`` is the project.
    conversation_id=attribute(*(_METADATA + name for name in ("session_id", "thread_id", "conversation_id"))),
    query=_query,
    final_answer=_final_answer,
    transcript=_transcript,
    model_name=attribute("gen_ai.request.model", _METADATA + "ls_model_name"),
    input=attribute(_INPUT),
    output=attribute(_OUTPUT),
    requests=_requests,
    answered=_answered,
    input_tokens=_usage("input_tokens"),
    output_tokens=_usage("output_tokens"),
    without_history=_without_history,
)
