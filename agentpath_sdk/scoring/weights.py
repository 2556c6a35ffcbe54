"""The composite's weights: checked, and scaled to the parts that apply."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, TypeAlias

from agentpath_sdk.gold.model import GoldPath
from agentpath_sdk.scoring.score import METRICS
from agentpath_sdk.settings import ScoringSettings

__all__ = ["Part", "Weights", "weights_for"]

Part: TypeAlias = tuple[str, float]
"""Metric and its share of the composite."""

_PART_NAMES: Final = frozenset(METRICS) - {"composite"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Weights:
    """The parts of a composite, shares summing to 1."""

    parts: tuple[Part, ...] = ()
    without_goal: tuple[Part, ...] | None = None
    """The same without the goal, for runs of which nobody can tell whether it was reached; None = no difference."""
    problem: str | None = None
    """Why there can be no composite, else None."""


def weights_for(gold: GoldPath, settings: ScoringSettings) -> Weights:
    """Return the weights that apply to ``gold``, its own or the settings', or what is wrong with them."""
    given = settings.weights if gold.weights is None else gold.weights
    for name, weight in given.items():
        if name not in _PART_NAMES:
            return Weights(problem=f"the weights name an unknown metric {name!r}")
        if not (math.isfinite(weight) and weight >= 0):
            return Weights(problem=f"the weight of {name} is {weight!r}, not a number of 0 or more")
    # Without an expected answer there is nothing that these could measure.
    absent = {"answer_exact", "answer_f1"} if gold.answer is None else set[str]()
    parts = _scaled([(name, float(weight)) for name, weight in given.items() if weight > 0 and name not in absent])
    if not parts:
        return Weights(problem="no weight applies")
    # Without one, only the application can tell whether the goal was reached.
    told_by_app = gold.answer is None and any(name == "goal_success" for name, _ in parts)
    rest = _scaled([part for part in parts if part[0] != "goal_success"]) if told_by_app else None
    return Weights(parts=parts, without_goal=rest)


def _scaled(parts: list[Part]) -> tuple[Part, ...]:
    largest = max((weight for _, weight in parts), default=0.0)
    # By the largest first, so that the sum of huge weights is no infinity.
    total = sum(weight / largest for _, weight in parts)
    return tuple((name, weight / largest / total) for name, weight in parts)
