"""Query texts made comparable: one normal form, its words sorted, and the numbers in it."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final

__all__ = ["TRAILING", "fold", "normalise", "numbers", "sorted_words"]

# Longer texts are normalised anew each time: the cache is bounded in entries, so entries must be bounded in size.
_MAX_CACHED: Final = 2_000
TRAILING: Final = " .,;:!?…。！？؟،"
_DIGITS: Final = re.compile(r"\d+")


def fold(text: str) -> str:
    """Return ``text`` in NFKC, case folded, outer blanks off and each inner run of white space one blank."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def normalise(query: str) -> str:
    """Return the form in which two queries are compared: folded, without trailing punctuation."""
    return _cached(query) if len(query) <= _MAX_CACHED else _plain(query)


def sorted_words(normalised: str) -> str:
    """Return the words in order: ``fuzz.ratio`` of two such texts is ``token_sort_ratio`` of the queries."""
    return " ".join(sorted(normalised.split()))


def numbers(normalised: str) -> tuple[str, ...]:
    """Return the runs of digits in order, so that dates, ids and amounts can be told apart at the cost of a hash."""
    return tuple(_DIGITS.findall(normalised))


def _plain(query: str) -> str:
    # Casefolding may leave NFKC (U+0345); a second pass makes the form stable.
    return fold(fold(query)).rstrip(TRAILING)


_cached: Final = lru_cache(maxsize=8_192)(_plain)
