"""Tools that belong to a framework and not to the user: hand-offs, calls of agents, ways to say "done"."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, Literal, TypeAlias

from agentpath_sdk.trajectories.dialects.contents import loaded
from agentpath_sdk.trajectories.shapes import as_object
from agentpath_sdk.trajectories.span_record import SpanRecord

__all__ = ["FrameworkTool", "framework_tool", "target_agent"]

FrameworkTool: TypeAlias = Literal["handoff", "agent", "pseudo"]

# Part of the instrumentation scope -> tool name -> what it is. A name alone says nothing: a user's own tool may be
# called "finish" in any other framework.
_BY_SCOPE: Final[Mapping[str, Mapping[str, FrameworkTool]]] = {
    "dspy": {"finish": "pseudo"},
    "smolagents": {"final_answer": "pseudo"},
    "vertex": {"transfer_to_agent": "handoff", "(merged_tools)": "pseudo", "(merged)": "pseudo"},
    "google_adk": {"transfer_to_agent": "handoff", "(merged_tools)": "pseudo", "(merged)": "pseudo"},
    "llama_index": {"handoff": "handoff"},
    "llamaindex": {"handoff": "handoff"},
    "strands": {"handoff_to_agent": "handoff"},
    "agno": {
        "delegate_task_to_member": "agent",
        "delegate_task_to_members": "agent",
        "transfer_task_to_member": "agent",
    },
    "crewai": {
        "delegate_work_to_coworker": "agent",
        "ask_question_to_coworker": "agent",
    },
}
_SCOPES: Final = re.compile("|".join(_BY_SCOPE))
# AutoGen makes one such tool for each agent that another may hand over to.
_AUTOGEN_HANDOFF: Final = "transfer_to_"
_TARGETS: Final = ("agent_name", "to_agent", "coworker", "member_id", "agent", "target", "recipient")


def framework_tool(span: SpanRecord, tool: str | None) -> FrameworkTool | None:
    """Return what the tool called ``tool`` is, when it is one of its framework's own."""
    if tool is None or span.scope is None:
        return None
    if "autogen" in span.scope and tool.startswith(_AUTOGEN_HANDOFF):
        return "handoff"
    if (match := _SCOPES.search(span.scope)) is None:
        return None
    return _BY_SCOPE[match.group()].get(tool.lower().replace(" ", "_"))


def target_agent(arguments: Any) -> str | None:
    """Return the agent that a hand-off or a delegation names in its arguments."""
    found: Mapping[str, Any] = as_object(loaded(arguments)) or {}
    return next((name for key in _TARGETS if isinstance(name := found.get(key), str) and name), None)
