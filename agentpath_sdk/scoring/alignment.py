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

_SIMILARITY_BITS: Final = 30
SIMILARITY_ONE: Final = 1 << _SIMILARITY_BITS
"""Weight of a pair of similarity 1.0; similarities are integers here, since sums of floats depend on their order."""
NO_PAIR: Final = -1
"""Weight where the tools differ."""

_PAIR, _BOTH, _GOLD, _RUN = range(4)


def optimal_pairs(points: Sequence[Point], gold: int, run: int) -> list[Pair]:
    """Return the optimal pairs of ``gold`` and ``run`` steps, by whichever way is shorter."""
    if len(points) * len(points) <= 2 * gold * run:
        return best_chain(points, gold, run)
    weights = [[NO_PAIR] * run for _ in range(gold)]
    for row, column, weight in points:
        weights[row][column] = weight
    return best_pairs(weights)


def best_chain(points: Sequence[Point], gold: int, run: int) -> list[Pair]:
    """Return the optimal pairs among ``points`` (ascending), as ``best_pairs`` does, but fast where they are few.

    Points are visited from the end; each takes the best of those that may follow it. O(points squared).
    """
    edit = 1 << (gold + run)
    similarity_shift = gold + run + (gold + run).bit_length()
    # Short numbers where there is no similarity to hold.
    bits = _SIMILARITY_BITS + min(gold, run).bit_length() if any(point[2] for point in points) else 0
    pair = 1 << (similarity_shift + bits)
    last_gold, last_run = gold - 1, run - 1
    done: list[tuple[int, int, int, int]] = []
    # The last point visited stands before all others, takes nothing and starts the way.
    for row, column, weight in (*reversed(points), (-1, -1, 0)):
        left, there = last_gold - row, last_run - column
        # What follows: nothing but edits, or the best later point after the edits between.
        best, following = -edit * (left if left > there else there), -1
        for at, (other_row, other_column, value, _) in enumerate(done):
            left, there = other_row - row, other_column - column
            if left > 0 < there and (found := value - edit * ((left if left > there else there) - 1)) > best:
                best, following = found, at
        if row >= 0:
            best += pair + (weight << similarity_shift) + (1 << (gold + last_run - column)) + (1 << (last_gold - row))
        done.append((row, column, best, following))
    pairs: list[Pair] = []
    at = done[-1][3]
    while at >= 0:
        row, column, _, at = done[at]
        pairs.append((row, column))
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
