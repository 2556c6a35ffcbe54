"""What scoring online costs: on the user's thread per span, on the worker per run, and in memory."""

from __future__ import annotations

import gc
import statistics
import tempfile
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path

from harness import Row, timed
from opentelemetry._logs import NoOpLoggerProvider
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider
from opentelemetry.trace import set_span_in_context

from agentpath_jsonl import JsonlScoreExporter
from agentpath_sdk import semconv
from agentpath_sdk.gold.model import CallStep, GoldPath
from agentpath_sdk.gold.registry import GoldPathRegistry
from agentpath_sdk.online.emit import EvaluateSpans, LogEvents, Metrics
from agentpath_sdk.online.pipeline import Pipeline
from agentpath_sdk.online.processor import AgentPathSpanProcessor, ForwardingSpanProcessor
from agentpath_sdk.online.record import ScoreExporter
from agentpath_sdk.scoring.scorer import score_best
from agentpath_sdk.settings import OnlineSettings
from agentpath_sdk.testing import ManualClock

__all__ = ["rows"]

ROUNDS = 15
SPANS = 2_000
ARGUMENTS = '{"query": "average temperature on Mars", "limit": 10, "language": "en", "note": "' + "x" * 120 + '"}'
RESULT = '{"documents": ["' + "y" * 960 + '"]}'
GOLD = GoldPath(id="gold", agent="agent", steps=tuple(CallStep(tool=f"tool {n}") for n in range(6)))


class Nothing(SpanProcessor):
    """The other side of each comparison: a processor that does nothing."""


def pipeline(
    *, exporters: tuple[ScoreExporter, ...] = (), emitters: tuple[object, ...] = (), **settings: int
) -> Pipeline:
    """Return a pipeline without a thread and with the real look-up and scorer."""
    registry = GoldPathRegistry(GOLD)
    return Pipeline(
        registry.look_up,
        score_best,
        settings=OnlineSettings(**settings),  # type: ignore[arg-type] # counts only
        emitters=emitters,  # type: ignore[arg-type] # callables
        score_exporters=exporters,
        clock=ManualClock(),
        background=False,
    )


def spans(runs: int, *, plain: bool = False, provider: TracerProvider | None = None) -> Iterator[ReadableSpan]:
    """Yield the ended spans of ``runs`` agent runs of six tool calls, children first."""
    tracer = (provider or TracerProvider(shutdown_on_exit=False)).get_tracer("somebody.else")
    for _ in range(runs):
        agent = {} if plain else {semconv.OPERATION_NAME: "invoke_agent", semconv.AGENT_NAME: "agent"}
        root = tracer.start_span("invoke_agent agent", attributes=agent)
        context = set_span_in_context(root)
        for number in range(6):
            call = {
                semconv.OPERATION_NAME: "execute_tool",
                semconv.TOOL_NAME: f"tool {number}",
                semconv.TOOL_CALL_ARGUMENTS: ARGUMENTS,
                semconv.TOOL_CALL_RESULT: RESULT,
            }
            child = tracer.start_span(
                "execute_tool", context=context, attributes={"http.method": "GET"} if plain else call
            )
            child.end()
            yield child  # type: ignore[misc] # the SDK's spans are readable spans
        root.end()
        yield root  # type: ignore[misc] # the SDK's spans are readable spans


def added_microseconds(make: Callable[[], SpanProcessor], ended: list[ReadableSpan]) -> float:
    """Return what ``on_end`` of a fresh processor takes more than one that does nothing, per span: median of rounds."""

    def drive(processor: SpanProcessor) -> float:
        on_end = processor.on_end

        def work() -> None:
            for span in ended:
                on_end(span)

        return timed(work)

    nothing = Nothing()
    drive(nothing), drive(make())
    differences: list[float] = []
    for number in range(ROUNDS):
        if number % 2:
            ours, theirs = drive(make()), drive(nothing)
        else:
            theirs, ours = drive(nothing), drive(make())
        differences.append(ours - theirs)
    return statistics.median(differences) / len(ended) * 1e6


def hot_path() -> Iterator[Row]:
    """Yield what each span costs the thread that ends it."""
    agents, plain = list(spans(SPANS // 7)), list(spans(SPANS // 7, plain=True))
    size = len(agents) + 1

    def beside() -> SpanProcessor:
        return AgentPathSpanProcessor(pipeline(queue_size=size))

    def full() -> SpanProcessor:
        return AgentPathSpanProcessor(pipeline(queue_size=0))

    def before() -> SpanProcessor:
        return ForwardingSpanProcessor(Nothing(), pipeline(queue_size=size, max_held_spans=size))

    yield Row(
        name="on_end adds, agent's or tool's span", value=added_microseconds(beside, agents), unit="µs", goal=10.0
    )
    yield Row(name="on_end adds, span that is no agent's", value=added_microseconds(beside, plain), unit="µs", goal=2.0)
    yield Row(name="on_end adds, queue full", value=added_microseconds(full, agents), unit="µs", goal=10.0)
    yield Row(
        name="on_end adds, forwarding processor",
        value=added_microseconds(before, agents),
        unit="µs",
        goal=10.0,
        note="one span in seven is held",
    )


def throughput() -> Iterator[Row]:
    """Yield how many runs the worker takes through everything: convert, clean, assemble, score, all emitters, JSONL."""
    runs = 300
    with tempfile.TemporaryDirectory() as folder:
        quiet = TracerProvider(shutdown_on_exit=False)
        emitters = (
            LogEvents(LoggerProvider(shutdown_on_exit=False)),
            Metrics(MeterProvider([InMemoryMetricReader()], shutdown_on_exit=False)),
            EvaluateSpans(quiet),
        )
        seconds = [
            _drain(pipeline(exporters=(JsonlScoreExporter(Path(folder) / f"{n}.jsonl"),), emitters=emitters), runs)
            for n in range(5)
        ]
    yield Row(
        name="runs per second through everything",
        value=runs / statistics.median(seconds),
        unit="1/s",
        note="6 tools each; scored, three emitters and JSONL; one core shared with nobody",
    )


def _drain(worked: Pipeline, runs: int) -> float:
    for span in spans(runs):
        worked.offer(span)
    seconds = timed(lambda: worked.flush(60.0))
    worked.shutdown(1.0)
    return seconds


def memory() -> Iterator[Row]:
    """Yield what an open trace holds, and what is left after many runs."""
    yield Row(
        name="memory per open trace", value=_per_open_trace() / 1024, unit="KiB", note="6 calls, 1.2 kB content each"
    )
    first, later = _after_runs(1_000, 10_000)
    yield Row(
        name="memory left after 10,000 runs against 1,000",
        value=later / first,
        unit="x",
        goal=1.1,
        note=f"{later / 1024 / 1024:.2f} MiB with 200 runs retained",
    )


def _per_open_trace() -> float:
    count = 500
    worked = pipeline()
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for span in spans(count):
        worked.offer(span)
    worked.step()
    gc.collect()
    held = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    worked.shutdown(1.0)
    return held / count


def _after_runs(few: int, many: int) -> tuple[int, int]:
    """Return the bytes held after ``few`` and after ``many`` runs; the bounds are low, so that both are beyond them."""
    registry, clock = GoldPathRegistry(GOLD), ManualClock()
    worked = Pipeline(
        registry.look_up,
        score_best,
        settings=OnlineSettings(max_retained_runs=200, max_open_traces=400),
        emitters=[LogEvents(NoOpLoggerProvider())],
        clock=clock,
        background=False,
    )
    tracemalloc.start()
    held = [_held_after(worked, clock, few), _held_after(worked, clock, many - few)]
    tracemalloc.stop()
    worked.shutdown(1.0)
    return held[0], held[1]


def _held_after(worked: Pipeline, clock: ManualClock, runs: int) -> int:
    for number, span in enumerate(spans(runs)):
        worked.offer(span)
        if number % 700 == 0:
            clock.advance(6.0)
            worked.step()
    worked.flush(60.0)
    gc.collect()
    return tracemalloc.get_traced_memory()[0]


def rows() -> list[Row]:
    """Return all rows."""
    return [*hot_path(), *throughput(), *memory()]


if __name__ == "__main__":
    for row in rows():
        print(f"{row.name:45} {row.value:10.3f} {row.unit:5} goal {row.goal} {row.note}")
