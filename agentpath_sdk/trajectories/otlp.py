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
_SNAKE: Final = re.compile(r"_([a-z])")
_NOTHING: Final[Mapping[str, Any]] = {}
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
    if "resource_spans" in document:
        document = _in_camel_case(document)
    for r, resource_spans in enumerate(_objects(document, "resourceSpans")):
        resource = _attributes(_object(resource_spans, "resource"))
        scopes = "scopeSpans" if "scopeSpans" in resource_spans else "instrumentationLibrarySpans"
        for s, scope_spans in enumerate(_objects(resource_spans, scopes)):
            scope = _object(scope_spans, "scope") or _object(scope_spans, "instrumentationLibrary")
            name, version = _text(scope.get("name")), _text(scope.get("version"))
            for n, span in enumerate(_objects(scope_spans, "spans")):
                try:
                    record = _span(span, resource, name, version)
                except (ValueError, TypeError) as error:
                    place = f"resourceSpans[{r}].{scopes}[{s}].spans[{n}]"
                    raise ValueError(f"{place} is no OTLP span: {error}") from None
                yield record


def _in_camel_case(value: Any) -> Any:
    # Keys of people's own lie in values (``{"key": ...}``), so every key here is a field of the protocol.
    if isinstance(value, dict):
        pairs = cast("dict[str, Any]", value).items()
        return {_SNAKE.sub(lambda m: m.group(1).upper(), key): _in_camel_case(item) for key, item in pairs}
    items = as_list(value)
    return value if items is None else [_in_camel_case(item) for item in items]


def _span(span: Mapping[str, Any], resource: Mapping[str, Any], scope: str | None, version: str | None) -> SpanRecord:
    get = span.get
    status = _object(span, "status")
    flags = int(get("flags") or 0)
    return SpanRecord(
        trace_id=_id(get("traceId"), 32),
        span_id=_id(get("spanId"), 16),
        name=str(get("name") or ""),
        parent_span_id=_parent_id(get("parentSpanId")),
        start_unix_nano=int(get("startTimeUnixNano") or 0),
        end_unix_nano=int(get("endTimeUnixNano") or 0),
        attributes=_attributes(span),
        events=tuple(map(_event, _objects(span, "events"))),
        links=tuple(map(_link, _objects(span, "links"))),
        status=_STATUS_CODES.get(status.get("code") or 0, "unset"),
        status_message=_text(status.get("message")),
        scope=scope,
        resource=resource,
        dropped_attributes=int(get("droppedAttributesCount") or 0),
        kind=_KINDS.get(get("kind") or 0, "internal"),
        scope_version=version,
        parent_remote=bool(flags & _HAS_REMOTE and flags & _IS_REMOTE),
    )


def _objects(holder: Mapping[str, Any], name: str) -> Sequence[Mapping[str, Any]]:
    found = holder.get(name)
    if found is None:
        return ()
    if (items := as_list(found)) is None:
        raise ValueError(f"{name!r} is {type(found).__name__}, expected a list")
    for item in items:
        if type(item) is not dict:
            raise ValueError(f"found {type(item).__name__} in {name!r}, expected an object")
    return items


def _object(holder: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = holder.get(name)
    if found is None:
        return _NOTHING
    if (value := as_object(found)) is None:
        raise ValueError(f"{name!r} is {type(found).__name__}, expected an object")
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


def _event(event: Mapping[str, Any]) -> SpanEvent:
    return SpanEvent(
        name=str(event.get("name") or ""),
        attributes=_attributes(event),
        time_unix_nano=int(event.get("timeUnixNano") or 0) or None,
    )


def _link(link: Mapping[str, Any]) -> SpanLink:
    return SpanLink(
        trace_id=_id(link.get("traceId"), 32), span_id=_id(link.get("spanId"), 16), attributes=_attributes(link)
    )


def _attributes(holder: Mapping[str, Any]) -> dict[str, Any]:
    return _pairs(_objects(holder, "attributes"), 0)


def _pairs(pairs: Iterable[Mapping[str, Any]], depth: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for pair in pairs:
        if (key := pair.get("key")) is None:
            raise ValueError("an attribute has no key")
        value = pair.get("value")
        found[str(key)] = _value(value, depth)
    return found


def _value(value: Any, depth: int) -> Any:
    """Return an OTLP ``AnyValue`` as a plain Python value; structured values become dict and list."""
    said = as_object(value)
    if not said:
        return None
    if depth > _MAX_DEPTH:
        raise ValueError(f"an attribute value is nested more than {_MAX_DEPTH} deep")
    kind, inner = next(iter(said.items()))
    match kind:
        case "stringValue" | "boolValue":
            return inner
        case "intValue":
            return int(inner)
        case "doubleValue":
            return float(inner)
        case "arrayValue":
            return [_value(item, depth + 1) for item in _objects(inner, "values")]
        case "kvlistValue":
            return _pairs(_objects(inner, "values"), depth + 1)
        case "bytesValue":
            return base64.b64decode(inner)
        case _:
            return inner


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
        kind=_KINDS.get(span.kind, "internal"),
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
