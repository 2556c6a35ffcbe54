"""Hand-made clocks, records and exporters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from agentpath_sdk.online.record import ExportResult, ScoreRecord, record_id
from agentpath_sdk.scoring.score import Alignment, Finding, PathScore

TRACE = "0af7651916cd43dd8448eb211c80319c"
SPAN = "b7ad6b7169203331"


def path_score(value: float | None = 0.75, **given: Any) -> PathScore:
    """Return a score with a finding and a first divergence."""
    standard: dict[str, Any] = {
        "value": value,
        "name": "composite",
        "label": "bad_path" if value is not None else "not_evaluated",
        "metrics": {} if value is None else {"tool_accuracy": 0.75, "composite": value},
        "findings": (Finding(kind="extra_step", message="step 2: retrieval is extra", step=1, tool="retrieval"),),
        "alignment": Alignment(first_divergence="step 2: retrieval is extra"),
        "not_evaluated": None if value is not None else "no gold path",
        "gold_path_id": "mars",
        "gold_path_version": "3",
    }
    return PathScore(**(standard | given))


def score_record(span_id: str = SPAN, *, value: float | None = 0.75, **given: Any) -> ScoreRecord:
    """Return a record of a complete run, revision 1."""
    standard: dict[str, Any] = {
        "id": record_id(TRACE, span_id),
        "trace_id": TRACE,
        "span_id": span_id,
        "score": path_score(value),
        "agent": "planner",
        "conversation_id": "t1",
        "gold_path_match": "text",
        "gold_path_confidence": 1.0,
        "stop_reason": "finished",
        "steps": 4,
        "scored_unix_nano": 1_700_000_000_000_000_000,
        "root_start_unix_nano": 1_600_000_000_000_000_000,
        "root_end_unix_nano": 1_600_000_001_000_000_000,
    }
    return ScoreRecord(**(standard | given))


@dataclass
class RecordingExporter:
    """Keeps what it is given; ``answer`` decides what becomes of a batch."""

    answer: Callable[[tuple[ScoreRecord, ...]], ExportResult] = lambda records: ExportResult(exported=len(records))
    batches: list[tuple[ScoreRecord, ...]] = field(default_factory=list)
    closed: bool = False

    @property
    def records(self) -> list[ScoreRecord]:
        return [record for batch in self.batches for record in batch]

    def export(self, records: tuple[ScoreRecord, ...]) -> ExportResult:
        result = self.answer(records)
        taken = {record.id for record in result.retry}
        if kept := tuple(record for record in records if record.id not in taken):
            self.batches.append(kept)
        return result

    def flush(self, timeout: float) -> bool:
        return True

    def shutdown(self, timeout: float) -> None:
        self.closed = True
