"""Sampling keeps or drops whole runs, as a pure function of the trace id."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest
from opentelemetry import trace as trace_api
from opentelemetry.sdk.trace.id_generator import IdGenerator
from opentelemetry.sdk.trace.sampling import (
    ALWAYS_OFF,
    Decision,
    ParentBased,
    Sampler,
    SamplingResult,
    TraceIdRatioBased,
)
from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags

from agentpath_sdk import semconv
from agentpath_sdk._guard import HEALTH
from agentpath_sdk.settings import TracingSettings
from agentpath_sdk.tracing import configure_tracing, current_run, trace_agent, trace_tool, use_tracer_provider
from agentpath_sdk.tracing.spans import keeps

RUNS = 400


class SeededIds(IdGenerator):
    def __init__(self) -> None:
        self._random = random.Random(7)

    def generate_span_id(self) -> int:
        return self._random.getrandbits(64) or 1

    def generate_trace_id(self) -> int:
        return self._random.getrandbits(128) or 1


class PerSpan(Sampler):
    """A sampler that does not look at the parent."""

    def __init__(self) -> None:
        self._random = random.Random(11)

    def should_sample(self, *args: Any, **kwargs: Any) -> SamplingResult:
        keep = self._random.random() < 0.5
        return SamplingResult(Decision.RECORD_AND_SAMPLE if keep else Decision.DROP, kwargs.get("attributes"))

    def get_description(self) -> str:
        return "per span"


@trace_tool
def inner() -> None: ...


@trace_tool
def outer() -> None:
    inner()


@trace_agent
def agent(question: str) -> None:
    outer()


def run(make_spans: Any, **options: Any) -> Any:
    spans = make_spans(id_generator=SeededIds(), **options)
    use_tracer_provider(spans.provider)
    for _ in range(RUNS):
        agent("q")
    return spans


@pytest.mark.parametrize("by", ["our setting", "the provider's sampler"])
def test_runs_are_exported_whole_or_not_at_all(make_spans: Any, by: str) -> None:
    if by == "our setting":
        configure_tracing(TracingSettings(sample_rate=0.5))
        spans = run(make_spans)
    else:
        spans = run(make_spans, sampler=ParentBased(TraceIdRatioBased(0.5)))
    sizes = Counter(span.context.trace_id for span in spans.all())
    assert set(sizes.values()) == {3}
    assert RUNS / 2 - 40 <= len(sizes) <= RUNS / 2 + 40
    assert all(keeps(trace_id, 0.5) for trace_id in sizes)


def test_with_a_sampler_that_ignores_parents_a_dropped_agent_drops_all_and_the_rest_can_be_counted(
    make_spans: Any,
) -> None:
    spans = run(make_spans, sampler=PerSpan())
    agents = {s.context.trace_id: s for s in spans.of("invoke_agent")}
    calls = Counter(s.context.trace_id for s in spans.of("execute_tool"))
    assert set(calls) <= set(agents), "nothing of a dropped run is exported"
    assert all(span.attributes[semconv.RUN_CALLS] == 2 for span in agents.values())
    assert {calls[trace_id] for trace_id in agents} == {0, 1, 2}, "incomplete runs have fewer spans than the count"


def test_the_decision_is_that_of_the_trace_id_ratio_sampler() -> None:
    sampler = TraceIdRatioBased(0.3)
    ids = SeededIds()
    for _ in range(2_000):
        trace_id = ids.generate_trace_id()
        expected = sampler.should_sample(None, trace_id, "x").decision.is_sampled()
        assert keeps(trace_id, 0.3) == expected


def test_a_dropped_run_shows_no_sampled_parent_to_others(make_spans: Any) -> None:
    configure_tracing(TracingSettings(sample_rate=0.0))
    spans = make_spans()
    use_tracer_provider(spans.provider)

    @trace_agent
    def agent(question: str) -> None:
        assert current_run() is None
        with spans.provider.get_tracer("other").start_as_current_span("http"):
            pass

    agent("q")
    assert spans.all() == []


def test_a_run_below_a_foreign_span_is_decided_by_that_trace_and_leaves_it_alone(make_spans: Any) -> None:
    configure_tracing(TracingSettings(sample_rate=0.0))
    spans = make_spans()
    use_tracer_provider(spans.provider)
    other = spans.provider.get_tracer("other")

    @trace_agent
    def agent(question: str) -> None:
        with other.start_as_current_span("http client"):
            pass

    with other.start_as_current_span("http server"):
        agent("q")
    assert spans.parent(spans.one("http client")).name == "http server"
    assert spans.of("invoke_agent") == []


@pytest.mark.parametrize("kept", [True, False])
def test_two_processes_agree_on_a_trace(make_spans: Any, kept: bool) -> None:
    configure_tracing(TracingSettings(sample_rate=0.5))
    spans = make_spans()
    use_tracer_provider(spans.provider)
    trace_id = 1 if kept else (1 << 128) - 1
    remote = SpanContext(trace_id, 5, is_remote=True, trace_flags=TraceFlags(TraceFlags.SAMPLED))
    with trace_api.use_span(NonRecordingSpan(remote)):
        agent("q")
    assert len(spans.all()) == (3 if kept else 0)


def test_a_sampler_that_keeps_nothing_costs_nothing(make_spans: Any) -> None:
    spans = run(make_spans, sampler=ALWAYS_OFF)
    assert spans.all() == []
    assert HEALTH.counts() == {}
