"""Fixtures: the recorder's spans in memory, fresh settings, silence from OpenTelemetry's context module."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from agentpath_sdk._guard import HEALTH
from agentpath_sdk.settings import TracingSettings
from agentpath_sdk.tracing import configure_tracing, use_tracer_provider
from agentpath_sdk.tracing.frameworks import INTEGRATIONS
from agentpath_sdk.tracing.recorder import Recorder, get_recorder


class Spans:
    """Ended spans, by name and relation."""

    def __init__(self, **options: Any) -> None:
        self.exporter = InMemorySpanExporter()
        self.provider = TracerProvider(shutdown_on_exit=False, **options)
        self.provider.add_span_processor(SimpleSpanProcessor(self.exporter))

    def all(self) -> list[ReadableSpan]:
        """All ended spans, in order of start."""
        return sorted(self.exporter.get_finished_spans(), key=lambda s: s.start_time or 0)

    def names(self) -> list[str]:
        return [span.name for span in self.all()]

    def one(self, name: str) -> ReadableSpan:
        """The only span whose name ends with ``name``."""
        (found,) = [s for s in self.all() if s.name == name or s.name.split(" ")[-1] == name]
        return found

    def of(self, operation: str) -> list[ReadableSpan]:
        return [s for s in self.all() if s.name.split(" ")[0] == operation]

    def parent(self, span: ReadableSpan) -> ReadableSpan | None:
        if span.parent is None:
            return None
        (found,) = [s for s in self.all() if s.context.span_id == span.parent.span_id]
        return found

    def arguments(self, name: str) -> Any:
        return json.loads(self.one(name).attributes["gen_ai.tool.call.arguments"])

    def result(self, name: str) -> Any:
        return json.loads(self.one(name).attributes["gen_ai.tool.call.result"])

    def text(self) -> str:
        """Everything that left, as one text."""
        return "\n".join(span.to_json() for span in self.all())


@pytest.fixture
def make_spans() -> type[Spans]:
    """To record with a provider of one's own: ``use_tracer_provider(make_spans(sampler=...).provider)``."""
    return Spans


@pytest.fixture
def spans() -> Spans:
    """Spans of the recorder of this process."""
    found = Spans()
    use_tracer_provider(found.provider)
    return found


@pytest.fixture(autouse=True)
def _fresh(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    HEALTH.reset()
    HEALTH.raise_faults = True
    configure_tracing(TracingSettings())
    INTEGRATIONS.replace(())
    with caplog.at_level(logging.ERROR, logger="opentelemetry.context"):
        yield
    assert not [r for r in caplog.records if r.name == "opentelemetry.context"], "a context was detached wrongly"
    HEALTH.raise_faults = False
    assert get_recorder().open_count() == 0, "a call was left open"
    INTEGRATIONS.replace(None)
    use_tracer_provider(None)
    HEALTH.reset()


class Clock:
    """A clock that is set."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def make_recorder(clock: Clock) -> Iterator[Callable[..., tuple[Recorder, Spans]]]:
    """Recorders of their own, with spans in memory and a clock that is set; ended with the test."""
    made: list[Recorder] = []

    def make(**settings: Any) -> tuple[Recorder, Spans]:
        spans = Spans()
        recorder = Recorder(settings=TracingSettings(**settings), provider=spans.provider, clock=clock)
        made.append(recorder)
        return recorder, spans

    yield make
    for recorder in made:
        recorder.shutdown()
