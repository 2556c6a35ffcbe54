"""Where in the tree of calls a LangChain run belongs, and whether a chain run is an agent of its own."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Final, NamedTuple
from uuid import UUID

from opentelemetry.context import Context

from agentpath_langchain.runs import Link, Runs, enclosing_run_id
from agentpath_sdk.tracing.recorder import Recorder, Recording
from agentpath_sdk.tracing.recording import RECORDING_KEY, STEP_KINDS

__all__ = ["Place", "agent_name", "is_agent", "is_graph_node", "parent_of", "place_of"]

_DEFAULT_NAMES: Final = frozenset({"LangGraph", "AgentExecutor"})
"""Names of graphs and agent executors that were given none."""


class Place(NamedTuple):
    """Where a call starts."""

    parent: Hashable | None
    """Key for ``Recorder.start``; None = the ambient context."""
    around: Recording | None
    """The recorded call around it."""
    link: Link | None
    """The chain run directly around it, if that is no recorded call."""


def parent_of(parent_run_id: UUID | None, runs: Runs, context: Context) -> Hashable | None:
    """Return the ``parent`` to start a call with; the recorder itself asks the ambient context where that is None.

    Ids decide. The ambient context is asked when there is no id, when it knows of a call inside the one the id names
    (a decorated function called by a tool), and when the id is that of an unrecorded run around the running code.
    """
    if parent_run_id is None:
        return None
    around = runs.owner(parent_run_id)
    if around is None:
        return None if enclosing_run_id() == parent_run_id else parent_run_id
    return _innermost(around, context).key


def place_of(parent_run_id: UUID | None, recorder: Recorder, runs: Runs, context: Context) -> Place:
    """Return where a run with this parent belongs, by the same rule."""
    around = runs.owner(parent_run_id) if parent_run_id is not None else None
    if around is not None:
        around = _innermost(around, context)
        return Place(around.key, around, runs.get(parent_run_id))
    if parent_run_id is None or enclosing_run_id() == parent_run_id:
        return Place(None, recorder.enclosing(), None)
    return Place(parent_run_id, None, None)


def _innermost(around: Recording, context: Context) -> Recording:
    """Return the ambient call if it is inside ``around``, else ``around``."""
    inner = context.get(RECORDING_KEY)
    if inner is not None and inner is not around and isinstance(inner, Recording):
        return inner if not inner.ended and inner.is_below(around) else around
    return around


def is_agent(
    place: Place, name: str, tags: Sequence[str] | None, metadata: Mapping[str, Any], is_ours: bool
) -> bool | None:
    """Return whether a chain run is an agent; None = inside a tool, and an agent if it turns out to be a graph.

    ``is_ours`` says that the agent around was recorded from LangChain's events, not by a decorator.
    """
    around = place.around
    if around is None:
        return True
    named = metadata.get("lc_agent_name")
    if _inside_step(around):
        if is_graph_node(tags):
            return False
        return True if name in _DEFAULT_NAMES or name == named else None
    if place.link is None and not is_ours:
        # The outermost run inside a decorated agent is that agent's body.
        return False
    # A graph built of named agents: each has its own path. Unnamed subgraphs are parts of their graph.
    within = place.link.agent if place.link is not None else None
    return named is not None and name == named != within and "langgraph_node" in metadata and not is_graph_node(tags)


def agent_name(place: Place, name: str, metadata: Mapping[str, Any]) -> str:
    """Return an agent run's name: what ``create_agent(name=...)`` said, unless that is said of the agent around."""
    named = metadata.get("lc_agent_name")
    within = place.link.agent if place.link is not None else None
    if not isinstance(named, str) or named == within or (place.around is not None and _inside_step(place.around)):
        return name
    return named or name


def is_graph_node(tags: Sequence[str] | None) -> bool:
    """Return whether a run is a node of a LangGraph graph."""
    return tags is not None and any(tag.startswith("graph:step:") for tag in tags)


def _inside_step(recording: Recording) -> bool:
    """Return whether a tool or retrieval lies between ``recording`` (included) and its agent."""
    found: Recording | None = recording
    while found is not None and found.kind != "agent":
        if found.kind in STEP_KINDS:
            return True
        found = found.parent
    return False
