"""Weights and threshold of a score, fitted to runs of which it is known whether they reached their goal.

Calibration ranks: it says which of two runs more likely reached its goal, and gives no probability. Everything is
split by task, never by run, and the result is drawn towards the defaults the more, the fewer tasks there are.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Final

from agentpath_sdk.errors import ConfigurationError
from agentpath_sdk.scoring.calibration_auc import (
    RESAMPLES,
    Area,
    Outcomes,
    Resamples,
    area,
    areas,
    difference,
    draw,
    ranking,
    task_only,
    within_tasks,
)
from agentpath_sdk.scoring.calibration_fit import fit_weights, shrink, shrinkage, threshold, weighted

__all__ = ["LEAST_OF_EITHER", "LEAST_TASKS", "Calibration", "Example", "Fitted", "calibrate", "why_too_few"]

LEAST_TASKS: Final = 50
LEAST_OF_EITHER: Final = 20

_OPTIMISM_RESAMPLES: Final = 60
_FOLDS: Final = 5
_FITTED: Final = "fitted"
_DEFAULT: Final = "default"


@dataclass(frozen=True, kw_only=True, slots=True)
class Example:
    """One scored run with a known outcome."""

    task: str
    """Runs of one task are never on both sides of a split."""
    metrics: Mapping[str, float]
    success: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Fitted:
    """What was fitted: weights that sum to 1, and the score from which on a path is good."""

    weights: Mapping[str, float]
    good_path: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Calibration:
    """Fitted weights and how well they rank, beside the defaults and the task alone."""

    name: str
    """The score that was calibrated: ``composite`` or ``effect_score``."""
    fitted: Fitted
    kept_defaults: bool
    """True where fitted weights rank no better than the defaults on tasks held out: then ``fitted`` has those."""
    runs: int
    tasks: int
    reached: int
    trust: float
    """0..1, how far the fit was trusted against the defaults."""
    apparent: Area
    """On the runs it was fitted to: too good, by about the optimism."""
    optimism: float | None
    """How much a fit to such data exceeds its value on other data (bootstrap by task, Harrell 1996)."""
    held_out: Area
    """Each run ranked by weights fitted to other tasks."""
    default: Area
    gain: Area
    """held_out - default on the same runs."""
    within: float | None
    """Over pairs of runs of one task; None without such pairs."""
    within_pairs: int
    task_only: float | None
    """The baseline that knows only the task: the success rate of its other runs."""
    metrics: Mapping[str, Area] = field(default_factory=dict[str, Area])
    """Each metric alone."""
    reached_at_threshold: float = 0.0
    """Share of the runs that reached their goal and count as a good path."""
    failed_below_threshold: float = 0.0
    """Share of the others that do not."""
    forced: str | None = None
    """Why it would have been refused; None where it would not."""

    @property
    def corrected(self) -> float | None:
        """The apparent area without its optimism."""
        if self.apparent.value is None or self.optimism is None:
            return None
        return max(0.0, min(1.0, self.apparent.value - self.optimism))


def why_too_few(examples: Sequence[Example]) -> str | None:
    """Return why these runs are too few to fit anything to, or None."""
    tasks = len({example.task for example in examples})
    reached = sum(example.success for example in examples)
    rarer = min(reached, len(examples) - reached)
    if tasks < LEAST_TASKS:
        return f"{tasks} tasks with known outcomes; calibration wants {LEAST_TASKS}"
    if rarer < LEAST_OF_EITHER:
        word = "reached their goal" if reached <= len(examples) / 2 else "missed their goal"
        return f"{rarer} runs that {word}; calibration wants {LEAST_OF_EITHER} of either outcome"
    return None


def calibrate(
    examples: Sequence[Example],
    *,
    defaults: Mapping[str, float],
    good_path: float,
    name: str = "composite",
    candidates: Sequence[str] | None = None,
    force: bool = False,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Calibration:
    """Return weights over ``candidates`` (default: those of ``defaults``) and a threshold, with honest figures.

    Args:
        examples: scored runs; each has all the metrics that are weighted.
        defaults: the weights to draw towards, and to compare with.
        good_path: the threshold to draw towards.
        name: of the score.
        candidates: metrics that may get a weight.
        force: fit even where ``why_too_few`` says no.
        seed: of the resampling; equal seeds give equal results.
        resamples: draws of tasks for the intervals.

    Raises:
        ConfigurationError: too few tasks or outcomes and not forced; or all runs ended alike.
    """
    few = why_too_few(examples)
    reached = sum(example.success for example in examples)
    if few is not None and not force:
        raise ConfigurationError(f"{few} (force it where you know what you do)")
    if not 0 < reached < len(examples):
        raise ConfigurationError("all runs ended alike, so there is nothing to rank; give runs of both outcomes")
    fitting = _Fitting(examples, dict(defaults), good_path, tuple(candidates or defaults))
    return fitting.result(name, few, seed, Resamples(fitting.outcomes, count=resamples, seed=seed))


class _Fitting:
    """One data set and what is fitted to it."""

    def __init__(
        self, examples: Sequence[Example], defaults: Mapping[str, float], good_path: float, candidates: tuple[str, ...]
    ) -> None:
        self.examples = examples
        self.defaults = defaults
        self.good_path = good_path
        self.candidates = candidates
        self.features = [[example.metrics[name] for name in candidates] for example in examples]
        self.outcomes = Outcomes(
            success=[example.success for example in examples], task=[example.task for example in examples]
        )

    def result(self, name: str, few: str | None, seed: int, resamples: Resamples) -> Calibration:
        weights = self.fit(None)
        held_out = self._held_out(seed)
        default = self._scores(self.defaults)
        found = areas(
            {
                _FITTED: self._scores(weights),
                _DEFAULT: default,
                "held_out": held_out,
                **{metric: self._scores({metric: 1.0}) for metric in self.candidates},
            },
            resamples,
        )
        gain = difference(held_out, default, resamples)
        kept = gain.value is None or gain.value <= 0
        chosen = self._scores(self.defaults if kept else weights)
        within, pairs = within_tasks(chosen, self.outcomes)
        cut = self._threshold(chosen)
        return Calibration(
            name=name,
            fitted=Fitted(weights=_rounded(self.defaults if kept else weights), good_path=cut),
            kept_defaults=kept,
            runs=len(self.examples),
            tasks=len(self.outcomes.tasks),
            reached=sum(self.outcomes.success),
            trust=shrinkage(len(self.outcomes.tasks)),
            apparent=found[_FITTED],
            optimism=self._optimism(seed),
            held_out=found["held_out"],
            default=found[_DEFAULT],
            gain=gain,
            within=within,
            within_pairs=pairs,
            task_only=task_only(self.outcomes),
            metrics={metric: found[metric] for metric in self.candidates},
            reached_at_threshold=_share(chosen, self.outcomes.success, True, cut),
            failed_below_threshold=1 - _share(chosen, self.outcomes.success, False, cut),
            forced=few,
        )

    def fit(self, counts: Sequence[float] | None) -> dict[str, float]:
        """Return the shrunk weights for these runs, each counted ``counts`` times."""
        fitted = fit_weights(self.features, self.outcomes.success, counts)
        if not any(fitted):
            return dict(self.defaults)
        tasks = {task for at, task in enumerate(self.outcomes.task) if counts is None or counts[at]}
        return shrink(dict(zip(self.candidates, fitted, strict=True)), self.defaults, shrinkage(len(tasks)))

    def _scores(self, weights: Mapping[str, float]) -> list[float]:
        return [weighted(weights, example.metrics) for example in self.examples]

    def _threshold(self, scores: Sequence[float]) -> float:
        found = threshold(scores, self.outcomes.success)[0]
        trust = shrinkage(len(self.outcomes.tasks))
        return round(trust * found + (1 - trust) * self.good_path, 3)

    def _held_out(self, seed: int) -> list[float]:
        """Return each run's score by weights fitted without any run of its task's fold."""
        tasks = self.outcomes.tasks
        random.Random(seed).shuffle(tasks)
        fold_of = {task: at % _FOLDS for at, task in enumerate(tasks)}
        folds = [fold_of[task] for task in self.outcomes.task]
        weights_of = [self._fit_if_both([float(fold != left_out) for fold in folds]) for left_out in range(_FOLDS)]
        return [weighted(weights_of[fold], example.metrics) for fold, example in zip(folds, self.examples, strict=True)]

    def _fit_if_both(self, counts: Sequence[float]) -> dict[str, float]:
        seen = {success for success, count in zip(self.outcomes.success, counts, strict=True) if count}
        return self.fit(counts) if len(seen) == 2 else dict(self.defaults)

    def _optimism(self, seed: int) -> float | None:
        """Return the mean over resamples of (area where it was fitted - area on all runs)."""
        generator = random.Random(seed + 1)
        tasks = self.outcomes.tasks
        found: list[float] = []
        for _ in range(_OPTIMISM_RESAMPLES):
            drawn = draw(tasks, generator)
            counts = [float(drawn.get(task, 0)) for task in self.outcomes.task]
            ranked = ranking(self._scores(self._fit_if_both(counts)), self.outcomes)
            there, here = area(ranked, counts), area(ranked)
            if there is not None and here is not None:
                found.append(there - here)
        return fmean(found) if found else None


def _rounded(weights: Mapping[str, float]) -> dict[str, float]:
    """Return the weights as people write them, without those that round to nothing."""
    whole = sum(weights.values())
    return {name: rounded for name, weight in weights.items() if (rounded := round(weight / whole, 4)) > 0}


def _share(scores: Sequence[float], success: Sequence[bool], reached: bool, cut: float) -> float:
    counted = [score >= cut for score, won in zip(scores, success, strict=True) if won == reached]
    return fmean(counted) if counted else 0.0
