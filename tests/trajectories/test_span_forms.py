"""One span, whatever form it comes in: SDK object, OTLP/JSON, OTLP protobuf, console JSON."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanLimits, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import Link, SpanContext, SpanKind, Status, StatusCode, TraceFlags

from agentpath_sdk import semconv
from agentpath_sdk.errors import MissingExtraError
from agentpath_sdk.trajectories.console_span import from_console_json, is_console_json
from agentpath_sdk.trajectories.otlp import from_otlp_json, from_otlp_protobuf, to_otlp_json
from agentpath_sdk.trajectories.reconstruct import reconstruct
from agentpath_sdk.trajectories.span_record import SpanRecord, from_sdk

from .build import nanos, span


def ended(limits: SpanLimits | None = None) -> tuple[ReadableSpan, ReadableSpan]:
    """Return a root span with everything on it, and its child."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider(resource=Resource({"service.name": "shop"}), span_limits=limits, shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracer = provider.get_tracer("lib", "1.2")
    link = Link(SpanContext(5, 6, False), {"why": "resumed"})
    with tracer.start_as_current_span("root", kind=SpanKind.SERVER, links=[link], start_time=nanos(0)) as root:
        root.set_attribute("text", "Санкт-Петербург 😀")
        root.set_attribute("numbers", [1, 2])
        root.add_event("exception", {"exception.type": "E"}, timestamp=nanos(0.5))
        root.set_status(Status(StatusCode.ERROR, "broken"))
        tracer.start_span("child", start_time=nanos(0.25)).end(nanos(0.75))
    child, root = exporter.get_finished_spans()
    return root, child


def without_times(record: SpanRecord) -> dict[str, Any]:
    return {
        "name": record.name,
        "ids": (record.trace_id, record.span_id, record.parent_span_id),
        "attributes": {k: list(v) if isinstance(v, tuple) else v for k, v in record.attributes.items()},
        "events": [(e.name, dict(e.attributes), e.time_unix_nano) for e in record.events],
        "links": [(k.trace_id, k.span_id, dict(k.attributes)) for k in record.links],
        "status": (record.status, record.status_message),
        "start": record.start_unix_nano,
        "kind": record.kind,
        "resource": dict(record.resource),
    }


def test_an_sdk_span_becomes_a_record() -> None:
    root, child = (from_sdk(s) for s in ended())
    assert (len(root.trace_id), len(root.span_id), child.parent_span_id) == (32, 16, root.span_id)
    assert (root.start_unix_nano, child.end_unix_nano) == (nanos(0), nanos(0.75))
    assert (root.attributes["text"], root.status, root.status_message) == ("Санкт-Петербург 😀", "error", "broken")
    assert (root.scope, root.scope_version, root.kind) == ("lib", "1.2", "server")
    assert root.resource["service.name"] == "shop"
    assert (root.events[0].name, root.links[0].span_id) == ("exception", f"{6:016x}")


def test_an_sdk_span_tells_whether_its_parent_was_sampled_and_where_it_lives() -> None:
    def child_of(parent: SpanContext | None) -> SpanRecord:
        context = SpanContext(1, 2, False, TraceFlags(1))
        return from_sdk(ReadableSpan("s", context, parent=parent, resource=Resource({})))

    unsampled = child_of(SpanContext(1, 3, False, TraceFlags(0)))
    remote = child_of(SpanContext(1, 3, True, TraceFlags(1)))
    assert (unsampled.parent_sampled, unsampled.parent_remote) == (False, False)
    assert (remote.parent_sampled, remote.parent_remote) == (True, True)
    assert (child_of(None).parent_sampled, child_of(None).parent_span_id) == (None, None)


def test_an_sdk_span_tells_the_providers_own_length_limit_and_what_it_lost() -> None:
    root, _ = ended(SpanLimits(max_span_attribute_length=8, max_span_attributes=1))
    record = from_sdk(root)
    assert (record.attribute_limit, record.dropped_attributes) == (8, 1)
    assert from_sdk(ended()[0]).attribute_limit is None


def test_arguments_cut_by_the_providers_limit_are_unknown_and_hurt_nothing() -> None:
    exporter = InMemorySpanExporter()
    provider = TracerProvider(span_limits=SpanLimits(max_span_attribute_length=200), shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    arguments = json.dumps({"id": 42, "city": "Санкт-Петербург", "text": "😀" * 300}, ensure_ascii=False)
    tracer = provider.get_tracer(semconv.SCOPE_NAME)
    with tracer.start_as_current_span("a", attributes={semconv.OPERATION_NAME: semconv.OP_INVOKE_AGENT}):
        named = {semconv.OPERATION_NAME: semconv.OP_EXECUTE_TOOL, semconv.TOOL_NAME: "note"}
        tracer.start_span("t", attributes={**named, semconv.TOOL_CALL_ARGUMENTS: arguments}).end()
    (run,) = reconstruct(map(from_sdk, exporter.get_finished_spans()))
    (step,) = run.steps
    assert (step.tool, step.arguments, step.arguments_state) == ("note", None, "truncated")
    assert len(step.raw_arguments or "") == 200


def test_a_span_of_another_sdk_with_the_same_properties_is_read_too() -> None:
    class Plain:
        def __init__(self, inner: ReadableSpan) -> None:
            self._inner = inner
            self.attributes = dict(inner.attributes or {})

        def __getattr__(self, name: str) -> Any:
            if name.startswith("_"):
                raise AttributeError(name)
            return getattr(self._inner, name)

    root, _ = ended()
    assert without_times(from_sdk(Plain(root))) == without_times(from_sdk(root))


def test_json_and_protobuf_give_the_same_record_as_the_sdk_span() -> None:
    proto = pytest.importorskip("opentelemetry.exporter.otlp.proto.common.trace_encoder")
    json_format = pytest.importorskip("google.protobuf.json_format")
    spans = ended()
    message = proto.encode_spans(spans)
    wanted = [without_times(from_sdk(s)) for s in spans]
    by_id = {w["ids"]: w for w in wanted}
    forms = {
        "protobuf": list(from_otlp_protobuf(message.SerializeToString())),
        "camel": list(from_otlp_json(json_format.MessageToDict(message))),
        "snake": list(from_otlp_json(json_format.MessageToDict(message, preserving_proto_field_name=True))),
    }
    for form, found in forms.items():
        assert {record.span_id for record in found} == {ids[1] for ids in by_id}, form
        for record in found:
            assert without_times(record) == by_id[record.trace_id, record.span_id, record.parent_span_id], form


def test_the_console_form_gives_the_same_record_to_the_microsecond() -> None:
    for sdk_span in ended():
        document = json.loads(sdk_span.to_json())
        assert is_console_json(document)
        found, wanted = without_times(from_console_json(document)), without_times(from_sdk(sdk_span))
        assert found == wanted


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"stringValue": "7"}, "7"),
        ({"intValue": "9007199254740993"}, 9007199254740993),
        ({"intValue": 7}, 7),
        ({"doubleValue": 1.5}, 1.5),
        ({"doubleValue": "Infinity"}, math.inf),
        ({"boolValue": False}, False),
        ({"bytesValue": "/wA="}, b"\xff\x00"),
        ({"arrayValue": {"values": [{"intValue": "1"}, {"stringValue": "a"}]}}, [1, "a"]),
        ({"arrayValue": {}}, []),
        ({"kvlistValue": {"values": [{"key": "a", "value": {"arrayValue": {"values": [{}]}}}]}}, {"a": [None]}),
        ({"aKindOfTomorrow": 7}, 7),
        ({}, None),
        (None, None),
    ],
)
def test_attribute_values_of_every_kind(value: Any, expected: Any) -> None:
    (record,) = from_otlp_json(document_of({"attributes": [{"key": "k", "value": value}]}))
    assert record.attributes == {"k": expected}


def document_of(more: dict[str, Any]) -> dict[str, Any]:
    given = {"traceId": "0" * 31 + "1", "spanId": "0" * 15 + "1", "name": "s", **more}
    return {"resourceSpans": [{"scopeSpans": [{"spans": [given]}]}]}


def test_snake_case_reaches_into_values_and_leaves_peoples_own_names_alone() -> None:
    value = {"kvlist_value": {"values": [{"key": "my_key", "value": {"int_value": "7"}}]}}
    named = {"trace_id": "0" * 31 + "1", "span_id": "0" * 15 + "1", "attributes": [{"key": "a_b", "value": value}]}
    (record,) = from_otlp_json({"resource_spans": [{"scope_spans": [{"spans": [named]}]}]})
    assert record.attributes == {"a_b": {"my_key": 7}}


def test_ids_are_lower_case_and_an_empty_parent_is_none() -> None:
    (record,) = from_otlp_json(document_of({"traceId": "AB" * 16, "parentSpanId": "", "spanId": "CD" * 8}))
    assert (record.trace_id, record.span_id, record.parent_span_id) == ("ab" * 16, "cd" * 8, None)


def test_the_old_name_of_scopes_is_read() -> None:
    old = {"instrumentationLibrary": {"name": "lib"}, "spans": [{"traceId": "1" * 32, "spanId": "1" * 16}]}
    (record,) = from_otlp_json({"resourceSpans": [{"instrumentationLibrarySpans": [old]}]})
    assert record.scope == "lib"


@pytest.mark.parametrize(
    ("document", "words"),
    [
        (document_of({"traceId": "xyz"}), r"resourceSpans\[0\].scopeSpans\[0\].spans\[0\].*'xyz' is not 32 hex digits"),
        (document_of({"spanId": None}), "16 hex digits"),
        (document_of({"startTimeUnixNano": "soon"}), "soon"),
        (document_of({"attributes": {"k": 1}}), "'attributes' is dict, expected a list"),
        (document_of({"attributes": [{"value": {"intValue": "1"}}]}), "no key"),
        (document_of({"status": []}), "'status' is list, expected an object"),
        ({"resourceSpans": "x"}, "'resourceSpans' is str, expected a list"),
        ({"resourceSpans": [7]}, "found int in 'resourceSpans', expected an object"),
        ({"resourceSpans": [{"scopeSpans": [{"spans": ["x"]}]}]}, "found str in 'spans', expected an object"),
    ],
)
def test_what_is_no_otlp_is_refused_with_its_place(document: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        list(from_otlp_json(document))


def test_a_value_nested_without_end_is_refused() -> None:
    value: dict[str, Any] = {"intValue": "1"}
    for _ in range(500):
        value = {"arrayValue": {"values": [value]}}
    with pytest.raises(ValueError, match="nested"):
        list(from_otlp_json(document_of({"attributes": [{"key": "k", "value": value}]})))


def test_bytes_that_are_no_protobuf_are_refused() -> None:
    pytest.importorskip("opentelemetry.proto", reason="needs the extra otlp")
    with pytest.raises(ValueError, match="not an OTLP protobuf message"):
        list(from_otlp_protobuf(b"\x0a\xff\xff\xff"))


def test_protobuf_without_its_extra_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "opentelemetry.proto.trace.v1.trace_pb2", None)
    with pytest.raises(MissingExtraError, match=r"agentpath-sdk\[otlp\]"):
        list(from_otlp_protobuf(b""))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | st.text() | st.binary(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(min_size=1), inner, max_size=3),
    max_leaves=8,
)


@given(attributes=st.dictionaries(st.text(min_size=1), json_values, max_size=4), remote=st.booleans())
def test_what_is_written_as_otlp_is_read_back_the_same(attributes: dict[str, Any], remote: bool) -> None:
    records = [
        span("root", attributes, scope="lib", scope_version="1", resource={"service.name": "a"}, kind="client"),
        span("child", parent="root", status="ok", resource={"service.name": "b"}, parent_remote=remote, end=9),
    ]
    text = json.dumps(to_otlp_json(records))
    assert list(from_otlp_json(json.loads(text))) == records
