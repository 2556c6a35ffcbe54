"""Side-by-side timing: medians of ratios from interleaved rounds of one run."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """One line of the benchmark table."""

    name: str
    value: float
    unit: str
    goal: float | None = None
    """Largest value that meets the goal; None = shown only."""
    note: str = ""

    @property
    def met(self) -> bool | None:
        """Whether the goal is met; None without a goal."""
        return None if self.goal is None else self.value <= self.goal


def timed(work: Callable[[], object]) -> float:
    """Return the seconds one call of ``work`` takes, garbage collector paused."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        start = time.perf_counter()
        work()
        return time.perf_counter() - start
    finally:
        if was_enabled:
            gc.enable()


def ratio(ours: Callable[[], object], theirs: Callable[[], object], *, rounds: int = 15) -> float:
    """Return the median over ``rounds`` of time(ours) / time(theirs), both run in every round in turn."""
    ours(), theirs()
    ratios: list[float] = []
    for number in range(rounds):
        # Alternate who goes first, so that a drift of the machine hits both alike.
        if number % 2:
            ours_seconds, theirs_seconds = timed(ours), timed(theirs)
        else:
            theirs_seconds, ours_seconds = timed(theirs), timed(ours)
        ratios.append(ours_seconds / theirs_seconds)
    return statistics.median(ratios)


def median_seconds(work: Callable[[], object], *, calls: int, rounds: int = 15) -> float:
    """Return the median over ``rounds`` of the seconds per call of ``work``, which makes ``calls`` calls."""
    work()
    return statistics.median(timed(work) for _ in range(rounds)) / calls
