"""Score records, one JSON object a line."""

from __future__ import annotations

import os

from agentpath_jsonl.lines import LineFile
from agentpath_sdk import redaction
from agentpath_sdk._encode import json_line
from agentpath_sdk._guard import HEALTH
from agentpath_sdk.online.record import ExportResult, ScoreRecord, record_to_json

__all__ = ["JsonlScoreExporter"]


class JsonlScoreExporter:
    """Appends each record to ``path``, with the fields of ``agentpath score --json`` and the run's own.

    A later revision of a record is a further line with the same ``id``: readers take the highest
    ``revision``. A full disk is counted (``fault.jsonl.scores``) and the records wait to be tried again.

    Raises:
        ConfigurationError: the file cannot be written.
    """

    def __init__(
        self, path: str | os.PathLike[str], *, max_bytes: int | None = None, keep: int = 3, fsync: bool = False
    ) -> None:
        self._file = LineFile(path, max_bytes=max_bytes, keep=keep, fsync=fsync)

    def export(self, records: tuple[ScoreRecord, ...]) -> ExportResult:
        """Append ``records``, all or none."""
        lines = [line for record in records if (line := _line(record)) is not None]
        try:
            self._file.append(lines)
        except OSError as error:
            HEALTH.fault("jsonl.scores", error)
            return ExportResult(retry=records)
        return ExportResult(exported=len(lines))

    def flush(self, timeout: float) -> bool:
        """Return True: a record is written before ``export`` returns."""
        return True

    def shutdown(self, timeout: float) -> None:
        """Do nothing: no file stays open."""


def _line(record: ScoreRecord) -> bytes | None:
    """Return the record's line; None when it cannot be made clean, for then it must not leave."""
    try:
        plain = record_to_json(record)
        line = json_line(plain)
        if not redaction.suspicious(line.decode()):
            return line
        clean = redaction.redact(plain)
        if clean != redaction.FAILED:
            return json_line(clean)
        HEALTH.count("jsonl.scores.not_cleaned")
    except Exception as error:
        HEALTH.fault("jsonl.scores", error)
    return None
