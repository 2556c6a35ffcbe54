"""Score one trajectory against a gold path: pure, and total once the arguments of the call are checked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from agentpath_sdk._guard import HEALTH
from agentpath_sdk.errors import ConfigurationError
from agentpath_sdk.gold.model import GoldPath
from agentpath_sdk.scoring.alignment import edits
from agentpath_sdk.scoring.findings import render, render_without_gold
from agentpath_sdk.scoring.formulas import composite
from agentpath_sdk.scoring.goal import answer_metrics, judge_goal
from agentpath_sdk.scoring.judge import Judge
from agentpath_sdk.scoring.measure import PAIRS_OF, measure
from agentpath_sdk.scoring.plan import UNKNOWN_TOOL, Plan, plan_for
from agentpath_sdk.scoring.score import METRICS, Goal, Label, Mode, PathScore, lazy_score
from agentpath_sdk.settings import ScoringSettings
from agentpath_sdk.trajectories.model import ToolCall, Trajectory

__all__ = ["not_evaluated", "score_best", "score_path"]

_DEFAULT_SETTINGS: Final = ScoringSettings()
_NO_GOLD: Final = "no gold path"
_TOO_LONG: Final = "the run is too long to be aligned"
# Cells of the alignment's table; a run of 5,000 steps fits a gold path of 100.
_MOST_CELLS: Final = 500_000
# Stands for the final answer of a run whose terminal step has no span.
_ANSWER: Final = ToolCall(tool="final answer")
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
        return _score(trajectory, gold_path, mode, settings or _DEFAULT_SETTINGS)
    except Exception as error:
        HEALTH.fault("scoring.score_path", error)
        if HEALTH.raise_faults:
            raise
        return not_evaluated(f"scoring failed with {type(error).__name__}", trajectory, gold_path)


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
    return not_evaluated(_NO_GOLD, trajectory) if best is None else best[0]


def not_evaluated(reason: str, trajectory: Trajectory, gold: GoldPath | None = None) -> PathScore:
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
        reason,
        "aligned",
        (None, None) if gold is None else (gold.id, gold.version),
        trajectory.completeness,
        (render_without_gold, trajectory),
    )


def _score(trajectory: Trajectory, gold: GoldPath, mode: Mode, settings: ScoringSettings) -> PathScore:
    refusal = _why_not(trajectory)
    if refusal is not None:
        return not_evaluated(refusal, trajectory, gold)
    plan = plan_for(gold, settings)
    calls, letters, places = _executed(plan, trajectory)
    if letters == plan.letters and _follows(plan, calls):
        pairs, metrics, reasons = None, plan.perfect.copy(), {}
    elif len(letters) * len(plan.letters) > _MOST_CELLS:
        return not_evaluated(_TOO_LONG, trajectory, gold)
    else:
        pairs, metrics, reasons = measure(Judge(plan, calls, letters, places), mode)
    goal = _add_goal(trajectory, gold, metrics, reasons)
    value, problem = _add_composite(plan, metrics, reasons)
    return lazy_score(
        value,
        "not_evaluated" if value is None else _label(value >= plan.good_path, goal.success),
        metrics,
        reasons,
        goal,
        problem,
        mode,
        plan.identity,
        trajectory.completeness,
        (render, plan, trajectory, calls, letters, places, pairs, mode),
    )


def _check_mode(mode: str) -> None:
    if mode not in PAIRS_OF:
        raise ConfigurationError(f"unknown mode {mode!r}; known are {sorted(PAIRS_OF)!r}")


def _why_not(trajectory: Trajectory) -> str | None:
    """Return why the run as a whole cannot be scored, else None."""
    if trajectory.completeness == "known_incomplete":
        return ": ".join(("known incomplete", ", ".join(trajectory.incomplete_reasons) or "steps are missing"))
    stopped = trajectory.stop_reason
    if stopped == "unknown" and trajectory.steps:
        # The last call tells where nobody said how the run ended.
        stopped = trajectory.steps[-1].outcome
    if stopped in ("pending", "interrupted"):
        return "pending"
    return "cancelled" if stopped == "cancelled" else None


def _executed(plan: Plan, trajectory: Trajectory) -> tuple[Sequence[ToolCall], str, Sequence[int | None]]:
    """Return the executed calls that count, their tools as letters, and their index in the trajectory's steps.

    Where the gold has a terminal step, a step of such a name is the run's final answer, and so is an answer without
    a span. Where it has none, such steps count on neither side.
    """
    steps = trajectory.steps
    letter_of = plan.letter_of.get
    letters = "".join([letter_of(step.tool, UNKNOWN_TOOL) for step in steps])
    if plan.terminal_letter:
        if plan.terminal_letter not in letters and _answered(trajectory):
            return (*steps, _ANSWER), letters + plan.terminal_letter, (*range(len(steps)), None)
    elif len(letters) != len(steps):
        places = [at for at, step in enumerate(steps) if letter_of(step.tool) != ""]
        return [steps[at] for at in places], letters, places
    return steps, letters, range(len(steps))


def _answered(trajectory: Trajectory) -> bool:
    # With content capture off the answer's text is not known, but that the run finished is.
    return trajectory.final_answer is not None or trajectory.stop_reason == "finished"


def _follows(plan: Plan, calls: Sequence[ToolCall]) -> bool:
    """Return whether every argument is surely equal; only for plain gold paths, and when the tools are equal."""
    if not plan.simple:
        return False
    try:
        for wanted, call in zip(plan.wanted, calls, strict=True):
            if wanted is not None and (call.arguments != wanted or call.arguments_state != "known"):
                return False
    except Exception:
        # Somebody's own value raised when it was compared; the careful comparison comes next.
        return False
    return not plan.any_traps or all(
        (type((call.arguments or {})[name]) is bool) is boolean
        for step, call in zip(plan.steps, calls, strict=True)
        for name, boolean in step.traps
    )


def _add_goal(trajectory: Trajectory, gold: GoldPath, metrics: dict[str, float], reasons: dict[str, str]) -> Goal:
    goal = judge_goal(trajectory, gold)
    if goal.success is None:
        reasons["goal_success"] = goal.reason or "unknown"
    else:
        metrics["goal_success"] = float(goal.success)
    if gold.answer is None:
        reasons["answer_exact"] = reasons["answer_f1"] = "the gold path expects no answer"
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


def _add_composite(plan: Plan, metrics: dict[str, float], reasons: dict[str, str]) -> tuple[float | None, str | None]:
    """Add the composite; return it, or why there is none."""
    weights, problem = plan.weights, plan.weights_problem
    if plan.weights_without_goal is not None and "goal_success" not in metrics:
        weights = plan.weights_without_goal
        problem = problem or (None if weights else "only the goal is weighted, and nobody said whether it was reached")
    value = composite(weights, metrics) if problem is None else None
    if value is not None:
        metrics["composite"] = value
        return value, None
    if problem is None:
        problem = next(reasons.get(name, "unknown") for name, _ in weights if name not in metrics)
    reasons["composite"] = problem
    return None, problem


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
    calls, letters, places = _executed(plan, trajectory)
    return edits(PAIRS_OF[mode](Judge(plan, calls, letters, places)), len(plan.letters), len(letters))
