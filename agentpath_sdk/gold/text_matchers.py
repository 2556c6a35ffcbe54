"""Matchers for texts: folded, fuzzy, by pattern, by part. Pure, total, never raising."""

from __future__ import annotations

import fnmatch
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import regex

from agentpath_sdk._guard import HEALTH
from agentpath_sdk.gold.equality import similarity, values_equal
from agentpath_sdk.gold.model import Comparison
from agentpath_sdk.gold.query_text import fold
from agentpath_sdk.gold.wording import PASSED, failed, is_list, show

__all__ = ["Contains", "Fold", "Fuzzy", "Glob", "Regex"]

# A pattern is given up on after this long, and never sees longer texts: the worker that scores must go on.
_PATTERN_SECONDS: Final = 0.05
_PATTERN_TEXT: Final = 20_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Fold:
    """A text, compared without case, outer blanks, runs of blanks, and differences of Unicode form (NFKC)."""

    expected: str

    @property
    def name(self) -> str:
        """``fold``."""
        return "fold"

    def __call__(self, actual: Any) -> Comparison:
        """Return passed for an equal folded text; the similarity is graded."""
        if isinstance(actual, str) and (actual == self.expected or fold(actual) == fold(self.expected)):
            return PASSED
        graded = similarity(self.expected, actual) if isinstance(actual, str) else 0.0
        return failed(f"{show(self.expected)} (case and blanks do not matter)", actual, graded)


@dataclass(frozen=True, kw_only=True, slots=True)
class Fuzzy:
    """A text at least ``threshold`` similar, words in any order, with the same numbers, dates, ids and quoted parts."""

    expected: str
    threshold: float = 0.8

    @property
    def name(self) -> str:
        """``fuzzy``."""
        return "fuzzy"

    def __call__(self, actual: Any) -> Comparison:
        """Return passed from the threshold on; the similarity is that of the texts."""
        if not isinstance(actual, str):
            return failed(f"a text like {show(self.expected)}", actual, 0.0)
        if fold(actual) == fold(self.expected):
            return PASSED
        graded = similarity(self.expected, actual)
        if graded >= self.threshold:
            return Comparison(passed=True, similarity=graded)
        words = f"a text at least {self.threshold:g} similar to {show(self.expected)}"
        return failed(words, actual, graded, f", which is {graded:.2f}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Regex:
    """A text that the whole pattern fits from its first to its last character (``fullmatch``).

    The pattern is given up on after 50 milliseconds and fails on texts of over 20,000 characters.
    """

    expected: str

    @property
    def name(self) -> str:
        """``regex``."""
        return "regex"

    def __call__(self, actual: Any) -> Comparison:
        """Return passed where the pattern fits, else similarity 0."""
        if not isinstance(actual, str):
            return failed(self._words(), actual, 0.0)
        if len(actual) > _PATTERN_TEXT:
            return failed(self._words(), actual, 0.0, f", too long to be searched ({len(actual)} characters)")
        try:
            fits = _compiled(self.expected).fullmatch(actual, timeout=_PATTERN_SECONDS)
        except TimeoutError:
            HEALTH.count("gold.regex_timeout")
            return failed(
                self._words(), actual, 0.0, f", but the pattern was given up on after {_PATTERN_SECONDS * 1e3:g} ms"
            )
        except Exception as error:
            HEALTH.fault("gold.regex", error)
            return failed(self._words(), actual, 0.0, f", but the pattern failed with {type(error).__name__}")
        return PASSED if fits else failed(self._words(), actual, 0.0)

    def _words(self) -> str:
        return f"a text that fits the pattern {show(self.expected)}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Glob:
    """A text that fits a shell pattern as a whole: ``*`` anything, ``?`` one character, ``[ab]`` one of these."""

    expected: str

    @property
    def name(self) -> str:
        """``glob``."""
        return "glob"

    def __call__(self, actual: Any) -> Comparison:
        """Return passed where the pattern fits (case matters), else similarity 0."""
        if not isinstance(actual, str):
            return failed(self._words(), actual, 0.0)
        if len(actual) > _PATTERN_TEXT:
            return failed(self._words(), actual, 0.0, f", too long to be searched ({len(actual)} characters)")
        return PASSED if _glob(self.expected).match(actual) else failed(self._words(), actual, 0.0)

    def _words(self) -> str:
        return f"a text like {self.expected}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Contains:
    """A text with all these parts, or a list with all these items; ``fold_case`` folds texts on both sides."""

    parts: tuple[Any, ...]
    fold_case: bool = False

    @property
    def name(self) -> str:
        """``contains``."""
        return "contains"

    @property
    def expected(self) -> Any:
        """The one part, or the list of them."""
        return self.parts[0] if len(self.parts) == 1 else list(self.parts)

    def __call__(self, actual: Any) -> Comparison:
        """Return passed where every part is there; the similarity is the share of parts that are."""
        if not isinstance(actual, str) and not is_list(actual):
            return failed(f"a text or list with {show(self.expected)}", actual, 0.0)
        absent = [part for part in self.parts if not self._holds(actual, part)]
        if not absent:
            return PASSED
        share = 1.0 - len(absent) / len(self.parts)
        return failed(f"{show(absent[0])} in it", actual, share)

    def _holds(self, actual: Any, part: Any) -> bool:
        if isinstance(actual, str):
            return isinstance(part, str) and self._folded(part) in self._folded(actual)
        return any(values_equal(self._folded(part), self._folded(item)) for item in actual)

    def _folded(self, value: Any) -> Any:
        return fold(value) if self.fold_case and isinstance(value, str) else value


@lru_cache(maxsize=1_024)
def _compiled(pattern: str) -> regex.Pattern[str]:
    return regex.compile(pattern)


@lru_cache(maxsize=1_024)
def _glob(pattern: str) -> re.Pattern[str]:
    return re.compile(fnmatch.translate(pattern))
