"""Spans as OTLP says them: JSON (camelCase and snake_case) and protobuf."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, cast

from agentpath_sdk.errors import MissingExtraError
from agentpath_sdk.trajectories.otlp_write import to_otlp_json
from agentpath_sdk.trajectories.shapes import as_list, as_object
from agentpath_sdk.trajectories.span_record import SpanEvent, SpanKind, SpanLink, SpanRecord, SpanStatus

__all__ = ["from_otlp_json", "from_otlp_protobuf", "is_otlp_json", "to_otlp_json"]

_STATUS_CODES: Final[Mapping[Any, SpanStatus]] = {
    1: "ok", 2: "error", "1": "ok", "2": "error", "STATUS_CODE_OK": "ok", "STATUS_CODE_ERROR": "error",
    "OK": "ok", "ERROR": "error",
}  # fmt: skip
_KINDS: Final[Mapping[Any, SpanKind]] = {
    2: "server",
    3: "client",
    4: "producer",
    5: "consumer",
    "SPAN_KIND_SERVER": "server",
    "SPAN_KIND_CLIENT": "client",
    "SPAN_KIND_PRODUCER": "producer",
    "SPAN_KIND_CONSUMER": "consumer",
}
_HAS_REMOTE: Final = 0x100
_IS_REMOTE: Final = 0x200
_SCALARS: Final = ("stringValue", "boolValue", "string_value", "bool_value")
_HEX: Final = re.compile(r"[0-9a-fA-F]+")
_MAX_DEPTH: Final = 64


# --- reading JSON ---------------------------------------------------------------------------------------------------


def is_otlp_json(document: Mapping[str, Any]) -> bool:
    """Return whether ``document`` is an OTLP ``TracesData`` or export request."""
    return "resourceSpans" in document or "resource_spans" in document


def from_otlp_json(document: Mapping[str, Any]) -> Iterator[SpanRecord]:
    """Yield the spans of one OTLP/JSON object, camelCase or snake_case.

    Raises:
        ValueError: something in it is not what OTLP says; the message names the place.
    """
    for r, resource_spans in enumerate(_items(document, "resourceSpans", "resource_spans")):
        resource = _attributes(_object(resource_spans, "resource"))
        scopes = _items(resource_spans, "scopeSpans", "scope_spans", "instrumentationLibrarySpans")
        for s, scope_spans in enumerate(scopes):
            scope = _object(scope_spans, "scope", "instrumentationLibrary")
            name, version = _text(scope.get("name")), _text(scope.get("version"))
            for n, span in enumerate(_items(scope_spans, "spans")):
                try:
                    record = _span(span, resource, name, version)
                except (ValueError, TypeError) as error:
                    place = f"resourceSpans[{r}].scopeSpans[{s}].spans[{n}]"
                    raise ValueError(f"{place} is no OTLP span: {error}") from None
                yield record


def _span(span: Mapping[str, Any], resource: Mapping[str, Any], scope: str | None, version: str | None) -> SpanRecord:
    status = _object(span, "status")
    flags = int(_get(span, "flags") or 0)
    return SpanRecord(
        trace_id=_id(_get(span, "traceId", "trace_id"), 32),
        span_id=_id(_get(span, "spanId", "span_id"), 16),
        name=str(_get(span, "name") or ""),
        parent_span_id=_parent_id(_get(span, "parentSpanId", "parent_span_id")),
        start_unix_nano=int(_get(span, "startTimeUnixNano", "start_time_unix_nano") or 0),
        end_unix_nano=int(_get(span, "endTimeUnixNano", "end_time_unix_nano") or 0),
        attributes=_attributes(span),
        events=tuple(_event(event) for event in _items(span, "events")),
        links=tuple(_link(link) for link in _items(span, "links")),
        status=_STATUS_CODES.get(status.get("code") or 0, "unset"),
        status_message=_text(status.get("message")),
        scope=scope,
        resource=resource,
        dropped_attributes=int(_get(span, "droppedAttributesCount", "dropped_attributes_count") or 0),
        kind=_kind(_get(span, "kind")),
        scope_version=version,
        parent_remote=bool(flags & _HAS_REMOTE and flags & _IS_REMOTE),
    )


def _get(mapping: Any, *names: str) -> Any:
    if not isinstance(mapping, dict):
        raise ValueError(f"found {type(mapping).__name__}, expected an object")
    known = cast("dict[str, Any]", mapping)
    for name in names:
        if name in known:
            return known[name]
    return None


def _items(mapping: Any, *names: str) -> Sequence[Any]:
    found = _get(mapping, *names)
    if found is None:
        return ()
    if (items := as_list(found)) is None:
        raise ValueError(f"{names[0]!r} is {type(found).__name__}, expected a list")
    return items


def _object(mapping: Any, *names: str) -> Mapping[str, Any]:
    found = _get(mapping, *names)
    if found is None:
        return {}
    if (value := as_object(found)) is None:
        raise ValueError(f"{names[0]!r} is {type(found).__name__}, expected an object")
    return value


def _text(value: Any) -> str | None:
    return str(value) if value else None


def _id(value: Any, digits: int) -> str:
    """Return ``value`` as lower-case hex; protobuf's own JSON printer writes ids in base64 instead."""
    text = value if isinstance(value, str) else ""
    if len(text) != digits:
        text = _from_base64(text)
    if len(text) != digits or not _HEX.fullmatch(text):
        raise ValueError(f"id {str(value)[:40]!r} is not {digits} hex digits")
    return text.lower()


def _from_base64(text: str) -> str:
    try:
        return base64.b64decode(text, validate=True).hex()
    except ValueError:
        return ""


def _parent_id(value: Any) -> str | None:
    if not value or value == "0000000000000000":
        return None
    return _id(value, 16)


def _kind(value: Any) -> SpanKind:
    return _KINDS.get(value or 0, "internal")


def _event(event: Any) -> SpanEvent:
    time = _get(event, "timeUnixNano", "time_unix_nano")
    return SpanEvent(
        name=str(_get(event, "name") or ""),
        attributes=_attributes(event),
        time_unix_nano=int(time or 0) or None,
    )


def _link(link: Any) -> SpanLink:
    return SpanLink(
        trace_id=_id(_get(link, "traceId", "trace_id"), 32),
        span_id=_id(_get(link, "spanId", "span_id"), 16),
        attributes=_attributes(link),
    )


def _attributes(holder: Any) -> dict[str, Any]:
    return _pairs(_items(holder, "attributes"), 0)


def _pairs(pairs: Iterable[Any], depth: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for pair in pairs:
        key = _get(pair, "key")
        if key is None:
            raise ValueError("an attribute has no key")
        found[str(key)] = _value(pair.get("value"), depth)
    return found


def _value(value: Any, depth: int) -> Any:
    """Return an OTLP ``AnyValue`` as a plain Python value; structured values become dict and list."""
    if value is None:
        return None
    for name in _SCALARS:
        if name in value:
            return value[name]
    if (number := _get(value, "intValue", "int_value")) is not None:
        return int(number)
    if (number := _get(value, "doubleValue", "double_value")) is not None:
        return float(number)
    if depth > _MAX_DEPTH:
        raise ValueError(f"an attribute value is nested more than {_MAX_DEPTH} deep")
    if (array := _get(value, "arrayValue", "array_value")) is not None:
        return [_value(item, depth + 1) for item in _items(array, "values")]
    if (pairs := _get(value, "kvlistValue", "kvlist_value")) is not None:
        return _pairs(_items(pairs, "values"), depth + 1)
    data = _get(value, "bytesValue", "bytes_value")
    return None if data is None else base64.b64decode(data)


# --- reading protobuf -----------------------------------------------------------------------------------------------


def from_otlp_protobuf(data: bytes) -> Iterator[SpanRecord]:
    """Yield the spans of a serialised ``TracesData`` or ``ExportTraceServiceRequest`` (same wire format).

    Raises:
        MissingExtraError: ``opentelemetry-proto`` is not installed (extra ``otlp``).
        ValueError: ``data`` is not such a message.
    """
    try:
        from google.protobuf.message import DecodeError  # type: ignore[import-untyped]  # no stubs among our tools
        from opentelemetry.proto.trace.v1.trace_pb2 import TracesData
    except ImportError:
        raise MissingExtraError("opentelemetry-proto", "otlp") from None
    try:
        message: Any = TracesData.FromString(data)
    except DecodeError as error:
        raise ValueError(f"not an OTLP protobuf message: {error}") from None
    for resource_spans in message.resource_spans:
        resource = _proto_attributes(resource_spans.resource.attributes)
        for scope_spans in resource_spans.scope_spans:
            scope = scope_spans.scope
            for span in scope_spans.spans:
                yield _proto_span(span, resource, scope.name or None, scope.version or None)


def _proto_span(span: Any, resource: Mapping[str, Any], scope: str | None, version: str | None) -> SpanRecord:
    if len(span.trace_id) != 16 or len(span.span_id) != 8:
        raise ValueError(
            f"span {span.name!r} has ids of {len(span.trace_id)} and {len(span.span_id)} bytes, not 16 and 8"
        )
    return SpanRecord(
        trace_id=span.trace_id.hex(),
        span_id=span.span_id.hex(),
        name=span.name,
        parent_span_id=span.parent_span_id.hex() if any(span.parent_span_id) else None,
        start_unix_nano=span.start_time_unix_nano,
        end_unix_nano=span.end_time_unix_nano,
        attributes=_proto_attributes(span.attributes),
        events=tuple(
            SpanEvent(name=e.name, attributes=_proto_attributes(e.attributes), time_unix_nano=e.time_unix_nano or None)
            for e in span.events
        ),
        links=tuple(
            SpanLink(trace_id=k.trace_id.hex(), span_id=k.span_id.hex(), attributes=_proto_attributes(k.attributes))
            for k in span.links
        ),
        status=_STATUS_CODES.get(span.status.code, "unset"),
        status_message=span.status.message or None,
        scope=scope,
        resource=resource,
        dropped_attributes=span.dropped_attributes_count,
        kind=_kind(span.kind),
        scope_version=version,
        parent_remote=bool(span.flags & _HAS_REMOTE and span.flags & _IS_REMOTE),
    )


def _proto_attributes(pairs: Iterable[Any]) -> dict[str, Any]:
    return {pair.key: _proto_value(pair.value) for pair in pairs}


def _proto_value(value: Any) -> Any:
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [_proto_value(item) for item in value.array_value.values]
    if kind == "kvlist_value":
        return _proto_attributes(value.kvlist_value.values)
    return None if kind is None else getattr(value, kind)
