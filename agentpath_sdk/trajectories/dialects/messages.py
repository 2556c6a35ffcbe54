"""Chat messages as attributes hold them, whoever wrote them, in one form.

Read are GenAI ``parts``, OpenAI chat (``tool_calls``) and response items (``function_call``), Anthropic and Bedrock
blocks (``tool_use``, ``toolUse``), Gemini parts (``function_call``), LangChain dumps, Haystack and smolagents
messages (also as Python reprs) and the Vercel AI SDK's, as JSON text or structured values, alone or inside the
objects that requests, answers and graph states are.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from agentpath_sdk.trajectories.decoding import load_json, plain
from agentpath_sdk.trajectories.dialects.dialect import Answer, Request
from agentpath_sdk.trajectories.dialects.reprs import CLASS, fields_of, read_repr
from agentpath_sdk.trajectories.shapes import as_list, as_object

__all__ = ["Message", "abridged", "answered", "assistant_text", "messages", "requests", "transcript", "user_text"]

MessageRole: TypeAlias = Literal["user", "assistant", "tool", "system", ""]

_ROLES: Final[Mapping[str, MessageRole]] = {
    "user": "user", "human": "user", "humanmessage": "user",
    "assistant": "assistant", "ai": "assistant", "model": "assistant", "aimessage": "assistant",
    "aimessagechunk": "assistant", "chatbot": "assistant",
    "tool": "tool", "toolmessage": "tool", "function": "tool", "functionmessage": "tool", "tool-response": "tool",
    "tool-call": "assistant", "?": "", "system": "system", "systemmessage": "system", "developer": "system",
}  # fmt: skip
# Keys under which an object holds its messages, in the order they are tried.
_HOLDERS: Final = (
    "messages", "choices", "generations", "replies", "tool_messages", "update", "output", "outputs", "inputs",
    "input", "contents", "message", "data", "kwargs", "content", "response", "new_message", "chat_history",
)  # fmt: skip
_DEPTH: Final = 8
_UNSAID: Final = "?"


@dataclass(frozen=True, kw_only=True, slots=True)
class Message:
    """One message: who said it, its text, the calls it asks for, the answers to calls that it holds."""

    role: MessageRole
    text: str | None = None
    calls: tuple[Request, ...] = ()
    answers: tuple[Answer, ...] = ()


def messages(value: Any) -> tuple[Message, ...]:
    """Return the messages of an attribute value in order; empty when it holds none."""
    return tuple(_found(_loaded(value), 0))


def user_text(value: Any) -> str | None:
    """Return the text of the last user message in ``value``, else None."""
    return next((m.text for m in reversed(messages(value)) if m.role == "user" and m.text), None)


def assistant_text(value: Any) -> str | None:
    """Return the text of the last message in ``value`` unless that message asks for a call or is somebody else's."""
    found = messages(value)
    last = found[-1] if found else None
    if last is None or last.role not in ("assistant", "") or last.calls:
        return None
    return last.text


def requests(value: Any) -> tuple[Request, ...]:
    """Return the calls that ``value`` asks for, in order."""
    return tuple(call for message in messages(value) for call in message.calls)


def answered(value: Any) -> tuple[Answer, ...]:
    """Return the answers to calls that ``value`` holds, in order."""
    return tuple(answer for message in messages(value) for answer in message.answers)


def transcript(value: Any) -> tuple[Message, ...]:
    """Return the messages of ``value`` where they show whole calls: requests and answers to them, else nothing."""
    found = messages(value)
    whole = any(message.calls for message in found) and any(message.answers for message in found)
    return found if whole else ()


def abridged(value: Any) -> list[dict[str, Any]]:
    """Return messages with the same ``user_text`` and ``answered`` as ``value``, and nothing else."""
    found = messages(value)
    query = next((m.text for m in reversed(found) if m.role == "user" and m.text), None)
    asked: list[dict[str, Any]] = [] if query is None else [{"role": "user", "content": query}]
    return [*asked, *(_answer_message(answer) for message in found for answer in message.answers)]


def _answer_message(answer: Answer) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "tool", "tool_call_id": answer.call_id, "content": answer.content}
    return message | ({"is_error": True} if answer.failed else {})


# --- finding --------------------------------------------------------------------------------------------------------


def _loaded(value: Any) -> Any:
    """Return ``value`` with JSON text decoded, twice if need be; a repr of messages as data."""
    for _ in range(2):
        if not isinstance(value, str):
            return value
        found = load_json(value)
        if found is None:
            return _from_repr(value)
        value = found
    return value


def _from_repr(text: str) -> Any:
    if text.startswith("content=") and (fields := fields_of(text)) is not None and "additional_kwargs" in fields:
        return {"role": _UNSAID, **fields}
    if text.startswith("id=") and (fields := fields_of(text)) is not None and "source" in fields:
        return {**fields, "role": "user" if fields["source"] == "user" else "assistant"}  # AutoGen's
    head = text[:80].lstrip("[ ")
    is_repr = text[-1:] in (")", "]") and head.startswith(("ChatMessage(", "HumanMessage(", "AIMessage(", "{'role'"))
    return read_repr(text) if is_repr else text


def _found(value: Any, depth: int) -> Iterator[Message]:
    if depth > _DEPTH:
        return
    if (one := as_object(value)) is not None:
        yield from _of_object(one, depth)
    elif (items := as_list(value)) is not None:
        if (whole := _pair(items) or _bare_calls(items)) is not None:
            yield whole
        else:
            for item in items:
                yield from _found(_loaded(item) if isinstance(item, str) else item, depth + 1)


def _pair(items: Sequence[Any]) -> Message | None:
    """Return the message of a ``("user", "text")`` pair."""
    if len(items) == 2 and isinstance(items[0], str) and isinstance(items[1], str):
        role = _ROLES.get(items[0].lower())
        return None if role is None else Message(role=role, text=items[1] or None)
    return None


def _bare_calls(items: Sequence[Any]) -> Message | None:
    """Return the message of a list of OpenAI tool calls that stands for it."""
    calls = [call for item in items if (call := as_object(item)) is not None and as_object(call.get("function"))]
    if not calls or len(calls) != len(items):
        return None
    return _with_role({"tool_calls": calls}, "assistant")


def _of_object(value: Mapping[str, Any], depth: int) -> Iterator[Message]:
    if (message := _message(value)) is not None:
        yield message
        return
    for key in _HOLDERS:
        inner = value.get(key)
        if isinstance(inner, str):
            inner = _loaded(inner) if inner[:1] in ("{", "[") else None
        if inner is not None and (found := list(_found(inner, depth + 1))):
            yield from found
            return
    # A dict of components or of nodes, each with messages of its own: the last one is where the flow ended.
    for inner in reversed(list(value.values())):
        if (as_object(inner) is not None or as_list(inner) is not None) and (found := list(_found(inner, depth + 1))):
            yield from found
            return


# --- one message ----------------------------------------------------------------------------------------------------


def _message(value: Mapping[str, Any]) -> Message | None:
    kind = value.get("type")
    if kind in ("function_call", "custom_tool_call") and value.get("name"):
        return Message(role="assistant", calls=(_asked(value, call_id=value.get("call_id") or value.get("id")),))
    if kind in ("function_call_output", "custom_tool_call_output"):
        return Message(role="tool", answers=(Answer(call_id=_id(value.get("call_id")), content=value.get("output")),))
    if kind == "constructor" and (kwargs := as_object(value.get("kwargs"))) is not None:
        name = str((as_list(value.get("id")) or ("",))[-1]).lower()
        return _with_role(kwargs, name) if name in _ROLES else None
    inner = as_object(value.get("data"))
    if inner is not None and isinstance(kind, str) and kind.lower() in _ROLES:
        return _with_role(inner, kind)
    said = value.get("role", value.get("_role"))
    if said is None and isinstance(kind, str):
        said = kind if "content" in value or "tool_calls" in value else None
    if said is None and str(value.get(CLASS, "")).lower() in _ROLES:
        said = value[CLASS]
    return None if not isinstance(said, str) else _with_role(value, said)


def _with_role(value: Mapping[str, Any], said: str) -> Message | None:
    role = _ROLES.get(said.lower())
    if role is None:
        return None
    parts = list(_parts(value))
    calls = tuple(_calls(value, parts))
    answers = tuple(_answers(value, parts, role))
    if answers and role == "user" and not any(_part_text(part) for part in parts):
        role = "tool"
    return Message(role=role, text=_text(value, parts), calls=calls, answers=answers)


def _parts(value: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for name in ("parts", "content", "_content", "contents", "blocks"):
        inner = value.get(name)
        if isinstance(inner, str) and inner[:2] in ("[{", '["'):
            inner = load_json(inner)
        for one in as_list(inner) or ():
            part = as_object(one)
            if part is not None:
                yield as_object(part.get("message_content")) or part


def _text(value: Mapping[str, Any], parts: Sequence[Mapping[str, Any]]) -> str | None:
    content = value.get("content")
    if isinstance(content, str) and not parts:
        return content or None
    return "\n".join(text for part in parts if (text := _part_text(part))) or None


def _part_text(part: Mapping[str, Any]) -> str | None:
    kind = part.get("type", "text")
    content = part.get("text", part.get("content"))
    if isinstance(content, str) and content.startswith("ResponseFunctionToolCall("):
        return None
    if kind in ("text", "output_text", "input_text") or CLASS in part:
        return content if isinstance(content, str) and "tool_name" not in part else None
    if kind == "json" and content is not None:
        return content if isinstance(content, str) else json.dumps(plain(content), ensure_ascii=False)
    return None


def _calls(value: Mapping[str, Any], parts: Iterable[Mapping[str, Any]]) -> Iterator[Request]:
    for part in parts:
        if (call := _call_part(part)) is not None:
            yield call
    for one in as_list(value.get("tool_calls")) or ():
        if (listed := as_object(one)) is not None:
            inner = as_object(listed.get("tool_call")) or listed
            said = as_object(inner.get("function")) or _dotted(inner) or inner
            if said.get("name") or said.get("tool_name"):
                yield _asked(said, call_id=inner.get("id"))


def _dotted(call: Mapping[str, Any]) -> Mapping[str, Any] | None:
    if "function.name" not in call:
        return None
    return {"name": call["function.name"], "arguments": call.get("function.arguments")}


def _call_part(part: Mapping[str, Any]) -> Request | None:
    kind = part.get("type")
    if kind in ("tool_call", "tool_use", "function_call", "tool-call") and (part.get("name") or part.get("toolName")):
        call_id = part.get("call_id") or part.get("id") or part.get("toolCallId")
        return _asked(part, call_id=call_id)
    for key in ("toolUse", "tool_call", "function_call", "functionCall"):
        if (inner := as_object(part.get(key))) is not None:
            return _asked(inner, call_id=inner.get("toolUseId") or inner.get("id"))
    if part.get(CLASS) == "ToolCall":
        return _asked(part, call_id=part.get("id"))
    text = part.get("text", part.get("content"))
    if isinstance(text, str) and text.startswith("ResponseFunctionToolCall("):
        fields = as_object(read_repr(text))
        return None if fields is None else _asked(fields, call_id=fields.get("call_id"))
    if part.get("block_type") == "tool_call" or part.get(CLASS) == "ToolCallBlock":
        return _asked(part, call_id=part.get("tool_call_id"))
    return None


def _asked(said: Mapping[str, Any], *, call_id: Any) -> Request:
    name = said.get("name") or said.get("tool_name") or said.get("toolName")
    return Request(tool=str(name), arguments=_given(said), call_id=_id(call_id))


def _given(said: Mapping[str, Any]) -> Any:
    """Return the arguments a call was asked for with; null means that there are none, left out that they are not
    known."""
    keys = ("arguments", "args", "input", "parameters", "tool_kwargs")
    name = next((name for name in keys if name in said), None)
    return None if name is None else (said[name] if said[name] is not None else {})


def _answers(value: Mapping[str, Any], parts: Iterable[Mapping[str, Any]], role: MessageRole) -> Iterator[Answer]:
    call_id = _id(value.get("tool_call_id"))
    if call_id is not None and role in ("tool", ""):
        failed = value.get("status") == "error" or value.get("is_error") is True
        yield Answer(call_id=call_id, content=value.get("content"), failed=failed)
        return
    for part in parts:
        if (answer := _answer_part(part)) is not None:
            yield answer


def _answer_part(part: Mapping[str, Any]) -> Answer | None:
    kind = part.get("type")
    if kind == "tool_call_response":
        return Answer(call_id=_id(part.get("id")), content=part.get("response", part.get("result")))
    if kind in ("tool_result", "tool-result"):
        call_id = part.get("tool_use_id") or part.get("toolCallId")
        return Answer(call_id=_id(call_id), content=_first(part, "content", "output", "result"), failed=_flagged(part))
    if (inner := as_object(part.get("toolResult"))) is not None:
        failed = inner.get("status") == "error"
        return Answer(call_id=_id(inner.get("toolUseId")), content=inner.get("content"), failed=failed)
    for key in ("function_response", "functionResponse"):
        if (inner := as_object(part.get(key))) is not None:
            return Answer(call_id=_id(inner.get("id")), content=inner.get("response"))
    said = part if part.get(CLASS) == "ToolCallResult" else as_object(part.get("tool_call_result"))
    if said is not None:
        origin = as_object(said.get("origin")) or {}
        return Answer(
            call_id=_id(origin.get("id")),
            content=said.get("result"),
            failed=said.get("error") is True,
            request=_asked(origin, call_id=origin.get("id")) if origin.get("tool_name") else None,
        )
    return None


def _flagged(part: Mapping[str, Any]) -> bool:
    return part.get("is_error") is True or part.get("isError") is True


def _first(part: Mapping[str, Any], *keys: str) -> Any:
    return next((part[key] for key in keys if part.get(key) is not None), None)


def _id(value: Any) -> str | None:
    return str(value) if value else None
