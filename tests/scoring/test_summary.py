"""What many scores say together."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentpath_sdk.gold.model import CallStep, GoldPath
from agentpath_sdk.scoring.score import PathScore
from agentpath_sdk.scoring.scorer import not_evaluated, score_path
from agentpath_sdk.scoring.summary import Summary, summarise
from agentpath_sdk.trajectories.model import GoalWord, ToolCall, Trajectory

GOLD = GoldPath(id="g", steps=(CallStep(tool="a"), CallStep(tool="b")))


def run(*tools: str, goal: bool | None = None) -> Trajectory:
    word = None if goal is None else GoalWord(success=goal)
    steps = tuple(ToolCall(tool=tool, arguments={}) for tool in tools)
    return Trajectory(steps=steps, goal=word, stop_reason="finished")


def test_nothing_to_summarise() -> None:
    assert summarise([]) == Summary()


def test_labels_means_reasons_and_the_most_frequent_divergence() -> None:
    scores = [
        score_path(run("a", "b", goal=True), GOLD),
        score_path(run("a", "x", goal=True), GOLD),
        score_path(run("a", "x", goal=False), GOLD),
        score_path(run("y", "b", goal=False), GOLD),
        not_evaluated("no gold path", run("a")),
    ]
    found = summarise(scores)
    assert (found.n, found.evaluated) == (5, 4)
    assert {label: share.count for label, share in found.labels.items()} == {"solid": 1, "lucky": 1, "failed": 2}
    assert found.not_evaluated == {"no gold path": 1}
    assert found.metrics["tool_accuracy"].mean == pytest.approx(2.5 / 4)
    assert found.metrics["goal_success"].mean == 0.5
    assert found.first_divergence is not None
    assert (found.first_divergence.kind, found.first_divergence.count) == ("wrong_tool x instead of b", 2)
    assert found.first_divergence.example == "step 2: x called, gold expects b"


def test_hints_come_with_their_number_interval_and_remedy() -> None:
    hints = {hint.metric: hint for hint in summarise([score_path(run("a", "x"), GOLD)] * 3).hints}
    assert hints["tool_accuracy"].n == 3
    assert hints["tool_accuracy"].low <= hints["tool_accuracy"].value <= hints["tool_accuracy"].high
    assert "tool descriptions" in hints["tool_accuracy"].remedy
    assert set(hints) == {"tool_accuracy", "step_order_accuracy"}
    assert summarise([score_path(run("a", "b"), GOLD)]).hints == ()


def test_good_path_with_a_missed_goal_points_at_the_answer() -> None:
    (hint,) = summarise([score_path(run("a", "b", goal=False), GOLD)]).hints
    assert (hint.metric, hint.value) == ("goal_success", 1.0)
    assert "answer" in hint.remedy


def score(value: float, goal: bool) -> PathScore:
    metrics = {"composite": value, "goal_success": float(goal)}
    label: Any = "solid" if goal else "failed"
    return PathScore(value=value, name="composite", label=label, metrics=metrics)


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=40))
def test_intervals_hold_the_mean_and_lie_in_range(values: list[tuple[float, bool]]) -> None:
    found = summarise([score(value, goal) for value, goal in values])
    for metric in found.metrics.values():
        assert 0.0 <= metric.low <= metric.mean + 1e-12
        assert metric.mean - 1e-12 <= metric.high <= 1.0
    assert sum(share.count for share in found.labels.values()) == len(values)
    assert all(0.0 <= share.low <= share.share <= share.high <= 1.0 for share in found.labels.values())


def test_wilson_interval_of_nine_in_ten() -> None:
    found = summarise([score(1.0, True)] * 9 + [score(0.0, False)])
    metric = found.metrics["goal_success"]
    assert (metric.low, metric.high) == (pytest.approx(0.596, abs=1e-3), pytest.approx(0.982, abs=1e-3))
