"""Reading spans, rebuilding runs, assembling live traces: time per span and memory held."""

from __future__ import annotations

import gc
import subprocess
import sys
import tempfile
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import orjson
from harness import Row, median_seconds, ratio
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from agentpath_sdk import semconv
from agentpath_sdk.settings import OnlineSettings
from agentpath_sdk.trajectories.assembler import Assembler
from agentpath_sdk.trajectories.files import read_spans, read_trajectories
from agentpath_sdk.trajectories.otlp import to_otlp_json
from agentpath_sdk.trajectories.reconstruct import reconstruct_trace
from agentpath_sdk.trajectories.span_record import SpanRecord, from_sdk

CALLS: Final = 6
SPANS: Final = 2 * CALLS + 2
RUNS: Final = 200
STREAMED_MB: Final = 64
_STREAM: Final = """
import re, sys
from pathlib import Path
from agentpath_sdk.trajectories.files import read_trajectories
runs = sum(1 for _ in read_trajectories(sys.argv[1]))
status = Path("/proc/self/status")
peak = re.search(r"VmHWM:\\s+(\\d+)", status.read_text()) if status.exists() else None
print(runs, int(peak.group(1)) / 1024 if peak else -1)
"""


def run_of(number: int) -> list[SpanRecord]:
    """Return the spans of one run: six model turns with a growing history, six calls, the answer, the agent."""
    trace, root = f"{number + 1:032x}", f"{number * 100 + 1:016x}"
    history = [{"role": "user", "parts": [{"type": "text", "content": f"question {number} " * 10}]}]
    spans: list[SpanRecord] = []

    def add(key: int, name: str, attributes: dict[str, object], parent: str | None) -> None:
        start = 1_700_000_000_000_000_000 + number * 1_000_000 + key * 1_000
        spans.append(
            SpanRecord(
                trace_id=trace,
                span_id=f"{number * 100 + key + 1:016x}",
                parent_span_id=parent,
                name=name,
                attributes=attributes,
                start_unix_nano=start,
                end_unix_nano=start + 900,
                scope=semconv.SCOPE_NAME,
                resource={"service.name": "bench"},
            )
        )

    for turn in range(CALLS + 1):
        call_id = f"call_{number}_{turn}"
        arguments = {"query": f"planet {turn}", "limit": 10, "filters": ["a" * 60, "b" * 60]}
        asked = {"type": "tool_call", "id": call_id, "name": "search", "arguments": arguments}
        part = asked if turn < CALLS else {"type": "text", "content": "an answer"}
        answer = {"role": "assistant", "parts": [part]}
        turn_attributes: dict[str, object] = {
            semconv.OPERATION_NAME: semconv.OP_CHAT,
            semconv.REQUEST_MODEL: "model",
            semconv.INPUT_MESSAGES: orjson.dumps(history).decode(),
            semconv.OUTPUT_MESSAGES: orjson.dumps([answer]).decode(),
            semconv.USAGE_INPUT_TOKENS: 100,
        }
        add(1 + 2 * turn, "chat model", turn_attributes, root)
        if turn == CALLS:
            break
        call: dict[str, object] = {
            semconv.OPERATION_NAME: semconv.OP_EXECUTE_TOOL,
            semconv.TOOL_NAME: "search",
            semconv.TOOL_CALL_ID: call_id,
            semconv.TOOL_CALL_ARGUMENTS: orjson.dumps(arguments).decode(),
            semconv.TOOL_CALL_RESULT: orjson.dumps("r" * 1_000).decode(),
        }
        add(2 + 2 * turn, "execute_tool search", call, root)
        response = {"type": "tool_call_response", "id": call_id, "response": "r" * 1_000}
        history += [answer, {"role": "tool", "parts": [response]}]
    agent: dict[str, object] = {
        semconv.OPERATION_NAME: semconv.OP_INVOKE_AGENT,
        semconv.AGENT_NAME: "bench",
        semconv.INPUT_MESSAGES: orjson.dumps(history[:1]).decode(),
        semconv.RUN_CALLS: CALLS,
    }
    add(0, "invoke_agent bench", agent, None)
    return spans


def _write(path: Path, runs: Iterator[list[SpanRecord]], megabytes: float) -> int:
    size = spans = 0
    with path.open("wb") as file:
        for run in runs:
            line = orjson.dumps(to_otlp_json(run)) + b"\n"
            size += file.write(line)
            spans += len(run)
            if size >= megabytes * 1_000_000:
                break
    return spans


def _runs() -> Iterator[list[SpanRecord]]:
    number = 0
    while True:
        yield run_of(number)
        number += 1


def _reading(folder: Path) -> Iterator[Row]:
    path = folder / "spans.jsonl"
    spans = _write(path, _runs(), 5)

    def parsed() -> None:
        for line in path.read_bytes().splitlines():
            orjson.loads(line)

    def read() -> None:
        for _ in read_spans(path):
            pass

    def rebuilt() -> None:
        for _ in read_trajectories(path):
            pass

    for name, work in (("spans read from OTLP JSON Lines", read), ("same, rebuilt to trajectories", rebuilt)):
        seconds, floor = median_seconds(work, calls=spans, rounds=7), ratio(work, parsed, rounds=5)
        note = f"{1 / seconds:,.0f} spans a second; {floor:.1f} x the time orjson takes to parse"
        yield Row(name=name, value=seconds * 1e6, unit="us per span", note=note)


def _streaming(folder: Path) -> Row:
    path = folder / "large.jsonl"
    _write(path, _runs(), STREAMED_MB)
    done = subprocess.run([sys.executable, "-c", _STREAM, str(path)], capture_output=True, text=True, check=True)
    runs, peak = done.stdout.split()
    note = f"peak of the whole process (Linux); {int(runs):,} runs; a file of any size stays about here"
    return Row(name=f"memory to read a file of {STREAMED_MB} MB", value=float(peak), unit="MB", goal=300, note=note)


def _rebuilding() -> Row:
    runs = [run_of(n) for n in range(RUNS)]

    def work() -> None:
        for run in runs:
            reconstruct_trace(run)

    seconds = median_seconds(work, calls=RUNS, rounds=9)
    note = f"{SPANS} spans, {CALLS} calls"
    return Row(name="one run rebuilt", value=seconds * 1e6, unit="us", note=note)


def _from_sdk() -> Row:
    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    attributes = {key: value for key, value in run_of(0)[1].attributes.items() if isinstance(value, str)}
    provider.get_tracer(semconv.SCOPE_NAME).start_span("execute_tool search", attributes=attributes).end()
    (span,) = exporter.get_finished_spans()
    seconds = median_seconds(lambda: [from_sdk(span) for _ in range(2_000)], calls=2_000)
    return Row(name="a record of an SDK span", value=seconds * 1e6, unit="us")


class _Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def _assembler(clock: _Clock, *, keep_history: bool = False, open_traces: int = 10_000) -> Assembler:
    return Assembler(OnlineSettings(max_open_traces=open_traces), clock, keep_history=keep_history)


def _live(assembler: Assembler, clock: _Clock, first: int, count: int) -> int:
    """Feed whole runs, one every hundredth of a second, and return how many had their verdict."""
    found = 0
    # Six digits throughout, so that every run is as large as the next.
    for number in range(100_000 + first, 100_000 + first + count):
        clock.now += 0.01
        for record in run_of(number):
            assembler.add(record)
        found += len(assembler.due())
    return found


def _assembling() -> Iterator[Row]:
    runs = [run_of(n) for n in range(RUNS)]

    def work() -> None:
        assembler = _assembler(_Clock())
        for run in runs:
            for record in run:
                assembler.add(record)
            assembler.due()

    seconds = median_seconds(work, calls=RUNS * SPANS, rounds=9)
    yield Row(name="a span assembled, its run rebuilt", value=seconds * 1e6, unit="us per span", note="worker thread")


def _held(work: Callable[[], object]) -> int:
    gc.collect()
    before = tracemalloc.get_traced_memory()[0]
    kept = work()
    gc.collect()
    held = tracemalloc.get_traced_memory()[0] - before
    del kept
    return held


def _memory() -> Iterator[Row]:
    tracemalloc.start()
    try:
        for keep_history in (False, True):
            yield _open_trace_memory(keep_history=keep_history)
        yield _growth()
    finally:
        tracemalloc.stop()


def _open_trace_memory(*, keep_history: bool) -> Row:
    count = 300

    def fill() -> Assembler:
        assembler = _assembler(_Clock(), keep_history=keep_history)
        for number in range(count):
            for record in run_of(number)[:-1]:  # the agent's own span is still to come
                assembler.add(record)
        return assembler

    text = sum(len(v) for r in run_of(0)[:-1] for v in r.attributes.values() if isinstance(v, str))
    name = "memory per open trace" + (", chat histories kept" if keep_history else "")
    note = f"{SPANS - 1} spans with {text / 1_000:.0f} kB of text"
    return Row(name=name, value=_held(fill) / count / 1_000, unit="kB", note=note)


def _growth() -> Row:
    clock = _Clock()
    # A smaller bound, so that every table is full before the first reading.
    assembler = _assembler(clock, open_traces=1_000)
    _live(assembler, clock, 0, 2_000)
    grown = _held(lambda: _live(assembler, clock, 2_000, 10_000))
    note = f"from 2,000 to 12,000 runs; {assembler.retained_traces:,} kept for late spans"
    return Row(name="growth over 10,000 more runs", value=grown / 1_000, unit="kB", goal=100, note=note)


def rows() -> list[Row]:
    """Return what reading, rebuilding and assembling cost."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        reading = [*_reading(folder), _streaming(folder)]
    return [*reading, _rebuilding(), _from_sdk(), *_assembling(), *_memory()]
