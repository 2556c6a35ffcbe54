"""Pairs and verdicts become metrics in 0..1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias

from rapidfuzz.distance import DamerauLevenshtein, Levenshtein

from agentpath_sdk.scoring.alignment import Pair
from agentpath_sdk.scoring.effects import add_effects
from agentpath_sdk.scoring.executed import Run
from agentpath_sdk.scoring.formulas import path_efficiency, perfect
from agentpath_sdk.scoring.judge import PAIRS_OF, misplaced
from agentpath_sdk.scoring.pairs import UNKNOWN
from agentpath_sdk.scoring.score import Mode
from agentpath_sdk.scoring.whole_calls import WholeCalls, match_whole_calls, same_place_doubts
from agentpath_sdk.scoring.without_free import without_free_extras

__all__ = ["Measured", "measure", "path_parts"]

_TOO_MANY_CALLS: Final = "too many calls of one tool to be assigned"
_ARGUMENTS: Final = ("argument_accuracy", "argument_similarity")
_SOFT: Final = frozenset({"soft", "aligned_soft"})
_ORDER_FREE: Final = ("precision", "recall", "f1", "graded_recall")

Measured: TypeAlias = tuple[list[Pair], dict[str, float], dict[str, str]]
"""Pairs; metrics, composite left out; metric -> why it cannot be told."""


def measure(run: Run, mode: Mode) -> Measured:
    """Return pairs and metrics; a run and a gold path without steps are a perfect match."""
    table = run.plan.table
    if not table.free and not table.gold.effects:
        return _measure(run, mode)
    counted, places = without_free_extras(run) if table.free else (run, None)
    pairs, metrics, reasons = _measure(counted, mode)
    if table.gold.effects:
        add_effects(
            counted, pairs if mode in ("aligned", "aligned_soft") else PAIRS_OF["aligned"](counted), metrics, reasons
        )
    return pairs if places is None else [(gold, places[at]) for gold, at in pairs], metrics, reasons


def path_parts(run: Run, mode: Mode, pairs: Sequence[Pair]) -> dict[str, float]:
    """Return the metrics that the default composite is made of, and argument_similarity.

    Unknown arguments count as met: for comparing ways through a gold path, of which an unknown one might be the best.
    """
    gold_count, run_count = len(run.plan.letters), len(run.letters)
    longest = max(gold_count, run_count)
    if not longest:
        return perfect(0, run.plan.min_steps)
    passed, near, unknown, _ = _judge(run, pairs)
    return {
        "tool_accuracy": _tool_accuracy(run, mode, pairs, longest),
        "argument_accuracy": (passed if unknown is None else len(pairs)) / longest,
        "argument_similarity": (near if unknown is None else len(pairs)) / longest,
        "step_order_accuracy": _step_order_accuracy(run, longest),
        "path_efficiency": path_efficiency(gold_count, run_count, run.plan.min_steps),
    }


def _measure(run: Run, mode: Mode) -> Measured:
    plan = run.plan
    gold_count, run_count = len(plan.letters), len(run.letters)
    longest = max(gold_count, run_count)
    if not longest:
        return [], perfect(0, plan.min_steps), {}
    pairs = PAIRS_OF[mode](run)
    passed, near, unknown, doubtful = _judge(run, pairs)
    # Where every gold step is met in full, no other matching of whole calls has more.
    whole = (gold_count, near, None) if passed == gold_count == near else match_whole_calls(run, doubtful)
    whole_passed, graded, undecided = whole
    metrics = {
        "tool_accuracy": _tool_accuracy(run, mode, pairs, longest) if mode in _SOFT else len(pairs) / longest,
        "argument_accuracy": passed / longest,
        "argument_similarity": near / longest,
        "step_order_accuracy": _step_order_accuracy(run, longest),
        "path_efficiency": path_efficiency(gold_count, run_count, plan.min_steps),
        "precision": whole_passed / run_count if run_count else 0.0,
        "recall": whole_passed / gold_count if gold_count else 0.0,
        "f1": 2.0 * whole_passed / (gold_count + run_count),
        "graded_recall": graded / gold_count if graded is not None and gold_count else 0.0,
    }
    if plan.required is not None:
        whole = _count_required_only(run, metrics, whole)
        _, graded, undecided = whole
    if unknown is None and undecided is None and graded is not None:
        return pairs, metrics, {}
    return pairs, metrics, _take_away(run, metrics, whole, unknown)


def _judge(run: Run, pairs: Sequence[Pair]) -> tuple[float, float, int | None, list[Pair]]:
    """Return how many pairs pass, the sum of similarities, a call with unknown arguments, pairs of unlike classes."""
    wanted, classes = run.plan.classes, run.classes
    doubtful = [pair for pair in pairs if wanted[pair[0]] != classes[pair[1]]]
    passed: float = len(pairs) - len(doubtful)
    near = passed
    unknown: int | None = None
    for gold, at in doubtful:
        verdict = run.verdict(gold, at)
        passed += verdict[0]
        near += verdict[1]
        if verdict is UNKNOWN:
            unknown = at
    return passed, near, unknown, doubtful


def _count_required_only(run: Run, metrics: dict[str, float], whole: WholeCalls) -> WholeCalls:
    """Set recall, f1 and graded_recall anew: a step that may be left out is none that can be missed."""
    required = run.plan.required
    if required is None:
        return whole
    gold_count = len(required.letters)
    if not gold_count:
        metrics["recall"] = metrics["graded_recall"] = 1.0
        metrics["f1"] = _harmonic(metrics["precision"], 1.0)
        return whole
    part = Run(required, run.calls, run.letters, run.classes, run.places, run.seen)
    passed, graded, undecided = match_whole_calls(part, same_place_doubts(part))
    metrics["recall"] = passed / gold_count
    metrics["f1"] = _harmonic(metrics["precision"], metrics["recall"])
    metrics["graded_recall"] = 0.0 if graded is None else graded / gold_count
    return passed, None if whole[1] is None else graded, whole[2] if undecided is None else undecided


def _harmonic(one: float, other: float) -> float:
    return 2.0 * one * other / (one + other) if one + other else 0.0


def _tool_accuracy(run: Run, mode: Mode, pairs: Sequence[Pair], longest: int) -> float:
    if mode not in _SOFT:
        return len(pairs) / longest
    credit = run.plan.settings.position_credit * misplaced(run, pairs)
    return max(0.0, min(1.0, (len(pairs) + credit) / longest))


def _step_order_accuracy(run: Run, longest: int) -> float:
    if run.plan.letters == run.letters:
        return 1.0
    distance = DamerauLevenshtein.distance if run.plan.settings.damerau else Levenshtein.distance
    return 1.0 - distance(run.plan.letters, run.letters) / longest


def _take_away(run: Run, metrics: dict[str, float], whole: WholeCalls, unknown: int | None) -> dict[str, str]:
    """Take away the metrics that unknown arguments leave open, or that would take too long; return the reasons."""
    reasons: dict[str, str] = {}
    if whole[1] is None:
        reasons["graded_recall"] = _TOO_MANY_CALLS
    if whole[2] is not None:
        reasons |= dict.fromkeys(_ORDER_FREE, run.unknown_words(whole[2]))
        unknown = whole[2] if unknown is None else unknown
    if unknown is not None:
        reasons |= dict.fromkeys(_ARGUMENTS, run.unknown_words(unknown))
    for metric in reasons:
        del metrics[metric]
    return reasons
