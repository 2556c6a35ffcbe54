"""The optimal alignment of a run with a gold path: dynamic programming over (place in the gold, place in the run).

Pairs keep the order of both sides, and maximise in this order: number of pairs, sum of similarities, fewest edits,
earliest run positions, earliest gold positions. All five are packed into one integer per cell, so that a comparison
of cells is a comparison of integers and nothing depends on rounding.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

__all__ = ["NO_PAIR", "SIMILARITY_ONE", "Pair", "best_chain", "best_pairs", "edits", "longest"]

Pair: TypeAlias = tuple[int, int]
"""(gold position, run position)."""
_Link: TypeAlias = "tuple[int, int, int, _Link | None]"
"""A point, its value, and the link that follows; None = the end of both sides."""

_SIMILARITY_BITS: Final = 30
SIMILARITY_ONE: Final = 1 << _SIMILARITY_BITS
"""Weight of a pair of similarity 1.0; similarities are integers here, since sums of floats depend on their order."""
NO_PAIR: Final = -1
"""Weight where the tools differ."""

_PAIR, _BOTH, _GOLD, _RUN = range(4)


def longest(points: Sequence[Pair]) -> list[list[Pair]]:
    """Return the points that are in an alignment of the most pairs, by how many pairs are to follow (none first).

    ``points`` ascend by gold position, and within one descend by run position. Where each list holds one point there
    is no other alignment of as many pairs. By patience sorting, O(points x log points).
    """
    before: list[int] = []
    tails: list[int] = []
    for _, run in points:
        found = bisect_left(tails, run)
        before.append(found)
        tails[found : found + 1] = (run,)
    most = len(tails)
    levels: list[list[Pair]] = [[] for _ in tails]
    tails = []
    for point, found in zip(reversed(points), reversed(before), strict=True):
        follow = bisect_left(tails, -point[1])
        tails[follow : follow + 1] = (-point[1],)
        if found + follow + 1 == most:
            levels[follow].append(point)
    return levels


def best_chain(levels: Sequence[Sequence[Pair]], weights: Mapping[Pair, int], gold: int, run: int) -> list[Pair]:
    """Return the optimal pairs among ``longest`` points, ascending.

    ``weights`` are 0 to ``SIMILARITY_ONE`` per point, or empty where all weigh the same. Each point takes the best of
    those of the level below that lie beyond it.
    """
    edit = 1 << (gold + run)
    shift = gold + run + (2 * (gold + run) + 2).bit_length()
    below: list[_Link] = [(gold, run, 0, None)]
    for points in levels:
        current: list[_Link] = []
        for row, column in points:
            best, following = None, None
            for link in below:
                left, there = link[0] - row, link[1] - column
                if left > 0 < there:
                    # One more than the edits between, for each link: the same for all alignments.
                    found = link[2] - edit * (left if left > there else there)
                    if best is None or found > best:
                        best, following = found, link
            value = (best or 0) + (1 << (gold + run - 1 - column)) + (1 << (gold - 1 - row))
            if weights:
                value += weights[row, column] << shift
            current.append((row, column, value, following))
        below = current
    pairs: list[Pair] = []
    first: _Link | None = max(below, key=lambda link: link[2] - edit * max(link[0], link[1])) if levels else None
    while first is not None and first[3] is not None:
        pairs.append((first[0], first[1]))
        first = first[3]
    return pairs


def best_pairs(weights: Sequence[Sequence[int]]) -> list[Pair]:
    """Return the optimal pairs, ascending; ``weights[gold][run]`` is 0 to ``SIMILARITY_ONE``, or ``NO_PAIR``.

    O(gold x run). Cells are filled from the end, so that the way is read off from the start.
    """
    moves = _fill(weights)
    pairs: list[Pair] = []
    gold = run = 0
    while gold < len(moves) and run < len(moves[gold]):
        move = moves[gold][run]
        if move == _PAIR:
            pairs.append((gold, run))
        gold += move != _RUN
        run += move != _GOLD
    return pairs


def _fill(weights: Sequence[Sequence[int]]) -> list[bytearray]:
    rows, columns = len(weights), len(weights[0])
    # From the least significant: a bit per gold step taken, the first highest; a bit per run step taken, likewise;
    # edits (negative); similarity; number of pairs. A larger set bit mask of equal size = earlier positions.
    edit = 1 << (rows + columns)
    similarity_shift = rows + columns + (rows + columns).bit_length()
    pair = 1 << (similarity_shift + _SIMILARITY_BITS + min(rows, columns).bit_length())
    moves = [bytearray(columns) for _ in range(rows)]
    below = [-edit * (columns - column) for column in range(columns + 1)]
    for row in range(rows - 1, -1, -1):
        line, move = weights[row], moves[row]
        gold_taken = pair + (1 << (rows - 1 - row))
        right = below[columns] - edit
        current = [right] * (columns + 1)
        for column in range(columns - 1, -1, -1):
            weight = line[column]
            if weight < 0:
                best, taken = below[column + 1] - edit, _BOTH
            else:
                run_taken = 1 << (rows + columns - 1 - column)
                best, taken = below[column + 1] + gold_taken + run_taken + (weight << similarity_shift), _PAIR
            if (other := below[column] - edit) > best:
                best, taken = other, _GOLD
            if (other := right - edit) > best:
                best, taken = other, _RUN
            current[column] = right = best
            move[column] = taken
        below = current
    return moves


def edits(pairs: Sequence[Pair], gold: int, run: int) -> int:
    """Return how many steps are inserted, left out or replaced, for ``gold`` and ``run`` steps in all."""
    total = 0
    last_gold = last_run = -1
    for gold_position, run_position in (*pairs, (gold, run)):
        total += max(gold_position - last_gold, run_position - last_run) - 1
        last_gold, last_run = gold_position, run_position
    return total
