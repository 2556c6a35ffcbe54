"""Order-free matching of whole calls: how many gold calls were made, tool and all arguments, in whatever order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final, TypeAlias

from agentpath_sdk.scoring.alignment import Pair
from agentpath_sdk.scoring.executed import Run
from agentpath_sdk.scoring.matching import maximum_assignment, maximum_matching
from agentpath_sdk.scoring.pairs import FULL, UNKNOWN, Verdict
from agentpath_sdk.scoring.plan import NO_CLASS

__all__ = ["WholeCalls", "match_whole_calls"]

# Work of the assignment within one tool: calls of the smaller side squared, times those of the larger.
_MOST_WORK: Final = 3_000_000

WholeCalls: TypeAlias = tuple[int, float | None, int | None]
"""A maximum one-to-one matching: how many pairs pass; the largest sum of similarities (None where there are too many
calls of one tool); a run step whose unknown arguments leave both undecided, else None."""


def match_whole_calls(run: Run, doubtful: Sequence[Pair]) -> WholeCalls:
    """Return the maximum matching; ``doubtful`` are the alignment's pairs that are not of one class.

    Each tool is solved by itself, as calls of different tools never compete; a tool needs a closer look only if
    calls of it are left over on both sides once equal ones are paired.
    """
    plan = run.plan
    if len(doubtful) == 1 and plan.letters == run.letters and plan.distinct is not None:
        gold, at = doubtful[0]
        near = _last_pair(run, gold, at) if run.classes[at] < 0 else None
        if near is not None:
            return len(plan.letters) - 1, len(plan.letters) - 1 + near, None
    left, left_runs = _left_over(run)
    passed = len(plan.classes) - len(left)
    if not left or not left_runs:
        return passed, float(passed), None
    if len(left) == len(left_runs) == 1 and left[0] >= 0:
        if plan.letters[left[0]] != run.letters[left_runs[0]]:
            return passed, float(passed), None
        near = _last_pair(run, left[0], left_runs[0])
        if near is not None:
            return passed, passed + near, None
    # A step with matchers has a class of its own, from which its place follows.
    left_letters = [plan.letters[number if number >= 0 else NO_CLASS - 1 - number] for number in left]
    left_runs = [at for at in left_runs if run.letters[at] in left_letters]
    if not left_runs:
        return passed, float(passed), None
    graded: float | None = float(passed)
    unknown: int | None = None
    run_letters = [run.letters[at] for at in left_runs]
    for letter in set(run_letters):
        if run_letters.count(letter) == left_letters.count(letter) == 1:
            number, at = left[left_letters.index(letter)], left_runs[run_letters.index(letter)]
            near = _last_pair(run, number, at) if number >= 0 else None
            if near is not None:
                graded = None if graded is None else graded + near
                continue
        equal, (more_passed, more_graded, where) = _solve_tool(run, letter)
        passed += more_passed - equal
        graded = None if graded is None or more_graded is None else graded + more_graded - equal
        unknown = where if where is not None else unknown
    return passed, graded, unknown


def _left_over(run: Run) -> tuple[list[int], list[int]]:
    """Return the classes of gold steps and the places of calls that are left once equal ones are paired."""
    if run.plan.distinct is not None:
        left = run.plan.distinct.difference(run.classes)
        novel = [at for at, number in enumerate(run.classes) if number < 0]
        if len(run.plan.distinct) - len(left) + len(novel) == len(run.classes):
            return list(left), novel
    classes = list(run.plan.classes)
    left_runs: list[int] = []
    for at, number in enumerate(run.classes):
        if number in classes:
            classes.remove(number)
        else:
            left_runs.append(at)
    return classes, left_runs


def _last_pair(run: Run, gold: int, at: int) -> float | None:
    """Return the similarity of the only two calls of a tool left over once equal ones are paired.

    None where pairing them might not be the maximum: an exchange with a pair that is met in full gains only if the
    gold step is nearer to that pair's call than to this one, as nothing is nearer than in full.
    """
    verdict = run.verdict(gold, at)
    near = verdict[1]
    if verdict is UNKNOWN or verdict[0]:
        return None
    letter = run.letters[at]
    if run.letters.count(letter) == 1:
        return near
    for other, number in enumerate(run.classes):
        rival = run.letters[other] == letter and number >= 0 and number != gold and other != at
        if rival and run.plan.verdict_between(gold, number)[1] > near:
            return None
    return near


def _solve_tool(run: Run, letter: str) -> tuple[int, WholeCalls]:
    """Return how many pairs of equal classes the tool has, and its maximum matching."""
    golds = [at for at, other in enumerate(run.plan.letters) if other == letter]
    runs = [at for at, other in enumerate(run.letters) if other == letter]
    equal = _equal(run, golds, runs)
    smaller = min(len(golds), len(runs))
    if _full_pairs(run, golds, runs) == smaller:
        return equal, (smaller, float(smaller), None)
    verdicts = [[run.verdict(gold, at) for at in runs] for gold in golds]
    passed, graded, column = _solve(verdicts)
    return equal, (passed, graded, None if column is None else runs[column])


def _equal(run: Run, golds: Sequence[int], runs: Sequence[int]) -> int:
    left = [run.plan.classes[gold] for gold in golds]
    for at in runs:
        if run.classes[at] in left:
            left.remove(run.classes[at])
    return len(golds) - len(left)


def _full_pairs(run: Run, golds: Sequence[int], runs: Sequence[int]) -> int:
    """Return how many full pairs there are, paired first come, first served: all there can be if as many as the
    smaller side has calls."""
    left = list(runs)
    for gold in golds:
        number = run.plan.classes[gold]
        for at in left:
            if number == run.classes[at] or (number < NO_CLASS and run.verdict(gold, at) == FULL):
                left.remove(at)
                break
    return len(runs) - len(left)


def _solve(verdicts: list[list[Verdict]]) -> WholeCalls:
    unknown = next((column for line in verdicts for column, one in enumerate(line) if one is UNKNOWN), None)
    if len(verdicts) == 1 or len(verdicts[0]) == 1:
        flat = [verdict for line in verdicts for verdict in line]
        return int(any(verdict[0] for verdict in flat)), max(verdict[1] for verdict in flat), unknown
    columns = _useful_columns(verdicts)
    lines = [[line[column] for column in columns] for line in verdicts]
    passed = len(maximum_matching([[at for at, one in enumerate(line) if one[0]] for line in lines], len(columns)))
    small, large = sorted((len(lines), len(columns)))
    if small * small * large > _MOST_WORK:
        return passed, None, unknown
    weights = [[verdict[1] for verdict in line] for line in lines]
    if len(lines) == len(columns) == 2:
        return passed, max(weights[0][0] + weights[1][1], weights[0][1] + weights[1][0]), unknown
    return passed, sum(weights[row][column] for row, column in maximum_assignment(weights)), unknown


def _useful_columns(verdicts: Sequence[Sequence[Verdict]]) -> list[int]:
    """Return the run calls that can matter: of calls that compare alike (a loop's), no more than there are rows."""
    seen: Counter[tuple[Verdict, ...]] = Counter()
    useful: list[int] = []
    for column, verdict in enumerate(zip(*verdicts, strict=True)):
        seen[verdict] += 1
        if seen[verdict] <= len(verdicts):
            useful.append(column)
    return useful
