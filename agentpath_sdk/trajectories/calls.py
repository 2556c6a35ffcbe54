"""One call, seen by one span or by several, with its facts joined."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from agentpath_sdk.trajectories.decoding import Arguments, Result, decode_arguments, decode_result
from agentpath_sdk.trajectories.dialects.dialect import Fact
from agentpath_sdk.trajectories.model import ArgumentsState, Outcome, StepKind
from agentpath_sdk.trajectories.shapes import as_list
from agentpath_sdk.trajectories.tree import CALLS, Node, enclosing

__all__ = ["Call", "calls_of", "flags"]

_BEST: Final[tuple[ArgumentsState, ...]] = ("known", "truncated", "unparsed", "redacted", "not_captured")


@dataclass(slots=True, eq=False)
class Call:
    """A call and the spans that saw it, outermost first."""

    nodes: tuple[Node, ...]
    start: int
    """Nanoseconds; the outermost span's start."""
    end: int
    """Nanoseconds; the last end of its spans."""
    tool: str
    call_id: str | None
    arguments: Arguments
    kind: StepKind = "tool"
    asked: int | None = None
    """Index among the requests of the run; None = no model asked for it, as far as the spans tell."""
    answer: int | None = None
    """Index of the model answer that asked for it."""
    outcome: Outcome = "ok"
    ids: frozenset[str] = field(default_factory=frozenset[str])
    """Ids of ``nodes``."""

    def first(self, fact: Fact) -> Any:
        """Return ``fact`` as the outermost span that says it does, else None."""
        for node in self.nodes:
            if (value := node.read(fact)) is not None:
                return value
        return None

    @property
    def order(self) -> tuple[int, float, int, str]:
        """Sort key: start, then the order the model asked in, then outer before inner, then span id."""
        asked = float("inf") if self.asked is None else self.asked
        first = self.nodes[0]
        return first.record.start_unix_nano, asked, first.depth, first.record.span_id

    def result(self) -> Result:
        """Return what the call gave back: the outermost span that says it."""
        for node in self.nodes:
            if (value := node.read("result")) is not None:
                return decode_result(value, truncated="result" in flags(node.read("truncated")))
        return decode_result(None, captured=not self.first("content_off") and self.first("arguments") is not None)


def flags(value: object) -> Iterable[str]:
    """Return the names in a flag attribute: a sequence of texts, or one text."""
    if value is None:
        return ()
    if isinstance(value, str):
        return (value,)
    return tuple(str(item) for item in as_list(value) or ())


def calls_of(nodes: Iterable[Node]) -> list[Call]:
    """Return the calls that ``nodes`` (tool and retrieval spans of one run, canonical order) saw, each once."""
    single = [_call((node,)) for node in nodes]
    groups = _Groups(single)
    _join_nested(single, groups)
    _join_siblings(single, groups)
    return [members[0] if len(members) == 1 else _joined(members) for members in groups.all()]


def _call(nodes: tuple[Node, ...]) -> Call:
    first = nodes[0]
    call = Call(
        nodes=nodes,
        start=first.record.start_unix_nano,
        end=max(node.record.end_unix_nano for node in nodes),
        tool=first.record.name,
        call_id=None,
        arguments=min((_arguments(node) for node in nodes), key=lambda found: _BEST.index(found.state)),
        kind="retrieval" if first.role == "retrieval" else "tool",
        ids=frozenset(node.record.span_id for node in nodes),
    )
    if (name := call.first("tool_name")) is not None:
        call.tool = str(name)
    if (call_id := call.first("call_id")) is not None:
        call.call_id = str(call_id)
    return call


def _arguments(node: Node) -> Arguments:
    if node.read("content_off"):
        return Arguments(state="not_captured")
    return decode_arguments(
        node.read("arguments"),
        limit=node.record.attribute_limit,
        flagged_truncated="arguments" in flags(node.read("truncated")),
        flagged_raw="arguments" in flags(node.read("raw")),
    )


def _joined(members: Sequence[Call]) -> Call:
    nodes = sorted((node for call in members for node in call.nodes), key=lambda n: (n.depth, *n.key))
    return _call(tuple(nodes))


class _Groups:
    """Disjoint sets of calls, in the order of their first member."""

    def __init__(self, calls: Sequence[Call]) -> None:
        self._calls = calls
        self._leader = list(range(len(calls)))

    def find(self, index: int) -> int:
        while self._leader[index] != index:
            index = self._leader[index]
        return index

    def join(self, one: int, other: int) -> None:
        low, high = sorted((self.find(one), self.find(other)))
        self._leader[high] = low

    def all(self) -> list[list[Call]]:
        found: dict[int, list[Call]] = {}
        for index, call in enumerate(self._calls):
            found.setdefault(self.find(index), []).append(call)
        return list(found.values())


def _join_nested(calls: Sequence[Call], groups: _Groups) -> None:
    index_of = {call.nodes[0].record.span_id: index for index, call in enumerate(calls)}
    for index, call in enumerate(calls):
        outer = enclosing(call.nodes[0], CALLS)
        place = None if outer is None else index_of.get(outer.record.span_id)
        if place is not None and _same_call(calls[place], call):
            groups.join(place, index)


def _join_siblings(calls: Sequence[Call], groups: _Groups) -> None:
    """Join calls seen side by side: by an equal identity, by an equal call id while overlapping in time, and, from
    two instrumentations, by equal arguments while one lies within the other's time."""
    by_identity: dict[str, int] = {}
    open_calls: dict[str, list[int]] = {}
    for index, call in enumerate(calls):
        identity = call.nodes[0].read("identity")
        if identity is not None:
            groups.join(by_identity.setdefault(str(identity), index), index)
        still_open = [i for i in open_calls.get(call.tool, ()) if calls[i].end > call.start]
        nested = groups.find(index) != index
        twin = next((i for i in still_open if _side_by_side(calls[i], call, nested=nested)), None)
        if twin is not None:
            groups.join(twin, index)
        open_calls[call.tool] = [*still_open, index]


def _same_call(outer: Call, inner: Call) -> bool:
    if outer.tool != inner.tool:
        return False
    if outer.call_id is not None and inner.call_id is not None:
        return outer.call_id == inner.call_id
    if outer.arguments.values is not None and inner.arguments.values is not None:
        return outer.arguments.values == inner.arguments.values
    # Nothing to compare: two instrumentations see one call, one instrumentation sees a tool that calls itself.
    return outer.nodes[0].record.scope != inner.nodes[0].record.scope


def _side_by_side(one: Call, other: Call, *, nested: bool) -> bool:
    if enclosing(other.nodes[0], CALLS) is one.nodes[0]:
        return False  # judged as nested
    if one.call_id is not None and other.call_id is not None:
        return one.call_id == other.call_id
    if nested:
        return False  # it has its twin: the call around it
    a, b = one.nodes[0].record, other.nodes[0].record
    within = a.end_unix_nano >= b.end_unix_nano
    return a.scope != b.scope and within and _same_call(one, other)
