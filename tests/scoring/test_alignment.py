"""The alignment is one-to-one, keeps the order, and is optimal."""

from __future__ import annotations

from itertools import combinations
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from agentpath_sdk.gold.equality import similarity, values_equal
from agentpath_sdk.gold.matchers import Exact, Number
from agentpath_sdk.gold.model import CallStep, GoldPath
from agentpath_sdk.scoring.alignment import (
    NO_PAIR,
    SIMILARITY_ONE,
    best_chain,
    best_pairs,
    edits,
    longest,
)
from agentpath_sdk.scoring.scorer import score_path
from agentpath_sdk.trajectories.model import ToolCall, Trajectory

Pairs = tuple[tuple[int, int], ...]

WEIGHTS = st.integers(1, 6).flatmap(
    lambda columns: st.lists(
        st.lists(
            st.sampled_from([NO_PAIR, NO_PAIR, 0, SIMILARITY_ONE // 2, SIMILARITY_ONE]),
            min_size=columns,
            max_size=columns,
        ),
        min_size=1,
        max_size=6,
    )
)


def every_alignment(rows: int, columns: int) -> list[Pairs]:
    """Return all one-to-one pairings that keep both orders."""
    return [
        tuple(zip(golds, runs, strict=True))
        for size in range(min(rows, columns) + 1)
        for golds in combinations(range(rows), size)
        for runs in combinations(range(columns), size)
    ]


def points_of(weights: list[list[int]]) -> list[tuple[int, int]]:
    return [
        (gold, run) for gold, line in enumerate(weights) for run in reversed(range(len(line))) if line[run] != NO_PAIR
    ]


def rank(pairs: Pairs, weight: Any, rows: int, columns: int) -> tuple[Any, ...]:
    """Return the rank by the rule: tools, similarity, fewest edits, earliest run positions, earliest gold."""
    return (
        len(pairs),
        sum(weight(gold, run) for gold, run in pairs),
        -edits(pairs, rows, columns),
        tuple(-run for _, run in pairs),
        tuple(-gold for gold, _ in pairs),
    )


def brute_force(weights: list[list[int]]) -> list[tuple[int, int]]:
    rows, columns = len(weights), len(weights[0])
    allowed = [
        pairs for pairs in every_alignment(rows, columns) if all(weights[gold][run] != NO_PAIR for gold, run in pairs)
    ]
    return list(max(allowed, key=lambda pairs: rank(pairs, lambda g, r: weights[g][r], rows, columns)))


@settings(max_examples=150, deadline=None)
@given(WEIGHTS)
def test_both_ways_of_aligning_give_what_trying_everything_gives(weights: list[list[int]]) -> None:
    best = brute_force(weights)
    points = points_of(weights)
    weighed = {(gold, run): weights[gold][run] for gold, run in points}
    assert best_pairs(weights) == best
    assert best_chain(longest(points), weighed, len(weights), len(weights[0])) == best


@settings(max_examples=150, deadline=None)
@given(WEIGHTS)
def test_longest_points_are_those_of_all_alignments_with_the_most_pairs(weights: list[list[int]]) -> None:
    points = set(points_of(weights))
    allowed = [pairs for pairs in every_alignment(len(weights), len(weights[0])) if points.issuperset(pairs)]
    most = max(len(pairs) for pairs in allowed)
    levels = longest(points_of(weights))
    assert len(levels) == most
    for follow, level in enumerate(levels):
        assert set(level) == {pairs[most - 1 - follow] for pairs in allowed if len(pairs) == most}


@settings(max_examples=100, deadline=None)
@given(WEIGHTS)
def test_without_weights_edits_and_places_decide(weights: list[list[int]]) -> None:
    flat = [[min(weight, 0) for weight in line] for line in weights]
    assert best_chain(longest(points_of(flat)), {}, len(flat), len(flat[0])) == brute_force(flat)


def test_edits_count_a_replaced_step_once() -> None:
    assert edits([(0, 0), (2, 2)], 3, 3) == 1
    assert edits([(0, 0)], 1, 3) == 2
    assert edits([], 2, 3) == 3
    assert edits([], 0, 0) == 0


VALUES = st.sampled_from([1, 2, True, "red car", "blue car", "red  cab"])
ARGUMENTS = st.dictionaries(st.sampled_from("xy"), VALUES, max_size=2)
CALLS = st.lists(st.tuples(st.sampled_from("abc"), ARGUMENTS, st.sampled_from(["ok", "ok", "ok", "error"])), max_size=6)
STEPS = st.lists(
    st.tuples(st.sampled_from("abc"), st.none() | ARGUMENTS, st.sampled_from(["plain", "plain", "must", "number"])),
    max_size=6,
)


def gold_of(steps: list[tuple[str, dict[str, Any] | None, str]]) -> GoldPath:
    def matcher(value: Any, kind: str) -> Any:
        tolerant = kind == "number" and type(value) is int
        return Number(expected=value, abs_tolerance=1) if tolerant else Exact(expected=value)

    return GoldPath(
        id="g",
        steps=tuple(
            CallStep(
                tool=tool,
                arguments=None if given is None else {name: matcher(value, kind) for name, value in given.items()},
                must_succeed=kind == "must",
            )
            for tool, given, kind in steps
        ),
    )


def run_of(calls: list[tuple[str, dict[str, Any], Any]]) -> Trajectory:
    return Trajectory(
        steps=tuple(ToolCall(tool=tool, arguments=given, outcome=outcome) for tool, given, outcome in calls),
        stop_reason="finished",
    )


def near(step: tuple[str, dict[str, Any] | None, str], given: dict[str, Any]) -> float:
    """Return a pair's similarity straight from its definition."""
    _, wanted, kind = step
    if wanted is None:
        return 1.0
    union = wanted.keys() | given.keys()
    return sum(value_near(wanted[k], given[k], kind) for k in wanted.keys() & given.keys()) / len(union) if union else 1


def value_near(wanted: Any, given: Any, kind: str) -> float:
    if kind == "number" and type(wanted) is int:
        return float(type(given) is int and abs(given - wanted) <= 1)
    return 1.0 if values_equal(wanted, given) else similarity(wanted, given)


@settings(max_examples=300, deadline=None)
@given(STEPS, CALLS)
def test_scored_alignment_is_what_trying_everything_gives(
    steps: list[tuple[str, dict[str, Any] | None, str]], calls: list[tuple[str, dict[str, Any], str]]
) -> None:
    lines = score_path(run_of(calls), gold_of(steps)).alignment.lines
    found = tuple(
        (line.gold, line.run)
        for line in lines
        if line.kind in ("match", "wrong_arguments") and line.gold is not None and line.run is not None
    )

    def fits(gold: int, run: int) -> bool:
        return steps[gold][0] == calls[run][0] and not (steps[gold][2] == "must" and calls[run][2] == "error")

    def weight(gold: int, run: int) -> int:
        return int(near(steps[gold], calls[run][1]) * SIMILARITY_ONE + 0.5)

    allowed = [p for p in every_alignment(len(steps), len(calls)) if all(fits(g, r) for g, r in p)]
    assert found == max(allowed, key=lambda pairs: rank(pairs, weight, len(steps), len(calls)))


@settings(max_examples=150, deadline=None)
@given(STEPS, CALLS)
def test_every_gold_step_and_every_run_step_is_on_one_line(
    steps: list[tuple[str, dict[str, Any] | None, str]], calls: list[tuple[str, dict[str, Any], str]]
) -> None:
    for mode in ("aligned", "positional", "soft", "aligned_soft"):
        lines = score_path(run_of(calls), gold_of(steps), mode=mode).alignment.lines
        assert sorted(line.gold for line in lines if line.gold is not None) == list(range(len(steps)))
        assert sorted(line.run for line in lines if line.run is not None) == list(range(len(calls)))
