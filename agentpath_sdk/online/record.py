"""ScoreRecord: what every sink of scores receives."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from agentpath_sdk.scoring.score import PathScore
from agentpath_sdk.trajectories.model import Completeness, GoalWord, StopReason

__all__ = ["ExportResult", "ScoreExporter", "ScoreRecord"]


@dataclass(frozen=True, kw_only=True, slots=True)
class ScoreRecord:
    """One scored run. A later revision of the same ``id`` replaces an earlier one unless it is less complete."""

    id: str
    """hash(trace id, agent span id, scorer): the same for every revision."""
    trace_id: str
    span_id: str
    score: PathScore
    agent: str | None = None
    conversation_id: str | None = None
    gold_path_match: str | None = None
    """id, text, template, fuzzy, semantic, or None when no gold path was found."""
    gold_path_confidence: float | None = None
    completeness: Completeness = "complete"
    incomplete_reasons: tuple[str, ...] = ()
    stop_reason: StopReason = "unknown"
    goal: GoalWord | None = None
    steps: int = 0
    revision: int = 1
    late: bool = False
    scored_unix_nano: int = 0
    root_start_unix_nano: int | None = None
    root_end_unix_nano: int | None = None
    step_span_ids: tuple[str | None, ...] = field(default=())
    """Span id per executed step, so that per-step findings can be put on the step's own span."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ExportResult:
    """What a score exporter did with a batch; ``retry`` are records worth another try."""

    exported: int = 0
    retry: tuple[ScoreRecord, ...] = ()
    retry_after_seconds: float | None = None


class ScoreExporter(Protocol):
    """A place where scores go. Called from one worker thread; may raise (counted, retried as a failure)."""

    def export(self, records: tuple[ScoreRecord, ...]) -> ExportResult:
        """Send ``records``."""
        ...

    def flush(self, timeout: float) -> bool:
        """Return whether everything handed over so far was sent within ``timeout`` seconds."""
        ...

    def shutdown(self, timeout: float) -> None:
        """Release all resources within ``timeout`` seconds."""
        ...
