"""Every metric of other evaluators that takes a run and a list of expected calls, in each of its settings.

Two values each: with the mistakes that docs/presets.md lists mended, and, where they make a difference, as it is.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any, Final, TypeAlias

from outcomes_data import Judged

sys.path.insert(0, str(Path(__file__).parent / "peers"))

from adapters import ADAPTERS
from cases import Answer, Case

__all__ = ["peer_values"]

Settings: TypeAlias = Mapping[str, Any]


def _all(**options: Sequence[Any]) -> list[Settings]:
    return [dict(zip(options, values, strict=True)) for values in product(*options.values())]


_MODES: Final = ("exact", "ignore", "subset", "superset")
_NAVIGATION: Final = ("exact_match", "in_order_match", "any_order_match")
_SETTINGS: Final[Mapping[str, Sequence[Settings]]] = {
    "adk.tool_trajectory_avg_score": _all(match_type=("EXACT", "IN_ORDER", "ANY_ORDER"), ignore_args=(False, True)),
    "agentevals.trajectory_match": _all(
        trajectory_match_mode=("strict", "unordered", "subset", "superset"), tool_args_match_mode=_MODES
    ),
    "azure.task_navigation_efficiency": _all(matching_mode=_NAVIGATION, parameters=(False, True)),
    "azure.task_navigation_f1": _all(parameters=(False, True)),
    "azure.task_navigation_precision": _all(parameters=(False, True)),
    "azure.task_navigation_recall": _all(parameters=(False, True)),
    "deepeval.tool_correctness": [
        {"evaluation_params": looked_at, "should_exact_match": exact, "should_consider_ordering": ordered}
        for looked_at in ([], ["input_parameters"])
        for exact, ordered in ((False, False), (False, True), (True, False))
    ],
    "lightspeed.tool_eval": _all(full_match=(True, False), ordered=(True, False)),
    "mlflow.tool_call_correctness": _all(should_consider_ordering=(False, True), names_only=(False, True)),
    "pydantic_evals.argument_correctness": _all(occurrence=("first", "last"), match_mode=("subset", "exact")),
    "pydantic_evals.tool_correctness": _all(allow_extra=(False, True)),
    "pydantic_evals.trajectory_match": _all(order=("exact", "in_order", "any_order")),
    "ragas.tool_call_accuracy": _all(strict_order=(True, False)),
    "toolscore.argument_f1": _all(strict=(False, True)),
    "toolscore.tool_correctness": _all(strict_order=(False, True)),
    "tracediff.match_tool_sequence": _all(mode=("strict", "unordered", "subset")),
}
# It looks for tools that are not allowed, and takes no expected calls.
_NO_REFERENCE: Final = frozenset({"deepeval.tool_permission"})
# Counts of what is bad: the fewer, the better.
_LESS_IS_BETTER: Final = frozenset({"toolscore.edit_distance", "toolscore.identical_rate", "toolscore.redundant_rate"})


def peer_values(runs: Sequence[Judged]) -> dict[str, list[float]]:
    """Return one value per run for each metric, setting and defect."""
    found: dict[str, list[float]] = {}
    for metric in sorted(ADAPTERS.keys() - _NO_REFERENCE):
        for settings in _SETTINGS.get(metric, ({},)):
            found.update(_values(runs, metric, settings))
    return found


def _values(runs: Sequence[Judged], metric: str, settings: Settings) -> Iterator[tuple[str, list[float]]]:
    answers = [ADAPTERS[metric](_case(run, metric, settings)) for run in runs]
    sign = -1.0 if metric in _LESS_IS_BETTER else 1.0
    name = " ".join((metric, *(f"{key}={_word(value)}" for key, value in settings.items())))
    mended = [sign * float(answer.value) for answer in answers]
    yield name, mended
    for defect in sorted({defect for answer in answers for defect in answer.defects}):
        as_it_is = [sign * _with_defect(answer, defect) for answer in answers]
        if as_it_is != mended:
            yield f"{name} ({defect})", as_it_is


def _case(run: Judged, metric: str, settings: Settings) -> Case:
    return Case(
        id=run.trajectory.query or "", metric=metric, settings=settings, reference=run.reference, actual=run.actual
    )


def _with_defect(answer: Answer, defect: str) -> float:
    return float(answer.defects[defect]() if defect in answer.defects else answer.value)


def _word(value: object) -> str:
    return ",".join(map(str, value)) or "names" if isinstance(value, list) else str(value)
