"""Any common shape of chat messages as GenAI messages: ``[{"role": ..., "parts": [{"type": "text", ...}]}]``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeGuard

from agentpath_sdk._plain import is_dict, is_list, is_sequence, is_text, kind_of

__all__ = ["as_messages", "field_of", "last_message_text", "text_message"]

# The built-in methods themselves: a subclass may have its own.
_entry: Final[Callable[[Any, str], Any]] = vars(dict)["get"]
_list_items: Final[Callable[[Any], Iterator[Any]]] = vars(list)["__iter__"]
_tuple_items: Final[Callable[[Any], Iterator[Any]]] = vars(tuple)["__iter__"]
_ROLES: Final = {"human": "user", "ai": "assistant", "function": "tool"}


def text_message(role: str, content: str) -> dict[str, Any]:
    """Return one message of plain text."""
    return {"role": role, "parts": [{"type": "text", "content": content}]}


def as_messages(value: Any, *, role: str) -> list[Any]:
    """Return ``value`` as a list of GenAI messages; what is no message becomes one of ``role``."""
    if type(value) in (list, tuple) and value and all(map(_looks_like_message, value)):
        return [_message(item, role) for item in value]
    if _looks_like_message(value):
        return [_message(value, role)]
    if is_text(value):
        return [text_message(role, value)]
    return [{"role": role, "parts": [{"type": "json", "content": value}]}]


def field_of(value: Any, name: str) -> Any:
    """Return a mapping's entry or an object's stored attribute, else None; never runs a property or ``__getattr__``."""
    if is_dict(value):
        return _entry(value, name)
    stored = _stored(value)
    return stored.get(name) if stored is not None else None


def last_message_text(messages: Any, *, roles: frozenset[str] | None = None) -> str | None:
    """Return the text of the last message (of one of ``roles``), else None."""
    if not is_sequence(messages):
        return None
    for message in _reversed(messages):
        if is_text(message):
            if roles is None or "user" in roles:
                return message
            continue
        pair: tuple[Any, ...] = message if kind_of(message) is tuple else ()
        found = pair[0] if len(pair) == 2 else field_of(message, "role") or field_of(message, "type")
        role = _ROLES.get(found, found) if type(found) is str else None
        if roles is None or role in roles:
            return _text(pair[1] if len(pair) == 2 else _content(message))
    return None


def _content(message: Any) -> Any:
    content = field_of(message, "content")
    return field_of(message, "parts") if content is None else content


def _text(content: Any) -> str | None:
    """Return the text of a message content: a string, or the text blocks of a list, joined."""
    if is_text(content):
        return content
    if is_sequence(content):
        blocks = [b if is_text(b) else _block_text(b) for b in _items(content)]
        texts = [b for b in blocks if b is not None]
        return "".join(texts) if texts else None
    return None


def _block_text(block: Any) -> str | None:
    for name in ("text", "content"):
        text = field_of(block, name)
        if is_text(text):
            return text
    return None


def _looks_like_message(value: Any) -> TypeGuard[dict[str, Any]]:
    # Subclasses may have their own ``get``; what is no plain dict is encoded as a value like any other.
    return type(value) is dict and type(_entry(value, "role")) is str and ("parts" in value or "content" in value)


def _message(value: Mapping[str, Any], role: str) -> Any:
    if "parts" in value:
        return value
    given = value["role"]
    content = value["content"]
    parts: list[Any] = []
    if is_text(content):
        parts.append({"type": "text", "content": content})
    elif content is not None:
        text = _text(content)
        parts.append({"type": "json", "content": content} if text is None else {"type": "text", "content": text})
    parts.extend(_tool_calls(value.get("tool_calls")))
    return {"role": _ROLES.get(given, given) or role, "parts": parts}


def _tool_calls(calls: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for call in _items(calls) if is_list(calls) else ():
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


def _items(value: Any) -> list[Any]:
    """Return what a list or tuple holds."""
    return list(_list_items(value) if is_list(value) else _tuple_items(value))


def _reversed(value: Any) -> list[Any]:
    return _items(value)[::-1]
