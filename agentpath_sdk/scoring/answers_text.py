"""Answers as words: folded, normalised, and how many words two answers share."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from typing import Final

from agentpath_sdk.scoring.answers_numbers import SIGN

__all__ = ["folded", "normalise", "token_f1", "words_of"]

_WORD: Final = re.compile(SIGN + r"\d+(?:[.,]\d+)*|\w+")
_LEADING_ARTICLE: Final = frozenset({"a", "an", "the"})


def normalise(text: str) -> str:
    """Return text without case, punctuation and a leading article; signs and decimal points of numbers stay."""
    return " ".join(words_of(text))


def folded(text: str) -> str:
    """Return text without case and with single blanks."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def words_of(text: str) -> list[str]:
    """Return the words of the normalised text."""
    words = [word.replace("\u2212", "-").replace("\u2013", "-") for word in _WORD.findall(folded(text))]
    return words[1:] if len(words) > 1 and words[0] in _LEADING_ARTICLE else words


def token_f1(expected: Sequence[str], given: Sequence[str]) -> float:
    """Return 2 x words in common / all words, repeats counted; without words on a side 1 if on both, else 0."""
    if not expected or not given:
        return float(list(expected) == list(given))
    common = (Counter(expected) & Counter(given)).total()
    return 2.0 * common / (len(expected) + len(given))
