"""A text about the same thing, in whatever words or language."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from agentpath_sdk.gold.embedding import semantic_similarity
from agentpath_sdk.gold.equality import similarity
from agentpath_sdk.gold.model import Comparison
from agentpath_sdk.gold.query_text import fold
from agentpath_sdk.gold.wording import PASSED, failed, show

__all__ = ["SEMANTIC_THRESHOLD", "Semantic"]

SEMANTIC_THRESHOLD: Final = 0.6


@dataclass(frozen=True, kw_only=True, slots=True)
class Semantic:
    """A text at least ``threshold`` near, by its words or by its topic, the nearer of both.

    The topic counts only where numbers, dates, ids, URLs and quoted parts are equal and no opposite word differs.
    """

    expected: str
    threshold: float = SEMANTIC_THRESHOLD

    @property
    def name(self) -> str:
        """``semantic``."""
        return "semantic"

    def __call__(self, actual: Any) -> Comparison:
        """Return passed from the threshold on; the similarity is the larger of the two."""
        if not isinstance(actual, str):
            return failed(f"a text about {show(self.expected)}", actual, 0.0)
        if fold(actual) == fold(self.expected):
            return PASSED
        lexical = similarity(self.expected, actual)
        graded = lexical if lexical >= self.threshold else max(lexical, semantic_similarity(self.expected, actual))
        if graded >= self.threshold:
            return Comparison(passed=True, similarity=graded)
        words = f"a text at least {self.threshold:g} near in meaning to {show(self.expected)}"
        return failed(words, actual, graded, f", which is {graded:.2f}")
