"""``tracediff``, ``strands``, ``tau2`` and ``openeval``."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import fmean
from typing import Final

from cases import Adapter, Answer, Case, calls, named, placed
from comparers import containing, python_exact, python_subset

from agentpath_sdk.scoring.presets import MatchMode, match_path, measure_path
from agentpath_sdk.scoring.presets_calls import ArgumentRule

__all__ = ["ADAPTERS"]

REPEATS: Final = "strands-any-order-never-1-with-repeats"
NO_ARGUMENTS: Final = "tau2-no-arguments-match-anything"

_TRACEDIFF: Final[Mapping[str, MatchMode]] = {"strict": "exact", "unordered": "unordered", "subset": "in_order"}


def _match_tool_sequence(case: Case) -> Answer:
    mode = _TRACEDIFF[case.settings.get("mode", "subset")]
    return Answer(value=match_path(named(case.actual), named(case.reference), mode=mode))


def _args_contain(case: Case) -> Answer:
    """Return whether each expected tool was called once with the expected arguments inside its own."""
    run = calls(case.actual, absent={})
    found = (match_path(run, [gold], mode="superset", arguments=containing) for gold in calls(case.reference))
    return Answer(value=all(found))


def _strands_exact(case: Case) -> Answer:
    value = measure_path(placed(named(case.actual)), placed(named(case.reference)), measure="recall")
    return Answer(value=value)


def _strands_in_order(case: Case) -> Answer:
    """Return the share of gold steps met before the first that is not: theirs waits for it to the end."""
    run, gold = named(case.actual), named(case.reference)
    met = max(n for n in range(len(gold) + 1) if match_path(run, gold[:n], mode="in_order"))
    return Answer(value=met / len(gold) if gold else 1.0)


def _strands_any_order(case: Case) -> Answer:
    run, gold = named(case.actual), named(case.reference)
    both = {tool for tool, _ in gold} & {tool for tool, _ in run}
    value = measure_path(run, gold, measure="recall")
    return Answer(value=value, defects={REPEATS: lambda: len(both) / len(gold) if gold else 1.0})


def _tau2_share(case: Case, rule: ArgumentRule) -> float:
    """Return the share of gold calls that some call of the run is; one call may stand for several."""
    run = calls(case.actual, absent={})
    found = [match_path(run, [gold], mode="any_order", arguments=rule) for gold in calls(case.reference, absent={})]
    return fmean(found) if found else 1.0


def _action_recall(case: Case) -> Answer:
    lax = {NO_ARGUMENTS: lambda: _tau2_share(case, python_subset)}
    return Answer(value=_tau2_share(case, python_exact), defects=lax)


def _action_reward(case: Case) -> Answer:
    lax = {NO_ARGUMENTS: lambda: float(_tau2_share(case, python_subset) == 1.0)}
    return Answer(value=float(_tau2_share(case, python_exact) == 1.0), defects=lax)


def _tool_selection_accuracy(case: Case) -> Answer:
    run = named([step for step in case.actual if not step.get("denied")])
    if not case.reference:
        return Answer(value=float(not run))
    return Answer(value=measure_path(run, named(case.reference), measure="recall"))


def _argument_correctness(case: Case) -> Answer:
    """Return the share of expected arguments given by the last call of each expected tool that was called."""
    last = {step["tool"]: step.get("arguments") or {} for step in case.actual if not step.get("denied")}
    called = [(step.get("arguments") or {}, last[step["tool"]]) for step in case.reference if step["tool"] in last]
    expected = sum(len(gold) for gold, _ in called)
    if not case.reference or (called and not expected):
        return Answer(value=1.0)
    right = sum(run.get(key) == value for gold, run in called for key, value in gold.items())
    return Answer(value=right / expected if expected else 0.0)


def _step_efficiency(case: Case) -> Answer:
    if not case.actual:
        return Answer(value=float(not case.reference))
    return Answer(value=min(1.0, len(case.reference) / len(case.actual)))


ADAPTERS: Final[Mapping[str, Adapter]] = {
    "openeval.argument_correctness": _argument_correctness,
    "openeval.step_efficiency": _step_efficiency,
    "openeval.tool_selection_accuracy": _tool_selection_accuracy,
    "strands.any_order_match_scorer": _strands_any_order,
    "strands.exact_match_scorer": _strands_exact,
    "strands.in_order_match_scorer": _strands_in_order,
    "tau2.action_recall": _action_recall,
    "tau2.action_reward": _action_reward,
    "tracediff.args_contain": _args_contain,
    "tracediff.match_tool_sequence": _match_tool_sequence,
}
