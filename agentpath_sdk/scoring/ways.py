"""The concrete sequences of calls that a gold expression accepts, so that the best-fitting one can be scored."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import islice, permutations, product
from typing import Final, TypeAlias

from agentpath_sdk.gold.model import AnyOrder, CallStep, GoldPath, OneOf, OptionalStep, Repeat, Sequence, Step

__all__ = ["MOST_WAYS", "is_linear", "plain_calls", "ways_of"]

MOST_WAYS: Final = 2_048
"""A gold path that accepts more sequences than this, for the length of one run, is not evaluated."""

_Way: TypeAlias = tuple[tuple[CallStep, ...], int]
"""The calls, and how many of them the shortest run through the same branches makes."""

_CACHE_SIZE: Final = 1_024
_cache: dict[tuple[int, int], tuple[GoldPath, tuple[GoldPath, ...] | None]] = {}


class _TooManyError(Exception):
    """The expression accepts more than ``MOST_WAYS`` sequences."""


def is_linear(path: GoldPath) -> bool:
    """Return whether the path is one plain sequence of calls."""
    return not path.alternatives and all(type(step) is CallStep for step in path.steps)


def plain_calls(path: GoldPath) -> tuple[CallStep, ...]:
    """Return the calls of a linear path."""
    return tuple(step for step in path.steps if isinstance(step, CallStep))


def ways_of(path: GoldPath, run_length: int) -> tuple[GoldPath, ...] | None:
    """Return a linear gold path per accepted sequence, repeats up to the run's length; None = too many.

    In file order: a tie between two of them goes to the first.
    """
    key = (id(path), run_length)
    found = _cache.get(key)
    # The path is kept beside its ways: an id is only good as long as its object lives.
    if found is not None and found[0] is path:
        return found[1]
    try:
        ways = tuple(
            _linear(path, way) for steps in (path.steps, *path.alternatives) for way in _row(steps, run_length)
        )
    except _TooManyError:
        ways = None
    if len(_cache) >= _CACHE_SIZE:
        _cache.clear()
    _cache[key] = (path, ways)
    return ways


def _linear(path: GoldPath, way: _Way) -> GoldPath:
    calls, least = way
    given = path.min_steps
    return replace(path, steps=calls, alternatives=(), min_steps=least if given is None else given)


def _row(steps: Iterable[Step], room: int) -> list[_Way]:
    """Return the ways through ``steps`` one after another."""
    ways: list[_Way] = [((), 0)]
    for step in steps:
        pairs = product(ways, _one(step, room))
        ways = _capped(((*calls, *more), least + more_least) for (calls, least), (more, more_least) in pairs)
    return ways


def _one(step: Step, room: int) -> list[_Way]:
    match step:
        case CallStep():
            return [((step,), 1)]
        case Sequence():
            return _row(step.steps, room)
        case OptionalStep():
            return [((), 0), *((calls, 0) for calls, _ in _one(step.step, room))]
        case Repeat():
            return _repeated(step, room)
        case AnyOrder():
            return _capped(way for order in permutations(step.steps) for way in _row(order, room))
        case OneOf():
            return _capped(way for branch in step.branches for way in _one(branch, room))


def _repeated(step: Repeat, room: int) -> list[_Way]:
    most = max(step.least, room if step.most is None else min(step.most, room))
    ways: list[_Way] = []
    for times in range(step.least, most + 1):
        rounds = _row([step.step] * step.least, room)
        further = [calls for calls, _ in _row([step.step] * (times - step.least), room)]
        # Rounds above the least are the run's own choice: the shortest run makes none of them.
        ways += [((*calls, *more), least) for (calls, least), more in product(rounds, further)]
        if len(ways) > MOST_WAYS:
            raise _TooManyError
    return ways


def _capped(ways: Iterable[_Way]) -> list[_Way]:
    kept = list(islice(ways, MOST_WAYS + 1))
    if len(kept) > MOST_WAYS:
        raise _TooManyError
    return kept
