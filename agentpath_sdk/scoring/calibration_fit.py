"""Weights of a score fitted to outcomes: a logistic regression without negative weights, shrunk to the defaults."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from operator import mul, sub
from typing import Final, TypeAlias

__all__ = ["HALF_TRUST_TASKS", "fit_weights", "shrink", "shrinkage", "threshold", "weighted"]

HALF_TRUST_TASKS: Final = 50
"""With so many tasks, fitted and default weights count alike."""

_RIDGE: Final = 1.0
_STEPS: Final = 25
_SWEEPS: Final = 500
_STILL: Final = 1e-6
# Outcomes that the weights tell for certain must not flatten the curve to nothing.
_FLATTEST: Final = 1e-5

Features: TypeAlias = Sequence[Sequence[float]]
"""One list of metrics per run."""


def fit_weights(features: Features, success: Sequence[bool], counts: Sequence[float] | None = None) -> list[float]:
    """Return weights of 0 or more that sum to 1 and under which runs that reached the goal score highest.

    All 0 where no metric is higher in runs that reached the goal. ``counts``: how often each run counts.
    Ridge-penalised logistic regression by Newton steps, each solved by coordinate descent without negative weights
    (Friedman, Hastie, Tibshirani 2010).
    """
    given = [1.0] * len(success) if counts is None else counts
    rows = [(n, [1.0, *row], float(won)) for n, row, won in zip(given, features, success, strict=True) if n]
    weights = [0.0] * (len(features[0]) + 1)
    loss = _loss(rows, weights)
    for _ in range(_STEPS):
        moved = _newton(rows, weights)
        stepped = _loss(rows, moved)
        while stepped > loss and max(map(abs, map(sub, moved, weights))) > _STILL:
            # Too long a step: half of it, which the convex loss always rewards in the end.
            moved = [(one + other) / 2 for one, other in zip(weights, moved, strict=True)]
            stepped = _loss(rows, moved)
        if stepped >= loss - _STILL:
            break
        weights, loss = moved, stepped
    fitted = weights[1:]
    whole = sum(fitted)
    return [weight / whole for weight in fitted] if whole > _STILL else [0.0] * len(fitted)


_Row: TypeAlias = tuple[float, list[float], float]
"""How often it counts; 1 for the intercept and the metrics; outcome."""


def _loss(rows: Sequence[_Row], weights: Sequence[float]) -> float:
    total = _RIDGE / 2 * sum(weight * weight for weight in weights[1:])
    for n, row, won in rows:
        odds = sum(map(mul, weights, row))
        # log(1 + exp(odds)) without overflow.
        total += n * (max(odds, 0.0) + math.log1p(math.exp(-abs(odds))) - won * odds)
    return total


def _newton(rows: Sequence[_Row], weights: Sequence[float]) -> list[float]:
    """Return the weights that minimise the quadratic approximation of the loss around ``weights``."""
    size = len(weights)
    bend = [[0.0] * size for _ in weights]
    pull = [0.0] * size
    for n, row, won in rows:
        odds = sum(map(mul, weights, row))
        share = 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, odds))))
        curve = n * max(share * (1.0 - share), _FLATTEST)
        slope = n * (won - share) + curve * odds
        for at, x in enumerate(row):
            pull[at] += slope * x
            line, scaled = bend[at], curve * x
            for other in range(at + 1):
                line[other] += scaled * row[other]
    for at in range(size):
        for other in range(at):
            bend[other][at] = bend[at][other]
        if at:
            bend[at][at] += _RIDGE
    return _descend(bend, pull, list(weights))


def _descend(bend: Sequence[Sequence[float]], pull: Sequence[float], start: list[float]) -> list[float]:
    """Return the minimum of x'Bx/2 - p'x with all but the first (the intercept) 0 or more."""
    found = start
    for _ in range(_SWEEPS):
        largest = 0.0
        for at, line in enumerate(bend):
            moved = found[at] + (pull[at] - sum(map(mul, line, found))) / line[at]
            moved = moved if at == 0 else max(0.0, moved)
            largest = max(largest, abs(moved - found[at]))
            found[at] = moved
        if largest < _STILL:
            break
    return found


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
