"""What the spans of some instrumentations do not hold: the only cases in which a fact may be missing, and why."""

from __future__ import annotations

from fnmatch import fnmatch
from typing import Literal, TypeAlias

from .real_cases import CASES, TRUTH

Lacking: TypeAlias = Literal["steps", "arguments", "errors", "agents", "handoffs", "query", "answer", "conversation"]

NO_CONTENT = "content capture is off"
NO_MODELS = "no model spans, and nothing of it on the agent's span"

# Pattern of cases, facts the spans lack, why.
EXCEPTIONS: tuple[tuple[str, tuple[Lacking, ...], str], ...] = (
    ("crewai__openllmetry__*", ("steps", "arguments", "errors", "agents"), "there are no tool spans and no messages"),
    ("*-nocontent__*", ("arguments", "query", "answer"), NO_CONTENT),
    ("*-hidden__*", ("arguments", "query", "answer"), "the instrumentation was told to hide content"),
    ("google-adk__builtin__*", ("arguments", "query", "answer"), "content capture is off by default"),
    ("autogen__builtin__*", ("arguments", "query", "answer"), "never records arguments, query or answer"),
    ("mcp__builtin__*", ("arguments", "answer"), "server spans hold neither arguments nor results"),
    ("openai-agents__otel-genai__*", ("query", "answer"), NO_MODELS),
    ("openai-agents__otel-genai*__handoff", ("handoffs",), "a hand-off has no span"),
    ("semantic-kernel__*", ("query",), "messages go to log records"),
    ("agno__openllmetry__async", ("answer",), "a streamed answer is not recorded"),
    ("langchain-classic__*", ("errors",), "the executor turns the error into a plain sentence"),
    ("langchain__otel-genai__stream_softerror", ("errors",), "the message's error status is not recorded"),
    ("langchain__*-nocontent__stream_softerror", ("errors",), "the error is in the content alone"),
    ("langchain__*-hidden__stream_softerror", ("errors",), "the error is in the content alone"),
    ("openai-loop__*__llmonly", ("errors",), "the loop tells the model of the error in a plain sentence"),
    ("dspy__otel-genai__threads", ("answer",), "the calls alone have spans, each a trace of its own"),
    ("dspy__*", ("agents",), "no agent has a name; the expected labels are the test's own"),
    ("llama-index__openinference__*", ("agents",), "only the agents' class is named"),
    ("haystack__openinference__*", ("agents",), "only the agents' class is named"),
    ("haystack2__openinference__async", ("agents",), "a bare agent run names no component"),
    ("haystack2__*__subagent", ("agents",), "the inner agent is no component and has no name"),
    ("openai-agents__openinference*", ("conversation",), "the group id is lost"),
    ("openai-agents__openllmetry*", ("conversation",), "the group id is lost"),
    ("openai-loop__mlflow-trace__*", ("conversation",), "a traced function names no conversation"),
    ("openai-loop__logfire__*", ("conversation",), "a traced function names no conversation"),
    ("openai-loop__langsmith-traceable__*", ("conversation",), "a traced function names no conversation"),
)


def lacking(case: str, fact: Lacking) -> str | None:
    """Return why the spans of ``case`` lack ``fact``, or None when they hold it."""
    return next((why for pattern, facts, why in EXCEPTIONS if fact in facts and fnmatch(case, pattern)), None)


def holding(fact: Lacking) -> list[str]:
    """Return the cases whose spans hold ``fact``."""
    return [case for case in CASES if lacking(case, fact) is None and _is_asked(case, fact)]


def _is_asked(case: str, fact: Lacking) -> bool:
    true = TRUTH[case]
    if fact == "handoffs":
        return any("tool" in handoff for handoff in true["handoffs"]) and lacking(case, "steps") is None
    if fact == "conversation":
        return true["session_id"] is not None
    if fact == "answer":
        return true["final_answer"] is not None
    return fact != "query" or true["query"] is not None
