"""The step diff: gold beside run, a line for each pair and each step left over."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from agentpath_sdk.scoring.alignment import Pair
from agentpath_sdk.scoring.executed import Run
from agentpath_sdk.scoring.pairs import UNKNOWN
from agentpath_sdk.scoring.reasons import argument_reasons, well_formed
from agentpath_sdk.scoring.score import LineKind, StepMatch

__all__ = ["diff_lines"]

_Named: TypeAlias = Mapping[int, tuple[int, LineKind]]
"""Run step -> the gold step it stands beside, and as what."""


def diff_lines(run: Run, pairs: Sequence[Pair], *, name_misplaced: bool = True) -> list[StepMatch]:
    """Return the lines in order; every gold step and every run step is on exactly one.

    What lies between two pairs is named afterwards: a step that the gold has elsewhere is misplaced, a failed call
    stands beside the step that must succeed, other steps of a gap are paired in order as wrong tools, and the rest is
    extra or missing.
    """
    gold_count, run_count = len(run.plan.letters), len(run.letters)
    named = _named_elsewhere(run, pairs, name_misplaced)
    taken = {gold for gold, _ in named.values()}
    lines: list[StepMatch] = []
    last_gold = last_at = -1
    for gold, at in (*pairs, (gold_count, run_count)):
        golds = [one for one in range(last_gold + 1, gold) if one not in taken]
        lines += _gap(run, golds, range(last_at + 1, at), named)
        if gold < gold_count:
            lines.append(_paired(run, gold, at))
        last_gold, last_at = gold, at
    return lines


def _named_elsewhere(run: Run, pairs: Sequence[Pair], name_misplaced: bool) -> _Named:
    """Name left-over steps of equal tools: out of place, else (unfit for the gold step) failed."""
    golds = sorted(set(range(len(run.plan.letters))) - {gold for gold, _ in pairs})
    places = sorted(set(range(len(run.letters))) - {at for _, at in pairs})
    named: dict[int, tuple[int, LineKind]] = {}
    for kind in _kinds(name_misplaced):
        for at in places:
            found = None if at in named else _partner(run, golds, at, kind, name_misplaced)
            if found is not None:
                named[at] = found, kind
                golds.remove(found)
    return named


def _kinds(name_misplaced: bool) -> tuple[LineKind, ...]:
    return ("misplaced", "failed") if name_misplaced else ("failed",)


def _partner(run: Run, golds: Sequence[int], at: int, kind: LineKind, anywhere: bool) -> int | None:
    same_tool = (gold for gold in golds if run.plan.letters[gold] == run.letters[at] and (anywhere or gold == at))
    return next((gold for gold in same_tool if run.eligible(gold, at) == (kind == "misplaced")), None)


def _gap(run: Run, golds: Sequence[int], places: Sequence[int], named: _Named) -> Iterator[StepMatch]:
    waiting = list(golds)
    for at in places:
        if at in named:
            gold, kind = named[at]
            yield _line(run, gold, at, kind)
        elif waiting:
            yield _line(run, waiting.pop(0), at, "wrong_tool")
        else:
            yield _line(run, None, at, "extra")
    for gold in waiting:
        yield _line(run, gold, None, "missing")


def _paired(run: Run, gold: int, at: int) -> StepMatch:
    verdict = run.verdict(gold, at)
    passed, near = verdict
    wrong = [] if passed else argument_reasons(run.plan.steps[gold], run.calls[at])
    return StepMatch(
        gold=gold,
        run=run.places[at],
        kind="match" if passed or verdict is UNKNOWN else "wrong_arguments",
        similarity=near,
        arguments_passed=passed,
        reasons={well_formed(one.argument): one.reason for one in wrong},
        gold_tool=well_formed(run.plan.steps[gold].tool),
        run_tool=well_formed(run.calls[at].tool),
    )


def _line(run: Run, gold: int | None, at: int | None, kind: LineKind) -> StepMatch:
    return StepMatch(
        gold=gold,
        run=None if at is None else run.places[at],
        kind=kind,
        gold_tool=None if gold is None else well_formed(run.plan.steps[gold].tool),
        run_tool=None if at is None else well_formed(run.calls[at].tool),
    )
