"""SpanRecord: one read view of an ended span, whatever it came from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

__all__ = ["SpanEvent", "SpanKind", "SpanLink", "SpanRecord", "SpanStatus", "from_sdk"]

SpanStatus: TypeAlias = Literal["unset", "ok", "error"]
SpanKind: TypeAlias = Literal["internal", "server", "client", "producer", "consumer"]

# By the SDK's enum values, so that its classes need no import.
_STATUSES: Final[tuple[SpanStatus, ...]] = ("unset", "ok", "error")
_KINDS: Final[tuple[SpanKind, ...]] = ("internal", "server", "client", "producer", "consumer")
_NOTHING: Final[Mapping[str, Any]] = {}


@dataclass(frozen=True, kw_only=True, slots=True)
class SpanEvent:
    """An event of a span."""

    name: str
    attributes: Mapping[str, Any] = field(default_factory=dict[str, Any])
    time_unix_nano: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class SpanLink:
    """A link to a span of this or another trace."""

    trace_id: str
    span_id: str
    attributes: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, kw_only=True, slots=True)
class SpanRecord:
    """An ended span. Ids are lower-case hex (32 and 16 digits); attribute values are plain Python values."""

    trace_id: str
    span_id: str
    name: str
    parent_span_id: str | None = None
    start_unix_nano: int = 0
    end_unix_nano: int = 0
    attributes: Mapping[str, Any] = field(default_factory=dict[str, Any])
    events: tuple[SpanEvent, ...] = ()
    links: tuple[SpanLink, ...] = ()
    status: SpanStatus = "unset"
    status_message: str | None = None
    scope: str | None = None
    resource: Mapping[str, Any] = field(default_factory=dict[str, Any])
    dropped_attributes: int = 0
    kind: SpanKind = "internal"
    scope_version: str | None = None
    parent_remote: bool = False
    """True = the parent lives in another process: it may never be seen here."""
    parent_sampled: bool | None = None
    """False = the parent exists and was left out by a sampler; None = not known."""
    attribute_limit: int | None = None
    """The provider's own limit on the length of attribute text, where the source tells it."""


def from_sdk(span: Any) -> SpanRecord:
    """Return the record of an ended ``ReadableSpan``; keeps references, copies no attribute value.

    Duck-typed: anything with the SDK's public properties will do.
    """
    context, parent, scope = span.context, span.parent, span.instrumentation_scope
    status: Any = span.status
    attributes, limit = _attributes(span)
    return SpanRecord(
        trace_id=f"{context.trace_id:032x}",
        span_id=f"{context.span_id:016x}",
        name=span.name,
        parent_span_id=None if parent is None else f"{parent.span_id:016x}",
        start_unix_nano=span.start_time or 0,
        end_unix_nano=span.end_time or 0,
        attributes=attributes,
        events=_events(span.events),
        links=_links(span.links),
        status=_STATUSES[int(status.status_code.value)],
        status_message=status.description,
        scope=None if scope is None else scope.name,
        resource=span.resource.attributes,
        dropped_attributes=span.dropped_attributes,
        kind=_KINDS[int(span.kind.value)],
        scope_version=None if scope is None else scope.version,
        parent_remote=parent is not None and parent.is_remote,
        parent_sampled=None if parent is None else bool(parent.trace_flags & 1),
        attribute_limit=limit,
    )


def _attributes(span: Any) -> tuple[Mapping[str, Any], int | None]:
    # The public property costs a locked Python call per key. An ended span's store changes no more, so a
    # reference to its dict is safe; the store is also the only place that knows the provider's length limit.
    store = getattr(span, "_attributes", None)
    values = getattr(store, "_dict", None)
    if isinstance(values, dict):
        return values, getattr(store, "max_value_len", None)  # pyright: ignore[reportUnknownVariableType] - a foreign dict
    return dict(span.attributes or _NOTHING), getattr(store, "max_value_len", None)


def _events(events: Iterable[Any]) -> tuple[SpanEvent, ...]:
    return tuple(
        SpanEvent(name=event.name, attributes=dict(event.attributes or _NOTHING), time_unix_nano=event.timestamp)
        for event in events
    )


def _links(links: Iterable[Any]) -> tuple[SpanLink, ...]:
    return tuple(
        SpanLink(
            trace_id=f"{link.context.trace_id:032x}",
            span_id=f"{link.context.span_id:016x}",
            attributes=dict(link.attributes or _NOTHING),
        )
        for link in links
    )
