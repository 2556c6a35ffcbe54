"""OpenLIT: GenAI names with habits of its own: each graph node and each turn is one more ``invoke_agent``."""

from __future__ import annotations

from typing import Any, Final

from agentpath_sdk import semconv
from agentpath_sdk.trajectories.dialects.contents import answer_in, query_in
from agentpath_sdk.trajectories.dialects.dialect import Dialect, Role, word
from agentpath_sdk.trajectories.span_record import SpanRecord

__all__ = ["OPENLIT"]

_SOURCE: Final = "gen_ai.agent.source"
_AGENTS_SDK: Final = "openlit.instrumentation.openai_agents"
_LANGGRAPH: Final = "openlit.instrumentation.langgraph"
_WORKFLOW_INPUT: Final = "gen_ai.workflow.input"
_WORKFLOW_OUTPUT: Final = "gen_ai.workflow.output"


def _role(span: SpanRecord) -> Role | None:
    if span.scope is None or not span.scope.startswith("openlit"):
        return None
    attributes = span.attributes
    if _SOURCE in attributes:
        # In a graph the tool that hands over has a span of its own.
        return "handoff" if span.scope == _AGENTS_SDK else "none"
    if word(span, semconv.OPERATION_NAME) != semconv.OP_INVOKE_AGENT:
        return "unsaid"
    named = attributes.get(semconv.AGENT_NAME)
    is_node = span.scope == _LANGGRAPH and attributes.get("gen_ai.agent.id") == named
    # Without a name it is a turn, or the task around the agents.
    return "none" if named is None or is_node else "unsaid"


def _agent_name(span: SpanRecord) -> Any:
    return span.attributes.get(_SOURCE)


def _query(span: SpanRecord) -> str | None:
    said = span.attributes.get(_WORKFLOW_INPUT)
    return None if said is None else query_in(said)


def _final_answer(span: SpanRecord) -> str | None:
    said = span.attributes.get(_WORKFLOW_OUTPUT)
    return None if said is None else answer_in(said)


def _target(span: SpanRecord) -> Any:
    return span.attributes.get(semconv.AGENT_NAME) if _SOURCE in span.attributes else None


def _tool_name(span: SpanRecord) -> str | None:
    to = _target(span)
    return None if to is None else f"transfer_to_{to}"


OPENLIT: Final = Dialect(
    name="openlit",
    role=_role,
    marks=frozenset({_SOURCE, _WORKFLOW_INPUT, _WORKFLOW_OUTPUT, "gen_ai.sdk.version", semconv.OPERATION_NAME}),
    agent_name=_agent_name,
    tool_name=_tool_name,
    target=_target,
    query=_query,
    final_answer=_final_answer,
)
