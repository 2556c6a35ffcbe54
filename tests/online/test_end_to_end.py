"""Decorated agents to scores, through everything a process has: what users' bug reports have taught."""

from __future__ import annotations

import asyncio
import json
import logging
import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import SpanLimits, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.id_generator import IdGenerator
from pydantic import SecretStr

from agentpath_jsonl import JsonlScoreExporter, JsonlSpanExporter
from agentpath_sdk._guard import HEALTH
from agentpath_sdk.configuration import configure, shutdown
from agentpath_sdk.gold.building import build_paths
from agentpath_sdk.gold.model import CallStep, GoldPath
from agentpath_sdk.testing import capture
from agentpath_sdk.tracing.context import TracingExecutor
from agentpath_sdk.tracing.decorators import trace_agent, trace_tool


def gold_of(*steps: Any, agent: str = "agent") -> GoldPath:
    built = build_paths({"id": "gold", "agent": agent, "steps": list(steps)}, source=None)
    assert built.problems == []
    return built.paths[0][1]


# --- calls that belong to nobody --------------------------------------------------------------------------------------


@trace_tool
def fetch(x: int) -> int:
    return x


def test_a_call_from_a_bare_thread_is_recorded_counted_and_nobodys_step() -> None:
    @trace_agent(name="agent")
    def agent(pool: Any) -> int:
        return int(pool.submit(fetch, 1).result())

    with capture() as captured, ThreadPoolExecutor(1) as pool:
        pool.submit(int).result()  # the thread exists before the agent, so its context is empty
        agent(pool)
        assert captured.tools("agent") == []
        assert len({span.context.trace_id for span in captured.spans if span.context}) == 2
        assert any("unattached" in name for name in HEALTH.counts())
    with capture() as captured, ThreadPoolExecutor(1) as pool:
        agent(TracingExecutor(pool))
        assert captured.tools("agent") == ["fetch"]


# --- cancelled --------------------------------------------------------------------------------------------------------


async def test_a_cancelled_run_is_not_evaluated_and_never_a_zero() -> None:
    running = asyncio.Event()

    @trace_tool
    async def wait_for_ever() -> None:
        running.set()
        await asyncio.Event().wait()

    @trace_agent(name="agent")
    async def agent() -> None:
        await wait_for_ever()

    with capture(gold=gold_of({"tool": "wait_for_ever"})) as captured:
        task = asyncio.ensure_future(agent())
        await running.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        (record,) = captured.records
        assert record.stop_reason == "cancelled"
        assert record.score.value is None
        assert "cancelled" in (record.score.not_evaluated or "")
        assert captured.trajectory().steps[0].outcome == "cancelled"


def test_a_keyboard_interrupt_in_a_tool_reaches_the_caller_and_is_a_cancelled_run() -> None:
    @trace_tool
    def interrupted() -> None:
        raise KeyboardInterrupt

    @trace_agent(name="agent")
    def agent() -> None:
        interrupted()

    with capture(gold=gold_of({"tool": "interrupted"})) as captured:
        with pytest.raises(KeyboardInterrupt):
            agent()
        assert captured.score().value is None


# --- errors that are returned -----------------------------------------------------------------------------------------


def test_returned_errors_fail_their_step_and_only_theirs() -> None:
    class ToolMessage:
        def __init__(self) -> None:
            self.type, self.status, self.content, self.tool_call_id = "tool", "error", "404 not found", "c1"

    results: dict[str, Callable[[], Any]] = {
        "mcp": lambda: {"isError": True, "content": [{"type": "text", "text": "no such page"}]},
        "null_error": lambda: {"error": None, "rows": 3},
        "raises": lambda: int("bad id"),
        "sentence": lambda: "No error was found",
    }
    tools = {name: trace_tool(work, name=name) for name, work in results.items()}

    @trace_agent(name="agent")
    def agent() -> None:
        for name, tool in tools.items():
            if name == "raises":
                with pytest.raises(ValueError, match="bad id"):
                    tool()
            else:
                tool()

    steps = [{"tool": name, "must_succeed": True} for name in results]
    with capture(gold=gold_of(*steps)) as captured:
        agent()
        outcomes = {step.tool: step.outcome for step in captured.trajectory().steps}
        assert outcomes == {"mcp": "error", "null_error": "ok", "raises": "error", "sentence": "ok"}
        failed = {finding.tool for finding in captured.score().findings}
        assert failed == {"mcp", "raises"}


# --- values cut by limits ---------------------------------------------------------------------------------------------

NOTE = {"id": 42, "city": "Санкт-Петербург", "text": "😀" * 300}


@trace_tool
def note(id: int, city: str, text: str) -> None:  # noqa: A002 - the argument's name is the point
    return None


@trace_agent(name="agent")
def note_agent() -> None:
    note(**NOTE)


def scored_with(gold: GoldPath, provider: TracerProvider, **settings: Any) -> Any:
    class Keep:
        records: list[Any] = []  # noqa: RUF012 - one test's own class

        def export(self, records: Any) -> Any:
            self.records.extend(records)
            return type("R", (), {"retry": (), "retry_after_seconds": None})()

        def flush(self, timeout: float) -> bool:
            return True

        def shutdown(self, timeout: float) -> None:
            return None

    handle = configure(gold=gold, tracer_provider=provider, score_exporters=[Keep()], evaluate_span=False, **settings)
    try:
        note_agent()
        assert handle.flush(5.0)
    finally:
        handle.shutdown()
    return Keep.records[-1].score


@pytest.mark.parametrize("cut_by", ["the SDK's limit", "the provider's limit"])
def test_cut_arguments_are_unknown_for_an_exact_gold_path_and_no_matter_for_names(cut_by: str) -> None:
    def provider() -> TracerProvider:
        if cut_by == "the SDK's limit":
            return TracerProvider(shutdown_on_exit=False)
        return TracerProvider(span_limits=SpanLimits(max_span_attribute_length=200), shutdown_on_exit=False)

    settings = {"arguments_limit": 200} if cut_by == "the SDK's limit" else {}
    exact = scored_with(gold_of({"tool": "note", "arguments": NOTE}), provider(), **settings)
    assert exact.value is None
    assert "truncated" in exact.not_evaluated
    assert scored_with(gold_of({"tool": "note"}), provider(), **settings).value == 1.0


# --- secrets ----------------------------------------------------------------------------------------------------------

SECRETS = ("sk-test-111", "sk-test-222", "tok-333", "pw-444", "AIza-555")


class Client:
    def __init__(self) -> None:
        self.api_key = "sk-test-111"

    @trace_tool
    def call(self, **arguments: Any) -> None:
        raise ValueError("call with sk-test-222 failed")


@trace_agent(name="agent")
def secretive(query: str) -> None:
    Client().call(
        api_key="sk-test-222",
        headers={"Authorization": "Bearer tok-333"},
        password=SecretStr("pw-444"),
        url="https://x.test/?key=AIza-555",
        author="Ann",
        session_count=3,
    )


@pytest.mark.parametrize("captured", [True, False])
def test_no_secret_is_in_any_output_and_names_still_score(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, captured: bool
) -> None:
    logs, reader, spans = InMemoryLogRecordExporter(), InMemoryMetricReader(), InMemorySpanExporter()
    logger_provider = LoggerProvider(shutdown_on_exit=False)
    logger_provider.add_log_record_processor(SimpleLogRecordProcessor(logs))
    provider = TracerProvider(shutdown_on_exit=False)
    for exporter in (spans, JsonlSpanExporter(tmp_path / "spans.jsonl")):
        provider.add_span_processor(SimpleSpanProcessor(exporter))
    gold = [
        gold_of({"tool": "call", "arguments": {"author": "Bob", "api_key": "sk-test-222"}}, agent="agent"),
        GoldPath(id="names", agent="agent", steps=(CallStep(tool="call"),)),
    ]
    with (
        caplog.at_level(logging.DEBUG),
        configure(
            gold=gold[:1] if captured else gold[1:],
            tracer_provider=provider,
            logger_provider=logger_provider,
            meter_provider=MeterProvider([reader], shutdown_on_exit=False),
            score_exporters=[JsonlScoreExporter(tmp_path / "scores.jsonl")],
            capture_content=captured,
        ) as handle,
    ):
        with pytest.raises(ValueError, match="sk-test-222"):
            secretive("q")
        handle.flush(5.0)
        health = repr(handle.health())
    metrics = reader.get_metrics_data()
    everything = "\n".join(
        [
            *(span.to_json() for span in spans.get_finished_spans()),
            *(json.dumps(dict(log.log_record.attributes or {}), default=str) for log in logs.get_finished_logs()),
            *(path.read_text() for path in tmp_path.iterdir()),
            metrics.to_json() if metrics is not None else "",
            caplog.text,
            health,
        ]
    )
    assert not [secret for secret in SECRETS if secret in everything]
    (score,) = (json.loads(line) for line in (tmp_path / "scores.jsonl").read_text().splitlines())
    if captured:
        assert "Ann" in everything
        assert '"session_count": 3' in everything.replace('\\"', '"').replace('":3', '": 3')
    else:
        assert "Ann" not in everything
        assert "ValueError" in everything
        assert score["score"] == 1.0


# --- nothing expected, nothing known ----------------------------------------------------------------------------------


def test_without_a_gold_path_there_is_no_score_sample() -> None:
    reader = InMemoryMetricReader()
    provider = TracerProvider(shutdown_on_exit=False)
    meters = MeterProvider([reader], shutdown_on_exit=False)
    with configure(gold=[], tracer_provider=provider, meter_provider=meters) as handle:
        note_agent()
        handle.flush(5.0)
        data = reader.get_metrics_data()
    assert data is None or "agentpath.trajectory.score" not in data.to_json()


# --- sampling ---------------------------------------------------------------------------------------------------------


class SeededIds(IdGenerator):
    """Ids that look random and are the same in every run."""

    def __init__(self) -> None:
        self._random = random.Random(7)

    def generate_trace_id(self) -> int:
        return self._random.getrandbits(128) or 1

    def generate_span_id(self) -> int:
        return self._random.getrandbits(64) or 1


def test_runs_are_sampled_whole_and_the_rest_gives_no_verdict() -> None:
    @trace_tool
    def nested() -> None:
        return None

    @trace_tool
    def tool() -> None:
        nested()

    @trace_agent(name="agent")
    def agent() -> None:
        tool()

    with capture(gold=gold_of({"tool": "tool"}, {"tool": "nested"}), sample_rate=0.5) as captured:
        # Ids that count up would all fall on one side of the rate.
        captured.provider.id_generator = SeededIds()
        for _ in range(400):
            agent()
        per_trace: dict[int, int] = {}
        for span in captured.spans:
            assert span.context is not None
            per_trace[span.context.trace_id] = per_trace.get(span.context.trace_id, 0) + 1
        assert set(per_trace.values()) == {3}
        assert 160 <= len(per_trace) <= 240
        assert {record.score.value for record in captured.records} == {1.0}
        assert len(captured.records) == len(per_trace)


@pytest.fixture(autouse=True)
def _nothing_left_configured() -> Any:
    yield
    shutdown(1.0)
