"""Gold paths from other tools' files; whatever is imported reads back as it was."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agentpath_sdk.gold.authoring.importing import Imported, ImportOptions, import_gold
from agentpath_sdk.gold.dumping import dump_paths, path_entry
from agentpath_sdk.gold.expression import MAX_ANY_ORDER
from agentpath_sdk.gold.files import read_gold
from agentpath_sdk.gold.model import AnyOrder, CallStep, GoldPath

FILES = {
    "adk/RAG.conversation.test.json": ("adk", 22),
    "adk/brand-search-optimization.eval_data1.evalset.json": ("adk", 6),
    "adk/customer-service.full_conversation.test.json": ("adk", 10),
    "adk/eval_set_helm.json": ("adk", 1),
    "adk/evalset_k8s_2026-02-20.json": ("adk", 1),
    "adk/travel-concierge.inspire.test.json": ("adk", 3),
    "bfcl/multi_turn.jsonl": ("bfcl", None),
    "bfcl/possible_answer_multi_turn.json": ("bfcl", 5),
    "bfcl/possible_answer_parallel.json": ("bfcl", 2),
    "messages/langchain.jsonl": ("messages", 4),
    "messages/openai.json": ("messages", 2),
    "traject/sample.jsonl": ("traject", 4),
}


def steps(path: GoldPath) -> Any:
    return path_entry(path)["steps"]


def write(tmp_path: Path, value: Any) -> Path:
    file = tmp_path / "cases.json"
    file.write_text(json.dumps(value))
    return file


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("conversations", ["turns", "whole"])
def test_each_format_is_found_out_and_what_is_written_reads_back(
    data: Path, tmp_path: Path, name: str, conversations: Any
) -> None:
    found = import_gold(data / name, options=ImportOptions(conversations=conversations, answers=True))
    kind, count = FILES[name]
    assert found.problems == ()
    assert set(found.formats.values()) == {kind}
    if count is not None and conversations == "turns":
        assert len(found.paths) == count
    gold = tmp_path / "gold.yaml"
    gold.write_text(dump_paths(found.paths))
    back = read_gold(gold)
    assert back.problems == ()
    assert [(one.id, one.queries, one.steps, one.answer) for one in back.paths] == [
        (one.id, one.queries, one.steps, one.answer) for one in found.paths
    ]


def test_a_turn_of_an_eval_set_is_a_path(data: Path) -> None:
    found = import_gold(data / "adk/customer-service.full_conversation.test.json", options=ImportOptions(agent="shop"))
    first, second = found.paths[:2]
    assert (first.id, first.queries, first.steps, first.agent) == ("customer-service/turn-1", ("hi",), (), "shop")
    assert steps(second) == [{"access_cart_information": {"customer_id": "123"}}]
    assert second.answer is None
    assert any("reference answers were left out" in note for note in found.notes)


def test_an_eval_set_of_cases_keeps_their_ids(data: Path) -> None:
    [path] = import_gold(data / "adk/eval_set_helm.json").paths
    assert (path.id, path.queries) == ("helm_list_releases", ("list all Helm releases",))
    assert steps(path) == [{"helm_list_releases": {}}]
    assert path.provenance.reference == "ADK eval set eval_set_helm.json"


def test_events_of_an_eval_set_tell_which_calls_were_parallel(tmp_path: Path) -> None:
    def event(*names: str) -> dict[str, Any]:
        parts: list[dict[str, Any]] = [{"text": "thinking"}]
        return {"author": "a", "content": {"parts": parts + [{"functionCall": {"name": n, "args": {}}} for n in names]}}

    turn = {
        "userContent": {"parts": [{"text": "go"}]},
        "intermediateData": {"invocationEvents": [event("a"), event("b", "c"), event()]},
    }
    file = write(tmp_path, {"evalSetId": "s", "evalCases": [{"evalId": "e", "conversation": [turn]}]})
    [path] = import_gold(file).paths
    assert steps(path) == [{"a": {}}, {"any_order": [{"b": {}}, {"c": {}}]}]


def test_calls_of_one_message_are_in_any_order_and_each_user_message_is_a_turn(data: Path) -> None:
    first, second = import_gold(data / "messages/openai.json", options=ImportOptions(answers=True)).paths
    assert first.queries == ("What is the weather in SF and in Oslo?",)
    assert steps(first) == [
        {"any_order": [{"get_weather": {"city": "SF"}}, {"get_weather": {"city": "Oslo"}}]},
        {"compare": {}},
    ]
    assert first.answer is not None
    assert first.answer.expected == "It is warmer in SF."
    assert (second.queries, steps(second)) == (("And in Lima?",), [{"get_weather": {"city": "Lima"}}])


def test_a_whole_conversation_can_be_one_path(data: Path) -> None:
    [path] = import_gold(data / "messages/openai.json", options=ImportOptions(conversations="whole")).paths
    assert path.id == "weather-sf"
    assert path.queries == ("What is the weather in SF and in Oslo?",)
    assert len(path.steps) == 3


def test_each_way_in_which_messages_are_written_gives_the_same(data: Path) -> None:
    paths = import_gold(data / "messages/langchain.jsonl").paths
    assert [path.id for path in paths] == ["plain", "to-dict", "dumped", "blocks"]
    assert [steps(path) for path in paths] == [[{"refund": {"order": order}}] for order in (17, 18, 19, 20)]
    assert [path.queries for path in paths] == [(f"Refund order {order}",) for order in (17, 18, 19, 20)]


def test_messages_without_a_query_become_drafts(tmp_path: Path) -> None:
    """Approved, such a path would apply to every run of every agent."""
    call = {"role": "assistant", "tool_calls": [{"function": {"name": "t", "arguments": "{}"}}]}
    found = import_gold(write(tmp_path, [call]))
    assert [path.status for path in found.paths] == ["draft"]
    assert any("has no query" in note for note in found.notes)
    beside = import_gold(write(tmp_path, {"inputs": {"question": "go?"}, "reference_outputs": [call]}))
    assert (beside.paths[0].queries, beside.paths[0].status) == (("go?",), "approved")


def test_parallel_records_have_no_order_and_optional_parameters_are_expected(data: Path) -> None:
    found = import_gold(data / "traject/sample.jsonl")
    sequential, parallel, large, _ = found.paths
    assert all(isinstance(step, CallStep) for step in sequential.steps)
    [group] = parallel.steps
    assert isinstance(group, AnyOrder)
    assert len(group.steps) == 4
    assert sequential.steps[3].arguments.keys() == {"dice", "sides"}  # type: ignore[union-attr]  # a call
    assert [len(step.steps) for step in large.steps if isinstance(step, AnyOrder)] == [MAX_ANY_ORDER, 2]
    assert any(f"more than {MAX_ANY_ORDER} calls" in note for note in found.notes)


def test_a_record_in_the_shape_of_the_published_data_set_is_read(tmp_path: Path) -> None:
    record = {
        "query": "Reviews of the sofa?",
        "trajectory_type": "parallel",
        "task_name": "Shopping",
        "tool list": [
            {
                "tool name": "Wayfair: reviews/list",
                "required parameters": [{"name": "sku", "value": "W1"}],
                "optional parameters": [{"name": "page", "value": "1"}],
            },
            {"tool name": "Wayfair: details", "required parameters": [], "optional parameters": []},
        ],
    }
    [path] = import_gold(write(tmp_path, [record])).paths
    assert path.description == "Shopping"
    calls = [{"Wayfair: reviews/list": {"sku": "W1", "page": "1"}}, {"Wayfair: details": {}}]
    assert steps(path) == [{"any_order": calls}]


def test_answers_and_questions_of_a_benchmark_are_joined_by_id(data: Path) -> None:
    folder = data / "bfcl"
    found = import_gold(
        folder / "possible_answer_parallel.json", folder / "possible_answer_multi_turn.json", folder / "questions.json"
    )
    assert found.problems == ()
    by_id = {path.id: path for path in found.paths}
    rectangle = by_id["parallel_multiple_3"]
    assert rectangle.queries == ("A rectangle has a perimeter of 14 and an area of 15. How wide and how long is it?",)
    [group] = rectangle.steps
    assert isinstance(group, AnyOrder)
    width, length = group.steps
    assert isinstance(width, CallStep)
    assert isinstance(length, CallStep)
    assert "tolerance" not in (width.arguments or {})
    assert length.tool_defaults == {"tolerance": 0.1}
    ticket = by_id["multi_turn_base_48/turn-3"]
    assert ticket.queries == ("Set the priority of ticket 654321 to 2.",)
    assert steps(ticket) == [{"edit_ticket": {"ticket_id": 654321, "updates": {"priority": 2}}}]
    missing = by_id["multi_turn_base_31/turn-2"]
    assert (missing.status, steps(missing)[0], steps(missing)[1]) == (
        "draft",
        "cd",
        {"wc": {"file_name": "summary.doc", "mode": "c"}},
    )
    assert any("by position" in note for note in found.notes)


def test_any_of_the_benchmark_s_answers_will_do(data: Path) -> None:
    paths = import_gold(data / "bfcl/possible_answer_parallel.json").paths
    hotel = paths[1].steps[0].steps[1]  # type: ignore[union-attr]  # a group
    place = hotel.arguments["location"]  # type: ignore[union-attr]
    assert place("boston, ma").passed
    assert place("Boston").passed
    assert not place("Oslo").passed


def test_a_call_written_as_code_is_read_and_never_run(tmp_path: Path) -> None:
    marker = tmp_path / "ran"
    record = {"id": "x", "ground_truth": [[f"t(a=open({str(marker)!r}, 'w'))"]]}
    found = import_gold(write(tmp_path, record))
    assert not marker.exists()
    [problem] = found.problems
    assert "literal arguments" in problem.problem


@pytest.mark.parametrize(
    ("value", "kind", "words"),
    [
        ({"a": 1}, None, "is of no known format"),
        ([1, 2], None, "is of no known format"),
        ([{"query": "q", "expected_tool_use": [{"tool_input": {}}]}], None, "expected the name of a tool, found null"),
        ([{"query": "q", "expected_tool_use": [{"tool_name": "t", "tool_input": [1]}]}], None, "expected an object of"),
        ({"eval_cases": [{"eval_id": "e"}]}, None, "key 'conversation' is missing"),
        ({"eval_cases": 3}, None, "expected a list, found number 3"),
        ([{"role": "assistant", "tool_calls": [{"function": {"name": "t", "arguments": "{"}}]}], None, "its JSON text"),
        ({"a": 1}, "messages", "expected a list of messages"),
        ({"id": "x", "ground_truth": [{"a": {}, "b": {}}]}, None, "expected an object with one function"),
    ],
)
def test_what_is_wrong_with_a_file_is_named(tmp_path: Path, value: Any, kind: Any, words: str) -> None:
    found = import_gold(write(tmp_path, value), kind=kind)
    assert found.paths == ()
    [problem] = found.problems
    assert words in problem.problem
    assert problem.place.startswith("line 1")


def test_a_bad_file_does_not_keep_a_good_one_from_being_read(data: Path, tmp_path: Path) -> None:
    found = import_gold(write(tmp_path, {"a": 1}), data / "adk/eval_set_helm.json", tmp_path / "none.json")
    assert len(found.paths) == 1
    assert len(found.problems) == 2


def test_ids_are_unique_and_equal_queries_with_other_steps_are_noted(tmp_path: Path) -> None:
    turns = [
        {"query": "yes please", "expected_tool_use": [{"tool_name": tool, "tool_input": {}}]} for tool in ("a", "b")
    ]
    cases = [{"name": "same", "data": [turn]} for turn in turns]
    found: Imported = import_gold(write(tmp_path, cases))
    assert [path.id for path in found.paths] == ["same", "same-2"]
    assert any(note.startswith("one query, different steps: same, same-2") for note in found.notes)
