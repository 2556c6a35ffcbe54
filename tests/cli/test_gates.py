"""When `agentpath score` exits with 1."""

from __future__ import annotations

import pytest

pytest.importorskip("rich")

from agentpath_sdk.cli.gates import Gate, Tally, missed, parse_gates
from agentpath_sdk.cli.run import ScoredRun
from agentpath_sdk.errors import ConfigurationError
from agentpath_sdk.gold.model import GoldPath
from agentpath_sdk.scoring.score import METRICS, PathScore
from agentpath_sdk.trajectories.model import Trajectory


def scored(value: float | None, gold: GoldPath | None = None) -> ScoredRun:
    metrics = {} if value is None else {"tool_accuracy": value}
    score = PathScore(value=value, name="composite", label="bad_path", metrics=metrics)
    return ScoredRun(trajectory=Trajectory(), score=score, gold_path=gold)


def lines(runs: list[ScoredRun], *gates: Gate) -> list[str]:
    tally = Tally()
    for run in runs:
        tally.add(run)
    return list(missed(tally, gates))


def test_the_mean_over_all_runs_decides() -> None:
    """One bad run among good ones does not miss the gate; a mean below it does."""
    gate = Gate(metric="tool_accuracy", least=0.8)
    assert lines([scored(1.0), scored(0.6)], gate) == []
    assert len(lines([scored(0.9), scored(0.6)], gate)) == 1


def test_a_mean_equal_to_the_gate_but_for_rounding_meets_it() -> None:
    assert lines([scored(0.1), scored(0.2), scored(0.3)], Gate(metric="score", least=0.2)) == []


def test_runs_that_were_not_evaluated_are_no_zeros() -> None:
    """They leave the mean alone, and the message says how many there were."""
    gate = Gate(metric="tool_accuracy", least=0.95)
    assert lines([scored(1.0), scored(None)], gate) == []
    [line] = lines([scored(0.9), scored(None)], gate)
    assert "mean of 1 of 2 runs" in line


def test_a_gate_nobody_could_evaluate_is_missed() -> None:
    """A check that silently passes on nothing protects nothing."""
    [line] = lines([scored(None)], Gate(metric="goal_success", least=0.5))
    assert "evaluated in none of 1 runs" in line


def test_a_gold_paths_own_threshold_counts_its_own_runs_only() -> None:
    strict = GoldPath(id="strict", thresholds={"tool_accuracy": 0.9})
    loose = GoldPath(id="loose")
    assert lines([scored(0.95, strict), scored(0.1, loose)]) == []
    [line] = lines([scored(0.8, strict), scored(1.0, loose)])
    assert "'strict'" in line
    assert "0.800" in line


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("tool_accuracy", "expected METRIC=V"),
        ("tool_acuracy=0.8", "unknown metric 'tool_acuracy'"),
        ("tool_accuracy=80", "no number from 0 to 1"),
        ("tool_accuracy=nan", "no number from 0 to 1"),
        ("tool_accuracy=high", "no number from 0 to 1"),
    ],
)
def test_a_wrong_gate_is_refused_with_what_was_found(text: str, words: str) -> None:
    with pytest.raises(ConfigurationError, match=words):
        parse_gates([text], METRICS)
