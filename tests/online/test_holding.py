"""Held spans: forwarded exactly once, whatever happens."""

from __future__ import annotations

import pytest
from opentelemetry.sdk.trace import ReadableSpan, SpanLimits, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from agentpath_sdk.online.holding import Hold, with_attributes
from agentpath_sdk.testing import ManualClock


def spans(count: int = 1, **limits: int) -> list[ReadableSpan]:
    exporter = InMemorySpanExporter()
    provider = TracerProvider(span_limits=SpanLimits(**limits), shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    for number in range(count):
        with provider.get_tracer("test").start_as_current_span(f"agent {number}", attributes={"a": 1, "b": 2}) as span:
            span.add_event("e")
            span.add_event("f")
    return list(exporter.get_finished_spans())


def ids(span: ReadableSpan) -> tuple[str, str]:
    assert span.context is not None
    return f"{span.context.trace_id:032x}", f"{span.context.span_id:016x}"


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


def test_a_span_leaves_with_its_verdict_once(clock: ManualClock) -> None:
    (span,) = spans()
    out: list[ReadableSpan] = []
    hold = Hold(seconds=10, clock=clock)
    hold.hold(span, out.append)
    assert out == []
    hold.release(*ids(span), {"agentpath.score.value": 0.5})
    hold.release(*ids(span), {"agentpath.score.value": 0.9})
    hold.release_all()
    assert [s.attributes["agentpath.score.value"] for s in out if s.attributes] == [0.5]
    assert ids(out[0]) == ids(span)


def test_a_span_without_verdict_leaves_as_it_came_when_its_time_is_over(clock: ManualClock) -> None:
    (span,) = spans()
    out: list[ReadableSpan] = []
    hold = Hold(seconds=10, clock=clock)
    hold.hold(span, out.append)
    assert hold.expire() == pytest.approx(10)
    clock.advance(10)
    assert hold.expire() is None
    assert out == [span]


def test_the_oldest_span_makes_room(clock: ManualClock) -> None:
    first, second, third = spans(3)
    out: list[ReadableSpan] = []
    hold = Hold(seconds=10, capacity=2, clock=clock)
    for span in (first, second, third):
        hold.hold(span, out.append)
    assert out == [first]
    assert len(hold) == 2


def test_a_verdict_that_was_there_first_is_kept_where_spans_come_late(clock: ManualClock) -> None:
    (span,) = spans()
    out: list[ReadableSpan] = []
    hold = Hold(seconds=10, remember=True, clock=clock)
    hold.release(*ids(span), {"agentpath.score.value": 0.5})
    hold.hold(span, out.append)
    assert [s.attributes["agentpath.score.value"] for s in out if s.attributes] == [0.5]
    assert len(hold) == 0


def test_a_receiver_that_raises_harms_no_other_span(clock: ManualClock) -> None:
    first, second = spans(2)
    out: list[ReadableSpan] = []

    def broken(_span: ReadableSpan) -> None:
        raise RuntimeError

    hold = Hold(seconds=10, clock=clock)
    hold.hold(first, broken)
    hold.hold(second, out.append)
    hold.release_all()
    assert out == [second]


def test_a_copy_keeps_all_of_the_span_and_what_was_dropped_from_it() -> None:
    (span,) = spans(max_span_attributes=1, max_events=1)
    copy = with_attributes(span, {"agentpath.score.value": 0.5})
    assert dict(copy.attributes or {}) == {"b": 2, "agentpath.score.value": 0.5}
    assert (copy.dropped_attributes, copy.dropped_events, copy.dropped_links) == (1, 1, 0)
    for name in ("name", "context", "parent", "kind", "start_time", "end_time", "resource", "instrumentation_scope"):
        assert getattr(copy, name) == getattr(span, name)
    assert [event.name for event in copy.events] == ["f"]
