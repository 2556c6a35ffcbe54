"""The registered query texts most like a given one, among those with the same numbers."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from rapidfuzz import fuzz, process

from agentpath_sdk.gold.query_text import numbers, sorted_words

__all__ = ["FuzzyIndex"]

# A ratio is rounded to this many digits: .95 and .90 are .05 apart, also in binary.
_DIGITS: Final = 9


@dataclass(frozen=True, slots=True)
class _Bucket:
    """Texts with the same numbers, ordered by length, since texts of very different length are never similar."""

    lengths: list[int]
    words: list[str]
    """Each text with its words sorted; of the same length as the text."""
    texts: list[str]


class FuzzyIndex:
    """Normalised texts, ready to be searched. Immutable."""

    def __init__(self, texts: Iterable[str]) -> None:
        grouped: dict[tuple[str, ...], list[str]] = {}
        for text in texts:
            grouped.setdefault(numbers(text), []).append(text)
        self._buckets = {key: _bucket(group) for key, group in grouped.items()}

    def nearest(self, text: str, least: float) -> list[tuple[str, float]]:
        """Return the texts at least ``least`` similar (``token_sort_ratio`` in 0..1), most similar first."""
        bucket = self._buckets.get(numbers(text))
        if bucket is None:
            return []
        # The ratio is at most 2 * shorter / (shorter + longer).
        shortest, longest = len(text) * least / (2 - least), len(text) * (2 - least) / least
        start, end = bisect_left(bucket.lengths, shortest), bisect_right(bucket.lengths, longest)
        if start >= end:
            return []
        found = process.extract(
            sorted_words(text), bucket.words[start:end], scorer=fuzz.ratio, score_cutoff=least * 100, limit=None
        )
        return [(bucket.texts[start + at], round(score / 100, _DIGITS)) for _, score, at in found]


def _bucket(texts: list[str]) -> _Bucket:
    ordered = sorted(texts, key=len)
    return _Bucket([len(text) for text in ordered], [sorted_words(text) for text in ordered], ordered)
