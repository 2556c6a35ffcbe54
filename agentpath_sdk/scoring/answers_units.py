"""A number with its unit in an answer: ``5 km`` is found in "about 5,000 metres".

Equal unit words compare without anything else installed; the extra ``units`` (pint) converts between different ones.
Currencies are compared and never converted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final, TypeAlias

from agentpath_sdk.scoring.answers_numbers import number_spans

__all__ = ["quantity_passes", "same_unit"]

_CLOSE: Final = 1e-9
_MOST_WORDS: Final = 3
# No digits but in an exponent of one: a unit is text of the agent's, and must not be an expression.
_WORD: Final = r"[^\W\d_]+(?:[²³]|\^-?[1-9](?!\d))?"
_SIGNS: Final = "°%‰$€£¥₽₹₩"
_UNIT: Final = re.compile(
    rf"[ \u00a0\u202f-]?([{_SIGNS}]\s?[CFKcfk]?\b|{_WORD}(?:[ /·*]{_WORD}){{0,{_MOST_WORDS - 1}}}|[{_SIGNS}])"
)
_BEFORE: Final = re.compile(r"([$€£¥₽₹₩]|\b[A-Z]{3})[ \u00a0]?[-+\u2212\u2013]?\Z")
_ALIASES: Final = {
    "$": "USD", "us$": "USD", "dollar": "USD", "dollars": "USD", "€": "EUR", "euro": "EUR", "euros": "EUR",
    "£": "GBP", "pound sterling": "GBP", "pounds sterling": "GBP", "¥": "JPY", "yen": "JPY", "₽": "RUB",
    "ruble": "RUB", "rubles": "RUB", "rouble": "RUB", "roubles": "RUB", "₹": "INR", "rupee": "INR", "rupees": "INR",
    "₩": "KRW", "won": "KRW", "%": "percent", "per cent": "percent", "percent": "percent", "‰": "permille",
    "°": "degree", "degrees": "degree", "° c": "degC", "°c": "degC", "° f": "degF", "°f": "degF",
    "celsius": "degC", "degrees celsius": "degC", "fahrenheit": "degF", "degrees fahrenheit": "degF",
}  # fmt: skip

_Convert: TypeAlias = Callable[[float, str, str], "float | None"]


def quantity_passes(
    answer: str, expected: float, unit: str, *, abs_tolerance: float = 0.0, rel_tolerance: float = 0.0
) -> bool | None:
    """Return whether ``answer`` names the quantity, within a tolerance in the expected unit.

    A number without a unit is no such quantity. None where only another unit's number is there, and nothing that
    converts is installed.
    """
    allowed = max(abs_tolerance, rel_tolerance * abs(expected), _CLOSE * abs(expected)) * (1 + _CLOSE)
    undecided = False
    for readings, given in _quantities(answer):
        for number in readings:
            converted = number if same_unit(given, unit) else _converter()(number, given, unit)
            if converted is not None and abs(converted - expected) <= allowed:
                return True
        undecided = undecided or not (same_unit(given, unit) or _can_convert())
    return None if undecided else False


def same_unit(one: str, other: str) -> bool:
    """Return whether two unit words are one unit without converting; case counts, since mW is no MW."""
    return _plain(one) == _plain(other)


def _plain(unit: str) -> str:
    text = " ".join(unit.split())
    return _ALIASES.get(text.casefold(), text)


def _quantities(text: str) -> Iterator[tuple[tuple[float, ...], str]]:
    """Yield numbers with each unit they may have: what follows, the longest first, or a currency before."""
    for number in number_spans(text):
        before = _BEFORE.search(text[: number.start])
        if before is not None:
            yield number.readings, before[1]
        after = _UNIT.match(text, number.end)
        for unit in _shortening(after[1]) if after is not None else ():
            yield number.readings, unit


def _shortening(unit: str) -> Iterator[str]:
    """Yield ``unit`` and what is left of it as words are taken off its end: an answer goes on after the unit."""
    words = unit.split(" ")
    for count in range(len(words), 0, -1):
        yield " ".join(words[:count])


def _can_convert() -> bool:
    return find_spec("pint") is not None


@cache
def _converter() -> _Convert:
    if not _can_convert():
        return lambda _number, _given, _wanted: None
    registry: Any = import_module("pint").UnitRegistry(autoconvert_offset_to_baseunit=True, cache_folder=None)

    def convert(number: float, given: str, wanted: str) -> float | None:
        try:
            return float(registry.Quantity(number, _plain(given)).to(_plain(wanted)).magnitude)
        except Exception:
            # Any word may follow a number; what is no unit, or one of another kind, names another quantity.
            return None

    return convert
