"""``trace_agent`` and ``trace_tool`` on LangChain's own objects."""

from __future__ import annotations

import asyncio
import copy
import gc
import json
import pickle
from typing import Any

import pytest

pytest.importorskip("langchain_core", reason="needs the extra langchain")

from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import Runnable, RunnableLambda, RunnableSequence
from langchain_core.tools import tool

from agentpath_langchain import AgentPathCallbackHandler
from agentpath_langchain.integration import INTEGRATION
from agentpath_sdk import trace_agent, trace_tool


@tool
def search(q: str, api_key: str = "") -> str:
    """Search."""
    return f"found {q}"


def _search(text: str) -> str:
    return search.invoke({"q": text})


def _plain() -> Any:
    return RunnableLambda(_search, name="finder")


def _sequence() -> Any:
    return RunnableLambda(str.strip) | RunnableLambda(_search)


def _runs(spans: Any) -> list[tuple[str, str | None]]:
    return [(s.name, spans.parent(s)) for s in spans.all()]


ONE_RUN = [("invoke_agent finder", None), ("execute_tool search", "invoke_agent finder")]
WAYS: dict[str, Any] = {
    "invoke": lambda r: r.invoke("x"),
    "ainvoke": lambda r: asyncio.run(r.ainvoke("x")),
    "stream": lambda r: "".join(r.stream("x")),
    "astream": lambda r: asyncio.run(_read(r.astream("x"))),
    "batch": lambda r: r.batch(["x"])[0],
    "abatch": lambda r: asyncio.run(r.abatch(["x"]))[0],
}


async def _read(stream: Any) -> str:
    return "".join([item async for item in stream])


@pytest.mark.parametrize("make", [_plain, _sequence])
@pytest.mark.parametrize("way", list(WAYS))
def test_every_way_of_running_makes_one_run(spans: Any, way: str, make: Any) -> None:
    """Query and answer are there too, whichever way it ran."""
    traced = trace_agent(make(), name="finder", gold_path="g1")
    assert WAYS[way](traced) == WAYS[way](make()) == "found x"
    run = spans.one("invoke_agent finder")
    assert _runs(spans)[:2] == ONE_RUN
    assert run.attributes["agentpath.request.gold_path"] == "g1"
    assert json.loads(run.attributes["gen_ai.input.messages"])[0]["parts"][0]["content"] == "x"
    assert json.loads(run.attributes["gen_ai.output.messages"])[0]["parts"][0]["content"] == "found x"


@pytest.mark.parametrize("make", [_plain, _sequence])
def test_a_batch_makes_one_run_per_input(spans: Any, make: Any) -> None:
    traced = trace_agent(make(), name="finder")
    assert traced.batch(["a", "b", "c"]) == ["found a", "found b", "found c"]
    assert len(spans.agents()) == 3
    assert len({s.context.trace_id for s in spans.all()}) == 3
    assert sorted(spans.parent(s) for s in spans.tools()) == ["invoke_agent finder"] * 3
    by_trace = {s.context.trace_id: spans.arguments(s)["q"] for s in spans.tools()}
    for run in spans.agents():
        assert by_trace[run.context.trace_id] in run.attributes["gen_ai.input.messages"]


@pytest.mark.parametrize("make", [lambda f: RunnableLambda(f), lambda f: RunnableLambda(str.strip) | RunnableLambda(f)])
def test_a_batch_with_a_failure_tells_which(spans: Any, make: Any) -> None:
    def work(text: str) -> str:
        if text == "b":
            raise ValueError("no b")
        return text

    traced = trace_agent(make(work), name="finder")
    results = traced.batch(["a", "b"], return_exceptions=True)
    assert results[0] == "a"
    assert isinstance(results[1], ValueError)
    assert sorted(spans.outcome(s) for s in spans.agents()) == ["error", "ok"]
    spans.clear()
    with pytest.raises(ValueError, match="no b"):
        traced.batch(["b", "b"])
    assert {spans.outcome(s) for s in spans.agents()} == {"error"}


def _numbers(text: str) -> Any:
    yield from text.split()


def test_a_stream_left_early_ends_its_run(spans: Any) -> None:
    from langchain_core.runnables import RunnableGenerator

    def make(given: Any) -> Any:
        for text in given:
            yield from text.split()

    traced = trace_agent(RunnableGenerator(make), name="counter")
    for item in traced.stream("1 2 3"):
        assert item == "1"
        break
    del item
    gc.collect()
    run = spans.one("invoke_agent counter")
    assert (spans.outcome(run), run.attributes["agentpath.step.partial_items"]) == ("ok", 1)
    traced.stream("never read")
    gc.collect()
    assert len(spans.agents()) == 1


async def test_an_async_stream_left_early_ends_its_run(spans: Any) -> None:
    traced = trace_agent(_sequence(), name="finder")
    async for _ in traced.astream("x"):
        break
    await asyncio.sleep(0.01)
    gc.collect()
    await asyncio.sleep(0.01)
    assert spans.outcome(spans.one("invoke_agent finder")) == "ok"


@pytest.mark.parametrize("make", [_plain, _sequence])
def test_the_stand_in_is_a_runnable_like_any_other(spans: Any, make: Any) -> None:
    original = make()
    traced = trace_agent(make(), name="finder")
    assert isinstance(traced, Runnable)
    assert traced.get_name() == original.get_name()
    assert traced.input_schema.model_json_schema() == original.input_schema.model_json_schema()
    chained = RunnableLambda(lambda x: x) | traced | RunnableLambda(lambda x: x + "!")
    assert isinstance(chained, RunnableSequence)
    assert chained.invoke("x") == "found x!"
    assert (traced | str.upper).invoke("x") == "FOUND X"
    assert "".join(chained.stream("x")) == "found x!"
    assert len(spans.agents()) == 3
    assert all(s.name == "invoke_agent finder" for s in spans.agents())


def test_what_is_derived_from_a_stand_in_is_traced_too(spans: Any) -> None:
    traced = trace_agent(_plain(), name="finder")
    derived = [
        traced.with_config(tags=["a"]),
        traced.with_retry(),
        traced.bind(),
        traced.with_fallbacks([_plain()]),
        traced.with_types(),
        copy.copy(traced),
        copy.deepcopy(traced),
        pickle.loads(pickle.dumps(trace_agent(RunnableLambda(_search, name="finder"), name="finder"))),
    ]
    for one in derived:
        assert one.invoke("x") == "found x"
    assert [s.name for s in spans.agents()] == ["invoke_agent finder"] * len(derived)


def test_a_prompt_can_stand_before_the_stand_in(spans: Any) -> None:
    prompt = ChatPromptTemplate.from_messages([("user", "find {thing}")])
    traced = trace_agent(RunnableLambda(lambda value: _search(value.to_string())), name="finder")
    (prompt | traced).invoke({"thing": "Mars"})
    run = spans.one("invoke_agent finder")
    assert json.loads(run.attributes["gen_ai.input.messages"])[0]["parts"][0]["content"] == "find Mars"


def test_the_conversation_is_read_from_the_config(spans: Any) -> None:
    trace_agent(_plain()).invoke("x", {"configurable": {"session_id": "s1"}})
    trace_agent(_plain()).invoke("x", {"metadata": {"thread_id": "t1"}})
    assert [s.attributes["gen_ai.conversation.id"] for s in spans.agents()] == ["s1", "t1"]
    assert [s.attributes["gen_ai.conversation.id"] for s in spans.tools()] == ["s1", "t1"]


def test_query_and_answer_can_be_picked(spans: Any) -> None:
    work = RunnableLambda(lambda given: {"found": {"text": _search(given["ask"]["text"])}, "answer": "not this"})
    traced = trace_agent(work, query="input.ask.text", answer="found.text")
    traced.invoke({"ask": {"text": "Mars"}, "input": "not this"})
    (run,) = spans.agents()
    assert json.loads(run.attributes["gen_ai.input.messages"])[0]["parts"][0]["content"] == "Mars"
    assert json.loads(run.attributes["gen_ai.output.messages"])[0]["parts"][0]["content"] == "found Mars"


def test_errors_and_their_types_are_the_originals(spans: Any) -> None:
    def fail(text: str) -> str:
        raise KeyError("gone")

    traced = trace_agent(RunnableLambda(fail), name="finder")
    with pytest.raises(KeyError):
        traced.invoke("x")
    with pytest.raises(KeyError):
        asyncio.run(traced.ainvoke("x"))
    with pytest.raises(KeyError):
        list(traced.stream("x"))
    assert [spans.outcome(s) for s in spans.agents()] == ["error"] * 3


def test_a_handler_beside_the_stand_in_adds_nothing(spans: Any) -> None:
    traced = trace_agent(_plain(), name="finder")
    traced.invoke("x", {"callbacks": [AgentPathCallbackHandler(), AgentPathCallbackHandler()]})
    assert _runs(spans) == ONE_RUN


def test_other_objects_are_left_alone() -> None:
    from agentpath_sdk.tracing.options import CallOptions

    assert INTEGRATION.wrap_agent(object(), CallOptions()) is None
    assert INTEGRATION.wrap_tool(_plain(), CallOptions()) is None


# --- tools ---------------------------------------------------------------------------------------


def test_a_traced_tool_is_recorded_wherever_it_is_called(spans: Any) -> None:
    traced = trace_tool(search)
    assert traced.invoke({"q": "x"}) == "found x"
    assert asyncio.run(traced.ainvoke({"q": "x"})) == "found x"
    assert search.invoke({"q": "x"}) == "found x"
    assert spans.names() == ["execute_tool search"] * 2


def test_a_traced_tool_keeps_schema_and_function(spans: Any) -> None:
    traced = trace_tool(search)
    assert type(traced) is type(search)
    assert traced.args_schema is search.args_schema
    assert traced.func is search.func
    assert (traced.name, traced.description) == (search.name, search.description)


def test_a_traced_tools_options_hold_for_every_handler(spans: Any) -> None:
    """The user's own handler hears of the call first, and still does not record what must be hidden."""
    traced = trace_tool(search, name="web", redact=["q"])
    traced.invoke({"q": "my-plain-word", "api_key": "sk-test-111"}, {"callbacks": [AgentPathCallbackHandler()]})
    copied = traced.model_copy()
    del traced
    gc.collect()
    copied.invoke({"q": "my-plain-word"}, {"callbacks": [AgentPathCallbackHandler()]})
    assert spans.names() == ["execute_tool web"] * 2
    for span in spans.all():
        told = json.dumps(dict(span.attributes), default=str)
        assert "my-plain-word" not in told
        assert "sk-test-111" not in told
