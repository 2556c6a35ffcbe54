"""The hot path: what is queued, what is not, and that the short cut into the SDK's spans still holds."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import MappingProxyType, SimpleNamespace
from typing import Any

from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider

from agentpath_sdk.online.intake import Intake, attributes_of

from .conftest import Bench


def test_the_short_cut_reads_what_the_public_property_says() -> None:
    span: Any = TracerProvider(shutdown_on_exit=False).get_tracer("t").start_span("x", attributes={"a": 1, "b": "c"})
    assert attributes_of(span) == dict(span.attributes)
    span.end()
    ended = span._readable_span()
    assert attributes_of(ended) == dict(ended.attributes)
    assert type(attributes_of(ended)) is dict  # else the SDK has changed, and the hot path has become slow


def test_spans_that_store_attributes_otherwise_are_read_the_public_way() -> None:
    stored = MappingProxyType({"a": 1})
    odd: Any = SimpleNamespace(attributes=stored)
    assert attributes_of(odd) is stored
    assert attributes_of(SimpleNamespace(attributes=None)) == {}  # type: ignore[arg-type] # stands for a span


def test_links_of_an_agent_that_is_discovered_late_are_found_again(make_bench: Callable[..., Bench]) -> None:
    """Behind a batch exporter nobody sees spans start, and children come before their agent."""
    bench = make_bench(attach=False)
    root = bench.agent()
    between = bench.start("plain", None, root)
    bench.tool("t1", between)
    between.end()
    unrelated = bench.start("unrelated", None, bench.start("GET", None))
    unrelated.end()
    for span in (between, unrelated):
        bench.pipeline.offer(span)
    assert bench.pipeline.state().queued_spans == 0
    tool = bench.tool("t2", between)
    root.end()
    for span in (tool, root):
        bench.pipeline.offer(span)
    bench.pass_time(0)
    (record,) = bench.pass_time(5)
    assert (record.agent, record.steps, record.completeness) == ("planner", 1, "complete")


def test_spans_kept_aside_hold_on_to_no_large_values() -> None:
    """They may be any of the process's spans, and nobody may ever ask for them."""
    tracer = TracerProvider(shutdown_on_exit=False).get_tracer("t")
    parent = trace.set_span_in_context(tracer.start_span("request"))
    intake = Intake(capacity=10, traces=10, worker=SimpleNamespace(idle=False))  # type: ignore[arg-type] # a stand-in

    def kept_aside(text: str, *, event: bool = False) -> list[Any]:
        span: Any = tracer.start_span("query", parent, attributes={"db.system": "x", "db.statement": text, "n": 1})
        if event:
            span.add_event("log", {"text": text})
        span.end()
        assert intake.offer(span) is False
        return [kept for kept in intake._plain if kept.context == span.context]

    (small,) = kept_aside("select 1")
    assert small.attributes["db.statement"] == "select 1"
    for large in (*kept_aside("x" * 100_000), *kept_aside("x" * 1_000, event=True)):
        assert dict(large.attributes) == {"db.system": "x", "n": 1}
        assert large.dropped_attributes == 1
        assert not large.events
        assert large.parent is not None
        assert large.start_time
        assert large.end_time


def test_many_threads_lose_nothing(make_bench: Callable[..., Bench]) -> None:
    bench = make_bench(background=True, quiet_seconds=0.0)
    threads = [threading.Thread(target=lambda: [bench.run("t1", "t2") for _ in range(50)]) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert bench.pipeline.flush(20.0)
    latest = {record.id: record for record in bench.exporter.records}
    assert len(latest) == 400
    assert {record.score.value for record in latest.values()} == {1.0}
