"""ScoredRun: what the tables, the step diff and the JSON lines of the command are made from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

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
    """How the gold path was found: id, text, fuzzy, agent, or record = the record's own; None = none was found."""
    gold_confidence: float | None = None
    gold_reason: str | None = None
    """Why no gold path was found."""
    file: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the line of `agentpath score --json`."""
        line = self.score.to_json()
        line |= {
            "gold_path_match": self.gold_match,
            "gold_path_confidence": self.gold_confidence,
            "trace_id": self.trajectory.trace_id,
            "span_id": self.trajectory.span_id,
            "agent": self.trajectory.agent,
            "query": self.trajectory.query,
            "steps": len(self.trajectory.steps),
            "file": self.file,
        }
        more = {"id": self.trajectory.attributes.get("record.id"), "gold_path_reason": self.gold_reason}
        return line | {key: value for key, value in more.items() if value is not None}
