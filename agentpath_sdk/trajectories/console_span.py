"""Spans as the SDK's ``span.to_json()`` writes them (``ConsoleSpanExporter``)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from agentpath_sdk.trajectories.span_record import SpanEvent, SpanKind, SpanLink, SpanRecord, SpanStatus

__all__ = ["from_console_json", "is_console_json"]

_STATUS_CODES: Final[Mapping[str, SpanStatus]] = {"OK": "ok", "ERROR": "error"}
_NOTHING: Final[Mapping[str, Any]] = {}
_KINDS: Final[Mapping[str, SpanKind]] = {
    "SpanKind.SERVER": "server",
    "SpanKind.CLIENT": "client",
    "SpanKind.PRODUCER": "producer",
    "SpanKind.CONSUMER": "consumer",
}


def is_console_json(document: Mapping[str, Any]) -> bool:
    """Return whether ``document`` is a span as the SDK's ``span.to_json()`` writes it."""
    context = document.get("context")
    return isinstance(context, dict) and "trace_id" in context and "span_id" in context


def from_console_json(document: Mapping[str, Any]) -> SpanRecord:
    """Return the span of one object written by ``span.to_json()`` (``ConsoleSpanExporter``).

    Raises:
        ValueError: it is no such object.
    """
    try:
        return _console_span(document)
    except (TypeError, AttributeError, KeyError, ValueError) as error:
        raise ValueError(f"no span as the console exporter writes it: {type(error).__name__} {error}") from None


def _console_span(document: Mapping[str, Any]) -> SpanRecord:
    status: Mapping[str, Any] = document.get("status") or {}
    resource: Mapping[str, Any] = document.get("resource") or {}
    parent = document.get("parent_id")
    return SpanRecord(
        trace_id=_console_id(document["context"]["trace_id"], 32),
        span_id=_console_id(document["context"]["span_id"], 16),
        name=str(document.get("name") or ""),
        parent_span_id=None if not parent else _console_id(parent, 16),
        start_unix_nano=_iso_nanos(document.get("start_time")) or 0,
        end_unix_nano=_iso_nanos(document.get("end_time")) or 0,
        attributes=dict(document.get("attributes") or _NOTHING),
        events=tuple(
            SpanEvent(
                name=str(event.get("name") or ""),
                attributes=dict(event.get("attributes") or _NOTHING),
                time_unix_nano=_iso_nanos(event.get("timestamp")),
            )
            for event in document.get("events") or ()
        ),
        links=tuple(
            SpanLink(
                trace_id=_console_id(link["context"]["trace_id"], 32),
                span_id=_console_id(link["context"]["span_id"], 16),
                attributes=dict(link.get("attributes") or _NOTHING),
            )
            for link in document.get("links") or ()
        ),
        status=_STATUS_CODES.get(status.get("status_code") or "", "unset"),
        status_message=status.get("description"),
        resource=dict(resource.get("attributes") or _NOTHING),
        kind=_KINDS.get(document.get("kind") or "", "internal"),
    )


def _console_id(value: Any, digits: int) -> str:
    text = str(value).removeprefix("0x").lower().rjust(digits, "0")
    int(text, 16)
    return text


def _iso_nanos(text: str | None) -> int | None:
    """Return an ISO time of microsecond grain as nanoseconds, exactly (a float would lose the last digits)."""
    if not text:
        return None
    moment = datetime.fromisoformat(text)
    span = moment.replace(tzinfo=moment.tzinfo or UTC) - datetime(1970, 1, 1, tzinfo=UTC)
    return ((span.days * 86_400 + span.seconds) * 1_000_000 + span.microseconds) * 1_000
