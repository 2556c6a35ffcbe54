"""What is wrong with an entry of a gold file, in the words of the file's author."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple, TypeVar, cast

from pydantic import BaseModel, ValidationError

from agentpath_sdk.gold.entries import ComparingEntry, ProvenanceEntry, ToolEntry
from agentpath_sdk.gold.wording import found, json_type
from agentpath_sdk.gold.yaml_core import Loc

__all__ = ["Problem", "closest", "validated"]


class Problem(NamedTuple):
    """Something wrong inside a document."""

    loc: Loc
    text: str
    hint: str = ""


_Model = TypeVar("_Model", bound=BaseModel)

_EXPECTED: Final[Mapping[str, str]] = {
    "string_type": "expected a text",
    "bool_type": "expected true or false",
    "int_type": "expected a whole number",
    "float_type": "expected a number",
    "list_type": "expected a list",
    "dict_type": "expected a mapping",
    "model_type": "expected a mapping",
    "string_pattern_mismatch": "expected a text on one line without blanks at its ends",
}
_HINTS: Final[Mapping[tuple[str, str | None], str]] = {
    ("string_type", "number"): "put it in quotes",
    ("string_type", "boolean"): "put it in quotes",
    ("list_type", "text"): "write [...] around it",
    ("list_type", "mapping"): "each item of a list starts with '-'",
}
# A wrong word most people would try, and the right one.
_OTHER_WORDS: Final[Mapping[str, str]] = {
    "name": "id",
    "question": "query",
    "input": "query",
    "prompt": "query",
    "trajectory": "steps",
    "path": "steps",
    "calls": "steps",
    "args": "arguments",
    "params": "arguments",
    "parameters": "arguments",
    "threshold": "good_path",
    "expected_answer": "answer",
    "expected": "answer",
    "tool_name": "tool",
    "tolerance": "abs",
    "absolute": "abs",
    "epsilon": "abs",
    "relative": "rel",
    "forbid": "never",
    "forbidden": "never",
    "alternative": "alternatives",
    "or": "alternatives",
}
_PLACED: Final[Mapping[str, str]] = {
    "rules": "rules are for every run of an agent; they stand on top of a file, beside 'paths' or alone",
}
"""Keys that are known elsewhere, and where."""


def validated(
    model: type[_Model], raw: Any, loc: Loc, problems: list[Problem], *, instead: Mapping[str, Any]
) -> _Model | None:
    """Return the model of ``raw``, after adding everything that is wrong with it to ``problems``.

    What is wrong is left out, or stands as in ``instead``, so that the rest can be looked at for problems too; None
    for what is no mapping at all.
    """
    try:
        return model.model_validate(raw)
    except ValidationError as error:
        details = error.errors(include_url=False)
    problems.extend(_problem(model, detail, loc) for detail in details)
    if not isinstance(raw, dict):
        return None
    wrong = {detail["loc"][0] for detail in details if detail["loc"]}
    kept = {key: value for key, value in cast("dict[str, Any]", raw).items() if key not in wrong}
    return model.model_validate({**instead, **kept})


def closest(word: str, known: Iterable[str]) -> str:
    """Return a hint that names the known word most like ``word``, or all of them where none is like it."""
    words = sorted(known)
    other = _OTHER_WORDS.get(word.lower())
    near = [other] if other in words else difflib.get_close_matches(word.lower(), words, 1, 0.7)
    return f"did you mean {near[0]!r}?" if near else f"known are {', '.join(words)}"


def _problem(model: type[BaseModel], detail: Any, loc: Loc) -> Problem:
    kind, value, context = detail["type"], detail["input"], detail.get("ctx", {})
    inner: Loc = tuple(detail["loc"])
    if kind == "extra_forbidden":
        key = str(inner[-1])
        hint = _PLACED.get(key) or closest(key, _keys(model, inner[:-1]))
        return Problem((*loc, *inner), f"unknown key {inner[-1]!r}", hint)
    if kind == "missing":
        return Problem((*loc, *inner[:-1]), f"key {inner[-1]!r} is missing")
    text = f"{_expected(kind, context, detail['msg'])}, found {found(value)}"
    return Problem((*loc, *inner), text, _HINTS.get((kind, json_type(value)), ""))


def _expected(kind: str, context: Mapping[str, Any], message: str) -> str:
    if kind == "literal_error":
        return f"expected {context['expected']}"
    if kind == "string_too_short":
        return "expected a text that is not empty"
    if kind == "string_too_long":
        return f"expected a text of at most {context['max_length']} characters"
    if kind in ("too_short", "too_long"):
        least = kind == "too_short"
        count = context["min_length" if least else "max_length"]
        return f"expected at {'least' if least else 'most'} {count} {'item' if count == 1 else 'items'}"
    bounds = {"greater_than_equal": ("ge", "at least"), "less_than_equal": ("le", "at most")}
    if kind in bounds:
        key, words = bounds[kind]
        return f"expected a number of {words} {context[key]:g}"
    return _EXPECTED.get(kind, message[:1].lower() + message[1:])


def _keys(model: type[BaseModel], inner: Loc) -> Iterable[str]:
    """Return the keys known at a place inside ``model``."""
    nested: Mapping[str, type[BaseModel]] = {
        "defaults": ComparingEntry,
        "tools": ToolEntry,
        "provenance": ProvenanceEntry,
    }
    return (nested[str(inner[0])] if inner else model).model_fields
