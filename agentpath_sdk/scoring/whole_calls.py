"""Order-free matching of whole calls: how many gold calls were made, tool and all arguments, in whatever order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import Final, NamedTuple

from agentpath_sdk.scoring.judge import Judge
from agentpath_sdk.scoring.matching import maximum_assignment, maximum_matching
from agentpath_sdk.scoring.pairs import UNKNOWN, Verdict

__all__ = ["WholeCalls", "match_whole_calls"]

# Work of the assignment within one tool: calls of the smaller side squared, times those of the larger.
_MOST_WORK: Final = 3_000_000


class WholeCalls(NamedTuple):
    """A maximum one-to-one matching, by count and by similarity."""

    passed: int
    graded: float | None
    """Largest sum of similarities; None where there are too many calls of one tool."""
    unknown: int | None
    """Run step (within the tool: its place among the tool's calls) whose unknown arguments leave the counts undecided, else None."""


def match_whole_calls(judge: Judge, met: Collection[int]) -> WholeCalls:
    """Return the maximum matching; ``met`` are gold steps that the alignment pairs in full with a run step.

    Each tool is solved by itself, as calls of different tools never compete.
    """
    passed, graded, unknown, solved = 0, 0.0, None, True
    for letter, golds in judge.plan.groups:
        if all([gold in met for gold in golds]):
            passed += len(golds)
            graded += len(golds)
            continue
        runs = [at for at, other in enumerate(judge.run) if other == letter]
        if not runs:
            continue
        verdicts = [[judge.verdict(gold, run) for run in runs] for gold in golds]
        found = _one_against_many(verdicts) if len(golds) == 1 or len(runs) == 1 else _many(verdicts)
        passed += found.passed
        solved = solved and found.graded is not None
        graded += found.graded or 0.0
        if found.unknown is not None:
            unknown = runs[found.unknown]
    return WholeCalls(passed, graded if solved else None, unknown)


def _one_against_many(verdicts: list[list[Verdict]]) -> WholeCalls:
    flat = [verdict for line in verdicts for verdict in line]
    best = max([verdict[1] for verdict in flat])
    passed = any([verdict[0] for verdict in flat])
    settled = len(verdicts) == 1 and passed and best == 1.0
    return WholeCalls(int(passed), best, None if settled else _unknown_column(verdicts))


def _unknown_column(verdicts: list[list[Verdict]]) -> int | None:
    return next((column for line in verdicts for column, one in enumerate(line) if one is UNKNOWN), None)


def _many(verdicts: list[list[Verdict]]) -> WholeCalls:
    unknown = _unknown_column(verdicts)
    columns = _useful_columns(verdicts)
    lines = [[line[column] for column in columns] for line in verdicts]
    edges = [[column for column, verdict in enumerate(line) if verdict[0]] for line in lines]
    passed = len(maximum_matching(edges, len(columns)))
    small, large = sorted((len(lines), len(columns)))
    if small * small * large > _MOST_WORK:
        return WholeCalls(passed, None, unknown)
    weights = [[verdict[1] for verdict in line] for line in lines]
    graded = sum(weights[row][column] for row, column in maximum_assignment(weights))
    return WholeCalls(passed, graded, unknown)


def _useful_columns(verdicts: Sequence[Sequence[Verdict]]) -> list[int]:
    """Return the run calls that can matter: of calls that compare alike (a loop's), no more than there are rows."""
    seen: Counter[tuple[Verdict, ...]] = Counter()
    useful: list[int] = []
    for column, verdict in enumerate(zip(*verdicts, strict=True)):
        seen[verdict] += 1
        if seen[verdict] <= len(verdicts):
            useful.append(column)
    return useful
