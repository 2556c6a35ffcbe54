"""The step diff: gold beside run, a line for each pair and each step left over."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from agentpath_sdk.scoring.alignment import Pair
from agentpath_sdk.scoring.judge import Judge
from agentpath_sdk.scoring.pairs import UNKNOWN
from agentpath_sdk.scoring.reasons import argument_reasons
from agentpath_sdk.scoring.score import LineKind, StepMatch

__all__ = ["diff_lines"]


def diff_lines(judge: Judge, pairs: Sequence[Pair], *, name_misplaced: bool = True) -> list[StepMatch]:
    """Return the lines in order; every gold step and every run step is on exactly one.

    What lies between two pairs is named afterwards: a step that the gold has elsewhere is misplaced, a failed call
    stands beside the step that must succeed, other steps of a gap are paired in order as wrong tools, and the rest is
    extra or missing.
    """
    named = _named_elsewhere(judge, pairs, name_misplaced)
    taken = {gold for gold, _ in named.values()}
    lines: list[StepMatch] = []
    last_gold = last_run = -1
    for gold, run in (*pairs, (len(judge.gold), len(judge.run))):
        golds = [at for at in range(last_gold + 1, gold) if at not in taken]
        lines += _gap(judge, golds, range(last_run + 1, run), named)
        if gold < len(judge.gold):
            lines.append(_paired(judge, gold, run))
        last_gold, last_run = gold, run
    return lines


def _named_elsewhere(judge: Judge, pairs: Sequence[Pair], name_misplaced: bool) -> dict[int, tuple[int, LineKind]]:
    """Return run step -> gold step and kind, for left-over steps of equal tools."""
    golds = sorted(set(range(len(judge.gold))) - {gold for gold, _ in pairs})
    runs = sorted(set(range(len(judge.run))) - {run for _, run in pairs})
    named: dict[int, tuple[int, LineKind]] = {}
    kinds: tuple[LineKind, ...] = ("misplaced", "failed") if name_misplaced else ("failed",)
    for kind in kinds:
        for run in runs:
            if run in named:
                continue
            free = (gold for gold in golds if judge.gold[gold] == judge.run[run])
            fits = (gold for gold in free if name_misplaced or gold == run)
            found = next((gold for gold in fits if judge.eligible(gold, run) == (kind == "misplaced")), None)
            if found is not None:
                named[run] = found, kind
                golds.remove(found)
    return named


def _gap(
    judge: Judge, golds: Sequence[int], runs: Sequence[int], named: dict[int, tuple[int, LineKind]]
) -> Iterator[StepMatch]:
    waiting = list(golds)
    for run in runs:
        if run in named:
            gold, kind = named[run]
            yield _line(judge, gold, run, kind)
        elif waiting:
            yield _line(judge, waiting.pop(0), run, "wrong_tool")
        else:
            yield _line(judge, None, run, "extra")
    for gold in waiting:
        yield _line(judge, gold, None, "missing")


def _paired(judge: Judge, gold: int, run: int) -> StepMatch:
    verdict = judge.verdict(gold, run)
    reasons = (
        {}
        if verdict.passed
        else {one.argument: one.reason for one in argument_reasons(judge.plan.steps[gold], judge.calls[run])}
    )
    kind: LineKind = "match" if verdict.passed or verdict is UNKNOWN else "wrong_arguments"
    return _line(judge, gold, run, kind, verdict.similarity, verdict.passed, reasons)


def _line(
    judge: Judge,
    gold: int | None,
    run: int | None,
    kind: LineKind,
    similarity: float = 0.0,
    passed: bool = False,
    reasons: dict[str, str] | None = None,
) -> StepMatch:
    return StepMatch(
        gold=gold,
        run=None if run is None else judge.places[run],
        kind=kind,
        similarity=similarity,
        arguments_passed=passed,
        reasons=reasons or {},
        gold_tool=None if gold is None else judge.plan.steps[gold].tool,
        run_tool=None if run is None else judge.calls[run].tool,
    )
