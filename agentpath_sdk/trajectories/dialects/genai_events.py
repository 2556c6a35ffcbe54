"""GenAI content in span events: ``gen_ai.user.message``, ``gen_ai.choice``, ``...inference.operation.details``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from agentpath_sdk import semconv
from agentpath_sdk.trajectories.dialects import messages
from agentpath_sdk.trajectories.dialects.contents import answer_in, loaded, query_in
from agentpath_sdk.trajectories.dialects.dialect import Answer, Dialect, Request, Role
from agentpath_sdk.trajectories.dialects.framework_tools import target_agent
from agentpath_sdk.trajectories.dialects.results import error_in, result_in
from agentpath_sdk.trajectories.shapes import as_list, as_object
from agentpath_sdk.trajectories.span_record import SpanRecord

__all__ = ["GENAI_EVENTS"]

_CHOICE: Final = "gen_ai.choice"
_TOOL: Final = "gen_ai.tool.message"
_DETAILS: Final = "gen_ai.client.inference.operation.details"
_ROLES: Final = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    _TOOL: "tool",
    "gen_ai.content.prompt": "user",
}
_ANSWERS: Final = (_CHOICE, "gen_ai.content.completion")


def _role(span: SpanRecord) -> Role | None:
    return "unsaid" if any(event.name.startswith("gen_ai.") for event in span.events) else None


def _given(span: SpanRecord) -> list[Any]:
    """Return the messages that went in."""
    found: list[Any] = []
    for event in span.events:
        attributes = event.attributes
        if (role := _ROLES.get(event.name)) is not None:
            content = attributes.get("content", attributes.get("gen_ai.prompt"))
            found.append({**attributes, "role": role, "content": _content(content)})
        elif event.name == _DETAILS:
            found.extend(as_list(loaded(attributes.get(semconv.INPUT_MESSAGES))) or ())
    return found


def _said(span: SpanRecord) -> list[Any]:
    """Return the messages that came out."""
    found: list[Any] = []
    for event in span.events:
        attributes = event.attributes
        if event.name in _ANSWERS:
            message = attributes.get("message", attributes.get("content", attributes.get("gen_ai.completion")))
            inner = as_object(loaded(message))
            found.append(inner if inner is not None else {"role": "assistant", "content": _content(message)})
        elif event.name == _DETAILS:
            found.extend(as_list(loaded(attributes.get(semconv.OUTPUT_MESSAGES))) or ())
    return found


def _content(value: Any) -> Any:
    found = loaded(value)
    return found if as_list(found) is not None else value


def _details(span: SpanRecord, name: str) -> Iterator[Any]:
    for event in span.events:
        if event.name == _DETAILS and name in event.attributes:
            yield event.attributes[name]


def _arguments(span: SpanRecord) -> Any:
    for event in span.events:
        if event.name == _TOOL:
            return event.attributes.get("content")
    if (said := next(_details(span, semconv.TOOL_CALL_ARGUMENTS), None)) is not None:
        return said
    asked = messages.requests(_given(span))
    return asked[0].arguments if len(asked) == 1 else None


def _call_result(span: SpanRecord) -> Any:
    for event in span.events:
        if event.name == _CHOICE:
            return event.attributes.get("message")
    if (said := next(_details(span, semconv.TOOL_CALL_RESULT), None)) is not None:
        return said
    answers = messages.answered(_said(span))
    return answers[0].content if len(answers) == 1 else None


def _result(span: SpanRecord) -> Any:
    said = _call_result(span)
    return None if said is None else result_in(said)


def _returned_error(span: SpanRecord) -> str | None:
    return error_in(_call_result(span))


def _target(span: SpanRecord) -> str | None:
    return target_agent(_arguments(span))


def _requests(span: SpanRecord) -> tuple[Request, ...] | None:
    return messages.requests(_said(span)) or None


def _answered(span: SpanRecord) -> tuple[Answer, ...] | None:
    return messages.answered(_given(span)) or None


def _query(span: SpanRecord) -> str | None:
    return query_in(_given(span)) if _given(span) else None


def _final_answer(span: SpanRecord) -> str | None:
    said = _said(span)
    found = answer_in(said) if said else None
    return None if found is None else found.strip("\n") or None


GENAI_EVENTS: Final = Dialect(
    name="genai_events",
    role=_role,
    arguments=_arguments,
    result=_result,
    returned_error=_returned_error,
    target=_target,
    query=_query,
    final_answer=_final_answer,
    input=lambda span: _given(span) or None,
    output=lambda span: _said(span) or None,
    requests=_requests,
    answered=_answered,
)
