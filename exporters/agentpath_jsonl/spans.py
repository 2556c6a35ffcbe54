"""Ended spans as OTLP/JSON, one export a line."""

from __future__ import annotations

import os
from collections.abc import Sequence

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from agentpath_jsonl.lines import LineFile
from agentpath_sdk._encode import json_line
from agentpath_sdk._guard import HEALTH
from agentpath_sdk.online.cleaning import clean_span
from agentpath_sdk.trajectories.otlp import to_otlp_json
from agentpath_sdk.trajectories.span_record import from_sdk

__all__ = ["JsonlSpanExporter"]


class JsonlSpanExporter(SpanExporter):
    """Appends each batch of spans to ``path`` as one ``{"resourceSpans": [...]}`` line, without secrets.

    ``agentpath read`` and ``agentpath score`` read the file, and so does everything that reads OTLP/JSON
    (the Collector's file receiver). A full disk is counted as ``fault.jsonl.spans``.

    Raises:
        ConfigurationError: the file cannot be written.
    """

    def __init__(
        self, path: str | os.PathLike[str], *, max_bytes: int | None = None, keep: int = 3, fsync: bool = False
    ) -> None:
        self._file = LineFile(path, max_bytes=max_bytes, keep=keep, fsync=fsync)

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Append ``spans``, all or none."""
        try:
            records = [clean_span(from_sdk(span)) for span in spans]
            self._file.append([json_line(to_otlp_json(records))] if records else [])
        except Exception as error:
            HEALTH.fault("jsonl.spans", error)
            return SpanExportResult.FAILURE
        return SpanExportResult.SUCCESS

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Return True: spans are written before ``export`` returns."""
        return True

    def shutdown(self) -> None:
        """Do nothing: no file stays open."""
