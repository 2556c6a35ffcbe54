"""What a run was asked and what it answered, read from the shapes LangChain inputs and outputs have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

import orjson

from agentpath_langchain.messages import is_message, text_of
from agentpath_langchain.shapes import is_dict, is_list

__all__ = ["answer_of", "conversation_of", "query_of"]

_QUERY_KEYS: Final = ("input", "question", "query", "prompt", "text", "task")
_ANSWER_KEYS: Final = ("output", "answer", "final_answer", "result", "response", "text")
_CONVERSATION_KEYS: Final = ("conversation_id", "thread_id", "session_id")
_USER_ROLES: Final = frozenset({"user", "human"})


def query_of(inputs: Any) -> str | None:
    """Return the user's question: the last user message, a key such as ``input``, or the input itself if it is text."""
    if isinstance(inputs, str):
        return inputs or None
    if _is_messages(inputs):
        return _last_user_text(inputs)
    if is_message(inputs):
        return text_of(inputs)
    messages = _field(inputs, "messages")
    if messages is not None:
        found = text_of(messages) if isinstance(messages, str) else _last_user_text(messages)
        if found is not None:
            return found
    return _first_text(inputs, _QUERY_KEYS)


def answer_of(output: Any) -> str | None:
    """Return the final answer, or None when the last message still asks for tools or there is no text."""
    if isinstance(output, str):
        return output or None
    if is_message(output):
        return _message_answer(output)
    if _is_messages(output):
        return _message_answer(output[-1])
    messages = _field(output, "messages")
    if is_list(messages) and messages:
        # A structured answer's last message only says that there is one, or holds it as text.
        found = _structured(output)
        return _message_answer(messages[-1]) if found is None else found
    return _first_text(output, _ANSWER_KEYS) or _structured(output)


def conversation_of(metadata: Mapping[str, Any] | None) -> str | None:
    """Return the conversation id that a run's metadata or configurable names."""
    if metadata:
        for key in _CONVERSATION_KEYS:
            value = metadata.get(key)
            if isinstance(value, str | int) and value != "":
                return str(value)
            if value is not None and hasattr(value, "hex"):
                return str(value)
    return None


def _message_answer(message: Any) -> str | None:
    if getattr(message, "tool_calls", None):
        return None
    role = _role(message)
    if role in _USER_ROLES or role == "system":
        return None
    return text_of(_content(message)) or None


def _last_user_text(messages: Any) -> str | None:
    for message in reversed(cast("list[Any]", messages if isinstance(messages, list | tuple) else [messages])):
        if isinstance(message, str):
            return message
        if _role(message) in _USER_ROLES:
            return text_of(_content(message)) or None
    return None


def _role(message: Any) -> str | None:
    if is_message(message):
        return cast(str, message.type).removesuffix("MessageChunk").lower()
    if _is_pair(message):
        return cast(str, message[0])
    role = _field(message, "role") or _field(message, "type")
    return role if isinstance(role, str) else None


def _content(message: Any) -> Any:
    if is_message(message):
        return message.content
    return message[1] if _is_pair(message) else _field(message, "content")


def _is_pair(message: Any) -> bool:
    return isinstance(message, tuple | list) and len(cast("list[Any]", message)) == 2 and isinstance(message[0], str)


def _is_messages(value: Any) -> bool:
    if not isinstance(value, list | tuple) or not value:
        return False
    last: Any = cast("list[Any]", value)[-1]
    return is_message(last) or (isinstance(last, dict) and "role" in last and "content" in last)


def _first_text(value: Any, keys: tuple[str, ...]) -> str | None:
    for key in keys:
        found = _field(value, key)
        if isinstance(found, str) and found:
            return found
        if is_message(found):
            return text_of(found) or None
    if is_dict(value):
        texts = [v for v in value.values() if isinstance(v, str) and v]
        return texts[0] if len(texts) == 1 else None
    return None


def _structured(output: Any) -> str | None:
    found = _field(output, "structured_response")
    if found is None:
        return None
    plain = found.model_dump(mode="json") if hasattr(found, "model_dump") else found
    try:
        return orjson.dumps(plain).decode()
    except TypeError:
        return None


def _field(value: Any, name: str) -> Any:
    if isinstance(value, Mapping):
        return cast("Mapping[str, Any]", value).get(name)
    if value is None or isinstance(value, str | bytes | int | float | list | tuple | set):
        return None
    return getattr(value, name, None)
