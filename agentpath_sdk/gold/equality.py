"""When an expected value equals the value a run gave, and how near they are when it does not.

``values_equal`` is an equivalence relation, so it may be used in any direction: key order does not matter,
1 equals 1.0, ``True`` does not equal 1, text is compared after Unicode NFC, lists are ordered, a JSON text of an
object equals the object, NaN equals NaN (a gold path that expects it means it).
"""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any, Final, TypeGuard, cast

from rapidfuzz.fuzz import token_sort_ratio

__all__ = [
    "plain_equal_is_enough",
    "plain_text",
    "plain_text_similarity",
    "same_literals",
    "similarity",
    "values_equal",
]

_CLOSE: Final = 1e-9
# Below 1, so that an equal call is always preferred to one that only looks alike.
_ALMOST: Final = 0.99
_MAX_DEPTH: Final = 24
# Comparisons of leaves in one call of similarity; past it the rest counts as 1 where equal and 0 where not.
_BUDGET: Final = 2_000
# Texts longer than this are compared by their beginnings: a ratio of megabytes takes seconds.
_MAX_TEXT: Final = 20_000

_MAY_HOLD_LITERAL: Final = re.compile(r"[\d\"'`«“„@]|://")
_QUOTED: Final = re.compile(r"\"([^\"]+)\"|«([^»]+)»|[“„]([^”“]+)[”“]|`([^`]+)`|(?<!\w)'([^']+)'(?!\w)")
_TOKEN: Final = re.compile(r"https?://[^\s\"'<>«»“”`]+|[\w.:/@%-]+")
_DIGIT: Final = re.compile(r"\d")


def values_equal(expected: Any, actual: Any) -> bool:
    """Return whether two JSON values mean the same by default. Total: never raises, never recurses."""
    if type(expected) is str and type(actual) is str:
        return _texts_equal(expected, actual)
    try:
        return _equal_by_stack(expected, actual)
    except Exception:
        # A foreign type's own comparison raised: it has not been shown to be equal.
        return False


def similarity(expected: Any, actual: Any) -> float:
    """Return how near ``actual`` is to ``expected``: 1.0 where they are equal, else 0 to 0.99.

    Numbers are equal (to nine digits) or not; text is compared literals first, then by words; objects by the mean
    over the union of their keys; lists in order. A difference of representation only (``"1"`` and 1, case,
    outer blanks, order of words) leaves 0.99.
    """
    if type(expected) is int and type(actual) is int:
        return 1.0 if expected == actual else 0.0
    if values_equal(expected, actual):
        return 1.0
    if type(expected) is str and type(actual) is str:
        return min(_ALMOST, _text_similarity(expected, actual))
    try:
        return min(_ALMOST, _graded(expected, actual, 0, [_BUDGET]))
    except Exception:
        return 0.0


def same_literals(expected: str, actual: str) -> bool:
    """Return whether both texts hold the same numbers, dates, ids, URLs and quoted strings, in any order."""
    return _literals(unicodedata.normalize("NFKC", expected)) == _literals(unicodedata.normalize("NFKC", actual))


def plain_text(text: str) -> str | None:
    """Return ``text`` folded, for ``plain_text_similarity``; None where it has literals or needs more care."""
    if len(text) > _MAX_TEXT or not text.isascii() or text[:1] in "{ \t\r\n" or _MAY_HOLD_LITERAL.search(text):
        return None
    return _folded(text)


def plain_text_similarity(folded: str, actual: str) -> float | None:
    """Return ``similarity`` of a text that ``plain_text`` folded and another one, in a fifth of the time.

    Only for texts that differ; None where ``actual`` needs more care.
    """
    if len(actual) > _MAX_TEXT or not actual.isascii():
        return None
    # Letters and blanks hold no literal; asking for them is faster than searching.
    if not actual.replace(" ", "").isalpha() and _MAY_HOLD_LITERAL.search(actual):
        return None
    near = token_sort_ratio(folded, actual.strip().lower()) / 100.0
    return near if near < _ALMOST else _ALMOST


def plain_equal_is_enough(expected: Any) -> bool:
    """Return whether ``expected == actual`` being true proves ``values_equal(expected, actual)``.

    False where Python's equality is too generous: booleans, 0 and 1 (``True == 1``), keys that are not text, types
    outside JSON, and nesting too deep for it. Python's "unequal" proves nothing (NFC, JSON text of an object).
    """
    stack: list[tuple[Any, int]] = [(expected, 0)]
    while stack:
        value, depth = stack.pop()
        kind = cast("type[object]", type(value))
        if kind is str or value is None:
            continue
        if kind is int or kind is float:
            if value in (0, 1):
                return False
        elif depth >= _MAX_DEPTH:
            return False
        elif kind is dict:
            if not all(type(key) is str for key in value):
                return False
            stack.extend((item, depth + 1) for item in value.values())
        elif kind is list:
            stack.extend((item, depth + 1) for item in value)
        else:
            return False
    return True


def _equal_by_stack(expected: Any, actual: Any) -> bool:
    stack: list[tuple[Any, Any]] = [(expected, actual)]
    seen: set[tuple[int, int]] = set()
    decoded: list[Any] = []  # keeps decoded objects alive, so that their ids in ``seen`` stay theirs
    while stack:
        one, other = stack.pop()
        if one is other:
            continue
        if isinstance(one, str) and isinstance(other, str):
            if not _texts_equal(one, other):
                return False
            continue
        one, other = _as_object(one, other, decoded), _as_object(other, one, decoded)
        inner = _pairs_inside(one, other)
        if inner is None:
            if not _scalars_equal(one, other):
                return False
        elif inner is _DIFFERENT:
            return False
        elif (id(one), id(other)) not in seen:
            seen.add((id(one), id(other)))
            stack.extend(inner)
    return True


_DIFFERENT: Final[list[tuple[Any, Any]]] = []


def _pairs_inside(one: Any, other: Any) -> list[tuple[Any, Any]] | None:
    """Return the pairs to compare inside two containers, ``_DIFFERENT``, or None for two that are no containers."""
    if _is_mapping(one) and _is_mapping(other):
        if len(one) != len(other):
            return _DIFFERENT
        if one.keys() != other.keys():
            one, other = _with_composed_keys(one), _with_composed_keys(other)
            if one.keys() != other.keys():
                return _DIFFERENT
        # Keys 1 and True are one key to a dict, and not one to us.
        if any(type(key) is not str for key in one) and _key_types(one) != _key_types(other):
            return _DIFFERENT
        return [(value, other[key]) for key, value in one.items()]
    if _is_list(one) and _is_list(other):
        return list(zip(one, other, strict=True)) if len(one) == len(other) else _DIFFERENT
    return None


def _scalars_equal(one: Any, other: Any) -> bool:
    if isinstance(one, bool) or isinstance(other, bool):
        return isinstance(one, bool) and isinstance(other, bool) and one == other
    if _is_number(one) and _is_number(other):
        return bool(one == other) or (_is_nan(one) and _is_nan(other))
    if one is None or other is None or _is_mapping(one) or _is_mapping(other) or _is_list(one) or _is_list(other):
        return False
    return bool(one == other)


def _texts_equal(one: str, other: str) -> bool:
    if one == other:
        return True
    if one.isascii() and other.isascii():
        if one[:1].strip() not in ("{", "") or other[:1].strip() not in ("{", ""):
            return False
    elif unicodedata.normalize("NFC", one) == unicodedata.normalize("NFC", other):
        return True
    left, right = _decoded_object(one), _decoded_object(other)
    # Two JSON texts of one object equal that object, hence each other.
    return left is not None and right is not None and values_equal(left, right)


def _as_object(value: Any, beside: Any, decoded: list[Any]) -> Any:
    """Return the object a JSON text holds when it stands beside an object, else ``value``."""
    if not isinstance(value, str) or not _is_mapping(beside):
        return value
    found = _decoded_object(value)
    if found is None:
        return value
    decoded.append(found)
    return found


def _decoded_object(text: str) -> dict[str, Any] | None:
    if not text.lstrip().startswith("{"):
        return None
    try:
        # Not orjson: it turns integers beyond 64 bits into floats, and ids are such integers.
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, Any]", found) if isinstance(found, dict) else None


def _with_composed_keys(mapping: Mapping[Any, Any]) -> dict[Any, Any]:
    return {unicodedata.normalize("NFC", key) if isinstance(key, str) else key: v for key, v in mapping.items()}


def _key_types(mapping: Mapping[Any, Any]) -> Counter[tuple[bool, Any]]:
    return Counter((isinstance(key, bool), key) for key in mapping)


def _graded(expected: Any, actual: Any, depth: int, budget: list[int]) -> float:
    if budget[0] <= 0 or depth > _MAX_DEPTH:
        return 1.0 if values_equal(expected, actual) else 0.0
    budget[0] -= 1
    decoded: list[Any] = []
    expected, actual = _as_object(expected, actual, decoded), _as_object(actual, expected, decoded)
    if _is_mapping(expected) and _is_mapping(actual):
        return _graded_mappings(expected, actual, depth, budget)
    if _is_list(expected) and _is_list(actual):
        return _graded_lists(expected, actual, depth, budget)
    if _is_number(expected) and _is_number(actual):
        return 1.0 if _numbers_close(expected, actual) else 0.0
    if isinstance(expected, str) or isinstance(actual, str):
        left, right = _scalar_text(expected), _scalar_text(actual)
        return 0.0 if left is None or right is None else _text_similarity(left, right)
    return 1.0 if values_equal(expected, actual) else 0.0


def _graded_mappings(expected: Mapping[Any, Any], actual: Mapping[Any, Any], depth: int, budget: list[int]) -> float:
    if expected.keys() != actual.keys():
        expected, actual = _with_composed_keys(expected), _with_composed_keys(actual)
    keys = list(expected) + [key for key in actual if key not in expected]
    if not keys:
        return 1.0
    shared = (key for key in keys if key in expected and key in actual)
    return sum(_graded(expected[key], actual[key], depth + 1, budget) for key in shared) / len(keys)


def _graded_lists(expected: Iterable[Any], actual: Iterable[Any], depth: int, budget: list[int]) -> float:
    """Return the largest sum of similarities over pairs that keep the order, divided by the longer length."""
    rows, columns = list(expected), list(actual)
    longest = max(len(rows), len(columns))
    if not longest:
        return 1.0
    if len(rows) * len(columns) > budget[0]:
        pairs = zip(rows, columns, strict=False)
        return sum(_graded(one, other, depth + 1, budget) for one, other in pairs) / longest
    best = [0.0] * (len(columns) + 1)
    for one in rows:
        diagonal = 0.0
        for at, other in enumerate(columns, 1):
            above = best[at]
            best[at] = max(above, best[at - 1], diagonal + _graded(one, other, depth + 1, budget))
            diagonal = above
    return best[-1] / longest


def _text_similarity(expected: str, actual: str) -> float:
    """Return the ratio of the sorted words times the share of literals in common.

    The share makes one wrong date 0 in a text that holds one literal, and less than everything in a text of many.
    """
    if expected == actual:
        return 1.0
    left, right = _folded(expected[:_MAX_TEXT]), _folded(actual[:_MAX_TEXT])
    share = _literal_share(expected[:_MAX_TEXT], actual[:_MAX_TEXT])
    if share == 0.0:
        return 0.0
    return share if left == right else share * token_sort_ratio(left, right) / 100.0


def _literal_share(expected: str, actual: str) -> float:
    if _MAY_HOLD_LITERAL.search(expected) is None and _MAY_HOLD_LITERAL.search(actual) is None:
        return 1.0
    left = _literals(unicodedata.normalize("NFKC", expected))
    right = _literals(unicodedata.normalize("NFKC", actual))
    union = (left | right).total()
    return (left & right).total() / union if union else 1.0


def _literals(text: str) -> Counter[str]:
    """Return the numbers, dates, ids, URLs and quoted strings of ``text``, counted."""
    found: Counter[str] = Counter()
    for token in _TOKEN.findall(text):
        if "://" in token or "@" in token or _DIGIT.search(token):
            found[token.rstrip(".:/%-") or token] += 1
    for groups in _QUOTED.findall(text):
        found["".join(groups).strip()] += 1
    return found


def _folded(text: str) -> str:
    if text.isascii():
        return text.strip().lower()
    return unicodedata.normalize("NFKC", text).casefold().strip()


def _scalar_text(value: Any) -> str | None:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    return str(value) if _is_number(value) else None


def _numbers_close(one: Any, other: Any) -> bool:
    try:
        return bool(one == other) or math.isclose(one, other, rel_tol=_CLOSE) or (_is_nan(one) and _is_nan(other))
    except (ArithmeticError, ValueError):
        # An integer too large for a float, or a signalling NaN.
        return False


def _is_nan(value: Any) -> bool:
    return isinstance(value, float | Decimal) and value != value


def _is_number(value: Any) -> TypeGuard[int | float | Decimal]:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def _is_mapping(value: Any) -> TypeGuard[Mapping[Any, Any]]:
    return isinstance(value, Mapping)


def _is_list(value: Any) -> TypeGuard[list[Any] | tuple[Any, ...]]:
    return isinstance(value, list | tuple)
