"""What every record becomes in the application's own telemetry."""

from __future__ import annotations

from typing import Any

import pytest
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from agentpath_sdk import semconv
from agentpath_sdk._guard import HEALTH
from agentpath_sdk.online.emit import EvaluateSpans, LogEvents, Metrics, observe_health, score_attributes
from agentpath_sdk.online.record import ScoreRecord
from agentpath_sdk.trajectories.model import GoalWord

from .fakes import SPAN, TRACE, path_score, score_record


def test_the_attributes_say_score_name_label_gold_path_and_reason() -> None:
    attributes = score_attributes(score_record())
    assert attributes["agentpath.score.value"] == 0.75
    assert attributes["agentpath.score.name"] == "composite"
    assert attributes["agentpath.score.label"] == "bad_path"
    assert attributes["agentpath.metric.tool_accuracy"] == 0.75
    assert attributes["agentpath.gold_path.id"] == "mars"
    assert attributes["agentpath.gold_path.version"] == "3"
    assert attributes["agentpath.gold_path.match"] == "text"
    assert attributes["agentpath.run.completeness"] == "complete"
    assert attributes["agentpath.run.first_divergence"] == "step 2: retrieval is extra"
    assert attributes["agentpath.findings"] == ("extra_step",)


def test_a_run_that_is_not_evaluated_has_a_reason_and_no_value() -> None:
    attributes = score_attributes(score_record(value=None))
    assert attributes["agentpath.score.not_evaluated"] == "no gold path"
    assert "agentpath.score.value" not in attributes


def test_no_attribute_name_is_both_a_leaf_and_a_prefix() -> None:
    names = sorted({*score_attributes(score_record()), *score_attributes(score_record(value=None))})
    assert not [(a, b) for a in names for b in names if b.startswith(a + ".")]


def log_events() -> tuple[LogEvents, InMemoryLogRecordExporter]:
    provider, exporter = LoggerProvider(shutdown_on_exit=False), InMemoryLogRecordExporter()
    provider.add_log_record_processor(SimpleLogRecordProcessor(exporter))
    return LogEvents(provider), exporter


def test_one_log_event_per_record_in_the_agent_spans_context() -> None:
    emit, exporter = log_events()
    emit(score_record())
    (found,) = exporter.get_finished_logs()
    record = found.log_record
    assert record.event_name == "gen_ai.evaluation.result"
    assert (f"{record.trace_id:032x}", f"{record.span_id:016x}") == (TRACE, SPAN)
    attributes = dict(record.attributes or {})
    assert attributes["gen_ai.evaluation.name"] == "composite"
    assert attributes["gen_ai.evaluation.score.value"] == 0.75
    assert attributes["gen_ai.evaluation.score.label"] == "bad_path"
    assert attributes["gen_ai.evaluation.explanation"] == "step 2: retrieval is extra"
    assert attributes["gen_ai.agent.name"] == "planner"
    assert attributes["gen_ai.conversation.id"] == "t1"


def test_a_failed_scorer_shows_as_error_type_without_a_value() -> None:
    emit, exporter = log_events()
    emit(score_record(value=None, error_type="ValueError"))
    attributes = dict(exporter.get_finished_logs()[0].log_record.attributes or {})
    assert attributes["error.type"] == "ValueError"
    assert "gen_ai.evaluation.score.value" not in attributes
    assert attributes["gen_ai.evaluation.explanation"] == "not evaluated: no gold path"


def test_a_goal_told_for_a_forgotten_run_is_a_result_of_its_own() -> None:
    emit, exporter = log_events()
    emit.goal(TRACE, SPAN, GoalWord(success=False, reason="refund bounced", source="billing"), 5)
    record = exporter.get_finished_logs()[0].log_record
    assert f"{record.span_id:016x}" == SPAN
    attributes = dict(record.attributes or {})
    assert attributes["gen_ai.evaluation.name"] == "goal_success"
    assert attributes["gen_ai.evaluation.score.value"] == 0.0
    assert attributes["gen_ai.evaluation.explanation"] == "refund bounced"


def points(reader: InMemoryMetricReader, name: str) -> list[Any]:
    data = reader.get_metrics_data()
    if data is None:
        return []
    return [
        point
        for resource in data.resource_metrics
        for scope in resource.scope_metrics
        for metric in scope.metrics
        if metric.name == name
        for point in metric.data.data_points
    ]


def metrics(**given: int) -> tuple[Metrics, InMemoryMetricReader]:
    reader = InMemoryMetricReader()
    return Metrics(MeterProvider([reader], shutdown_on_exit=False), **given), reader


def test_counter_and_histogram_carry_low_cardinality_labels_and_literal_bounds() -> None:
    emit, reader = metrics()
    for value in (0.25, 0.75):
        emit(score_record(value=value))
    (histogram,) = points(reader, semconv.METRIC_SCORE_HISTOGRAM)
    assert (histogram.count, histogram.sum) == (2, 1.0)
    assert list(histogram.explicit_bounds) == [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]
    assert "0.30000000000000004" not in str(histogram.explicit_bounds)
    assert dict(histogram.attributes) == {
        "gen_ai.agent.name": "planner",
        "agentpath.gold_path.id": "mars",
        "agentpath.gold_path.version": "3",
        "agentpath.score.label": "bad_path",
    }
    (counter,) = points(reader, semconv.METRIC_TRAJECTORIES)
    assert counter.value == 2


@pytest.mark.parametrize(
    ("record", "counted"),
    [
        (score_record(revision=2), 0),
        (score_record(value=None), 1),
        (score_record(completeness="presumed_incomplete"), 1),
    ],
    ids=["later revision", "not evaluated", "presumed incomplete"],
)
def test_the_histogram_takes_only_first_verdicts_on_complete_runs(record: ScoreRecord, counted: int) -> None:
    emit, reader = metrics()
    emit(record)
    assert sum(point.count for point in points(reader, semconv.METRIC_SCORE_HISTOGRAM)) == 0
    assert sum(point.value for point in points(reader, semconv.METRIC_TRAJECTORIES)) == counted


def test_label_sets_are_bounded() -> None:
    emit, reader = metrics(max_label_sets=3)
    for number in range(50):
        emit(score_record(agent=f"agent {number}"))
    agents = {point.attributes["gen_ai.agent.name"] for point in points(reader, semconv.METRIC_TRAJECTORIES)}
    assert agents == {"agent 0", "agent 1", "agent 2", "_other"}
    assert sum(point.value for point in points(reader, semconv.METRIC_TRAJECTORIES)) == 50


def test_the_evaluate_span_is_a_child_of_the_agent_and_does_not_stretch_the_trace() -> None:
    exporter, provider = InMemorySpanExporter(), TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    record = score_record()
    EvaluateSpans(provider)(record)
    (span,) = exporter.get_finished_spans()
    assert span.start_time == span.end_time == record.root_end_unix_nano
    assert span.parent is not None
    assert span.context is not None
    assert (f"{span.context.trace_id:032x}", f"{span.parent.span_id:016x}") == (TRACE, SPAN)
    attributes = dict(span.attributes or {})
    assert attributes["gen_ai.operation.name"] == "evaluation"
    assert attributes["agentpath.score.value"] == 0.75


def test_the_ambient_span_of_whoever_runs_the_worker_is_not_the_parent() -> None:
    exporter, provider = InMemorySpanExporter(), TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    with provider.get_tracer("test").start_as_current_span("unrelated"):
        EvaluateSpans(provider)(score_record())
    evaluate = exporter.get_finished_spans()[0]
    assert evaluate.parent is not None
    assert f"{evaluate.parent.span_id:016x}" == SPAN


def test_health_counters_can_be_watched_as_a_metric() -> None:
    reader = InMemoryMetricReader()
    observe_health(MeterProvider([reader], shutdown_on_exit=False))
    HEALTH.count("online.dropped_spans", 7)
    found = {p.attributes["agentpath.counter"]: p.value for p in points(reader, semconv.METRIC_HEALTH)}
    assert found["online.dropped_spans"] == 7


def test_findings_of_one_kind_are_named_once() -> None:
    findings = path_score().findings * 3
    assert score_attributes(score_record(score=path_score(findings=findings)))["agentpath.findings"] == ("extra_step",)
