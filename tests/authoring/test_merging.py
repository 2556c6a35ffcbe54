"""Several good runs of one task become one expression."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentpath_sdk.gold.authoring.cleaning import clean_runs
from agentpath_sdk.gold.authoring.merging import merge
from agentpath_sdk.gold.dumping import dump_paths, path_entry
from agentpath_sdk.gold.expression import MAX_ANY_ORDER
from agentpath_sdk.gold.files import parse_path
from agentpath_sdk.gold.model import GoldPath, Step
from agentpath_sdk.trajectories.model import ToolCall, Trajectory

MakeRun = Callable[..., Trajectory]
Accepts = Callable[[Sequence[Step], Sequence[ToolCall]], bool]


def written(steps: Sequence[Step]) -> Any:
    return path_entry(GoldPath(id="p", steps=tuple(steps)))["steps"]


def search(query: str) -> tuple[str, dict[str, Any]]:
    return ("search", {"query": query})


def test_what_all_runs_share_is_required_and_the_rest_optional(make_run: MakeRun) -> None:
    merged = merge([make_run("a", "b", "c"), make_run("a", "c"), make_run("a", "c", "d")])
    assert written(merged.steps) == [{"a": {}}, {"optional": {"b": {}}}, {"c": {}}, {"optional": {"d": {}}}]
    assert [(step.tool, step.role, step.seen, step.of) for step in merged.evidence] == [
        ("a", "required", 3, 3),
        ("b", "optional", 1, 3),
        ("c", "required", 3, 3),
        ("d", "optional", 1, 3),
    ]
    assert (merged.runs, merged.lengths) == (3, (2, 3))


def test_steps_that_came_in_different_orders_are_in_any_order(make_run: MakeRun) -> None:
    merged = merge([make_run("a", "b", "c", "d"), make_run("a", "c", "b", "d")])
    assert written(merged.steps) == [{"a": {}}, {"any_order": [{"b": {}}, {"c": {}}]}, {"d": {}}]
    assert merged.any_order == (("b", "c"),)


def test_what_stays_together_in_a_group_stays_in_order(make_run: MakeRun) -> None:
    merged = merge([make_run("find", "open", "ask"), make_run("ask", "find", "open")])
    assert written(merged.steps) == [{"any_order": [[{"find": {}}, {"open": {}}], {"ask": {}}]}]


def test_interleaved_steps_are_each_free(make_run: MakeRun, accepts: Accepts) -> None:
    """A member of a group runs in one piece, so two chains that were mixed cannot be members."""
    runs = [make_run("a1", "b1", "a2", "b2"), make_run("b1", "a1", "b2", "a2")]
    merged = merge(runs)
    assert all(accepts(merged.steps, run.steps) for run in runs)


def test_calls_that_were_asked_for_together_have_no_order(make_run: MakeRun) -> None:
    def together() -> Trajectory:
        calls = [ToolCall(tool=tool, arguments={}, parallel_group=1) for tool in "ab"]
        return make_run(*calls, "c")

    assert written(merge([together()]).steps) == [{"any_order": [{"a": {}}, {"b": {}}]}, {"c": {}}]


def test_runs_that_went_one_of_two_ways_need_one_of_them(make_run: MakeRun, accepts: Accepts) -> None:
    """Were both ways optional, a run that went neither would be as good."""
    merged = merge([make_run("a", "x", "y", "z"), make_run("a", "u", "z"), make_run("a", "u", "z")])
    assert written(merged.steps) == [{"a": {}}, {"one_of": [{"u": {}}, [{"x": {}}, {"y": {}}]]}, {"z": {}}] or written(
        merged.steps
    ) == [{"a": {}}, {"one_of": [[{"x": {}}, {"y": {}}], {"u": {}}]}, {"z": {}}]
    assert not accepts(merged.steps, make_run("a", "z").steps)
    assert {step.role for step in merged.evidence if step.tool in "xyu"} == {"one_of"}


def test_a_step_is_found_again_by_its_arguments_and_not_by_its_place(make_run: MakeRun) -> None:
    merged = merge(
        [
            make_run(search("Jonny Craig"), search("Pete Doherty")),
            make_run(search("Pete Doherty"), search("Jonny Craig")),
        ]
    )
    assert written(merged.steps) == [
        {"any_order": [{"search": {"query": "Jonny Craig"}}, {"search": {"query": "Pete Doherty"}}]}
    ]


def test_a_step_with_other_arguments_between_the_same_steps_is_the_same_step(make_run: MakeRun) -> None:
    merged = merge(
        [make_run("a", search("capital of France"), "b"), make_run("a", search("Paris"), "b")],
    )
    assert written(merged.steps)[1] == {"search": {"query": {"$one_of": [{"$fold": "capital of France"}, "Paris"]}}}
    assert [step.role for step in merged.evidence] == ["required"] * 3


def test_values_that_vary_together_stay_together(make_run: MakeRun, accepts: Accepts) -> None:
    """A mix of the two bookings was never seen to be right."""

    def book(flight: str, price: int) -> tuple[str, dict[str, Any]]:
        return ("book", {"user": "u", "flight": flight, "price": price})

    merged = merge([make_run(book("HAT1", 100)), make_run(book("XYZ9", 250))])
    assert accepts(merged.steps, make_run(book("XYZ9", 250)).steps)
    assert not accepts(merged.steps, make_run(book("HAT1", 250)).steps)


def test_failed_calls_are_left_out_and_counted(make_run: MakeRun) -> None:
    failed = ToolCall(tool="b", arguments={}, outcome="error")
    merged = merge([make_run("a", failed, failed, "b")])
    assert written(merged.steps) == [{"a": {}}, {"b": {}}]
    assert merged.failed == {"b": 2}


def test_a_repetition_with_the_same_result_is_left_out(make_run: MakeRun) -> None:
    again = ToolCall(tool="get", arguments={"id": 1}, result={"status": "open"})
    merged = merge([make_run(again, "a", again)])
    assert written(merged.steps) == [{"get": {"id": 1}}, {"a": {}}]
    assert merged.repeated == {"get": 1}


def test_a_repetition_with_a_new_result_is_a_check_and_stays(make_run: MakeRun) -> None:
    before, after = (ToolCall(tool="balance", arguments={}, result=value) for value in (100, 60))
    merged = merge([make_run(before, "pay", after)])
    assert written(merged.steps) == [{"balance": {}}, {"pay": {}}, {"balance": {}}]


def test_polling_is_a_repeated_step(make_run: MakeRun, accepts: Accepts) -> None:
    def poll(times: int) -> list[ToolCall]:
        return [ToolCall(tool="status", arguments={}, result=f"{number} of {times}") for number in range(times)]

    runs = [make_run("start", *poll(2), "read"), make_run("start", *poll(4), "read")]
    merged = merge(runs)
    assert written(merged.steps) == [{"start": {}}, {"repeat": {"status": {}}, "min": 2, "max": 4}, {"read": {}}]
    assert all(accepts(merged.steps, run.steps) for run in runs)


def test_repetitions_of_unknown_result_count_by_the_run_that_needed_fewest(make_run: MakeRun) -> None:
    """Two dice are rolled in every run; that one run asked twice for the weather was not needed."""
    roll, weather = ("roll", {}), ("weather", {"city": "Oslo"})
    merged = merge([make_run(roll, roll, weather, "x", weather), make_run(roll, roll, weather, "x")])
    assert written(merged.steps) == [{"roll": {}}, {"roll": {}}, {"weather": {"city": "Oslo"}}, {"x": {}}]
    assert merged.repeated == {"weather": 1}


def test_the_answer_is_a_last_step_whose_text_is_not_checked(make_run: MakeRun) -> None:
    runs = [make_run("a", ("finish", {"answer": "12"})), make_run("a", ("finish", {"answer": "twelve"}))]
    assert written(merge(runs).steps) == [{"a": {}}, "finish"]
    spoken = make_run("a", final_answer="12")
    assert written(merge([*runs, spoken]).steps) == [{"a": {}}, "finish"]
    silent = make_run("a")
    assert written(merge([*runs, silent]).steps) == [{"a": {}}]


def test_arguments_that_were_not_recorded_are_not_checked(make_run: MakeRun) -> None:
    cut = ToolCall(tool="note", arguments_state="truncated", raw_arguments='{"te')
    merged = merge([make_run(("note", {"text": "x"})), make_run(cut)])
    assert written(merged.steps) == ["note"]
    assert merged.evidence[0].arguments_unknown


def test_steps_that_write_must_succeed(make_run: MakeRun) -> None:
    merged = merge([make_run("look", "book")], effects={"look": "read", "book": "write"})
    assert written(merged.steps) == [{"look": {}}, {"book": {}, "must_succeed": True}]


def test_no_run_and_runs_without_calls_make_an_empty_path(make_run: MakeRun) -> None:
    assert merge([]).steps == ()
    assert merge([make_run(), make_run()]).steps == ()


def test_a_group_too_large_for_the_language_is_split_and_said_to_be(make_run: MakeRun) -> None:
    tools = [f"t{number}" for number in range(MAX_ANY_ORDER + 3)]
    merged = merge([make_run(*tools), make_run(*reversed(tools))])
    assert merged.split
    parse_path({"id": "p", "steps": written(merged.steps)})


_steps = st.lists(
    st.tuples(st.sampled_from("abcd"), st.fixed_dictionaries({"x": st.integers(0, 2) | st.sampled_from(["p", "q r"])})),
    max_size=6,
)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(runs=st.lists(_steps, min_size=1, max_size=5))
def test_every_run_that_was_merged_is_accepted(
    runs: list[list[tuple[str, dict[str, Any]]]], make_run: MakeRun, accepts: Accepts
) -> None:
    """All but what cleaning leaves out; and the path can be written, and reads back the same."""
    trajectories = [make_run(*steps) for steps in runs]
    merged = merge(trajectories)
    cleaned = clean_runs(trajectories, ())
    if not merged.split:
        assert all(accepts(merged.steps, [one.call for one in run.calls]) for run in cleaned)
    assert parse_path({"id": "p", "steps": written(merged.steps)}).steps == merged.steps


def test_the_path_can_be_written_whatever_is_merged(make_run: MakeRun) -> None:
    merged = merge([make_run(("t", {"optional": "{city}", "a": {"$x": 1}}))])
    path = GoldPath(id="p", queries=("q {city}",), steps=merged.steps)
    assert dump_paths([path])
    assert parse_path(path_entry(path)).steps == path.steps
