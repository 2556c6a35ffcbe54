"""Pairs and verdicts become metrics in 0..1."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from rapidfuzz.distance import DamerauLevenshtein, Levenshtein

from agentpath_sdk.scoring.alignment import Pair
from agentpath_sdk.scoring.formulas import path_efficiency, perfect
from agentpath_sdk.scoring.judge import Judge, aligned_pairs, misplaced, positional_pairs
from agentpath_sdk.scoring.pairs import UNKNOWN, Verdict
from agentpath_sdk.scoring.score import Mode
from agentpath_sdk.scoring.whole_calls import match_whole_calls
from agentpath_sdk.trajectories.model import ToolCall

__all__ = ["PAIRS_OF", "Measured", "measure"]

_TOO_MANY_CALLS: Final = "too many calls of one tool to be assigned"
_STATE_WORDS: Final = {"not_captured": "not captured"}

PAIRS_OF: Final[Mapping[Mode, Callable[[Judge], list[Pair]]]] = {
    "aligned": aligned_pairs,
    "aligned_soft": aligned_pairs,
    "positional": positional_pairs,
    "soft": positional_pairs,
}


class Measured(NamedTuple):
    """What one run measures against one gold path, composite left out."""

    pairs: list[Pair]
    metrics: dict[str, float]
    reasons: dict[str, str]
    """Metric -> why it cannot be told."""


def measure(judge: Judge, mode: Mode) -> Measured:
    """Return pairs and metrics; a run and a gold path without steps are a perfect match."""
    gold_count, run_count = len(judge.gold), len(judge.run)
    longest = max(gold_count, run_count)
    if not longest:
        return Measured([], perfect(0, judge.plan.min_steps), {})
    pairs = PAIRS_OF[mode](judge)
    verdicts = [judge.verdict(gold, run) for gold, run in pairs]
    passed = sum([verdict[0] for verdict in verdicts])
    near = sum([verdict[1] for verdict in verdicts])
    metrics = {
        "tool_accuracy": _tool_accuracy(judge, pairs, mode, longest),
        "argument_accuracy": passed / longest,
        "argument_similarity": min(1.0, near / longest),
        "step_order_accuracy": _step_order_accuracy(judge, longest),
        "path_efficiency": path_efficiency(gold_count, run_count, judge.plan.min_steps),
    }
    if passed == gold_count and near == gold_count:
        # Every gold step is met in full, so no other matching of whole calls has more.
        _add_order_free(metrics, passed, near, gold_count, run_count)
        return Measured(pairs, metrics, {})
    return Measured(pairs, metrics, _add_undecided(judge, pairs, verdicts, metrics))


def _tool_accuracy(judge: Judge, pairs: list[Pair], mode: Mode, longest: int) -> float:
    if mode in ("aligned", "positional") or len(pairs) == longest:
        return len(pairs) / longest
    credit = judge.plan.settings.position_credit * misplaced(judge, pairs)
    return max(0.0, min(1.0, (len(pairs) + credit) / longest))


def _step_order_accuracy(judge: Judge, longest: int) -> float:
    if judge.gold == judge.run:
        return 1.0
    distance = DamerauLevenshtein.distance if judge.plan.settings.damerau else Levenshtein.distance
    return 1.0 - distance(judge.gold, judge.run) / longest


def _add_order_free(metrics: dict[str, float], passed: float, graded: float | None, gold: int, run: int) -> None:
    metrics["precision"] = passed / run if run else 0.0
    metrics["recall"] = passed / gold if gold else 0.0
    metrics["f1"] = 2.0 * passed / (gold + run)
    if graded is not None:
        metrics["graded_recall"] = min(1.0, graded / gold) if gold else 0.0


def _add_undecided(
    judge: Judge, pairs: list[Pair], verdicts: list[Verdict], metrics: dict[str, float]
) -> dict[str, str]:
    """Match whole calls, add what they give, take away what unknown arguments leave open; return the reasons."""
    met = {gold for (gold, _), verdict in zip(pairs, verdicts, strict=True) if verdict[0] and verdict[1] == 1.0}
    found = match_whole_calls(judge, met)
    unknown = found.unknown
    reasons: dict[str, str] = {}
    if unknown is None:
        _add_order_free(metrics, found.passed, found.graded, len(judge.gold), len(judge.run))
        if found.graded is None:
            reasons["graded_recall"] = _TOO_MANY_CALLS
        unknown = next((run for (_, run), one in zip(pairs, verdicts, strict=True) if one is UNKNOWN), None)
    else:
        reasons = dict.fromkeys(("precision", "recall", "f1", "graded_recall"), _unknown_words(judge, unknown))
    if unknown is not None:
        for metric in ("argument_accuracy", "argument_similarity"):
            del metrics[metric]
            reasons[metric] = _unknown_words(judge, unknown)
    return reasons


def _unknown_words(judge: Judge, run: int) -> str:
    call: ToolCall = judge.calls[run]
    state = _STATE_WORDS.get(call.arguments_state, call.arguments_state)
    return f"arguments {state} (step {(judge.places[run] or 0) + 1}, {call.tool})"
