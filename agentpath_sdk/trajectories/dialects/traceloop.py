"""Traceloop (OpenLLMetry): ``traceloop.span.kind``, ``traceloop.entity.*``, association properties; CrewAI's extras."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from agentpath_sdk.trajectories.dialects import messages
from agentpath_sdk.trajectories.dialects.argument_shapes import from_callback, from_python_call
from agentpath_sdk.trajectories.dialects.contents import answer_in, loaded, query_in
from agentpath_sdk.trajectories.dialects.dialect import Answer, Dialect, Role, attribute, word
from agentpath_sdk.trajectories.dialects.framework_tools import FrameworkTool, framework_tool, target_agent
from agentpath_sdk.trajectories.dialects.langchain_metadata import UNNAMED
from agentpath_sdk.trajectories.dialects.results import call_id_in, error_in, result_in
from agentpath_sdk.trajectories.shapes import as_list, as_object
from agentpath_sdk.trajectories.span_record import SpanRecord

__all__ = ["TRACELOOP"]

_KIND: Final = "traceloop.span.kind"
_NAME: Final = "traceloop.entity.name"
_INPUT: Final = "traceloop.entity.input"
_OUTPUT: Final = "traceloop.entity.output"
_PROPERTIES: Final = "traceloop.association.properties."
_TOOL_NAME: Final = "tool.name"
_CREW_RESULT: Final = "crewai.crew.result"
_CREW_TASKS: Final = "crewai.crew.tasks"
_TASK: Final = "crewai.task.description"
_TEAM: Final = "agno.team.name"
_KINDS: Final[Mapping[str, Role]] = {
    "workflow": "workflow",
    "agent": "agent",
    "tool": "tool",
    "handoff": "handoff",
    "task": "function",
}
_SAID_BY_GENAI: Final = frozenset({"chat", "text_completion", "generate_content", "execute_tool", "embeddings"})
_LLAMA_INDEX: Final = "opentelemetry.instrumentation.llamaindex"
_ENDINGS: Final = (".workflow", ".agent", ".tool", ".task", ".handoff")


def _role(span: SpanRecord) -> Role | None:
    attributes = span.attributes
    kind = attributes.get(_KIND)
    if kind is None:
        return "workflow" if _CREW_TASKS in attributes else "unsaid"
    if kind == "task" and _TOOL_NAME in attributes:
        return "tool"
    if kind == "task":
        return _task_role(span)
    return _KINDS.get(str(kind), "unsaid")


def _task_role(span: SpanRecord) -> Role:
    attributes = span.attributes
    if word(span, "gen_ai.operation.name") in _SAID_BY_GENAI:
        return "unsaid"
    # A crew's task and a graph's node are no functions of the application.
    if _TASK in attributes or "gen_ai.task.id" in attributes:
        return "none"
    if span.scope == _LLAMA_INDEX:
        return "none" if span.name == "FunctionTool.task" else "chain"
    return "function"


def _bare_name(span: SpanRecord) -> str:
    name = str(span.attributes.get(_NAME) or span.name)
    for ending in _ENDINGS:
        name = name.removesuffix(ending)
    return name


def _agent_name(span: SpanRecord) -> str | None:
    said = span.attributes.get("gen_ai.agent.name") or span.attributes.get(_TEAM)
    if said is None and word(span, _KIND) in ("agent", "workflow"):
        said = span.attributes.get("crewai.agent.role") or span.attributes.get("traceloop.workflow.name")
        said = said if span.attributes.get(_KIND) == "workflow" else said or _bare_name(span)
    return None if said is None or str(said) in UNNAMED else str(said)


def _tool_name(span: SpanRecord) -> str | None:
    kind = span.attributes.get(_KIND)
    if kind == "handoff":
        to = _target(span)
        return f"transfer_to_{to}" if to else "handoff"
    said = span.attributes.get("gen_ai.tool.name") or span.attributes.get(_TOOL_NAME)
    return str(said) if said else _bare_name(span)


def _framework_tool(span: SpanRecord) -> FrameworkTool | None:
    return framework_tool(span, _tool_name(span))


def _target(span: SpanRecord) -> str | None:
    if span.attributes.get(_KIND) != "handoff":
        return target_agent(_arguments(span))
    said = span.attributes.get("gen_ai.handoff.to_agent") or span.name.partition(" → ")[2].removesuffix(".handoff")
    return None if not said or said == "unknown" else str(said)


def _arguments(span: SpanRecord) -> Any:
    said = span.attributes.get("tool.arguments")
    if said is not None:
        return said
    given = span.attributes.get(_INPUT)
    fields = as_object(loaded(given))
    if fields is None:
        return given
    if set(fields) == {"tool_name", "arguments"}:
        return fields["arguments"]
    opened = from_python_call(fields)
    return from_callback(given) if opened is fields else opened


def _result(span: SpanRecord) -> Any:
    said = span.attributes.get(_OUTPUT)
    return None if said is None else result_in(said)


def _call_id(span: SpanRecord) -> str | None:
    return call_id_in(span.attributes.get(_OUTPUT)) if word(span, _KIND) in ("tool", "task") else None


def _returned_error(span: SpanRecord) -> str | None:
    return error_in(span.attributes.get(_OUTPUT))


def _query(span: SpanRecord) -> str | None:
    attributes = span.attributes
    if (tasks := as_list(loaded(attributes.get(_CREW_TASKS)))) is not None:
        return query_in((as_object(tasks[0]) or {}).get("description")) if tasks else None
    return query_in(attributes.get(_TASK, attributes.get(_INPUT)))


def _final_answer(span: SpanRecord) -> str | None:
    return answer_in(span.attributes.get(_CREW_RESULT, span.attributes.get(_OUTPUT)))


def _conversation(span: SpanRecord) -> Any:
    for name in ("session_id", "thread_id", "conversation_id"):
        if (said := span.attributes.get(_PROPERTIES + name)) is not None:
            return said
    return None


def _executed(span: SpanRecord) -> tuple[Answer, ...] | None:
    return messages.answered(span.attributes.get(_OUTPUT)) or None


TRACELOOP: Final = Dialect(
    name="traceloop",
    role=_role,
    marks=frozenset({_KIND, _CREW_TASKS, _INPUT, "traceloop.workflow.name", _PROPERTIES + "session_id",
                     _PROPERTIES + "thread_id"}),
    agent_name=_agent_name,
    tool_name=_tool_name,
    call_id=_call_id,
    arguments=_arguments,
    result=_result,
    returned_error=_returned_error,
    framework_tool=_framework_tool,
    target=_target,
    executed=_executed,
    conversation_id=_conversation,
    query=_query,
    final_answer=_final_answer,
    input=attribute(_INPUT),
    output=attribute(_OUTPUT),
)  # fmt: skip
