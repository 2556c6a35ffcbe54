"""Errors that are returned instead of raised."""

from __future__ import annotations

from typing import Any, Final

from agentpath_sdk.tracing.messages import field_of, last_message_text

__all__ = ["returned_error"]

_PLAIN: Final = (str, int, float, type(None))
_NO_TEXT: Final = "the tool returned an error"


def returned_error(result: Any) -> str | None:
    """Return the message of an error that ``result`` reports by a flag, else None.

    Known flags: ``isError``/``is_error`` being true (MCP results, Anthropic tool results) and a tool message with
    ``status == "error"``. Nothing is guessed from words or from a key called ``error``: many APIs return it as null.
    """
    if isinstance(result, _PLAIN):
        return None
    if type(result) is dict and "isError" not in result and "is_error" not in result and "status" not in result:
        return None
    if field_of(result, "isError") is True or field_of(result, "is_error") is True:
        return _message(result)
    if field_of(result, "status") == "error" and field_of(result, "tool_call_id") is not None:
        return _message(result)
    return None


def _message(result: Any) -> str:
    content = field_of(result, "content")
    if isinstance(content, str):
        return content or _NO_TEXT
    found = last_message_text([{"role": "tool", "content": content}])
    if found is None and isinstance(field_of(result, "error"), str):
        found = field_of(result, "error")
    return found or _NO_TEXT
