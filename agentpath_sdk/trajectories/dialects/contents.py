"""Query and answer inside what an agent, a chain or a graph was given and gave back."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from agentpath_sdk.trajectories.decoding import load_json, plain
from agentpath_sdk.trajectories.dialects.messages import assistant_text, messages, user_text
from agentpath_sdk.trajectories.shapes import as_list, as_object

__all__ = ["answer_in", "loaded", "query_in"]

_QUERY_KEYS: Final = (
    "query", "question", "user_msg", "user_input", "user_query", "task", "prompt", "input", "inputs", "request",
    "message", "new_message", "input_args", "kwargs", "args", "q", "text", "data", "state",
)  # fmt: skip
_ANSWER_KEYS: Final = (
    "final_answer", "answer", "final_result", "output", "outputs", "result", "response", "raw", "return", "content",
    "text",
)  # fmt: skip
# What a chain of thought gives back beside its answer.
_BESIDE: Final = frozenset({"reasoning", "rationale", "trajectory", "thought", "history", "completions"})
_DEPTH: Final = 6
# How an agent that talks in text ends: a thought, then the answer.
_REACT_ANSWER: Final = re.compile(r"\s*Thought:.*?\n(?:Final )?Answer:\s*(.+)", re.DOTALL)


def loaded(value: Any) -> Any:
    """Return ``value`` with JSON text decoded, also JSON text inside a JSON string; other text as it is."""
    for _ in range(2):
        if not isinstance(value, str):
            break
        found = load_json(value)
        if found is None or (isinstance(found, int | float | bool) and not isinstance(found, str)):
            break
        value = found
    return value


def query_in(value: Any) -> str | None:
    """Return the query in what a run was given: a text, the last user message, or the text of the one input."""
    return _query(loaded(value), 0)


def _query(value: Any, depth: int) -> str | None:
    if depth > _DEPTH or value is None:
        return None
    if isinstance(value, str):
        return _inside(value, depth)
    if messages(value):
        said = user_text(value)
        return None if said is None else _inside(said, depth)
    if (fields := as_object(value)) is not None:
        return _query_of(fields, depth)
    items = as_list(value)
    return _query(loaded(items[0]), depth + 1) if items and len(items) == 1 else None


def _inside(text: str, depth: int) -> str | None:
    """Return the query inside an input object written as text (``{"input": "..."}``), else ``text`` itself."""
    if not text.strip():
        return None
    found = as_object(load_json(text)) if text.startswith("{") else None
    return text if found is None else (_query_of(found, depth + 1) or text)


def _query_of(fields: Mapping[str, Any], depth: int) -> str | None:
    for key in _QUERY_KEYS:
        if key in fields and (found := _query(loaded(fields[key]), depth + 1)) is not None:
            return found
    texts = [value for value in fields.values() if isinstance(value, str) and value]
    if len(texts) == 1:
        return texts[0]
    if (parts := as_list(fields.get("parts"))) is not None:
        return _joined(parts)
    return _query(loaded(next(iter(fields.values()))), depth + 1) if len(fields) == 1 else None


def answer_in(value: Any) -> str | None:
    """Return the answer in what a run gave back: a text, the last assistant message, or the one output; an output of
    several fields as JSON text."""
    found = _answer(loaded(value), 0)
    match = None if found is None else _REACT_ANSWER.fullmatch(found)
    said = found if match is None else match.group(1)
    return None if said is None else said.strip() or None


def _answer(value: Any, depth: int) -> str | None:
    if depth > _DEPTH or value is None:
        return None
    if isinstance(value, str):
        return value if value.strip() else None
    if isinstance(value, int | float | bool):
        return json.dumps(value)
    if messages(value):
        return assistant_text(value)
    if (fields := as_object(value)) is not None:
        return _answer_of(fields, depth)
    items = as_list(value)
    if items and len(items) == 1:
        return _answer(loaded(items[0]), depth + 1)
    return _joined(items) if items else None


def _answer_of(fields: Mapping[str, Any], depth: int) -> str | None:
    for key in _ANSWER_KEYS:
        if fields.get(key) is not None and (found := _answer(loaded(fields[key]), depth + 1)) is not None:
            return found
    if (parts := as_list(fields.get("parts"))) is not None:
        return _joined(parts)
    rest = {key: value for key, value in fields.items() if key not in _BESIDE}
    if len(rest) == 1:
        return _answer(loaded(next(iter(rest.values()))), depth + 1)
    return json.dumps(plain(rest), ensure_ascii=False) if rest and depth == 0 else None


def _joined(parts: Sequence[Any]) -> str | None:
    texts = [text for part in parts if isinstance(text := (as_object(part) or {}).get("text"), str)]
    return "\n".join(texts) or None
