"""``pydantic_evals``: shares of tool names, multisets of tool names, arguments of one call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from cases import Adapter, Answer, Case, Step, calls, named
from comparers import python_exact, python_superset

from agentpath_sdk.scoring.presets import MatchMode, match_path, measure_path

__all__ = ["ADAPTERS"]


def _executed(steps: Sequence[Step]) -> list[Step]:
    """Return the steps that count there: no failed attempt, and no call that waits for approval."""
    return [step for step in steps if step.get("status") != "error" and not step.get("denied")]


def _trajectory_match(case: Case) -> Answer:
    run, gold, order = named(_executed(case.actual)), named(case.reference), case.settings.get("order", "in_order")
    if order == "exact":
        return Answer(value=float(match_path(run, gold, mode="exact")))
    return Answer(value=measure_path(run, gold, measure="f1", order=order))


def _tool_correctness(case: Case) -> Answer:
    mode: MatchMode = "superset" if case.settings.get("allow_extra") else "unordered"
    return Answer(value=match_path(named(_executed(case.actual)), named(case.reference), mode=mode))


def _argument_correctness(case: Case) -> Answer:
    """Return whether the chosen call of the expected tool has the expected arguments."""
    gold = calls(case.reference)[:1]
    same_tool = [step for step in _executed(case.actual) if gold and step["tool"] == gold[0][0]]
    chosen = _chosen(same_tool, case.settings.get("occurrence", "first"))
    if "arguments" not in (chosen[0] if chosen else {}):
        return Answer(value=False)
    rule = python_exact if case.settings.get("match_mode") == "exact" else python_superset
    return Answer(value=match_path(calls(chosen), gold, mode="exact", arguments=rule))


def _chosen(steps: Sequence[Step], occurrence: object) -> Sequence[Step]:
    """Return the step that ``first``, ``last`` or an index from 0 on chooses, or none."""
    if occurrence == "first":
        return steps[:1]
    if occurrence == "last":
        return steps[-1:]
    return steps[occurrence : occurrence + 1] if isinstance(occurrence, int) and occurrence >= 0 else ()


ADAPTERS: Final[Mapping[str, Adapter]] = {
    "pydantic_evals.argument_correctness": _argument_correctness,
    "pydantic_evals.tool_correctness": _tool_correctness,
    "pydantic_evals.trajectory_match": _trajectory_match,
}
