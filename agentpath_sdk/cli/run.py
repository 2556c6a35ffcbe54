"""ScoredRun: what the tables, the step diff and the JSON lines of the command are made from."""

from __future__ import annotations

from dataclasses import dataclass

from agentpath_sdk.gold.model import GoldPath
from agentpath_sdk.scoring.score import PathScore
from agentpath_sdk.trajectories.model import Trajectory

__all__ = ["ScoredRun"]


@dataclass(frozen=True, kw_only=True, slots=True)
class ScoredRun:
    """One trajectory, the gold path found for it, and the verdict."""

    trajectory: Trajectory
    score: PathScore
    gold_path: GoldPath | None = None
    gold_match: str | None = None
    """How the gold path was found: id, text, fuzzy, agent, record; None = none was found."""
    file: str = ""
