"""Formulas that need counts only."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["composite", "path_efficiency", "perfect"]


def perfect(steps: int, min_steps: int) -> dict[str, float]:
    """Return the metrics of a run that follows a gold path of ``steps`` steps exactly."""
    return {
        "tool_accuracy": 1.0,
        "argument_accuracy": 1.0,
        "argument_similarity": 1.0,
        "step_order_accuracy": 1.0,
        "path_efficiency": path_efficiency(steps, steps, min_steps),
        "precision": 1.0,
        "recall": 1.0,
        "f1": 1.0,
        "graded_recall": 1.0,
    }


def composite(weights: tuple[tuple[str, float], ...], metrics: Mapping[str, float]) -> float | None:
    """Return the weighted mean (weights sum to 1) in 0..1, or None where a part is not evaluated.

    Rounded to twelve digits, so that .675 is .675.
    """
    try:
        total = 0.0
        for name, weight in weights:
            total += weight * metrics[name]
    except KeyError:
        return None
    total = round(total, 12)
    return total if total < 1.0 else 1.0


def path_efficiency(gold_count: int, run_count: int, min_steps: int) -> float:
    """Return least steps / executed steps, at most 1; 0 where only one side has steps, 1 where none has."""
    if not run_count:
        return 0.0 if gold_count else 1.0
    return min(1.0, min_steps / run_count) if gold_count else 0.0
