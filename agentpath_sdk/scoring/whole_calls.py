"""Order-free matching of whole calls: how many gold calls were made, tool and all arguments, in whatever order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final, TypeAlias

from agentpath_sdk.scoring.alignment import Pair
from agentpath_sdk.scoring.executed import Run
from agentpath_sdk.scoring.matching import maximum_assignment, maximum_matching
from agentpath_sdk.scoring.pairs import FULL, UNKNOWN, Verdict
from agentpath_sdk.scoring.table import NO_CLASS

__all__ = ["WholeCalls", "match_whole_calls", "same_place_doubts"]

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
    if plan.letters == run.letters and plan.distinct is not None:
        # Only arguments differ: what is left over once equal calls are paired are the doubtful pairs.
        graded = _last_pairs(run, [(plan.ids[gold], at) for gold, at in doubtful])
        if graded is not None:
            passed = len(plan.letters) - len(doubtful)
            return passed, passed + graded, None
    if plan.distinct is not None and plan.distinct.issubset(run.classes):
        return len(plan.letters), float(len(plan.letters)), None
    left, left_runs = _left_over(run)
    passed = len(plan.classes) - len(left)
    if not left or not left_runs:
        return passed, float(passed), None
    # The class of a call that has one of its own tells its number in the table.
    golds = [number if number >= 0 else NO_CLASS - 1 - number for number in left]
    gold_letters, run_letters = [plan.table.letters[at] for at in golds], [run.letters[at] for at in left_runs]
    shared = [letter for letter in dict.fromkeys(gold_letters) if letter in run_letters]
    if not shared:
        return passed, float(passed), None
    if plan.uniform and max(map(gold_letters.count, shared)) == max(map(run_letters.count, shared)) == 1:
        pairs = [(golds[gold_letters.index(one)], left_runs[run_letters.index(one)]) for one in shared]
        graded = _last_pairs(run, pairs)
        if graded is not None:
            return passed, passed + graded, None
    return _tool_by_tool(run, shared, passed)


def same_place_doubts(run: Run) -> list[Pair]:
    """Return the pairs to be passed as doubtful where no alignment is at hand."""
    plan = run.plan
    if plan.letters != run.letters:
        return []
    return [(at, at) for at, (one, other) in enumerate(zip(plan.classes, run.classes, strict=True)) if one != other]


def _tool_by_tool(run: Run, letters: Sequence[str], passed: int) -> WholeCalls:
    graded: float | None = float(passed)
    unknown: int | None = None
    for letter in letters:
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


def _last_pairs(run: Run, pairs: Sequence[Pair]) -> float | None:
    """Return the sum of similarities of pairs that are all that is left over, once equal calls are paired.

    Gold calls are given by their numbers in the table. None where these might not be the maximum: where a tool has
    several, or where exchanging one with a pair that is met in full might gain. It can only if the gold step is nearer
    to that pair's call, as nothing is nearer than in full.
    """
    total = 0.0
    tools = ""
    for gold, at in pairs:
        letter = run.letters[at]
        verdict = run.verdict_of(gold, at)
        passed, near = verdict
        if passed or verdict is UNKNOWN or letter in tools or run.classes[at] >= 0:
            return None
        if run.letters.count(letter) > 1 and _has_rival(run, gold, letter, near):
            return None
        tools += letter
        total += near
    return total


def _has_rival(run: Run, gold: int, letter: str, near: float) -> bool:
    at = run.letters.find(letter)
    while at >= 0:
        number = run.classes[at]
        if number >= 0 and number != gold and run.plan.table.verdict_between(gold, number)[1] > near:
            return True
        at = run.letters.find(letter, at + 1)
    return False


def _solve_tool(run: Run, letter: str) -> tuple[int, WholeCalls]:
    """Return how many pairs of equal classes the tool has, and its maximum matching."""
    golds = [at for at, other in enumerate(run.plan.letters) if other == letter]
    runs = [at for at, other in enumerate(run.letters) if other == letter]
    equal = _equal(run, golds, runs)
    smaller = min(len(golds), len(runs))
    if _full_pairs(run, golds, runs) == smaller:
        return equal, (smaller, float(smaller), None)
    verdicts = [[run.verdict(gold, at) for at in runs] for gold in golds]
    column = next((at for line in verdicts for at, one in enumerate(line) if one is UNKNOWN), None)
    passed, graded = _solve(verdicts, equal if run.plan.uniform else None)
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


def _solve(verdicts: list[list[Verdict]], passed: int | None) -> tuple[int, float | None]:
    """Return the most pairs that can pass (``passed`` where that is known) and the largest sum of similarities."""
    if len(verdicts) == 1 or len(verdicts[0]) == 1:
        flat = [verdict for line in verdicts for verdict in line]
        return int(any(verdict[0] for verdict in flat)), max(verdict[1] for verdict in flat)
    if len(verdicts) == len(verdicts[0]) == 2:
        return _two_by_two(*verdicts)
    columns = _useful_columns(verdicts)
    lines = [[line[column] for column in columns] for line in verdicts]
    if passed is None:
        passed = len(maximum_matching([[at for at, one in enumerate(line) if one[0]] for line in lines], len(columns)))
    small, large = sorted((len(lines), len(columns)))
    if small * small * large > _MOST_WORK:
        return passed, None
    weights = [[verdict[1] for verdict in line] for line in lines]
    return passed, sum(weights[row][column] for row, column in maximum_assignment(weights))


def _two_by_two(first: list[Verdict], second: list[Verdict]) -> tuple[int, float]:
    (a, near_a), (b, near_b) = first
    (c, near_c), (d, near_d) = second
    return max(a + d, b + c, int(a or b or c or d)), max(near_a + near_d, near_b + near_c)


def _useful_columns(verdicts: Sequence[Sequence[Verdict]]) -> list[int]:
    """Return the run calls that can matter: of calls that compare alike (a loop's), no more than there are rows."""
    if len(verdicts[0]) <= len(verdicts):
        return list(range(len(verdicts[0])))
    seen: Counter[tuple[Verdict, ...]] = Counter()
    useful: list[int] = []
    for column, verdict in enumerate(zip(*verdicts, strict=True)):
        seen[verdict] += 1
        if seen[verdict] <= len(verdicts):
            useful.append(column)
    return useful
