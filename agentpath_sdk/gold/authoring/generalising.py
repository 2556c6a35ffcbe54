"""One matcher for the values that an argument had in several good runs; it takes every one of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median_low
from typing import Any, Final, Literal, TypeAlias, cast

from agentpath_sdk._plain import is_dict
from agentpath_sdk.gold.equality import similarity, values_equal
from agentpath_sdk.gold.matchers import Exact, Fold, Fuzzy, Ignore, ListOf, MappingOf, Number, SameSet, TypeOf
from agentpath_sdk.gold.matchers import OneOf as AnyMatcher
from agentpath_sdk.gold.model import ArgumentMatcher
from agentpath_sdk.gold.query_text import fold
from agentpath_sdk.gold.wording import is_list, json_text, json_type

__all__ = ["MAX_OPTIONS", "Generalised", "How", "distinct", "generalise"]

How: TypeAlias = Literal[
    "exact", "folded", "number", "fuzzy", "set", "one_of", "parts", "type", "free_text", "varies", "not_always_given"
]
"""What the values had in common; the last three are not compared at all."""

MAX_OPTIONS: Final = 4
"""Different values that are written out; more are taken for examples of a kind."""

_SPREAD: Final = 0.1
"""Widest deviation from the middle, as a share of it, that still makes numbers measurements of one thing."""
_ALIKE: Final = 0.8
"""Similarity of texts that say the same, and the threshold by which further ones are compared."""
_LONG_TEXT: Final = 120
"""Nobody writes a text this long twice in the same words."""
_MAX_DEPTH: Final = 6


@dataclass(frozen=True, kw_only=True, slots=True)
class Generalised:
    """A matcher that takes all the values, and what they had in common."""

    matcher: ArgumentMatcher
    how: How


def generalise(values: Sequence[Any], *, missing: int = 0) -> Generalised:
    """Return the narrowest matcher of gold files that takes every value.

    ``missing``: in how many runs the argument was not given; as no matcher but ``ignore`` takes both, it is then not
    compared.
    """
    if missing or not values:
        return Generalised(matcher=Ignore(), how="not_always_given")
    if not all(map(_is_writable, values)):
        return Generalised(matcher=Ignore(), how="varies")
    return _generalise(values, 0)


def distinct(values: Iterable[Any]) -> list[Any]:
    """Return the values without those that an earlier one equals."""
    by_text: dict[str, Any] = {}
    for value in values:
        by_text.setdefault(json_text(value), value)
    found: list[Any] = []
    for value in by_text.values():
        if not any(values_equal(value, earlier) for earlier in found):
            found.append(value)
    return found


def _is_writable(value: Any) -> bool:
    """Return whether gold files have a form for the value: JSON has none for NaN and the infinities."""
    if isinstance(value, float):
        return math.isfinite(value)
    if is_dict(value):
        return all(map(_is_writable, value.values()))
    return not is_list(value) or all(map(_is_writable, value))


def _generalise(values: Sequence[Any], depth: int) -> Generalised:
    different = distinct(values)
    if len(different) == 1:
        if len(values) == 1 and isinstance(values[0], str) and len(values[0]) > _LONG_TEXT and _is_phrase(values[0]):
            return Generalised(matcher=Ignore(), how="free_text")
        return Generalised(matcher=Exact(expected=different[0]), how="exact")
    kinds = {json_type(value) for value in different}
    find = _BY_KIND.get(next(iter(kinds)) or "", _options) if len(kinds) == 1 and depth < _MAX_DEPTH else _options
    found = find(different, depth)
    if all(found.matcher(value).passed for value in different):
        return found
    # A rule of thumb that does not take what was seen is none.
    found = _options(different, depth)
    taken = all(found.matcher(value).passed for value in different)
    return found if taken else Generalised(matcher=Ignore(), how="varies")


def _options(different: Sequence[Any], _: int) -> Generalised:
    if len(different) > MAX_OPTIONS:
        return Generalised(matcher=Ignore(), how="varies")
    return Generalised(matcher=AnyMatcher(options=tuple(Exact(expected=one) for one in different)), how="one_of")


def _of_numbers(different: Sequence[Any], depth: int) -> Generalised:
    numbers = cast("Sequence[int | float]", different)
    if all(isinstance(number, int) or number.is_integer() for number in numbers):
        # Whole numbers are as often ids, counts and pages as they are measurements.
        if len(numbers) <= MAX_OPTIONS:
            return _options(numbers, depth)
        kind: Literal["integer", "number"] = "integer" if all(type(n) is int for n in numbers) else "number"
        return Generalised(matcher=TypeOf(types=(kind,)), how="type")
    middle = median_low(numbers)
    widest = max(abs(number - middle) for number in numbers)
    if widest <= _SPREAD * abs(middle):
        return Generalised(matcher=Number(expected=middle, abs_tolerance=_rounded_up(widest)), how="number")
    if len(numbers) <= MAX_OPTIONS:
        return _options(numbers, depth)
    return Generalised(matcher=TypeOf(types=("number",)), how="type")


def _rounded_up(tolerance: float) -> float:
    """Return the tolerance in two digits, none of the values left out."""
    step = 10.0 ** (math.floor(math.log10(tolerance)) - 1)
    return float(f"{math.ceil(round(tolerance / step, 6)) * step:.12g}")


def _of_texts(different: Sequence[Any], depth: int) -> Generalised:
    texts = cast("Sequence[str]", different)
    folded = list(dict.fromkeys(map(fold, texts)))
    if len(folded) == 1:
        return Generalised(matcher=Fold(expected=texts[0]), how="folded")
    middle, near = _central(texts)
    if near >= _ALIKE and _is_phrase(middle):
        return Generalised(matcher=Fuzzy(expected=middle, threshold=_ALIKE), how="fuzzy")
    if any(len(text) > _LONG_TEXT for text in texts):
        return Generalised(matcher=Ignore(), how="free_text")
    if len(folded) <= MAX_OPTIONS:
        options = tuple(_text_option(one, texts) for one in folded)
        return Generalised(matcher=AnyMatcher(options=options), how="one_of")
    if sum(map(_is_phrase, texts)) * 2 > len(texts):
        return Generalised(matcher=Ignore(), how="free_text")
    return Generalised(matcher=TypeOf(types=("text",)), how="type")


def _text_option(folded: str, texts: Sequence[str]) -> ArgumentMatcher:
    written = [text for text in texts if fold(text) == folded]
    return Fold(expected=written[0]) if len(written) > 1 or _is_phrase(written[0]) else Exact(expected=written[0])


def _central(texts: Sequence[str]) -> tuple[str, float]:
    """Return the text that is nearest to the one least like it, and how near that is."""
    candidates = texts[: MAX_OPTIONS * 4]
    nearest = [min(similarity(text, other) for other in texts) for text in candidates]
    best = max(range(len(candidates)), key=nearest.__getitem__)
    return candidates[best], nearest[best]


def _is_phrase(text: str) -> bool:
    return len(text.split()) > 1


def _of_lists(different: Sequence[Any], depth: int) -> Generalised:
    lists = cast("Sequence[Sequence[Any]]", different)
    same = SameSet(items=tuple(lists[0]))
    if all(len(one) == len(lists[0]) and same(one).passed for one in lists):
        return Generalised(matcher=same, how="set")
    if len({len(one) for one in lists}) == 1:
        items = tuple(_generalise(column, depth + 1).matcher for column in zip(*lists, strict=True))
        return Generalised(matcher=ListOf(items=items), how="parts")
    if len(lists) <= MAX_OPTIONS:
        return _options(lists, depth)
    return Generalised(matcher=TypeOf(types=("list",)), how="type")


def _of_mappings(different: Sequence[Any], depth: int) -> Generalised:
    mappings = cast("Sequence[Mapping[str, Any]]", different)
    keys = list(dict.fromkeys(key for one in mappings for key in one))
    if not keys or any(key.startswith("$") for key in keys):
        # In a gold file such a mapping would be a matcher.
        return _options(mappings, depth)
    items: dict[str, ArgumentMatcher] = {}
    for key in keys:
        given = [one[key] for one in mappings if key in one]
        items[key] = _generalise(given, depth + 1).matcher if len(given) == len(mappings) else Ignore()
    return Generalised(matcher=MappingOf(items=items), how="parts")


_BY_KIND: Final[Mapping[str, Callable[[Sequence[Any], int], Generalised]]] = {
    "number": _of_numbers,
    "text": _of_texts,
    "list": _of_lists,
    "mapping": _of_mappings,
    "boolean": _options,
}
