"""``configure()``: joins, replaces, reloads, and is loud about what is wrong at set-up."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import NoOpTracerProvider

from agentpath_sdk import redaction
from agentpath_sdk.configuration import Handle, configure, flush, shutdown
from agentpath_sdk.errors import AgentPathError, ConfigurationError, FileFormatError
from agentpath_sdk.gold.model import CallStep, GoldPath
from agentpath_sdk.online.exporter import AgentPathExporter
from agentpath_sdk.tracing.decorators import trace_agent, trace_tool
from agentpath_sdk.tracing.outcomes import RunRef, current_run, record_outcome
from agentpath_sdk.tracing.recorder import get_recorder

from .fakes import RecordingExporter

GOLD = GoldPath(id="two", agent="planner", steps=(CallStep(tool="t1"), CallStep(tool="t2")))
GOLD_FILE = "id: two\nagent: planner\nsteps:\n  - tool: t1\n  - tool: t2\n"


class App:
    """An application with its own telemetry, all in memory."""

    def __init__(self) -> None:
        self.spans, self.logs, self.metrics = (
            InMemorySpanExporter(),
            InMemoryLogRecordExporter(),
            InMemoryMetricReader(),
        )
        self.tracer_provider = TracerProvider(shutdown_on_exit=False)
        self.tracer_provider.add_span_processor(SimpleSpanProcessor(self.spans))
        self.logger_provider = LoggerProvider(shutdown_on_exit=False)
        self.logger_provider.add_log_record_processor(SimpleLogRecordProcessor(self.logs))
        self.meter_provider = MeterProvider([self.metrics], shutdown_on_exit=False)
        self.scores = RecordingExporter()

    def configure(self, **given: Any) -> Handle:
        standard: dict[str, Any] = {"gold": GOLD, "score_exporters": [self.scores]}
        return configure(
            tracer_provider=self.tracer_provider,
            logger_provider=self.logger_provider,
            meter_provider=self.meter_provider,
            **(standard | given),
        )

    def names(self) -> list[str]:
        return [span.name for span in self.spans.get_finished_spans()]


@pytest.fixture
def app() -> Iterator[App]:
    yield App()
    shutdown(1.0)
    get_recorder().use_provider(None)


@trace_tool
def t1(x: int) -> int:
    return x


@trace_tool
def t2(x: int) -> int:
    return x


@trace_agent(name="planner")
def planner(query: str, *, last: Callable[[int], int] = t2) -> int:
    return last(t1(1))


def test_one_call_and_one_decorator_give_record_event_metric_and_evaluate_span(app: App) -> None:
    with app.configure() as handle:
        planner("q")
        assert handle.flush(5.0)
        (record,) = app.scores.records
        assert (record.score.value, record.completeness, record.gold_path_match) == (1.0, "complete", "agent")
        assert app.names() == ["execute_tool t1", "execute_tool t2", "invoke_agent planner", "evaluate"]
        (event,) = app.logs.get_finished_logs()
        assert f"{event.log_record.span_id:016x}" == record.span_id
        data = app.metrics.get_metrics_data()
        assert data is not None
        assert "agentpath.trajectory.score" in data.to_json()


@pytest.mark.parametrize("how", ["force_flush", "shutdown"])
def test_flushing_or_shutting_the_provider_down_sends_the_evaluate_spans_too(app: App, how: str) -> None:
    app.tracer_provider = TracerProvider(shutdown_on_exit=False)
    app.tracer_provider.add_span_processor(BatchSpanProcessor(app.spans, schedule_delay_millis=60_000))
    app.configure()
    planner("q")
    getattr(app.tracer_provider, how)()
    assert app.names().count("evaluate") == 1


def test_configuring_again_replaces_and_doubles_nothing(app: App) -> None:
    app.configure()
    second = RecordingExporter()
    app.configure(score_exporters=[second])
    planner("q")
    assert flush(5.0)
    assert app.scores.records == []
    assert app.scores.closed
    assert len(second.records) == 1
    assert app.names().count("evaluate") == 1


def test_forward_to_puts_the_score_on_the_agents_span_and_drops_the_evaluate_span(app: App) -> None:
    app.tracer_provider = TracerProvider(shutdown_on_exit=False)
    following = SimpleSpanProcessor(app.spans)
    for _ in range(2):  # the second time with the same processor: found again, not added again
        handle = app.configure(forward_to=following)
    planner("q")
    assert handle.flush(5.0)
    assert sorted(app.names()) == ["execute_tool t1", "execute_tool t2", "invoke_agent planner"]
    (root,) = (s for s in app.spans.get_finished_spans() if s.name == "invoke_agent planner")
    assert (root.attributes or {})["agentpath.score.value"] == 1.0


def test_forward_to_takes_an_exporter_too(app: App) -> None:
    app.tracer_provider = TracerProvider(shutdown_on_exit=False)
    handle = app.configure(forward_to=app.spans)
    planner("q")
    assert handle.flush(5.0)
    assert len(app.names()) == 3


def test_a_wrapping_exporter_made_before_configure_is_found(app: App) -> None:
    app.tracer_provider = TracerProvider(shutdown_on_exit=False)
    app.tracer_provider.add_span_processor(SimpleSpanProcessor(AgentPathExporter(app.spans)))
    handle = app.configure()
    planner("q")
    assert handle.flush(5.0)
    assert sorted(app.names()) == ["execute_tool t1", "execute_tool t2", "invoke_agent planner"]
    (root,) = (s for s in app.spans.get_finished_spans() if s.name == "invoke_agent planner")
    assert (root.attributes or {})["agentpath.score.value"] == 1.0
    assert len(app.scores.records) == 1


@pytest.mark.parametrize(("wanted", "expected"), [(True, 1), (False, 0), (None, 0)])
def test_the_evaluate_span_can_be_had_or_not_whatever_the_default(app: App, wanted: bool | None, expected: int) -> None:
    app.scores.scores_on_traces = True  # type: ignore[attr-defined] # what a native exporter says of itself
    handle = app.configure(evaluate_span=wanted)
    planner("q")
    handle.flush(5.0)
    assert app.names().count("evaluate") == expected


def test_an_outcome_told_later_makes_a_revision(app: App) -> None:
    refs: list[RunRef | None] = []

    @trace_tool(name="t2")
    def spy(x: int) -> int:
        refs.append(current_run())
        return x

    handle = app.configure()
    planner("q", last=spy)
    handle.flush(5.0)
    record_outcome(False, run=str(refs[0]), reason="refund bounced")
    handle.flush(5.0)
    assert [(r.revision, r.score.label) for r in app.scores.records] == [(1, "good_path"), (2, "unlucky")]


def test_changed_gold_files_are_picked_up_and_broken_ones_change_nothing(app: App, tmp_path: Path) -> None:
    file = tmp_path / "gold.yaml"
    file.write_text(GOLD_FILE)
    handle = app.configure(gold=tmp_path)
    file.write_text("steps: [")
    assert not handle.reload()
    planner("q")
    handle.flush(5.0)
    file.write_text(GOLD_FILE.replace("t2", "t3"))
    assert handle.reload()
    planner("q")
    handle.flush(5.0)
    assert [record.score.metrics["tool_accuracy"] for record in app.scores.records] == [1.0, 0.5]


def test_gold_paths_come_from_the_environment_too(app: App, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "gold.yaml").write_text(GOLD_FILE)
    monkeypatch.setenv("AGENTPATH_GOLD", str(tmp_path))
    monkeypatch.setenv("AGENTPATH_QUIET_SECONDS", "0.5")
    handle = app.configure(gold=None)
    assert [path.id for path in handle.registry.paths] == ["two"]
    assert handle.pipeline.settings.quiet_seconds == 0.5


def test_without_gold_paths_runs_are_not_evaluated_and_say_why(app: App) -> None:
    handle = app.configure(gold=[])
    planner("q")
    handle.flush(5.0)
    (record,) = app.scores.records
    assert record.score.value is None
    assert (record.score.not_evaluated or "").startswith("no gold path")


def test_a_rule_of_the_application_redacts_what_is_traced_until_shutdown(app: App) -> None:
    def rule(_name: str | None, value: Any) -> Any:
        return "[gone]" if value == 1 else value

    app.configure(redact=[rule])
    planner("q")
    shutdown(5.0)
    assert '{"x":"[gone]"}' in str([dict(s.attributes or {}) for s in app.spans.get_finished_spans()]).replace(" ", "")
    assert redaction.redact({"x": 1}) == {"x": 1}


@pytest.mark.parametrize("timeout", [float("inf"), 1e300])
def test_flush_may_be_told_to_wait_as_long_as_it_takes(app: App, timeout: float) -> None:
    handle = app.configure()
    planner("q")
    assert flush(timeout)
    assert len(app.scores.records) == 1
    assert handle.shutdown(timeout)


def test_after_shutdown_agents_run_and_nothing_is_scored(app: App) -> None:
    handle = app.configure()
    handle.shutdown()
    assert planner("q") == 1
    assert flush() is True
    assert app.scores.records == []
    assert handle.shutdown()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"quiet_secs": 1}, "no setting 'quiet_secs'"),
        ({"quiet_seconds": -1}, "quiet_seconds=-1"),
        ({"quiet_seconds": "5"}, "quiet_seconds='5'"),
        ({"quiet_seconds": float("nan")}, "quiet_seconds=nan"),
        ({"sample_rate": 1.5}, "from 0 to 1"),
        ({"capture_content": "no"}, "True or False"),
        ({"weights": "balance"}, "accuracy, balanced, efficiency"),
        ({"queue_size": 1.5}, "queue_size=1.5"),
        ({"queue_size": 0}, "at least 1"),
        ({"mode": "alligned"}, "alligned"),
        ({"weights": ["tool_accuracy"]}, "mapping of metric to weight"),
        ({"weights": {"tool_acuracy": 1}}, "unknown metric 'tool_acuracy'"),
        ({"weights": {"tool_accuracy": 0}}, "more than 0"),
        ({"terminal_tools": "response"}, "set of tool names"),
        ({"evaluate_span": "no"}, "evaluate_span='no'"),
        ({"score_exporters": print}, r"give a list, e\.g\."),
        ({"score_exporters": None}, r"give a list, e\.g\."),
        ({"score_exporters": [RecordingExporter]}, "is a class"),
        ({"redact": len}, "list of functions"),
        ({"redact": ["secret"]}, "list of functions"),
        ({"gold": 5}, "gold: found 5; give a file, a folder"),
        ({"gold": ""}, "gold: found ''"),
        ({"gold": {"id": "two", "steps": []}}, "gold: found dict"),
        ({"gold": [GOLD, None]}, "gold: found None"),
        ({"forward_to": "http://localhost:4318"}, "forward_to: found str"),
        ({"forward_to": BatchSpanProcessor}, "forward_to: found BatchSpanProcessor"),
    ],
)
def test_wrong_settings_are_refused_with_what_to_do(app: App, given: dict[str, Any], words: str) -> None:
    app.configure()
    with pytest.raises(ConfigurationError, match=words):
        app.configure(**given)
    planner("q")
    assert flush(5.0)
    assert len(app.scores.records) == 1, "what was configured before goes on"


@pytest.mark.parametrize("name", ["logger_provider", "meter_provider", "tracer_provider"])
def test_a_provider_that_is_none_is_refused(name: str) -> None:
    with pytest.raises(ConfigurationError, match="str"):
        configure(gold=GOLD, **{name: "provider"})  # type: ignore[arg-type] - as people do


@pytest.mark.parametrize("around", [SimpleSpanProcessor, BatchSpanProcessor, None])
def test_what_gets_every_span_already_is_not_forwarded_to(app: App, around: Any) -> None:
    """Else each span would be sent twice."""
    target = InMemorySpanExporter() if around is not None else SimpleSpanProcessor(InMemorySpanExporter())
    app.tracer_provider.add_span_processor(target if around is None else around(target))
    with pytest.raises(ConfigurationError, match="already"):
        app.configure(forward_to=target)


def test_an_exporter_by_its_methods_alone_is_forwarded_to(app: App) -> None:
    class Exporter:
        """No subclass of anything."""

        def __init__(self) -> None:
            inner = InMemorySpanExporter()
            self.export, self.shutdown, self.force_flush = inner.export, inner.shutdown, inner.force_flush
            self.sent = inner.get_finished_spans

    exporter = Exporter()
    app.configure(forward_to=exporter)
    planner("q")
    assert flush(5.0)
    assert [span.name for span in exporter.sent()][-1] == "invoke_agent planner"


def test_a_gold_file_that_cannot_be_read_leaves_what_was_configured_running(app: App, tmp_path: Path) -> None:
    app.configure()
    (tmp_path / "gold.yaml").write_text("id: x\nsteps: 5\n")
    with pytest.raises(FileFormatError, match=r"gold\.yaml"):
        app.configure(gold=tmp_path)
    planner("q")
    assert flush(5.0)
    assert len(app.scores.records) == 1


def test_a_gold_path_that_is_not_there_is_an_error(app: App, tmp_path: Path) -> None:
    with pytest.raises(AgentPathError):
        app.configure(gold=tmp_path / "nowhere")


def test_a_provider_that_takes_no_processors_is_refused(app: App) -> None:
    with pytest.raises(ConfigurationError, match="NoOpTracerProvider"):
        configure(tracer_provider=NoOpTracerProvider())


def test_health_names_destinations_and_counters(app: App) -> None:
    handle = app.configure()
    planner("q")
    handle.flush(5.0)
    state = handle.health()
    assert [(d.name, d.sent, d.queued) for d in state.destinations] == [("RecordingExporter.1", 1, 0)]
    assert (state.queued_spans, state.open_traces, state.held_spans) == (0, 0, 0)
