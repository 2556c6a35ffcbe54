"""Google ADK: ``gcp.vertex.agent.*``, its older ``call_llm`` spans, and what instrumentations make of its spans."""

from __future__ import annotations

from typing import Any, Final

from agentpath_sdk.trajectories.dialects import messages
from agentpath_sdk.trajectories.dialects.contents import answer_in, loaded, query_in
from agentpath_sdk.trajectories.dialects.dialect import Answer, Dialect, Request, Role, attribute
from agentpath_sdk.trajectories.dialects.results import result_in
from agentpath_sdk.trajectories.shapes import as_list, as_object
from agentpath_sdk.trajectories.span_record import SpanRecord

__all__ = ["GOOGLE_ADK"]

_PREFIX: Final = "gcp.vertex.agent."
_REQUEST: Final = _PREFIX + "llm_request"
_RESPONSE: Final = _PREFIX + "llm_response"
_ARGUMENTS: Final = _PREFIX + "tool_call_args"
_SCOPE: Final = "gcp.vertex.agent"
# What stands where content capture is off.
_NOTHING: Final = frozenset({"{}", "N/A", "<not specified>"})


def _role(span: SpanRecord) -> Role | None:
    name = span.name
    if name.startswith("invoke_agent "):
        # OpenInference writes the last model call over the agent's own span.
        return "agent"
    if name == "call_llm" or name.startswith("generate_content "):
        return "model"
    if name == "invocation" and span.scope == _SCOPE:
        return "workflow"
    return "unsaid"


def _said(name: str) -> Any:
    def read(span: SpanRecord) -> Any:
        said = span.attributes.get(name)
        hidden = isinstance(said, str) and said in _NOTHING and not _captures(span)
        return None if hidden else said

    return read


def _captures(span: SpanRecord) -> bool:
    """Return whether ``{}`` may be meant: with capture off both sides of a call are ``{}``."""
    response = span.attributes.get(_PREFIX + "tool_response")
    return span.attributes.get(_ARGUMENTS) == "{}" and response is not None and response not in _NOTHING


def _result(span: SpanRecord) -> Any:
    said = _said(_PREFIX + "tool_response")(span)
    return None if said is None else result_in(said)


def _agent_name(span: SpanRecord) -> str | None:
    return span.name.partition(" ")[2] or None if span.name.startswith("invoke_agent ") else None


def _given(span: SpanRecord) -> Any:
    return _said(_REQUEST)(span)


def _answer(span: SpanRecord) -> Any:
    return _said(_RESPONSE)(span)


def _requests(span: SpanRecord) -> tuple[Request, ...] | None:
    return messages.requests(_answer(span)) or None


def _answered(span: SpanRecord) -> tuple[Answer, ...] | None:
    return messages.answered(_given(span)) or None


def _query(span: SpanRecord) -> str | None:
    given = _given(span)
    return None if given is None else query_in(given)


def _final_answer(span: SpanRecord) -> str | None:
    said = _answer(span)
    return None if said is None else answer_in(said)


def _tools_offered(span: SpanRecord) -> frozenset[str] | None:
    config = as_object((as_object(loaded(_given(span))) or {}).get("config")) or {}
    declared = (
        as_object(one)
        for tool in as_list(config.get("tools")) or ()
        for one in as_list((as_object(tool) or {}).get("function_declarations")) or ()
    )
    return frozenset(str(one["name"]) for one in declared if one is not None and "name" in one) or None


def _without_history(span: SpanRecord) -> dict[str, Any] | None:
    given = span.attributes.get(_REQUEST)
    return None if given is None else {_REQUEST: {"messages": messages.abridged(given)}}


GOOGLE_ADK: Final = Dialect(
    name="google_adk",
    role=_role,
    marks=frozenset({_PREFIX + "event_id", _PREFIX + "invocation_id", _REQUEST, _ARGUMENTS, _PREFIX + "session_id"}),
    agent_name=_agent_name,
    arguments=_said(_ARGUMENTS),
    result=_result,
    conversation_id=attribute(_PREFIX + "session_id"),
    query=_query,
    final_answer=_final_answer,
    input=_given,
    output=_answer,
    requests=_requests,
    answered=_answered,
    tools_offered=_tools_offered,
    without_history=_without_history,
)
