"""Weights and threshold fitted to outcomes: by task, shrunk, and honest about how good they are."""

from __future__ import annotations

import random
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentpath_sdk.errors import ConfigurationError, FileFormatError
from agentpath_sdk.scoring import calibration
from agentpath_sdk.scoring.calibration import Example, why_too_few
from agentpath_sdk.scoring.calibration_file import calibration_yaml, read_calibration, write_calibration
from agentpath_sdk.scoring.calibration_fit import fit_weights, shrink, shrinkage, threshold, weighted

DEFAULTS = {"good": 0.5, "noise": 0.5}
calibrate = partial(calibration.calibrate, resamples=200)


def made(tasks: int, runs_each: int = 2, *, signal: float = 0.4, seed: int = 1) -> list[Example]:
    """Return runs in which ``good`` tells the outcome and ``noise`` does not."""
    generator = random.Random(seed)
    examples: list[Example] = []
    for task in range(tasks):
        for _ in range(runs_each):
            success = generator.random() < 0.5
            good = min(1.0, max(0.0, generator.gauss(0.4 + signal * success, 0.2)))
            examples.append(
                Example(task=str(task), metrics={"good": good, "noise": generator.random()}, success=success)
            )
    return examples


def test_what_tells_the_outcome_gets_the_weight_and_the_rank_gets_better() -> None:
    result = calibrate(made(80), defaults=DEFAULTS, good_path=0.8)
    assert not result.kept_defaults
    assert result.fitted.weights["good"] > 0.75
    assert sum(result.fitted.weights.values()) == pytest.approx(1.0, abs=1e-3)
    assert result.held_out.value is not None
    assert result.default.value is not None
    assert result.held_out.value > result.default.value
    assert result.gain.low is not None
    assert result.gain.low > 0


def test_where_nothing_tells_the_outcome_the_defaults_are_kept() -> None:
    result = calibrate(made(60, signal=0.0), defaults=DEFAULTS, good_path=0.8)
    assert result.kept_defaults
    assert result.fitted.weights == {"good": 0.5, "noise": 0.5}


def test_fewer_tasks_are_trusted_less() -> None:
    few = calibrate(made(20), defaults=DEFAULTS, good_path=0.8, force=True)
    many = calibrate(made(200), defaults=DEFAULTS, good_path=0.8)
    assert few.trust < many.trust
    assert few.fitted.weights["good"] < many.fitted.weights["good"]
    assert shrinkage(50) == 0.5


def test_the_corrected_figure_is_below_the_apparent_one_where_there_is_much_to_fit() -> None:
    generator = random.Random(3)
    examples = [
        Example(
            task=str(task),
            metrics={f"m{at}": generator.random() for at in range(8)},
            success=generator.random() < 0.5,
        )
        for task in range(60)
    ]
    result = calibrate(examples, defaults={f"m{at}": 0.125 for at in range(8)}, good_path=0.8)
    assert result.optimism is not None
    assert result.optimism > 0.01
    assert result.corrected is not None
    assert result.apparent.value is not None
    assert result.corrected < result.apparent.value


def test_a_metric_that_gives_the_task_away_gains_nothing_on_tasks_held_out() -> None:
    """Each task has its own outcome and its own value: by run it would be learnt by heart, by task it cannot."""
    generator = random.Random(7)
    examples: list[Example] = []
    for task in range(60):
        success, noise = generator.random() < 0.5, generator.random()
        examples += [Example(task=str(task), metrics={"good": 0.5, "noise": noise}, success=success)] * 6
    result = calibrate(examples, defaults=DEFAULTS, good_path=0.8)
    assert result.gain.value is not None
    assert result.gain.value <= 0.05
    assert result.apparent.low is not None
    assert result.apparent.high is not None
    assert result.apparent.high - result.apparent.low > 0.2


def test_equal_data_gives_equal_results() -> None:
    assert calibrate(made(60), defaults=DEFAULTS, good_path=0.8) == calibrate(
        made(60), defaults=DEFAULTS, good_path=0.8
    )


@pytest.mark.parametrize(
    ("examples", "why"),
    [
        (made(49), "49 tasks with known outcomes; calibration wants 50"),
        (
            [Example(task=str(n), metrics={"good": 0, "noise": 0}, success=n < 19) for n in range(60)],
            "19 runs that reached their goal; calibration wants 20 of either outcome",
        ),
        (
            [Example(task=str(n), metrics={"good": 0, "noise": 0}, success=n >= 5) for n in range(60)],
            "5 runs that missed their goal; calibration wants 20 of either outcome",
        ),
    ],
)
def test_too_few_tasks_or_outcomes_are_refused_unless_forced(examples: list[Example], why: str) -> None:
    assert why_too_few(examples) == why
    with pytest.raises(ConfigurationError, match=why):
        calibrate(examples, defaults=DEFAULTS, good_path=0.8)
    assert calibrate(examples, defaults=DEFAULTS, good_path=0.8, force=True).forced == why


def test_runs_that_all_ended_alike_are_refused_even_when_forced() -> None:
    alike = [Example(task=str(n), metrics={"good": 0, "noise": 0}, success=True) for n in range(60)]
    with pytest.raises(ConfigurationError, match="all runs ended alike"):
        calibrate(alike, defaults=DEFAULTS, good_path=0.8, force=True)


def test_the_threshold_parts_the_outcomes_best() -> None:
    assert threshold([0.1, 0.2, 0.7, 0.9], [False, False, True, True]) == (pytest.approx(0.45), 1.0, 1.0)
    assert threshold([0.1, 0.5, 0.5, 0.9], [False, True, False, True]) == (pytest.approx(0.7), 0.5, 1.0)


scored = st.lists(st.tuples(st.sampled_from([0.0, 0.2, 0.4, 0.6, 0.8, 1.0]), st.booleans()), min_size=2, max_size=25)


@given(scored)
def test_no_other_threshold_parts_them_better(runs: list[tuple[float, bool]]) -> None:
    values, success = [run[0] for run in runs], [run[1] for run in runs]
    _, above, below = threshold(values, success)

    def shares(cut: float) -> float:
        won, lost = [v >= cut for v, s in runs if s], [v < cut for v, s in runs if not s]
        return (sum(won) / len(won) if won else 0) + (sum(lost) / len(lost) if lost else 0)

    assert above + below >= max(shares(cut) for cut in (0.1, 0.3, 0.5, 0.7, 0.9)) - 1e-9 or len(set(values)) == 1


@settings(max_examples=30)
@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1), st.booleans()), min_size=2, max_size=30))
def test_fitted_weights_are_a_share_of_1_or_all_0(runs: list[tuple[float, float, bool]]) -> None:
    found = fit_weights([[one, other] for one, other, _ in runs], [success for _, _, success in runs])
    assert all(weight >= 0 for weight in found)
    assert sum(found) == pytest.approx(1.0) or not any(found)


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1))
def test_a_shrunk_score_stays_between_0_and_1(trust: float, one: float, other: float) -> None:
    weights = shrink({"a": 1.0, "b": 0.0}, {"b": 3.0, "a": 1.0}, trust)
    assert sum(weights.values()) == pytest.approx(1.0)
    assert 0.0 <= weighted(weights, {"a": one, "b": other}) <= 1.0


def test_the_settings_file_says_what_it_rests_on_and_is_read_back(tmp_path: Path) -> None:
    result = calibrate(made(60), defaults=DEFAULTS, good_path=0.8)
    file = tmp_path / "calibration.yaml"
    write_calibration(result, file)
    assert file.read_text(encoding="utf-8") == calibration_yaml(result)
    assert "auc_corrected" in file.read_text(encoding="utf-8")
    found = read_calibration(file)
    assert found.given() == {"weights": dict(result.fitted.weights), "good_path": result.fitted.good_path}
    assert [one.name for one in tmp_path.iterdir()] == ["calibration.yaml"]


def test_the_weights_of_another_score_stand_under_their_own_name(tmp_path: Path) -> None:
    result = calibrate(made(60), defaults=DEFAULTS, good_path=0.8, name="effect_score")
    write_calibration(result, tmp_path / "c.yaml")
    assert read_calibration(tmp_path / "c.yaml").effect_weights == dict(result.fitted.weights)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("weights: {a: 1", "line 1: is no valid YAML"),
        ("- 1", "expected a mapping of settings (such as: weights: {...})"),
        ("wieghts: {a: 1}", "unknown key 'wieghts' (there are calibration, effect_weights, good_path, weights)"),
        ("weights: 3", "weights: expected metrics with their weights"),
        ("weights: {a: -1}", "weights.a: expected a number of 0 or more, found -1"),
        ("weights: {a: .nan}", "weights.a: expected a number of 0 or more, found nan"),
        ("weights: {a: true}", "weights.a: expected a number of 0 or more, found True"),
        ("weights: {a: 0}", "weights: expected a weight above 0"),
        ("good_path: 2", "good_path: expected a number from 0 to 1, found 2"),
    ],
)
def test_what_is_wrong_with_a_settings_file_is_said(text: str, why: str, tmp_path: Path) -> None:
    file = tmp_path / "c.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(FileFormatError) as raised:
        read_calibration(file)
    assert str(raised.value) == f"{file}: {why}"


def test_a_settings_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="cannot be read: No such file"):
        read_calibration(tmp_path / "none.yaml")
