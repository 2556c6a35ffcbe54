"""How a call ended and how a run stopped, from what the spans say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from agentpath_sdk.trajectories.calls import Call
from agentpath_sdk.trajectories.dialects.contents import loaded
from agentpath_sdk.trajectories.dialects.genai import CONTROL_FLOW, HANDOFF_ERRORS, LIMIT_ERRORS
from agentpath_sdk.trajectories.model import Json, Outcome, StopReason, ToolCall, ToolError
from agentpath_sdk.trajectories.shapes import as_list, as_object
from agentpath_sdk.trajectories.tree import Node

__all__ = ["handed_over", "returned_error", "step_error", "step_outcome", "stop_reason"]

_MESSAGE_LIMIT: Final = 500
# How LangGraph's Command to the graph above looks where only an exception's text was kept.
_COMMAND: Final = "Command(graph="
_STOPS: Final[Mapping[Outcome, StopReason]] = {
    "error": "error",
    "cancelled": "cancelled",
    "interrupted": "pending",
    "abandoned": "unknown",
}


def step_outcome(call: Call, result: Json) -> Outcome:
    """Return how ``call`` ended: what its outermost span says, or a worse end that an inner one saw.

    An error that was returned instead of raised counts as one even where a span was set to ok.
    """
    for node in call.nodes:
        if (outcome := _outcome(node)) != "ok":
            return outcome
    if call.first("outcome") is not None:
        return "ok"
    return "ok" if _returned(call, result) is None else "error"


def step_error(call: Call, outcome: Outcome, result: Json) -> ToolError | None:
    """Return type and message of the error behind ``outcome``, else None."""
    if outcome not in ("error", "cancelled"):
        return None
    kind, message = call.first("error_type"), call.first("error_message")
    if message is None and not call.first("content_off"):
        message = _returned(call, result)
    return ToolError(type=None if kind is None else str(kind), message=_short(message))


def _outcome(node: Node) -> Outcome:
    said: Outcome | None = node.read("outcome")
    if said is not None:
        return said
    error = node.read("error_type")
    if _gave_over(node, error):
        return "ok"
    if (control := CONTROL_FLOW.get(error)) is not None:
        return control
    if node.record.status == "error" or error is not None:
        return "error"
    return "ok" if node.record.end_unix_nano else "abandoned"


def handed_over(call: Call) -> bool:
    """Return whether the call gave control to another agent."""
    return any(_gave_over(node, node.read("error_type")) or _returned_command(node) for node in call.nodes)


def _gave_over(node: Node, error: object) -> bool:
    """Return whether the span ended with LangGraph's exception that goes on in the graph above."""
    if error in HANDOFF_ERRORS:
        return True
    short = error is None or any(known.endswith(f".{error}") for known in HANDOFF_ERRORS)
    return short and node.record.status == "error" and str(node.read("error_message") or "").startswith(_COMMAND)


def _returned_command(node: Node) -> bool:
    """Return whether the call's result is such a command: OpenInference and Langfuse tell it without an error."""
    said = as_object(loaded(node.read("result")))
    return said is not None and said.get("graph") == "__parent__" and "update" in said


def _returned(call: Call, result: Json) -> str | None:
    said = call.first("returned_error")
    return str(said) if said is not None else returned_error(result)


def returned_error(result: Json) -> str | None:
    """Return the message of an error that ``result`` flags (MCP ``isError``, a tool message of status ``error``).

    A flag only: a key named ``error`` or the word in a sentence may mean that there was none.
    """
    said = as_object(result)
    if said is None:
        return None
    failed_message = said.get("status") == "error" and said.get("tool_call_id") is not None
    if said.get("isError") is True or said.get("is_error") is True or failed_message:
        return _content_text(said.get("content")) or "the call returned an error"
    return None


def _content_text(content: Any) -> str | None:
    if isinstance(content, str):
        return content
    return " ".join(text for block in as_list(content) or () if (text := _block_text(block))) or None


def _block_text(block: Any) -> str | None:
    text = (as_object(block) or {}).get("text")
    return text if isinstance(text, str) else None


def _short(message: object) -> str | None:
    text = None if message is None else str(message)
    return text if text is None or len(text) <= _MESSAGE_LIMIT else text[: _MESSAGE_LIMIT - 1] + "…"


def stop_reason(nodes: Iterable[Node], steps: Iterable[ToolCall], *, finish_reason: str | None) -> StopReason:
    """Return why a run stopped; ``nodes`` are its own span and, where seen twice, the inner one's."""
    own = list(nodes)
    for node in own:
        said: StopReason | None = node.read("stop_reason")
        if said is not None:
            return said
    if not own:
        return "unknown"
    last = max(steps, key=lambda s: (s.start_unix_nano or 0, s.span_id or ""), default=None)
    if last is not None and last.outcome == "interrupted":
        return "pending"
    if any(node.read("error_type") in LIMIT_ERRORS for node in own):
        return "limit"
    for node in own:
        if (outcome := _outcome(node)) != "ok":
            return _STOPS.get(outcome, "unknown")
    return "limit" if finish_reason in ("length", "max_tokens") else "finished"
