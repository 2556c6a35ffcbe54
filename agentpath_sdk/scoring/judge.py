"""Which run step stands for which gold step, in each mode, from the verdicts of pairs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from agentpath_sdk.scoring.alignment import NO_PAIR, SIMILARITY_ONE, Pair, best_pairs, forced_pairs
from agentpath_sdk.scoring.pairs import MISMATCH, Verdict, compare, may_match
from agentpath_sdk.scoring.plan import Plan
from agentpath_sdk.trajectories.model import ToolCall

__all__ = ["Judge", "aligned_pairs", "misplaced", "positional_pairs"]


class Judge:
    """Verdicts of the pairs looked at so far, so that none is compared twice within a run."""

    __slots__ = ("calls", "gold", "places", "plan", "run", "seen")

    def __init__(self, plan: Plan, calls: Sequence[ToolCall], letters: str, places: Sequence[int | None]) -> None:
        self.plan = plan
        self.calls = calls
        self.gold = plan.letters
        """Tools of both sides, a letter each."""
        self.run = letters
        self.places = places
        """Index of each call in the trajectory's steps; None for the final answer."""
        self.seen: dict[Pair, Verdict] = {}

    def verdict(self, gold: int, run: int) -> Verdict:
        """Return the verdict of a pair whose tools are equal."""
        key = (gold, run)
        found = self.seen.get(key)
        if found is None:
            step, call = self.plan.steps[gold], self.calls[run]
            found = self.seen[key] = compare(step, call) if may_match(step, call) else MISMATCH
        return found

    def eligible(self, gold: int, run: int) -> bool:
        """Return whether the run step may stand for the gold step, tools being equal."""
        return may_match(self.plan.steps[gold], self.calls[run])


def positional_pairs(judge: Judge) -> list[Pair]:
    """Return the places at which both sides have the same tool."""
    both = enumerate(zip(judge.gold, judge.run, strict=False))
    return [(at, at) for at, (one, other) in both if one == other and judge.eligible(at, at)]


def aligned_pairs(judge: Judge) -> list[Pair]:
    """Return the optimal alignment's pairs, ascending.

    Equal beginnings are paired at once: replacing whatever an optimal alignment does with two first steps that fully
    agree, by pairing them, loses no tool, no similarity, no edit and no earlier place. At the end that holds only
    for tools that occur once in what is left, since elsewhere an earlier place might be as good.
    """
    gold, run = judge.gold, judge.run
    start, gold_end, run_end = 0, len(gold), len(run)
    shorter = min(gold_end, run_end)
    while start < shorter and gold[start] == run[start] and _agree(judge, start, start):
        start += 1
    while start < gold_end and start < run_end and _ends_agree(judge, start, gold_end, run_end):
        gold_end -= 1
        run_end -= 1
    pairs = [(at, at) for at in range(start)]
    if start < gold_end and start < run_end:
        pairs += _middle(judge, start, gold_end, run_end)
    pairs += [(gold_end + at, run_end + at) for at in range(len(gold) - gold_end)]
    return pairs


def _agree(judge: Judge, gold: int, run: int) -> bool:
    return judge.verdict(gold, run)[1] == 1.0 and judge.eligible(gold, run)


def _ends_agree(judge: Judge, start: int, gold_end: int, run_end: int) -> bool:
    gold, run = judge.gold, judge.run
    letter = gold[gold_end - 1]
    return (
        letter == run[run_end - 1]
        and gold.find(letter, start) == gold_end - 1
        and run.find(letter, start) == run_end - 1
        and _agree(judge, gold_end - 1, run_end - 1)
    )


def _middle(judge: Judge, start: int, gold_end: int, run_end: int) -> list[Pair]:
    gold, run = judge.gold[start:gold_end], judge.run[start:run_end]
    forced = forced_pairs(gold, run)
    if forced is not None:
        found = [(start + row, start + column) for row, column in forced]
        return [pair for pair in found if judge.eligible(*pair)] if judge.plan.any_must_succeed else found
    weights = [
        [
            _weight(judge, start + row, start + column) if letter == other else NO_PAIR
            for column, other in enumerate(run)
        ]
        for row, letter in enumerate(gold)
    ]
    return [(start + row, start + column) for row, column in best_pairs(weights)]


def _weight(judge: Judge, gold: int, run: int) -> int:
    if not judge.eligible(gold, run):
        return NO_PAIR
    return int(judge.verdict(gold, run)[1] * SIMILARITY_ONE + 0.5)


def misplaced(judge: Judge, pairs: Sequence[Pair]) -> int:
    """Return how many right tools were executed at a wrong place: gold and run steps left over, paired by tool."""
    golds = {gold for gold, _ in pairs}
    runs = {run for _, run in pairs}
    left = Counter(letter for at, letter in enumerate(judge.gold) if at not in golds)
    there = Counter(letter for at, letter in enumerate(judge.run) if at not in runs)
    if not judge.plan.any_must_succeed:
        return (left & there).total()
    return sum(_misplaced_of(judge, letter, golds, runs) for letter in left & there)


def _misplaced_of(judge: Judge, letter: str, golds: set[int], runs: set[int]) -> int:
    """Return the same for one tool, where steps that must succeed take no failed call and the others take any."""
    steps = [judge.plan.steps[at] for at, x in enumerate(judge.gold) if x == letter and at not in golds]
    calls = [judge.calls[at] for at, x in enumerate(judge.run) if x == letter and at not in runs]
    strict = sum(step.must_succeed for step in steps)
    sound = sum(may_match(step, call) for call in calls for step in steps if step.must_succeed) // max(1, strict)
    met = min(strict, sound)
    return met + min(len(steps) - strict, len(calls) - met)
