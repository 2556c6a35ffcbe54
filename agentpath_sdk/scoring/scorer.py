"""Score one trajectory against a gold path: pure, and total once the arguments of the call are checked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from agentpath_sdk._guard import HEALTH
from agentpath_sdk.errors import ConfigurationError
from agentpath_sdk.gold.model import GoldPath, PathRule
from agentpath_sdk.gold.rules import RuleResult, check_rules, rules_passed
from agentpath_sdk.scoring.alignment import Pair, edits
from agentpath_sdk.scoring.choosing import MOST_CELLS, choose
from agentpath_sdk.scoring.compiled import compiled
from agentpath_sdk.scoring.executed import read_any_run, read_run
from agentpath_sdk.scoring.findings import render, render_without_gold
from agentpath_sdk.scoring.formulas import composite
from agentpath_sdk.scoring.goal import answer_metrics, judge_goal
from agentpath_sdk.scoring.judge import PAIRS_OF
from agentpath_sdk.scoring.measure import measure
from agentpath_sdk.scoring.plan import Plan
from agentpath_sdk.scoring.score import METRICS, Goal, Label, Mode, PathScore, lazy_score
from agentpath_sdk.scoring.weights import NO_EFFECTS, Weights
from agentpath_sdk.settings import ScoringSettings
from agentpath_sdk.trajectories.model import Trajectory

__all__ = ["not_evaluated", "score_best", "score_path"]

_DEFAULT_SETTINGS: Final = ScoringSettings()
_NO_GOLD: Final = "no gold path"
_TOO_LONG: Final = "the run is too long to be aligned"
# Ends of a run that need no second look.
_SCORED: Final = frozenset({"finished", "limit", "error"})
_NOBODY_TELLS: Final = judge_goal(Trajectory(), None)
_NO_ANSWER_EXPECTED: Final = "the gold path expects no answer"
_NO_RULES: Final = "no path rules"
_UNTOLD: Final = {
    "goal_success": _NOBODY_TELLS.reason or "unknown",
    "answer_exact": _NO_ANSWER_EXPECTED,
    "answer_f1": _NO_ANSWER_EXPECTED,
    "write_f1": NO_EFFECTS,
    "way_efficiency": NO_EFFECTS,
    "effect_score": NO_EFFECTS,
    "rules_passed": _NO_RULES,
}
"""What most gold paths say nothing of."""
_EFFECT_METRICS: Final = frozenset({"write_f1", "way_efficiency", "effect_score"})
_PATH_METRICS: Final = tuple(name for name in METRICS if name not in ("goal_success", "rules_passed"))


def score_path(
    trajectory: Trajectory,
    gold_path: GoldPath,
    *,
    mode: Mode = "aligned",
    settings: ScoringSettings | None = None,
    rules: Sequence[PathRule] = (),
) -> PathScore:
    """Return the score of ``trajectory`` against ``gold_path``; what cannot be told is "not evaluated", never 0.

    Args:
        trajectory: the executed run.
        gold_path: the registered path.
        mode: how steps are compared: by the optimal alignment (default), position by position, or either with
            partial credit for a right tool at a wrong place (``aligned_soft``, ``soft``).
        settings: weights, thresholds and terminal tools where the gold path does not say. Keep one value for many
            runs: gold paths are compiled per settings value.
        rules: path rules that the run must keep to, whatever its gold path; those of other agents are left out.

    Raises:
        ConfigurationError: ``mode`` is none of the four words.
    """
    _check_mode(mode)
    try:
        return _score(trajectory, gold_path, mode, settings or _DEFAULT_SETTINGS, rules)
    except Exception as error:
        HEALTH.fault("scoring.score_path", error)
        if HEALTH.raise_faults:
            raise
        return not_evaluated(
            f"scoring failed with {type(error).__name__}", trajectory, gold_path, mode=mode, rules=rules
        )


def score_best(
    trajectory: Trajectory,
    paths: Iterable[GoldPath],
    *,
    mode: Mode = "aligned",
    settings: ScoringSettings | None = None,
    rules: Sequence[PathRule] = (),
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
        score = score_path(trajectory, path, mode=mode, settings=given, rules=rules)
        if best is None or _is_better(score, path, best, trajectory, given):
            best = score, path
    return not_evaluated(_NO_GOLD, trajectory, mode=mode, rules=rules) if best is None else best[0]


def not_evaluated(
    reason: str,
    trajectory: Trajectory,
    gold: GoldPath | None = None,
    *,
    mode: Mode = "aligned",
    rules: Sequence[PathRule] = (),
) -> PathScore:
    """Return a score without numbers that says why; findings that need no gold path are there, goal and rules too.

    ``reason`` in a few words, such as ``no gold path``; it must hold no user data.
    """
    goal = judge_goal(trajectory, gold)
    metrics, reasons = _goal_metric(goal)
    reasons = dict.fromkeys(_PATH_METRICS, reason) | reasons
    broken = _judge_rules(trajectory, rules, metrics, reasons)
    name = "effect_score" if gold is not None and gold.effects else "composite"
    return lazy_score(
        None,
        "not_evaluated",
        metrics,
        reasons,
        goal,
        (
            (name, mode, *_identity(gold), trajectory.completeness, reason),
            render_without_gold,
            trajectory,
            broken,
        ),
    )


def _judge_rules(
    trajectory: Trajectory, rules: Sequence[PathRule], metrics: dict[str, float], reasons: dict[str, str]
) -> tuple[RuleResult, ...]:
    """Add ``rules_passed``; return the rules that were broken."""
    results = check_rules(rules, trajectory) if rules else ()
    share = rules_passed(results)
    if share is None:
        reasons["rules_passed"] = next((result.message for result in results if result.message), _NO_RULES)
    else:
        metrics["rules_passed"] = share
        reasons.pop("rules_passed", None)
    return tuple(result for result in results if result.passed is False)


def _identity(gold: GoldPath | None) -> tuple[str | None, str | None]:
    return (None, None) if gold is None else (gold.id, gold.version)


def _score(
    trajectory: Trajectory, gold: GoldPath, mode: Mode, settings: ScoringSettings, rules: Sequence[PathRule]
) -> PathScore:
    if trajectory.completeness == "known_incomplete" or trajectory.stop_reason not in _SCORED:
        refusal = _why_not(trajectory)
        if refusal is not None:
            return not_evaluated(refusal, trajectory, gold, mode=mode, rules=rules)
    way = compiled(gold, settings)
    if isinstance(way, Plan):
        plan, run = way, read_run(way, trajectory)
    else:
        chosen = choose(way, trajectory, mode)
        if chosen is None:
            return not_evaluated(_TOO_LONG, trajectory, gold, mode=mode, rules=rules)
        plan, run = chosen
    pairs: list[Pair] | None = None
    reasons: dict[str, str] = {}
    value: float | None = None
    if run is None:
        metrics = plan.perfect.copy()
        value = plan.perfect_composite
    elif len(run.letters) * len(plan.letters) > MOST_CELLS:
        return not_evaluated(_TOO_LONG, trajectory, gold, mode=mode, rules=rules)
    else:
        pairs, metrics, reasons = measure(run, mode)
    reasons = {**_UNTOLD, **reasons} if reasons else _UNTOLD.copy()
    goal = _NOBODY_TELLS
    if trajectory.goal is not None or gold.answer is not None:
        goal = _add_goal(trajectory, gold, metrics, reasons)
    broken = _judge_rules(trajectory, rules, metrics, reasons) if rules else ()
    problem = None
    if value is None:
        value = composite(plan.parts, metrics) if plan.parts else None
    if value is None:
        value, problem = _weighted(plan.table.weights, metrics, reasons)
    if value is None:
        reasons["composite"] = problem or "unknown"
    else:
        metrics["composite"] = value
    name = "composite"
    if gold.effects:
        name = "effect_score"
        value, problem = _add_effect_score(plan, metrics, reasons)
    return lazy_score(
        value,
        "not_evaluated" if value is None else _label(value >= plan.good_path, goal.success),
        metrics,
        reasons,
        goal,
        (
            (name, mode, gold.id, gold.version, trajectory.completeness, problem),
            render,
            plan,
            trajectory,
            pairs,
            mode,
            broken,
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
        del reasons["goal_success"]
    if gold.answer is None:
        reasons["answer_exact"] = reasons["answer_f1"] = _NO_ANSWER_EXPECTED
    elif trajectory.final_answer is None:
        reasons["answer_exact"] = reasons["answer_f1"] = "the run's final answer is not known"
    else:
        found = answer_metrics(gold.answer, trajectory.final_answer)
        metrics.update(found)
        if not found:
            reasons["answer_exact"] = reasons["answer_f1"] = "the expected answer is a pattern"
        for name in found:
            del reasons[name]
    return goal


def _add_effect_score(
    plan: Plan, metrics: dict[str, float], reasons: dict[str, str]
) -> tuple[float | None, str | None]:
    """Add ``effect_score``; return it, or why there is none."""
    value, problem = _weighted(plan.table.effect_weights, metrics, reasons)
    if value is None:
        reasons["effect_score"] = problem or "unknown"
    else:
        metrics["effect_score"] = value
    for name in _EFFECT_METRICS & metrics.keys():
        del reasons[name]
    return value, problem


def _goal_metric(goal: Goal) -> tuple[dict[str, float], dict[str, str]]:
    if goal.success is None:
        return {}, {"goal_success": goal.reason or "unknown"}
    return {"goal_success": float(goal.success)}, {}


def _weighted(
    weights: Weights, metrics: Mapping[str, float], reasons: Mapping[str, str]
) -> tuple[float | None, str | None]:
    """Return the weighted score, or why there is none."""
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
    way = compiled(gold, settings)
    if isinstance(way, Plan):
        run = read_any_run(way, trajectory)
    else:
        chosen = choose(way, trajectory, mode)
        if chosen is None or chosen[1] is None:
            return 0
        run = chosen[1]
    return edits(PAIRS_OF[mode](run), len(run.plan.letters), len(run.letters))
