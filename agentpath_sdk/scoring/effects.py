"""The effect score: what a run changed, and how it got there, where tool effects are declared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from agentpath_sdk.gold.model import CallStep, GoldPath
from agentpath_sdk.scoring.ways import plain_calls
from agentpath_sdk.settings import ScoringSettings
from agentpath_sdk.trajectories.model import ToolCall, Trajectory

__all__ = ["WAY_WEIGHTS", "WRITES_WEIGHT", "effect_score", "writes_only"]

WRITES_WEIGHT: Final = 0.5
"""Half from what was changed, half from the way."""
WAY_WEIGHTS: Final[Mapping[str, float]] = {"graded_recall": 0.7, "path_efficiency": 0.3}


def writes_only(trajectory: Trajectory, gold: GoldPath, settings: ScoringSettings) -> tuple[Trajectory, GoldPath]:
    """Return the run's successful calls that change something, and the gold path's; unknown effects count as writes."""
    made = tuple(call for call in trajectory.steps if call.outcome == "ok" and _counts(call, gold, settings))
    # The answer is no write: a path of writes has no terminal step on either side.
    wanted = tuple(step for step in plain_calls(gold) if _counts(step, gold, settings))
    return replace(trajectory, steps=made), replace(gold, steps=wanted, min_steps=None, answer=None)


def effect_score(writes_f1: float, graded_recall: float, trajectory: Trajectory, gold: GoldPath) -> float:
    """Return ``0.5 F1(writes) + 0.5 (0.7 graded recall + 0.3 path efficiency)``, extra reads free; in 0..1.

    Args:
        writes_f1: F1 of successful write calls, whole, one to one; 1 where none is expected and none made.
        graded_recall: of the gold path's steps, order-free.
        trajectory: the run, for the number of its calls.
        gold: a linear gold path with declared effects.
    """
    way = WAY_WEIGHTS["graded_recall"] * graded_recall + WAY_WEIGHTS["path_efficiency"] * _efficiency(trajectory, gold)
    return WRITES_WEIGHT * writes_f1 + (1.0 - WRITES_WEIGHT) * way


def _efficiency(trajectory: Trajectory, gold: GoldPath) -> float:
    """Return path efficiency with reads above the gold path's number left out."""
    reads = sum(_is_read(call.tool, gold) for call in trajectory.steps)
    gold_reads = sum(_is_read(step.tool, gold) for step in plain_calls(gold))
    counted = len(trajectory.steps) - max(0, reads - gold_reads)
    least = len(gold.steps) if gold.min_steps is None else gold.min_steps
    if not counted:
        return float(not least)
    return min(1.0, least / counted)


def _counts(call: ToolCall | CallStep, gold: GoldPath, settings: ScoringSettings) -> bool:
    return not _is_read(call.tool, gold) and call.tool not in settings.terminal_tools


def _is_read(tool: str, gold: GoldPath) -> bool:
    return gold.effects.get(tool) == "read"
