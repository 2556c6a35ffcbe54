"""``deepeval.tool_correctness`` and ``.tool_permission``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from cases import NOT_EMPTY, Adapter, Answer, Case, Step
from comparers import python_exact, share_of_keys

from agentpath_sdk.scoring.presets import match_path, measure_path
from agentpath_sdk.scoring.presets_calls import ArgumentComparer, Arguments, Call

__all__ = ["ADAPTERS"]

BY_VALUE: Final = "deepeval-repeats-consumed-by-value"
GREEDY: Final = "deepeval-greedy-pairing"


def _tool_correctness(case: Case) -> Answer:
    settings, run, gold = case.settings, _calls(case.actual), _calls(case.reference)
    looked_at = frozenset(settings.get("evaluation_params") or ())
    if settings.get("should_exact_match"):
        return Answer(
            value=_exact(run, gold, _comparer(looked_at, _exact_or_empty)),
            defects={NOT_EMPTY: lambda: _exact(run, gold, _comparer(looked_at, python_exact))},
        )
    if not gold:
        # Their rule: nothing expected and something done is 0; recall would say 1.
        return Answer(value=float(not run))
    graded = _comparer(looked_at, share_of_keys)
    if settings.get("should_consider_ordering"):
        value = measure_path(run, gold, measure="graded_recall", arguments=graded, order="in_order")
        return Answer(value=_strictly(value, settings))
    value = measure_path(run, gold, measure="graded_recall", arguments=graded)
    repeated = any(one[1] == other[1] for at, one in enumerate(run) for other in run[:at])
    name = BY_VALUE if repeated else GREEDY
    defects = {name: lambda: _strictly(_greedy_by_value(run, gold, graded), settings)}
    return Answer(value=_strictly(value, settings), defects=defects)


def _exact(run: Sequence[Call], gold: Sequence[Call], rule: ArgumentComparer) -> float:
    return float(match_path(run, gold, mode="exact", arguments=rule))


def _exact_or_empty(gold: Arguments, run: Arguments) -> float:
    return python_exact(gold or {}, run or {})


def _strictly(value: float, settings: Mapping[str, Any]) -> float:
    return 0.0 if settings.get("strict_mode") and value < 1.0 else value


def _calls(steps: Sequence[Step]) -> list[Call]:
    """Return calls whose name carries the kind of tool, and whose arguments hold all that their equality looks at."""
    return [
        (
            f"{step.get('type', 'FUNCTION')} {step['tool']}",
            {"tool": step["tool"], "input": step.get("arguments"), "output": step.get("output")},
        )
        for step in steps
    ]


def _comparer(looked_at: frozenset[str], of_inputs: ArgumentComparer) -> ArgumentComparer:
    def compare(gold: Arguments, run: Arguments) -> float:
        expected, given = gold or {}, run or {}
        if "output" in looked_at and expected["output"] != given["output"]:
            return 0.0
        return of_inputs(expected["input"], given["input"]) if "input_parameters" in looked_at else 1.0

    return compare


def _greedy_by_value(run: Sequence[Call], gold: Sequence[Call], graded: ArgumentComparer) -> float:
    """Return the score where each expected call takes its best, and all calls equal to that one are gone with it."""
    total, gone = 0.0, list[Arguments]()
    for tool, expected in gold:
        free = [given for name, given in run if name == tool and given not in gone]
        scored = [(graded(expected, given), given) for given in free]
        best = max(scored, key=lambda pair: pair[0], default=None)
        if best is not None and best[0] > 0:
            total += best[0]
            gone.append(best[1])
    return total / len(gold)


def _tool_permission(case: Case) -> Answer:
    """Return the share of calls to tools that are allowed and not denied."""
    allowed, denied = case.settings.get("allowed_tools"), case.settings.get("denied_tools") or ()
    good = [step["tool"] not in denied and (allowed is None or step["tool"] in allowed) for step in case.actual]
    return Answer(value=_strictly(sum(good) / len(good) if good else 1.0, case.settings))


ADAPTERS: Final[Mapping[str, Adapter]] = {
    "deepeval.tool_correctness": _tool_correctness,
    "deepeval.tool_permission": _tool_permission,
}
