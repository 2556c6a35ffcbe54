"""Weights of a score fitted to outcomes: a logistic regression without negative weights, shrunk to the defaults."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final

__all__ = ["HALF_TRUST_TASKS", "fit_weights", "shrink", "shrinkage", "threshold", "weighted"]

HALF_TRUST_TASKS: Final = 50
"""With so many tasks, fitted and default weights count alike."""

_RIDGE: Final = 1.0
_SWEEPS: Final = 200
_STILL: Final = 1e-4
# The logistic loss curves by at most this much: steps by the bound descend without a line search (Böhning 1992).
_CURVATURE: Final = 0.25

Features = Sequence[Sequence[float]]
"""One list of metrics per run."""


def fit_weights(features: Features, success: Sequence[bool], counts: Sequence[float] | None = None) -> list[float]:
    """Return weights of 0 or more that sum to 1 and under which runs that reached the goal score highest.

    All 0 where no metric is higher in runs that reached the goal. ``counts``: how often each run counts.
    Coordinate descent on the ridge-penalised logistic loss, each metric centred.
    """
    runs = [1.0] * len(success) if counts is None else list(counts)
    columns = [_centred(column, runs) for column in zip(*features, strict=True)]
    bends = [_CURVATURE * sum(n * x * x for n, x in zip(runs, column, strict=True)) + _RIDGE for column in columns]
    weights = [0.0] * len(columns)
    total = sum(runs)
    share = sum(n for n, reached in zip(runs, success, strict=True) if reached) / total
    intercept = math.log(share / (1 - share)) if 0 < share < 1 else 0.0
    odds = [intercept] * len(runs)
    for _ in range(_SWEEPS):
        largest = 0.0
        residuals = _residuals(odds, success, runs)
        step = -sum(residuals) / (_CURVATURE * total)
        odds = [odd + step for odd in odds]
        for at, column in enumerate(columns):
            residuals = _residuals(odds, success, runs)
            slope = sum([r * x for r, x in zip(residuals, column, strict=True)]) + _RIDGE * weights[at]
            moved = max(0.0, weights[at] - slope / bends[at])
            change = moved - weights[at]
            if change:
                weights[at] = moved
                odds = [odd + change * x for odd, x in zip(odds, column, strict=True)]
                largest = max(largest, abs(change))
        if largest < _STILL:
            break
    whole = sum(weights)
    return [weight / whole for weight in weights] if whole > 0 else weights


def _centred(column: Sequence[float], counts: Sequence[float]) -> list[float]:
    mean = sum(n * x for n, x in zip(counts, column, strict=True)) / sum(counts)
    return [x - mean for x in column]


def _residuals(odds: Sequence[float], success: Sequence[bool], counts: Sequence[float]) -> list[float]:
    return [
        n * (1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, odd)))) - reached)
        for odd, reached, n in zip(odds, success, counts, strict=True)
    ]


def shrinkage(tasks: int) -> float:
    """Return how far fitted values are trusted, 0..1: tasks / (tasks + 50)."""
    return tasks / (tasks + HALF_TRUST_TASKS)


def shrink(fitted: Mapping[str, float], defaults: Mapping[str, float], trust: float) -> dict[str, float]:
    """Return weights between ``defaults`` (trust 0) and ``fitted`` (trust 1), summing to 1."""
    whole = sum(defaults.values())
    return {
        name: trust * fitted.get(name, 0.0) + (1 - trust) * defaults.get(name, 0.0) / whole
        for name in dict.fromkeys((*defaults, *fitted))
    }


def weighted(weights: Mapping[str, float], metrics: Mapping[str, float]) -> float:
    """Return the weighted mean in 0..1, rounded as scores are."""
    whole = sum(weights.values())
    return min(1.0, max(0.0, round(sum(weight * metrics[name] for name, weight in weights.items()) / whole, 12)))


def threshold(values: Sequence[float], success: Sequence[bool]) -> tuple[float, float, float]:
    """Return the value that best parts runs that reached the goal from the others, and how well it does.

    As (threshold, share of reached runs at or above it, share of failed runs below it): the sum of the two shares is
    the largest there is (Youden 1950); half way between two values; the highest of equals.
    """
    reached = sum(success)
    failed = len(success) - reached
    best = (0.0, 1.0, 0.0)
    above, below = reached, 0
    ordered = sorted(zip(values, success, strict=True))
    for at, (value, won) in enumerate(ordered):
        above -= won
        below += not won
        following = ordered[at + 1][0] if at + 1 < len(ordered) else None
        if following is None or following == value:
            continue
        shares = above / reached if reached else 0.0, below / failed if failed else 0.0
        if sum(shares) >= best[1] + best[2]:
            best = ((value + following) / 2, *shares)
    return best
