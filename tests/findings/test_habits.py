"""What a run alone shows: repeated calls, loops, retries, errors."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentpath_sdk.scoring.habits import find_habits, find_loops, repeats, retries
from agentpath_sdk.trajectories.model import Outcome, ToolCall, Trajectory


def call(tool: str, x: object = None, *, result: object = None, outcome: Outcome = "ok", attempt: int = 1) -> ToolCall:
    arguments = {} if x is None else {"x": x}
    return ToolCall(tool=tool, arguments=arguments, result=result, outcome=outcome, attempt=attempt)


def run(*steps: ToolCall) -> Trajectory:
    return Trajectory(steps=steps, agent="a", stop_reason="finished")


def kinds(trajectory: Trajectory) -> list[str]:
    return [finding.kind for finding in find_habits(trajectory)]


def test_a_run_without_habits_has_no_findings() -> None:
    assert find_habits(run(call("a", 1), call("b", 1), call("a", 2))) == ()
    assert find_habits(Trajectory()) == ()


def test_the_same_call_again_is_told_with_both_steps() -> None:
    (finding,) = find_habits(run(call("a", 1), call("b"), call("a", 1)))
    assert finding.kind == "repeated_call"
    assert finding.message == "step 3: a repeats step 1, arguments and all"
    assert (finding.step, finding.tool) == (2, "a")


def test_other_arguments_and_unknown_ones_are_no_repetition() -> None:
    hidden = ToolCall(tool="a", arguments=None, arguments_state="not_captured")
    assert repeats(run(call("a", 1), call("a", 2), hidden, hidden)) == []


def test_steps_that_the_gold_path_wants_are_no_habit() -> None:
    twice = run(call("a", 1), call("a", 1))
    assert find_habits(twice, wanted={0, 1}) == ()


def test_a_cycle_without_new_information_is_one_finding() -> None:
    looping = run(*[call("search", "mars", result="none"), call("open", 1, result="none")] * 3, call("finish"))
    (finding,) = find_habits(looping)
    assert finding.kind == "loop"
    assert finding.message == "steps 1 to 6: search > open, 3 times the same; nothing new came back"
    assert finding.step == 2
    (loop,) = find_loops(looping)
    assert (loop.start, loop.period, loop.rounds, list(loop.again)) == (0, 2, 3, [2, 3, 4, 5])


def test_a_round_that_brings_something_new_ends_the_loop() -> None:
    polling = [call("status", 1, result="pending")] * 3 + [call("status", 1, result="done")]
    (loop,) = find_loops(run(*polling))
    assert list(loop.again) == [1, 2]
    assert find_loops(run(*(call("status", 1, result=f"{n} %") for n in range(6)))) == []


def test_results_that_were_not_recorded_are_taken_as_nothing_new_and_that_is_said() -> None:
    blind = ToolCall(tool="a", arguments={}, result_state="not_captured")
    (finding,) = find_habits(run(blind, blind, blind))
    assert finding.message == "steps 1 to 3: a, 3 times the same; no new result is on record"


def test_one_call_twice_is_a_repetition_and_no_loop() -> None:
    assert kinds(run(call("a"), call("a"))) == ["repeated_call"]


def test_a_long_cycle_is_named_by_its_first_calls() -> None:
    (finding,) = find_habits(run(*[call(tool) for tool in "abcde"] * 2))
    assert finding.message.startswith("steps 1 to 10: a > b > c > 2 more, 2 times the same")


def test_a_retry_is_told_with_how_it_ended() -> None:
    tried = run(call("a", 1, outcome="error"), call("b"), call("a", 1, outcome="error"), call("a", 1), call("c"))
    messages = [finding.message for finding in find_habits(tried) if finding.kind == "retried"]
    assert messages == ["step 1: a failed and was tried again 2 times, then it succeeded"]
    assert retries(tried) == [(0, 2, 3)]
    assert "repeated_call" not in kinds(tried)


def test_a_retry_that_never_succeeds_is_told_so() -> None:
    tried = run(call("a", 1, outcome="error"), call("a", 1, outcome="error"))
    assert [f.message for f in find_habits(tried)] == [
        "step 1: a failed and was tried again once, still error",
        "2 of 2 calls failed (100%): a 2",
    ]


def test_the_framework_s_count_of_attempts_is_a_retry_whatever_the_arguments() -> None:
    hidden = [
        ToolCall(tool="a", arguments_state="not_captured", outcome="error"),
        ToolCall(tool="a", arguments_state="not_captured", attempt=2),
    ]
    assert retries(run(*hidden)) == [(0, 1)]


def test_many_errors_are_told_from_a_quarter_of_the_calls_on() -> None:
    failing = [call("a", 1, outcome="error"), call("b", 1, outcome="error")]
    fine = [call("c", n) for n in range(6)]
    assert "2 of 8 calls failed (25%): a 1, b 1" in [f.message for f in find_habits(run(*failing, *fine))]
    assert "error_rate" not in kinds(run(*failing, *fine, call("d")))
    assert "error_rate" not in kinds(run(failing[0]))


def test_no_secret_and_no_line_break_gets_into_a_message() -> None:
    (finding,) = find_habits(
        run(
            call("a\nsk-proj-abcdefghijklmnopqrstuvwx0123456789", 1),
            call("a\nsk-proj-abcdefghijklmnopqrstuvwx0123456789", 1),
        )
    )
    assert "sk-proj" not in finding.message
    assert "\n" not in finding.message


def test_what_is_no_json_is_equal_to_nothing() -> None:
    assert find_habits(run(call("a", {1, 2}), call("a", {1, 2}))) == ()


calls = st.lists(
    st.builds(
        call,
        st.sampled_from("ab"),
        st.sampled_from([1, 2]),
        result=st.sampled_from([None, 1]),
        outcome=st.sampled_from(["ok", "error"]),
    ),
    max_size=30,
)


@given(calls)
def test_findings_point_at_steps_and_no_step_is_told_twice_as_repeated(steps: list[ToolCall]) -> None:
    found = find_habits(run(*steps))
    looped = {at for loop in find_loops(run(*steps)) for at in loop.again}
    told = [finding.step for finding in found if finding.kind == "repeated_call"]
    assert len(told) == len(set(told))
    assert not looped & set(told)
    assert all(finding.step is None or 0 <= finding.step < len(steps) for finding in found)


@given(calls)
def test_each_round_of_a_loop_is_the_first_round_again(steps: list[ToolCall]) -> None:
    end = 0
    for loop in find_loops(run(*steps)):
        assert loop.start >= end
        for at in loop.again:
            first = steps[loop.start + (at - loop.start) % loop.period]
            assert (steps[at].tool, steps[at].arguments) == (first.tool, first.arguments)
            assert steps[at].result == first.result
        end = loop.again.stop


@pytest.mark.parametrize("length", [200, 2_000])
def test_long_runs_of_one_call_are_one_loop(length: int) -> None:
    (loop,) = find_loops(run(*[call("a", 1)] * length))
    assert loop.rounds * loop.period == length
