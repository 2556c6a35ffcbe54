"""Why a preset's verdict is not full marks: one line for each step that found no partner."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from typing import Final, Literal, TypeAlias

from agentpath_sdk.scoring.matching import Pairs
from agentpath_sdk.scoring.presets_calls import CallTable, GoldStep, RunStep, tool_of

__all__ = ["Side", "reasons_for"]

Side: TypeAlias = Literal["gold", "run"]

_MOST: Final = 20


def reasons_for(
    run: Sequence[RunStep], gold: Sequence[GoldStep], table: CallTable, pairs: Pairs, *, charged: Collection[Side]
) -> tuple[str, ...]:
    """Return at most 20 lines: gold steps without a partner, then run steps without one, where ``charged``."""
    lines = _lines(run, gold, table, pairs, charged)
    return tuple(islice(lines, _MOST))


def _lines(
    run: Sequence[RunStep], gold: Sequence[GoldStep], table: CallTable, pairs: Pairs, charged: Collection[Side]
) -> Iterator[str]:
    taken = {other for _, other in pairs}
    if "gold" in charged:
        partner = dict(pairs)
        for at, step in enumerate(gold):
            if at not in partner or not table.passed(at, partner[at]):
                free = [other for other in range(table.run) if other not in taken or other == partner.get(at)]
                yield f"gold step {at + 1}, {tool_of(step)}: {_what_happened(at, free, table)}"
    if "run" in charged:
        for at, call in enumerate(run):
            if at not in taken:
                yield f"step {at + 1}, {tool_of(call)}: no gold step is left for it"


def _what_happened(at: int, free: Sequence[int], table: CallTable) -> str:
    """Return what became of a gold step, judged by the nearest call of its tool that is nobody else's."""
    same_tool = [other for other in free if table.matches[at][other] is not None]
    if not same_tool:
        return "not called" if all(match is None for match in table.matches[at]) else "not called again"
    nearest = max(same_tool, key=lambda other: (table.passed(at, other), table.similarity(at, other), -other))
    match = table.matches[at][nearest]
    if match is None or match.passed:
        return f"called out of its place, as step {nearest + 1}"
    reasons = "; ".join(f"{name} {reason}" for name, reason in match.reasons.items())
    return f"called as step {nearest + 1}, but {reasons}"
