"""LangChain messages as GenAI messages: ``{"role": ..., "parts": [...]}``; read by shape, so nothing is imported."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, cast

from agentpath_langchain.shapes import is_dict, is_list

__all__ = ["genai_message", "genai_messages", "is_message", "text_of", "usage_of"]

_ROLES: Final[Mapping[str, str]] = {
    "human": "user",
    "HumanMessageChunk": "user",
    "ai": "assistant",
    "AIMessageChunk": "assistant",
    "function": "tool",
    "ToolMessageChunk": "tool",
    "SystemMessageChunk": "system",
}
_CALL_BLOCKS: Final = frozenset({"tool_use", "tool_call", "tool_call_chunk", "function_call", "input_json_delta"})
"""Content blocks that repeat what ``tool_calls`` already says."""
_REASONING: Final = {"reasoning": "reasoning", "thinking": "thinking"}
_PAYLOAD_KEYS: Final = frozenset({"data", "base64", "source", "image_url", "file_data", "input_audio"})


def is_message(value: Any) -> bool:
    """Return whether ``value`` is a LangChain message object."""
    return hasattr(value, "content") and hasattr(value, "response_metadata") and isinstance(value.type, str)


def text_of(value: Any) -> str:
    """Return the text of a message, of message content, or of anything else as ``str``."""
    content = value.content if is_message(value) else value
    if isinstance(content, str):
        return content
    if is_list(content):
        return "".join(_block_texts(content))
    return str(content)


def _block_texts(blocks: Iterable[Any]) -> Iterator[str]:
    for block in blocks:
        if isinstance(block, str):
            yield block
        elif is_dict(block) and block.get("type", "text") == "text" and isinstance(block.get("text"), str):
            yield block["text"]


def genai_messages(messages: Iterable[Any]) -> list[dict[str, Any]]:
    """Return each message in GenAI form."""
    return [genai_message(message) for message in messages]


def genai_message(message: Any) -> dict[str, Any]:
    """Return one message (a LangChain message, or plain text as a user's) in GenAI form."""
    if not is_message(message):
        return {"role": "user", "parts": [{"type": "text", "content": text_of(message)}]}
    kind = message.type
    role = message.role if kind == "chat" and hasattr(message, "role") else _ROLES.get(kind, kind)
    if role == "tool":
        return {"role": role, "parts": [_tool_response(message)]}
    made: dict[str, Any] = {"role": role, "parts": [*_content_parts(message.content), *_call_parts(message)]}
    reason = finish_reason_of(message)
    if reason is not None:
        made["finish_reason"] = reason
    return made


def _tool_response(message: Any) -> dict[str, Any]:
    return {
        "type": "tool_call_response",
        "id": getattr(message, "tool_call_id", None),
        "response": message.content,
    }


def _content_parts(content: Any) -> Iterator[dict[str, Any]]:
    if isinstance(content, str):
        if content:
            yield {"type": "text", "content": content}
    elif is_list(content):
        for block in content:
            part = _block_part(block)
            if part is not None:
                yield part


def _block_part(block: Any) -> dict[str, Any] | None:
    if isinstance(block, str):
        return {"type": "text", "content": block}
    if not is_dict(block):
        return None
    kind = block.get("type", "text")
    if kind == "text":
        return {"type": "text", "content": block.get("text", "")}
    if kind in _CALL_BLOCKS:
        return None
    if kind in _REASONING:
        return {"type": "reasoning", "content": block.get(_REASONING[kind], "")}
    # Pictures and files: what they are, not their bytes.
    return {"type": str(kind), **{k: v for k, v in block.items() if k not in _PAYLOAD_KEYS and k != "type"}}


def _call_parts(message: Any) -> Iterator[dict[str, Any]]:
    for call in getattr(message, "tool_calls", None) or ():
        yield {"type": "tool_call", "id": call.get("id"), "name": call.get("name"), "arguments": call.get("args")}
    for call in getattr(message, "invalid_tool_calls", None) or ():
        # Arguments the model wrote that do not parse: kept as the text they are.
        yield {"type": "tool_call", "id": call.get("id"), "name": call.get("name"), "arguments": call.get("args")}


def finish_reason_of(message: Any) -> str | None:
    """Return why the model stopped, as its provider said it."""
    told: Any = getattr(message, "response_metadata", None) or {}
    for name in ("finish_reason", "stop_reason", "done_reason"):
        if isinstance(told.get(name), str):
            return cast(str, told[name])
    return None


def usage_of(message: Any, llm_output: Mapping[str, Any] | None) -> tuple[int | None, int | None]:
    """Return (input tokens, output tokens), None where not reported."""
    usage: Any = getattr(message, "usage_metadata", None)
    if usage:
        return usage.get("input_tokens"), usage.get("output_tokens")
    told: Any = (llm_output or {}).get("token_usage") or (llm_output or {}).get("usage") or {}
    return (
        told.get("prompt_tokens", told.get("input_tokens")),
        told.get("completion_tokens", told.get("output_tokens")),
    )
