"""Logfire: span names are templates, facts are bare attributes; its ``@instrument`` knows no tools."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from agentpath_sdk.trajectories.dialects import messages
from agentpath_sdk.trajectories.dialects.contents import answer_in, loaded, query_in
from agentpath_sdk.trajectories.dialects.dialect import Answer, Dialect, Request, Role, attribute
from agentpath_sdk.trajectories.shapes import as_list, as_object
from agentpath_sdk.trajectories.span_record import SpanRecord

__all__ = ["LOGFIRE"]

_TEMPLATE: Final = "logfire.msg_template"
_SCHEMA: Final = "logfire.json_schema"
_RETURN: Final = "return"
# Beginning of a template -> what the span is (the OpenAI Agents SDK under Logfire).
_TEMPLATES: Final[tuple[tuple[str, Role], ...]] = (
    ("Agent run: {name", "agent"),
    ("Function: {name", "tool"),
    ("Handoff: {from_agent", "handoff"),
    ("Responses API", "model"),
    ("Chat completion", "model"),
    ("OpenAI Agents trace: {name", "workflow"),
    ("Turn {turn", "none"),
    ("Task: ", "none"),
    ("Guardrail", "none"),
)
_AGENTS_SDK: Final = "logfire.openai_agents"


def _role(span: SpanRecord) -> Role | None:
    attributes = span.attributes
    if span.scope == _AGENTS_SDK:
        template = str(attributes.get(_TEMPLATE, ""))
        for start, role in _TEMPLATES:
            if template.startswith(start):
                return role
        return "unsaid"
    instrumented = span.scope == "logfire" and attributes.get("logfire.span_type") == "span"
    return "function" if instrumented and "gen_ai.operation.name" not in attributes else "unsaid"


def _is_function(span: SpanRecord) -> bool:
    return span.scope == "logfire"


def _agent_name(span: SpanRecord) -> Any:
    if span.scope == _AGENTS_SDK:
        named = str(span.attributes.get(_TEMPLATE, "")).startswith("Agent run: ")
        return span.attributes.get("name") if named else None
    return None


def _tool_name(span: SpanRecord) -> str:
    if (to := span.attributes.get("to_agent")) is not None and span.scope == _AGENTS_SDK:
        return f"transfer_to_{to}"
    return str(span.attributes.get("name") or span.name) if span.scope == _AGENTS_SDK else span.name


def _target(span: SpanRecord) -> Any:
    return span.attributes.get("to_agent")


def _arguments(span: SpanRecord) -> Any:
    if span.scope == _AGENTS_SDK:
        return span.attributes.get("input")
    return _instrumented(span) if _is_function(span) else None


def _instrumented(span: SpanRecord) -> dict[str, Any] | None:
    """Return the arguments that ``@logfire.instrument`` spread over attributes, as its schema lists them."""
    properties = as_object((as_object(loaded(span.attributes.get(_SCHEMA))) or {}).get("properties"))
    if properties is None:
        return None
    found: dict[str, Any] = {}
    for name, schema in properties.items():
        if name != _RETURN and name in span.attributes:
            value = span.attributes[name]
            found[name] = loaded(value) if _is_nested(schema) else value
    return found


def _is_nested(schema: Any) -> bool:
    return (as_object(schema) or {}).get("type") in ("object", "array")


def _result(span: SpanRecord) -> Any:
    return span.attributes.get("output" if span.scope == _AGENTS_SDK else _RETURN)


def _events(span: SpanRecord, name: str) -> list[Any]:
    listed = as_list(loaded(span.attributes.get("events"))) or ()
    found = (event for one in listed if (event := as_object(one)) is not None)
    return [event for event in found if (event.get("event.name") == "gen_ai.choice") == (name == "choice")]


def _said(span: SpanRecord) -> Any:
    return span.attributes.get("response") or _events(span, "choice") or span.attributes.get("output")


def _given(span: SpanRecord) -> Any:
    return span.attributes.get("raw_input") or _events(span, "message") or span.attributes.get("input")


def _requests(span: SpanRecord) -> tuple[Request, ...] | None:
    return messages.requests(_said(span)) or None


def _answered(span: SpanRecord) -> tuple[Answer, ...] | None:
    return messages.answered(_given(span)) or None


def _query(span: SpanRecord) -> str | None:
    if _is_function(span):
        return query_in(_instrumented(span))
    return query_in(_given(span))


def _final_answer(span: SpanRecord) -> str | None:
    if _is_function(span):
        return answer_in(span.attributes.get(_RETURN))
    return answer_in(_said(span))


def _conversation(span: SpanRecord) -> Any:
    said = span.attributes.get("group_id")
    return None if said == "null" else said


def _usage(name: str) -> Any:
    def read(span: SpanRecord) -> int | None:
        usage: Mapping[str, Any] = as_object(loaded(span.attributes.get("usage"))) or {}
        return said if isinstance(said := usage.get(name), int) else None

    return read


LOGFIRE: Final = Dialect(
    name="logfire",
    role=_role,
    marks=frozenset({_TEMPLATE}),
    agent_name=_agent_name,
    tool_name=_tool_name,
    arguments=_arguments,
    result=_result,
    target=_target,
    conversation_id=_conversation,
    query=_query,
    final_answer=_final_answer,
    model_name=attribute("gen_ai.request.model"),
    input=_given,
    output=_said,
    requests=_requests,
    answered=_answered,
    input_tokens=_usage("input_tokens"),
    output_tokens=_usage("output_tokens"),
)
