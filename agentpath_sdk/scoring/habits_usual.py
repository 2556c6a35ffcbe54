"""How many steps an agent's runs usually take: exact counts per agent, in bounded memory."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from agentpath_sdk.scoring.reasons import clean, shortened
from agentpath_sdk.scoring.score import Finding
from agentpath_sdk.trajectories.model import Trajectory

__all__ = ["StepRange", "UsualRange"]

LEAST_RUNS: Final = 30
"""Runs of an agent before anything is usual."""

# Numbers of steps are small whole numbers: counting them is exact, where a sketch of quantiles would be near.
_MOST_STEPS: Final = 511
_MOST_AGENTS: Final = 1_000
_MEMORY: Final = 2_000
_OUTER: Final = 0.95


@dataclass(frozen=True, kw_only=True, slots=True)
class StepRange:
    """What is usual for one agent."""

    median: int
    low: int
    """Nineteen runs of twenty take at least this many steps."""
    high: int
    """Steps up to which a run is usual."""
    runs: float
    """Runs it rests on, older ones counted less."""


@dataclass(slots=True)
class _Counts:
    by_steps: list[float] = field(default_factory=lambda: [0.0] * (_MOST_STEPS + 1))
    total: float = 0.0

    def add(self, steps: int) -> None:
        self.by_steps[min(steps, _MOST_STEPS)] += 1
        self.total += 1
        if self.total >= _MEMORY:
            # Agents change: what was long ago counts half each time.
            self.by_steps = [count / 2 for count in self.by_steps]
            self.total /= 2

    def quantile(self, share: float) -> int:
        """Return the least number of steps that this share of the runs does not exceed."""
        wanted, seen = share * self.total, 0.0
        for steps, count in enumerate(self.by_steps):
            seen += count
            if count and seen >= wanted:
                return steps
        return _MOST_STEPS


class UsualRange:
    """The usual number of steps of each agent, learnt from the runs it is shown; at most 1,000 agents are kept.

    A run is unusual above the 95 % quantile, and above the upper quartile by one and a half interquartile ranges, of
    at least one step (Tukey 1977): the second alone would call one step more than always unusual, the first alone
    every twentieth run. Only complete runs that finished are learnt from.
    """

    def __init__(self) -> None:
        self._agents: dict[str, _Counts] = {}

    def add(self, trajectory: Trajectory) -> None:
        """Learn from a run; look at it first, since it must not speak for itself."""
        if trajectory.completeness != "complete" or trajectory.stop_reason not in ("finished", "unknown"):
            return
        name = trajectory.agent or ""
        counts = self._agents.pop(name, None)
        if counts is None:
            counts = _Counts()
            while len(self._agents) >= _MOST_AGENTS:
                # The one not heard of for longest is first, since each run puts its agent last.
                self._agents.pop(next(iter(self._agents)), None)
        self._agents[name] = counts
        counts.add(len(trajectory.steps))

    def range_of(self, agent: str | None) -> StepRange | None:
        """Return what is usual for ``agent``, or None before 30 runs."""
        counts = self._agents.get(agent or "")
        if counts is None or counts.total < LEAST_RUNS:
            return None
        lower, upper = counts.quantile(0.25), counts.quantile(0.75)
        fence = upper + 1.5 * max(1, upper - lower)
        return StepRange(
            median=counts.quantile(0.5),
            low=counts.quantile(1 - _OUTER),
            high=max(counts.quantile(_OUTER), int(fence)),
            runs=counts.total,
        )

    def finding(self, trajectory: Trajectory) -> Finding | None:
        """Return ``many_steps`` where the run took more than is usual for its agent, else None."""
        usual = self.range_of(trajectory.agent)
        taken = len(trajectory.steps)
        if usual is None or taken <= usual.high:
            return None
        who = shortened(trajectory.agent or "the agent", 80)
        message = (
            f"{taken} steps; {who} usually takes {usual.low} to {usual.high} (median {usual.median}, "
            f"{usual.runs:.0f} runs)"
        )
        return Finding(kind="many_steps", message=clean(message))
