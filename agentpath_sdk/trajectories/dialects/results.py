"""What a tool gave back, inside what instrumentations write of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from agentpath_sdk.trajectories.dialects.contents import loaded
from agentpath_sdk.trajectories.dialects.reprs import fields_of
from agentpath_sdk.trajectories.shapes import as_list, as_object

__all__ = ["call_id_in", "error_in", "result_in"]

_ERROR: Final = "the call returned an error"
# Beginnings of the reprs that some instrumentations write of a tool message or an execution.
_REPRS: Final = ("content=", "status=", "tool_call_id=", "result=")


def result_in(value: Any) -> Any:
    """Return the result itself out of a tool message, a tool output or a wrapper; anything else as it is."""
    message = _message(value)
    if message is None:
        return value
    for key in ("content", "result", "response", "raw_output"):
        if key in message and message[key] is not None:
            return _bare(message[key])
    if (blocks := as_list(message.get("blocks"))) is not None:
        return _bare(blocks)
    return value


def error_in(value: Any) -> str | None:
    """Return the message of an error that the tool message in ``value`` flags, else None."""
    message = _message(value)
    if message is None or not _failed(message):
        return None
    said = message.get("error") or message.get("content") or message.get("blocks") or message.get("result")
    said = _bare(said)
    return said if isinstance(said, str) and said else _ERROR


def call_id_in(value: Any) -> str | None:
    """Return the call id in the tool message that ``value`` holds, else None."""
    message: Mapping[str, Any] = _message(value) or as_object(loaded(value)) or {}
    said = message.get("tool_call_id") or message.get("tool_id") or message.get("id")
    return said if isinstance(said, str) and said else None


def _failed(message: Mapping[str, Any]) -> bool:
    return message.get("status") in ("error", "failure") or message.get("is_error") is True


def _bare(value: Any) -> Any:
    """Return the text of a list of text blocks, and what a lone ``result`` holds; else ``value`` itself."""
    if (blocks := as_list(value)) is not None and blocks:
        texts = [(as_object(block) or {}).get("text") for block in blocks]
        return "\n".join(str(text) for text in texts) if all(isinstance(text, str) for text in texts) else value
    fields = as_object(value)
    return fields["result"] if fields is not None and set(fields) == {"result"} else value


def _message(value: Any, depth: int = 0) -> Mapping[str, Any] | None:
    """Return the fields of the tool message (or tool output) that ``value`` is or wraps."""
    found = loaded(value)
    if isinstance(found, str):
        return fields_of(found) if found.startswith(_REPRS) else None
    if (blocks := as_list(found)) is not None:
        texts = bool(blocks) and all(isinstance((as_object(block) or {}).get("text"), str) for block in blocks)
        return {"content": found} if texts else None
    fields = as_object(found)
    if fields is None or depth > 3:
        return None
    if (inner := as_object(fields.get("tool_output"))) is not None:
        return {"tool_id": fields.get("tool_id"), **inner}
    if "tool_call_id" in fields or "is_error" in fields or _is_response(fields):
        return fields
    for key in ("data", "kwargs", "output"):
        inner = fields.get(key)
        if inner is not None and (key != "output" or _wraps(fields)) and (deeper := _message(inner, depth + 1)):
            return deeper
    return {"result": fields["output"]} if depth == 0 and "output" in fields and _wraps(fields) else None


def _is_response(fields: Mapping[str, Any]) -> bool:
    return set(fields) == {"id", "name", "response"} or set(fields) == {"result"}


def _wraps(fields: Mapping[str, Any]) -> bool:
    return set(fields) in ({"output"}, {"output", "kwargs"}, {"output", "tags"})
