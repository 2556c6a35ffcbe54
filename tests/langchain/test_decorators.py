"""Decorators and LangChain together: one decorator is enough, and one call is one step whoever sees it."""

from __future__ import annotations

import asyncio
import inspect
import json
import threading
from typing import Any

import pytest

pytest.importorskip("langchain_core", reason="needs the extra langchain")

from langchain_core.runnables import RunnableLambda
from langchain_core.tools import tool
from opentelemetry import trace as trace_api

from agentpath_langchain import AgentPathCallbackHandler, AgentPathLangChainInstrumentor, chat_model
from agentpath_sdk import current_run, trace_agent, trace_tool, use_conversation


@tool
def search(q: str) -> str:
    """Search."""
    return f"found {q}"


@tool
@trace_tool
def below(q: str) -> str:
    """Trace below LangChain's decorator."""
    return q


@trace_tool
@tool
def above(q: str) -> str:
    """Trace above LangChain's decorator."""
    return q


@tool
@trace_tool
async def below_async(q: str) -> str:
    """Trace below LangChain's decorator."""
    return q


@trace_tool
@tool
async def above_async(q: str) -> str:
    """Trace above LangChain's decorator."""
    return q


def _tree(spans: Any) -> list[tuple[str, str | None]]:
    return [(s.name, spans.parent(s)) for s in spans.all()]


def test_a_decorated_function_picks_langchain_up_by_itself(spans: Any, scripted: Any) -> None:
    @trace_agent
    def planets(question: str) -> str:
        model = scripted([("search", {"q": "Mars"})], "cold")
        reply = model.invoke(question)
        found = search.invoke(reply.tool_calls[0])
        return f"{found.content}: {model.invoke(question).content}"

    assert planets("how warm?") == "found Mars: cold"
    assert _tree(spans) == [
        ("invoke_agent planets", None),
        ("chat ScriptedModel", "invoke_agent planets"),
        ("execute_tool search", "invoke_agent planets"),
        ("chat ScriptedModel", "invoke_agent planets"),
    ]
    assert spans.one("execute_tool search").attributes["gen_ai.tool.call.id"] == "c00"


def test_outside_of_it_nothing_is_recorded(spans: Any) -> None:
    trace_agent(lambda q: search.invoke({"q": q}))("x")
    spans.clear()
    search.invoke({"q": "x"})
    assert spans.all() == []


@pytest.mark.parametrize("chain", [True, False])
def test_a_graph_or_chain_inside_a_decorated_agent_is_that_agent(spans: Any, scripted: Any, chain: bool) -> None:
    """The tools are the decorated agent's own steps: no second run stands between."""
    agents = pytest.importorskip("langchain.agents", reason="needs the extra langgraph")
    graph = agents.create_agent(scripted([("search", {"q": "x"})], "done"), [search], name="inner")
    body: Any = RunnableLambda(lambda q: {"messages": [("user", q)]}) | graph

    @trace_agent
    def outer(question: str) -> str:
        given: Any = question if chain else {"messages": [("user", question)]}
        result = (body if chain else graph).invoke(given, {"configurable": {"thread_id": "t7"}})
        return result["messages"][-1].content

    outer("why?")
    assert [s.name for s in spans.agents()] == ["invoke_agent outer"]
    assert {spans.parent(s) for s in spans.all() if s.parent} == {"invoke_agent outer"}
    assert spans.agents()[0].attributes["agentpath.run.calls"] == 1
    assert spans.agents()[0].attributes["gen_ai.conversation.id"] == "t7"


def test_async_agents_at_once_keep_their_langchain_calls(spans: Any) -> None:
    @trace_agent
    async def ask(question: str) -> str:
        a, b = await asyncio.gather(search.ainvoke({"q": question}), search.ainvoke({"q": question + "2"}))
        return a + b

    async def main() -> None:
        await asyncio.gather(*(ask(f"q{n}") for n in range(5)))

    asyncio.run(main())
    assert len(spans.agents()) == 5
    for agent in spans.agents():
        question = json.loads(agent.attributes["gen_ai.input.messages"])[0]["parts"][0]["content"]
        inside = [s for s in spans.tools() if s.parent.span_id == agent.context.span_id]
        assert [spans.arguments(s)["q"] for s in inside] == [question, question + "2"]


@pytest.mark.parametrize("handlers", [0, 1, 2])
@pytest.mark.parametrize("one", [below, above])
def test_decorator_and_handlers_see_one_step(spans: Any, one: Any, handlers: int) -> None:
    @trace_agent
    def agent(q: str) -> str:
        return one.invoke({"q": q}, {"callbacks": [AgentPathCallbackHandler() for _ in range(handlers)]})

    assert agent("x") == "x"
    assert _tree(spans) == [("invoke_agent agent", None), (f"execute_tool {one.name}", "invoke_agent agent")]
    assert spans.arguments(spans.tools()[0]) == {"q": "x"}
    assert spans.agents()[0].attributes["agentpath.run.calls"] == 1


@pytest.mark.parametrize("one", [below_async, above_async])
def test_decorator_and_handler_see_one_step_in_async_code(spans: Any, one: Any) -> None:
    handler = AgentPathCallbackHandler()
    assert asyncio.run(one.ainvoke({"q": "x"}, {"callbacks": [handler]})) == "x"
    assert spans.names() == [f"execute_tool {one.name}"]


@pytest.mark.parametrize("one", [below, above])
def test_without_any_handler_the_decorated_tool_is_recorded(spans: Any, one: Any) -> None:
    assert one.invoke({"q": "x"}) == "x"
    assert spans.names() == [f"execute_tool {one.name}"]


def test_the_argument_schema_is_the_same_in_both_orders() -> None:
    def plain(q: str, config: dict[str, Any], name: str = "n", run_id: int = 0) -> str:
        """Find."""
        return q

    bare = tool(plain).tool_call_schema.model_json_schema()
    assert tool(trace_tool(plain)).tool_call_schema.model_json_schema() == bare
    assert trace_tool(tool(plain)).tool_call_schema.model_json_schema() == bare
    assert inspect.signature(trace_tool(plain)) == inspect.signature(plain)


def test_a_function_called_by_a_langchain_tool_finds_that_tool(spans: Any) -> None:
    """Although no callback attaches a context; and LangChain calls inside the function find the function."""

    @trace_tool
    def helper(q: str) -> str:
        return search.invoke({"q": q})

    @tool
    def outer(q: str) -> str:
        """Find."""
        return helper(q)

    outer.invoke({"q": "x"}, {"callbacks": [AgentPathCallbackHandler()]})
    assert _tree(spans) == [
        ("execute_tool outer", None),
        ("execute_tool helper", "execute_tool outer"),
        ("execute_tool search", "execute_tool helper"),
    ]


def test_a_decorated_agent_inside_a_langchain_tool_is_a_run_of_its_own(spans: Any) -> None:
    @trace_agent
    def inner(question: str) -> str:
        return search.invoke({"q": question})

    @tool
    def ask(q: str) -> str:
        """Ask."""
        return inner(q)

    @trace_agent
    def outer(question: str) -> str:
        return ask.invoke({"q": question})

    outer("x")
    assert _tree(spans) == [
        ("invoke_agent outer", None),
        ("execute_tool ask", "invoke_agent outer"),
        ("invoke_agent inner", "execute_tool ask"),
        ("execute_tool search", "invoke_agent inner"),
    ]


def test_a_decorated_agent_inside_an_untraced_graph_keeps_its_calls(spans: Any, scripted: Any) -> None:
    """The graph around was never recorded, so its run ids are unknown: the decorated agent still is the parent."""
    agents = pytest.importorskip("langchain.agents", reason="needs the extra langgraph")
    graphs = pytest.importorskip("langgraph.graph", reason="needs the extra langgraph")
    inner = agents.create_agent(scripted([("search", {"q": "x"})], "done"), [search], name="inner")

    @trace_agent
    def ask(question: str) -> str:
        return inner.invoke({"messages": [("user", question)]})["messages"][-1].content

    def node(state: Any) -> dict[str, Any]:
        return {"messages": [("ai", ask("why?"))]}

    graph = graphs.StateGraph(graphs.MessagesState).add_node("node", node).add_edge(graphs.START, "node").compile()
    graph.invoke({"messages": [("user", "hi")]})
    assert [s.name for s in spans.agents()] == ["invoke_agent ask"]
    assert spans.parent(spans.one("execute_tool search")) == "invoke_agent ask"


def test_a_traced_graph_inside_an_untraced_graph_keeps_its_calls(spans: Any, scripted: Any) -> None:
    agents = pytest.importorskip("langchain.agents", reason="needs the extra langgraph")
    graphs = pytest.importorskip("langgraph.graph", reason="needs the extra langgraph")
    inner = trace_agent(agents.create_agent(scripted([("search", {"q": "x"})], "done"), [search], name="inner"))
    graph = graphs.StateGraph(graphs.MessagesState).add_node("node", inner).add_edge(graphs.START, "node").compile()
    assert graph.invoke({"messages": [("user", "hi")]})["messages"][-1].content == "done"
    run = spans.one("invoke_agent inner")
    assert spans.parent(spans.one("execute_tool search")) == "invoke_agent inner"
    assert json.loads(run.attributes["gen_ai.output.messages"])[0]["parts"][0]["content"] == "done"


def test_a_graph_inside_a_traced_tool_belongs_to_that_tool(spans: Any, scripted: Any) -> None:
    """The tool's own handler is not passed on by LangChain; the run's is, beside it."""
    agents = pytest.importorskip("langchain.agents", reason="needs the extra langgraph")
    inner = agents.create_agent(scripted([("search", {"q": "x"})], "done"), [search], name="inner")

    @trace_tool
    @tool
    def ask(q: str) -> str:
        """Ask."""
        return inner.invoke({"messages": [("user", q)]})["messages"][-1].content

    trace_agent(lambda question: ask.invoke({"q": question}), name="outer")("x")
    assert [(name, parent) for name, parent in _tree(spans) if not name.startswith("chat")] == [
        ("invoke_agent outer", None),
        ("execute_tool ask", "invoke_agent outer"),
        ("invoke_agent inner", "execute_tool ask"),
        ("execute_tool search", "invoke_agent inner"),
    ]


def test_the_current_run_is_known_inside_a_langchain_tool(spans: Any) -> None:
    seen: list[Any] = []

    @tool
    def look(q: str) -> str:
        """Look."""
        seen.append(current_run())
        return q

    trace_agent(RunnableLambda(lambda q: look.invoke({"q": q})), name="agent").invoke("x")
    assert seen[0] is not None
    assert int(seen[0].span_id, 16) == spans.one("invoke_agent agent").context.span_id


def test_a_conversation_in_use_reaches_langchain_runs(spans: Any) -> None:
    with use_conversation("c1"):
        RunnableLambda(lambda q: search.invoke({"q": q})).invoke("x", {"callbacks": [AgentPathCallbackHandler()]})
    assert {s.attributes["gen_ai.conversation.id"] for s in spans.all()} == {"c1"}


def test_a_pause_inside_a_decorated_agent_is_pending(spans: Any, scripted: Any) -> None:
    agents = pytest.importorskip("langchain.agents", reason="needs the extra langgraph")
    from langgraph.checkpoint.memory import InMemorySaver
    from langgraph.types import Command, interrupt

    @tool
    def refund(amount: int) -> str:
        """Refund."""
        return str(interrupt("ok?"))

    graph = agents.create_agent(scripted([("refund", {"amount": 20})], "done"), [refund], checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "t9"}}

    @trace_agent
    def once(question: str) -> Any:
        return graph.invoke({"messages": [("user", question)]}, config)

    @trace_agent
    def go_on(answer: str) -> Any:
        return graph.invoke(Command(resume=answer), config)

    once("pay")
    paused = spans.one("invoke_agent once")
    assert paused.attributes["agentpath.run.stop_reason"] == "pending"
    go_on("yes")
    resumed = spans.one("invoke_agent go_on")
    assert resumed.attributes["agentpath.run.stop_reason"] == "finished"
    assert [link.context.span_id for link in resumed.links] == [paused.context.span_id]
    assert {s.attributes["gen_ai.conversation.id"] for s in (paused, resumed)} == {"t9"}


def test_paused_and_resumed_within_one_decorated_run_is_finished(spans: Any, scripted: Any) -> None:
    agents = pytest.importorskip("langchain.agents", reason="needs the extra langgraph")
    from langgraph.checkpoint.memory import InMemorySaver
    from langgraph.types import Command, interrupt

    @tool
    def refund(amount: int) -> str:
        """Refund."""
        return str(interrupt("ok?"))

    graph = agents.create_agent(scripted([("refund", {"amount": 20})], "done"), [refund], checkpointer=InMemorySaver())

    @trace_agent
    def pay(question: str) -> str:
        config: Any = {"configurable": {"thread_id": "t10"}}
        graph.invoke({"messages": [("user", question)]}, config)
        return graph.invoke(Command(resume="yes"), config)["messages"][-1].content

    pay("please")
    assert spans.one("invoke_agent pay").attributes["agentpath.run.stop_reason"] == "finished"
    assert [spans.outcome(s) for s in spans.tools()] == ["interrupted", "ok"]


def test_the_step_limit_inside_a_decorated_agent_is_told(spans: Any, scripted: Any) -> None:
    agents = pytest.importorskip("langchain.agents", reason="needs the extra langgraph")
    graph = agents.create_agent(scripted([("search", {"q": "x"})]), [search])

    @trace_agent
    def ask(question: str) -> str:
        try:
            return graph.invoke({"messages": [("user", question)]}, {"recursion_limit": 4})["messages"][-1].content
        except RecursionError:
            return "I gave up"

    ask("x")
    run = spans.one("invoke_agent ask")
    assert (spans.outcome(run), run.attributes["agentpath.run.stop_reason"]) == ("ok", "limit")


def test_the_handler_leaves_the_current_span_alone(spans: Any) -> None:
    seen: list[Any] = []

    @tool
    def look(q: str) -> str:
        """Look."""
        seen.append(trace_api.get_current_span())
        return q

    before = trace_api.get_current_span()
    look.invoke({"q": "x"}, {"callbacks": [AgentPathCallbackHandler()]})
    assert seen == [before]
    assert trace_api.get_current_span() is before


def test_a_span_of_the_application_is_the_parent_of_a_run(spans: Any) -> None:
    tracer = spans.provider.get_tracer("app")
    with tracer.start_as_current_span("GET /ask"):
        RunnableLambda(lambda q: search.invoke({"q": q}), name="r").invoke(
            "x", {"callbacks": [AgentPathCallbackHandler()]}
        )
    assert _tree(spans) == [
        ("GET /ask", None),
        ("invoke_agent r", "GET /ask"),
        ("execute_tool search", "invoke_agent r"),
    ]


# --- instrumentor ---------------------------------------------------------------------------------


def test_the_instrumentor_hears_everything_until_switched_off(spans: Any) -> None:
    instrumentor = AgentPathLangChainInstrumentor()
    instrumentor.instrument()
    try:
        search.invoke({"q": "x"})
        thread = threading.Thread(target=lambda: search.invoke({"q": "y"}))
        thread.start()
        thread.join()
        trace_agent(lambda q: search.invoke({"q": q}, {"callbacks": [AgentPathCallbackHandler()]}))("z")
    finally:
        instrumentor.uninstrument()
    search.invoke({"q": "w"})
    assert [spans.arguments(s)["q"] for s in spans.tools()] == ["x", "y", "z"]


def test_an_evaluators_model_calls_are_not_the_agents(spans: Any, scripted: Any) -> None:
    judge = chat_model(scripted("good"))

    @trace_agent
    def agent(q: str) -> str:
        return judge([{"role": "system", "content": "Judge."}, {"role": "user", "content": q}])

    assert agent("x") == "good"
    assert spans.names() == ["invoke_agent agent"]
    with pytest.raises(TypeError, match="Runnable"):
        chat_model("gpt-5")
