"""One way through a gold path, made ready for scoring."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from agentpath_sdk.gold.model import GoldPath
from agentpath_sdk.scoring.formulas import composite, perfect
from agentpath_sdk.scoring.plan_steps import PlanStep
from agentpath_sdk.scoring.table import Reader, Table
from agentpath_sdk.scoring.weights import Part
from agentpath_sdk.scoring.words import Word
from agentpath_sdk.settings import ScoringSettings

__all__ = ["Plan", "make_plan"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """A sequence of calls that the gold path accepts: all there is, or the one that a run is compared with."""

    table: Table
    gold: GoldPath
    settings: ScoringSettings
    word: Word
    alternative: int | None
    """Which way of the gold path it belongs to, from 1; None where the gold path accepts no other sequence."""
    ids: Sequence[int]
    """Number of each step in the table."""
    steps: tuple[PlanStep, ...]
    letters: str
    classes: list[int]
    distinct: frozenset[int] | None
    """The classes, where every step has one of its own."""
    reader: Reader
    uniform: bool
    """Whether every step has a class."""
    any_must_succeed: bool
    tools: list[str]
    """Tools of a run that follows the path, without a terminal step at its end."""
    wanted: list[dict[str, Any]] | None
    """Their arguments; None where it takes a closer look to tell that they are right."""
    traps: tuple[tuple[int, str, bool], ...]
    """The traps of those steps, with the step's index."""
    answered: bool
    """Whether such a run has to give an answer."""
    min_steps: int
    required: Plan | None
    """The steps that the shortest way through the same branches has; None where these are all."""
    writing: Plan | None
    """The steps that change something; None where the gold path says of no tool whether it does."""
    perfect: dict[str, float]
    """Metrics of a run that follows the path exactly."""
    perfect_composite: float | None
    """Its composite; None where that depends on more than the path."""
    parts: tuple[Part, ...]
    """The weights' parts where they are all there is to the composite, else empty."""
    good_path: float


def make_plan(table: Table, word: Word, alternative: int | None = None, *, part: bool = False) -> Plan:
    """Return the plan of one sequence of the table's calls; ``part`` = it needs no parts of its own."""
    gold, ids = table.gold, [expected.call for expected in word]
    steps = tuple(table.steps[number] for number in ids)
    classes = [table.classes[number] for number in ids]
    spans = steps[:-1] if steps and steps[-1].terminal else steps
    shortest = tuple(expected for expected in word if expected.required)
    min_steps = len(shortest) if gold.min_steps is None else max(0, gold.min_steps)
    ideal = perfect(len(steps), min_steps)
    weights = table.weights
    return Plan(
        table=table,
        gold=gold,
        settings=table.settings,
        word=word,
        alternative=alternative,
        ids=ids,
        steps=steps,
        letters="".join(table.letters[number] for number in ids),
        classes=classes,
        distinct=frozenset(classes) if len(set(classes)) == len(classes) and min(classes, default=0) >= 0 else None,
        reader=table.answering if any(step.terminal for step in steps) else table.silent,
        uniform=all(number >= 0 for number in classes),
        any_must_succeed=any(step.must_succeed for step in steps),
        tools=[step.tool for step in spans],
        wanted=None if gold.effects else _wanted(spans),
        traps=tuple((at, name, boolean) for at, step in enumerate(spans) for name, boolean in step.traps),
        answered=len(spans) < len(steps),
        min_steps=min_steps,
        required=None if part or len(shortest) == len(word) else make_plan(table, shortest, part=True),
        writing=make_plan(table, _writing(table, word), part=True) if gold.effects and not part else None,
        perfect=ideal,
        perfect_composite=None if weights.problem else composite(weights.parts, ideal),
        parts=weights.parts if weights.without_goal is None else (),
        good_path=table.good_path,
    )


def _writing(table: Table, word: Word) -> Word:
    """Return the calls that change something: of tools not known to read only, the final answer left out."""
    steps = ((expected, table.steps[expected.call]) for expected in word)
    effects = table.gold.effects
    return tuple(expected for expected, step in steps if not step.terminal and effects.get(step.tool) != "read")


def _wanted(spans: Sequence[PlanStep]) -> list[dict[str, Any]] | None:
    wanted = [step.plain for step in spans if step.plain is not None and step.uniform]
    return wanted if len(wanted) == len(spans) else None
