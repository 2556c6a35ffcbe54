"""``toolscore``: names by edits and by sets, arguments by place and by count."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from cases import Adapter, Answer, Case, Value, calls, named, placed
from comparers import python_exact, python_superset, sorted_json
from rapidfuzz.distance import Levenshtein

from agentpath_sdk.scoring.matching import maximum_assignment
from agentpath_sdk.scoring.presets import measure_path
from agentpath_sdk.scoring.presets_calls import Arguments, Call

__all__ = ["ADAPTERS"]

FIRST_FIT: Final = "toolscore-strict-first-fit-pairing"


def _tools(case: Case) -> tuple[list[str], list[str]]:
    return [step["tool"] for step in case.reference], [step["tool"] for step in case.actual]


def _edit_distance(case: Case) -> float:
    return float(Levenshtein.distance(*_tools(case)))


def _sequence_accuracy(case: Case) -> float:
    return Levenshtein.normalized_similarity(*_tools(case))


def _path_efficiency(case: Case) -> float:
    """Return n / m, at most 1; nothing expected is 1 there, whatever was done."""
    if not case.reference:
        return 1.0
    return min(1.0, len(case.reference) / len(case.actual)) if case.actual else 0.0


def _step_match_rate(case: Case) -> float:
    """Return the share of gold steps whose call, the gold's arguments within its own, is at the same place."""
    if not case.reference:
        return float(not case.actual)
    run, gold = placed(calls(case.actual, absent={})), placed(calls(case.reference))
    return measure_path(run, gold, measure="recall", arguments=python_superset)


def _trajectory_accuracy(case: Case) -> float:
    return _step_match_rate(case) * _path_efficiency(case)


def _partial_trajectory_accuracy(case: Case) -> float:
    if not case.reference:
        return float(not case.actual)
    run, gold = named(case.actual), named(case.reference)
    if case.settings.get("allow_tool_name_variations"):
        run, gold = _folded(run), _folded(gold)
    return measure_path(run, gold, measure="recall")


def _folded(names: Sequence[Call]) -> list[Call]:
    return [(tool.lower().replace("_", "").replace("-", ""), arguments) for tool, arguments in names]


def _required_call_recall(case: Case) -> float:
    done = [step for step in case.actual if step.get("status") != "error"]
    return measure_path(named(done), named(case.reference), measure="recall")


def _tool_correctness(case: Case) -> float:
    gold, run = _tools(case)
    if not gold:
        return float(not run)
    if case.settings.get("strict_order"):
        return measure_path(placed(named(case.actual)), placed(named(case.reference)), measure="recall")
    return len(set(gold) & set(run)) / len(set(gold))


def _unless_open(gold: Arguments, run: Arguments) -> float:
    return 1.0 if gold is None else python_exact(gold, run)


def _tool_correctness_strict(case: Case) -> Answer:
    if not case.reference:
        return Answer(value=float(not case.actual))
    run, gold = calls(case.actual, absent={}), calls(case.reference)
    value = measure_path(run, gold, measure="recall", arguments=_unless_open)
    return Answer(value=value, defects={FIRST_FIT: lambda: _first_fit(run, gold) / len(gold)})


def _first_fit(run: Sequence[Call], gold: Sequence[Call]) -> int:
    """Return the number of pairs where each gold call takes the first that fits."""
    free = list(run)
    for tool, expected in gold:
        found = next(
            (at for at, (name, given) in enumerate(free) if name == tool and _unless_open(expected, given)), None
        )
        if found is not None:
            del free[found]
    return len(run) - len(free)


def _invocation_accuracy(case: Case) -> float:
    gold, run = (set(tools) for tools in _tools(case))
    if not gold or not run:
        return float(not gold and not run)
    return max(0.0, (len(gold & run) - 0.5 * len(gold ^ run)) / len(gold))


def _selection_accuracy(case: Case) -> float:
    gold, run = _tools(case)
    if not gold or not run:
        return float(not gold and not run)
    return sum(tool in set(gold) for tool in run) / len(run)


def _redundant_rate(case: Case) -> float:
    gold, run = (Counter(tools) for tools in _tools(case))
    return (run - gold).total() / run.total() if run else 0.0


def _identical_rate(case: Case) -> float:
    seen = {(step["tool"], json.dumps(step.get("arguments") or {}, sort_keys=True)) for step in case.actual}
    return 1 - len(seen) / len(case.actual) if case.actual else 0.0


def _argument_shares(case: Case) -> tuple[float, float, float]:
    """Return precision, recall and F1 of single arguments, over calls paired within a tool for most agreement."""
    if not case.reference or not case.actual:
        alike = float(not case.reference and not case.actual)
        return alike, alike, alike
    gold, run, strict = calls(case.reference), calls(case.actual, absent={}), bool(case.settings.get("strict"))
    agreed = [[_agreed(one, other, strict=strict) for other in run] for one in gold]
    partner = dict(maximum_assignment([[0.0 if n is None else _FIRST + n for n in line] for line in agreed]))
    checked = [(at, arguments) for at, (_, arguments) in enumerate(gold) if arguments is not None]
    right = sum(agreed[at][partner[at]] or 0 for at, _ in checked if at in partner)
    expected = sum(len(arguments) for _, arguments in checked)
    given = sum(len(run[partner[at]][1] or {}) for at, _ in checked if at in partner)
    vacuous = any(at in partner and not (gold[at][1] or run[partner[at]][1]) for at in range(len(gold)))
    if not expected and not given and (vacuous or any(gold[at][1] is None for at in partner)):
        return 1.0, 1.0, 1.0
    precision, recall = right / given if given else 0.0, right / expected if expected else 0.0
    return precision, recall, 2 * precision * recall / (precision + recall) if right else 0.0


# One more pair outweighs any number of arguments.
_FIRST: Final = 1e6


def _agreed(gold: Call, run: Call, *, strict: bool) -> int | None:
    """Return the number of the gold's arguments that the run gives; None for another tool."""
    expected, given = gold[1] or {}, run[1] or {}
    if gold[0] != run[0]:
        return None
    return sum(key in given and _same_value(expected[key], given[key], strict=strict) for key in expected)


def _same_value(expected: Any, given: Any, *, strict: bool) -> bool:
    """Return equality, types and all where ``strict``; else outer blanks of texts do not count."""
    if strict:
        return sorted_json(expected) == sorted_json(given)
    if isinstance(expected, str) and isinstance(given, str):
        return expected.strip() == given.strip()
    return bool(expected == given)


def _score(case: Case) -> float:
    return (
        0.4 * _selection_accuracy(case)
        + 0.3 * _argument_shares(case)[2]
        + 0.2 * _sequence_accuracy(case)
        + 0.1 * (1 - _redundant_rate(case))
    )


def _adapter(value_of: Callable[[Case], Value]) -> Adapter:
    return lambda case: Answer(value=value_of(case))


ADAPTERS: Final[Mapping[str, Adapter]] = {
    "toolscore.argument_f1": _adapter(lambda case: _argument_shares(case)[2]),
    "toolscore.argument_precision": _adapter(lambda case: _argument_shares(case)[0]),
    "toolscore.argument_recall": _adapter(lambda case: _argument_shares(case)[1]),
    "toolscore.edit_distance": _adapter(_edit_distance),
    "toolscore.identical_rate": _adapter(_identical_rate),
    "toolscore.invocation_accuracy": _adapter(_invocation_accuracy),
    "toolscore.partial_trajectory_accuracy": _adapter(_partial_trajectory_accuracy),
    "toolscore.path_efficiency": _adapter(_path_efficiency),
    "toolscore.redundant_rate": _adapter(_redundant_rate),
    "toolscore.required_call_recall": _adapter(_required_call_recall),
    "toolscore.score": _adapter(_score),
    "toolscore.selection_accuracy": _adapter(_selection_accuracy),
    "toolscore.sequence_accuracy": _adapter(_sequence_accuracy),
    "toolscore.step_match_rate": _adapter(_step_match_rate),
    "toolscore.tool_correctness": _adapter(_tool_correctness),
    "toolscore.tool_correctness_strict": _tool_correctness_strict,
    "toolscore.trajectory_accuracy": _adapter(_trajectory_accuracy),
}
