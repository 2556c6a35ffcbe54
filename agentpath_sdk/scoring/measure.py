"""Pairs and verdicts become metrics in 0..1."""

from __future__ import annotations

from typing import Final, TypeAlias

from rapidfuzz.distance import DamerauLevenshtein, Levenshtein

from agentpath_sdk.scoring.alignment import Pair
from agentpath_sdk.scoring.executed import Run
from agentpath_sdk.scoring.formulas import path_efficiency, perfect
from agentpath_sdk.scoring.judge import PAIRS_OF, misplaced
from agentpath_sdk.scoring.pairs import UNKNOWN
from agentpath_sdk.scoring.score import Mode
from agentpath_sdk.scoring.whole_calls import WholeCalls, match_whole_calls

__all__ = ["Measured", "measure"]

_TOO_MANY_CALLS: Final = "too many calls of one tool to be assigned"
_ARGUMENTS: Final = ("argument_accuracy", "argument_similarity")
_SOFT: Final = frozenset({"soft", "aligned_soft"})
_ORDER_FREE: Final = ("precision", "recall", "f1", "graded_recall")

Measured: TypeAlias = tuple[list[Pair], dict[str, float], dict[str, str]]
"""Pairs; metrics, composite left out; metric -> why it cannot be told."""


def measure(run: Run, mode: Mode) -> Measured:
    """Return pairs and metrics; a run and a gold path without steps are a perfect match."""
    gold_count, run_count = len(run.plan.letters), len(run.letters)
    longest = max(gold_count, run_count)
    if not longest:
        return [], perfect(0, run.plan.min_steps), {}
    pairs = PAIRS_OF[mode](run)
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
    # Where every gold step is met in full, no other matching of whole calls has more.
    whole = (gold_count, near, None) if passed == gold_count == near else match_whole_calls(run, doubtful)
    whole_passed, graded, undecided = whole
    metrics = {
        "tool_accuracy": len(pairs) / longest,
        "argument_accuracy": passed / longest,
        "argument_similarity": near / longest,
        "step_order_accuracy": 1.0 if run.plan.letters == run.letters else _step_order_accuracy(run, longest),
        "path_efficiency": path_efficiency(gold_count, run_count, run.plan.min_steps),
        "precision": whole_passed / run_count if run_count else 0.0,
        "recall": whole_passed / gold_count if gold_count else 0.0,
        "f1": 2.0 * whole_passed / (gold_count + run_count),
        "graded_recall": graded / gold_count if graded is not None and gold_count else 0.0,
    }
    if mode in _SOFT:
        credit = run.plan.settings.position_credit * misplaced(run, pairs)
        metrics["tool_accuracy"] = max(0.0, min(1.0, (len(pairs) + credit) / longest))
    if unknown is None and undecided is None and graded is not None:
        return pairs, metrics, {}
    return pairs, metrics, _take_away(run, metrics, whole, unknown)


def _step_order_accuracy(run: Run, longest: int) -> float:
    distance = DamerauLevenshtein.distance if run.plan.settings.damerau else Levenshtein.distance
    return 1.0 - distance(run.plan.letters, run.letters) / longest


def _take_away(run: Run, metrics: dict[str, float], whole: WholeCalls, unknown: int | None) -> dict[str, str]:
    """Take away the metrics that unknown arguments leave open, or that would take too long; return the reasons."""
    reasons: dict[str, str] = {}
    if whole[1] is None:
        reasons["graded_recall"] = _TOO_MANY_CALLS
    if whole[2] is not None:
        reasons |= dict.fromkeys(_ORDER_FREE, _unknown_words(run, whole[2]))
        unknown = whole[2] if unknown is None else unknown
    if unknown is not None:
        reasons |= dict.fromkeys(_ARGUMENTS, _unknown_words(run, unknown))
    for metric in reasons:
        del metrics[metric]
    return reasons


def _unknown_words(run: Run, at: int) -> str:
    call = run.calls[at]
    return f"arguments {call.arguments_state.replace('_', ' ')} (step {(run.places[at] or 0) + 1}, {call.tool})"
