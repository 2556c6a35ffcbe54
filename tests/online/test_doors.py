"""The forwarding processor and the wrapping exporter: the score on the agent's span, and no span lost or doubled."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SimpleSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from agentpath_sdk._guard import HEALTH
from agentpath_sdk.online.exporter import AgentPathExporter
from agentpath_sdk.online.processor import AgentPathSpanProcessor, ForwardingSpanProcessor

from .conftest import Bench

DOORS = ["processor", "exporter", "exporter beside a processor"]


def through(bench: Bench, door: str, out: SpanExporter) -> Any:
    """Put ``door`` before ``out`` and return it."""
    if door == "processor":
        made: Any = ForwardingSpanProcessor(SimpleSpanProcessor(out), bench.pipeline)
        bench.provider.add_span_processor(made)
        return made
    if door == "exporter beside a processor":
        bench.provider.add_span_processor(AgentPathSpanProcessor(bench.pipeline))
    made = AgentPathExporter(out, bench.pipeline)
    bench.provider.add_span_processor(SimpleSpanProcessor(made))
    return made


def names(out: InMemorySpanExporter) -> list[str]:
    return [span.name for span in out.get_finished_spans()]


def attributes(out: InMemorySpanExporter, name: str) -> dict[str, Any]:
    (span,) = (span for span in out.get_finished_spans() if span.name == name)
    return dict(span.attributes or {})


def settle(door: Any) -> None:
    """Let a wrapping exporter's own thread export what was released."""
    if isinstance(door, AgentPathExporter):
        door._sender.run_now(2.0)


@pytest.fixture
def out() -> InMemorySpanExporter:
    return InMemorySpanExporter()


@pytest.fixture
def free_bench(make_bench: Callable[..., Bench]) -> Bench:
    return make_bench(attach=False)


@pytest.mark.parametrize("door", DOORS)
def test_the_agents_span_carries_its_score_and_everything_else_passes_at_once(
    free_bench: Bench, out: InMemorySpanExporter, door: str
) -> None:
    made = through(free_bench, door, out)
    root = free_bench.run("t1", "t2")
    assert names(out) == ["execute_tool t1", "execute_tool t2"]
    free_bench.pass_time(0)
    free_bench.pass_time(5)
    settle(made)
    assert names(out) == ["execute_tool t1", "execute_tool t2", "invoke_agent planner"]
    found = attributes(out, "invoke_agent planner")
    assert found["agentpath.score.value"] == 1.0
    assert found["agentpath.score.label"] == "good_path"
    assert found["agentpath.gold_path.id"] == "t1-t2"
    assert found["gen_ai.agent.name"] == "planner"
    span = out.get_finished_spans()[-1]
    assert (span.context, span.end_time) == (root.get_span_context(), root.end_time)
    assert len(free_bench.emitted) == 1


@pytest.mark.parametrize("door", DOORS)
def test_nested_agents_carry_their_own_scores(free_bench: Bench, out: InMemorySpanExporter, door: str) -> None:
    made = through(free_bench, door, out)
    root = free_bench.agent()
    call = free_bench.start("t1", "execute_tool", root)
    inner = free_bench.agent("researcher", call)
    free_bench.tool("search", inner)
    for span in (inner, call, root):
        span.end()
    free_bench.pass_time(0)
    free_bench.pass_time(5)
    settle(made)
    assert attributes(out, "invoke_agent planner")["agentpath.score.value"] == 0.5
    assert "agentpath.score.not_evaluated" in attributes(out, "invoke_agent researcher")


@pytest.mark.parametrize("door", DOORS)
def test_without_a_verdict_the_span_leaves_as_it_is_when_its_time_is_over(
    make_bench: Callable[..., Bench], out: InMemorySpanExporter, door: str
) -> None:
    bench = make_bench(attach=False, hold_seconds=3.0)
    made = through(bench, door, out)
    bench.run("t1")
    bench.pass_time(0)
    bench.pass_time(3)
    settle(made)
    assert "agentpath.score.value" not in attributes(out, "invoke_agent planner")
    bench.pass_time(5)
    settle(made)
    assert Counter(names(out)) == {"execute_tool t1": 1, "invoke_agent planner": 1}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("how", ["flush", "shutdown"])
def test_flush_and_shutdown_of_the_provider_leave_nothing_held(
    free_bench: Bench, out: InMemorySpanExporter, door: str, how: str
) -> None:
    made = through(free_bench, door, out)
    free_bench.run("t1", "t2")
    open_root = free_bench.agent()
    nested = free_bench.agent("nested", open_root)
    nested.end()
    if how == "flush":
        made.force_flush(2_000)
    else:
        free_bench.provider.shutdown()
    assert Counter(names(out)) == {
        "execute_tool t1": 1,
        "execute_tool t2": 1,
        "invoke_agent planner": 1,
        "invoke_agent nested": 1,
    }
    assert attributes(out, "invoke_agent planner")["agentpath.score.value"] == 1.0


@pytest.mark.parametrize("door", DOORS)
def test_more_agents_than_may_be_held_push_the_oldest_out_unscored(
    make_bench: Callable[..., Bench], out: InMemorySpanExporter, door: str
) -> None:
    bench = make_bench(attach=False, max_held_spans=3)
    made = through(bench, door, out)
    for _ in range(10):
        bench.run()
    settle(made)
    assert len(names(out)) == 7
    bench.pass_time(0)
    bench.pass_time(5)
    settle(made)
    assert len(names(out)) == 10
    assert HEALTH.counts()["online.held_overflow"] == 7


@pytest.mark.parametrize("door", DOORS)
def test_a_full_queue_means_no_verdict_and_the_span_is_not_held(
    make_bench: Callable[..., Bench], out: InMemorySpanExporter, door: str
) -> None:
    bench = make_bench(attach=False, queue_size=0)
    made = through(bench, door, out)
    bench.run("t1")
    if door != "exporter beside a processor":  # there the processor's own drop is not the exporter's to know
        assert len(names(out)) == 2
    bench.pass_time(60)
    settle(made)
    assert len(names(out)) == 2


def explode(*_args: Any, **_given: Any) -> Any:
    raise ValueError("secret words")


@pytest.mark.parametrize("door", DOORS)
def test_a_scorer_that_raises_loses_no_span(
    make_bench: Callable[..., Bench], out: InMemorySpanExporter, door: str
) -> None:
    bench = make_bench(attach=False, score=explode)
    made = through(bench, door, out)
    bench.run("t1")
    bench.pass_time(0)
    bench.pass_time(5)
    settle(made)
    assert Counter(names(out)) == {"execute_tool t1": 1, "invoke_agent planner": 1}
    assert attributes(out, "invoke_agent planner")["agentpath.score.not_evaluated"] == "the scorer failed: ValueError"


class Broken(SpanProcessor):
    """Raises wherever it can."""

    on_start = on_end = force_flush = shutdown = explode


def test_a_next_processor_that_raises_reaches_neither_the_agent_nor_other_processors(
    free_bench: Bench, out: InMemorySpanExporter
) -> None:
    free_bench.provider.add_span_processor(ForwardingSpanProcessor(Broken(), free_bench.pipeline))
    free_bench.provider.add_span_processor(SimpleSpanProcessor(out))
    free_bench.run("t1", "t2")
    free_bench.pass_time(0)
    assert len(free_bench.pass_time(5)) == 1
    assert not free_bench.provider.force_flush()
    assert len(names(out)) == 3
    assert HEALTH.counts()["fault.online.next_processor"] >= 6


def test_a_wrapped_exporter_that_raises_or_fails_is_counted_and_reported(
    free_bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = InMemorySpanExporter()
    made = AgentPathExporter(inner, free_bench.pipeline)
    plain = free_bench.start("plain", None)
    plain.end()
    monkeypatch.setattr(inner, "export", explode)
    assert made.export([plain]) is SpanExportResult.FAILURE
    monkeypatch.setattr(inner, "export", lambda spans: SpanExportResult.FAILURE)
    assert made.export([plain]) is SpanExportResult.FAILURE
    assert HEALTH.counts()["online.next_exporter_failed"] == 2


def test_a_wrapped_exporter_is_never_called_by_two_threads_at_once(free_bench: Bench) -> None:
    inside: list[int] = []
    most = [0]
    lock = threading.Lock()

    class Careful(SpanExporter):
        def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
            with lock:
                inside.append(1)
                most[0] = max(most[0], len(inside))
            threading.Event().wait(0.002)
            with lock:
                inside.pop()
            return SpanExportResult.SUCCESS

    made = AgentPathExporter(Careful(), free_bench.pipeline)
    free_bench.provider.add_span_processor(SimpleSpanProcessor(made))
    threads = [threading.Thread(target=lambda: [free_bench.run("t1") for _ in range(5)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    made.force_flush(2_000)
    assert most == [1]


def test_behind_a_batch_processor_the_verdict_may_be_there_first(
    make_bench: Callable[..., Bench], out: InMemorySpanExporter
) -> None:
    bench = make_bench(attach=False)
    bench.provider.add_span_processor(AgentPathSpanProcessor(bench.pipeline))
    made = AgentPathExporter(out, bench.pipeline)
    batch = BatchSpanProcessor(made, schedule_delay_millis=60_000)
    bench.provider.add_span_processor(batch)
    bench.run("t1", "t2")
    bench.pass_time(0)
    bench.pass_time(5)
    batch.force_flush()
    assert attributes(out, "invoke_agent planner")["agentpath.score.value"] == 1.0
    batch.shutdown()


def test_before_there_is_a_pipeline_a_wrapping_exporter_lets_everything_pass(
    free_bench: Bench, out: InMemorySpanExporter
) -> None:
    free_bench.provider.add_span_processor(SimpleSpanProcessor(AgentPathExporter(out)))
    free_bench.run("t1")
    assert len(names(out)) == 2


def test_a_detached_processor_lets_go_and_lets_pass(free_bench: Bench, out: InMemorySpanExporter) -> None:
    made = through(free_bench, "processor", out)
    free_bench.run("t1")
    made.detach()
    free_bench.run("t1")
    assert len(names(out)) == 4
    assert free_bench.pipeline.state().queued_spans == 2
