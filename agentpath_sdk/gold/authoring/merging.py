"""Several good runs of one task become one gold expression, with what was seen how often.

Steps that all runs share are required, the others optional; where runs that lack one step all have another in its
place, it is one of them; steps that came in different orders, or were asked for together, are in any order. Every run
that was merged is accepted (groups of more members than the language allows aside).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

from agentpath_sdk.gold.authoring.cleaning import CleanRun, clean_runs
from agentpath_sdk.gold.authoring.columns import Column, columns_of
from agentpath_sdk.gold.authoring.generalising import Generalised, How, distinct, generalise
from agentpath_sdk.gold.authoring.grouping import any_order_groups
from agentpath_sdk.gold.expression import MAX_ANY_ORDER
from agentpath_sdk.gold.matchers import Exact
from agentpath_sdk.gold.model import ArgumentMatcher, CallStep, Effect, OneOf, OptionalStep, Repeat, Step
from agentpath_sdk.gold.model import Sequence as InSequence
from agentpath_sdk.gold.wording import json_text
from agentpath_sdk.settings import ScoringSettings
from agentpath_sdk.trajectories.model import Trajectory

__all__ = ["ArgumentEvidence", "Merged", "Role", "StepEvidence", "merge"]

Role: TypeAlias = Literal["required", "optional", "one_of", "answer"]

MAX_TOGETHER: Final = 4
"""Combinations of values that are kept together as branches."""

# Groups inside groups; deeper ones would help nobody who reads the file.
_MAX_GROUPS: Final = 3
_TERMINAL: Final = ScoringSettings().terminal_tools


@dataclass(frozen=True, kw_only=True, slots=True)
class ArgumentEvidence:
    """The values one argument had."""

    name: str
    how: How
    given: int
    """Runs that gave it."""
    values: tuple[tuple[Any, int], ...]
    """Each different value and how often it was seen, the most frequent first."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StepEvidence:
    """How often a step was seen, and with which arguments."""

    tool: str
    role: Role
    seen: int
    """Runs that have the step."""
    of: int
    arguments: tuple[ArgumentEvidence, ...] = ()
    arguments_unknown: bool = False
    """True where the arguments of some call were not recorded whole, so that none are compared."""
    times: tuple[int, int] = (1, 1)
    """Fewest and most calls in a row in one run."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Merged:
    """The expression and the evidence for it."""

    steps: tuple[Step, ...]
    evidence: tuple[StepEvidence, ...]
    runs: int
    lengths: tuple[int, int]
    """Calls of the shortest and of the longest run, after cleaning."""
    any_order: tuple[tuple[str, ...], ...] = ()
    """Tools of each group whose order is free."""
    failed: Mapping[str, int] = field(default_factory=dict[str, int])
    """Tool -> failed calls that were left out."""
    repeated: Mapping[str, int] = field(default_factory=dict[str, int])
    """Tool -> repeated calls that were left out."""
    split: bool = False
    """True where a group was too large and had to be split, so that some orders that were seen are not accepted."""


def merge(
    runs: Sequence[Trajectory],
    *,
    effects: Mapping[str, Effect] | None = None,
    terminal: Collection[str] = _TERMINAL,
) -> Merged:
    """Return one expression for the good runs of one task.

    Failed calls and repetitions that brought nothing new are left out, the answer is a last step whose arguments are
    not checked. ``effects``: steps that write must succeed.
    """
    cleaned = clean_runs(runs, terminal)
    merging = _Merging(cleaned, columns_of(cleaned), effects or {})
    steps = [*merging.built(), *_answer_step(cleaned)]
    lengths = [sum(one.times for one in run.calls) for run in cleaned]
    return Merged(
        steps=tuple(steps),
        evidence=tuple(merging.all_evidence()),
        runs=len(cleaned),
        lengths=(min(lengths, default=0), max(lengths, default=0)),
        any_order=tuple(merging.groups),
        failed=_total(run.failed for run in cleaned),
        repeated=_total(run.repeated for run in cleaned),
        split=any(len(group) > MAX_ANY_ORDER for group in merging.groups),
    )


def _total(counts: Iterable[Counter[str]]) -> dict[str, int]:
    return dict(sum(counts, Counter[str]()))


def _answer_step(runs: Sequence[CleanRun]) -> Iterator[CallStep]:
    """Yield the answer as last step where some run has a tool for it and all have answered."""
    names = Counter(run.terminal for run in runs if run.terminal is not None)
    if names and all(run.answered for run in runs):
        yield CallStep(tool=names.most_common(1)[0][0])


class _Merging:
    """The table of one merge; its columns are in the order of the typical run."""

    def __init__(self, runs: Sequence[CleanRun], columns: list[Column], effects: Mapping[str, Effect]) -> None:
        self.runs = runs
        self.columns = columns
        self.effects = effects
        self.groups: list[tuple[str, ...]] = []
        self._exclusive: set[int] = set()
        self._arguments = [_arguments(column) for column in columns]
        self._free = {
            (one, other)
            for other in range(len(columns))
            for one in range(other)
            if _order_is_free(runs, columns[one], columns[other])
        }

    def built(self) -> tuple[Step, ...]:
        return self._series(range(len(self.columns)), 0)

    def all_evidence(self) -> Iterator[StepEvidence]:
        for at, column in enumerate(self.columns):
            yield _evidence(column, self._role(at), len(self.runs), self._arguments[at])
        yield from (
            StepEvidence(tool=step.tool, role="answer", seen=_with_answer_tool(self.runs), of=len(self.runs))
            for step in _answer_step(self.runs)
        )

    def _role(self, at: int) -> Role:
        if at in self._exclusive:
            return "one_of"
        return "required" if len(self.columns[at].cells) == len(self.runs) else "optional"

    # --- order ---------------------------------------------------------------------------------------------------

    def _series(self, columns: Sequence[int], depth: int) -> tuple[Step, ...]:
        """Return steps in a row: cut wherever no pair of columns across the cut has a free order."""
        parts = self._cut(columns)
        steps: list[Step] = []
        at = 0
        while at < len(parts):
            branches = self._exclusive_from(parts[at:])
            if branches is not None:
                steps.append(self._one_of(branches))
                at += sum(map(len, branches))
            else:
                steps.extend(self._part(parts[at], depth))
                at += 1
        return tuple(steps)

    def _cut(self, columns: Sequence[int]) -> list[list[int]]:
        """Return the columns, in their order, in the smallest parts that no pair of free order reaches across."""
        if len(columns) == 1:
            return [list(columns)]
        furthest = {one: max(others) for one, others in self._partners(columns).items()}
        parts: list[list[int]] = []
        reach = -1
        for column in columns:
            if parts and reach >= column:
                parts[-1].append(column)
            else:
                parts.append([column])
            reach = max(reach, furthest.get(column, -1))
        return parts

    def _partners(self, columns: Sequence[int]) -> dict[int, list[int]]:
        """Return the later columns whose order with a column is free."""
        inside = set(columns)
        partners: dict[int, list[int]] = {}
        for one, other in self._free:
            if one in inside and other in inside:
                partners.setdefault(one, []).append(other)
        return partners

    def _part(self, part: Sequence[int], depth: int) -> tuple[Step, ...]:
        if len(part) == 1:
            step = self._step(part[0])
            return (step,) if self._role(part[0]) == "required" else (OptionalStep(step=step),)
        members = self._members(part) if depth < _MAX_GROUPS else [[at] for at in part]
        self.groups.append(tuple(self.columns[at].tool for at in part))
        return any_order_groups([_one(self._series(member, depth + 1)) for member in members])

    def _members(self, part: Sequence[int]) -> list[list[int]]:
        """Return the members of a group: what stays in order and in one piece, else every column by itself."""
        members = self._chained(part)
        in_one_piece = all(_in_one_piece(run, part, members, self.columns) for run in range(len(self.runs)))
        return members if len(members) > 1 and in_one_piece else [[at] for at in part]

    def _chained(self, part: Sequence[int]) -> list[list[int]]:
        """Return the parts whose columns are linked by a fixed order."""
        members: list[list[int]] = []
        for at in part:
            linked = [member for member in members if any((one, at) not in self._free for one in member)]
            rest = [member for member in members if member not in linked]
            members = [*rest, sorted([*(one for member in linked for one in member), at])]
        return sorted(members)

    # --- one of --------------------------------------------------------------------------------------------------

    def _exclusive_from(self, parts: Sequence[Sequence[int]]) -> list[list[int]] | None:
        """Return branches that begin here: neighbouring optional columns of which each run has those of one branch."""
        branches: dict[frozenset[int], list[int]] = {}
        for part in parts:
            runs = self.columns[part[0]].runs
            if len(part) > 1 or len(runs) == len(self.runs):
                return None
            if any(runs & other for other in branches if other != runs):
                return None
            branches.setdefault(runs, []).append(part[0])
            if sum(map(len, branches)) == len(self.runs):
                return self._with_the_rest(branches, parts)
        return None

    def _with_the_rest(
        self, branches: dict[frozenset[int], list[int]], parts: Sequence[Sequence[int]]
    ) -> list[list[int]] | None:
        """Return the branches with the columns that follow and belong to one of them too."""
        for part in parts[sum(map(len, branches.values())) :]:
            own = branches.get(self.columns[part[0]].runs)
            if len(part) > 1 or own is None:
                break
            own.append(part[0])
        return list(branches.values())

    def _one_of(self, branches: Sequence[Sequence[int]]) -> Step:
        self._exclusive.update(at for branch in branches for at in branch)
        return OneOf(branches=tuple(_one(tuple(self._step(at) for at in branch)) for branch in branches))

    # --- one step ------------------------------------------------------------------------------------------------

    def _step(self, at: int) -> Step:
        column = self.columns[at]
        call = self._call(column, self._arguments[at])
        least, most = _times(column)
        return call if most == 1 else Repeat(step=call, least=least, most=most)

    def _call(self, column: Column, arguments: Mapping[str, Generalised] | None) -> Step:
        must = self.effects.get(column.tool) == "write"
        if arguments is None:
            return CallStep(tool=column.tool, must_succeed=must)
        matchers = {name: found.matcher for name, found in arguments.items()}
        step = CallStep(tool=column.tool, arguments=matchers, must_succeed=must)
        together = _together(column, arguments)
        if not together:
            return step
        return OneOf(
            branches=tuple(
                CallStep(tool=column.tool, arguments=matchers | values, must_succeed=must) for values in together
            )
        )


def _one(steps: tuple[Step, ...]) -> Step:
    return steps[0] if len(steps) == 1 else InSequence(steps=steps)


def _order_is_free(runs: Sequence[CleanRun], one: Column, other: Column) -> bool:
    """Return whether the runs that have both made them in both orders, or always asked for both at once."""
    both = one.runs & other.runs
    if any(one.cells[run].place > other.cells[run].place for run in both):
        return True
    return bool(both) and all(_asked_together(one, other, run) for run in both)


def _asked_together(one: Column, other: Column, run: int) -> bool:
    group = one.cells[run].made.call.parallel_group
    return group is not None and group == other.cells[run].made.call.parallel_group


def _in_one_piece(run: int, part: Sequence[int], members: Sequence[Sequence[int]], columns: Sequence[Column]) -> bool:
    """Return whether the run made the calls of each member without one of another member in between."""
    of = {at: number for number, member in enumerate(members) for at in member}
    made = sorted((at for at in part if run in columns[at].cells), key=lambda at: columns[at].cells[run].place)
    turns = [of[at] for number, at in enumerate(made) if number == 0 or of[made[number - 1]] != of[at]]
    return len(turns) == len(set(turns))


def _arguments(column: Column) -> dict[str, Generalised] | None:
    """Return what the arguments of a step have in common; None where those of some call are not known."""
    calls = [cell.made.call for cell in column.cells.values()]
    if any(call.arguments_state != "known" for call in calls):
        return None
    names = dict.fromkeys(name for call in calls for name in call.arguments or {})
    given = {name: [(call.arguments or {})[name] for call in calls if name in (call.arguments or {})] for name in names}
    return {name: generalise(values, missing=len(calls) - len(values)) for name, values in given.items()}


def _together(column: Column, arguments: Mapping[str, Generalised]) -> list[dict[str, ArgumentMatcher]]:
    """Return the combinations of values seen, where several arguments vary and each mix of them would be accepted."""
    varying = [name for name, found in arguments.items() if found.how == "one_of"]
    if len(varying) < 2:
        return []
    calls = [cell.made.call for cell in column.cells.values()]
    seen = distinct({name: (call.arguments or {})[name] for name in varying} for call in calls)
    if len(seen) > MAX_TOGETHER:
        return []
    return [{name: Exact(expected=value) for name, value in values.items()} for values in seen]


def _times(column: Column) -> tuple[int, int]:
    times = [cell.made.times for cell in column.cells.values()]
    return min(times), max(times)


def _with_answer_tool(runs: Iterable[CleanRun]) -> int:
    return sum(run.terminal is not None for run in runs)


def _evidence(column: Column, role: Role, runs: int, arguments: Mapping[str, Generalised] | None) -> StepEvidence:
    calls = [cell.made.call for cell in column.cells.values()]
    return StepEvidence(
        tool=column.tool,
        role=role,
        seen=len(calls),
        of=runs,
        arguments=tuple(
            _seen(name, found.how, [(call.arguments or {})[name] for call in calls if name in (call.arguments or {})])
            for name, found in (arguments or {}).items()
        ),
        arguments_unknown=arguments is None,
        times=_times(column),
    )


def _seen(name: str, how: How, values: Sequence[Any]) -> ArgumentEvidence:
    counts = Counter(map(json_text, values))
    by_text = {json_text(value): value for value in values}
    return ArgumentEvidence(
        name=name,
        how=how,
        given=len(values),
        values=tuple((by_text[text], count) for text, count in counts.most_common()),
    )
