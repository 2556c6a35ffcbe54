"""What OpenTelemetry itself says of a span that failed, whatever vocabulary the span speaks: the last to be asked."""

from __future__ import annotations

from typing import Final

from agentpath_sdk import semconv
from agentpath_sdk.trajectories.dialects.dialect import Dialect, Role
from agentpath_sdk.trajectories.span_record import SpanEvent, SpanRecord

__all__ = ["OTEL"]

_UNKNOWN: Final = "_OTHER"


def _role(_span: SpanRecord) -> Role:
    return "unsaid"


def _exception(span: SpanRecord) -> SpanEvent | None:
    """Return the last ``exception`` event of a failed span: the one that left it."""
    if span.status != "error":
        return None
    return next((event for event in reversed(span.events) if event.name == "exception"), None)


def _error_type(span: SpanRecord) -> str | None:
    said = span.attributes.get(semconv.ERROR_TYPE)
    event = _exception(span)
    found = event.attributes.get("exception.type") if event is not None else None
    # With its module, where that is told: a user's class may have the name of a framework's.
    if found and (said is None or said == _UNKNOWN or str(found).endswith(f".{said}")):
        return str(found)
    return None if said is None else str(said)


def _error_message(span: SpanRecord) -> str | None:
    event = _exception(span)
    found = event.attributes.get("exception.message") if event is not None else None
    return str(found) if found else span.status_message


OTEL: Final = Dialect(name="otel", role=_role, error_type=_error_type, error_message=_error_message)
