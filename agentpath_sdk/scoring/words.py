"""The sequences of calls that a gold expression accepts, found step by step.

A place in the expression is what is still to come, as a linked list of items. From it follow the calls that may come
next, each with the place after it (the derivative of the expression, Brzozowski 1964). Places are numbers: equal
rests are one place, so that a group of members in any order has a place per set of members done, and none per order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Final, NamedTuple, TypeAlias

from agentpath_sdk.gold.model import AnyOrder, CallStep, OneOf, OptionalStep, Repeat, Step
from agentpath_sdk.gold.model import Sequence as Row

__all__ = ["END", "Arc", "Expected", "Language", "Word"]

END: Final = 0
"""The place at which nothing is to come."""


class Expected(NamedTuple):
    """One call of an accepted sequence."""

    call: int
    """Which of the written calls."""
    required: bool
    """Whether the shortest way through the same branches has it: not in an optional step, nor in a repetition that
    need not be."""
    together: int = -1
    """Number of the group that asks to be one parallel group; -1 = none."""
    opens: bool = False
    """Whether it is the first call of that group."""


Word: TypeAlias = tuple[Expected, ...]
Arc: TypeAlias = tuple[Expected, int]
"""A call that may come next, and the place after it."""


@dataclass(frozen=True, slots=True)
class _Item:
    """A step with how much of it is left."""

    node: int
    required: bool
    left: int = 0
    """A repetition's least number; a bit per member of a group that is not done."""
    most: int | None = None
    began: bool = False


class Language:
    """The calls of some ways to do a task, and what may follow what. Places are found when first asked for."""

    def __init__(self, ways: Sequence[Sequence[Step]]) -> None:
        self.calls: list[CallStep] = []
        """Every call as written, numbered."""
        self._steps: list[Step] = []
        self._inner: list[tuple[int, ...]] = []
        self._call_of: dict[int, int] = {}
        # Threads may share this. What one finds is equal to what another finds, and numbers are given out one by one.
        self._free = count(END + 1)
        self._places: dict[int, tuple[_Item, int] | None] = {END: None}
        self._number: dict[tuple[_Item, int], int] = {}
        self._arcs: dict[int, tuple[Arc, ...]] = {}
        self._ends: dict[int, bool] = {END: True}
        self.starts = [self._row([self._read(step) for step in way], required=True) for way in ways]
        """The place before each way."""

    def arcs(self, place: int) -> tuple[Arc, ...]:
        """Return what may come next: a step left out before one taken, else in the order of the file."""
        if place not in self._arcs:
            self._look(place)
        return self._arcs[place]

    def ends(self, place: int) -> bool:
        """Return whether nothing has to come any more."""
        if place not in self._ends:
            self._look(place)
        return self._ends[place]

    def words(self, start: int, most: int) -> list[Word] | None:
        """Return the accepted sequences in the order of the file, or None where there are more than ``most``."""
        found: dict[Word, None] = {}
        waiting: list[tuple[Word, int]] = [((), start)]
        # Places that lead to no end do not exist, so that this is bounded by the number of words and their length.
        steps, longest = 0, 64 * (most + 1)
        while waiting:
            word, place = waiting.pop()
            if self.ends(place):
                found[word] = None
            waiting.extend(((*word, expected), after) for expected, after in reversed(self.arcs(place)))
            steps += 1
            if len(found) > most or steps > longest:
                return None
        return list(found)

    def _read(self, step: Step) -> int:
        number = len(self._steps)
        self._steps.append(step)
        self._inner.append(())
        match step:
            case CallStep():
                self._call_of[number] = len(self.calls)
                self.calls.append(step)
            case Row() | AnyOrder():
                self._inner[number] = tuple(map(self._read, step.steps))
            case OneOf():
                self._inner[number] = tuple(map(self._read, step.branches))
            case OptionalStep() | Repeat():
                self._inner[number] = (self._read(step.step),)
        return number

    def _row(self, nodes: Sequence[int], rest: int = END, *, required: bool) -> int:
        for node in reversed(nodes):
            rest = self._place(self._item(node, required), rest)
        return rest

    def _item(self, node: int, required: bool) -> _Item:
        step = self._steps[node]
        if isinstance(step, Repeat):
            return _Item(node, required, left=max(0, step.least), most=step.most)
        if isinstance(step, AnyOrder):
            return _Item(node, required, left=(1 << len(step.steps)) - 1)
        return _Item(node, required)

    def _place(self, item: _Item, rest: int) -> int:
        known = self._number.get((item, rest))
        if known is not None:
            return known
        number = next(self._free)
        self._places[number] = item, rest
        return self._number.setdefault((item, rest), number)

    def _after(self, place: int, rest: int) -> int:
        """Return the place with ``rest`` behind it."""
        items: list[_Item] = []
        while (here := self._places[place]) is not None:
            items.append(here[0])
            place = here[1]
        for item in reversed(items):
            rest = self._place(item, rest)
        return rest

    def _look(self, place: int) -> None:
        parts: list[list[Arc]] = []
        at, ends = place, True
        while (here := self._places[at]) is not None:
            item, rest = here
            if isinstance(self._steps[item.node], Row):
                at = self._row(self._inner[item.node], rest, required=item.required)
                continue
            parts.append([(expected, self._after(left, rest)) for expected, left in self._begin(item)])
            if not self._may_be_left_out(item):
                ends = False
                break
            at = rest
        self._arcs[place] = tuple(dict.fromkeys(arc for part in reversed(parts) for arc in part))
        self._ends[place] = ends

    def _begin(self, item: _Item) -> Iterator[Arc]:
        """Yield the calls the item may begin with, each with what is then left of the item alone."""
        step, inner, required = self._steps[item.node], self._inner[item.node], item.required
        match step:
            case CallStep():
                yield Expected(self._call_of[item.node], required), END
            case OneOf():
                for branch in inner:
                    yield from self.arcs(self._row((branch,), required=required))
            case OptionalStep():
                yield from self.arcs(self._row(inner, required=False))
            case Repeat() if item.most is None or item.most > 0:
                most = None if item.most is None else item.most - 1
                left_to_do = _Item(item.node, required, left=max(0, item.left - 1), most=most)
                again = END if most == 0 else self._place(left_to_do, END)
                for expected, left in self.arcs(self._row(inner, required=required and item.left > 0)):
                    yield expected, self._after(left, again)
            case AnyOrder():
                yield from self._begin_group(item, step)
            case _:
                return

    def _begin_group(self, item: _Item, step: AnyOrder) -> Iterator[Arc]:
        for at, member in enumerate(self._inner[item.node]):
            if not item.left >> at & 1:
                continue
            undone = item.left & ~(1 << at)
            others = self._place(_Item(item.node, item.required, left=undone, began=True), END) if undone else END
            for expected, left in self.arcs(self._row((member,), required=item.required)):
                marked = self._marked(expected, item) if step.parallel else expected
                yield marked, self._after(left, others)

    def _marked(self, expected: Expected, item: _Item) -> Expected:
        return expected._replace(together=item.node, opens=not item.began)

    def _may_be_left_out(self, item: _Item) -> bool:
        step, inner = self._steps[item.node], self._inner[item.node]
        match step:
            case CallStep():
                return False
            case OptionalStep():
                return True
            case OneOf():
                return not inner or any(self._skips(branch) for branch in inner)
            case Repeat():
                return item.left == 0 or self._skips(inner[0])
            case Row():
                return all(map(self._skips, inner))
            case AnyOrder():
                return all(self._skips(member) for at, member in enumerate(inner) if item.left >> at & 1)

    def _skips(self, node: int) -> bool:
        return self._may_be_left_out(self._item(node, required=True))
