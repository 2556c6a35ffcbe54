"""Every call a gold path speaks of, in whatever way it is reached: what a run is read against, once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from agentpath_sdk.gold.equality import values_equal
from agentpath_sdk.gold.model import CallStep, GoldPath
from agentpath_sdk.scoring.alignment import SIMILARITY_ONE
from agentpath_sdk.scoring.pairs import Verdict, compare
from agentpath_sdk.scoring.plan_steps import PlanStep, Traps, compile_step
from agentpath_sdk.scoring.weights import Weights, effect_weights_for, weights_for
from agentpath_sdk.settings import ScoringSettings
from agentpath_sdk.trajectories.model import ToolCall

__all__ = ["NO_CLASS", "UNKNOWN_TOOL", "Entry", "Known", "Reader", "Table", "table_of"]

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
class Reader:
    """How the calls of a run are read, where the gold has a terminal step, or where it has none."""

    entries: Mapping[str, Entry]
    """By tool. A terminal tool has the one terminal letter, or an empty one where the gold has no terminal step."""
    terminal: Entry | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Table:
    """The calls of a gold path, numbered as written.

    Each tool is a letter, so that sequences of tools are strings. Calls of one tool with equal arguments are one
    class (the first such call's number), so that a run's call is compared with the gold path once and then is a
    number. A tool's calls have classes only if classes tell all: else each has a class of its own below ``NO_CLASS``
    that no call of a run gets.
    """

    gold: GoldPath
    settings: ScoringSettings
    steps: tuple[PlanStep, ...]
    letters: tuple[str, ...]
    classes: tuple[int, ...]
    unclassed: frozenset[str]
    """Letters of the tools whose calls have no classes."""
    answering: Reader
    """For ways with a terminal step."""
    silent: Reader
    """For ways without one."""
    free: frozenset[str]
    """Tools whose extra calls cost nothing."""
    weights: Weights
    effect_weights: Weights
    good_path: float
    between: dict[tuple[int, int], Verdict] = field(default_factory=dict[tuple[int, int], Verdict])
    """Verdict of a gold call on a call of another one's class; filled when first asked for."""
    weights_between: dict[tuple[int, int], int] = field(default_factory=dict[tuple[int, int], int])

    def verdict_between(self, gold: int, other: int) -> Verdict:
        """Return the verdict of gold call ``gold`` on a call that has the arguments of gold call ``other``."""
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


def table_of(calls: Sequence[CallStep], gold: GoldPath, settings: ScoringSettings) -> Table:
    """Return the table of the calls, which are those of ``gold``."""
    letter_of = _letters(calls, settings)
    steps = tuple(compile_step(call, settings) for call in calls)
    letters = tuple(letter_of[step.tool] for step in steps)
    groups = {one: [at for at, other in enumerate(letters) if other == one] for one in dict.fromkeys(letters)}
    classes = [NO_CLASS - 1 - at for at in range(len(steps))]
    for members in groups.values():
        _classify(steps, members, classes)
    entries = {tool: _entry(letter, groups.get(letter, ()), steps, classes) for tool, letter in letter_of.items()}
    return Table(
        gold=gold,
        settings=settings,
        steps=steps,
        letters=letters,
        classes=tuple(classes),
        unclassed=frozenset(letter for letter, number in zip(letters, classes, strict=True) if number < 0),
        answering=Reader(
            entries=entries,
            terminal=next((entries[step.tool] for step in steps if step.terminal), None),
        ),
        silent=Reader(entries=entries | dict.fromkeys(settings.terminal_tools, ("", ())), terminal=None),
        free=frozenset(tool for tool, extra in gold.extras.items() if extra == "free"),
        weights=weights_for(gold, settings),
        effect_weights=effect_weights_for(gold, settings),
        good_path=settings.good_path if gold.good_path is None else gold.good_path,
    )


def _letters(calls: Sequence[CallStep], settings: ScoringSettings) -> dict[str, str]:
    terminal = any(call.tool in settings.terminal_tools for call in calls)
    letter_of = dict.fromkeys(settings.terminal_tools, chr(_FIRST_LETTER) if terminal else "")
    free = iter(range(_FIRST_LETTER + 1, _FIRST_SURROGATE))
    for call in calls:
        if call.tool not in letter_of:
            letter_of[call.tool] = chr(next(free))
    return letter_of


def _classify(steps: Sequence[PlanStep], members: Sequence[int], classes: list[int]) -> None:
    """Give a tool's calls their classes where classes tell all: all of them plain, or none of them checked."""
    if not all(steps[at].uniform for at in members) or len({steps[at].checked for at in members}) > 1:
        return
    for at in members:
        same = (other for other in members if other < at and values_equal(steps[other].plain, steps[at].plain))
        classes[at] = next(same, at)


def _entry(letter: str, members: Sequence[int], steps: Sequence[PlanStep], classes: Sequence[int]) -> Entry:
    return letter, tuple((at, steps[at].plain, steps[at].traps) for at in members if classes[at] == at)
