"""``adk``, ``azure`` and ``mlflow``: yes or no by match mode, and Azure's shares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Final

from cases import NOT_EMPTY, Adapter, Answer, Case, Step, calls, named
from comparers import by_text, plain_text, python_exact, sorted_json

from agentpath_sdk.scoring.presets import MatchMode, Measure, match_path, measure_path
from agentpath_sdk.scoring.presets_calls import ArgumentRule, Arguments, Call

__all__ = ["ADAPTERS"]

ONE_SET: Final = "azure-one-parameter-set-per-tool"
COUNTS: Final = "mlflow-unordered-ignores-counts"

_ADK: Final[Mapping[str, MatchMode]] = {"EXACT": "exact", "IN_ORDER": "in_order", "ANY_ORDER": "any_order"}
_AZURE: Final[Mapping[str, MatchMode]] = {
    "exact_match": "exact",
    "in_order_match": "in_order",
    "any_order_match": "any_order",
}


def _tool_trajectory_avg_score(case: Case) -> Answer:
    """Return the mean over the conversation's turns of a mode's 0 or 1."""
    return Answer(value=_adk_mean(case, absent={}), defects={NOT_EMPTY: lambda: _adk_mean(case, absent=None)})


def _adk_mean(case: Case, absent: Arguments) -> float:
    mode = _ADK[case.settings["match_type"]]
    rule: ArgumentRule = "ignore" if case.settings.get("ignore_args") else python_exact
    turns = [
        [
            calls([step for step in side if step.get("invocation", 0) == turn], absent=absent)
            for side in (case.actual, case.reference)
        ]
        for turn in range(case.settings.get("invocations", 1))
    ]
    return fmean(match_path(run, gold, mode=mode, arguments=rule) for run, gold in turns)


_texts = by_text(plain_text)


def _azure_mode(case: Case) -> Answer:
    mode = _AZURE[case.settings["matching_mode"]]
    if not case.settings.get("parameters"):
        return Answer(value=match_path(_azure_names(case.actual), _azure_names(case.reference), mode=mode))
    run, gold = _azure_calls(case.actual), _azure_calls(case.reference)
    return Answer(
        value=match_path(run, gold, mode=mode, arguments=_texts),
        defects={ONE_SET: lambda: match_path(run, _one_set_each(gold), mode=mode, arguments=_texts)},
    )


def _azure_share(measure: Measure) -> Adapter:
    def adapter(case: Case) -> Answer:
        if not case.settings.get("parameters"):
            return Answer(value=measure_path(_azure_names(case.actual), _azure_names(case.reference), measure=measure))
        run, gold = _azure_calls(case.actual), _azure_calls(case.reference)
        return Answer(
            value=measure_path(run, gold, measure=measure, arguments=_texts),
            defects={ONE_SET: lambda: measure_path(run, _one_set_each(gold), measure=measure, arguments=_texts)},
        )

    return adapter


def _azure_names(steps: Sequence[Step]) -> list[Call]:
    return [(tool.strip(), None) for tool, _ in named(steps)]


def _azure_calls(steps: Sequence[Step]) -> list[Call]:
    return [(tool.strip(), arguments) for tool, arguments in calls(steps, absent={})]


def _one_set_each(gold: Sequence[Call]) -> list[Call]:
    """Return the calls with the arguments of the last call of their tool: the peer keeps one set for each name."""
    kept = dict(gold)
    return [(tool, kept[tool]) for tool, _ in gold]


_signature = by_text(sorted_json)


def _tool_call_correctness(case: Case) -> Answer:
    """Return whether the calls are the same; one expected call without arguments stops the check of all, as theirs."""
    names_only = case.settings.get("names_only") or any("arguments" not in step for step in case.reference)
    run, gold = (named(side) if names_only else calls(side, absent={}) for side in (case.actual, case.reference))
    if case.settings.get("should_consider_ordering"):
        return Answer(value=match_path(run, gold, mode="exact", arguments=_signature))
    return Answer(
        value=match_path(run, gold, mode="unordered", arguments=_signature),
        defects={COUNTS: lambda: len(run) == len(gold) and _same_set(run, gold)},
    )


def _same_set(run: Sequence[Call], gold: Sequence[Call]) -> bool:
    return _signatures(run) == _signatures(gold)


def _signatures(side: Sequence[Call]) -> set[tuple[str, str]]:
    return {(tool, sorted_json(arguments or {})) for tool, arguments in side}


ADAPTERS: Final[Mapping[str, Adapter]] = {
    "adk.tool_trajectory_avg_score": _tool_trajectory_avg_score,
    "azure.task_navigation_efficiency": _azure_mode,
    "azure.task_navigation_f1": _azure_share("f1"),
    "azure.task_navigation_precision": _azure_share("precision"),
    "azure.task_navigation_recall": _azure_share("recall"),
    "mlflow.tool_call_correctness": _tool_call_correctness,
}
