"""Queries with slots: which of ten thousand templates a query fits, and what stands in the slots."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from agentpath_sdk.gold.query_text import TRAILING, fold
from agentpath_sdk.gold.slots import SLOT, unescaped

__all__ = ["MAX_QUERY", "MAX_SLOTS", "TemplateFit", "TemplateIndex", "fit", "skeleton", "template_problem"]

MAX_SLOTS: Final = 8
MAX_QUERY: Final = 2_000
"""Longer queries fit no template: a template is for a sentence, and a look-up must stay fast."""

_WORDS: Final = re.compile(r"\S+")


@dataclass(frozen=True, slots=True)
class _Template:
    """Literal parts (folded) around the slots: one more than there are slots."""

    parts: tuple[str, ...]
    names: tuple[str, ...]

    @property
    def weight(self) -> int:
        """The number of literal characters: the more, the more exactly a query was meant."""
        return sum(len(part.replace(" ", "")) for part in self.parts)


@dataclass(frozen=True, slots=True)
class _Query:
    """A query as it was written, and folded with the same positions."""

    kept: str
    folded: str


@dataclass(frozen=True, kw_only=True, slots=True)
class TemplateFit:
    """A template that a query fits, how specific it is, and the values of its slots."""

    template: str
    weight: int
    values: Mapping[str, str]


class TemplateIndex:
    """Templates by the words a fitting query must begin with, end with, and hold. Immutable."""

    def __init__(self, templates: Iterable[str]) -> None:
        found: dict[tuple[int, int], dict[Hashable, list[str]]] = {}
        for template in dict.fromkeys(templates):
            first, last, middle = _fixed_words(_parsed(template))
            places = found.setdefault((len(first), len(last)), {})
            places.setdefault((first, last, middle), []).append(template)
        self._found = found

    def fits(self, query: str) -> list[TemplateFit]:
        """Return the templates that the query fits, the most specific first, then as registered."""
        if not self._found or len(query) > MAX_QUERY:
            return []
        text = _query(query)
        fitting = [one for template in self._candidates(text.folded) if (one := _fit(template, text)) is not None]
        return sorted(fitting, key=lambda one: -one.weight)

    def _candidates(self, folded: str) -> Iterator[str]:
        words = folded.split()
        middles = ("", *dict.fromkeys(words))
        for (first, last), places in self._found.items():
            # One slot at least stands between the two, and holds a word, or a part of one.
            if first + last <= len(words):
                begin, end = tuple(words[:first]), tuple(words[len(words) - last :])
                for middle in middles:
                    yield from places.get((begin, end, middle), ())


def fit(template: str, query: str) -> dict[str, str] | None:
    """Return the values of the slots where the query fits the template, else None.

    Case, width, runs of blanks and trailing punctuation do not matter. A slot takes as little as it can, and at least
    one character; a slot that occurs twice has the same value twice.
    """
    if len(query) > MAX_QUERY:
        return None
    found = _fit(template, _query(query))
    return None if found is None else dict(found.values)


def skeleton(template: str) -> tuple[str, ...]:
    """Return what is left of a template without the names of its slots: equal for templates that fit the same."""
    return _parsed(template).parts


def template_problem(template: str) -> str | None:
    """Return why a template cannot be read, or None."""
    parsed = _parsed(template)
    if len(parsed.names) > MAX_SLOTS:
        return f"expected at most {MAX_SLOTS} slots, found {len(parsed.names)}"
    for before, between, after in zip(parsed.names, parsed.parts[1:-1], parsed.names[1:], strict=False):
        if not between:
            return f"nothing stands between {{{before}}} and {{{after}}}, so nothing tells them apart"
    return None


def _fit(template: str, query: _Query) -> TemplateFit | None:
    parsed = _parsed(template)
    begin, *between, end = parsed.parts
    if not query.folded.startswith(begin) or not query.folded.endswith(end):
        return None
    at, stop = len(begin), len(query.folded) - len(end)
    spans: list[tuple[int, int]] = []
    for part in between:
        found = query.folded.find(part, at + 1, stop)
        if found < 0:
            return None
        spans.append((at, found))
        at = found + len(part)
    spans.append((at, stop))
    values: dict[str, str] = {}
    for name, (start, after) in zip(parsed.names, spans, strict=True):
        value = query.kept[start:after].strip()
        if not value or fold(values.setdefault(name, value)) != fold(value):
            return None
    return TemplateFit(template=template, weight=parsed.weight, values=values)


@lru_cache(maxsize=20_000)
def _parsed(template: str) -> _Template:
    """Return the literal parts and the names; parts keep the blank between a word and a slot."""
    pieces = SLOT.split(" ".join(template.split()))
    literals = [unicodedata.normalize("NFKC", unescaped(piece)).casefold() for piece in pieces[::2]]
    literals[-1] = literals[-1].rstrip(TRAILING)
    return _Template(tuple(literals), tuple(pieces[1::2]))


def _query(query: str) -> _Query:
    kept = " ".join(unicodedata.normalize("NFKC", query).split()).rstrip(TRAILING)
    folded = kept.casefold()
    # Where folding changes the length, positions in the two texts differ: the values are then taken folded.
    return _Query(kept if len(folded) == len(kept) else folded, folded)


def _fixed_words(template: _Template) -> tuple[tuple[str, ...], tuple[str, ...], str]:
    """Return the whole words at the beginning, at the end, and the longest one in between."""
    begin, *between, end = template.parts
    first = begin.split() if begin.endswith(" ") else begin.split()[:-1]
    last = end.split() if end.startswith(" ") else end.split()[1:]
    middles = [word for part in between for word in _whole_words(part)]
    return tuple(first), tuple(last), max(middles, key=len, default="")


def _whole_words(part: str) -> Iterator[str]:
    """Yield the words between blanks: a word beside a slot may go on inside it."""
    for word in _WORDS.finditer(part):
        if word.start() > 0 and word.end() < len(part):
            yield word[0]
