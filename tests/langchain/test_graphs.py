"""Real LangGraph graphs and create_agent agents with scripted models, seen by the callback handler."""

# ruff: noqa: E402 - what follows the check for the extra needs it

from __future__ import annotations

import asyncio
import json
from typing import Annotated, Any

import pytest

pytest.importorskip("langgraph", reason="needs the extra langgraph")
agents = pytest.importorskip("langchain.agents", reason="needs the extra langgraph")

from langchain.tools import ToolRuntime
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import InjectedToolCallId, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import GraphRecursionError
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import InjectedState
from langgraph.types import Command, interrupt
from opentelemetry.trace import StatusCode

from agentpath_langchain import AgentPathCallbackHandler

QUESTION = {"messages": [("user", "how warm is Mars?")]}
effects: list[int] = []


@tool
def search(q: str) -> str:
    """Search."""
    return f"found {q}"


@tool
def lookup(order: int) -> str:
    """Look an order up."""
    return "20 EUR"


@tool
def refund(order: int, amount: int) -> str:
    """Refund an order after approval."""
    answer = interrupt("refund?")
    effects.append(amount)
    return f"refunded: {answer}"


def _config(**more: Any) -> Any:
    return {"callbacks": [AgentPathCallbackHandler()], **more}


def _text(span: Any, attribute: str) -> str:
    (message,) = json.loads(span.attributes[attribute])
    return message["parts"][0]["content"]


@pytest.mark.parametrize("way", ["sync", "async"])
def test_an_agent_run_has_its_tools_model_calls_query_and_answer(spans: Any, scripted: Any, way: str) -> None:
    agent = agents.create_agent(
        scripted([("search", {"q": "Mars"})], [("search", {"q": "Mars temperature"})], "-65 C"),
        [search],
        name="planets",
    )
    config = _config(configurable={"thread_id": "t1"})
    agent.invoke(QUESTION, config) if way == "sync" else asyncio.run(agent.ainvoke(QUESTION, config))
    run = spans.one("invoke_agent planets")
    assert [spans.arguments(s) for s in spans.named("execute_tool search")] == [
        {"q": "Mars"},
        {"q": "Mars temperature"},
    ]
    assert {spans.parent(s) for s in spans.all() if s is not run and s.name != run.name} == {"invoke_agent planets"}
    assert _text(run, "gen_ai.input.messages") == "how warm is Mars?"
    assert _text(run, "gen_ai.output.messages") == "-65 C"
    assert run.attributes["gen_ai.conversation.id"] == "t1"
    assert run.attributes["agentpath.run.stop_reason"] == "finished"
    assert [s.attributes["gen_ai.tool.call.id"] for s in spans.tools()] == ["c00", "c10"]
    asked = json.loads(spans.named("chat ScriptedModel")[0].attributes["gen_ai.output.messages"])
    assert asked[0]["parts"] == [{"type": "tool_call", "id": "c00", "name": "search", "arguments": {"q": "Mars"}}]


def test_tools_asked_for_together_are_siblings(spans: Any, scripted: Any) -> None:
    agent = agents.create_agent(scripted([("search", {"q": str(n)}) for n in range(4)], "done"), [search])
    agent.invoke(QUESTION, _config())
    assert {spans.parent(s) for s in spans.tools()} == {"invoke_agent LangGraph"}
    assert len(spans.tools()) == 4


def test_pause_and_resume_are_no_errors_and_one_conversation(spans: Any, scripted: Any) -> None:
    """At the pause the step is interrupted and the run pending; the resumed run is linked to it."""
    effects.clear()
    agent = agents.create_agent(
        scripted([("lookup", {"order": 7})], [("refund", {"order": 7, "amount": 20})], "refunded"),
        [lookup, refund],
        checkpointer=InMemorySaver(),
        name="shop",
    )
    agent.invoke(QUESTION, _config(configurable={"thread_id": "t1"}))
    paused = spans.one("invoke_agent shop")
    assert all(s.status.status_code is not StatusCode.ERROR for s in spans.all())
    assert spans.outcome(spans.one("execute_tool lookup")) == "ok"
    assert spans.outcome(spans.one("execute_tool refund")) == "interrupted"
    assert (spans.outcome(paused), paused.attributes["agentpath.run.stop_reason"]) == ("interrupted", "pending")
    assert "gen_ai.output.messages" not in paused.attributes
    spans.clear()
    agent.invoke(Command(resume="yes"), _config(configurable={"thread_id": "t1"}))
    resumed = spans.one("invoke_agent shop")
    assert [link.context.span_id for link in resumed.links] == [paused.context.span_id]
    assert resumed.attributes["gen_ai.conversation.id"] == paused.attributes["gen_ai.conversation.id"] == "t1"
    assert [s.name for s in spans.tools()] == ["execute_tool refund"]
    assert resumed.attributes["agentpath.run.stop_reason"] == "finished"
    assert effects == [20]


def test_a_breakpoint_that_no_node_raises_is_a_pause_too(spans: Any, scripted: Any) -> None:
    agent = agents.create_agent(
        scripted([("lookup", {"order": 7})], "ok"), [lookup], checkpointer=InMemorySaver(), interrupt_before=["tools"]
    )
    agent.invoke(QUESTION, _config(configurable={"thread_id": "t2"}))
    assert spans.agents()[0].attributes["agentpath.run.stop_reason"] == "pending"


def test_a_pause_in_a_node_without_tools_is_pending(spans: Any) -> None:
    def ask(state: MessagesState) -> dict[str, Any]:
        interrupt("sure?")
        return {}

    graph = StateGraph(MessagesState).add_node("ask", ask).add_edge(START, "ask").compile(checkpointer=InMemorySaver())
    graph.invoke(QUESTION, _config(configurable={"thread_id": "t3"}))
    (run,) = spans.agents()
    assert run.attributes["agentpath.run.stop_reason"] == "pending"
    assert run.status.status_code is StatusCode.UNSET


def test_a_users_exception_named_like_the_pause_is_an_error(spans: Any, scripted: Any) -> None:
    class GraphInterrupt(Exception):
        pass

    @tool
    def act() -> str:
        """Act."""
        raise GraphInterrupt("mine")

    agent = agents.create_agent(scripted([("act", {})], "done"), [act])
    with pytest.raises(GraphInterrupt):
        agent.invoke(QUESTION, _config())
    assert spans.outcome(spans.one("execute_tool act")) == "error"
    assert spans.agents()[0].attributes["agentpath.run.stop_reason"] == "error"


def test_a_hand_over_to_another_agent_is_no_error(spans: Any, scripted: Any) -> None:
    @tool
    def to_writer(tool_call_id: Annotated[str, InjectedToolCallId], state: Annotated[dict, InjectedState]) -> Command:
        """Hand over to the writer."""
        done = ToolMessage("handed over", tool_call_id=tool_call_id)
        return Command(goto="writer", graph=Command.PARENT, update={"messages": [*state["messages"], done]})

    planner = agents.create_agent(scripted([("to_writer", {})]), [to_writer], name="planner")
    writer = agents.create_agent(scripted("written"), [], name="writer")
    graph = StateGraph(MessagesState)
    graph.add_node("planner", planner, destinations=("writer",))
    graph.add_node("writer", writer)
    graph.add_edge(START, "planner")
    graph.add_edge("writer", END)
    result = graph.compile(name="team").invoke(QUESTION, _config())
    assert result["messages"][-1].content == "written"
    assert all(s.status.status_code is not StatusCode.ERROR for s in spans.all())
    step = spans.one("execute_tool to_writer")
    assert (spans.outcome(step), spans.arguments(step), spans.parent(step)) == ("ok", {}, "invoke_agent planner")
    assert [(s.name, spans.parent(s)) for s in spans.agents()] == [
        ("invoke_agent team", None),
        ("invoke_agent planner", "invoke_agent team"),
        ("invoke_agent writer", "invoke_agent team"),
    ]


@pytest.mark.parametrize("name", [None, "helper", "outer"])
def test_an_agent_called_by_a_tool_has_its_own_run_under_that_tool(spans: Any, scripted: Any, name: str | None) -> None:
    inner = agents.create_agent(scripted([("search", {"q": "x"})], "inner answer"), [search], name=name)

    @tool
    def ask(q: str) -> str:
        """Ask the helper."""
        RunnableLambda(lambda x: x).invoke(1)
        return inner.invoke({"messages": [("user", q)]})["messages"][-1].content

    outer = agents.create_agent(scripted([("ask", {"q": "why?"})], "outer answer"), [ask], name="outer")
    outer.invoke(QUESTION, _config())
    first, second = spans.agents()
    assert (second.name, spans.parent(second)) == (f"invoke_agent {name or 'LangGraph'}", "execute_tool ask")
    assert spans.one("execute_tool search").parent.span_id == second.context.span_id
    assert spans.one("execute_tool ask").parent.span_id == first.context.span_id
    assert first.attributes["agentpath.run.calls"] == second.attributes["agentpath.run.calls"] == 1


def test_a_named_graph_of_no_known_make_called_by_a_tool_is_an_agent_too(spans: Any) -> None:
    def work(state: MessagesState) -> dict[str, Any]:
        search.invoke({"q": "x"})
        return {"messages": [AIMessage("worked")]}

    inner = StateGraph(MessagesState).add_node("work", work).add_edge(START, "work").compile(name="worker")

    @tool
    def ask(q: str) -> str:
        """Ask."""
        return inner.invoke({"messages": [("user", q)]})["messages"][-1].content

    ask.invoke({"q": "why?"}, _config())
    assert [(s.name, spans.parent(s)) for s in spans.all()] == [
        ("execute_tool ask", None),
        ("invoke_agent worker", "execute_tool ask"),
        ("execute_tool search", "invoke_agent worker"),
    ]
    assert _text(spans.one("invoke_agent worker"), "gen_ai.input.messages") == "why?"


def test_an_unnamed_subgraph_is_part_of_its_graph(spans: Any) -> None:
    def work(state: MessagesState) -> dict[str, Any]:
        search.invoke({"q": "x"})
        return {}

    inner = StateGraph(MessagesState).add_node("work", work).add_edge(START, "work").compile()
    outer = StateGraph(MessagesState).add_node("part", inner).add_edge(START, "part").compile(name="whole")
    outer.invoke(QUESTION, _config())
    assert [(s.name, spans.parent(s)) for s in spans.all()] == [
        ("invoke_agent whole", None),
        ("execute_tool search", "invoke_agent whole"),
    ]


def test_running_into_the_step_limit_is_told(spans: Any, scripted: Any) -> None:
    agent = agents.create_agent(scripted([("search", {"q": "x"})]), [search])
    with pytest.raises(GraphRecursionError):
        agent.invoke(QUESTION, _config(recursion_limit=4))
    (run,) = spans.agents()
    assert run.attributes["agentpath.run.stop_reason"] == "limit"


def test_a_model_call_limit_that_ends_the_run_quietly_is_told(spans: Any, scripted: Any) -> None:
    from langchain.agents.middleware import ModelCallLimitMiddleware

    limit = ModelCallLimitMiddleware(run_limit=1)
    agent = agents.create_agent(scripted([("search", {"q": "x"})]), [search], middleware=[limit])
    agent.invoke(QUESTION, _config())
    assert spans.agents()[0].attributes["agentpath.run.stop_reason"] == "limit"


async def test_a_cancelled_run_ends_at_once_as_cancelled(spans: Any, scripted: Any) -> None:
    running = asyncio.Event()

    @tool
    async def wait() -> str:
        """Wait."""
        running.set()
        await asyncio.Event().wait()
        return "never"

    agent = agents.create_agent(scripted([("wait", {})], "done"), [wait])
    task = asyncio.create_task(agent.ainvoke(QUESTION, _config()))
    await running.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    (run,) = spans.agents()
    assert (spans.outcome(run), run.attributes["agentpath.run.stop_reason"]) == ("cancelled", "cancelled")
    assert spans.outcome(spans.one("execute_tool wait")) == "cancelled"
    assert all(s.status.status_code is StatusCode.UNSET for s in spans.all())


def test_a_run_that_fails_says_so(spans: Any) -> None:
    def work(state: MessagesState) -> dict[str, Any]:
        raise ValueError("no luck")

    graph = StateGraph(MessagesState).add_node("work", work).add_edge(START, "work").compile()
    with pytest.raises(ValueError, match="no luck"):
        graph.invoke(QUESTION, _config())
    (run,) = spans.agents()
    assert (spans.outcome(run), run.status.description) == ("error", "no luck")
    assert run.attributes["agentpath.run.stop_reason"] == "error"


def test_injected_state_and_runtime_are_absent(spans: Any, scripted: Any) -> None:
    @tool
    def save(text: str, runtime: ToolRuntime, state: Annotated[dict, InjectedState]) -> str:
        """Save."""
        return text

    agents.create_agent(scripted([("save", {"text": "x"})], "done"), [save]).invoke(QUESTION, _config())
    assert spans.arguments(spans.one("execute_tool save")) == {"text": "x"}
