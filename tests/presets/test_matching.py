"""Pairing is one to one and cannot be bettered; compared with trying everything."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from agentpath_sdk.scoring.matching import Pairs, maximum_assignment, maximum_matching, maximum_sequence

Weights = Sequence[Sequence[float]]

WEIGHTS = st.integers(0, 5).flatmap(
    lambda columns: st.lists(
        st.lists(st.sampled_from([0.0, 0.0, 0.25, 1 / 3, 0.5, 1.0]), min_size=columns, max_size=columns), max_size=5
    )
)


def best_of_all(weights: Weights) -> float:
    """The largest sum over one-to-one pairs, by trying all."""

    @cache
    def best(row: int, free: frozenset[int]) -> float:
        if row == len(weights):
            return 0.0
        return max([best(row + 1, free)] + [weights[row][at] + best(row + 1, free - {at}) for at in free])

    return best(0, frozenset(range(len(weights[0]) if weights else 0)))


def best_in_order(weights: Weights) -> float:
    """The largest sum over pairs without crossings, by trying all."""

    @cache
    def best(row: int, column: int) -> float:
        if row == len(weights) or column == len(weights[0]):
            return 0.0
        skipped = max(best(row + 1, column), best(row, column + 1))
        return max(skipped, weights[row][column] + best(row + 1, column + 1))

    return best(0, 0) if weights else 0.0


def total(pairs: Pairs, weights: Weights) -> float:
    return sum(weights[row][column] for row, column in pairs)


def is_one_to_one(pairs: Pairs) -> bool:
    return len({row for row, _ in pairs}) == len(pairs) == len({column for _, column in pairs})


@given(WEIGHTS)
def test_an_assignment_is_one_to_one_and_as_heavy_as_any(weights: Weights) -> None:
    pairs = maximum_assignment(weights)
    assert is_one_to_one(pairs)
    assert abs(total(pairs, weights) - best_of_all(weights)) < 1e-9
    assert all(weights[row][column] > 0 for row, column in pairs)


@given(WEIGHTS)
def test_a_matching_is_one_to_one_and_as_large_as_any(weights: Weights) -> None:
    edges = [[column for column, weight in enumerate(line) if weight] for line in weights]
    pairs = maximum_matching(edges, len(weights[0]) if weights else 0)
    assert is_one_to_one(pairs)
    assert all(column in edges[row] for row, column in pairs)
    assert len(pairs) == best_of_all(tuple(tuple(float(weight > 0) for weight in line) for line in weights))


@given(WEIGHTS)
def test_a_sequence_keeps_both_orders_and_is_as_heavy_as_any(weights: Weights) -> None:
    pairs = maximum_sequence(weights)
    assert all(one[0] < other[0] and one[1] < other[1] for one, other in pairwise(pairs))
    assert abs(total(pairs, weights) - best_in_order(weights)) < 1e-9


def test_a_row_gives_way_when_it_has_another_place_to_go() -> None:
    """First come, first served would leave the second row without a partner."""
    assert maximum_matching([[0, 1], [0]], 2) == ((0, 1), (1, 0))


def test_the_earliest_columns_are_taken_among_equals() -> None:
    assert maximum_matching([[0, 1, 2]], 3) == ((0, 0),)
    assert maximum_sequence([[1.0, 1.0, 1.0]]) == ((0, 0),)


def test_a_thousand_equal_calls_are_paired_without_recursion() -> None:
    assert len(maximum_matching([list(range(1000))] * 1000, 1000)) == 1000
