"""Whatever breaks on our side or the provider's, the agent's results are the same."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from opentelemetry.sdk.trace import SpanProcessor
from opentelemetry.sdk.trace.sampling import Sampler

from agentpath_sdk import redaction
from agentpath_sdk._guard import HEALTH
from agentpath_sdk.tracing import trace_agent, trace_tool, use_tracer_provider
from agentpath_sdk.tracing.frameworks import INTEGRATIONS
from agentpath_sdk.tracing.recorder import get_recorder


class RaisesOnStart(SpanProcessor):
    def on_start(self, span: Any, parent_context: Any = None) -> None:
        raise OSError("on_start")


class RaisesOnEnd(SpanProcessor):
    def on_end(self, span: Any) -> None:
        raise OSError("on_end")


class BrokenSampler(Sampler):
    def should_sample(self, *args: Any, **kwargs: Any) -> Any:
        raise OSError("sampler")

    def get_description(self) -> str:
        return "broken"


class BrokenProvider:
    def get_tracer(self, *args: Any, **kwargs: Any) -> Any:
        raise OSError("provider")


class BrokenIntegration:
    name = "broken"
    module = "sys"

    def __getattr__(self, name: str) -> Any:
        raise OSError(name)


@pytest.fixture(autouse=True)
def _counted_not_raised() -> None:
    HEALTH.raise_faults = False


@pytest.fixture
def install(make_spans: Any) -> Iterator[Callable[[str], Any]]:
    undo: list[Callable[[], None]] = []

    def install(fault: str) -> Any:
        spans = make_spans(**({"sampler": BrokenSampler()} if fault == "sampler" else {}))
        if fault == "processor on start":
            spans.provider.add_span_processor(RaisesOnStart())
        elif fault == "processor on end":
            spans.provider.add_span_processor(RaisesOnEnd())
        elif fault == "redaction rule":
            undo.append(redaction.add_rule(lambda name, value: 1 / 0))
        elif fault == "integration":
            INTEGRATIONS.replace((BrokenIntegration(),))  # type: ignore[arg-type]  # broken on purpose
        use_tracer_provider(BrokenProvider() if fault == "provider" else spans.provider)  # type: ignore[arg-type]  # same
        return spans

    yield install
    for step in undo:
        step()


FAULTS = ["processor on start", "processor on end", "sampler", "redaction rule", "integration", "provider"]


@trace_tool
def double(n: int) -> int:
    return 2 * n


@trace_tool
def fail(n: int) -> int:
    raise LookupError(f"no {n}")


@trace_tool
def stream(n: int) -> Iterator[int]:
    yield from range(n)


@trace_agent
def agent(question: str) -> Any:
    try:
        fail(3)
    except LookupError as error:
        return double(2), str(error), list(stream(3))


@trace_agent
async def async_agent(question: str) -> Any:
    async def later(n: int) -> int:
        await asyncio.sleep(0)
        return n

    traced = trace_tool(later)
    return await asyncio.gather(traced(1), traced(2), traced(3))


@pytest.mark.parametrize("fault", FAULTS)
async def test_results_and_errors_are_those_of_the_agent(install: Any, fault: str) -> None:
    install(fault)
    for _ in range(3):
        assert agent("q") == (4, "no 3", [0, 1, 2])
        assert await asyncio.gather(async_agent("a"), async_agent("b")) == [[1, 2, 3], [1, 2, 3]]
    assert any(name.startswith("fault.") for name in HEALTH.counts()), "the fault is counted"
    assert get_recorder().open_count() == 0


def test_a_fault_is_logged_once_a_minute_without_user_data(install: Any, caplog: pytest.LogCaptureFixture) -> None:
    install("processor on end")
    with caplog.at_level(logging.WARNING, logger="agentpath_sdk"):
        for _ in range(20):
            double(12345)
    lines = [r.getMessage() for r in caplog.records if r.name == "agentpath_sdk"]
    assert len(lines) == 1
    assert "12345" not in lines[0]
    assert HEALTH.counts()["fault.tracing.end_span"] == 20


def test_a_failed_redaction_lets_nothing_through(install: Any) -> None:
    spans = install("redaction rule")
    double(12345)
    assert "12345" not in spans.text()
    assert redaction.FAILED in spans.one("double").attributes["gen_ai.tool.call.arguments"]


def test_a_query_or_answer_that_cannot_be_found_costs_only_itself(spans: Any) -> None:
    @trace_agent(query=lambda q: q.nope, answer="0.missing")
    def odd(q: str) -> list[int]:
        return [1]

    assert odd("x") == [1]
    assert HEALTH.counts()["fault.tracing.query"] == 1
    assert HEALTH.counts()["fault.tracing.answer"] == 1
    assert len(spans.all()) == 1


def test_without_any_provider_everything_works() -> None:
    assert agent("q") == (4, "no 3", [0, 1, 2])
    assert asyncio.run(async_agent("q")) == [1, 2, 3]
    assert HEALTH.counts() == {}
