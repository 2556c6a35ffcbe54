"""Match modes and measures that users of other evaluators know, under names that can be asked for.

Modes say yes or no; measures give a share. All of them pair gold steps with run steps one to one, never first come,
first served, and follow set logic: an empty set of calls is within any. So a gold path without steps is recalled in
full, an empty run is a subset of any gold path, and nothing expected and nothing done is 1.0 everywhere.

``any_order`` and ``superset`` ask one question (is the gold within the run?) under the two names it has in use;
``unordered`` asks for the same calls, no more and no fewer, in any order.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, get_args

from agentpath_sdk.errors import ConfigurationError
from agentpath_sdk.gold.model import GoldPath
from agentpath_sdk.scoring.matching import Pairs, maximum_assignment, maximum_matching, maximum_sequence
from agentpath_sdk.scoring.presets_calls import (
    ArgumentMode,
    ArgumentRule,
    Call,
    CallTable,
    GoldStep,
    RunStep,
    compare_calls,
)
from agentpath_sdk.scoring.presets_reasons import Side, reasons_for
from agentpath_sdk.scoring.ways import is_linear, plain_calls
from agentpath_sdk.settings import ScoringSettings
from agentpath_sdk.trajectories.model import Trajectory

if TYPE_CHECKING:
    from typing_extensions import TypeIs

__all__ = [
    "PRESETS",
    "MatchMode",
    "Measure",
    "Order",
    "Preset",
    "PresetResult",
    "find_preset",
    "match_path",
    "measure_path",
    "score_calls",
    "score_preset",
]

MatchMode: TypeAlias = Literal["exact", "in_order", "any_order", "unordered", "subset", "superset"]
"""``exact``: the same calls in the same order. ``in_order``: the gold's calls in their order, others in between
allowed. ``any_order`` and ``superset``: the gold's calls, others allowed. ``unordered``: the same calls in any order.
``subset``: no call that the gold does not have."""

Measure: TypeAlias = Literal["precision", "recall", "f1", "graded_recall"]
"""With tp whole calls paired, n gold and m run steps: tp / m, tp / n, 2 tp / (n + m). ``graded_recall`` sums the
pairs' argument similarities in place of tp."""

Order: TypeAlias = Literal["any_order", "in_order"]
"""``in_order`` pairs without crossings (the longest common subsequence)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Preset:
    """A mode or a measure with its settings, under a name."""

    name: str
    kind: MatchMode | Measure
    arguments: ArgumentMode = "exact"
    order: Order = "any_order"
    """How a measure pairs; a mode says it itself."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PresetResult:
    """What a preset says of one run."""

    name: str
    value: float | None
    """In 0..1, for modes 0.0 or 1.0; None = not evaluated."""
    pairs: Pairs = ()
    """(gold step, run step) by index, one to one. An answer that no step gave has the index after the last step;
    answering steps that the gold does not ask for are not numbered."""
    reasons: tuple[str, ...] = ()
    """Why it is not 1.0, in words, one line a step."""
    not_evaluated: str | None = None
    """Reason why there is no value, else None."""


def match_path(
    run: Sequence[RunStep],
    gold: Sequence[GoldStep],
    *,
    mode: MatchMode,
    arguments: ArgumentRule = "exact",
    overrides: Mapping[str, ArgumentRule] | None = None,
) -> bool:
    """Return whether ``run`` lies against ``gold`` as ``mode`` says.

    Steps are (tool, arguments) tuples, a trajectory's ``ToolCall`` or a gold path's ``CallStep``; ``overrides`` gives
    single tools a rule of their own. Arguments that are not known match nothing: ``score_calls`` tells them apart.
    """
    table = compare_calls(run, gold, arguments, overrides)
    return _holds(mode, len(_pairs(table, mode, "any_order")), table)


def measure_path(
    run: Sequence[RunStep],
    gold: Sequence[GoldStep],
    *,
    measure: Measure,
    arguments: ArgumentRule = "exact",
    order: Order = "any_order",
    overrides: Mapping[str, ArgumentRule] | None = None,
) -> float:
    """Return ``measure`` of ``run`` against ``gold``, in 0..1; the other parameters as for ``match_path``."""
    table = compare_calls(run, gold, arguments, overrides)
    return _share(measure, _total(table, _pairs(table, measure, order), measure), table)


def find_preset(name: str) -> Preset:
    """Return the preset called ``name``; an unknown name is a ConfigurationError that lists the known ones."""
    if name not in PRESETS:
        raise ConfigurationError(f"unknown preset {name!r}; known are {', '.join(PRESETS)}")
    return PRESETS[name]


def score_calls(run: Sequence[RunStep], gold: Sequence[GoldStep], name: str) -> PresetResult:
    """Return what the preset called ``name`` says, with pairs and reasons.

    Not evaluated where the verdict hangs on arguments that are not known (cut, redacted, not captured).
    """
    preset = find_preset(name)
    table = compare_calls(run, gold, preset.arguments)
    value, pairs = _evaluate(table, preset)
    if table.unknown and _evaluate(compare_calls(run, gold, preset.arguments, unknown="match"), preset)[0] != value:
        return PresetResult(name=name, value=None, not_evaluated="; ".join(table.unknown))
    # An empty run costs precision too, and only the gold's side can say what is missing.
    charged = _CHARGED[preset.kind] if run else _BOTH
    reasons = () if value == 1.0 else reasons_for(run, gold, table, pairs, charged=charged)
    return PresetResult(name=name, value=value, pairs=pairs, reasons=reasons)


def score_preset(
    trajectory: Trajectory, gold_path: GoldPath | None, name: str, *, settings: ScoringSettings | None = None
) -> PresetResult:
    """Return what the preset called ``name`` says of a run; an unknown name is a ConfigurationError.

    A gold step named as one of ``settings.terminal_tools`` asks that the run answered, whatever it answered; a gold
    path without such a step counts none on either side.
    """
    find_preset(name)
    reason = "no gold path" if gold_path is None else _why_not(trajectory)
    if gold_path is not None and not is_linear(gold_path):
        reason = "a preset compares with one plain sequence; this gold path has groups or alternatives"
    if gold_path is None or reason is not None:
        return PresetResult(name=name, value=None, not_evaluated=reason)
    run, gold = _with_answers(trajectory, gold_path, (settings or ScoringSettings()).terminal_tools)
    return score_calls(run, gold, name)


_ANSWER: Final[Call] = ("final answer", None)


def _with_answers(
    trajectory: Trajectory, gold_path: GoldPath, terminal: frozenset[str]
) -> tuple[list[RunStep], list[GoldStep]]:
    """Return both sides with every terminal step as one word; where the gold has none, the run has none either."""
    gold: list[GoldStep] = [_ANSWER if step.tool in terminal else step for step in plain_calls(gold_path)]
    if _ANSWER not in gold:
        return [step for step in trajectory.steps if step.tool not in terminal], gold
    run: list[RunStep] = [_ANSWER if step.tool in terminal else step for step in trajectory.steps]
    # With content capture off the answer is not known, but that there was one is.
    answered = trajectory.final_answer is not None or trajectory.stop_reason == "finished"
    return ([*run, _ANSWER] if answered and _ANSWER not in run else run), gold


def _why_not(trajectory: Trajectory) -> str | None:
    """Return why no preset may judge this run, or None."""
    if trajectory.completeness == "known_incomplete":
        return f"known incomplete: {', '.join(trajectory.incomplete_reasons) or 'steps are missing'}"
    stopped: str = trajectory.stop_reason
    if stopped == "unknown" and trajectory.steps:
        stopped = trajectory.steps[-1].outcome
    if stopped in ("pending", "interrupted"):
        return "pending"
    return "cancelled" if stopped == "cancelled" else None


def _evaluate(table: CallTable, preset: Preset) -> tuple[float, Pairs]:
    pairs = _pairs(table, preset.kind, preset.order)
    if _is_mode(preset.kind):
        return float(_holds(preset.kind, len(pairs), table)), pairs
    return _share(preset.kind, _total(table, pairs, preset.kind), table), pairs


def _is_mode(kind: MatchMode | Measure) -> TypeIs[MatchMode]:
    return kind in _MODES


def _pairs(table: CallTable, kind: MatchMode | Measure, order: Order) -> Pairs:
    if kind == "exact":
        return tuple((at, at) for at in range(min(table.gold, table.run)) if table.passed(at, at))
    graded = kind == "graded_recall"
    if kind == "in_order" or (not _is_mode(kind) and order == "in_order"):
        return maximum_sequence(table.weights(graded=graded))
    if graded:
        return maximum_assignment(table.weights(graded=True))
    return maximum_matching(table.edges(), table.run)


def _holds(mode: MatchMode, paired: int, table: CallTable) -> bool:
    if mode == "subset":
        return paired == table.run
    if mode in ("exact", "unordered"):
        return paired == table.gold == table.run
    return paired == table.gold


def _total(table: CallTable, pairs: Pairs, measure: Measure) -> float:
    if measure != "graded_recall":
        return len(pairs)
    return math.fsum(table.similarity(one, other) for one, other in pairs)


def _share(measure: Measure, total: float, table: CallTable) -> float:
    """Return the measure; what is left when nothing is counted: an empty gold is recalled, and nothing is precise."""
    if measure == "precision":
        return total / table.run if table.run else float(table.gold == 0)
    if measure == "f1":
        return 2 * total / (table.gold + table.run) if table.gold + table.run else 1.0
    return total / table.gold if table.gold else 1.0


_MODES: Final[tuple[MatchMode, ...]] = get_args(MatchMode)
_MEASURES: Final[tuple[Measure, ...]] = get_args(Measure)
_ARGUMENTS: Final[tuple[ArgumentMode, ...]] = get_args(ArgumentMode)
_ORDERS: Final[tuple[Order, ...]] = get_args(Order)

_BOTH: Final[frozenset[Side]] = frozenset({"gold", "run"})
_CHARGED: Final[Mapping[MatchMode | Measure, frozenset[Side]]] = {
    "exact": _BOTH,
    "unordered": _BOTH,
    "f1": _BOTH,
    "subset": frozenset({"run"}),
    "precision": frozenset({"run"}),
    "in_order": frozenset({"gold"}),
    "any_order": frozenset({"gold"}),
    "superset": frozenset({"gold"}),
    "recall": frozenset({"gold"}),
    "graded_recall": frozenset({"gold"}),
}
"""On which side a step that found no partner costs something."""


def _presets() -> Iterator[Preset]:
    for arguments in _ARGUMENTS:
        ending = "" if arguments == "exact" else f"/{arguments}"
        for mode in _MODES:
            yield Preset(name=f"{mode}{ending}", kind=mode, arguments=arguments)
        for order in _ORDERS:
            beginning = "" if order == "any_order" else f"{order}_"
            for measure in _MEASURES:
                yield Preset(name=f"{beginning}{measure}{ending}", kind=measure, arguments=arguments, order=order)


PRESETS: Final[Mapping[str, Preset]] = MappingProxyType({preset.name: preset for preset in _presets()})
"""Every mode and measure by name: ``in_order`` (arguments exact), ``in_order/ignore``, ``f1/superset``,
``in_order_recall``, and so on."""
