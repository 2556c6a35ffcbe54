"""Steps above an agent's usual range."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agentpath_sdk.scoring.habits import find_habits
from agentpath_sdk.scoring.habits_usual import UsualRange
from agentpath_sdk.trajectories.model import StopReason, ToolCall, Trajectory

# Its arguments are unknown, so that many of it are no loop.
CALL = ToolCall(tool="a", arguments_state="not_captured")


def run(steps: int, agent: str = "planner", stop_reason: StopReason = "finished") -> Trajectory:
    return Trajectory(steps=(CALL,) * steps, agent=agent, stop_reason=stop_reason)


def learnt(*steps: int) -> UsualRange:
    usual = UsualRange()
    for count in steps:
        usual.add(run(count))
    return usual


def test_a_run_far_above_the_usual_is_told_with_the_range() -> None:
    usual = learnt(*([4, 5, 6] * 20))
    (finding,) = find_habits(run(20), usual=usual)
    assert finding.kind == "many_steps"
    assert finding.message == "20 steps; planner usually takes 4 to 9 (median 5, 60 runs)"
    assert find_habits(run(9), usual=usual) == ()


def test_nothing_is_usual_before_thirty_runs_nor_for_another_agent() -> None:
    assert find_habits(run(50), usual=learnt(*[3] * 29)) == ()
    usual = learnt(*[3] * 30)
    assert find_habits(run(50, agent="other"), usual=usual) == ()
    assert find_habits(run(50), usual=usual) != ()


def test_one_step_more_than_always_is_not_unusual() -> None:
    assert find_habits(run(4), usual=learnt(*[3] * 100)) == ()


def test_runs_that_were_cut_short_teach_nothing() -> None:
    usual = UsualRange()
    for _ in range(100):
        usual.add(run(3, stop_reason="limit"))
    assert usual.range_of("planner") is None


def test_an_agent_that_changes_is_learnt_anew() -> None:
    usual = learnt(*[3] * 5_000, *[30] * 6_000)
    assert find_habits(run(31), usual=usual) == ()
    found = usual.range_of("planner")
    assert found is not None
    assert found.median == 30


def test_memory_is_bounded_by_the_agents_heard_of_last() -> None:
    usual = UsualRange()
    for number in range(1_200):
        for _ in range(30):
            usual.add(run(2, agent=f"agent {number}"))
    assert usual.range_of("agent 0") is None
    assert usual.range_of("agent 1199") is not None


@given(st.lists(st.integers(min_value=0, max_value=600), min_size=30, max_size=200))
def test_quantiles_are_those_of_the_runs_and_most_runs_are_usual(steps: list[int]) -> None:
    found = learnt(*steps).range_of("planner")
    assert found is not None
    assert found.low <= found.median <= found.high
    within = sum(min(count, 511) <= found.high for count in steps)
    assert within >= 0.95 * len(steps) - 1e-9
