"""``lightspeed.tool_eval``: lists of call sequences, values as regular expressions, several alternatives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from cases import Adapter, Answer, Case, Step, grouped
from comparers import patterns

from agentpath_sdk.scoring.presets import MatchMode, match_path
from agentpath_sdk.scoring.presets_calls import Arguments, Call

__all__ = ["ADAPTERS"]

UNORDERED: Final = "lightspeed-partial-ignores-order"
FIRST_FIT: Final = "lightspeed-sorted-first-fit-pairing"

_MODES: Final[Mapping[tuple[bool, bool], MatchMode]] = {
    (True, True): "exact",
    (True, False): "unordered",
    (False, True): "in_order",
    (False, False): "any_order",
}
"""By ``full_match`` and ``ordered``."""


def _tool_eval(case: Case) -> Answer:
    full, ordered = case.settings.get("full_match", True), case.settings.get("ordered", True)
    run, golds = _sequences(case.actual), [_sequences(steps) for steps in case.alternatives or [case.reference]]
    name = UNORDERED if ordered else FIRST_FIT
    return Answer(
        value=_any(run, golds, _MODES[full, ordered]),
        defects={
            name: lambda: any(_their_pairing(run, gold, full=full, ordered=ordered) for gold in golds),
        },
    )


def _any(run: Sequence[Call], golds: Sequence[Sequence[Call]], mode: MatchMode) -> bool:
    return any(match_path(run, gold, mode=mode, arguments=_same_sequence) for gold in golds)


def _sequences(steps: Sequence[Step]) -> list[Call]:
    return [("sequence", {"steps": group}) for group in grouped(steps, "turn")]


def _same_sequence(gold: Arguments, run: Arguments) -> float:
    expected, given = _steps(gold), _steps(run)
    return float(match_path(_calls(given), _calls(expected), mode="exact", arguments=_same_call))


def _steps(sequence: Arguments) -> Sequence[Step]:
    return sequence["steps"] if sequence else ()


def _calls(steps: Sequence[Step]) -> list[Call]:
    return [(step["tool"], {"arguments": step.get("arguments", {}), "output": step.get("output")}) for step in steps]


def _same_call(gold: Arguments, run: Arguments) -> float:
    expected, given = gold or {}, run or {}
    wanted = expected["output"]
    if wanted is not None and (given["output"] is None or not patterns({"": wanted}, {"": given["output"]})):
        return 0.0
    return patterns(expected["arguments"], given["arguments"])


def _their_pairing(run: Sequence[Call], gold: Sequence[Call], *, full: bool, ordered: bool) -> bool:
    """Return the verdict of sorting by tool names, then by place (full) or first come, first served (partial)."""
    if not ordered:
        run, gold = sorted(run, key=_names), sorted(gold, key=_names)
    if full:
        return match_path(run, gold, mode="exact", arguments=_same_sequence)
    free = list(run)
    for _, expected in gold:
        found = next((at for at, (_, given) in enumerate(free) if _same_sequence(expected, given)), None)
        if found is None:
            return False
        del free[found]
    return True


def _names(sequence: Call) -> tuple[str, ...]:
    return tuple(step["tool"] for step in _steps(sequence[1]))


ADAPTERS: Final[Mapping[str, Adapter]] = {"lightspeed.tool_eval": _tool_eval}
