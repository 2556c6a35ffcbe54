"""Runs told by events alone: interleaved, from other threads, never ended, thousands of them."""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import Context
from typing import Any
from uuid import UUID, uuid4

import pytest

pytest.importorskip("langchain_core", reason="needs the extra langchain")

from opentelemetry import trace as trace_api

from agentpath_langchain import AgentPathCallbackHandler
from agentpath_langchain.runs import runs_of


def _tool(handler: Any, run: UUID, parent: UUID, name: str) -> None:
    handler.on_tool_start({"name": name}, "", run_id=run, parent_run_id=parent, inputs={"n": name})


def test_interleaved_events_of_two_runs_keep_apart(spans: Any) -> None:
    """One handler, two agents at once: every tool is its own agent's child, in order of start."""
    handler = AgentPathCallbackHandler()
    before = trace_api.get_current_span()
    for _ in range(50):
        spans.clear()
        roots = [uuid4(), uuid4()]
        tools = [{name: uuid4() for name in "abc"} for _ in roots]
        for number, root in enumerate(roots):
            handler.on_chain_start(None, {"input": "q"}, run_id=root, name=f"R{number}")
        for name in "abc":
            for number, root in enumerate(roots):
                _tool(handler, tools[number][name], root, name)
        for name in "bca":
            for number in (1, 0):
                handler.on_tool_end("x", run_id=tools[number][name])
        for root in roots:
            handler.on_chain_end({"output": "done"}, run_id=root)
        agents = spans.agents()
        assert len({s.context.trace_id for s in spans.all()}) == len(agents) == 2
        for agent in agents:
            inside = [s for s in spans.tools() if s.parent.span_id == agent.context.span_id]
            assert [s.name for s in inside] == ["execute_tool a", "execute_tool b", "execute_tool c"]
            assert agent.attributes["agentpath.run.calls"] == 3
    assert trace_api.get_current_span() is before


def test_tools_of_other_threads_find_their_run_by_id(spans: Any) -> None:
    handler = AgentPathCallbackHandler()
    root, first, second = uuid4(), uuid4(), uuid4()
    handler.on_chain_start(None, "q", run_id=root, name="R")

    def elsewhere(work: Any) -> None:
        thread = threading.Thread(target=lambda: Context().run(work))
        thread.start()
        thread.join()

    for run, name in ((first, "a"), (second, "b")):
        elsewhere(lambda run=run, name=name: _tool(handler, run, root, name))
    for run in (second, first):
        elsewhere(lambda run=run: handler.on_tool_end("x", run_id=run))
    handler.on_chain_end("done", run_id=root)
    assert [spans.parent(s) for s in spans.tools()] == ["invoke_agent R"] * 2
    assert len({s.context.trace_id for s in spans.all()}) == 1


def test_plain_chain_runs_make_no_span_but_keep_the_link(spans: Any) -> None:
    handler = AgentPathCallbackHandler()
    root, node, inner, tool = (uuid4() for _ in range(4))
    handler.on_chain_start(None, "q", run_id=root, name="R")
    handler.on_chain_start(None, "q", run_id=node, parent_run_id=root, name="node")
    handler.on_chain_start(None, "q", run_id=inner, parent_run_id=node, name="RunnableLambda")
    _tool(handler, tool, inner, "t")
    handler.on_tool_end("x", run_id=tool)
    for run in (inner, node, root):
        handler.on_chain_end("done", run_id=run)
    assert spans.names() == ["invoke_agent R", "execute_tool t"]
    assert spans.parent(spans.one("execute_tool t")) == "invoke_agent R"


def test_links_are_freed_with_the_root_even_if_inner_runs_never_end(recorder_with: Any) -> None:
    recorder, _ = recorder_with()
    handler = AgentPathCallbackHandler(recorder=recorder)
    root = uuid4()
    handler.on_chain_start(None, "q", run_id=root, name="R")
    for _ in range(10):
        handler.on_chain_start(None, "q", run_id=uuid4(), parent_run_id=root, name="node")
    assert len(runs_of(recorder)) == 11
    handler.on_chain_error(ValueError("x"), run_id=root)
    assert len(runs_of(recorder)) == 0


def _feed(handler: Any, number: int) -> None:
    root = uuid4()
    payload = "x" * 10_000
    handler.on_chain_start(None, {"input": payload}, run_id=root, name="R")
    node = uuid4()
    handler.on_chain_start(None, {}, run_id=node, parent_run_id=root, name="node")
    for name in "abc":
        tool = uuid4()
        handler.on_tool_start({"name": name}, "", run_id=tool, parent_run_id=node, inputs={"text": payload})
        handler.on_tool_end(payload, run_id=tool)
    if number % 10 == 8:
        handler.on_chain_error(ValueError("x"), run_id=node, parent_run_id=root)
        handler.on_chain_error(ValueError("x"), run_id=root)
    elif number % 10 != 9:
        handler.on_chain_end({}, run_id=node)
        handler.on_chain_end({"output": payload}, run_id=root)


def _reachable(roots: list[Any]) -> int:
    """Return the bytes of everything reachable from ``roots`` that is plain data."""
    seen: set[int] = set()
    total = 0
    stack = list(roots)
    while stack:
        one = stack.pop()
        if id(one) in seen or isinstance(one, type) or type(one).__module__.startswith(("opentelemetry", "threading")):
            continue
        seen.add(id(one))
        total += sys.getsizeof(one)
        stack.extend(_held(one))
    return total


def _held(one: Any) -> Iterator[Any]:
    if isinstance(one, dict):
        yield from one.keys()
        yield from one.values()
    elif isinstance(one, list | tuple | set | frozenset):
        yield from one
    yield from vars(one).values() if hasattr(one, "__dict__") else ()
    for slot in getattr(type(one), "__slots__", ()):
        if hasattr(one, slot):
            yield getattr(one, slot)


def test_a_handler_that_lives_for_months_keeps_nothing(recorder_with: Any, clock: Any) -> None:
    """2,000 runs, a tenth of which never end: those wait, bounded, and are given up after the idle limit."""
    recorder, found = recorder_with(idle_seconds=3600.0)
    handler = AgentPathCallbackHandler(recorder=recorder)
    for number in range(2_000):
        _feed(handler, number)
        found.clear() if number % 10 == 7 else None
    assert recorder.open_count() == 200
    assert len(runs_of(recorder)) == 400
    clock.now = 3_601.0
    found.clear()
    _feed(handler, 0)
    assert recorder.open_count() == 0
    assert len(runs_of(recorder)) == 0
    abandoned = [s for s in found.agents() if found.outcome(s) == "abandoned"]
    assert len(abandoned) == 200
    gc.collect()
    assert _reachable([handler, recorder, runs_of(recorder)]) < 1_000_000


def test_open_runs_are_held_within_the_cap(recorder_with: Any, clock: Any) -> None:
    recorder, found = recorder_with(max_open_runs=100)
    handler = AgentPathCallbackHandler(recorder=recorder)
    for _ in range(500):
        clock.now += 1
        root = uuid4()
        handler.on_chain_start(None, "q", run_id=root, name="R")
        handler.on_chain_start(None, "q", run_id=uuid4(), parent_run_id=root, name="node")
    assert recorder.open_count() <= 100
    assert len(runs_of(recorder)) <= 400
    assert all(found.outcome(s) == "abandoned" for s in found.agents())


def test_many_handlers_add_no_threads() -> None:
    before = threading.active_count()
    handlers = [AgentPathCallbackHandler() for _ in range(100)]
    assert threading.active_count() == before
    assert len({id(h) for h in handlers}) == 100


def test_runs_in_many_threads_at_once_do_not_mix(spans: Any) -> None:
    handler = AgentPathCallbackHandler()
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: _feed(handler, 0), range(64)))
    assert len(spans.agents()) == 64
    assert all(s.attributes["agentpath.run.calls"] == 3 for s in spans.agents())


@pytest.mark.parametrize("place", ["start", "end", "sample"])
def test_a_broken_processor_or_sampler_never_reaches_the_tool(place: str) -> None:
    """Whatever a provider does, the tool's result is the same."""
    from langchain_core.tools import tool
    from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
    from opentelemetry.sdk.trace.sampling import Sampler

    from agentpath_sdk._guard import HEALTH
    from agentpath_sdk.tracing.recorder import Recorder

    class Broken(SpanProcessor):
        def on_start(self, *args: Any, **kwargs: Any) -> None:
            if place == "start":
                raise RuntimeError("x")

        def on_end(self, span: Any) -> None:
            if place == "end":
                raise RuntimeError("x")

    class BrokenSampler(Sampler):
        def should_sample(self, *args: Any, **kwargs: Any) -> Any:
            raise RuntimeError("x")

        def get_description(self) -> str:
            return "broken"

    @tool
    def double(n: int) -> int:
        """Double."""
        return n * 2

    provider = TracerProvider(shutdown_on_exit=False, **({"sampler": BrokenSampler()} if place == "sample" else {}))
    provider.add_span_processor(Broken())
    HEALTH.reset()
    handler = AgentPathCallbackHandler(recorder=Recorder(provider=provider))
    assert double.invoke({"n": 2}, {"callbacks": [handler]}) == 4
    assert any(name.startswith("fault.") for name in HEALTH.counts())
    HEALTH.reset()


def test_a_handler_can_be_subclassed_copied_and_pickled() -> None:
    import copy
    import pickle

    class Mine(AgentPathCallbackHandler):
        def __init__(self, name: str) -> None:
            super().__init__()
            self.name = name

    mine = Mine("x")
    assert mine.name == "x"
    assert copy.deepcopy(mine) is copy.copy(mine) is mine
    assert isinstance(pickle.loads(pickle.dumps(AgentPathCallbackHandler())), AgentPathCallbackHandler)
