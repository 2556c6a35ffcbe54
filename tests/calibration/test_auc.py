"""The area under the ROC curve, its interval by task, within tasks, and the baseline that knows only the task."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentpath_sdk.scoring.calibration_auc import (
    Area,
    Outcomes,
    Resamples,
    area,
    areas,
    difference,
    ranking,
    task_only,
    within_tasks,
)


def outcomes(*runs: tuple[str, bool]) -> Outcomes:
    return Outcomes(success=[success for _, success in runs], task=[task for task, _ in runs])


def by_pairs(values: list[float], success: list[bool], counts: list[int] | None = None) -> float | None:
    """The definition, pair by pair."""
    counts = counts or [1] * len(values)
    won = [(v, n) for v, s, n in zip(values, success, counts, strict=True) if s]
    lost = [(v, n) for v, s, n in zip(values, success, counts, strict=True) if not s]
    pairs = sum(n * m for _, n in won for _, m in lost)
    total = sum(n * m * ((v > w) + (v == w) / 2) for v, n in won for w, m in lost)
    return total / pairs if pairs else None


runs = st.lists(
    st.tuples(st.sampled_from([0.0, 0.25, 0.5, 1.0]), st.booleans(), st.integers(min_value=0, max_value=3)),
    min_size=1,
    max_size=20,
)


@given(runs)
def test_the_area_is_the_share_of_pairs_in_the_right_order_counted_as_often_as_weighed(
    given_runs: list[tuple[float, bool, int]],
) -> None:
    values, success, counts = ([run[at] for run in given_runs] for at in range(3))
    found = Outcomes(success=success, task=["t"] * len(values))  # type: ignore[arg-type]  # the columns are mixed
    ranked = ranking(values, found)
    assert area(ranked) == pytest.approx(by_pairs(values, success))  # type: ignore[arg-type]  # the same
    expected = by_pairs(values, success, counts)  # type: ignore[arg-type]  # the same
    assert area(ranked, counts) == (None if expected is None else pytest.approx(expected))


@given(runs)
def test_turning_the_values_round_turns_the_area_round(given_runs: list[tuple[float, bool, int]]) -> None:
    values = [run[0] for run in given_runs]
    found = Outcomes(success=[run[1] for run in given_runs], task=["t"] * len(values))
    one, other = area(ranking(values, found)), area(ranking([-value for value in values], found))
    assert (one is None) == (other is None)
    if one is not None and other is not None:
        assert one + other == pytest.approx(1.0)


def test_without_both_outcomes_there_is_no_area() -> None:
    alike = outcomes(("a", True), ("b", True))
    resamples = Resamples(alike, count=10)
    assert areas({"x": [1.0, 0.0]}, resamples)["x"] == Area(value=None)
    assert difference([1.0, 0.0], [0.0, 1.0], resamples) == Area(value=None)
    assert within_tasks([1.0, 0.0], alike) == (None, 0)
    assert task_only(alike) is None


def test_runs_of_one_task_make_the_interval_no_narrower() -> None:
    """Forty copies of each of ten runs tell no more than the ten."""
    few = [(str(task), task % 2 == 0) for task in range(10)]
    values = [float((task * 7) % 10) for task in range(10)]
    one = areas({"x": values}, Resamples(outcomes(*few), count=400))["x"]
    many = areas({"x": values * 40}, Resamples(outcomes(*few * 40), count=400))["x"]
    assert many.value == pytest.approx(one.value)
    assert (many.low, many.high) == (pytest.approx(one.low), pytest.approx(one.high))


def test_equal_seeds_give_equal_intervals_around_the_value() -> None:
    found = outcomes(*((str(n % 20), n % 3 == 0) for n in range(60)))
    values = [((n * 13) % 17) / 17 + (n % 3 == 0) * 0.3 for n in range(60)]
    one, other = (areas({"x": values}, Resamples(found, count=200, seed=5))["x"] for _ in range(2))
    assert one == other
    assert one.low is not None
    assert one.value is not None
    assert one.high is not None
    assert one.low < one.value < one.high


def test_a_difference_is_paired() -> None:
    """The same values differ by nothing, in every resample."""
    found = outcomes(*((str(n % 10), n % 3 == 0) for n in range(40)))
    values = [float((n * 7) % 11) for n in range(40)]
    assert difference(values, values, Resamples(found, count=100)) == Area(value=0.0, low=0.0, high=0.0)


def test_within_tasks_pairs_of_one_task_count_alone() -> None:
    found = outcomes(("a", True), ("a", False), ("b", True), ("b", False), ("c", True))
    assert within_tasks([0.9, 0.1, 0.2, 0.3, 0.0], found) == (0.5, 2)


def test_knowing_only_the_task_says_nothing_of_two_runs_of_one_task() -> None:
    assert task_only(outcomes(("a", True), ("a", False))) == 0.5


def test_knowing_only_the_task_tells_easy_tasks_from_hard_ones() -> None:
    easy, hard = [("easy", True)] * 4, [("hard", False)] * 4
    assert task_only(outcomes(*easy, *hard)) == 1.0


def test_a_task_s_only_run_does_not_tell_its_own_outcome() -> None:
    assert task_only(outcomes(*((str(n), n % 2 == 0) for n in range(20)))) == 0.5


def test_outcomes_and_tasks_must_be_as_many() -> None:
    with pytest.raises(ValueError, match="2 outcomes and 1 tasks"):
        Outcomes(success=[True, False], task=["a"])
