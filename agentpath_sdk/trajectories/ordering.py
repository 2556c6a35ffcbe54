"""What lies between the steps of a run: parallel groups, repeated attempts, a call paused and run again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from agentpath_sdk.trajectories.calls import Call
from agentpath_sdk.trajectories.model import ToolCall

__all__ = ["number_attempts", "parallel_groups", "resumed"]


def parallel_groups(calls: Sequence[Call]) -> list[int | None]:
    """Return a group number for each of ``calls`` (in order), from 1 on, None for a call alone.

    Together are the calls that one model answer asked for, and calls that overlap in time and are not one inside the
    other; a chain of overlaps is one group.
    """
    leader = list(range(len(calls)))

    def find(index: int) -> int:
        while leader[index] != index:
            leader[index] = leader[leader[index]]
            index = leader[index]
        return index

    for one, other in (*_same_answer(calls), *_overlapping(calls)):
        low, high = sorted((find(one), find(other)))
        leader[high] = low
    return _numbered([find(index) for index in range(len(calls))])


def _same_answer(calls: Sequence[Call]) -> Iterator[tuple[int, int]]:
    first: dict[int, int] = {}
    for index, call in enumerate(calls):
        if call.answer is not None:
            yield first.setdefault(call.answer, index), index


def _overlapping(calls: Sequence[Call]) -> Iterator[tuple[int, int]]:
    open_calls: list[int] = []
    for index, call in enumerate(calls):
        open_calls = [i for i in open_calls if calls[i].end > call.start]
        for other in open_calls:
            if not _inside(call, calls[other]):
                yield other, index
        open_calls.append(index)


def _inside(inner: Call, outer: Call) -> bool:
    above = inner.nodes[0].parent
    while above is not None:
        if above.record.span_id in outer.ids:
            return True
        above = above.parent
    return False


def _numbered(leaders: Sequence[int]) -> list[int | None]:
    sizes: dict[int, int] = {}
    for leader in leaders:
        sizes[leader] = sizes.get(leader, 0) + 1
    numbers: dict[int, int] = {}
    return [None if sizes[leader] == 1 else numbers.setdefault(leader, len(numbers) + 1) for leader in leaders]


def number_attempts(steps: Sequence[ToolCall]) -> tuple[ToolCall, ...]:
    """Return ``steps`` with ``attempt`` set: a call of the same tool that follows a failed one with the same call
    id or equal arguments is its next attempt."""
    latest: dict[str, list[ToolCall]] = {}
    numbered: list[ToolCall] = []
    for step in steps:
        earlier = latest.setdefault(step.tool, [])
        place = next((i for i in reversed(range(len(earlier))) if _tried_again(earlier[i], step)), None)
        attempt = 1 if place is None else earlier.pop(place).attempt + 1
        current = step if step.attempt == attempt else replace(step, attempt=attempt)
        numbered.append(current)
        if current.outcome not in ("ok", "unknown"):
            earlier.append(current)
    return tuple(numbered)


def _tried_again(earlier: ToolCall, later: ToolCall) -> bool:
    if (earlier.end_unix_nano or 0) > (later.start_unix_nano or 0):
        return False  # side by side is no second try
    return same_request(earlier, later, unknown_counts=False)


def same_request(one: ToolCall, other: ToolCall, *, unknown_counts: bool) -> bool:
    """Return whether two steps are one call asked for once; ``unknown_counts`` = arguments that are not known on
    either side are taken for equal."""
    if one.tool != other.tool:
        return False
    if one.call_id is not None and one.call_id == other.call_id:
        return True
    if one.arguments is not None and other.arguments is not None:
        return one.arguments == other.arguments
    return unknown_counts and (one.call_id is None or other.call_id is None)


def resumed(steps: Sequence[ToolCall]) -> list[int]:
    """Return the indexes of steps that were paused and later run again: that later step stands for both."""
    gone: list[int] = []
    taken: set[int] = set()
    for index, step in enumerate(steps):
        if step.outcome != "interrupted":
            continue
        again = next((j for j in range(index + 1, len(steps)) if j not in taken and _runs_again(step, steps[j])), None)
        if again is not None:
            taken.add(again)
            gone.append(index)
    return gone


def _runs_again(paused: ToolCall, later: ToolCall) -> bool:
    return same_request(paused, later, unknown_counts=True)
