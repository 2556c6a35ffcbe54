"""The gold language by its definition: every sequence written out, and scored as a plain gold path."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import permutations, product
from typing import Any

from hypothesis import strategies as st

from agentpath_sdk.gold.matchers import Exact, Number
from agentpath_sdk.gold.model import AnyOrder, CallStep, GoldPath, OneOf, OptionalStep, Repeat, Sequence, Step
from agentpath_sdk.trajectories.model import ToolCall, Trajectory

Call = tuple[CallStep, bool]
"""A call and whether it is required."""
MOST_REPEATS = 4


def sequences(step: Step, required: bool = True) -> list[list[Call]]:
    """Return every sequence the step accepts, each once, in the order of the file; endless ones up to a few."""
    match step:
        case CallStep():
            return [[(step, required)]]
        case Sequence():
            return in_a_row([sequences(one, required) for one in step.steps])
        case OptionalStep():
            return once([[], *sequences(step.step, False)])
        case OneOf():
            return once([word for branch in step.branches for word in sequences(branch, required)])
        case AnyOrder():
            members = [sequences(one, required) for one in step.steps]
            return once([word for order in permutations(members) for word in in_a_row(order)])
        case Repeat():
            most = MOST_REPEATS if step.most is None else step.most
            words: list[list[Call]] = []
            for times in range(step.least, max(most, step.least) + 1):
                parts = [sequences(step.step, required and at < step.least) for at in range(times)]
                words += in_a_row(parts)
            return once(words)


def in_a_row(parts: Iterable[list[list[Call]]]) -> list[list[Call]]:
    return once([[call for part in chosen for call in part] for chosen in product(*parts)])


def once(words: list[list[Call]]) -> list[list[Call]]:
    found: dict[tuple[Any, ...], list[Call]] = {}
    for word in words:
        found.setdefault(tuple((id(step), required) for step, required in word), word)
    return list(found.values())


def expansions(path: GoldPath) -> Iterator[tuple[int, list[Call]]]:
    """Yield the alternative, from 1, and each sequence it accepts."""
    for number, way in enumerate((path.steps, *path.alternatives), 1):
        for word in sequences(Sequence(steps=way)):
            yield number, word


def as_linear(path: GoldPath, word: list[Call]) -> GoldPath:
    """Return the gold path that accepts this sequence only, with the shortest way's length of the whole."""
    shortest = sum(required for _, required in word)
    return replace(
        path,
        steps=tuple(step for step, _ in word),
        alternatives=(),
        min_steps=shortest if path.min_steps is None else path.min_steps,
    )


TOOLS = st.sampled_from("abcd")
VALUES = st.sampled_from([1, 2, "red car", "blue car"])
ARGUMENTS = st.dictionaries(st.sampled_from("xy"), VALUES, max_size=1)


def matcher(value: Any, tolerant: bool) -> Any:
    return Number(expected=value, abs_tolerance=1) if tolerant and type(value) is int else Exact(expected=value)


@st.composite
def calls(draw: st.DrawFn) -> CallStep:
    given = draw(st.none() | ARGUMENTS)
    tolerant = draw(st.integers(0, 5)) == 0
    return CallStep(
        tool=draw(TOOLS),
        arguments=None if given is None else {name: matcher(value, tolerant) for name, value in given.items()},
        must_succeed=draw(st.integers(0, 7)) == 0,
    )


def _groups(inner: st.SearchStrategy[Step]) -> st.SearchStrategy[Step]:
    several = st.lists(inner, min_size=1, max_size=3).map(tuple)
    return st.one_of(
        st.builds(Sequence, steps=several),
        st.builds(OptionalStep, step=inner),
        st.builds(AnyOrder, steps=several),
        st.builds(OneOf, branches=several),
        st.builds(Repeat, step=inner, least=st.integers(0, 1), most=st.integers(1, 2)),
    )


STEPS: st.SearchStrategy[Step] = st.recursive(calls(), _groups, max_leaves=4)
WAYS = st.lists(STEPS, max_size=3).map(tuple)
PATHS = st.builds(GoldPath, id=st.just("g"), steps=WAYS, alternatives=st.lists(WAYS, max_size=1).map(tuple))
RUNS = st.lists(
    st.builds(
        ToolCall,
        tool=st.sampled_from("abcde"),
        arguments=ARGUMENTS,
        outcome=st.sampled_from(["ok", "ok", "ok", "error"]),
    ),
    max_size=5,
).map(lambda steps: Trajectory(steps=tuple(steps), stop_reason="finished"))


def run_made_from(word: list[Call]) -> Trajectory:
    """Return a run that does exactly this."""
    return Trajectory(
        steps=tuple(
            ToolCall(tool=step.tool, arguments={name: one.expected for name, one in (step.arguments or {}).items()})
            for step, _ in word
        ),
        stop_reason="finished",
    )
