"""ScoreRecord: what every sink of scores receives."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from agentpath_sdk.scoring.score import PathScore
from agentpath_sdk.trajectories.model import Completeness, GoalWord, StopReason

__all__ = ["ExportResult", "ScoreExporter", "ScoreRecord", "record_id", "record_to_json", "replaces"]

_COMPLETENESS_RANK: Final = {"known_incomplete": 0, "presumed_incomplete": 1, "complete": 2}
_SCORER: Final = "agentpath"


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
    error_type: str | None = None
    """Type of the exception, when scoring itself failed and the score is therefore not evaluated."""

    def __str__(self) -> str:
        """Return one line for people: agent, score, label, and what went wrong first."""
        score = self.score
        value = f"not evaluated: {score.not_evaluated}" if score.value is None else f"{score.name} {score.value:.3f}"
        first = score.alignment.first_divergence
        label = "" if score.value is None else f" {score.label}"
        return f"{self.agent or 'run'}: {value}{label}" + (f" ({first})" if first else "")


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


def record_id(trace_id: str, span_id: str) -> str:
    """Return the record's id: 32 hex digits, equal in every process and for every revision."""
    return hashlib.blake2b(f"{trace_id}:{span_id}:{_SCORER}".encode(), digest_size=16).hexdigest()


def replaces(new: ScoreRecord, old: ScoreRecord) -> bool:
    """Return whether ``new`` may take the place of ``old``: never a less complete one, else the later revision."""
    new_rank, old_rank = _COMPLETENESS_RANK[new.completeness], _COMPLETENESS_RANK[old.completeness]
    return new_rank >= old_rank and new.revision >= old.revision


def record_to_json(record: ScoreRecord) -> dict[str, Any]:
    """Return the record as one JSON object: the score's own fields, with the run's around them."""
    return {
        "id": record.id,
        "trace_id": record.trace_id,
        "span_id": record.span_id,
        "agent": record.agent,
        "conversation_id": record.conversation_id,
        **record.score.to_json(),
        "gold_path_match": record.gold_path_match,
        "gold_path_confidence": record.gold_path_confidence,
        "completeness": record.completeness,
        "incomplete_reasons": list(record.incomplete_reasons),
        "stop_reason": record.stop_reason,
        "outcome": _goal_json(record.goal),
        "steps": record.steps,
        "revision": record.revision,
        "late": record.late,
        "scored_unix_nano": record.scored_unix_nano,
        "root_start_unix_nano": record.root_start_unix_nano,
        "root_end_unix_nano": record.root_end_unix_nano,
        "step_span_ids": list(record.step_span_ids),
        "error_type": record.error_type,
    }


def _goal_json(goal: GoalWord | None) -> dict[str, Any] | None:
    return None if goal is None else {"success": goal.success, "reason": goal.reason, "source": goal.source}
