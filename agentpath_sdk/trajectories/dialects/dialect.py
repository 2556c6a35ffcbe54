"""A dialect: how one span vocabulary says the facts of a run, as a value of small pure readers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from agentpath_sdk._guard import HEALTH
from agentpath_sdk.trajectories.span_record import SpanRecord

__all__ = ["Answer", "Dialect", "Fact", "Read", "Request", "Role", "attribute", "nothing", "read", "word"]

Role: TypeAlias = Literal[
    "agent",
    "workflow",
    "chain",
    "tool",
    "retrieval",
    "handoff",
    "invoker",
    "function",
    "model",
    "phase",
    "utility",
    "none",
    "unsaid",
]
"""What a span is to a trajectory.

``workflow`` is a run only when it makes calls itself or holds no agent; ``chain`` only when it makes calls itself and
nothing that may be a run is around it. ``handoff`` gives control to another agent. ``invoker`` executes several calls
in one span. ``function`` is a traced function: a tool when a model asked for one of its name, else a chain.
``utility`` and all below it (titles, summaries) is no part of the path. ``none`` = known to be none of these;
``unsaid`` = the span speaks the vocabulary, which does not say what it is.
"""

Read: TypeAlias = Callable[[SpanRecord], Any]
"""Returns one fact of a span, or None when the span does not say it. Pure, cheap, never raises."""

Fact: TypeAlias = Literal[
    "agent_name",
    "tool_name",
    "call_id",
    "arguments",
    "result",
    "outcome",
    "error_type",
    "error_message",
    "returned_error",
    "identity",
    "partial_items",
    "lossy",
    "framework_tool",
    "target",
    "executed",
    "transcript",
    "content_off",
    "truncated",
    "raw",
    "conversation_id",
    "query",
    "final_answer",
    "gold_path",
    "run_calls",
    "stop_reason",
    "goal_success",
    "goal_reason",
    "goal_source",
    "model_name",
    "input",
    "output",
    "requests",
    "answered",
    "tools_offered",
    "input_tokens",
    "output_tokens",
    "finish_reason",
    "phase",
]


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """A call a model asked for, as its answer says it; ``arguments`` are an object or JSON text."""

    tool: str
    arguments: Any = None
    call_id: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """What a call gave back, as a later message tells it."""

    call_id: str | None = None
    content: Any = None
    failed: bool = False
    request: Request | None = None
    """The call itself, where the message repeats it."""


def nothing(_span: SpanRecord) -> None:
    """Return None: this vocabulary does not say the fact."""
    return


def attribute(*names: str) -> Read:
    """Return a reader of the first of ``names`` that a span has as attribute."""

    def reader(span: SpanRecord) -> Any:
        attributes = span.attributes
        for name in names:
            if (value := attributes.get(name)) is not None:
                return value
        return None

    return reader


def word(span: SpanRecord, name: str) -> str:
    """Return the text that ``span`` has as attribute ``name``; empty where it has none, or something else."""
    said = span.attributes.get(name)
    return said if isinstance(said, str) else ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Dialect:
    """One vocabulary. A reader left out means that the vocabulary never says that fact."""

    name: str
    role: Callable[[SpanRecord], Role | None]
    """None = the span does not speak this vocabulary, and its other readers are not asked."""
    marks: frozenset[str] = frozenset()
    """Attributes of which a span of this vocabulary has at least one; empty = ``role`` is asked for every span."""

    agent_name: Read = nothing
    tool_name: Read = nothing
    call_id: Read = nothing
    arguments: Read = nothing
    """A mapping, or text: JSON, Python literal, anything."""
    result: Read = nothing
    outcome: Read = nothing
    """One of ``model.Outcome``, when the vocabulary has a word for it."""
    error_type: Read = nothing
    error_message: Read = nothing
    returned_error: Read = nothing
    """Message of an error that the call returned instead of raising."""
    identity: Read = nothing
    """Equal text = the same call seen by several instrumentations."""
    partial_items: Read = nothing
    lossy: Read = nothing
    """True = the vocabulary is known to leave out arguments which the model's request tells."""
    framework_tool: Read = nothing
    """For a tool that belongs to the framework: ``handoff``, ``agent`` (calls an agent) or ``pseudo`` (no step)."""
    target: Read = nothing
    """Name of the agent that a hand-off or an agent call goes to."""
    executed: Read = nothing
    """Of an invoker: tuple of ``Answer``, each with its request, in the order of execution."""
    transcript: Read = nothing
    """Messages of a whole run, calls and answers to them included."""
    content_off: Read = nothing
    """True = content capture was switched off on purpose."""
    truncated: Read = nothing
    """Names among arguments, result, input, output that were cut to a limit."""
    raw: Read = nothing
    """Names among them that were kept as raw text."""

    conversation_id: Read = nothing
    query: Read = nothing
    """Text of the request: of an agent's input, or the last user message a model was given."""
    final_answer: Read = nothing
    """Text of the answer: of an agent's output, or of a model's answer that asks for no call."""
    gold_path: Read = nothing
    run_calls: Read = nothing
    stop_reason: Read = nothing
    goal_success: Read = nothing
    goal_reason: Read = nothing
    goal_source: Read = nothing

    model_name: Read = nothing
    input: Read = nothing
    output: Read = nothing
    requests: Read = nothing
    """Tuple of ``Request`` in the order the model asked."""
    answered: Read = nothing
    """Tuple of ``Answer`` that the model's input already holds."""
    tools_offered: Read = nothing
    """Set of tool names the model could ask for."""
    input_tokens: Read = nothing
    output_tokens: Read = nothing
    finish_reason: Read = nothing
    phase: Read = nothing

    without_history: Read = nothing
    """Attributes that stand for a model span's chat history in little room: its last query, the calls it answers."""


def read(dialects: Iterable[Dialect], fact: Fact, span: SpanRecord) -> Any:
    """Return ``fact`` as the first of ``dialects`` that says it does, else None. A reader that fails says nothing, and
    is counted."""
    for dialect in dialects:
        try:
            value = getattr(dialect, fact)(span)
        except Exception as error:
            HEALTH.fault(f"dialects.{dialect.name}", error)
            continue
        if value is not None:
            return value
    return None
