"""Span records as OTLP/JSON."""

from __future__ import annotations

import base64
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from agentpath_sdk.trajectories.span_record import SpanKind, SpanRecord

__all__ = ["to_otlp_json"]

_KINDS: Final[tuple[SpanKind, ...]] = ("internal", "server", "client", "producer", "consumer")
_HAS_REMOTE: Final = 0x100
_IS_REMOTE: Final = 0x200


def to_otlp_json(records: Iterable[SpanRecord]) -> dict[str, Any]:
    """Return ``records`` as one OTLP/JSON object (camelCase, hex ids, 64-bit numbers as text), grouped by
    resource and scope in order of appearance; ``from_otlp_json`` gives the same records back."""
    resources: dict[str, dict[str, Any]] = {}
    for record in records:
        resource = resources.setdefault(
            repr(sorted(record.resource.items(), key=lambda pair: pair[0])),
            {"resource": {"attributes": _pairs(record.resource)}, "scopes": {}},
        )
        scope = resource["scopes"].setdefault((record.scope, record.scope_version), _scope(record))
        scope["spans"].append(_span_json(record))
    return {
        "resourceSpans": [
            {"resource": r["resource"], "scopeSpans": list(r["scopes"].values())} for r in resources.values()
        ]
    }


def _scope(record: SpanRecord) -> dict[str, Any]:
    named = {"name": record.scope, "version": record.scope_version}
    return {"scope": {key: text for key, text in named.items() if text}, "spans": []}


def _span_json(record: SpanRecord) -> dict[str, Any]:
    span: dict[str, Any] = {"traceId": record.trace_id, "spanId": record.span_id}
    if record.parent_span_id:
        span["parentSpanId"] = record.parent_span_id
        span["flags"] = _HAS_REMOTE | (_IS_REMOTE if record.parent_remote else 0)
    span |= {
        "name": record.name,
        "kind": _KINDS.index(record.kind) + 1,
        "startTimeUnixNano": str(record.start_unix_nano),
        "endTimeUnixNano": str(record.end_unix_nano),
        "attributes": _pairs(record.attributes),
        "status": _status_json(record),
    }
    if record.dropped_attributes:
        span["droppedAttributesCount"] = record.dropped_attributes
    if record.events:
        span["events"] = [
            {"timeUnixNano": str(e.time_unix_nano or 0), "name": e.name, "attributes": _pairs(e.attributes)}
            for e in record.events
        ]
    if record.links:
        span["links"] = [
            {"traceId": k.trace_id, "spanId": k.span_id, "attributes": _pairs(k.attributes)} for k in record.links
        ]
    return span


def _status_json(record: SpanRecord) -> dict[str, Any]:
    status: dict[str, Any] = {}
    if record.status != "unset":
        status["code"] = 1 if record.status == "ok" else 2
    if record.status_message:
        status["message"] = record.status_message
    return status


def _pairs(attributes: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [{"key": key, "value": _any_value(value)} for key, value in attributes.items()]


def _any_value(value: Any) -> dict[str, Any]:
    if value is None:
        return {}
    if isinstance(value, str):
        return {"stringValue": value}
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value if math.isfinite(value) else _float_word(value)}
    if isinstance(value, bytes | bytearray):
        return {"bytesValue": base64.b64encode(value).decode("ascii")}
    if isinstance(value, Mapping):
        return {"kvlistValue": {"values": _pairs(value)}}  # pyright: ignore[reportUnknownArgumentType] - JSON values
    if isinstance(value, Sequence):
        return {"arrayValue": {"values": [_any_value(item) for item in value]}}  # pyright: ignore[reportUnknownVariableType]
    return {"stringValue": str(value)}


def _float_word(value: float) -> str:
    return "NaN" if math.isnan(value) else ("Infinity" if value > 0 else "-Infinity")
