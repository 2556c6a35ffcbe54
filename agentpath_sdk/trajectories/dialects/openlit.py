"""OpenLIT: GenAI names with habits of its own. Each graph node is one more ``invoke_agent``, a hand-over a span without
length."""

from __future__ import annotations

from typing import Any, Final

from agentpath_sdk.trajectories.dialects.contents import answer_in, query_in
from agentpath_sdk.trajectories.dialects.dialect import Dialect, Role, attribute
from agentpath_sdk.trajectories.span_record import SpanRecord

__all__ = ["OPENLIT"]

_SOURCE: Final = "gen_ai.agent.source"
_WORKFLOW_INPUT: Final = "gen_ai.workflow.input"
_WORKFLOW_OUTPUT: Final = "gen_ai.workflow.output"


def _role(span: SpanRecord) -> Role | None:
    if span.scope is None or not span.scope.startswith("openlit"):
        return None
    if _SOURCE in span.attributes:
        return "handoff"
    return "unsaid"


def _query(span: SpanRecord) -> str | None:
    said = span.attributes.get(_WORKFLOW_INPUT)
    return None if said is None else query_in(said)


def _final_answer(span: SpanRecord) -> str | None:
    said = span.attributes.get(_WORKFLOW_OUTPUT)
    return None if said is None else answer_in(said)


def _target(span: SpanRecord) -> Any:
    return span.attributes.get("gen_ai.agent.name") if _SOURCE in span.attributes else None


def _tool_name(span: SpanRecord) -> str | None:
    to = _target(span)
    return None if to is None else f"transfer_to_{to}"


OPENLIT: Final = Dialect(
    name="openlit",
    role=_role,
    marks=frozenset({_SOURCE, _WORKFLOW_INPUT, _WORKFLOW_OUTPUT, "gen_ai.sdk.version", "gen_ai.operation.name"}),
    agent_name=attribute(),
    tool_name=_tool_name,
    target=_target,
    query=_query,
    final_answer=_final_answer,
)
