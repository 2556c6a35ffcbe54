"""What a tool or retriever gave back, as plain values."""

from __future__ import annotations

from typing import Any, cast

from agentpath_langchain.messages import is_message
from agentpath_langchain.shapes import is_dict, is_list

__all__ = ["call_id_of", "documents_of", "messages_in", "result_of"]


def result_of(output: Any) -> Any:
    """Return a tool's result: a message's content, a hand-over's target and messages, anything else as it is."""
    if output is None or isinstance(output, str | int | float | dict):
        return cast(Any, output)
    if is_message(output):
        return output.content
    if is_list(output):
        return [result_of(item) for item in output]
    if _is_command(output):
        return {"goto": _target(output.goto), "messages": [result_of(m) for m in messages_in(output)]}
    return output


def messages_in(output: Any) -> list[Any]:
    """Return the messages of a tool's output: itself, those of a list, those a hand-over adds to the state."""
    if is_message(output):
        return [output]
    if is_list(output):
        return [message for item in output for message in messages_in(item)]
    if _is_command(output):
        update: Any = output.update
        added = update.get("messages") if is_dict(update) else None
        return messages_in(added) if is_list(added) else []
    return []


def call_id_of(output: Any) -> str | None:
    """Return the tool call id a tool's message answers, else None."""
    found = getattr(output, "tool_call_id", None)
    return found if isinstance(found, str) else None


def documents_of(documents: Any) -> list[Any]:
    """Return retrieved documents as content and metadata."""
    return [
        {"id": getattr(d, "id", None), "content": d.page_content, "metadata": d.metadata}
        if hasattr(d, "page_content")
        else d
        for d in documents
    ]


def _is_command(output: Any) -> bool:
    return type(output).__module__ == "langgraph.types" and hasattr(output, "goto") and hasattr(output, "update")


def _target(goto: Any) -> Any:
    """Return where a hand-over goes, in words: node names, without the state sent along."""
    if is_list(goto):
        return [_target(one) for one in goto]
    return goto if isinstance(goto, str) else getattr(goto, "node", type(goto).__name__)
