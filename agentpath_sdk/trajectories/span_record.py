"""SpanRecord: one read view of an ended span, whatever it came from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

__all__ = ["SpanEvent", "SpanLink", "SpanRecord", "SpanStatus"]

SpanStatus: TypeAlias = Literal["unset", "ok", "error"]


@dataclass(frozen=True, kw_only=True, slots=True)
class SpanEvent:
    """An event of a span."""

    name: str
    attributes: Mapping[str, Any] = field(default_factory=dict)
    time_unix_nano: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class SpanLink:
    """A link to a span of this or another trace."""

    trace_id: str
    span_id: str
    attributes: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class SpanRecord:
    """An ended span. Ids are lower-case hex (32 and 16 digits); attribute values are plain Python values."""

    trace_id: str
    span_id: str
    name: str
    parent_span_id: str | None = None
    start_unix_nano: int = 0
    end_unix_nano: int = 0
    attributes: Mapping[str, Any] = field(default_factory=dict)
    events: tuple[SpanEvent, ...] = ()
    links: tuple[SpanLink, ...] = ()
    status: SpanStatus = "unset"
    status_message: str | None = None
    scope: str | None = None
    resource: Mapping[str, Any] = field(default_factory=dict)
    dropped_attributes: int = 0
