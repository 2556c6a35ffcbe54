"""Strict, capped, deterministic JSON of any Python object, without running the object's own code.

Keys keep their order. What has no JSON form becomes a marker with its type's name and never an address, so that two
equal calls give equal text. The text is valid JSON also after it was cut to a limit.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite
from typing import Any, Final, NamedTuple

import orjson

from agentpath_sdk._plain import TOO_LARGE, is_dict, is_list, kind_of, to_plain

__all__ = ["Encoded", "decode", "encode", "json_line"]

_MARGIN: Final = 4_096
"""Characters kept beyond the limit until redaction has run, so that no secret is cut in two before it is seen."""
_SMALL: Final = 12
"""A text is never cut shorter than this; rather, entries are left out."""
_LONG_INTEGER: Final = re.compile(r"\d{17}")
_LONG_CONTAINER: Final = 1_000
_PLAIN_KINDS: Final = frozenset({str, int, bool, type(None)})
_new: Final[Callable[[Any, Any], Encoded]] = vars(tuple)["__new__"]
# Dataclasses have fields that say "do not print me", which orjson does not know.
_OPTIONS: Final = orjson.OPT_PASSTHROUGH_DATACLASS


class Encoded(NamedTuple):
    """JSON text, and whether anything was left out of it to keep the limit."""

    text: str
    truncated: bool


def encode(
    value: Any,
    limit: int,
    *,
    suspect: Callable[[str], bool] | None = None,
    redact: Callable[[Any], Any] | None = None,
) -> Encoded:
    """Return ``value`` as JSON of at most ``limit`` characters (at least 16). Total: raises for no value.

    When ``suspect`` says so of the encoded text, ``redact`` gets the plain JSON value and returns a clean one, before
    anything is cut to the limit.
    """
    if not _may_be_long(value, limit):
        try:
            data = orjson.dumps(value, option=_OPTIONS)
        except (TypeError, ValueError, RecursionError):
            data = None
        # orjson writes NaN and infinity as null: look closer where there is a null. What is far beyond the limit is
        # made again within bounds, so that what follows costs no more than the limit allows.
        fits = data is not None and len(data) <= 4 * (limit + _MARGIN)
        if data is not None and fits and (b"null" not in data or not _may_hold_nan(value)):
            text = data.decode()
            if len(text) <= limit and (suspect is None or not suspect(text)):
                # As a NamedTuple's own constructor would, at a third of its cost.
                return _new(Encoded, (text, False))
    return _encode_with_care(value, limit, suspect, redact)


def _encode_with_care(
    value: Any, limit: int, suspect: Callable[[str], bool] | None, redact: Callable[[Any], Any] | None
) -> Encoded:
    plain, cut = to_plain(value, limit + _MARGIN)
    text = _dump(plain)
    if suspect is not None and redact is not None and suspect(text):
        plain = redact(plain)
        text = _dump(plain)
    if len(text) <= limit:
        return Encoded(text, cut)
    return Encoded(_dump(_shrink(plain, max(limit, 16))), True)


def json_line(value: Any) -> bytes:
    """Return ``value`` as one line of strict JSON, uncut; what JSON cannot say becomes text or null. Total."""
    try:
        return orjson.dumps(value, default=str, option=orjson.OPT_NON_STR_KEYS)
    except (TypeError, ValueError, RecursionError):
        # Lone surrogates, integers beyond 64 bits and values nested too deep, which orjson refuses.
        plain, _ = to_plain(value, sys.maxsize)
        return json.dumps(plain, ensure_ascii=False).encode()


def decode(text: str | bytes) -> Any:
    """Return the value of strict JSON text, long integers exact.

    Raises:
        ValueError: the text is not strict JSON (NaN and Infinity are not).
    """
    if isinstance(text, bytes):
        text = text.decode()
    if _LONG_INTEGER.search(text):
        # orjson reads integers beyond 64 bits as floats.
        return json.loads(text, parse_constant=_no_constant)
    return orjson.loads(text)


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _may_hold_nan(value: Any) -> bool:
    """Return whether NaN or infinity is somewhere in a value made of JSON types, or may be."""
    kind = kind_of(value)
    if kind is dict:
        return any(map(_may_hold_nan, value.values()))
    if kind is list or kind is tuple:
        return any(map(_may_hold_nan, value))
    return not (kind in _PLAIN_KINDS or (kind is float and isfinite(value)))


def _may_be_long(value: Any, limit: int) -> bool:
    kind = kind_of(value)
    if kind is str:
        return len(value) > limit
    if kind is dict:
        if len(value) > _LONG_CONTAINER:
            return True
        for item in value.values():
            inner = kind_of(item)
            if inner is str:
                if len(item) > limit:
                    return True
            elif (inner is list or inner is dict or inner is tuple) and len(item) > _LONG_CONTAINER:
                return True
        return False
    return (kind is list or kind is tuple) and len(value) > _LONG_CONTAINER


def _dump(plain: Any) -> str:
    try:
        return orjson.dumps(plain).decode()
    except (TypeError, ValueError, RecursionError):
        # An integer beyond 64 bits.
        return json.dumps(plain, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


# --- cutting to a limit ---------------------------------------------------------------------------


@dataclass(slots=True)
class _Part:
    key: str | None
    value: Any
    size: int
    frame: int
    """Characters around the value: the key, its quotes, colon and comma."""


def _shrink(value: Any, budget: int) -> Any:
    """Return ``value`` with long texts shortened and, where that is not enough, last entries left out, so that its
    JSON has at most ``budget`` characters. Small leaves stay whole: room is shared out from the smallest upwards."""
    if len(_dump(value)) <= budget:
        return value
    if isinstance(value, str):
        return _shorten(value, budget)
    if is_dict(value):
        parts = [_Part(k, v, len(_dump(v)), len(_dump(k)) + 2) for k, v in value.items()]
        return {part.key: part.value for part in _fit(parts, budget - 2, _left_out_entry)}
    if is_list(value):
        kept = _fit([_Part(None, v, len(_dump(v)), 1) for v in value], budget - 2, _left_out_item)
        return [part.value for part in kept]
    return TOO_LARGE if budget >= len(TOO_LARGE) + 2 else "…"


def _fit(parts: list[_Part], budget: int, left_out: Callable[[int], _Part]) -> list[_Part]:
    kept, note = _as_many_as_fit(parts, budget, left_out)
    room = budget - sum(part.frame for part in kept) - (note.size + note.frame if note else 0)
    waiting = len(kept)
    for part in sorted(kept, key=lambda p: p.size):
        share = room // waiting
        if part.size > share:
            part.value = _shrink(part.value, share)
            part.size = len(_dump(part.value))
        room -= part.size
        waiting -= 1
    return [*kept, note] if note else kept


def _as_many_as_fit(
    parts: list[_Part], budget: int, left_out: Callable[[int], _Part]
) -> tuple[list[_Part], _Part | None]:
    """Return the entries that can be kept in some form, from the first on, and a note on the rest."""
    needed = 0
    ends: list[int] = []
    for part in parts:
        needed += part.frame + min(part.size, _SMALL)
        ends.append(needed)
    if needed <= budget:
        return parts, None
    for count in range(len(parts) - 1, -1, -1):
        note = left_out(len(parts) - count)
        if (ends[count - 1] if count else 0) + note.size + note.frame <= budget:
            return parts[:count], note
    return [], None


def _left_out_entry(count: int) -> _Part:
    return _Part("…", f"{count} more", len(str(count)) + 7, 6)


def _left_out_item(count: int) -> _Part:
    return _Part(None, f"… {count} more", len(str(count)) + 9, 1)


def _shorten(text: str, budget: int) -> str:
    """Return the longest beginning of ``text`` whose JSON, with an ellipsis, has at most ``budget`` characters."""
    low, high = 0, min(len(text), max(budget - 3, 0))
    while low < high:
        middle = (low + high + 1) // 2
        if len(_dump(text[:middle])) + 1 <= budget:
            low = middle
        else:
            high = middle - 1
    return text[: _whole_characters(text, low)] + "…"


def _whole_characters(text: str, end: int) -> int:
    """Return ``end`` moved back so that no combining mark, joiner or variation selector is cut from its base."""
    while 0 < end < len(text) and _joins(text[end - 1], text[end]):
        end -= 1
    return end


def _joins(before: str, after: str) -> bool:
    if after < "\u0300":
        return False
    return (
        before == "\u200d"
        or after in "\u200d\ufe0e\ufe0f"
        or "\u0300" <= after <= "\u036f"
        or "\U0001f3fb" <= after <= "\U0001f3ff"
    )
