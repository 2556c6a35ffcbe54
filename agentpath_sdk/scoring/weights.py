"""The weights of composite and effect_score: checked, and scaled to the parts that apply."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from agentpath_sdk.gold.model import GoldPath
from agentpath_sdk.scoring.score import METRICS
from agentpath_sdk.settings import ScoringSettings

__all__ = ["NO_EFFECTS", "Part", "Weights", "effect_weights_for", "weights_for"]

Part: TypeAlias = tuple[str, float]
"""Metric and its share of the score."""

NO_EFFECTS: Final = "the gold path says of no tool whether it writes"

_PART_NAMES: Final = frozenset(METRICS) - {"composite", "effect_score", "rules_passed"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Weights:
    """The parts of a score, shares summing to 1."""

    parts: tuple[Part, ...] = ()
    without_goal: tuple[Part, ...] | None = None
    """The same without the goal, for runs of which nobody can tell whether it was reached; None = no difference."""
    problem: str | None = None
    """Why there can be no such score, else None."""


def weights_for(gold: GoldPath, settings: ScoringSettings) -> Weights:
    """Return the composite's weights that apply to ``gold``, its own or the settings', or what is wrong with them."""
    return _checked(gold, settings.weights if gold.weights is None else gold.weights)


def effect_weights_for(gold: GoldPath, settings: ScoringSettings) -> Weights:
    """Return the same for ``effect_score``; a problem where ``gold`` does not say what any tool does."""
    return _checked(gold, settings.effect_weights) if gold.effects else Weights(problem=NO_EFFECTS)


def _checked(gold: GoldPath, given: Mapping[str, float]) -> Weights:
    for name, weight in given.items():
        if name not in _PART_NAMES:
            return Weights(problem=f"the weights name an unknown metric {name!r}")
        if not (math.isfinite(weight) and weight >= 0):
            return Weights(problem=f"the weight of {name} is {weight!r}, not a number of 0 or more")
    absent = _absent(gold)
    parts = _scaled([(name, float(weight)) for name, weight in given.items() if weight > 0 and name not in absent])
    if not parts:
        return Weights(problem="no weight applies")
    # Without one, only the application can tell whether the goal was reached.
    told_by_app = gold.answer is None and any(name == "goal_success" for name, _ in parts)
    rest = _scaled([part for part in parts if part[0] != "goal_success"]) if told_by_app else None
    return Weights(parts=parts, without_goal=rest)


def _absent(gold: GoldPath) -> set[str]:
    """Return the metrics for which there is nothing to be measured: no expected answer, no known effects."""
    absent = set[str]() if gold.effects else {"write_f1", "way_efficiency"}
    return absent if gold.answer is not None else absent | {"answer_exact", "answer_f1"}


def _scaled(parts: list[Part]) -> tuple[Part, ...]:
    largest = max((weight for _, weight in parts), default=0.0)
    # By the largest first, so that the sum of huge weights is no infinity.
    total = sum(weight / largest for _, weight in parts)
    return tuple((name, weight / largest / total) for name, weight in parts)
