"""The executed calls that count, seen through a compiled gold path."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, TypeAlias

from agentpath_sdk.scoring.pairs import (
    FULL,
    MISMATCH,
    UNKNOWN_STATES,
    Verdict,
    compare,
    differs,
    may_match,
    traps_agree,
)
from agentpath_sdk.scoring.plan import Plan
from agentpath_sdk.scoring.table import NO_CLASS, UNKNOWN_TOOL, Entry, Known, Reader, Table
from agentpath_sdk.trajectories.model import ToolCall, Trajectory

__all__ = ["Reading", "Run", "read", "read_any_run", "read_run"]

# Stands for the final answer of a run whose terminal step has no span.
_ANSWER: Final = ToolCall(tool="final answer")
_UNKNOWN: Final[Entry] = (UNKNOWN_TOOL, ())

Reading: TypeAlias = "tuple[Sequence[ToolCall], str, list[int], Sequence[int | None]]"
"""Of the calls that count: the calls, a letter, a class and a place each; as in ``Run``."""


class Run:
    """One run against one way through a gold path, and the verdicts of the pairs looked at so far."""

    __slots__ = ("calls", "classes", "letters", "places", "plan", "seen")

    def __init__(
        self,
        plan: Plan,
        calls: Sequence[ToolCall],
        letters: str,
        classes: list[int],
        places: Sequence[int | None],
        seen: dict[tuple[int, int], Verdict] | None = None,
    ) -> None:
        self.plan = plan
        self.calls = calls
        self.letters = letters
        """Tool per call."""
        self.classes = classes
        """Class per call: the gold call whose arguments it has, or ``NO_CLASS``."""
        self.places = places
        """Index of each call in the trajectory's steps; None for the final answer."""
        self.seen: dict[tuple[int, int], Verdict] = {} if seen is None else seen
        """Verdict per number in the table and call, for all ways through the gold path alike."""

    def verdict(self, gold: int, run: int) -> Verdict:
        """Return the verdict of a gold step and a call of its tool."""
        return self.verdict_of(self.plan.ids[gold], run)

    def verdict_of(self, number: int, run: int) -> Verdict:
        """Return the same for a gold call by its number in the table."""
        same = self.classes[run]
        table = self.plan.table
        if same >= 0:
            return FULL if same == table.classes[number] else table.verdict_between(number, same)
        found = self.seen.get((number, run))
        if found is None:
            step, call = table.steps[number], self.calls[run]
            found = self.seen[number, run] = compare(step, call) if may_match(step, call) else MISMATCH
        return found

    def eligible(self, gold: int, run: int) -> bool:
        """Return whether the call may stand for the gold step, tools being equal."""
        return may_match(self.plan.steps[gold], self.calls[run])

    def eligible_for(self, number: int, run: int) -> bool:
        """Return the same for a gold call by its number in the table."""
        return may_match(self.plan.table.steps[number], self.calls[run])

    def only(self, kept: Sequence[int], plan: Plan | None = None) -> Run:
        """Return the run with these calls only, against ``plan`` where it is given."""
        return Run(
            self.plan if plan is None else plan,
            [self.calls[at] for at in kept],
            "".join([self.letters[at] for at in kept]),
            [self.classes[at] for at in kept],
            [self.places[at] for at in kept],
        )

    def unknown_words(self, at: int) -> str:
        """Return why the arguments, or the result, of a call cannot be compared."""
        call = self.calls[at]
        what, state = ("arguments", call.arguments_state)
        if state not in UNKNOWN_STATES:
            what, state = "result", call.result_state
        return f"{what} {state.replace('_', ' ')} (step {(self.places[at] or 0) + 1}, {call.tool})"


def read_run(plan: Plan, trajectory: Trajectory) -> Run | None:
    """Return the calls that count; None where they follow the gold path in every way, as far as can be told at once.

    Where the gold has a terminal step, a step of such a name is the run's final answer, and so is an answer without
    a span. Where it has none, such steps count on neither side.
    """
    steps, wanted = trajectory.steps, plan.wanted
    if (
        wanted is None
        or len(steps) != len(wanted)
        or [step.tool for step in steps] != plan.tools
        or (plan.answered and not _answered(trajectory))
    ):
        return read_any_run(plan, trajectory)
    given: list[Any] = [step.arguments for step in steps]
    try:
        if given == wanted and (not plan.traps or _boolean_where_wanted(plan, given)):
            return None
        wrong = [at for at, arguments in enumerate(given) if arguments != wanted[at]]
    except Exception:
        # Somebody's own value raised when it was compared; the careful comparison comes next.
        return read_any_run(plan, trajectory)
    for at, name, boolean in plan.traps:
        if at not in wrong and (type(given[at][name]) is bool) is not boolean:
            wrong.append(at)
    return _same_tools(plan, steps, wrong)


def _same_tools(plan: Plan, steps: tuple[ToolCall, ...], wrong: Sequence[int]) -> Run:
    """Return the run of a trajectory that differs in arguments only, given where they are not equal."""
    classes = plan.classes.copy()
    for at in wrong:
        classes[at] = _class_of(plan.table, plan.reader.entries[steps[at].tool][1], steps[at])
    if not plan.answered:
        return Run(plan, steps, plan.letters, classes, range(len(steps)))
    return Run(plan, (*steps, _ANSWER), plan.letters, classes, (*range(len(steps)), None))


def _boolean_where_wanted(plan: Plan, given: Sequence[Any]) -> bool:
    return all((type(given[at][name]) is bool) is boolean for at, name, boolean in plan.traps)


def read_any_run(plan: Plan, trajectory: Trajectory) -> Run:
    """Return the calls that count, whatever they are."""
    return Run(plan, *read(plan.table, plan.reader, trajectory))


def read(table: Table, reader: Reader, trajectory: Trajectory) -> Reading:
    """Return the calls that count, with their letters, classes and places."""
    steps = trajectory.steps
    named = reader.entries
    entries = [named.get(step.tool, _UNKNOWN) for step in steps]
    letters = "".join([entry[0] for entry in entries])
    classes = [
        _class_of(table, entry[1], step) if entry[1] else NO_CLASS for entry, step in zip(entries, steps, strict=True)
    ]
    if reader.terminal is None:
        if len(letters) == len(steps):
            return steps, letters, classes, range(len(steps))
        places = [at for at, entry in enumerate(entries) if entry[0]]
        return [steps[at] for at in places], letters, [classes[at] for at in places], places
    letter, known = reader.terminal
    if letter in letters or not _answered(trajectory):
        return steps, letters, classes, range(len(steps))
    answer = known[0][0] if known else NO_CLASS
    return (*steps, _ANSWER), letters + letter, [*classes, answer], (*range(len(steps)), None)


def _class_of(table: Table, known: Known, call: ToolCall) -> int:
    arguments = call.arguments
    try:
        for number, plain, traps in known:
            if plain is None or (arguments == plain and (not traps or traps_agree(traps, arguments or {}))):
                return number
    except Exception:
        # Somebody's own value raised when it was compared; the closer look is prepared for that.
        pass
    return _class_by_closer_look(table, known, call)


def _class_by_closer_look(table: Table, known: Known, call: ToolCall) -> int:
    """Return the class of a call that Python calls unequal to all: text in another form, JSON text, None for {}."""
    for number, _, _ in known:
        step = table.steps[number]
        if not differs(step, call) and compare(step, call) == FULL:
            return number
    return NO_CLASS


def _answered(trajectory: Trajectory) -> bool:
    # With content capture off the answer's text is not known, but that the run finished is.
    return trajectory.final_answer is not None or trajectory.stop_reason == "finished"
