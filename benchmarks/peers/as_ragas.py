"""``ragas.tool_call_accuracy`` and ``ragas.tool_call_f1``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from cases import Adapter, Answer, Case, calls, named, placed
from comparers import python_exact, share_of_texts

from agentpath_sdk.scoring.presets import Order, match_path, measure_path
from agentpath_sdk.scoring.presets_calls import Call

__all__ = ["ADAPTERS"]

LENGTHS: Final = "ragas-zero-for-unequal-lengths"
SORTED: Final = "ragas-pairs-by-sorting"


def _tool_call_accuracy(case: Case) -> Answer:
    """Return the share of right arguments, 0 where the tools' names do not agree."""
    run, gold = calls(case.actual, absent={}), calls(case.reference, absent={})
    strict = case.settings.get("strict_order", True)
    if not run or not gold:
        # Their rule: nothing expected and something done is 0; recall would say 1.
        return Answer(value=float(not run and not gold))
    if len(run) != len(gold):
        order: Order = "in_order" if strict else "any_order"
        value = measure_path(run, gold, measure="graded_recall", arguments=share_of_texts, order=order)
        return Answer(value=value, defects={LENGTHS: lambda: 0.0})
    if not match_path(named(case.actual), named(case.reference), mode="exact" if strict else "unordered"):
        return Answer(value=0.0)
    if strict:
        return Answer(value=_by_place(run, gold))
    value = measure_path(run, gold, measure="graded_recall", arguments=share_of_texts)
    return Answer(value=value, defects={SORTED: lambda: _by_place(sorted(run, key=_key), sorted(gold, key=_key))})


def _by_place(run: Sequence[Call], gold: Sequence[Call]) -> float:
    return measure_path(placed(run), placed(gold), measure="graded_recall", arguments=share_of_texts)


def _key(call: Call) -> tuple[str, ...]:
    arguments = call[1] or {}
    return (call[0], *(text for name in sorted(arguments) for text in (name, str(arguments[name]))))


def _tool_call_f1(case: Case) -> Answer:
    """Return F1 over distinct calls, rounded to four places as theirs is; nothing on both sides is 0 there."""
    run, gold = _distinct(calls(case.actual, absent={})), _distinct(calls(case.reference, absent={}))
    if not run and not gold:
        return Answer(value=0.0)
    return Answer(value=round(measure_path(run, gold, measure="f1", arguments=python_exact), 4))


def _distinct(steps: Sequence[Call]) -> list[Call]:
    return [step for at, step in enumerate(steps) if step not in steps[:at]]


ADAPTERS: Final[Mapping[str, Adapter]] = {
    "ragas.tool_call_accuracy": _tool_call_accuracy,
    "ragas.tool_call_f1": _tool_call_f1,
}
