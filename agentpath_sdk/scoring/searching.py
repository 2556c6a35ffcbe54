"""The ways through a gold path that may fit a run best, where there are too many to be written out.

Best first (A*: Hart, Nilsson and Raphael 1968) over (place in the expression, realised length), each with rows over
the positions in the run; the look ahead is the same dynamic programming done backwards. A beginning that leads to the
same place with the same rows as another is dropped, so that members of a group that the run does not have cost a place
per set of them, and none per order.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from agentpath_sdk.scoring.outlook import Outlook, Pairings
from agentpath_sdk.scoring.words import Expected, Language, Word

__all__ = ["Found", "most_promising"]

# Cells of rows filled per run, about a second's worth. Past it the best way found so far counts.
_MOST_CELLS: Final = 1_000_000

Found: TypeAlias = "tuple[float, tuple[int, ...], Word]"
"""What the composite does not exceed with a sequence; its place in the order of the file, which begins with its
alternative from 1; the sequence."""


@dataclass(frozen=True, slots=True)
class _Node:
    """A beginning of a sequence; the rows tell how well it can be aligned with each beginning of the run."""

    order: tuple[int, ...]
    place: int
    word: Word
    required: int
    answered: bool
    gains: tuple[float, ...]
    distances: tuple[int, ...]
    ranks: tuple[int, ...]
    """Pairs, their similarity and edits, by which one alignment is chosen among those of a sequence."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Field:
    """What a search looks at."""

    language: Language
    pairings: Pairings
    outlook: Outlook
    answers: bool
    """Whether a terminal step has to be in the sequence, or must not be."""
    given_min_steps: int | None
    by_calls: bool
    """Whether beginnings with other calls, or calls at other places, must be told apart."""


def most_promising(
    language: Language,
    pairings: Pairings,
    *,
    answers: bool,
    min_steps: int | None,
    by_calls: bool,
    out_of_reach: Callable[[float], bool],
) -> Iterator[Found]:
    """Yield sequences, the most promising first, until all others are out of reach or it has taken too long.

    Args:
        language: of the gold path.
        pairings: of the run with its calls.
        answers: whether the sequences must have a terminal step, or must not have one.
        min_steps: of the shortest way, where the gold path says it.
        by_calls: whether the composite depends on more than an alignment in order.
        out_of_reach: whether a sequence with such a bound cannot be chosen any more; asked anew each time.
    """
    field = _Field(
        language=language,
        pairings=pairings,
        outlook=Outlook(language, language.starts, pairings),
        answers=answers,
        given_min_steps=min_steps,
        by_calls=by_calls,
    )
    roots = [_root(field, number, start) for number, start in enumerate(language.starts, 1)]
    for root in sorted(roots, key=lambda root: -_bound(field, root)):
        yield from _straight(field, root)
    yield from _best_first(field, roots, out_of_reach)


def _root(field: _Field, alternative: int, place: int) -> _Node:
    columns = range(field.pairings.calls + 1)
    return _Node(
        order=(alternative,),
        place=place,
        word=(),
        required=0,
        answered=False,
        gains=(0.0,) * len(columns),
        distances=tuple(columns),
        ranks=tuple(-column for column in columns),
    )


def _straight(field: _Field, node: _Node) -> Iterator[Found]:
    """Yield the sequence found by taking the most promising step each time: something to measure others by."""
    while True:
        after = [(_bound(field, one), -at, one) for at, one in enumerate(_next(field, node))]
        best = max(after, default=None, key=lambda one: one[:2])
        if _ends(field, node) and (best is None or _bound_of_end(field, node) >= best[0]):
            yield _found(field, node)
            return
        if best is None or len(node.word) > 2 * field.pairings.calls + 1_000:
            return
        node = best[2]


def _best_first(field: _Field, roots: Sequence[_Node], out_of_reach: Callable[[float], bool]) -> Iterator[Found]:
    waiting: list[tuple[float, int, tuple[int, ...], _Node | None, Found | None]] = []
    for root in roots:
        heapq.heappush(waiting, (-_bound(field, root), 0, root.order, root, None))
    seen: set[object] = set()
    cells = 0
    while waiting and cells < _MOST_CELLS:
        bound, _, _, node, found = heapq.heappop(waiting)
        if out_of_reach(-bound):
            return
        if found is not None:
            yield found
        if node is None or (key := _key(field, node)) in seen:
            continue
        seen.add(key)
        if _ends(field, node):
            end = _found(field, node)
            # A node and its end are told apart by their second item, and ends come first.
            heapq.heappush(waiting, (-end[0], -len(node.word) - 1, node.order, None, end))
        for one in _next(field, node):
            cells += len(one.gains)
            bound = _bound(field, one)
            if not out_of_reach(bound):
                heapq.heappush(waiting, (-bound, -len(one.word), one.order, one, None))


def _key(field: _Field, node: _Node) -> object:
    key = (node.place, len(node.word), node.required, node.answered, node.gains, node.distances, node.ranks)
    return (*key, tuple(expected.call for expected in node.word)) if field.by_calls else key


def _found(field: _Field, node: _Node) -> Found:
    return _bound_of_end(field, node), node.order, node.word


def _bound(field: _Field, node: _Node) -> float:
    """Return what no sequence with this beginning exceeds."""
    ahead = field.outlook.at(node.place)
    gain = max(map(float.__add__, node.gains, ahead.gains))
    distance = min(map(int.__add__, node.distances, ahead.distances))
    done = len(node.word)
    return _bounded(
        field, gain, distance, (done + ahead.shortest, done + ahead.longest), node.required + ahead.required
    )


def _bound_of_end(field: _Field, node: _Node) -> float:
    """Return the same for the sequence that ends here."""
    done = len(node.word)
    return _bounded(field, node.gains[-1], node.distances[-1], (done, done), node.required)


def _bounded(field: _Field, gain: float, distance: int, length: tuple[int, int], required: int) -> float:
    min_steps = required if field.given_min_steps is None else field.given_min_steps
    if field.pairings.run.plan.settings.damerau:
        # A swap of neighbours is one edit instead of two.
        distance = (distance + 1) // 2
    return field.pairings.bounds.bound_of_gain(gain, distance, *length, min_steps)


def _ends(field: _Field, node: _Node) -> bool:
    return node.answered == field.answers and field.language.ends(node.place)


def _next(field: _Field, node: _Node) -> Iterator[_Node]:
    steps = field.pairings.run.plan.table.steps
    for number, (expected, place) in enumerate(field.language.arcs(node.place)):
        terminal = steps[expected.call].terminal
        if field.answers or not terminal:
            yield _step(field, node, (number, expected, place), terminal)


def _step(field: _Field, node: _Node, arc: tuple[int, Expected, int], terminal: bool) -> _Node:
    number, expected, place = arc
    pairing = field.pairings.of(expected.call)
    gain, distance, rank = node.gains[0] + pairing.elsewhere, node.distances[0] + 1, node.ranks[0] - 1
    gains, distances, ranks = [gain], [distance], [rank]
    for at, same in enumerate(pairing.same):
        gain = max(gain, node.gains[at + 1] + pairing.elsewhere, node.gains[at] + pairing.gains[at])
        distance = min(distance + 1, node.distances[at + 1] + 1, node.distances[at] + (not same))
        rank = max(rank - 1, node.ranks[at + 1] - 1, node.ranks[at] + pairing.ranks[at])
        gains.append(gain)
        distances.append(distance)
        ranks.append(rank)
    return _Node(
        order=(*node.order, number),
        place=place,
        word=(*node.word, expected),
        required=node.required + expected.required,
        answered=node.answered or terminal,
        gains=tuple(gains),
        distances=tuple(distances),
        ranks=tuple(ranks),
    )
