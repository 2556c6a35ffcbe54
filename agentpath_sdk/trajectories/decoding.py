"""What instrumentations write as arguments and results, decoded to JSON values, with the state they are in."""

from __future__ import annotations

import ast
import base64
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import orjson

from agentpath_sdk import redaction
from agentpath_sdk.trajectories.model import ArgumentsState, Json, ResultState
from agentpath_sdk.trajectories.shapes import as_list, as_object

__all__ = ["Arguments", "Result", "decode_arguments", "decode_result", "load_json", "plain"]

# What stands in the place of a whole value that was not to be seen: ours, and those of other instrumentations.
_HIDDEN: Final = frozenset({redaction.MARKER, redaction.FAILED, "__REDACTED__", "[REDACTED]", "<redacted>", "***"})
_JSON_START: Final = frozenset('{["-0123456789tfn')
_NON_STANDARD: Final = re.compile(r"\b(?:NaN|Infinity)\b")
_MAX_DEPTH: Final = 100
# Longer text is no repr of a call's arguments, and parsing it as Python source costs much.
_LITERAL_LIMIT: Final = 100_000
_TOKENS: Final = re.compile(r'"(?:[^"\\]|\\.)*+"|["{}\[\]]', re.DOTALL)


@dataclass(frozen=True, kw_only=True, slots=True)
class Arguments:
    """Decoded arguments; ``values`` is None unless ``state`` is ``known``."""

    values: Mapping[str, Json] | None = None
    state: ArgumentsState = "known"
    raw: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Result:
    """A decoded result."""

    value: Json = None
    state: ResultState = "known"


def load_json(text: str) -> Any:
    """Return the JSON value of ``text``, or None when it is no JSON (or is ``null``)."""
    stripped = text.lstrip()
    if not stripped or stripped[0] not in _JSON_START:
        return None
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return _load_non_standard(text)


def _load_non_standard(text: str) -> Any:
    if not _NON_STANDARD.search(text):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def plain(value: Any, *, depth: int = 0) -> Json:
    """Return an attribute value as a JSON value: tuples become lists, bytes base64 text, what is nested more than a
    hundred deep a marker."""
    if depth > _MAX_DEPTH:
        return "[nested too deeply]"
    if isinstance(value, str | int | float | bool) or value is None:
        return value
    if isinstance(value, bytes | bytearray):
        return base64.b64encode(value).decode("ascii")
    if (pairs := as_object(value)) is not None:
        return {str(key): plain(item, depth=depth + 1) for key, item in pairs.items()}
    if (items := as_list(value)) is not None:
        return [plain(item, depth=depth + 1) for item in items]
    return str(value)


def decode_arguments(
    value: Any, *, limit: int | None = None, flagged_truncated: bool = False, flagged_raw: bool = False
) -> Arguments:
    """Return the arguments of a call from what its span holds.

    ``limit`` is the provider's attribute length limit, where known: broken JSON of that length was cut by it.
    With no limit known, text that merely stops in the middle counts as cut too: nothing else writes such text.
    """
    if value is None:
        return Arguments(state="not_captured")
    if (given := as_object(value)) is not None and not flagged_truncated:
        return Arguments(values=plain(given))
    text = value if isinstance(value, str) else json.dumps(plain(value), ensure_ascii=False)
    if _is_hidden(text):
        return Arguments(state="redacted", raw=text)
    if flagged_truncated:
        return Arguments(state="truncated", raw=text)
    if flagged_raw:
        return Arguments(state="unparsed", raw=text)
    return _decode_text(text, limit)


def _is_hidden(text: str) -> bool:
    return text in _HIDDEN or (text[:1] == '"' and text[1:-1] in _HIDDEN)


def _decode_text(text: str, limit: int | None) -> Arguments:
    found = _object(text)
    if found is not None:
        return Arguments(values=found)
    cut = len(text) >= limit if limit is not None else True
    if cut and text.lstrip()[:1] in ("{", "[") and _stops_in_the_middle(text):
        return Arguments(state="truncated", raw=text)
    return Arguments(state="unparsed", raw=text)


def _object(text: str) -> Mapping[str, Json] | None:
    """Return the object that ``text`` says as JSON, as JSON inside a JSON string, or as a Python literal."""
    stripped = text.strip()
    if stripped in ("", "null", "None"):
        return {}
    found = load_json(stripped)
    if isinstance(found, str):
        found = load_json(found)
    if found is None and stripped.startswith("{") and len(stripped) <= _LITERAL_LIMIT:
        found = plain(_literal(stripped))
    return as_object(found)


def _literal(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None


def _stops_in_the_middle(text: str) -> bool:
    """Return whether ``text`` is the beginning of a JSON value: a bracket or a string is still open at its end."""
    depth = 0
    for match in _TOKENS.finditer(text):
        token = match.group()
        if token == '"':
            return True
        if token in ("{", "["):
            depth += 1
        elif token in ("}", "]"):
            depth -= 1
    return depth > 0


def decode_result(value: Any, *, truncated: bool = False, captured: bool = True) -> Result:
    """Return the result of a call: JSON text is decoded, other text stays text."""
    if value is None:
        return Result(state="known" if captured else "not_captured")
    if not isinstance(value, str):
        return Result(value=plain(value), state="truncated" if truncated else "known")
    if _is_hidden(value):
        return Result(state="redacted")
    found = load_json(value)
    decoded = found if found is not None or value.strip() == "null" else value
    return Result(value=decoded, state="truncated" if truncated else "known")
