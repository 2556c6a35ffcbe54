"""Which metrics may be weighted in which score."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from agentpath_sdk.settings import ScoringSettings

__all__ = ["parts_of"]

_PATH_METRICS: Final = (
    "tool_accuracy",
    "argument_accuracy",
    "argument_similarity",
    "step_order_accuracy",
    "path_efficiency",
    "precision",
    "recall",
    "f1",
    "graded_recall",
)


def parts_of(name: str, settings: ScoringSettings) -> tuple[Mapping[str, float], tuple[str, ...]]:
    """Return the default weights of the score ``name``, and the metrics that calibration may weight in it.

    Whether the goal was reached is what is to be told, so that neither it nor the answer is among them.
    """
    given: Mapping[str, float] = getattr(settings, "effect_weights", {}) if name == "effect_score" else settings.weights
    candidates = tuple(given) if name == "effect_score" else _PATH_METRICS
    return {metric: weight for metric, weight in given.items() if metric in candidates}, candidates
