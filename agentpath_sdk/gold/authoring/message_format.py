"""Lists of messages: OpenAI's, Anthropic's, LangChain's in its three spellings, as trajectory evaluators take them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from agentpath_sdk._plain import is_dict
from agentpath_sdk.gold.authoring.imported import Conversation, Turn, Unfit, exact_call, object_of, objects_of, text_at
from agentpath_sdk.gold.model import CallStep
from agentpath_sdk.gold.wording import found, is_list

__all__ = ["is_messages", "message_conversations"]

_ROLES: Final[Mapping[str, str]] = {
    "user": "user",
    "human": "user",
    "humanmessage": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "aimessage": "assistant",
    "aimessagechunk": "assistant",
    "system": "other",
    "systemmessage": "other",
    "developer": "other",
    "tool": "other",
    "toolmessage": "other",
    "function": "other",
}
# The reference first: beside it, ``outputs`` is what a run gave.
_HOLDERS: Final = (
    "reference_outputs",
    "referenceOutputs",
    "reference_trajectory",
    "expected_trajectory",
    "messages",
    "outputs",
    "trajectory",
)
_QUERY_HOLDERS: Final = ("inputs", "input", "query", "question")


def is_messages(value: Any) -> bool:
    """Return whether ``value`` is a list of messages, several of them, or holds one."""
    return _found(value) is not None


def message_conversations(value: Any) -> Iterator[Conversation]:
    """Yield the conversations.

    Raises:
        Unfit: something is not as the format has it.
    """
    if is_list(value) and value and not _is_message(value[0]):
        for item in value:
            yield from message_conversations(item)
        return
    messages = _found(value)
    if messages is None:
        raise Unfit("", f"expected a list of messages, found {found(value)}")
    holder = object_of(value)
    turns = list(_turns(objects_of(messages, "messages")))
    if turns and turns[0].query is None:
        turns[0] = Turn(query=_query_beside(holder), groups=turns[0].groups, answer=turns[0].answer)
    yield Conversation(id=text_at(holder, "id", "name"), turns=tuple(turns))


def _found(value: Any) -> Sequence[Any] | None:
    """Return the messages that ``value`` is or holds."""
    if is_list(value) and value:
        if _is_message(value[0]):
            return value
        return value if all(_found(item) is not None for item in value) else None
    if is_dict(value):
        holder = value
        for key in _HOLDERS:
            if key in holder and (messages := _found(holder[key])) is not None:
                return messages
    return None


def _is_message(value: Any) -> bool:
    return is_dict(value) and _role(value) is not None


def _role(message: Mapping[str, Any]) -> str | None:
    kind = message.get("type")
    if kind == "constructor" and is_list(message.get("id")) and message["id"]:
        return _ROLES.get(str(message["id"][-1]).lower())
    word = message.get("role") or kind
    return _ROLES.get(word.lower()) if isinstance(word, str) else None


def _body(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return where the content lies: LangChain's serialised forms keep it one level deeper."""
    inner = message.get("kwargs") if message.get("type") == "constructor" else message.get("data")
    return inner if is_dict(inner) else message


def _turns(messages: Sequence[Mapping[str, Any]]) -> Iterator[Turn]:
    """Yield one turn a message of the user; what comes before the first is one without a query."""
    query: str | None = None
    groups: list[tuple[CallStep, ...]] = []
    answer: str | None = None
    started = False
    for at, message in enumerate(messages):
        role, body = _role(message), _body(message)
        if role == "user":
            text = _text(body.get("content"))
            if text is None and started:
                continue  # results of Anthropic's tools come as messages of the user
            if started:
                yield Turn(query=query, groups=tuple(groups), answer=answer)
            query, groups, answer, started = text, [], None, True
        elif role == "assistant":
            started = True
            group = tuple(_calls(body, f"messages[{at}]"))
            if group:
                groups.append(group)
            answer = None if group else _text(body.get("content"))
    if started:
        yield Turn(query=query, groups=tuple(groups), answer=answer)


def _calls(body: Mapping[str, Any], place: str) -> Iterator[CallStep]:
    nested = object_of(body.get("additional_kwargs"))
    calls = body.get("tool_calls") or nested.get("tool_calls")
    for at, call in enumerate(objects_of(calls, f"{place}.tool_calls")):
        yield _call(call, f"{place}.tool_calls[{at}]")
    if is_dict(body.get("function_call")):
        yield _call({"function": body["function_call"]}, f"{place}.function_call")
    content = body.get("content")
    if not calls and is_list(content):
        for at, block in enumerate(content):
            if is_dict(block) and block.get("type") == "tool_use":
                yield exact_call(block.get("name"), block.get("input") or {}, f"{place}.content[{at}]")


def _call(call: Mapping[str, Any], place: str) -> CallStep:
    function = call.get("function")
    told = function if is_dict(function) else call
    arguments = told.get("args") if "args" in told else told.get("arguments")
    return exact_call(told.get("name"), _arguments(arguments, place), place)


def _arguments(value: Any, place: str) -> dict[str, Any] | None:
    if value is None or is_dict(value):
        return value
    if isinstance(value, str):
        if not value.strip():
            return {}
        try:
            decoded = json.loads(value)
        except (ValueError, RecursionError):
            decoded = None
        if is_dict(decoded):
            return decoded
    raise Unfit(place, f"expected an object of arguments, or its JSON text, found {found(value)}")


def _text(content: Any) -> str | None:
    if isinstance(content, str):
        return content.strip() or None
    blocks: Sequence[Any] = content if is_list(content) else []
    texts = [block if isinstance(block, str) else _block_text(block) for block in blocks]
    return "\n".join(text for text in texts if text).strip() or None


def _block_text(block: Any) -> str | None:
    return text_at(block, "text") if is_dict(block) else None


def _query_beside(holder: Mapping[str, Any]) -> str | None:
    for key in _QUERY_HOLDERS:
        value = holder.get(key)
        if isinstance(value, str) and value.strip():
            return value
        if is_dict(value):
            inner = value
            if (text := text_at(inner, "query", "question", "input", "text", "prompt")) is not None:
                return text
            if (messages := _found(inner)) is not None:
                return next((turn.query for turn in _turns(objects_of(messages, key)) if turn.query), None)
    return None
