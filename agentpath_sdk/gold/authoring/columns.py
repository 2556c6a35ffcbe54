"""Which calls of several runs are one step: a table of one row a run and one column a step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from rapidfuzz.distance import LCSseq

from agentpath_sdk.gold.authoring.cleaning import CleanCall, CleanRun
from agentpath_sdk.gold.equality import similarity
from agentpath_sdk.trajectories.model import ToolCall

__all__ = ["Column", "columns_of"]

_NEAR: Final = 0.6
"""Least similarity of the arguments of two calls that are one step wherever they stand."""
_UNKNOWN: Final = 0.6
"""Similarity of calls whose arguments are not known."""
_MAX_EXAMPLES: Final = 5
_MAX_MEDOID: Final = 30


class Cell(NamedTuple):
    """One call in the table: its run, its place in the run, the call."""

    run: int
    place: int
    made: CleanCall


@dataclass(slots=True)
class Column:
    """One step, as the runs made it: at most one call of each run."""

    tool: str
    cells: dict[int, Cell] = field(default_factory=dict[int, Cell])
    """Run -> its call."""

    @property
    def runs(self) -> frozenset[int]:
        """The runs that have the step."""
        return frozenset(self.cells)

    def nearness(self, call: ToolCall) -> float:
        """Return the similarity of a call and the most similar one here."""
        examples = list(self.cells.values())[:_MAX_EXAMPLES]
        return max(_nearness(cell.made.call, call) for cell in examples)


def columns_of(runs: Sequence[CleanRun]) -> list[Column]:
    """Return the steps of all runs, in the order of the most typical run, others' steps put where they made them."""
    if not runs:
        return []
    first, *others = _from_typical(runs)
    columns = [Column(one.call.tool, {first: Cell(first, at, one)}) for at, one in enumerate(runs[first].calls)]
    for run in others:
        _add(columns, run, runs[run].calls)
    return columns


def _from_typical(runs: Sequence[CleanRun]) -> list[int]:
    """Return the numbers of the runs, the one most like the others first, then those most like that one."""
    tools = [[one.call.tool for one in run.calls] for run in runs]
    sample = tools[:_MAX_MEDOID]

    def likeness(one: list[str], other: list[str]) -> float:
        return float(LCSseq.normalized_similarity(one, other))

    numbers = range(len(runs))
    typical = max(numbers, key=lambda n: (sum(likeness(tools[n], other) for other in sample), -len(tools[n]), -n))
    others = [n for n in numbers if n != typical]
    return [typical, *sorted(others, key=lambda n: (-likeness(tools[typical], tools[n]), len(tools[n]), n))]


def _add(columns: list[Column], run: int, calls: Sequence[CleanCall]) -> None:
    """Put each call of a run into the column of its step, or into a new one behind the call before it."""
    taken = _alike(columns, calls)
    taken |= _in_the_same_place(columns, calls, taken)
    at = -1
    for place, made in enumerate(calls):
        column = taken.get(place)
        if column is None:
            column = Column(made.call.tool)
            columns.insert(at + 1, column)
        column.cells[run] = Cell(run, place, made)
        at = _index(columns, column)


def _alike(columns: Sequence[Column], calls: Sequence[CleanCall]) -> dict[int, Column]:
    """Return place -> column for calls with similar arguments, the most similar first, then the nearest in order."""
    scale = len(columns) / max(len(calls), 1)
    candidates: list[tuple[float, float, int, int]] = []
    for place, made in enumerate(calls):
        for at, column in enumerate(columns):
            if column.tool == made.call.tool and (near := column.nearness(made.call)) >= _NEAR:
                candidates.append((-near, abs(at - place * scale), place, at))
    taken: dict[int, Column] = {}
    used: set[int] = set()
    for _, _, place, at in sorted(candidates):
        if place not in taken and at not in used:
            taken[place] = columns[at]
            used.add(at)
    return taken


def _in_the_same_place(
    columns: Sequence[Column], calls: Sequence[CleanCall], taken: Mapping[int, Column]
) -> dict[int, Column]:
    """Return place -> column for calls that differ in their arguments but stand between the same steps."""
    used = {id(column) for column in taken.values()}
    found: dict[int, Column] = {}
    open_columns = [(_before(columns, at, used), column) for at, column in enumerate(columns) if id(column) not in used]
    for place, made in enumerate(calls):
        if place in taken:
            continue
        before = frozenset(id(column) for other, column in taken.items() if other < place)
        for number, (column_before, column) in enumerate(open_columns):
            if column.tool == made.call.tool and column_before == before:
                found[place] = column
                # Later calls of the run stand behind this one.
                open_columns = open_columns[number + 1 :]
                break
    return found


def _before(columns: Sequence[Column], at: int, used: set[int]) -> frozenset[int]:
    return frozenset(id(column) for column in columns[:at] if id(column) in used)


def _index(columns: Sequence[Column], wanted: Column) -> int:
    return next(at for at, column in enumerate(columns) if column is wanted)


def _nearness(one: ToolCall, other: ToolCall) -> float:
    if one.arguments_state != "known" or other.arguments_state != "known":
        return _UNKNOWN
    mine, theirs = _plain(one), _plain(other)
    keys = mine.keys() | theirs.keys()
    if not keys:
        return 1.0
    return sum(similarity(mine[key], theirs[key]) for key in keys if key in mine and key in theirs) / len(keys)


def _plain(call: ToolCall) -> dict[str, Any]:
    return dict(call.arguments or {})
