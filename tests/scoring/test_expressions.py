"""Groups, alternatives and repeats: the accepted sequence that fits best is scored; declared effects count changes."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from agentpath_sdk.gold.files import parse_path
from agentpath_sdk.gold.model import AnyOrder, CallStep, GoldPath, OneOf, OptionalStep, Repeat, Sequence, Step
from agentpath_sdk.scoring.scorer import score_path
from agentpath_sdk.scoring.ways import MOST_WAYS, ways_of
from agentpath_sdk.trajectories.model import ToolCall, Trajectory


def run(*tools: str, failed: str = "") -> Trajectory:
    steps = tuple(ToolCall(tool=tool, arguments={}, outcome="error" if tool == failed else "ok") for tool in tools)
    return Trajectory(steps=steps, stop_reason="finished")


def call(tool: str) -> CallStep:
    return CallStep(tool=tool)


def path(*steps: Step, **more: Any) -> GoldPath:
    return GoldPath(id="p", steps=steps, **more)


CALLS = st.sampled_from("abc").map(call)
EXPRESSIONS: st.SearchStrategy[Step] = st.recursive(
    CALLS,
    lambda inner: st.one_of(
        inner.map(lambda step: OptionalStep(step=step)),
        st.lists(inner, min_size=1, max_size=2).map(lambda steps: Sequence(steps=tuple(steps))),
        st.lists(inner, min_size=1, max_size=3).map(lambda steps: AnyOrder(steps=tuple(steps))),
        st.lists(inner, min_size=1, max_size=2).map(lambda steps: OneOf(branches=tuple(steps))),
        st.tuples(inner, st.integers(0, 1)).map(lambda two: Repeat(step=two[0], least=two[1], most=2)),
    ),
    max_leaves=4,
)
RUNS = st.lists(st.sampled_from("abcd"), max_size=4).map(lambda tools: run(*tools))


def words(step: Step) -> set[str]:
    """Return every sequence of tools the step accepts, by the definition and not by the engine."""
    match step:
        case CallStep():
            return {step.tool}
        case Sequence():
            return {"".join(parts) for parts in itertools.product(*map(words, step.steps))}
        case OptionalStep():
            return words(step.step) | {""}
        case OneOf():
            return set().union(*map(words, step.branches))
        case AnyOrder():
            orders = itertools.permutations(step.steps)
            return {"".join(parts) for order in orders for parts in itertools.product(*map(words, order))}
        case Repeat():
            times = range(step.least, (step.most or 0) + 1)
            return {"".join(parts) for n in times for parts in itertools.product(words(step.step), repeat=n)}


@settings(max_examples=150, deadline=None)
@given(EXPRESSIONS, RUNS)
def test_the_best_accepted_sequence_is_scored(step: Step, trajectory: Trajectory) -> None:
    """Nothing an enumeration of the accepted sequences finds has a higher composite."""
    least = min(map(len, words(step)))
    ours = score_path(trajectory, path(step, min_steps=least)).value
    best = max(score_path(trajectory, path(*map(call, word), min_steps=least)).value or 0.0 for word in words(step))
    assert ours == best


@settings(max_examples=100, deadline=None)
@given(EXPRESSIONS)
def test_a_run_made_from_the_expression_scores_one(step: Step) -> None:
    """Each shortest accepted sequence is a perfect run."""
    word = min(words(step), key=len)
    assert score_path(run(*word), path(step)).value == 1.0


@settings(max_examples=100, deadline=None)
@given(EXPRESSIONS, EXPRESSIONS, RUNS)
def test_more_ways_never_lower_the_composite(step: Step, other: Step, trajectory: Trajectory) -> None:
    """A further alternative, or an optional step the run does not take, costs nothing."""
    before = score_path(trajectory, path(step)).value or 0.0
    assert (score_path(trajectory, path(step, alternatives=((other,),))).value or 0.0) >= before
    assert (score_path(trajectory, path(step, OptionalStep(step=call("z")))).value or 0.0) >= before


@settings(max_examples=100, deadline=None)
@given(st.lists(EXPRESSIONS, min_size=2, max_size=3), RUNS)
def test_the_order_in_which_a_group_is_written_changes_nothing(members: list[Step], trajectory: Trajectory) -> None:
    """Members of an any_order group are equals."""
    scores = {score_path(trajectory, path(AnyOrder(steps=order))).value for order in itertools.permutations(members)}
    assert len(scores) == 1


def test_an_expression_with_too_many_sequences_is_not_evaluated_and_says_so() -> None:
    """The engine is bounded: no gold path can hold the worker."""
    big = path(*(AnyOrder(steps=tuple(call(f"{group}{n}") for n in range(6))) for group in "abc"))
    assert ways_of(big, 3) is None
    assert str(MOST_WAYS) in (score_path(run("a0"), big).not_evaluated or "")


FILE = {
    "id": "refund",
    "steps": [{"lookup": {}}, {"refund": {}}],
    "tools": {"lookup": {"effect": "read"}, "refund": {"effect": "write"}},
}


def test_extra_reads_are_free_where_effects_are_declared() -> None:
    """What an agent changed counts in full; looking twice costs nothing."""
    score = score_path(run("lookup", "lookup", "refund"), parse_path(FILE))
    assert (score.name, score.value) == ("effect_score", 1.0)
    assert score.metrics["composite"] < 1.0


def test_a_missing_read_costs_little_and_a_wrong_write_much() -> None:
    """0.5 F1 of writes + 0.5 (0.7 graded recall + 0.3 path efficiency)."""
    gold = parse_path(FILE)
    assert score_path(run("refund"), gold).value == 0.5 + 0.5 * (0.7 * 0.5 + 0.3)
    twice = score_path(run("lookup", "refund", "refund"), gold).value
    assert twice is not None
    assert abs(twice - (0.5 * 2 / 3 + 0.5 * (0.7 + 0.3 * 2 / 3))) < 1e-12


def test_a_write_that_failed_changed_nothing() -> None:
    """Only successful writes count as made."""
    score = score_path(run("lookup", "refund", failed="refund"), parse_path(FILE))
    assert score.value == 0.5 * 0.0 + 0.5 * 1.0


def test_a_tool_of_unknown_effect_is_charged_in_full() -> None:
    """Silence about a tool is no licence."""
    gold = parse_path(FILE)
    free, charged = run("lookup", "lookup", "refund"), run("lookup", "mystery", "refund")
    assert (score_path(free, gold).value or 0.0) > (score_path(charged, gold).value or 0.0)
    assert score_path(replace(free, steps=()), replace(gold, steps=())).value == 1.0
