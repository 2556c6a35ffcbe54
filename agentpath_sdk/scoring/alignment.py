"""The optimal alignment of a run with a gold path: dynamic programming over (place in the gold, place in the run).

Pairs keep the order of both sides, and maximise in this order: number of pairs, sum of similarities, fewest edits,
earliest run positions, earliest gold positions. All five are packed into one integer per cell, so that a comparison
of cells is a comparison of integers and nothing depends on rounding.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias

__all__ = [
    "NO_PAIR",
    "SIMILARITY_ONE",
    "Pair",
    "Point",
    "best_chain",
    "best_pairs",
    "edits",
    "forced_pairs",
    "optimal_pairs",
]

Pair: TypeAlias = tuple[int, int]
"""(gold position, run position)."""
Point: TypeAlias = tuple[int, int, int]
"""(gold position, run position, weight) of two steps of one tool."""
_Link: TypeAlias = "tuple[int, int, int, _Link | None]"

_SIMILARITY_BITS: Final = 30
SIMILARITY_ONE: Final = 1 << _SIMILARITY_BITS
"""Weight of a pair of similarity 1.0; similarities are integers here, since sums of floats depend on their order."""
NO_PAIR: Final = -1
"""Weight where the tools differ."""

_PAIR, _BOTH, _GOLD, _RUN = range(4)


def optimal_pairs(points: Sequence[Point], gold: int, run: int, most: int) -> list[Pair]:
    """Return the optimal pairs of ``gold`` and ``run`` steps, ``most`` of them at most, by whichever way is shorter."""
    if len(points) * len(points) <= 6 * gold * run:
        return best_chain(points, gold, run, most)
    weights = [[NO_PAIR] * run for _ in range(gold)]
    for row, column, weight in points:
        weights[row][column] = weight
    return best_pairs(weights)


def best_chain(points: Sequence[Point], gold: int, run: int, most: int = 0) -> list[Pair]:
    """Return the optimal pairs among ``points`` (ascending), as ``best_pairs`` does, but fast where they are few.

    ``most`` is how many pairs there are in the optimum, at most: points that too few can precede are left out.
    Points are visited from the end; each takes the best of those that may follow it. O(points squared).
    """
    # One place more on each side than there are, so that the point before all others has one.
    edit = 1 << (gold + run + 2)
    similarity_shift = gold + run + 2 + (gold + run).bit_length()
    # Short numbers where there is no similarity to hold.
    bits = _SIMILARITY_BITS + min(gold, run).bit_length() if any(point[2] for point in points) else 0
    pair = 1 << (similarity_shift + bits)
    last_gold = gold - 1
    # A point, its value, and the link that follows; by the number of pairs from the point on.
    levels: list[list[_Link]] = []
    # The last point visited stands before all others, takes nothing and starts the way.
    for row, column, weight in (*reversed(points), (-1, -1, 0)):
        best, following, level = 0, None, len(levels)
        # More pairs beat everything else, so the highest level with a point that may follow has the best one.
        while level and following is None:
            level -= 1
            for link in levels[level]:
                there = link[1] - column
                left = link[0] - row
                if there > 0 < left:
                    found = link[2] - edit * (left if left > there else there)
                    if following is None or found > best:
                        best, following = found, link
        if following is None:
            left, there = gold - row, run - column
            best = -edit * (left if left > there else there)
        else:
            level += 1
        if 0 <= row < most - level - 1 or 0 <= column < most - level - 1:
            continue
        value = (
            best + pair + edit + (weight << similarity_shift) + (1 << (gold + run - column)) + (1 << (last_gold - row))
        )
        if level == len(levels):
            levels.append([])
        levels[level].append((row, column, value, following))
    pairs: list[Pair] = []
    link = levels[-1][-1][3]
    while link is not None:
        pairs.append((link[0], link[1]))
        link = link[3]
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


def forced_pairs(gold: str, run: str) -> list[Pair] | None:
    """Return the pairs where there is nothing to choose, else None.

    That is so when each tool on both sides occurs once on each, in the same order: all of them are paired, and no
    other alignment has as many. Also when there is no such tool.
    """
    pairs: list[Pair] = []
    last = -1
    for position, letter in enumerate(gold):
        found = run.find(letter)
        if found < 0:
            continue
        if found <= last or gold.count(letter) > 1 or run.count(letter) > 1:
            return None
        pairs.append((position, found))
        last = found
    return pairs


def edits(pairs: Sequence[Pair], gold: int, run: int) -> int:
    """Return how many steps are inserted, left out or replaced, for ``gold`` and ``run`` steps in all."""
    total = 0
    last_gold = last_run = -1
    for gold_position, run_position in (*pairs, (gold, run)):
        total += max(gold_position - last_gold, run_position - last_run) - 1
        last_gold, last_run = gold_position, run_position
    return total
