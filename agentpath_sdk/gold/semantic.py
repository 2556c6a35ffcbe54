"""A text about the same thing, in whatever words or language."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from agentpath_sdk.gold.embedding import are_opposed, semantic_similarity
from agentpath_sdk.gold.equality import similarity
from agentpath_sdk.gold.model import Comparison
from agentpath_sdk.gold.query_text import fold
from agentpath_sdk.gold.wording import PASSED, failed, show

__all__ = ["SEMANTIC_THRESHOLD", "Semantic"]

SEMANTIC_THRESHOLD: Final = 0.6
# Words need to agree far more than topics do: "Oslo hotels" and "Oslo museums" share .7 of their letters.
_SAME_WORDS: Final = 0.8


@dataclass(frozen=True, kw_only=True, slots=True)
class Semantic:
    """A text at least ``threshold`` near in topic, or nearly the same by its words (.8, or ``threshold`` above that).

    The topic counts only where numbers, dates, ids, URLs and quoted parts are equal. A text with an opposite word
    ("cancel" for "book") or another negation never passes. The similarity is the larger of both.
    """

    expected: str
    threshold: float = SEMANTIC_THRESHOLD

    @property
    def name(self) -> str:
        """``semantic``."""
        return "semantic"

    def __call__(self, actual: Any) -> Comparison:
        """Return passed for a text of the same topic or of nearly the same words."""
        if not isinstance(actual, str):
            return failed(f"a text about {show(self.expected)}", actual, 0.0)
        if fold(actual) == fold(self.expected):
            return PASSED
        lexical = similarity(self.expected, actual)
        words = f"a text at least {self.threshold:g} near in meaning to {show(self.expected)}"
        if are_opposed(self.expected, actual):
            return failed(words, actual, lexical, ", which has an opposite word")
        if lexical >= max(self.threshold, _SAME_WORDS):
            return Comparison(passed=True, similarity=lexical)
        near = semantic_similarity(self.expected, actual)
        if near >= self.threshold:
            return Comparison(passed=True, similarity=max(near, lexical))
        return failed(words, actual, max(near, lexical), f", which is {near:.2f}")
