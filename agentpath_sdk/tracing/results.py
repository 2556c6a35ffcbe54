"""Errors that are returned instead of raised."""

from __future__ import annotations

from typing import Any, Final

from agentpath_sdk._plain import is_text, kind_of, whole_text
from agentpath_sdk.tracing.messages import field_of, last_message_text

__all__ = ["returned_error"]

_PLAIN: Final = frozenset({str, int, float, bool, type(None)})
_NO_TEXT: Final = "the tool returned an error"


def returned_error(result: Any) -> str | None:
    """Return the message of an error that ``result`` reports by a flag, else None.

    Known flags: ``isError``/``is_error`` being true (MCP results, Anthropic tool results) and a tool message with
    ``status == "error"``. Nothing is guessed from words or from a key called ``error``: many APIs return it as null.
    """
    kind = kind_of(result)
    if kind in _PLAIN:
        return None
    if kind is dict and "isError" not in result and "is_error" not in result and "status" not in result:
        return None
    if field_of(result, "isError") is True or field_of(result, "is_error") is True:
        return _message(result)
    if _is_error(field_of(result, "status")) and field_of(result, "tool_call_id") is not None:
        return _message(result)
    return None


def _message(result: Any) -> str:
    content = field_of(result, "content")
    if is_text(content):
        return whole_text(content) or _NO_TEXT
    found = last_message_text([{"role": "tool", "content": content}])
    if found is None:
        told = field_of(result, "error")
        found = told if is_text(told) else None
    return _NO_TEXT if found is None else whole_text(found) or _NO_TEXT


def _is_error(status: Any) -> bool:
    return is_text(status) and whole_text(status) == "error"
