"""From LangChain's events to a scored path: what the handler records is what the scorer judges."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("langchain_core", reason="needs the extra langchain")

from langchain_core.messages import ToolMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import tool

from agentpath_langchain import AgentPathCallbackHandler
from agentpath_sdk import score_path, trace_agent
from agentpath_sdk.gold.files import parse_path
from agentpath_sdk.trajectories.conversation import join_conversation
from agentpath_sdk.trajectories.reconstruct import reconstruct
from agentpath_sdk.trajectories.span_record import from_sdk

RATIOS = ("tool_accuracy", "argument_accuracy", "step_order_accuracy", "path_efficiency", "composite")


def _trajectories(spans: Any) -> Any:
    return reconstruct([from_sdk(span) for span in spans.all()])


@tool
def retrieval(query: str) -> str:
    """Search."""
    return "-65 C on average"


@tool
def calculator(expression: str) -> str:
    """Compute."""
    return "-85"


def test_a_graph_that_follows_its_gold_path_scores_one_everywhere(spans: Any, scripted: Any) -> None:
    agents = pytest.importorskip("langchain.agents", reason="needs the extra langgraph")
    gold = parse_path(
        {
            "query": "how warm is Mars?",
            "gold_trajectory": [
                {"tool": "retrieval", "arguments": {"query": "Mars temperature"}},
                {"tool": "calculator", "arguments": {"expression": "-65 * 1.8 + 32"}},
                {"tool": "response", "arguments": {}},
            ],
        }
    )
    model = scripted(
        [("retrieval", {"query": "Mars temperature"})], [("calculator", {"expression": "-65 * 1.8 + 32"})], "-85 F"
    )
    graph = trace_agent(agents.create_agent(model, [retrieval, calculator], name="planets"))
    graph.invoke({"messages": [("user", "how warm is Mars?")]})
    (trajectory,) = _trajectories(spans)
    assert (trajectory.query, trajectory.final_answer) == ("how warm is Mars?", "-85 F")
    assert (trajectory.agent, trajectory.stop_reason, trajectory.completeness) == ("planets", "finished", "complete")
    assert [step.call_id for step in trajectory.steps] == ["c00", "c10"]
    assert [request.fate for request in trajectory.requested] == ["executed", "executed"]
    score = score_path(trajectory, gold)
    assert {name: score.metrics[name] for name in RATIOS} == dict.fromkeys(RATIOS, 1.0)


def test_arguments_compare_exactly_as_they_were_given(spans: Any) -> None:
    given = {"q": 'it\'s "x"', "flag": True, "n": None, "ids": [1, 2], "f": 1.0}

    @tool
    def probe(q: str, flag: bool, n: int | None, ids: list[int], f: float) -> str:
        """Probe."""
        return "ok"

    agent = RunnableLambda(lambda q: probe.invoke(given), name="agent")
    agent.invoke("x", {"callbacks": [AgentPathCallbackHandler()]})
    (trajectory,) = _trajectories(spans)
    gold = parse_path({"query": "x", "gold_trajectory": [{"tool": "probe", "arguments": given}]})
    assert trajectory.steps[0].arguments == given
    assert score_path(trajectory, gold).metrics["argument_accuracy"] == 1.0


def test_text_that_is_no_object_is_a_mismatch_with_a_reason(spans: Any) -> None:
    from uuid import uuid4

    handler, root, run = AgentPathCallbackHandler(), uuid4(), uuid4()
    handler.on_chain_start(None, "x", run_id=root, name="agent")
    handler.on_tool_start({"name": "probe"}, "[1, 2]", run_id=run, parent_run_id=root)
    handler.on_tool_end("ok", run_id=run)
    handler.on_chain_end("done", run_id=root)
    (trajectory,) = _trajectories(spans)
    assert trajectory.steps[0].arguments_state == "unparsed"
    gold = parse_path({"query": "x", "gold_trajectory": [{"tool": "probe", "arguments": {"q": 1}}]})
    score = score_path(trajectory, gold)
    assert score.metrics["argument_accuracy"] == 0.0
    assert score.not_evaluated is None


def test_returned_and_raised_errors_fail_the_steps_that_must_succeed(spans: Any) -> None:
    results: list[Any] = [
        ToolMessage("404 not found", tool_call_id="c", status="error"),
        {"isError": True, "content": [{"type": "text", "text": "no such row"}]},
        {"error": None, "rows": 3},
        ValueError("bad id"),
        "No error was found",
    ]

    def make(number: int, result: Any) -> Any:
        def act() -> Any:
            if isinstance(result, Exception):
                raise result
            return result

        act.__doc__ = "Act."
        act.__name__ = f"act{number}"
        return tool(act)

    def work(question: str) -> str:
        for number, result in enumerate(results, 1):
            one = make(number, result)
            if isinstance(result, Exception):
                with pytest.raises(ValueError, match="bad id"):
                    one.invoke({})
            else:
                one.invoke({})
        return "done"

    RunnableLambda(work, name="agent").invoke("x", {"callbacks": [AgentPathCallbackHandler()]})
    (trajectory,) = _trajectories(spans)
    assert [step.outcome for step in trajectory.steps] == ["error", "error", "ok", "error", "ok"]
    assert [step.error.message for step in trajectory.steps if step.error] == ["404 not found", "no such row", "bad id"]
    gold = parse_path({"id": "acts", "steps": [{f"act{n}": {}, "must_succeed": True} for n in range(1, 6)]})
    score = score_path(trajectory, gold)
    assert score.metrics["tool_accuracy"] == pytest.approx(2 / 5)
    failed = [finding.step for finding in score.findings if finding.kind == "failed_step"]
    assert len(failed) == 3


def test_paused_and_resumed_is_one_path(spans: Any, scripted: Any) -> None:
    """The refund counts once, although its body began twice."""
    agents = pytest.importorskip("langchain.agents", reason="needs the extra langgraph")
    from langgraph.checkpoint.memory import InMemorySaver
    from langgraph.types import Command, interrupt

    @tool
    def lookup(order: int) -> str:
        """Look up."""
        return "20 EUR"

    @tool
    def refund(order: int, amount: int) -> str:
        """Refund."""
        return str(interrupt("ok?"))

    graph = agents.create_agent(
        scripted([("lookup", {"order": 7})], [("refund", {"order": 7, "amount": 20})], "refunded"),
        [lookup, refund],
        checkpointer=InMemorySaver(),
        name="shop",
    )
    config: Any = {"configurable": {"thread_id": "t1"}}
    graph.invoke({"messages": [("user", "refund 7")]}, {**config, "callbacks": [AgentPathCallbackHandler()]})
    (paused,) = _trajectories(spans)
    gold = parse_path(
        {"query": "refund 7", "steps": [{"lookup": {"order": 7}}, {"refund": {"order": 7, "amount": 20}}]}
    )
    assert paused.stop_reason == "pending"
    assert score_path(paused, gold).not_evaluated is not None
    graph.invoke(Command(resume="yes"), {**config, "callbacks": [AgentPathCallbackHandler()]})
    joined = join_conversation(_trajectories(spans))
    assert [(step.tool, step.outcome) for step in joined.steps] == [("lookup", "ok"), ("refund", "ok")]
    assert (joined.query, joined.final_answer) == ("refund 7", "refunded")
    assert score_path(joined, gold).value == 1.0
