"""Chat messages as attributes hold them: GenAI ``parts``, OpenAI ``content`` and ``tool_calls``, text or structured."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, TypeAlias

import orjson

from agentpath_sdk.trajectories.decoding import load_json, plain
from agentpath_sdk.trajectories.dialects.dialect import Request
from agentpath_sdk.trajectories.shapes import as_list, as_object

__all__ = ["Message", "abridged", "answered", "assistant_text", "messages", "requests", "user_text"]

Message: TypeAlias = Mapping[str, Any]

_QUERY_KEYS: Final = ("input", "query", "question", "task", "prompt")


def messages(value: Any) -> tuple[Message, ...]:
    """Return the messages of an attribute value; empty when it holds none."""
    if isinstance(value, str):
        value = load_json(value)
    if (single := as_object(value)) is not None:
        return (single,)
    return tuple(item for one in as_list(value) or () if (item := as_object(one)) is not None)


def user_text(value: Any) -> str | None:
    """Return the text of the last user message in ``value``; a bare text stands for itself."""
    found = messages(value)
    if not found:
        return value if isinstance(value, str) and value and load_json(value) is None else None
    for message in reversed(found):
        if _role(message) in ("user", "human") and (text := _text(message)):
            return _query_inside(text)
    return None


def assistant_text(value: Any) -> str | None:
    """Return the text of the last message in ``value`` unless that message asks for a call instead."""
    found = messages(value)
    if not found:
        return value if isinstance(value, str) and value and load_json(value) is None else None
    last = found[-1]
    if _role(last) not in ("assistant", "ai", "model", "") or any(True for _ in _calls(last)):
        return None
    return _text(last)


def requests(value: Any) -> tuple[Request, ...]:
    """Return the calls that ``value`` asks for, in order."""
    return tuple(request for message in messages(value) for request in _calls(message))


def answered(value: Any) -> frozenset[str]:
    """Return the ids of the calls that ``value`` holds an answer to."""
    return frozenset(_answered(messages(value)))


def abridged(value: Any) -> list[Message]:
    """Return messages with the same ``user_text`` and ``answered`` as ``value``, and nothing else."""
    query = user_text(value)
    asked: list[Message] = [] if query is None else [{"role": "user", "content": query}]
    return [*asked, *({"role": "tool", "tool_call_id": call_id} for call_id in sorted(answered(value)))]


def _role(message: Message) -> str:
    return str(message.get("role") or message.get("type") or "").lower()


def _query_inside(text: str) -> str:
    """Return the query inside a chain's input object (``{"input": "..."}``), else ``text`` itself."""
    if not text.startswith("{"):
        return text
    found = as_object(load_json(text))
    if found is None:
        return text
    return next((v for key in _QUERY_KEYS if isinstance(v := found.get(key), str) and v), text)


def _parts(message: Message) -> Iterator[Mapping[str, Any]]:
    for name in ("parts", "content"):
        for one in as_list(message.get(name)) or ():
            if (part := as_object(one)) is not None:
                yield part


def _text(message: Message) -> str | None:
    content = message.get("content")
    if isinstance(content, str):
        return content or None
    return "\n".join(text for part in _parts(message) if (text := _part_text(part))) or None


def _part_text(part: Mapping[str, Any]) -> str | None:
    kind, content = part.get("type", "text"), part.get("content", part.get("text"))
    if kind == "text":
        return content if isinstance(content, str) else None
    if kind == "json" and content is not None:
        return content if isinstance(content, str) else orjson.dumps(plain(content)).decode()
    return None


def _calls(message: Message) -> Iterator[Request]:
    for part in _parts(message):
        if part.get("type") == "tool_call" and part.get("name"):
            yield Request(tool=str(part["name"]), arguments=_given(part, "arguments"), call_id=_id(part.get("id")))
    for one in as_list(message.get("tool_calls")) or ():
        if (call := as_object(one)) is not None:
            yield from _function_call(call)


def _function_call(call: Mapping[str, Any]) -> Iterator[Request]:
    said = as_object(call.get("function")) or call
    if name := said.get("name"):
        yield Request(tool=str(name), arguments=_given(said, "arguments", "args"), call_id=_id(call.get("id")))


def _given(said: Mapping[str, Any], *names: str) -> Any:
    """Return the arguments under one of ``names``; null means that there are none, left out that they are not known."""
    name = next((name for name in names if name in said), None)
    return None if name is None else (said[name] if said[name] is not None else {})


def _answered(found: Iterable[Message]) -> Iterator[str]:
    for message in found:
        if call_id := _id(message.get("tool_call_id")):
            yield call_id
        for part in _parts(message):
            if part.get("type") == "tool_call_response" and (call_id := _id(part.get("id"))):
                yield call_id


def _id(value: Any) -> str | None:
    return str(value) if value else None
