"""Fixtures: spans of the process-wide recorder in memory, a clock that is set, chat models that play a script."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from agentpath_sdk._guard import HEALTH
from agentpath_sdk.settings import TracingSettings
from agentpath_sdk.tracing.recorder import Recorder, get_recorder


class Spans:
    """Ended spans, by name and relation."""

    def __init__(self) -> None:
        self.exporter = InMemorySpanExporter()
        self.provider = TracerProvider(shutdown_on_exit=False)
        self.provider.add_span_processor(SimpleSpanProcessor(self.exporter))

    def all(self) -> list[ReadableSpan]:
        return sorted(self.exporter.get_finished_spans(), key=lambda s: s.start_time or 0)

    def clear(self) -> None:
        self.exporter.clear()

    def named(self, name: str) -> list[ReadableSpan]:
        return [s for s in self.all() if s.name == name]

    def one(self, name: str) -> ReadableSpan:
        (found,) = self.named(name)
        return found

    def names(self) -> list[str]:
        return [s.name for s in self.all()]

    def tools(self) -> list[ReadableSpan]:
        return [s for s in self.all() if s.name.startswith("execute_tool")]

    def agents(self) -> list[ReadableSpan]:
        return [s for s in self.all() if s.name.startswith("invoke_agent")]

    def parent(self, span: ReadableSpan) -> str | None:
        if span.parent is None:
            return None
        found = [s.name for s in self.all() if s.context.span_id == span.parent.span_id]
        return found[0] if found else "?"

    @staticmethod
    def arguments(span: ReadableSpan) -> Any:
        return json.loads(str((span.attributes or {})["gen_ai.tool.call.arguments"]))

    @staticmethod
    def outcome(span: ReadableSpan) -> Any:
        return (span.attributes or {})["agentpath.step.outcome"]


class Clock:
    """A clock that stands until moved."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@cache
def _scripted_model() -> Any:
    """Return the class of a chat model that answers with one message of its script after the other."""
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage
    from langchain_core.outputs import ChatGeneration, ChatResult

    class ScriptedModel(BaseChatModel):
        script: list[AIMessage]
        used: int = 0

        @property
        def _llm_type(self) -> str:
            return "scripted"

        def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
            return self

        def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> ChatResult:
            message = self.script[self.used % len(self.script)]
            self.used += 1
            return ChatResult(generations=[ChatGeneration(message=message.model_copy())])

    return ScriptedModel


def _message(turn: str | list[tuple[str, dict[str, Any]]], number: int) -> Any:
    from langchain_core.messages import AIMessage

    if isinstance(turn, str):
        return AIMessage(turn)
    calls = [{"name": n, "args": a, "id": f"c{number}{i}"} for i, (n, a) in enumerate(turn)]
    return AIMessage("", tool_calls=calls)


@pytest.fixture
def scripted() -> Callable[..., Any]:
    """Return a maker of chat models: ``scripted([("search", {"q": "x"})], "done")``."""

    def make(*turns: str | list[tuple[str, dict[str, Any]]]) -> Any:
        return _scripted_model()(script=[_message(turn, number) for number, turn in enumerate(turns)])

    return make


@pytest.fixture
def spans() -> Iterator[Spans]:
    """Return the spans of the process-wide recorder; a fault of our own code fails the test."""
    found = Spans()
    recorder = get_recorder()
    recorder.use_provider(found.provider)
    HEALTH.reset()
    yield found
    assert recorder.open_count() == 0, "a call was left open"
    recorder.use_provider(None)
    assert not [name for name in HEALTH.counts() if name.startswith("fault.")], HEALTH.counts()


@pytest.fixture
def clock() -> Clock:
    """Return a clock at 0."""
    return Clock()


@pytest.fixture
def recorder_with(clock: Clock) -> Callable[..., tuple[Recorder, Spans]]:
    """Return a maker of recorders with a set clock, and their spans."""

    def make(**settings: Any) -> tuple[Recorder, Spans]:
        found = Spans()
        return Recorder(settings=TracingSettings(**settings), provider=found.provider, clock=clock), found

    return make
