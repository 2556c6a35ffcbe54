"""What holds for every run and every gold path."""

from __future__ import annotations

import json
import math
from itertools import permutations
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentpath_sdk.gold.equality import similarity, values_equal
from agentpath_sdk.gold.matchers import Exact, Fuzzy, Ignore, Number
from agentpath_sdk.gold.model import AnswerCheck, CallStep, GoldPath
from agentpath_sdk.scoring.score import METRICS
from agentpath_sdk.scoring.scorer import score_best, score_path
from agentpath_sdk.settings import ScoringSettings
from agentpath_sdk.trajectories.model import ToolCall, Trajectory


def strict_json(value: Any) -> None:
    """Fail unless both the strict and the UTF-8 encoder take the value."""
    json.dumps(value, allow_nan=False)
    orjson.dumps(value)


MODES: tuple[Any, ...] = ("aligned", "positional", "soft", "aligned_soft")

Call = tuple[str, dict[str, Any]]
VALUES = st.sampled_from([0, 1, 2, True, None, "red car", "blue car", "red car 7", [1], {"a": 1}])
ARGUMENTS = st.dictionaries(st.sampled_from("xyz"), VALUES, max_size=3)
CALLS: st.SearchStrategy[list[Call]] = st.lists(st.tuples(st.sampled_from("abc"), ARGUMENTS), max_size=5)


def gold_of(calls: list[Call]) -> GoldPath:
    return GoldPath(
        id="g",
        steps=tuple(
            CallStep(tool=tool, arguments={k: Exact(expected=v) for k, v in given.items()}) for tool, given in calls
        ),
    )


def run_of(calls: list[Call]) -> Trajectory:
    return Trajectory(steps=tuple(ToolCall(tool=t, arguments=dict(g)) for t, g in calls), stop_reason="finished")


MATCHERS = st.one_of(
    VALUES.map(lambda value: Exact(expected=value)),
    st.just(Ignore()),
    st.builds(Number, expected=st.integers(-3, 3), abs_tolerance=st.sampled_from([0.0, 1.0])),
    st.builds(Fuzzy, expected=st.just("red car")),
)
STEPS = st.builds(
    CallStep,
    tool=st.sampled_from(["a", "b", "finish"]),
    arguments=st.none() | st.dictionaries(st.sampled_from("xyz"), MATCHERS, max_size=3),
    extra_arguments=st.sampled_from(["forbid", "allow"]),
    tool_defaults=st.dictionaries(st.sampled_from("xyz"), VALUES, max_size=1),
    must_succeed=st.booleans(),
)
GOLDS = st.builds(
    GoldPath,
    id=st.just("g"),
    steps=st.lists(STEPS, max_size=5).map(tuple),
    answer=st.none() | st.just(AnswerCheck(expected="red")),
    min_steps=st.none() | st.integers(0, 4),
)
HOSTILE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3),
    max_leaves=6,
)
RUNS = st.builds(
    Trajectory,
    steps=st.lists(
        st.builds(
            ToolCall,
            tool=st.sampled_from(["a", "b", "finish", "\ud800", ""]),
            arguments=st.none() | st.dictionaries(st.sampled_from("xyz"), VALUES | HOSTILE, max_size=3),
            arguments_state=st.sampled_from(["known", "known", "known", "truncated", "unparsed"]),
            outcome=st.sampled_from(["ok", "ok", "error", "abandoned", "unknown"]),
        ),
        max_size=6,
    ).map(tuple),
    final_answer=st.none() | st.just("a red one"),
    stop_reason=st.sampled_from(["finished", "limit", "error", "unknown"]),
)


@settings(max_examples=400, deadline=None)
@given(RUNS, GOLDS, st.sampled_from(MODES), st.floats(allow_nan=False, min_value=-2, max_value=5))
def test_every_score_is_finite_and_in_range(run: Trajectory, path: GoldPath, mode: Any, credit: float) -> None:
    score = score_path(run, path, mode=mode, settings=ScoringSettings(position_credit=credit))
    assert all(math.isfinite(value) and 0.0 <= value <= 1.0 for value in score.metrics.values())
    assert set(score.metrics) | set(score.metric_reasons) == set(METRICS)
    assert not set(score.metrics) & set(score.metric_reasons)
    assert (score.value is None) == (score.not_evaluated is not None) == (score.label == "not_evaluated")
    strict_json(score.to_json())


@settings(max_examples=200, deadline=None)
@given(RUNS, GOLDS)
def test_scoring_is_deterministic(run: Trajectory, path: GoldPath) -> None:
    assert score_path(run, path) == score_path(run, path)


@settings(max_examples=200, deadline=None)
@given(CALLS, CALLS, st.permutations("abc"))
def test_renaming_tools_changes_no_score(wanted: list[Call], calls: list[Call], names: list[str]) -> None:
    renamed = dict(zip("abc", [f"tool-{name}" for name in names], strict=True))
    other = score_path(
        run_of([(renamed[tool], given) for tool, given in calls]),
        gold_of([(renamed[tool], given) for tool, given in wanted]),
    )
    assert other.metrics == score_path(run_of(calls), gold_of(wanted)).metrics


@settings(max_examples=200, deadline=None)
@given(CALLS)
def test_run_made_from_the_gold_scores_one(calls: list[Call]) -> None:
    score = score_path(run_of(calls), gold_of(calls))
    assert {score.metrics[name] for name in METRICS if name in score.metrics} == {1.0}
    assert score.alignment.first_divergence is None


@settings(max_examples=100, deadline=None)
@given(CALLS, CALLS, CALLS)
def test_further_alternative_never_lowers_the_score(calls: list[Call], one: list[Call], other: list[Call]) -> None:
    alone = score_path(run_of(calls), gold_of(one)).value
    both = score_best(run_of(calls), [gold_of(one), gold_of(other)]).value
    assert alone is not None
    assert both is not None
    assert both >= alone


def near(wanted: dict[str, Any], given: dict[str, Any]) -> float:
    union = wanted.keys() | given.keys()
    return sum(similarity(wanted[k], given[k]) for k in wanted.keys() & given.keys()) / len(union) if union else 1.0


def passes(wanted: dict[str, Any], given: dict[str, Any]) -> bool:
    return wanted.keys() == given.keys() and all(values_equal(value, given[key]) for key, value in wanted.items())


def most(rows: list[Call], columns: list[Call], weight: Any) -> float:
    """Return the largest sum of weights over one-to-one pairings, by trying them all."""
    small, large, turned = (rows, columns, False) if len(rows) <= len(columns) else (columns, rows, True)
    return max(
        sum(
            (weight(large[at], one) if turned else weight(one, large[at]))
            for one, at in zip(small, places, strict=True)
        )
        for places in permutations(range(len(large)), len(small))
    )


@settings(max_examples=250, deadline=None)
@given(CALLS.filter(bool), CALLS.filter(bool))
def test_precision_and_recall_are_those_of_the_best_matching(wanted: list[Call], calls: list[Call]) -> None:
    metrics = score_path(run_of(calls), gold_of(wanted)).metrics
    whole = most(wanted, calls, lambda g, r: g[0] == r[0] and passes(g[1], r[1]))
    graded = most(wanted, calls, lambda g, r: near(g[1], r[1]) if g[0] == r[0] else 0.0)
    assert metrics["precision"] == pytest.approx(whole / len(calls))
    assert metrics["recall"] == pytest.approx(whole / len(wanted))
    assert metrics["f1"] == pytest.approx(2 * whole / (len(calls) + len(wanted)))
    assert metrics["graded_recall"] == pytest.approx(graded / len(wanted))


def deep(depth: int) -> Any:
    value: Any = 0
    for _ in range(depth):
        value = {"a": [value]}
    return value


class Raises:
    """Raises at every turn."""

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("no")

    def __repr__(self) -> str:
        raise RuntimeError("no")

    __hash__ = None  # type: ignore[assignment]  # unhashable on purpose


SELF: dict[str, Any] = {}
SELF["self"] = SELF


@pytest.mark.parametrize(
    "hostile",
    [
        float("nan"),
        float("inf"),
        10**5_000,
        deep(5_000),
        "\ud800",
        Raises(),
        [Raises()],
        b"\xff",
        {1, 2},
        SELF,
        object(),
    ],
    ids=["nan", "inf", "huge", "deep", "surrogate", "raises", "raises inside", "bytes", "set", "cycle", "object"],
)
@pytest.mark.parametrize("mode", MODES)
def test_hostile_values_do_no_harm(hostile: Any, mode: Any) -> None:
    calls = (ToolCall(tool="f", arguments={"x": hostile}), ToolCall(tool="f", arguments={"x": hostile, "y": 1}))
    for wanted in ({"x": 1}, {"x": "text", "y": 1}, {"x": hostile}, {}):
        path = GoldPath(
            id="g", steps=(CallStep(tool="f", arguments={k: Exact(expected=v) for k, v in wanted.items()}),) * 2
        )
        score = score_path(Trajectory(steps=calls, stop_reason="finished"), path, mode=mode)
        assert all(0.0 <= value <= 1.0 for value in score.metrics.values())
        strict_json(score.to_json())


@pytest.mark.parametrize("arguments", [7, [1], "text", '{"x": 1}', "[" * 100_000, Raises(), object()])
def test_arguments_that_are_no_mapping_do_no_harm(arguments: Any) -> None:
    path = GoldPath(id="g", steps=(CallStep(tool="f", arguments={"x": Exact(expected=1)}),))
    score = score_path(Trajectory(steps=(ToolCall(tool="f", arguments=arguments),), stop_reason="finished"), path)
    assert score.metrics["argument_accuracy"] == float(arguments == '{"x": 1}') if isinstance(arguments, str) else True
    strict_json(score.to_json())
