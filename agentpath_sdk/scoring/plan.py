"""A gold path made ready for scoring: compiled once per gold path and settings, used for every run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from agentpath_sdk.gold.equality import values_equal
from agentpath_sdk.gold.model import GoldPath
from agentpath_sdk.scoring.alignment import SIMILARITY_ONE
from agentpath_sdk.scoring.formulas import composite, perfect
from agentpath_sdk.scoring.pairs import Verdict, compare
from agentpath_sdk.scoring.plan_steps import PlanStep, Traps, compile_step
from agentpath_sdk.scoring.ways import plain_calls
from agentpath_sdk.scoring.weights import Part, Weights, weights_for
from agentpath_sdk.settings import ScoringSettings
from agentpath_sdk.trajectories.model import ToolCall

__all__ = ["NO_CLASS", "UNKNOWN_TOOL", "Entry", "Known", "Plan", "plan_for"]

UNKNOWN_TOOL: Final = "\0"
"""Letter of every tool the gold path does not name."""
NO_CLASS: Final = -1
"""Class of a call whose arguments equal those of no gold step."""

_FIRST_LETTER: Final = 1
_FIRST_SURROGATE: Final = 0xD800

Known: TypeAlias = tuple[tuple[int, dict[str, Any] | None, Traps], ...]
"""The classes of a tool's calls: class, arguments (None = any), traps."""
Entry: TypeAlias = tuple[str, Known]
"""A tool's letter and classes."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """A compiled linear gold path.

    Each tool is a letter, so that sequences of tools are strings. Steps of one tool with equal arguments are one
    class (the first such step's index), so that a call is compared with the gold path once and then is a number.
    A tool's steps have classes only if classes tell all: a step with matchers, say, has a class of its own below
    ``NO_CLASS`` that no call gets.
    """

    gold: GoldPath
    settings: ScoringSettings
    steps: tuple[PlanStep, ...]
    letters: str
    classes: list[int]
    distinct: frozenset[int] | None
    """The classes, where every step has one of its own."""
    entries: Mapping[str, Entry]
    """By tool. A terminal tool has the one terminal letter, or an empty one where the gold has no terminal step."""
    terminal: Entry | None
    groups: tuple[tuple[str, tuple[int, ...]], ...]
    """Letter and the gold steps that have it."""
    uniform: bool
    """Whether every step has a class."""
    any_must_succeed: bool
    tools: list[str]
    """Tools of a run that follows the gold path, without a terminal step at its end."""
    wanted: list[dict[str, Any]] | None
    """Their arguments; None where it takes a closer look to tell that they are right."""
    traps: tuple[tuple[int, str, bool], ...]
    """The traps of those steps, with the step's index."""
    answered: bool
    """Whether such a run has to give an answer."""
    min_steps: int
    perfect: dict[str, float]
    """Metrics of a run that follows the gold path exactly."""
    perfect_composite: float | None
    """Its composite; None where that depends on more than the path."""
    weights: Weights
    parts: tuple[Part, ...]
    """The weights' parts where they are all there is to the composite, else empty."""
    good_path: float
    between: dict[tuple[int, int], Verdict] = field(default_factory=dict[tuple[int, int], Verdict])
    """Verdict of a gold step on a call of another step's class; filled when first asked for."""
    weights_between: dict[tuple[int, int], int] = field(default_factory=dict[tuple[int, int], int])

    def verdict_between(self, gold: int, other: int) -> Verdict:
        """Return the verdict of gold step ``gold`` on a call that has the arguments of gold step ``other``."""
        found = self.between.get((gold, other))
        if found is None:
            call = ToolCall(tool=self.steps[other].tool, arguments=self.steps[other].plain)
            found = self.between[gold, other] = compare(self.steps[gold], call)
        return found

    def weight_between(self, gold: int, other: int) -> int:
        """Return the similarity of the same as a weight for the alignment."""
        found = self.weights_between.get((gold, other))
        if found is None:
            near = 1.0 if self.classes[gold] == other else self.verdict_between(gold, other)[1]
            found = self.weights_between[gold, other] = int(near * SIMILARITY_ONE + 0.5)
        return found


# Keyed by identity: gold paths hold mappings, so they have no hash. Each entry holds its gold path, so that the id
# stays its own, and there are at most this many.
_MOST_PLANS: Final = 4_096
_plans: dict[tuple[int, int], Plan] = {}


def plan_for(gold: GoldPath, settings: ScoringSettings) -> Plan:
    """Return the compiled gold path, from the cache where it was compiled before."""
    plan = _plans.get((id(gold), id(settings)))
    if plan is None:
        plan = _compile(gold, settings)
        if len(_plans) >= _MOST_PLANS:
            # All at once, since picking the oldest would need a lock, which a fork could leave locked.
            _plans.clear()
        _plans[id(gold), id(settings)] = plan
    return plan


def _compile(gold: GoldPath, settings: ScoringSettings) -> Plan:
    letter_of = _letters(gold, settings)
    steps = tuple(compile_step(step, settings) for step in plain_calls(gold))
    letters = "".join(letter_of[step.tool] for step in steps)
    groups = {one: tuple(i for i, x in enumerate(letters) if x == one) for one in dict.fromkeys(letters)}
    classes = [NO_CLASS - 1 - at for at in range(len(steps))]
    for golds in groups.values():
        _classify(steps, golds, classes)
    entries = {tool: _entry(letter, groups.get(letter, ()), steps, classes) for tool, letter in letter_of.items()}
    spans = steps[:-1] if steps and steps[-1].terminal else steps
    min_steps = len(steps) if gold.min_steps is None else max(0, gold.min_steps)
    ideal = perfect(len(steps), min_steps)
    weights = weights_for(gold, settings)
    return Plan(
        gold=gold,
        settings=settings,
        steps=steps,
        letters=letters,
        classes=classes,
        distinct=frozenset(classes) if classes == list(range(len(classes))) else None,
        entries=entries,
        terminal=next((entries[step.tool] for step in steps if step.terminal), None),
        groups=tuple(groups.items()),
        uniform=all(number >= 0 for number in classes),
        any_must_succeed=any(step.must_succeed for step in steps),
        tools=[step.tool for step in spans],
        wanted=_wanted(spans),
        traps=tuple((at, name, boolean) for at, step in enumerate(spans) for name, boolean in step.traps),
        answered=len(spans) < len(steps),
        min_steps=min_steps,
        perfect=ideal,
        perfect_composite=None if weights.problem else composite(weights.parts, ideal),
        weights=weights,
        parts=weights.parts if weights.without_goal is None else (),
        good_path=settings.good_path if gold.good_path is None else gold.good_path,
    )


def _letters(gold: GoldPath, settings: ScoringSettings) -> dict[str, str]:
    terminal = any(step.tool in settings.terminal_tools for step in plain_calls(gold))
    letter_of = dict.fromkeys(settings.terminal_tools, chr(_FIRST_LETTER) if terminal else "")
    free = iter(range(_FIRST_LETTER + 1, _FIRST_SURROGATE))
    for step in plain_calls(gold):
        if step.tool not in letter_of:
            letter_of[step.tool] = chr(next(free))
    return letter_of


def _classify(steps: tuple[PlanStep, ...], golds: tuple[int, ...], classes: list[int]) -> None:
    """Give a tool's steps their classes where classes tell all: all of them plain, or none of them checked."""
    if not all(steps[at].uniform for at in golds) or len({steps[at].checked for at in golds}) > 1:
        return
    for at in golds:
        same = (other for other in golds if other < at and values_equal(steps[other].plain, steps[at].plain))
        classes[at] = next(same, at)


def _entry(letter: str, golds: tuple[int, ...], steps: tuple[PlanStep, ...], classes: list[int]) -> Entry:
    return letter, tuple((at, steps[at].plain, steps[at].traps) for at in golds if classes[at] == at)


def _wanted(steps: tuple[PlanStep, ...]) -> list[dict[str, Any]] | None:
    wanted = [step.plain for step in steps if step.plain is not None and step.uniform]
    return wanted if len(wanted) == len(steps) else None
