"""One-to-one pairing of gold steps with run steps: as many pairs, or as much weight, as there can be.

Pairing first come, first served is what existing tools do, and it loses pairs: with gold ``f(a=1 or 2), f(a=1)``
and run ``f(a=1), f(a=2)`` it finds one pair where there are two. Rows are gold steps, columns are run steps.
Everything here is pure and deterministic; sizes are those of a trajectory (tens of steps, hundreds at worst).
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from typing import Final, TypeAlias

__all__ = ["Pairs", "maximum_assignment", "maximum_matching", "maximum_sequence"]

Pairs: TypeAlias = tuple[tuple[int, int], ...]
"""(row, column), ascending by row; no row and no column occurs twice."""

_FREE: Final = -1


def maximum_matching(edges: Sequence[Sequence[int]], columns: int) -> Pairs:
    """Return a largest set of pairs, where ``edges[row]`` lists the columns that row may take, earliest preferred.

    Augmenting paths (Berge 1957), searched breadth first: O(rows x edges) at worst.
    """
    owner = [_FREE] * columns
    for row in range(len(edges)):
        _augment(row, edges, owner)
    return tuple(sorted((row, column) for column, row in enumerate(owner) if row != _FREE))


def maximum_assignment(weights: Sequence[Sequence[float]]) -> Pairs:
    """Return the pairs with the largest sum of weights (0 or more each); pairs of weight 0 are left out.

    Solved for each connected part by itself, since calls of different tools never compete.
    """
    pairs: list[tuple[int, int]] = []
    for rows, columns in _components(weights):
        small = [[weights[row][column] for column in columns] for row in rows]
        pairs.extend((rows[row], columns[column]) for row, column in _hungarian(small))
    return tuple(sorted((row, column) for row, column in pairs if weights[row][column] > 0.0))


def maximum_sequence(weights: Sequence[Sequence[float]]) -> Pairs:
    """Return the pairs with the largest sum of weights among those that keep both orders (no crossings).

    The longest common subsequence, weighted; among equals the earliest columns.
    """
    rows, columns = len(weights), len(weights[0]) if weights else 0
    # best[i][j]: largest sum from row i and column j on; filled from the end, read from the start.
    best = [[0.0] * (columns + 1) for _ in range(rows + 1)]
    for row in range(rows - 1, -1, -1):
        for column in range(columns - 1, -1, -1):
            paired = weights[row][column] + best[row + 1][column + 1]
            best[row][column] = max(paired, best[row + 1][column], best[row][column + 1])
    return _read_sequence(weights, best)


def _read_sequence(weights: Sequence[Sequence[float]], best: Sequence[Sequence[float]]) -> Pairs:
    pairs: list[tuple[int, int]] = []
    row = column = 0
    while row < len(weights) and column < len(weights[0]):
        weight = weights[row][column]
        if weight > 0.0 and weight + best[row + 1][column + 1] == best[row][column]:
            pairs.append((row, column))
            row, column = row + 1, column + 1
        elif best[row + 1][column] == best[row][column]:
            row += 1
        else:
            column += 1
    return tuple(pairs)


def _augment(start: int, edges: Sequence[Sequence[int]], owner: list[int]) -> None:
    """Give ``start`` a column by moving rows that have one, if that is possible; ``owner`` is changed in place."""
    reached_from: dict[int, int] = {}
    queue = deque([start])
    while queue:
        row = queue.popleft()
        for column in edges[row]:
            if column in reached_from:
                continue
            reached_from[column] = row
            if owner[column] == _FREE:
                _flip(column, start, reached_from, owner)
                return
            queue.append(owner[column])


def _flip(free: int, start: int, reached_from: dict[int, int], owner: list[int]) -> None:
    held = {row: column for column, row in enumerate(owner) if row != _FREE}
    column = free
    while True:
        row = reached_from[column]
        owner[column] = row
        if row == start:
            return
        column = held[row]


def _components(weights: Sequence[Sequence[float]]) -> list[tuple[list[int], list[int]]]:
    """Return the connected parts of the graph of positive weights, as (rows, columns)."""
    columns_of = [[column for column, weight in enumerate(line) if weight > 0.0] for line in weights]
    rows_of: dict[int, list[int]] = {}
    for row, columns in enumerate(columns_of):
        for column in columns:
            rows_of.setdefault(column, []).append(row)
    parts: list[tuple[list[int], list[int]]] = []
    seen: set[int] = set()
    for start, columns in enumerate(columns_of):
        if columns and start not in seen:
            parts.append(_component(start, columns_of, rows_of, seen))
    return parts


def _component(
    start: int, columns_of: Sequence[Sequence[int]], rows_of: dict[int, list[int]], seen: set[int]
) -> tuple[list[int], list[int]]:
    rows, columns, stack = [start], set[int](), [start]
    seen.add(start)
    while stack:
        for column in columns_of[stack.pop()]:
            if column in columns:
                continue
            columns.add(column)
            new = [row for row in rows_of[column] if row not in seen]
            seen.update(new)
            rows.extend(new)
            stack.extend(new)
    return sorted(rows), sorted(columns)


def _hungarian(weights: Sequence[Sequence[float]]) -> list[tuple[int, int]]:
    """Return a heaviest assignment of the smaller side into the larger (Kuhn 1955, Munkres 1957), O(n^2 m)."""
    if len(weights) > len(weights[0]):
        turned = [list(line) for line in zip(*weights, strict=True)]
        return [(row, column) for column, row in _hungarian(turned)]
    rows, columns = len(weights), len(weights[0])
    # Shortest augmenting paths on costs -weight. Index 0 is a helper row and column; owner[column] is its row.
    row_price, column_price, owner = [0.0] * (rows + 1), [0.0] * (columns + 1), [0] * (columns + 1)
    for row in range(1, rows + 1):
        owner[0] = row
        last, way = _shortest_path(weights, row_price, column_price, owner)
        while last:
            owner[last], last = owner[way[last]], way[last]
    return [(owner[column] - 1, column - 1) for column in range(1, columns + 1) if owner[column]]


def _shortest_path(
    weights: Sequence[Sequence[float]], row_price: list[float], column_price: list[float], owner: Sequence[int]
) -> tuple[int, list[int]]:
    """Return the free column reached most cheaply and the way back to it; prices are changed in place."""
    columns = len(column_price)
    distance, way, done = [math.inf] * columns, [0] * columns, [False] * columns
    column = 0
    while owner[column]:
        done[column] = True
        row, step, nearest = owner[column], math.inf, 0
        line, price = weights[row - 1], row_price[row]
        for other in range(1, columns):
            if done[other]:
                continue
            reduced = -line[other - 1] - price - column_price[other]
            if reduced < distance[other]:
                distance[other], way[other] = reduced, column
            if distance[other] < step:
                step, nearest = distance[other], other
        for other in range(columns):
            if done[other]:
                row_price[owner[other]] += step
                column_price[other] -= step
            else:
                distance[other] -= step
        column = nearest
    return column, way
