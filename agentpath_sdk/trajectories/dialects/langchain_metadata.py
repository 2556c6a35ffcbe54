"""What LangChain and LangGraph put into the metadata of a run, wherever an instrumentation keeps it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from agentpath_sdk.trajectories.dialects.contents import loaded
from agentpath_sdk.trajectories.shapes import as_object

__all__ = ["UNNAMED", "agent_in", "conversation_in", "is_agent_run"]

UNNAMED: Final = frozenset({"LangGraph", "AgentExecutor", "RunnableSequence", "RunnableLambda", "ChatAgent"})
"""What a graph, an executor or a chain without a name of its own is called."""

_CONVERSATIONS: Final = ("session_id", "thread_id", "conversation_id")


def agent_in(metadata: Any) -> str | None:
    """Return the name of the agent that a run belongs to."""
    said = (as_object(loaded(metadata)) or {}).get("lc_agent_name")
    return said if isinstance(said, str) and said and said not in UNNAMED else None


def conversation_in(metadata: Any) -> str | None:
    """Return the conversation id in a run's metadata."""
    found: Mapping[str, Any] = as_object(loaded(metadata)) or {}
    return next((str(said) for key in _CONVERSATIONS if (said := found.get(key)) is not None), None)


def is_agent_run(metadata: Any, name: str) -> bool:
    """Return whether the run called ``name`` is that of an agent itself, not of a node inside it."""
    found: Mapping[str, Any] = as_object(loaded(metadata)) or {}
    return found.get("lc_agent_name") == name and found.get("ls_integration") == "langchain_create_agent"
