"""Cancelled in the middle: ended at once, told apart from errors, and the caller sees what it would have seen."""

from __future__ import annotations

import asyncio
import gc
from typing import Any

import pytest
from opentelemetry.trace import StatusCode

from agentpath_sdk import semconv
from agentpath_sdk.tracing import trace_agent, trace_tool


def agent_waiting_for_ever(started: asyncio.Event) -> Any:
    @trace_tool
    async def wait() -> None:
        started.set()
        await asyncio.Event().wait()

    @trace_agent
    async def agent(question: str) -> None:
        await wait()

    return agent


def assert_cancelled(spans: Any, kind: str) -> None:
    names = spans.names()
    assert sorted(names) == ["execute_tool wait", "invoke_agent agent"]
    for span in spans.all():
        assert span.attributes[semconv.STEP_OUTCOME] == "cancelled"
        assert span.attributes[semconv.ERROR_TYPE] == kind
        assert span.status.status_code is StatusCode.UNSET
    assert spans.one("agent").attributes[semconv.RUN_STOP_REASON] == "cancelled"


async def test_a_cancelled_task(spans: Any) -> None:
    started = asyncio.Event()
    task = asyncio.create_task(agent_waiting_for_ever(started)("q"))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert_cancelled(spans, "asyncio.exceptions.CancelledError")


async def test_a_timeout_around_the_agent(spans: Any) -> None:
    started = asyncio.Event()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.02):
            await agent_waiting_for_ever(started)("q")
    assert_cancelled(spans, "asyncio.exceptions.CancelledError")


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit])
def test_an_interrupt_in_a_sync_tool(spans: Any, kind: type[BaseException]) -> None:
    @trace_tool
    def wait() -> None:
        raise kind

    @trace_agent
    def agent(question: str) -> None:
        wait()

    with pytest.raises(kind):
        agent("q")
    assert_cancelled(spans, kind.__name__)


async def test_a_coroutine_closed_by_hand(spans: Any) -> None:
    started = asyncio.Event()
    running = agent_waiting_for_ever(started)("q")
    running.send(None)
    running.close()
    assert_cancelled(spans, "GeneratorExit")


async def test_a_coroutine_dropped_in_another_task(spans: Any) -> None:
    """Finalised from a context that is not its own: nothing is detached there, and nothing logged."""
    started = asyncio.Event()
    kept = [agent_waiting_for_ever(started)("q")]

    async def begin() -> None:
        kept[0].send(None)

    await asyncio.create_task(begin())
    kept.clear()
    gc.collect()
    assert_cancelled(spans, "GeneratorExit")


async def test_a_tool_that_times_out_inside_a_run_that_goes_on(spans: Any) -> None:
    @trace_tool
    async def wait() -> None:
        await asyncio.Event().wait()

    @trace_agent
    async def agent(question: str) -> str:
        try:
            await asyncio.wait_for(wait(), 0.01)
        except TimeoutError:
            return "too slow"
        return "?"

    assert await agent("q") == "too slow"
    assert spans.one("wait").attributes[semconv.STEP_OUTCOME] == "cancelled"
    assert spans.one("agent").attributes[semconv.RUN_STOP_REASON] == "finished"
