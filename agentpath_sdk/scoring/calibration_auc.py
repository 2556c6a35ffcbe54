"""How well a number ranks runs by success: area under the ROC curve, with what keeps the figure honest.

Runs of one task are no independent observations, so that intervals resample whole tasks; pairs within a task are
looked at apart; and a baseline that knows nothing but the task stands beside. In plain Python: some hundred runs
resampled a thousand times take a second.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

__all__ = [
    "RESAMPLES",
    "Area",
    "Interval",
    "Outcomes",
    "Resamples",
    "area",
    "areas",
    "difference",
    "draw",
    "ranking",
    "task_only",
    "within_tasks",
]

Interval: TypeAlias = tuple[float, float]

RESAMPLES: Final = 2_000
_COVERAGE: Final = 0.95


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcomes:
    """What became of each run, and which task it was a run of; position = run."""

    success: Sequence[bool]
    task: Sequence[str]

    def __post_init__(self) -> None:
        if len(self.success) != len(self.task):
            raise ValueError(f"{len(self.success)} outcomes and {len(self.task)} tasks")

    @property
    def tasks(self) -> list[str]:
        """Each task once, in order of its first run."""
        return list(dict.fromkeys(self.task))


@dataclass(frozen=True, kw_only=True, slots=True)
class Area:
    """The area under the ROC curve and its 95 % interval; None where there is nothing to rank."""

    value: float | None
    low: float | None = None
    high: float | None = None


_Ranking: TypeAlias = Sequence[tuple[Sequence[int], Sequence[int]]]
"""Runs by value, lowest first: those that failed and those that reached the goal at each value."""


def ranking(values: Sequence[float], outcomes: Outcomes) -> _Ranking:
    """Return the runs grouped by equal value, ascending."""
    groups: defaultdict[float, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    for run, (value, success) in enumerate(zip(values, outcomes.success, strict=True)):
        groups[value][success].append(run)
    return [groups[value] for value in sorted(groups)]


def area(ranked: _Ranking, weights: Sequence[float] | None = None) -> float | None:
    """Return the share of (reached, failed) pairs in which the reached one has the higher value; a tie is half one.

    ``weights``: how often each run counts. None where all runs ended alike.
    """
    concordant = below = above = 0.0
    for failed, reached in ranked:
        if weights is None:
            lost, won = float(len(failed)), float(len(reached))
        else:
            lost, won = sum([weights[run] for run in failed]), sum([weights[run] for run in reached])
        concordant += won * (below + lost / 2)
        below += lost
        above += won
    return concordant / (below * above) if below and above else None


class Resamples:
    """Tasks drawn with replacement, the same draws for every value that is looked at, so that differences pair up."""

    def __init__(self, outcomes: Outcomes, *, count: int = RESAMPLES, seed: int = 0) -> None:
        self.outcomes = outcomes
        self._tasks = outcomes.tasks
        self._count = count
        self._seed = seed

    def __iter__(self) -> Iterator[list[float]]:
        """Yield how often each run counts in each resample; one without both outcomes is drawn again."""
        generator = random.Random(self._seed)
        found = 0
        # Where one outcome is rare many draws lack it; where it is absent, all do.
        for _ in range(self._count * 20):
            if found == self._count:
                return
            drawn = draw(self._tasks, generator)
            weights = [float(drawn.get(task, 0)) for task in self.outcomes.task]
            counted = {success for success, w in zip(self.outcomes.success, weights, strict=True) if w}
            if len(counted) == 2:
                found += 1
                yield weights


def draw(tasks: Sequence[str], generator: random.Random) -> dict[str, int]:
    """Return how often each task was drawn in as many draws as there are tasks."""
    drawn: dict[str, int] = {}
    for task in generator.choices(tasks, k=len(tasks)):
        drawn[task] = drawn.get(task, 0) + 1
    return drawn


def areas(values: Mapping[str, Sequence[float]], resamples: Resamples) -> dict[str, Area]:
    """Return the area of each of several values (name -> one per run), resampled by task."""
    ranked = {name: ranking(series, resamples.outcomes) for name, series in values.items()}
    drawn: dict[str, list[float]] = {name: [] for name in ranked}
    for weights in resamples:
        for name, ranks in ranked.items():
            found = area(ranks, weights)
            if found is not None:
                drawn[name].append(found)
    return {name: _with_interval(area(ranks), drawn[name]) for name, ranks in ranked.items()}


def difference(one: Sequence[float], other: Sequence[float], resamples: Resamples) -> Area:
    """Return area(one) - area(other) on the same runs, the interval from the same draws for both."""
    first, second = ranking(one, resamples.outcomes), ranking(other, resamples.outcomes)
    drawn = [_minus(area(first, weights), area(second, weights)) for weights in resamples]
    return _with_interval(_minus(area(first), area(second)), [found for found in drawn if found is not None])


def _minus(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one - other


def _with_interval(value: float | None, drawn: Sequence[float]) -> Area:
    if value is None or not drawn:
        return Area(value=value)
    low, high = _percentiles(drawn)
    return Area(value=value, low=low, high=high)


def _percentiles(drawn: Sequence[float]) -> Interval:
    ordered = sorted(drawn)
    tail = (1 - _COVERAGE) / 2
    last = len(ordered) - 1
    return ordered[round(tail * last)], ordered[round((1 - tail) * last)]


def within_tasks(values: Sequence[float], outcomes: Outcomes) -> tuple[float | None, int]:
    """Return the area over pairs of runs of the same task alone, and how many such pairs there are.

    None where no task has runs that ended differently.
    """
    runs: defaultdict[str, list[int]] = defaultdict(list)
    for run, task in enumerate(outcomes.task):
        runs[task].append(run)
    concordant, pairs = 0.0, 0
    for members in runs.values():
        reached = [values[run] for run in members if outcomes.success[run]]
        failed = [values[run] for run in members if not outcomes.success[run]]
        concordant += sum((one > other) + (one == other) / 2 for one in reached for other in failed)
        pairs += len(reached) * len(failed)
    return (concordant / pairs if pairs else None), pairs


def task_only(outcomes: Outcomes) -> float | None:
    """Return the area of the baseline that knows only the task: the success rate of the task's other runs.

    A task's only run gets the rate of all runs. Two runs of one task are a tie, which is all that knowing the
    task can say of them.
    """
    rates = _rates_of_others(outcomes)
    concordant, pairs = 0.0, 0
    reached = [run for run, success in enumerate(outcomes.success) if success]
    failed = [run for run, success in enumerate(outcomes.success) if not success]
    for one in reached:
        for other in failed:
            tie = outcomes.task[one] == outcomes.task[other] or rates[one] == rates[other]
            concordant += 0.5 if tie else float(rates[one] > rates[other])
            pairs += 1
    return concordant / pairs if pairs else None


def _rates_of_others(outcomes: Outcomes) -> list[float]:
    totals: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0])
    for task, success in zip(outcomes.task, outcomes.success, strict=True):
        totals[task][0] += success
        totals[task][1] += 1
    overall = sum(outcomes.success) / max(1, len(outcomes.success))
    # A run alone in its task gets one and the same rate whatever its outcome, else the outcome would show through.
    return [
        (totals[task][0] - success) / (totals[task][1] - 1) if totals[task][1] > 1 else overall
        for task, success in zip(outcomes.task, outcomes.success, strict=True)
    ]
