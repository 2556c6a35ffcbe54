"""What is known of one agent run while a trace is taken apart."""

from __future__ import annotations

from dataclasses import dataclass, field

from agentpath_sdk import semconv
from agentpath_sdk.trajectories.tree import Node

__all__ = ["Partition", "Run", "is_ours", "node_of", "within"]


@dataclass(slots=True, eq=False)
class Run:
    """One agent run."""

    node: Node | None
    """The agent's own span; None where it is missing."""
    span_id: str
    agent: str | None = None
    members: list[Node] = field(default_factory=list[Node])
    """Spans that belong to the run and to no run inside it, in canonical order, its own span left out."""
    absorbed: list[Node] = field(default_factory=list[Node])
    """Spans of the same run as a second instrumentation saw it."""
    container: Node | None = None
    """The workflow span around it, which may know the query and the answer."""
    caller: Node | None = None
    """The call of another run that this run answers."""
    parent: Run | None = None
    """The run that started this one directly, with no call in between."""
    told: bool = False
    """True = only model spans tell of it."""
    adopted: bool = False
    """True = some members were placed by time because their parent span is missing."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Partition:
    """All runs of one trace, and the calls that are nobody's."""

    runs: tuple[Run, ...] = ()
    unattached: tuple[Node, ...] = ()


def is_ours(node: Node) -> bool:
    """Return whether our own recorder made the span of an agent run."""
    return node.record.scope == semconv.SCOPE_NAME or semconv.RUN_CALLS in node.record.attributes


def node_of(run: Run) -> Node:
    """Return the agent's own span of a run that is known to have one."""
    assert run.node is not None
    return run.node


def within(node: Node, around: Node) -> bool:
    """Return whether ``node`` lies in the time of ``around``."""
    inner, outer = node.record, around.record
    return outer.start_unix_nano <= inner.start_unix_nano and inner.end_unix_nano <= outer.end_unix_nano
