"""One case of a peer's metric, and what we answer to it."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from agentpath_sdk.scoring.presets_calls import Arguments, Call

__all__ = [
    "NOT_EMPTY",
    "TOLERANCE",
    "Adapter",
    "Answer",
    "Case",
    "Step",
    "Value",
    "calls",
    "close",
    "grouped",
    "named",
    "placed",
    "read_case",
]

Step: TypeAlias = Mapping[str, Any]
"""``tool`` and, where known, ``arguments``, ``turn``, ``invocation``, ``output``, ``status``, ``type``, ``denied``."""

Value: TypeAlias = bool | float

TOLERANCE: Final = 1e-6

NOT_EMPTY: Final = "no-arguments-is-not-empty"
"""A defect that several share: a call without arguments and one with an empty object of them are different calls."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """Two lists of steps, the peer's settings, and the value the peer returns."""

    id: str
    metric: str
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])
    reference: Sequence[Step] = ()
    actual: Sequence[Step] = ()
    alternatives: Sequence[Sequence[Step]] = ()
    """Further references, where the peer takes several."""
    expected: Value | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """Our value, and under each defect that may be in play the value that the defect makes of it.

    A defect is declared only where our value differs from the peer's and the defect alone accounts for it.
    """

    value: Value
    defects: Mapping[str, Callable[[], Value]] = field(default_factory=dict[str, Callable[[], Value]])

    def defect_behind(self, expected: Value) -> str | None:
        """Return the name of the first defect that turns our value into ``expected``; None where ours is theirs."""
        if close(self.value, expected):
            return None
        return next((name for name, value in self.defects.items() if close(value(), expected)), None)


Adapter: TypeAlias = Callable[[Case], Answer]


def close(one: Value, other: Value) -> bool:
    """Return whether two values are the same within 1e-6."""
    return abs(float(one) - float(other)) <= TOLERANCE


def read_case(line: str) -> Case:
    """Return the case in one JSON line; keys that are no fields of a case are passed over."""
    found = json.loads(line)
    return Case(**{name: found[name] for name in Case.__dataclass_fields__ if name in found})


def calls(steps: Sequence[Step], *, absent: Arguments = None) -> list[Call]:
    """Return (tool, arguments) for each step, ``absent`` where none are given."""
    return [(step["tool"], step.get("arguments", absent)) for step in steps]


def named(steps: Sequence[Step]) -> list[Call]:
    """Return the steps without their arguments."""
    return [(step["tool"], None) for step in steps]


def placed(steps: Sequence[Call]) -> list[Call]:
    """Return the calls with their place as part of the name, so that only equal places can be paired."""
    return [(f"{place} {tool}", arguments) for place, (tool, arguments) in enumerate(steps)]


def grouped(steps: Sequence[Step], key: str) -> list[list[Step]]:
    """Return runs of steps with an equal ``key``; a step without it is a group of its own."""
    numbered = [(step.get(key, f"alone {place}"), step) for place, step in enumerate(steps)]
    return [[step for _, step in group] for _, group in itertools.groupby(numbered, key=lambda pair: pair[0])]
