"""Any common shape of chat messages as GenAI messages: ``[{"role": ..., "parts": [{"type": "text", ...}]}]``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeGuard

from agentpath_sdk._plain import is_dict, is_list, is_sequence, kind_of

__all__ = ["as_messages", "field_of", "last_message_text", "text_message"]

_ROLES: Final = {"human": "user", "ai": "assistant", "function": "tool"}


def text_message(role: str, content: str) -> dict[str, Any]:
    """Return one message of plain text."""
    return {"role": role, "parts": [{"type": "text", "content": content}]}


def as_messages(value: Any, *, role: str) -> list[Any]:
    """Return ``value`` as a list of GenAI messages; what is no message becomes one of ``role``."""
    if is_sequence(value) and value and all(_looks_like_message(item) for item in value):
        return [_message(item, role) for item in value]
    if _looks_like_message(value):
        return [_message(value, role)]
    if isinstance(value, str):
        return [text_message(role, value)]
    return [{"role": role, "parts": [{"type": "json", "content": value}]}]


def field_of(value: Any, name: str) -> Any:
    """Return a mapping's entry or an object's stored attribute, else None; never runs a property or ``__getattr__``."""
    if is_dict(value):
        return value.get(name)
    stored = _stored(value)
    return stored.get(name) if stored is not None else None


def last_message_text(messages: Any, *, roles: frozenset[str] | None = None) -> str | None:
    """Return the text of the last message (of one of ``roles``), else None."""
    if not is_sequence(messages):
        return None
    for message in reversed(messages):
        if isinstance(message, str):
            if roles is None or "user" in roles:
                return message
            continue
        pair = message if isinstance(message, tuple) and is_sequence(message) else ()
        found = pair[0] if len(pair) == 2 else field_of(message, "role") or field_of(message, "type")
        role = _ROLES.get(found, found) if isinstance(found, str) else None
        if roles is None or role in roles:
            return _text(pair[1] if len(pair) == 2 else _content(message))
    return None


def _content(message: Any) -> Any:
    content = field_of(message, "content")
    return field_of(message, "parts") if content is None else content


def _text(content: Any) -> str | None:
    """Return the text of a message content: a string, or the text blocks of a list, joined."""
    if isinstance(content, str):
        return content
    if is_sequence(content):
        blocks = [b if isinstance(b, str) else _block_text(b) for b in content]
        texts = [b for b in blocks if b is not None]
        return "".join(texts) if texts else None
    return None


def _block_text(block: Any) -> str | None:
    for name in ("text", "content"):
        text = field_of(block, name)
        if isinstance(text, str):
            return text
    return None


def _looks_like_message(value: Any) -> TypeGuard[dict[str, Any]]:
    return is_dict(value) and isinstance(value.get("role"), str) and ("parts" in value or "content" in value)


def _message(value: Mapping[str, Any], role: str) -> Any:
    if "parts" in value:
        return value
    given = value["role"]
    content = value["content"]
    parts: list[Any] = []
    if isinstance(content, str):
        parts.append({"type": "text", "content": content})
    elif content is not None:
        text = _text(content)
        parts.append({"type": "json", "content": content} if text is None else {"type": "text", "content": text})
    parts.extend(_tool_calls(value.get("tool_calls")))
    return {"role": _ROLES.get(given, given) or role, "parts": parts}


def _tool_calls(calls: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for call in calls if is_list(calls) else ():
        function = field_of(call, "function")
        source = call if function is None else function
        arguments = field_of(source, "arguments")
        found.append(
            {
                "type": "tool_call",
                "id": field_of(call, "id"),
                "name": field_of(source, "name"),
                "arguments": field_of(source, "args") if arguments is None else arguments,
            }
        )
    return found


def _stored(value: Any) -> dict[str, Any] | None:
    """Return an instance's own attribute dict without running user code, else None."""
    try:
        stored = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return None
    return stored if kind_of(stored) is dict and is_dict(stored) else None
