"""Calls whose order is free, as any_order groups within the bounds of the language."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from agentpath_sdk.gold.expression import MAX_ANY_ORDER, MAX_STATES, states
from agentpath_sdk.gold.model import AnyOrder, Step

__all__ = ["any_order_groups"]

_SMALL_GROUP: Final = 4


def any_order_groups(members: Sequence[Step]) -> tuple[Step, ...]:
    """Return one any_order group; where there are more members than one may have, several in a row.

    The row takes fewer orders than meant, yet far more than the members as written would.
    """
    if len(members) < 2:
        return tuple(members)
    for size in (MAX_ANY_ORDER, _SMALL_GROUP):
        groups = [_group(members[at : at + size]) for at in range(0, len(members), size)]
        if sum(map(states, groups)) <= MAX_STATES // 2:
            return tuple(groups)
    return tuple(members)


def _group(members: Sequence[Step]) -> Step:
    return members[0] if len(members) == 1 else AnyOrder(steps=tuple(members))
