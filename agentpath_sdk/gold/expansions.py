"""The call sequences that steps accept, where there are few of them: to see whether one way covers another."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import permutations
from typing import Final, TypeAlias

from agentpath_sdk.gold.model import AnyOrder, CallStep, OneOf, OptionalStep, Repeat, Sequence, Step

__all__ = ["Word", "covers", "words_of"]

Word: TypeAlias = tuple[str, ...]
"""One accepted sequence, each call by its text."""

_MAX_WORDS: Final = 2_000


class _TooMany(Exception):
    """There are more sequences than are worth writing out."""


def words_of(steps: Iterable[Step]) -> frozenset[Word] | None:
    """Return every sequence the steps accept; None where there are over 2,000, or no end of them."""
    try:
        return _row([_words(step) for step in steps])
    except _TooMany:
        return None


def covers(one: frozenset[Word] | None, other: frozenset[Word] | None) -> bool:
    """Return whether the first surely accepts everything that the second does."""
    return one is not None and other is not None and other <= one


def _words(step: Step) -> frozenset[Word]:
    match step:
        case CallStep():
            return frozenset({(repr(step),)})
        case Sequence():
            return _row([_words(inner) for inner in step.steps])
        case OptionalStep():
            return _words(step.step) | {()}
        case OneOf():
            return _bounded(frozenset[Word]().union(*map(_words, step.branches)))
        case AnyOrder():
            return _any_order(step)
        case Repeat():
            return _repeated(step)


def _row(parts: Iterable[frozenset[Word]]) -> frozenset[Word]:
    found: frozenset[Word] = frozenset({()})
    for part in parts:
        if len(found) * len(part) > _MAX_WORDS * 4:
            raise _TooMany
        found = _bounded(frozenset(begin + end for begin in found for end in part))
    return found


def _any_order(step: AnyOrder) -> frozenset[Word]:
    members = [_words(inner) for inner in step.steps]
    if len(members) > 5:
        raise _TooMany
    orders = frozenset[Word]().union(*(_row(order) for order in permutations(members)))
    # Asked for together is another demand than one after the other.
    return frozenset(("together", *word) for word in orders) if step.parallel else _bounded(orders)


def _repeated(step: Repeat) -> frozenset[Word]:
    if step.most is None or step.most > 20:
        raise _TooMany
    inner = _words(step.step)
    return _bounded(frozenset[Word]().union(*(_row([inner] * n) for n in range(step.least, step.most + 1))))


def _bounded(words: frozenset[Word]) -> frozenset[Word]:
    if len(words) > _MAX_WORDS:
        raise _TooMany
    return words
