"""Spans of published instrumentations that speak the GenAI vocabulary give the calls that truly happened."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agentpath_sdk.trajectories.files import read_spans, read_trajectories
from agentpath_sdk.trajectories.model import ToolCall, Trajectory
from agentpath_sdk.trajectories.reconstruct import reconstruct_trace

DATA = Path(__file__).parents[1] / "data" / "spans"
EXPECTED: dict[str, dict[str, Any]] = json.loads(gzip.decompress((DATA / "expected.json.gz").read_bytes()))
CASES = sorted(EXPECTED)

# The spans hold no content at all: no arguments, no query, no answer.
NO_CONTENT = {case for case in CASES if "nocontent" in case or case.startswith("google-adk__builtin__")}
# No model spans, and nothing of the query or the answer on the agent's span.
NO_TEXTS = {case for case in CASES if case.startswith("openai-agents__otel-genai")}
# Calls in pool threads are traces of their own there, tied to the run by nothing but call ids.
TORN = {"dspy__otel-genai__threads", "openai-loop__otel-genai__threads"}
# Names nobody: the expected names are the test's own.
NAMELESS = {case for case in CASES if case.startswith("dspy__")} | TORN


def trajectories(case: str) -> tuple[Trajectory, ...]:
    return tuple(read_trajectories(DATA / f"{case}.jsonl.gz"))


def unattached(case: str) -> Iterator[ToolCall]:
    traces: dict[str, list[Any]] = {}
    for span in read_spans(DATA / f"{case}.jsonl.gz"):
        traces.setdefault(span.trace_id, []).append(span)
    for trace in traces.values():
        yield from reconstruct_trace(trace).unattached


def calls(case: str) -> list[ToolCall]:
    """Return all calls of a case by start, those of the framework's own tools left out."""
    own = {handoff.get("tool") for handoff in EXPECTED[case]["handoffs"]}
    wanted = {step["tool"] for step in EXPECTED[case]["steps"]}
    found = [step for t in trajectories(case) for step in t.steps] + list(unattached(case))
    kept = [step for step in found if step.tool in wanted or step.tool not in own]
    return sorted(kept, key=lambda step: step.start_unix_nano or 0)


@pytest.mark.parametrize("case", CASES)
def test_every_call_is_found_once_in_true_order(case: str) -> None:
    assert [step.tool for step in calls(case)] == [step["tool"] for step in EXPECTED[case]["steps"]]


@pytest.mark.parametrize("case", CASES)
def test_arguments_are_the_true_ones_or_said_to_be_missing(case: str) -> None:
    for step, true in zip(calls(case), EXPECTED[case]["steps"], strict=True):
        if case in NO_CONTENT:
            assert (step.arguments, step.arguments_state) == (None, "not_captured")
        else:
            assert step.arguments == true["arguments"]


@pytest.mark.parametrize("case", CASES)
def test_exactly_the_failed_calls_have_an_error(case: str) -> None:
    failed = [step.outcome == "error" for step in calls(case)]
    assert failed == [step["error"] is not None for step in EXPECTED[case]["steps"]]


@pytest.mark.parametrize("case", sorted(set(CASES) - NAMELESS))
def test_each_call_knows_its_agent(case: str) -> None:
    assert [step.agent for step in calls(case)] == [step["agent"] for step in EXPECTED[case]["steps"]]


ONE_AGENT = [
    case for case in CASES if case not in TORN and len({step["agent"] for step in EXPECTED[case]["steps"]}) == 1
]


@pytest.mark.parametrize("case", ONE_AGENT)
def test_calls_of_one_model_answer_are_one_group(case: str) -> None:
    def groups(numbers: list[Any]) -> list[list[int]]:
        return [[i for i, other in enumerate(numbers) if other == n] for n in dict.fromkeys(numbers) if n is not None]

    found = [step.parallel_group for t in trajectories(case) for step in t.steps]
    assert groups(found) == groups([step["parallel_group"] for step in EXPECTED[case]["steps"]])


@pytest.mark.parametrize("case", sorted(set(CASES) - NO_CONTENT - NO_TEXTS - TORN))
def test_query_and_answer_are_found(case: str) -> None:
    expected = EXPECTED[case]
    assert expected["query"] in [t.query for t in trajectories(case)]
    if expected["final_answer"] is not None:
        assert expected["final_answer"] in [t.final_answer for t in trajectories(case)]


@pytest.mark.parametrize("case", [case for case in CASES if EXPECTED[case]["session_id"]])
def test_the_conversation_id_is_found(case: str) -> None:
    stated = [t.conversation_id for t in trajectories(case) if t.conversation_id is not None]
    # Pydantic AI makes ids of its own unless the history carries one.
    assert stated if case.startswith("pydantic-ai") else EXPECTED[case]["session_id"] in stated


@pytest.mark.parametrize("case", [case for case in CASES if "crash" in case])
def test_a_run_that_died_of_a_tool_error_stopped_with_an_error(case: str) -> None:
    assert [t.stop_reason for t in trajectories(case)] == ["error"]


def test_a_sub_agent_called_as_a_tool_is_one_step_of_its_caller_and_has_its_own_trajectory() -> None:
    caller, called = trajectories("pydantic-ai__builtin__subagent")
    assert [(step.tool, step.kind) for step in caller.steps] == [("check_policy", "tool"), ("ask_billing", "agent")]
    assert (called.agent, [step.tool for step in called.steps]) == ("billing_agent", ["find_invoice", "refund_payment"])


def test_agents_that_hand_over_in_a_graph_have_a_trajectory_each() -> None:
    found = trajectories("langgraph__otel-genai__handoff")
    assert [(t.agent, len(t.steps)) for t in found] == [("triage_agent", 2), ("billing_agent", 2)]
    assert all(step.outcome == "ok" for t in found for step in t.steps)


def test_calls_in_threads_without_a_parent_are_nobodys() -> None:
    (run,) = trajectories("openai-loop__otel-genai__threads")
    assert [step.tool for step in run.steps] == ["search_orders"]
    assert len(list(unattached("openai-loop__otel-genai__threads"))) == 3
