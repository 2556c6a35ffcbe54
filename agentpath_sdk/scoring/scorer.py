"""Score one trajectory against a gold path: pure, and total once the arguments of the call are checked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from agentpath_sdk._guard import HEALTH
from agentpath_sdk.errors import ConfigurationError
from agentpath_sdk.gold.model import GoldPath
from agentpath_sdk.scoring.alignment import Pair, edits
from agentpath_sdk.scoring.effects import effect_score, writes_only
from agentpath_sdk.scoring.executed import read_any_run, read_run
from agentpath_sdk.scoring.findings import render, render_without_gold
from agentpath_sdk.scoring.formulas import composite
from agentpath_sdk.scoring.goal import answer_metrics, judge_goal
from agentpath_sdk.scoring.judge import PAIRS_OF
from agentpath_sdk.scoring.measure import measure
from agentpath_sdk.scoring.plan import Plan, plan_for
from agentpath_sdk.scoring.score import METRICS, Goal, Label, Mode, PathScore, lazy_score
from agentpath_sdk.scoring.ways import MOST_WAYS, is_linear, ways_of
from agentpath_sdk.settings import ScoringSettings
from agentpath_sdk.trajectories.model import Trajectory

__all__ = ["not_evaluated", "score_best", "score_path"]

_DEFAULT_SETTINGS: Final = ScoringSettings()
_NO_GOLD: Final = "no gold path"
_TOO_MANY_WAYS: Final = f"the gold path accepts more than {MOST_WAYS} sequences of calls"
_TOO_LONG: Final = "the run is too long to be aligned"
# Cells of the alignment's table; a run of 5,000 steps fits a gold path of 100.
_MOST_CELLS: Final = 500_000
# Ends of a run that need no second look.
_SCORED: Final = frozenset({"finished", "limit", "error"})
_NOBODY_TELLS: Final = judge_goal(Trajectory(), None)
_NO_ANSWER_EXPECTED: Final = "the gold path expects no answer"
_NO_GOAL: Final = {
    "goal_success": _NOBODY_TELLS.reason or "unknown",
    "answer_exact": _NO_ANSWER_EXPECTED,
    "answer_f1": _NO_ANSWER_EXPECTED,
}
_PATH_METRICS: Final = tuple(name for name in METRICS if name != "goal_success")


def score_path(
    trajectory: Trajectory, gold_path: GoldPath, *, mode: Mode = "aligned", settings: ScoringSettings | None = None
) -> PathScore:
    """Return the score of ``trajectory`` against ``gold_path``; what cannot be told is "not evaluated", never 0.

    Args:
        trajectory: the executed run.
        gold_path: the registered path.
        mode: how steps are compared: by the optimal alignment (default), position by position, or either with
            partial credit for a right tool at a wrong place (``aligned_soft``, ``soft``).
        settings: weights, thresholds and terminal tools where the gold path does not say. Keep one value for many
            runs: gold paths are compiled per settings value.

    Raises:
        ConfigurationError: ``mode`` is none of the four words.
    """
    _check_mode(mode)
    try:
        return _score_expression(trajectory, gold_path, mode, settings or _DEFAULT_SETTINGS)
    except Exception as error:
        HEALTH.fault("scoring.score_path", error)
        if HEALTH.raise_faults:
            raise
        return not_evaluated(f"scoring failed with {type(error).__name__}", trajectory, gold_path, mode=mode)


def score_best(
    trajectory: Trajectory,
    paths: Iterable[GoldPath],
    *,
    mode: Mode = "aligned",
    settings: ScoringSettings | None = None,
) -> PathScore:
    """Return the score against the best of several alternatives; ``gold_path_id`` says which.

    Highest score first, then fewest edits, then the order given. An alternative that is not evaluated counts only
    where none is; no alternative at all is "not evaluated: no gold path".

    Raises:
        ConfigurationError: ``mode`` is none of the four words.
    """
    given = settings or _DEFAULT_SETTINGS
    best: tuple[PathScore, GoldPath] | None = None
    for path in paths:
        score = score_path(trajectory, path, mode=mode, settings=given)
        if best is None or _is_better(score, path, best, trajectory, given):
            best = score, path
    return not_evaluated(_NO_GOLD, trajectory, mode=mode) if best is None else best[0]


def not_evaluated(
    reason: str, trajectory: Trajectory, gold: GoldPath | None = None, *, mode: Mode = "aligned"
) -> PathScore:
    """Return a score without numbers that says why; findings that need no gold path are there, and the goal.

    ``reason`` in a few words, such as ``no gold path``; it must hold no user data.
    """
    goal = judge_goal(trajectory, gold)
    metrics, reasons = _goal_metric(goal)
    return lazy_score(
        None,
        "not_evaluated",
        metrics,
        dict.fromkeys(_PATH_METRICS, reason) | reasons,
        goal,
        ((mode, *_identity(gold), trajectory.completeness, reason), render_without_gold, trajectory),
    )


def _identity(gold: GoldPath | None) -> tuple[str | None, str | None]:
    return (None, None) if gold is None else (gold.id, gold.version)


def _score_expression(trajectory: Trajectory, gold: GoldPath, mode: Mode, settings: ScoringSettings) -> PathScore:
    """Return the score against the accepted sequence that fits best; ties: fewest edits, then file order."""
    if is_linear(gold):
        return _score_linear(trajectory, gold, mode, settings)
    ways = ways_of(gold, len(trajectory.steps) + 1)
    if ways is None:
        return not_evaluated(_TOO_MANY_WAYS, trajectory, gold, mode=mode)
    best: tuple[PathScore, GoldPath] | None = None
    for way in ways:
        score = _score_linear(trajectory, way, mode, settings)
        if best is None or _is_better(score, way, best, trajectory, settings):
            best = score, way
    return not_evaluated(_NO_GOLD, trajectory, gold, mode=mode) if best is None else best[0]


def _score_linear(trajectory: Trajectory, gold: GoldPath, mode: Mode, settings: ScoringSettings) -> PathScore:
    score = _score(trajectory, gold, mode, settings)
    return _by_effects(score, trajectory, gold, settings) if gold.effects else score


def _by_effects(score: PathScore, trajectory: Trajectory, gold: GoldPath, settings: ScoringSettings) -> PathScore:
    """Return ``score`` with the effect score as its value, where it can be told."""
    if score.value is None or "graded_recall" not in score.metrics:
        return score
    writes = _score(*writes_only(trajectory, gold, settings), "aligned", settings)
    if "f1" not in writes.metrics:
        return score
    recall = score.metrics["graded_recall"] if gold.steps else 1.0
    value = effect_score(writes.metrics["f1"], recall, trajectory, gold)
    good = value >= plan_for(gold, settings).good_path
    return replace(
        score,
        value=value,
        name="effect_score",
        label=_label(good, score.goal.success),
        metrics={**score.metrics, "effect_score": value},
    )


def _score(trajectory: Trajectory, gold: GoldPath, mode: Mode, settings: ScoringSettings) -> PathScore:
    if trajectory.completeness == "known_incomplete" or trajectory.stop_reason not in _SCORED:
        refusal = _why_not(trajectory)
        if refusal is not None:
            return not_evaluated(refusal, trajectory, gold, mode=mode)
    plan = plan_for(gold, settings)
    run = read_run(plan, trajectory)
    pairs: list[Pair] | None = None
    reasons: dict[str, str] = {}
    value: float | None = None
    if run is None:
        metrics = plan.perfect.copy()
        value = plan.perfect_composite
    elif len(run.letters) * len(plan.letters) > _MOST_CELLS:
        return not_evaluated(_TOO_LONG, trajectory, gold, mode=mode)
    else:
        pairs, metrics, reasons = measure(run, mode)
    if trajectory.goal is None and gold.answer is None:
        goal = _NOBODY_TELLS
        reasons = {**reasons, **_NO_GOAL} if reasons else _NO_GOAL.copy()
    else:
        goal = _add_goal(trajectory, gold, metrics, reasons)
    problem = None
    if value is None:
        value = composite(plan.parts, metrics) if plan.parts else None
    if value is None:
        value, problem = _composite(plan, metrics, reasons)
    if value is None:
        reasons["composite"] = problem or "unknown"
    else:
        metrics["composite"] = value
    return lazy_score(
        value,
        "not_evaluated" if value is None else _label(value >= plan.good_path, goal.success),
        metrics,
        reasons,
        goal,
        (
            (mode, plan.gold.id, plan.gold.version, trajectory.completeness, problem),
            render,
            plan,
            trajectory,
            pairs,
            mode,
        ),
    )


def _check_mode(mode: str) -> None:
    if mode not in PAIRS_OF:
        raise ConfigurationError(f"unknown mode {mode!r}; known are {sorted(PAIRS_OF)!r}")


def _why_not(trajectory: Trajectory) -> str | None:
    """Return why the run as a whole cannot be scored, else None."""
    if trajectory.completeness == "known_incomplete":
        return ": ".join(("known incomplete", ", ".join(trajectory.incomplete_reasons) or "steps are missing"))
    stopped: str = trajectory.stop_reason
    if stopped == "unknown" and trajectory.steps:
        # The last call tells where nobody said how the run ended.
        stopped = trajectory.steps[-1].outcome
    if stopped in ("pending", "interrupted"):
        return "pending"
    return "cancelled" if stopped == "cancelled" else None


def _add_goal(trajectory: Trajectory, gold: GoldPath, metrics: dict[str, float], reasons: dict[str, str]) -> Goal:
    goal = judge_goal(trajectory, gold)
    if goal.success is None:
        reasons["goal_success"] = goal.reason or "unknown"
    else:
        metrics["goal_success"] = float(goal.success)
    if gold.answer is None:
        reasons["answer_exact"] = reasons["answer_f1"] = _NO_ANSWER_EXPECTED
    elif trajectory.final_answer is None:
        reasons["answer_exact"] = reasons["answer_f1"] = "the run's final answer is not known"
    else:
        found = answer_metrics(gold.answer, trajectory.final_answer)
        metrics.update(found)
        if not found:
            reasons["answer_exact"] = reasons["answer_f1"] = "the expected answer is a pattern"
    return goal


def _goal_metric(goal: Goal) -> tuple[dict[str, float], dict[str, str]]:
    if goal.success is None:
        return {}, {"goal_success": goal.reason or "unknown"}
    return {"goal_success": float(goal.success)}, {}


def _composite(plan: Plan, metrics: Mapping[str, float], reasons: Mapping[str, str]) -> tuple[float | None, str | None]:
    """Return the composite, or why there is none."""
    weights = plan.weights
    parts, problem = weights.parts, weights.problem
    if weights.without_goal is not None and "goal_success" not in metrics:
        parts = weights.without_goal
        problem = None if parts else "only the goal is weighted, and nobody said whether it was reached"
    if problem is not None:
        return None, problem
    value = composite(parts, metrics)
    if value is None:
        problem = next(reasons.get(name, "unknown") for name, _ in parts if name not in metrics)
    return value, problem


def _label(good: bool, success: bool | None) -> Label:
    if success is None:
        return "good_path" if good else "bad_path"
    if success:
        return "solid" if good else "lucky"
    return "unlucky" if good else "failed"


def _is_better(
    score: PathScore,
    path: GoldPath,
    best: tuple[PathScore, GoldPath],
    trajectory: Trajectory,
    settings: ScoringSettings,
) -> bool:
    if score.value is None or best[0].value is None:
        return score.value is not None
    if score.value != best[0].value:
        return score.value > best[0].value
    return _edits(trajectory, path, score.mode, settings) < _edits(trajectory, best[1], score.mode, settings)


def _edits(trajectory: Trajectory, gold: GoldPath, mode: Mode, settings: ScoringSettings) -> int:
    plan = plan_for(gold, settings)
    run = read_any_run(plan, trajectory)
    return edits(PAIRS_OF[mode](run), len(plan.letters), len(run.letters))
