"""A plain callable as a place where scores go: ``score_exporters=[print]``."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias, cast

from agentpath_sdk._guard import guard
from agentpath_sdk.errors import ConfigurationError
from agentpath_sdk.online.record import ExportResult, ScoreExporter, ScoreRecord

__all__ = ["ScoreSink", "as_exporters"]

ScoreSink: TypeAlias = "ScoreExporter | Callable[[ScoreRecord], object]"
"""What ``score_exporters`` takes: an exporter, or a callable that is given each record."""


class _CallableExporter:
    """Hands each record to a callable; a call that raises is counted and never repeated."""

    def __init__(self, call: Callable[[ScoreRecord], object]) -> None:
        self._call = call

    def export(self, records: tuple[ScoreRecord, ...]) -> ExportResult:
        """Call once per record, in order."""
        for record in records:
            # A second try would repeat the side effects of a call that got half-way.
            with guard("score_exporter.callable"):
                self._call(record)
        return ExportResult(exported=len(records))

    def flush(self, timeout: float) -> bool:
        """Return True: nothing is kept back."""
        return True

    def shutdown(self, timeout: float) -> None:
        """Do nothing: there is nothing to release."""


def as_exporters(sinks: Iterable[ScoreSink]) -> list[ScoreExporter]:
    """Return each of ``sinks`` as an exporter.

    Raises:
        ConfigurationError: it is no list, or one of it is neither an exporter nor callable.
    """
    if isinstance(sinks, str) or not isinstance(sinks, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance] - people pass anything
        raise ConfigurationError(
            f"score_exporters: found {type(sinks).__name__}; give a list, e.g. [JsonlScoreExporter(path)] or [print]"
        )
    return [_as_exporter(sink) for sink in sinks]


def _as_exporter(sink: ScoreSink) -> ScoreExporter:
    if isinstance(sink, type):
        raise ConfigurationError(f"score_exporters: {sink.__name__} is a class; give an object: {sink.__name__}(...)")
    if all(hasattr(sink, name) for name in ("export", "flush", "shutdown")):
        return cast("ScoreExporter", sink)
    if callable(sink) and not hasattr(sink, "export"):
        return _CallableExporter(sink)
    raise ConfigurationError(
        f"score_exporters: {sink!r} is neither a score exporter (export, flush, shutdown) nor a callable; "
        "give e.g. JsonlScoreExporter(path) or print"
    )
