"""The numbers in a text, in each way that people write them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Final, NamedTuple

__all__ = ["NumberAt", "number_spans", "numbers_in"]

SIGN: Final = r"(?:(?<!\w)[-+\u2212\u2013])?"
_SPACED_THOUSANDS: Final = re.compile(SIGN + r"\d{1,3}(?:[ \u00a0\u202f]\d{3})+(?![\d])(?:[.,]\d+)?")
_NUMBER: Final = re.compile(SIGN + r"(?:\d[\d.,]*|[.,]\d+)(?:[eE][-+]?\d+)?")
_GROUPED: Final = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d{1,3}(?:\.\d{3})+(?:,\d+)?")


class NumberAt(NamedTuple):
    """A number in a text: where it stands, and what it may be read as."""

    start: int
    end: int
    readings: tuple[float, ...]


def numbers_in(text: str) -> Iterator[float]:
    """Yield every number in ``text``, in each way it may be read: ``1,234`` is 1234 and 1.234."""
    for number in number_spans(text):
        yield from number.readings


def number_spans(text: str) -> Iterator[NumberAt]:
    """Yield every number with its place; digits set apart by blanks come both as one number and as several."""
    for found in _SPACED_THOUSANDS.finditer(text):
        yield NumberAt(found.start(), found.end(), tuple(_readings(re.sub(r"\s", "", found[0]))))
    for found in _NUMBER.finditer(text):
        kept = found[0].rstrip(".,")
        yield NumberAt(found.start(), found.start() + len(kept), tuple(_readings(kept)))


def _readings(text: str) -> Iterator[float]:
    sign = -1.0 if text[:1] in {"-", "\u2212", "\u2013"} else 1.0
    body = text.lstrip("-+\u2212\u2013")
    seen: set[float] = set()
    for reading in _spellings(body):
        number = finite(reading)
        if number is not None and number not in seen:
            seen.add(number)
            yield sign * number


def _spellings(body: str) -> Iterator[str]:
    """Yield ``body`` as Python writes numbers, in each way its points and commas may be meant."""
    if _GROUPED.fullmatch(body):
        separator = "," if body.find(",") >= 0 and (body.find(".") < 0 or body.find(",") < body.find(".")) else "."
        yield body.replace(separator, "").replace(",", ".")
    if body.count(".") + body.count(",") <= 1:
        yield body.replace(",", ".")


def finite(text: str) -> float | None:
    """Return the number that Python reads, or None."""
    try:
        number = float(text)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None
