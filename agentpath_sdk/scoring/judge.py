"""Which run step stands for which gold step, in each mode."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Final

from rapidfuzz.distance import LCSseq

from agentpath_sdk.scoring.alignment import NO_PAIR, SIMILARITY_ONE, Pair, best_chain, best_pairs, longest
from agentpath_sdk.scoring.executed import Run
from agentpath_sdk.scoring.pairs import FULL, may_match
from agentpath_sdk.scoring.score import Mode
from agentpath_sdk.scoring.table import NO_CLASS

__all__ = ["PAIRS_OF", "misplaced"]


def _positional_pairs(run: Run) -> list[Pair]:
    """Return the places at which both sides have the same tool."""
    both = enumerate(zip(run.plan.letters, run.letters, strict=False))
    return [(at, at) for at, (one, other) in both if one == other and run.eligible(at, at)]


def _aligned_pairs(run: Run) -> list[Pair]:
    """Return the optimal alignment's pairs.

    Equal sequences of tools can be paired in one way only. Equal beginnings are paired at once: whatever an optimal
    alignment does with two first steps that fully agree, pairing them instead loses no tool, no similarity, no edit
    and no earlier place. At the end that holds only where neither step has another partner as good, since an
    earlier place would be preferred.
    """
    plan, classes = run.plan, run.classes
    if plan.letters == run.letters and not plan.any_must_succeed:
        return [(at, at) for at in range(len(classes))]
    gold = plan.classes
    if plan.distinct is not None and plan.distinct.issubset(classes):
        places = [classes.index(number) for number in gold]
        if places == sorted(places) and len(gold) + classes.count(NO_CLASS) == len(classes):
            # Each gold step has been met once, in order: nothing can be better, and nothing else is as good.
            return list(enumerate(places))
    start, gold_end, run_end = 0, len(gold), len(classes)
    shorter = min(gold_end, run_end)
    while start < shorter and (gold[start] == classes[start] or _full_by_matcher(run, start)):
        start += 1
    while (
        gold_end > start < run_end
        and (number := gold[gold_end - 1]) == classes[run_end - 1]
        and classes.index(number, start) == run_end - 1
        and gold.index(number, start) == gold_end - 1
    ):
        gold_end -= 1
        run_end -= 1
    pairs = [(at, at) for at in range(start)]
    if start < gold_end and start < run_end:
        pairs += _middle(run, start, gold_end, run_end)
    if gold_end < len(gold):
        shift = run_end - gold_end
        pairs += [(at, at + shift) for at in range(gold_end, len(gold))]
    return pairs


def _full_by_matcher(run: Run, at: int) -> bool:
    plan = run.plan
    return plan.classes[at] < NO_CLASS and plan.letters[at] == run.letters[at] and run.verdict(at, at) == FULL


def _middle(run: Run, start: int, gold_end: int, run_end: int) -> list[Pair]:
    """Return the optimal pairs between two places."""
    full = _full_points(run, start, gold_end, run_end) if run.plan.uniform else None
    levels = longest(_points(run, start, gold_end, run_end) if full is None else full)
    if sum([len(one) for one in levels]) == len(levels):
        # One point each: there is nothing to choose.
        pairs = [one[0] for one in reversed(levels)]
    elif full is not None:
        pairs = best_chain(levels, {}, gold_end - start, run_end - start)
    else:
        pairs = _weighed(run, levels, start, gold_end - start, run_end - start)
    return [(start + row, start + column) for row, column in pairs]


def _full_points(run: Run, start: int, gold_end: int, run_end: int) -> list[Pair] | None:
    """Return the pairs met in full, counted from ``start``, if there are no alignments of more pairs than theirs.

    Then nothing is as near, and nothing has to be weighed.
    """
    classes, others = run.plan.classes[start:gold_end], run.classes[start:run_end]
    most = LCSseq.similarity(run.plan.letters[start:gold_end], run.letters[start:run_end])
    if LCSseq.similarity(classes, others) < most:
        return None
    if run.plan.distinct is not None and len(set(others)) == len(others):
        return [(row, others.index(number)) for row, number in enumerate(classes) if number in others]
    columns = range(len(others) - 1, -1, -1)
    return [(row, column) for row, number in enumerate(classes) for column in columns if others[column] == number]


def _points(run: Run, start: int, gold_end: int, run_end: int) -> list[Pair]:
    """Return the pairs of equal tools, counted from ``start``, as ``longest`` wants them."""
    letters = run.letters[start:run_end]
    points: list[Pair] = []
    for row, letter in enumerate(run.plan.letters[start:gold_end]):
        column = letters.rfind(letter)
        while column >= 0:
            points.append((row, column))
            column = letters.rfind(letter, 0, column)
    if run.plan.any_must_succeed:
        return [(row, column) for row, column in points if run.eligible(start + row, start + column)]
    return points


def _weighed(run: Run, levels: Sequence[Sequence[Pair]], start: int, gold: int, calls: int) -> list[Pair]:
    weights = {(row, column): _weight(run, start + row, start + column) for one in levels for row, column in one}
    if sum([len(one) * len(other) for one, other in pairwise(levels)]) <= 2 * gold * calls:
        return best_chain(levels, weights, gold, calls)
    return best_pairs([[weights.get((row, column), NO_PAIR) for column in range(calls)] for row in range(gold)])


def _weight(run: Run, gold: int, at: int) -> int:
    same = run.classes[at]
    if same >= 0:
        return run.plan.table.weight_between(run.plan.ids[gold], same)
    return int(run.verdict(gold, at)[1] * SIMILARITY_ONE + 0.5)


PAIRS_OF: Final[Mapping[Mode, Callable[[Run], list[Pair]]]] = {
    "aligned": _aligned_pairs,
    "aligned_soft": _aligned_pairs,
    "positional": _positional_pairs,
    "soft": _positional_pairs,
}


def misplaced(run: Run, pairs: Sequence[Pair]) -> int:
    """Return how many right tools were executed at a wrong place: gold and run steps left over, paired by tool."""
    golds = {gold for gold, _ in pairs}
    runs = {at for _, at in pairs}
    left = Counter(letter for at, letter in enumerate(run.plan.letters) if at not in golds)
    there = Counter(letter for at, letter in enumerate(run.letters) if at not in runs)
    if not run.plan.any_must_succeed:
        return (left & there).total()
    return sum(_misplaced_of(run, letter, golds, runs) for letter in left & there)


def _misplaced_of(run: Run, letter: str, golds: set[int], runs: set[int]) -> int:
    """Return the same for one tool, where steps that must succeed take no failed call and the others take any."""
    steps = [run.plan.steps[at] for at, x in enumerate(run.plan.letters) if x == letter and at not in golds]
    calls = [run.calls[at] for at, x in enumerate(run.letters) if x == letter and at not in runs]
    strict = [step for step in steps if step.must_succeed]
    met = min(len(strict), sum(may_match(strict[0], call) for call in calls) if strict else 0)
    return met + min(len(steps) - len(strict), len(calls) - met)
