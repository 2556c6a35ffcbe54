"""What LangChain's and LangGraph's exceptions and returned values mean for a call's outcome and a run's stop reason."""

from __future__ import annotations

import sys
from typing import Any, Final, NamedTuple

import orjson

from agentpath_sdk.tracing.ending import is_cancellation
from agentpath_sdk.tracing.recording import Outcome, StopReason
from agentpath_sdk.tracing.results import returned_error

__all__ = ["Meaning", "classify", "meaning_of", "reported_error", "stopped_by_limit"]

_KNOWN: Final[tuple[tuple[str, str, Outcome, StopReason | None], ...]] = (
    # Order matters: a hand-over and a pause share one base class.
    ("langgraph.errors", "ParentCommand", "ok", None),
    ("langgraph.errors", "GraphBubbleUp", "interrupted", "pending"),
    ("langgraph.errors", "GraphRecursionError", "error", "limit"),
    ("langgraph.errors", "NodeCancelledError", "cancelled", "cancelled"),
    ("langchain.agents.middleware.model_call_limit", "ModelCallLimitExceededError", "error", "limit"),
    ("langchain.agents.middleware.tool_call_limit", "ToolCallLimitExceededError", "error", "limit"),
)

_LIMIT_ANSWERS: Final = frozenset(
    {
        "Agent stopped due to iteration limit or time limit.",
        "Agent stopped due to max iterations.",
        "Sorry, need more steps to process this request.",
    }
)
_LIMIT_PREFIXES: Final = ("Model call limits exceeded: ",)
_LIMIT_PHRASE: Final = " call limit reached: "
_LONGEST_LIMIT_ANSWER: Final = 300
_FLAG_SEARCHED: Final = 65_536


class Meaning(NamedTuple):
    """How a call ended, and why the run around it stopped (None = nothing to say)."""

    outcome: Outcome
    stop_reason: StopReason | None


def classify(error: BaseException) -> Meaning | None:
    """Return what an exception of these frameworks means, None for any other.

    By class, never by name: a user's own ``class GraphInterrupt(Exception)`` is an error like any other. A module
    that was never imported cannot have raised, so none is imported here.
    """
    for module, name, outcome, stop_reason in _KNOWN:
        loaded = sys.modules.get(module)
        known = getattr(loaded, name, None)
        if isinstance(known, type) and issubclass(type(error), known):
            return Meaning(outcome, stop_reason)
    return None


def meaning_of(error: BaseException) -> Meaning:
    """Return what any exception means. A stream closed by its reader (``GeneratorExit``) is no error."""
    known = classify(error)
    if known is not None:
        return known
    if issubclass(type(error), GeneratorExit):
        return Meaning("ok", None)
    if is_cancellation(error):
        return Meaning("cancelled", "cancelled")
    return Meaning("error", "error")


def reported_error(output: Any) -> str | None:
    """Return the message of an error that a tool's output reports by a flag, else None.

    A tool run from a tool call has its dict turned into JSON text inside a ToolMessage, so that text is looked into.
    """
    found = returned_error(output)
    if found is not None:
        return found
    content = output if isinstance(output, str) else getattr(output, "content", None)
    if isinstance(content, str) and _may_hold_flag(content):
        try:
            return returned_error(orjson.loads(content))
        except ValueError:
            return None
    return None


def _may_hold_flag(text: str) -> bool:
    return text[:1] == "{" and len(text) <= _FLAG_SEARCHED and ('"isError"' in text or '"is_error"' in text)


def stopped_by_limit(answer: str | None) -> bool:
    """Return whether a final answer is the fixed text a framework gives when a step limit ends the run."""
    if answer is None or len(answer) > _LONGEST_LIMIT_ANSWER:
        return False
    return answer in _LIMIT_ANSWERS or answer.startswith(_LIMIT_PREFIXES) or _LIMIT_PHRASE in answer
