"""Overlapping calls, pools and threads: every tool under its own agent, and nothing under a stranger."""

from __future__ import annotations

import asyncio
import contextvars
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from typing import Any

import pytest
from opentelemetry import trace as trace_api

from agentpath_sdk import semconv
from agentpath_sdk.tracing import (
    TracingExecutor,
    current_run,
    extract,
    inject,
    propagate,
    trace_agent,
    trace_tool,
    traced_thread,
    use_conversation,
    use_gold_path,
)


async def test_overlapping_tools_are_siblings_however_they_end(spans: Any) -> None:
    async def run_once() -> None:
        events = {name: asyncio.Event() for name in "abc"}

        @trace_tool
        async def a() -> None:
            await events["a"].wait()

        @trace_tool
        async def b() -> None:
            await asyncio.sleep(0)
            events["c"].set()

        @trace_tool
        async def c() -> None:
            await events["c"].wait()
            events["a"].set()

        @trace_agent(name="bot")
        async def agent(question: str) -> None:
            await asyncio.gather(a(), b(), c())

        await asyncio.gather(agent("one"), agent("two"))

    before = trace_api.get_current_span()
    for _ in range(50):
        spans.exporter.clear()
        await run_once()
        agents = spans.of("invoke_agent")
        assert len(agents) == 2
        assert len({s.context.trace_id for s in spans.all()}) == 2
        for agent in agents:
            inside = [s.name[-1] for s in spans.of("execute_tool") if spans.parent(s) is agent]
            assert inside == ["a", "b", "c"]
    assert trace_api.get_current_span() is before


def test_a_plain_pool_makes_roots_and_the_helper_makes_children(spans: Any) -> None:
    @trace_tool
    def lost(n: int) -> int:
        return n

    @trace_tool
    def found(n: int) -> int:
        return n

    @trace_agent
    def agent(question: str) -> Any:
        with ThreadPoolExecutor(2) as pool:
            direct = pool.submit(lost, 1).result()
            helped = TracingExecutor(pool).submit(found, 2).result()
            mapped = list(TracingExecutor(pool).map(found, [3, 4]))
        return direct, helped, mapped

    assert agent("q") == (1, 2, [3, 4])
    assert spans.one("lost").parent is None
    assert semconv.AGENT_NAME not in spans.one("lost").attributes
    assert [spans.parent(s) for s in spans.all() if s.name.endswith("found")] == [spans.one("agent")] * 3
    assert spans.one("agent").attributes[semconv.RUN_CALLS] == 3


def test_threads_and_other_loops_continue_the_run(spans: Any) -> None:
    @trace_tool
    def in_thread() -> None: ...

    @trace_tool
    def in_executor() -> None: ...

    @trace_agent
    async def agent(question: str) -> None:
        thread = traced_thread(in_thread)
        thread.start()
        await asyncio.get_running_loop().run_in_executor(None, propagate(in_executor))
        thread.join()

    asyncio.run(agent("q"))
    assert spans.parent(spans.one("in_thread")) is spans.one("agent")
    assert spans.parent(spans.one("in_executor")) is spans.one("agent")


def test_a_propagated_function_keeps_its_changes_of_context_to_itself() -> None:
    variable: contextvars.ContextVar[int] = contextvars.ContextVar("v", default=0)

    def change() -> int:
        variable.set(variable.get() + 1)
        return variable.get()

    bound = propagate(change)
    assert (bound(), bound(), variable.get()) == (1, 1, 0)


def remote_call(n: int) -> tuple[str, int]:
    run = current_run()
    return f"{trace_api.get_current_span().get_span_context().trace_id:032x}", n + (run is None)


@pytest.mark.slow
def test_calls_in_other_processes_continue_the_trace(spans: Any) -> None:
    @trace_agent
    def agent(question: str) -> Any:
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            return TracingExecutor(pool).submit(remote_call, 1).result()

    trace_id, result = agent("q")
    assert trace_id == f"{spans.one('agent').context.trace_id:032x}"
    assert result == 2, "the run itself is open in the other process only"


def test_headers_carry_the_run_its_conversation_gold_path_and_agent(spans: Any) -> None:
    carrier: dict[str, str] = {}

    @trace_agent(name="planner bot")
    def agent(question: str) -> None:
        inject(carrier)

    @trace_tool
    def remote(n: int) -> None: ...

    with use_conversation("t 1"), use_gold_path("g1"):
        agent("q")
    assert set(carrier) == {"traceparent", "baggage"}
    with extract({name.upper(): value for name, value in carrier.items()}):
        remote(1)
    tool, run = spans.one("remote"), spans.one("invoke_agent planner bot")
    assert tool.parent.span_id == run.context.span_id
    assert tool.attributes[semconv.AGENT_NAME] == "planner bot"
    assert tool.attributes[semconv.CONVERSATION_ID] == "t 1"
    assert run.attributes[semconv.REQUEST_GOLD_PATH] == "g1"


def test_a_broken_carrier_is_survived(spans: Any) -> None:
    @trace_tool
    def remote() -> None: ...

    with extract({"traceparent": "rubbish", "baggage": ";;;=,"}):
        remote()
    assert spans.one("remote").parent is None


def test_turns_of_a_conversation_share_its_id_and_nothing_leaks_after(spans: Any) -> None:
    @trace_tool
    def tool() -> None: ...

    @trace_agent
    def agent(question: str) -> None:
        tool()

    with use_conversation("t1"):
        agent("one")
        agent("two")
    agent("three")
    ids = [s.attributes.get(semconv.CONVERSATION_ID) for s in spans.all()]
    assert ids == ["t1", "t1", "t1", "t1", None, None]


def test_a_conversation_is_not_sent_to_everyone_as_baggage() -> None:
    from opentelemetry import propagate as otel

    carrier: dict[str, str] = {}
    with use_conversation("t1"):
        otel.inject(carrier)
    assert "t1" not in str(carrier)


def test_baggage_names_the_gold_path_of_the_outer_run_only(spans: Any) -> None:
    @trace_agent
    def inner(question: str) -> None: ...

    @trace_agent
    def outer(question: str) -> None:
        inner(question)

    with use_gold_path("g1"):
        outer("q")
    assert spans.one("outer").attributes[semconv.REQUEST_GOLD_PATH] == "g1"
    assert semconv.REQUEST_GOLD_PATH not in spans.one("inner").attributes
