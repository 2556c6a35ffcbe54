"""Which of the sequences a gold path accepts a run is compared with: the one with the highest composite.

Of equal ones that with the fewest edits, then the first in the order of the file. No sequence is compared with the
run unless it could still be the best: what two sequences have in common, whatever the order, bounds how many pairs
there are, and so the composite.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, TypeAlias

from rapidfuzz.distance import LCSseq

from agentpath_sdk.scoring.alignment import Pair, edits
from agentpath_sdk.scoring.bounds import Bounds
from agentpath_sdk.scoring.executed import Reading, Run, read
from agentpath_sdk.scoring.expansions import Bag, Expansion, Expansions, Spelling, passing
from agentpath_sdk.scoring.judge import PAIRS_OF
from agentpath_sdk.scoring.measure import measure, path_parts
from agentpath_sdk.scoring.outlook import Pairings
from agentpath_sdk.scoring.pairs import Verdict
from agentpath_sdk.scoring.plan import Plan, make_plan
from agentpath_sdk.scoring.score import Mode
from agentpath_sdk.scoring.searching import most_promising
from agentpath_sdk.scoring.table import NO_CLASS, Table
from agentpath_sdk.scoring.without_free import without_free_extras
from agentpath_sdk.trajectories.model import Trajectory

__all__ = ["MOST_CELLS", "Chosen", "choose"]

Chosen: TypeAlias = "tuple[Plan, Run | None]"
"""The way, and the run against it; no run where it follows the way in everything."""

# Composites are rounded to twelve digits; what differs by less is the same.
_SLACK: Final = 1e-10
MOST_CELLS: Final = 500_000
"""Cells of the alignment's table; a run of 5,000 steps fits a gold path of 100."""
_MOST_SEARCHED: Final = 5_000


class _Best:
    """The best way so far, and what is needed to tell whether another one is better."""

    __slots__ = ("alternative", "edits", "mode", "order", "run", "value")

    def __init__(self, mode: Mode) -> None:
        self.mode: Mode = mode
        self.run: Run | None = None
        self.value = -1.0
        self.edits = 0
        self.order: tuple[int, ...] = ()

    def out_of_reach(self, bound: float) -> bool:
        """Return whether nothing with this bound can be chosen any more."""
        return bound < self.value - _SLACK

    def offer(self, run: Run, bounds: Bounds, order: tuple[int, ...]) -> None:
        """Keep the run against this way if the way is better."""
        counted, _ = without_free_extras(run) if run.plan.table.free else (run, None)
        pairs = PAIRS_OF[self.mode](counted)
        value = _value(counted, bounds, self.mode, pairs)
        if value < self.value - _SLACK:
            return
        rank = edits(pairs, len(run.plan.letters), len(counted.letters)), order
        if value > self.value + _SLACK or rank < (self.edits, self.order):
            self.run, self.value = run, max(value, self.value)
            self.edits, self.order = rank

    def chosen(self) -> Chosen:
        """Return the way kept, and the run against it."""
        if self.run is None:
            raise AssertionError("a gold path accepts one sequence at least")
        return self.run.plan, self.run


def _value(run: Run, bounds: Bounds, mode: Mode, pairs: list[Pair]) -> float:
    """Return the composite, its parts that tell ways apart; what is not known counts as met."""
    metrics = path_parts(run, mode, pairs) if bounds.of_path_parts_only else measure(run, mode)[1]
    return sum(weight * metrics.get(name, 1.0) for name, weight in bounds.weights.items())


def choose(expansions: Expansions, trajectory: Trajectory, mode: Mode) -> Chosen | None:
    """Return the way through the gold path that counts for this run; None where the run is too long to tell."""
    if expansions.spellings is None:
        return _search(expansions, trajectory, mode)
    table = expansions.table
    spelled: list[tuple[Spelling, Reading, str]] = []
    exact: list[tuple[Expansion, Reading]] = []
    for spelling in expansions.spellings:
        reading = read(table, spelling.reader, trajectory)
        if len(reading[1]) * max(bag.length for bag in spelling.bags) > MOST_CELLS:
            return None
        passes = passing(table, reading[1], reading[2])
        spelled.append((spelling, reading, passes))
        found = spelling.exact.get((reading[1], passes))
        if found is not None:
            exact.append((found, reading))
    if exact:
        first, reading = min(exact, key=lambda one: one[0].order)
        plan = expansions.plan(first.word, first.alternative)
        return plan, Run(plan, *reading) if table.gold.effects else None
    best = _Best(mode)
    for spelling, reading, passes in spelled:
        _look_through(expansions, spelling, reading, passes, best)
    return best.chosen()


def _search(expansions: Expansions, trajectory: Trajectory, mode: Mode) -> Chosen | None:
    """Return the same where the sequences are not written out."""
    table, best = expansions.table, _Best(mode)
    nothing = make_plan(table, ())
    by_calls = mode != "aligned" or bool(table.free)
    for answers in sorted({step.terminal for step in table.steps} | {False}):
        reader = table.answering if answers else table.silent
        reading = read(table, reader, trajectory)
        if len(reading[1]) > _MOST_SEARCHED:
            return None
        run = Run(nothing, *reading)
        bounds = Bounds(table, mode, len(reading[1]), _free_calls(table, reading))
        for _, order, word in most_promising(
            expansions.language,
            Pairings(run, bounds),
            answers=answers,
            min_steps=table.gold.min_steps,
            by_calls=by_calls or not bounds.of_path_parts_only,
            out_of_reach=best.out_of_reach,
        ):
            best.offer(Run(expansions.plan(word, order[0]), *reading, run.seen), bounds, order)
    return best.chosen()


def _free_calls(table: Table, reading: Reading) -> int:
    return sum(call.tool in table.free for call in reading[0]) if table.free else 0


def _look_through(expansions: Expansions, spelling: Spelling, reading: Reading, passes: str, best: _Best) -> None:
    """Offer the sequences that may be the best, the most promising bags first."""
    table = expansions.table
    bounds = Bounds(table, best.mode, len(reading[1]), _free_calls(table, reading))
    letters, signs = "".join(sorted(reading[1])), "".join(sorted(passes))
    seen: dict[tuple[int, int], Verdict] = {}
    ranked: list[tuple[float, int, int]] = []
    for at, bag in enumerate(spelling.bags):
        common = LCSseq.similarity(bag.letters, letters)
        passed = LCSseq.similarity(bag.passes, signs)
        needed = max(bag.length, len(letters)) - common
        bound = bounds.bound(common, common, passed, needed, bag.length, bag.min_steps)
        ranked.append((-bound, at, common))
    ranked.sort()
    for bound, at, common in ranked:
        if best.out_of_reach(-bound):
            return
        for one in _promising(spelling.bags[at], common, (reading[1], passes), bounds, best):
            best.offer(Run(expansions.plan(one.word, one.alternative), *reading, seen), bounds, (one.order,))


def _promising(bag: Bag, common: int, spelled: tuple[str, str], bounds: Bounds, best: _Best) -> Iterator[Expansion]:
    """Yield the sequences of a bag that may be the best, the most promising first."""
    if len(bag.expansions) == 1:
        yield bag.expansions[0]
        return
    letters, passes = spelled
    ranked: list[tuple[float, int]] = []
    for at, one in enumerate(bag.expansions):
        pairs, passed = LCSseq.similarity(one.letters, letters), LCSseq.similarity(one.passes, passes)
        needed = bounds.distance(one.letters, letters)
        ranked.append((-bounds.bound(pairs, common, passed, needed, bag.length, bag.min_steps), at))
    ranked.sort()
    tried: set[tuple[int, ...]] = set()
    for bound, at in ranked:
        if best.out_of_reach(-bound):
            return
        one = bag.expansions[at]
        # Of calls whose tools the run does not have, all orders are alike.
        key = tuple([n if letter in letters else NO_CLASS for letter, n in zip(one.letters, one.classes, strict=True)])
        if key not in tried:
            tried.add(key)
            yield one
