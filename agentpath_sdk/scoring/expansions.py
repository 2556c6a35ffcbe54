"""The sequences of calls that a gold path accepts, arranged so that a run finds its best one quickly."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from agentpath_sdk.scoring.plan import Plan, make_plan
from agentpath_sdk.scoring.table import Reader, Table
from agentpath_sdk.scoring.words import Language, Word

__all__ = ["Bag", "Expansion", "Expansions", "Spelling", "passing", "spell_out"]

_MOST_WORDS: Final = 1_024
"""Sequences that are written out; of more, the few that matter for a run are looked for."""
_MOST_PLANS: Final = 1_024
_NO_SIGN: Final = "\0"
_FIRST_SIGN: Final = 0x10000


@dataclass(frozen=True, kw_only=True, slots=True)
class Expansion:
    """One accepted sequence; ``letters`` and ``passes`` spell it as ``Bag`` says."""

    order: int
    """In the order of the file."""
    alternative: int
    """Which way of the gold path it belongs to, from 1."""
    word: Word
    letters: str
    passes: str
    classes: tuple[int, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Bag:
    """The sequences of equal calls, each in an order of its own."""

    letters: str
    """A letter per call, by its tool, sorted: what two bags have in common bounds how many pairs there can be."""
    passes: str
    """A sign per call, by what passes it in full, sorted."""
    length: int
    min_steps: int
    expansions: tuple[Expansion, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Spelling:
    """The bags of the sequences with a terminal step, or of those without."""

    reader: Reader
    bags: tuple[Bag, ...]
    letters: tuple[str, ...]
    passes: tuple[str, ...]
    exact: dict[tuple[str, str], Expansion]
    """The first sequence of each spelling, where a run that is spelled so cannot score better with any other."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Expansions:
    """All sequences of calls that a gold path accepts."""

    table: Table
    language: Language
    spellings: tuple[Spelling, ...] | None
    """None where there are too many of them to be written out."""
    plans: dict[Word, Plan] = field(default_factory=dict[Word, Plan])

    def plan(self, word: Word, alternative: int) -> Plan:
        """Return the plan of one of the sequences, from the cache where it was made before."""
        found = self.plans.get(word)
        if found is None or found.alternative != alternative:
            found = make_plan(self.table, word, alternative)
            if len(self.plans) >= _MOST_PLANS:
                self.plans.clear()
            self.plans[word] = found
        return found


def spell_out(language: Language, table: Table) -> Expansions:
    """Return the expansions of a gold path."""
    expansions: list[Expansion] = []
    seen: set[Word] = set()
    for alternative, start in enumerate(language.starts, 1):
        words = language.words(start, _MOST_WORDS)
        if words is None or len(expansions) + len(words) > _MOST_WORDS:
            return Expansions(table=table, language=language, spellings=None)
        for word in words:
            if word not in seen:
                expansions.append(_spell(table, word, alternative, len(expansions)))
        seen.update(words)
    return Expansions(table=table, language=language, spellings=tuple(_spellings(table, expansions)))


def passing(table: Table, letters: Iterable[str], classes: Iterable[int]) -> str:
    """Return a sign per call: what bears equal signs may pass, what bears different ones cannot.

    The class, or the tool's letter where the tool's calls have no classes.
    """
    unclassed = table.unclassed
    return "".join(
        [
            chr(_FIRST_SIGN + number) if number >= 0 else letter if letter in unclassed else _NO_SIGN
            for letter, number in zip(letters, classes, strict=True)
        ]
    )


def _spell(table: Table, word: Word, alternative: int, order: int) -> Expansion:
    letters = [table.letters[expected.call] for expected in word]
    classes = tuple(table.classes[expected.call] for expected in word)
    return Expansion(
        order=order,
        alternative=alternative,
        word=word,
        letters="".join(letters),
        passes=passing(table, letters, classes),
        classes=classes,
    )


def _spellings(table: Table, expansions: Sequence[Expansion]) -> Iterator[Spelling]:
    by_reader: dict[bool, list[Expansion]] = {}
    for one in expansions:
        answers = any(table.steps[expected.call].terminal for expected in one.word)
        by_reader.setdefault(answers, []).append(one)
    for answers, members in by_reader.items():
        bags = tuple(_bags(table, members))
        yield Spelling(
            reader=table.answering if answers else table.silent,
            bags=bags,
            letters=tuple(bag.letters for bag in bags),
            passes=tuple(bag.passes for bag in bags),
            exact=_exact(table, bags),
        )


def _exact(table: Table, bags: Sequence[Bag]) -> dict[tuple[str, str], Expansion]:
    weights = dict(table.weights.parts)
    if not weights.get("argument_accuracy"):
        # Else only a run with all arguments right has everything right.
        return {}
    found: dict[tuple[str, str], Expansion] = {}
    members = (one for bag in bags if bag.length <= bag.min_steps or not bag.length for one in bag.expansions)
    for one in sorted(members, key=lambda one: one.order):
        if table.unclassed.isdisjoint(one.letters):
            found.setdefault((one.letters, one.passes), one)
    return found


def _bags(table: Table, expansions: Sequence[Expansion]) -> Iterator[Bag]:
    bags: dict[tuple[str, str, int], list[Expansion]] = {}
    for one in expansions:
        key = "".join(sorted(one.letters)), "".join(sorted(one.passes)), sum(part.required for part in one.word)
        bags.setdefault(key, []).append(one)
    given = table.gold.min_steps
    for (letters, passes, required), members in bags.items():
        yield Bag(
            letters=letters,
            passes=passes,
            length=len(letters),
            min_steps=required if given is None else max(0, given),
            expansions=tuple(members),
        )
