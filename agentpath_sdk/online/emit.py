"""Where every record goes without any set-up: a log event, two metrics, and a child span or root attributes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Final, TypeAlias

from opentelemetry import context as context_api
from opentelemetry import metrics, trace
from opentelemetry._logs import LoggerProvider, LogRecord, SeverityNumber, get_logger
from opentelemetry.context import Context
from opentelemetry.metrics import CallbackOptions, MeterProvider, Observation
from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags, TracerProvider

from agentpath_sdk import semconv
from agentpath_sdk._guard import HEALTH
from agentpath_sdk.online.record import ScoreRecord
from agentpath_sdk.trajectories.model import GoalWord

__all__ = [
    "SCORE_BOUNDS",
    "Emitter",
    "EvaluateSpans",
    "LogEvents",
    "Metrics",
    "explanation",
    "observe_health",
    "score_attributes",
    "span_context",
]

SCORE_BOUNDS: Final = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
"""Upper bounds of the score histogram, as literals: computed ones show as le="0.30000000000000004"."""

_OTHER: Final = "_other"
_GOAL_SUCCESS: Final = "goal_success"


def _version() -> str:
    try:
        return version("agentpath-sdk")
    except PackageNotFoundError:  # run from a source tree
        return ""


_VERSION: Final = _version()


Emitter: TypeAlias = Callable[[ScoreRecord], None]
"""Receives every record, on the worker; may raise (counted)."""


def score_attributes(record: ScoreRecord) -> dict[str, Any]:
    """Return the attributes that say the score on a span: of the agent's root span or of the evaluate span."""
    return {name: value for name, value in _score_attributes(record) if value is not None}


def _score_attributes(record: ScoreRecord) -> Iterator[tuple[str, Any]]:
    score = record.score
    yield semconv.SCORE_VALUE, score.value
    yield semconv.SCORE_NAME, score.name
    yield semconv.SCORE_LABEL, score.label
    yield semconv.SCORE_NOT_EVALUATED, score.not_evaluated
    for name, value in score.metrics.items():
        yield semconv.METRIC_PREFIX + name, value
    yield semconv.GOLD_PATH_ID, score.gold_path_id
    yield semconv.GOLD_PATH_VERSION, score.gold_path_version
    yield semconv.GOLD_PATH_MATCH, record.gold_path_match
    yield semconv.RUN_COMPLETENESS, record.completeness
    yield semconv.RUN_REVISION, record.revision
    yield semconv.RUN_STEPS, record.steps
    yield semconv.RUN_STOP_REASON, record.stop_reason
    yield semconv.RUN_FIRST_DIVERGENCE, score.alignment.first_divergence
    yield semconv.FINDINGS, tuple(dict.fromkeys(finding.kind for finding in score.findings)) or None
    yield semconv.SCORER_VERSION, score.scorer_version
    yield semconv.RECORD_ID, record.id
    yield semconv.ERROR_TYPE, record.error_type


def explanation(record: ScoreRecord) -> str:
    """Return why the score is what it is, in one sentence."""
    score = record.score
    if score.not_evaluated is not None:
        return f"not evaluated: {score.not_evaluated}"
    return score.alignment.first_divergence or "the run follows the gold path"


def span_context(trace_id: str, span_id: str) -> Context:
    """Return a context whose current span is the given one, ended or not; nothing else is inherited."""
    parent = SpanContext(
        trace_id=int(trace_id, 16),
        span_id=int(span_id, 16),
        is_remote=False,
        trace_flags=TraceFlags(TraceFlags.SAMPLED),
    )
    return trace.set_span_in_context(NonRecordingSpan(parent), context_api.Context())


class LogEvents:
    """One ``gen_ai.evaluation.result`` log event per record, in the agent span's context."""

    def __init__(self, provider: LoggerProvider | None = None) -> None:
        # Without a provider the API hands out a proxy: a provider set later is found all the same.
        self._logger = get_logger(semconv.SCOPE_NAME, _VERSION, logger_provider=provider)

    def __call__(self, record: ScoreRecord) -> None:
        """Emit the event of ``record``."""
        attributes = score_attributes(record)
        attributes[semconv.EVALUATION_NAME] = record.score.name
        if record.score.value is not None:
            attributes[semconv.EVALUATION_SCORE_VALUE] = record.score.value
        attributes[semconv.EVALUATION_SCORE_LABEL] = record.score.label
        attributes[semconv.EVALUATION_EXPLANATION] = explanation(record)
        attributes[semconv.EVALUATOR_VERSION] = record.score.scorer_version
        if record.agent is not None:
            attributes[semconv.AGENT_NAME] = record.agent
        if record.conversation_id is not None:
            attributes[semconv.CONVERSATION_ID] = record.conversation_id
        self._emit(record.trace_id, record.span_id, attributes, record.scored_unix_nano)

    def goal(self, trace_id: str, span_id: str, goal: GoalWord, unix_nano: int) -> None:
        """Emit a ``goal_success`` result for a run whose record is no longer at hand."""
        attributes: dict[str, Any] = {
            semconv.EVALUATION_NAME: _GOAL_SUCCESS,
            semconv.EVALUATION_SCORE_VALUE: float(goal.success),
            semconv.EVALUATION_SCORE_LABEL: "reached" if goal.success else "missed",
            semconv.RUN_GOAL_SOURCE: goal.source,
        }
        if goal.reason is not None:
            attributes[semconv.EVALUATION_EXPLANATION] = goal.reason
        self._emit(trace_id, span_id, attributes, unix_nano)

    def _emit(self, trace_id: str, span_id: str, attributes: dict[str, Any], unix_nano: int) -> None:
        self._logger.emit(
            LogRecord(
                timestamp=unix_nano,
                observed_timestamp=unix_nano,
                context=span_context(trace_id, span_id),
                severity_number=SeverityNumber.INFO,
                attributes=attributes,
                event_name=semconv.EVENT_EVALUATION_RESULT,
            )
        )


class Metrics:
    """Counter ``agentpath.trajectories`` and histogram ``agentpath.trajectory.score``.

    Each run counts once, at revision 1: neither instrument can take a value back. The histogram takes
    scores of complete runs only. At most ``max_label_sets`` combinations of labels are used; runs beyond
    count under ``_other``.
    """

    def __init__(self, provider: MeterProvider | None = None, *, max_label_sets: int = 500) -> None:
        meter = metrics.get_meter(semconv.SCOPE_NAME, _VERSION, meter_provider=provider)
        self._trajectories = meter.create_counter(
            semconv.METRIC_TRAJECTORIES, unit="{trajectory}", description="Scored or not evaluated agent runs, by label"
        )
        self._scores = meter.create_histogram(
            semconv.METRIC_SCORE_HISTOGRAM,
            unit="1",
            description="Path scores of complete agent runs",
            explicit_bucket_boundaries_advisory=list(SCORE_BOUNDS),
        )
        self._max_label_sets = max_label_sets
        self._label_sets: set[tuple[str, ...]] = set()

    def __call__(self, record: ScoreRecord) -> None:
        """Count ``record`` unless it is a later revision."""
        if record.revision > 1:
            return
        labels = self._labels(record)
        self._trajectories.add(1, labels)
        if record.score.value is not None and record.completeness == "complete":
            self._scores.record(record.score.value, labels, context=span_context(record.trace_id, record.span_id))

    def _labels(self, record: ScoreRecord) -> dict[str, str]:
        score = record.score
        values = (record.agent or "", score.gold_path_id or "", score.gold_path_version or "")
        if values not in self._label_sets:
            if len(self._label_sets) >= self._max_label_sets:
                HEALTH.count("online.metric_labels_capped")
                values = (_OTHER, _OTHER, _OTHER)
            else:
                self._label_sets.add(values)
        agent, gold_path, gold_version = values
        return {
            semconv.AGENT_NAME: agent,
            semconv.GOLD_PATH_ID: gold_path,
            semconv.GOLD_PATH_VERSION: gold_version,
            semconv.SCORE_LABEL: score.label,
        }


class EvaluateSpans:
    """One ``evaluate`` child of the agent's span per record, starting and ending when the agent ended.

    (A span at the time of scoring would stretch the trace's duration in every backend.)
    """

    def __init__(self, provider: TracerProvider | None = None) -> None:
        self._tracer = trace.get_tracer(semconv.SCOPE_NAME, _VERSION, tracer_provider=provider)

    def __call__(self, record: ScoreRecord) -> None:
        """Start and end the span of ``record``; none for a run whose agent span was never seen."""
        moment = record.root_end_unix_nano
        if moment is None:
            return
        span = self._tracer.start_span(
            semconv.SPAN_EVALUATE,
            context=span_context(record.trace_id, record.span_id),
            attributes={
                **score_attributes(record),
                semconv.OPERATION_NAME: semconv.OP_EVALUATION,
                semconv.EVALUATION_EXPLANATION: explanation(record),
            },
            start_time=moment,
        )
        span.end(moment)


def observe_health(provider: MeterProvider | None = None) -> None:
    """Create the observable counter ``agentpath.health``: the health counters, by name."""
    meter = metrics.get_meter(semconv.SCOPE_NAME, _VERSION, meter_provider=provider)
    meter.create_observable_counter(
        semconv.METRIC_HEALTH,
        callbacks=[_health_observations],
        unit="{event}",
        description="Faults and drops inside the SDK, by name",
    )


def _health_observations(_options: CallbackOptions) -> Iterable[Observation]:
    return [Observation(count, {semconv.HEALTH_COUNTER: name}) for name, count in HEALTH.counts().items()]
