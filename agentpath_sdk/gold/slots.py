"""Slots: ``{city}`` in the queries of a path, and in the texts its steps expect; ``{{city}}`` is no slot."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from agentpath_sdk.gold.equality import similarity
from agentpath_sdk.gold.model import ArgumentMatcher, Comparison
from agentpath_sdk.gold.query_text import fold
from agentpath_sdk.gold.wording import PASSED, failed, is_list, show

__all__ = ["Slot", "SlotText", "escaped", "filled", "holds_slot", "slot_names", "slots_in", "unescaped"]

_NAME: Final = r"[A-Za-z_]\w*"
SLOT: Final = re.compile(rf"(?<!\{{)\{{({_NAME})\}}(?!\}})")
"""One slot; its name is the first group."""
_ESCAPED: Final = re.compile(rf"\{{(\{{{_NAME}\}})\}}")
_TO_ESCAPE: Final = re.compile(rf"(\{{{_NAME}\}})")
_EITHER: Final = re.compile(rf"\{{\{{({_NAME})\}}\}}|(?<!\{{)\{{({_NAME})\}}(?!\}})")


def slot_names(text: str) -> tuple[str, ...]:
    """Return the names of the slots in ``text``, in order, repetitions too."""
    return tuple(SLOT.findall(text))


def unescaped(text: str) -> str:
    """Return a text without slots as it is meant."""
    return _ESCAPED.sub(r"\1", text)


def escaped(text: str) -> str:
    """Return the text as it is written where slots may stand."""
    return _TO_ESCAPE.sub(r"{\1}", text)


def filled(text: str, values: Mapping[str, str]) -> str:
    """Return ``text`` with the values of its slots; a name without a value stays as it is."""

    def one(match: re.Match[str]) -> str:
        literal, name = match.groups()
        return f"{{{literal}}}" if literal is not None else values.get(name, match[0])

    return _EITHER.sub(one, text)


def holds_slot(value: Any, names: Collection[str]) -> bool:
    """Return whether a text anywhere in a JSON value holds one of these slots."""
    return bool(names) and any(name in names for name in slots_in(value))


def slots_in(value: Any) -> Iterator[str]:
    """Yield the names of the slots in all texts of a JSON value."""
    if isinstance(value, str):
        yield from slot_names(value)
    elif isinstance(value, dict):
        for inner in cast("dict[str, Any]", value).values():
            yield from slots_in(inner)
    elif is_list(value):
        for inner in value:
            yield from slots_in(inner)


@dataclass(frozen=True, kw_only=True, slots=True)
class Slot:
    """A matcher whose texts hold slots, as a gold file has it; the look-up puts the filled one in its place."""

    pattern: ArgumentMatcher

    @property
    def name(self) -> str:
        """``slot``."""
        return "slot"

    @property
    def expected(self) -> Any:
        """The text with its slots."""
        return self.pattern.expected

    def __call__(self, actual: Any) -> Comparison:
        """Return failed: without the values of the slots nothing can be said to fit."""
        remark = "; the query that fills the slots is not known"
        return failed(f"{show(self.expected)} with its slots filled", actual, 0.0, remark)


@dataclass(frozen=True, kw_only=True, slots=True)
class SlotText:
    """A text filled with words of the run's query: case and blanks do not matter, and ``"3"`` is as good as 3."""

    expected: str

    @property
    def name(self) -> str:
        """``slot``."""
        return "slot"

    def __call__(self, actual: Any) -> Comparison:
        """Return passed for the same text or number; the similarity is graded."""
        if isinstance(actual, str):
            if actual == self.expected or fold(actual) == fold(self.expected):
                return PASSED
        elif _is_number(actual, self.expected):
            return PASSED
        words = f"{show(self.expected)} as in the query (case and blanks do not matter)"
        return failed(words, actual, min(similarity(self.expected, actual), 0.99))


def _is_number(actual: Any, text: str) -> bool:
    if isinstance(actual, bool) or not isinstance(actual, int | float):
        return False
    try:
        # An integer of many digits must not be compared as a float.
        return int(text) == actual
    except ValueError:
        pass
    try:
        return float(text) == actual
    except ValueError:
        return False
