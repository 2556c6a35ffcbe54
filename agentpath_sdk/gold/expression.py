"""The gold expression as a tree: its calls, its shortest way, and how large it may be."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from agentpath_sdk.gold.model import AnyOrder, CallStep, GoldPath, OneOf, OptionalStep, Repeat, Sequence, Step

__all__ = [
    "MAX_ANY_ORDER",
    "MAX_NESTING",
    "MAX_REPEATS",
    "MAX_STATES",
    "all_calls",
    "calls_in",
    "inner_steps",
    "least_calls",
    "nesting",
    "placed_calls",
    "states",
    "ways",
]

MAX_ANY_ORDER: Final = 8
"""Members of one any_order group: each may be done or not, which makes 256 states."""
MAX_STATES: Final = 5_000
"""States of all ways of a path together, by ``states``."""
MAX_NESTING: Final = 10
"""Groups inside groups."""
MAX_REPEATS: Final = 100
"""Largest least number of a repetition, since each one is a step of its own."""


def calls_in(steps: Iterable[Step]) -> Iterator[CallStep]:
    """Yield every call of the steps, as written."""
    for step in steps:
        if isinstance(step, CallStep):
            yield step
        else:
            yield from calls_in(inner_steps(step))


def all_calls(path: GoldPath) -> Iterator[CallStep]:
    """Yield every call of the path and of its alternatives, as written."""
    for way in ways(path):
        yield from calls_in(way)


def ways(path: GoldPath) -> tuple[tuple[Step, ...], ...]:
    """Return the steps and each alternative to them."""
    return (path.steps, *path.alternatives)


def inner_steps(step: Step) -> tuple[Step, ...]:
    """Return the members of a group; none for a call."""
    match step:
        case Sequence() | AnyOrder():
            return step.steps
        case OneOf():
            return step.branches
        case OptionalStep() | Repeat():
            return (step.step,)
        case CallStep():
            return ()


def least_calls(step: Step) -> int:
    """Return the number of calls of the shortest expansion."""
    match step:
        case CallStep():
            return 1
        case OptionalStep():
            return 0
        case Repeat():
            return step.least * least_calls(step.step)
        case OneOf():
            return min(map(least_calls, step.branches), default=0)
        case Sequence() | AnyOrder():
            return sum(map(least_calls, step.steps))


def states(step: Step) -> int:
    """Return how many places a run can be at inside the step: one per call, one per set of done members of a group."""
    match step:
        case CallStep():
            return 1
        case Repeat():
            return max(step.least, 1) * states(step.step)
        case AnyOrder():
            # While one member is under way, each set of the others may be done.
            members = len(step.steps)
            return (1 << members) + (1 << max(members - 1, 0)) * sum(map(states, step.steps))
        case _:
            return sum(map(states, inner_steps(step)))


def nesting(step: Step) -> int:
    """Return how deep groups stand in groups; 0 for a call."""
    return 0 if isinstance(step, CallStep) else 1 + max(map(nesting, inner_steps(step)), default=0)


def placed_calls(path: GoldPath) -> Iterator[tuple[str, CallStep]]:
    """Yield each call with its place in words, numbered as descriptions number it: ``step 2.1``."""
    for at, way in enumerate(ways(path)):
        start = f"alternative {at}, step " if at else "step "
        for number, step in enumerate(way, 1):
            yield from _placed(f"{start}{number}", step)


def _placed(place: str, step: Step) -> Iterator[tuple[str, CallStep]]:
    match step:
        case CallStep():
            yield place, step
        case OptionalStep() | Repeat():
            yield from _placed(place, step.step)
        case _:
            for number, inner in enumerate(inner_steps(step), 1):
                yield from _placed(f"{place}.{number}", inner)
