"""The spans of one trace as a tree, whatever order they came in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from agentpath_sdk.trajectories.dialects import spoken
from agentpath_sdk.trajectories.dialects.dialect import Dialect, Fact, Role, read
from agentpath_sdk.trajectories.span_record import SpanRecord

__all__ = ["CALLS", "Node", "add_child", "below", "build_tree", "enclosing", "top"]

CALLS: Final[frozenset[Role]] = frozenset(("tool", "retrieval", "handoff"))


@dataclass(slots=True, eq=False)
class Node:
    """One span in its place."""

    record: SpanRecord
    role: Role
    speakers: tuple[Dialect, ...]
    parent: Node | None = None
    """None for a root and where the parent's span is missing."""
    children: list[Node] = field(default_factory=list["Node"])
    depth: int = 0
    utility: bool = False
    """True at and below a span marked as utility."""
    function: str | None = None
    """Name of the traced function that a chain is."""
    said: dict[Fact, Any] = field(default_factory=dict[Fact, Any])
    """What was read of the span so far: a fact may be asked for often, and reading a chat history costs."""
    told: bool = False
    """True = made here of what messages or another span tell of a call that has no span of its own."""

    def read(self, fact: Fact) -> Any:
        """Return what the span says about ``fact``, or None: the first vocabulary that says it does."""
        if fact not in self.said:
            self.said[fact] = read(self.speakers, fact, self.record)
        return self.said[fact]

    @property
    def key(self) -> tuple[int, str]:
        """Sort key of the canonical order: start time, then span id."""
        return self.record.start_unix_nano, self.record.span_id

    @property
    def parent_missing(self) -> bool:
        """Whether the span names a parent that is not in the trace."""
        return self.parent is None and self.record.parent_span_id is not None

    @property
    def locally_rooted(self) -> bool:
        """Whether no parent is to be expected here: there is none, or it lives in another process."""
        if self.parent is not None:
            return False
        record = self.record
        return record.parent_span_id is None or record.parent_remote or record.kind in ("server", "consumer")


def build_tree(records: Iterable[SpanRecord]) -> tuple[Node, ...]:
    """Return the spans of one trace, linked, in canonical order; a span sent twice is there once."""
    chosen: dict[str, SpanRecord] = {}
    for record in records:
        known = chosen.get(record.span_id)
        chosen[record.span_id] = record if known is None else _fuller(known, record)
    nodes = tuple(sorted((_node(record) for record in chosen.values()), key=_key))
    _link(nodes)
    return nodes


def add_child(parent: Node, child: Node) -> None:
    """Hang ``child`` below ``parent``."""
    child.parent = parent
    parent.children.append(child)
    child.utility = child.utility or parent.utility
    pending = [child]
    while pending:
        node = pending.pop()
        node.depth = node.parent.depth + 1 if node.parent is not None else 0
        pending.extend(node.children)


def below(node: Node, *, stop: frozenset[Role] = frozenset()) -> Iterator[Node]:
    """Yield the spans below ``node``; those of a role in ``stop``, and what is below them, are left out."""
    pending = list(node.children)
    while pending:
        child = pending.pop()
        if child.role not in stop:
            yield child
            pending.extend(child.children)


def _node(record: SpanRecord) -> Node:
    role, speakers = spoken(record)
    return Node(record=record, role=role, speakers=speakers)


def _key(node: Node) -> tuple[int, str]:
    return node.key


def _fuller(one: SpanRecord, other: SpanRecord) -> SpanRecord:
    def rank(record: SpanRecord) -> tuple[int, int, str]:
        return record.end_unix_nano, len(record.attributes), repr(sorted(record.attributes.items()))

    return one if one is other or rank(one) >= rank(other) else other


def _link(nodes: Sequence[Node]) -> None:
    by_id = {node.record.span_id: node for node in nodes}
    for node in nodes:
        node.parent = by_id.get(node.record.parent_span_id or "")
    placed: set[str] = set()
    for node in nodes:
        # Ancestors first, so that each node's depth follows from its parent's.
        for step in reversed(list(_unplaced(node, placed))):
            placed.add(step.record.span_id)
            if step.parent is not None:
                step.parent.children.append(step)
                step.depth = step.parent.depth + 1
            step.utility = step.role == "utility" or (step.parent is not None and step.parent.utility)
    for node in nodes:
        node.children.sort(key=_key)


def _unplaced(node: Node, placed: set[str]) -> Iterator[Node]:
    seen: set[str] = set()
    while node.record.span_id not in placed:
        seen.add(node.record.span_id)
        if node.parent is not None and node.parent.record.span_id in seen:
            node.parent = None  # a broken exporter made a circle
        yield node
        if node.parent is None:
            return
        node = node.parent


def enclosing(node: Node, roles: frozenset[Role]) -> Node | None:
    """Return the nearest span above ``node`` that has one of ``roles``."""
    above = node.parent
    while above is not None and above.role not in roles:
        above = above.parent
    return above


def top(node: Node) -> Node:
    """Return the uppermost span above ``node``, or itself."""
    while node.parent is not None:
        node = node.parent
    return node
