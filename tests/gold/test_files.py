"""Gold files as people and programs write them become the paths they mean."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from agentpath_sdk import settings
from agentpath_sdk.errors import FileFormatError
from agentpath_sdk.gold.files import find_files, load_paths, parse_path, read_gold
from agentpath_sdk.gold.matchers import (
    Called,
    Contains,
    Exact,
    Fold,
    Fuzzy,
    Glob,
    Ignore,
    ListOf,
    MappingOf,
    Number,
    OneOf,
    Regex,
    SameSet,
    TypeOf,
    register_matcher,
)
from agentpath_sdk.gold.model import AnswerCheck, CallStep, GoldPath, Provenance
from agentpath_sdk.scoring import score

SIX_LINES = """\
id: mars-temperature
queries: ["What is the average temperature on Mars?"]
steps:
  - search: {query: average temperature Mars}
  - calculator: {expression: "-63 * 1.8 + 32"}
  - response
"""

RECORD = {
    "query": "Какая средняя температура на Марсе в °C?",
    "gold_trajectory": [
        {"tool": "retrieval", "arguments": {"query": "средняя температура Марса"}},
        {"tool": "calculator", "arguments": {"expression": "x * 1.8 + 32"}},
        {"tool": "response", "arguments": {}},
    ],
    "agent_trajectory": [{"tool": "retrieval", "arguments": {"query": "температура Марса"}}],
}


def _path(tmp_path: Path, text: str, name: str = "gold.yaml") -> GoldPath:
    paths = _paths(tmp_path, text, name)
    assert len(paths) == 1
    return paths[0]


def _paths(tmp_path: Path, text: str, name: str = "gold.yaml") -> tuple[GoldPath, ...]:
    file = tmp_path / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return load_paths(file)


def _argument(tmp_path: Path, written: str) -> Any:
    """Return the matcher of one argument written in YAML."""
    path = _path(tmp_path, f"steps:\n  - tool: t\n    arguments:\n      a: {written}\n")
    assert path.steps[0].arguments is not None
    return path.steps[0].arguments["a"]


def test_six_lines_are_a_gold_path(tmp_path: Path) -> None:
    path = _path(tmp_path, SIX_LINES)
    assert path == GoldPath(
        id="mars-temperature",
        queries=("What is the average temperature on Mars?",),
        steps=(
            CallStep(tool="search", arguments={"query": Exact(expected="average temperature Mars")}),
            CallStep(tool="calculator", arguments={"expression": Exact(expected="-63 * 1.8 + 32")}),
            CallStep(tool="response"),
        ),
        source=str(tmp_path / "gold.yaml"),
    )


def test_a_record_of_a_program_is_read_as_it_is(tmp_path: Path) -> None:
    path = _path(tmp_path, json.dumps(RECORD, ensure_ascii=False, indent=2), "record.json")
    assert path.id == "какая-средняя-температура-на-марсе-в-c-51d779"
    assert path.queries == ("Какая средняя температура на Марсе в °C?",)
    assert [step.tool for step in path.steps] == ["retrieval", "calculator", "response"]
    assert path.steps[0].arguments == {"query": Exact(expected="средняя температура Марса")}
    assert path.steps[2].arguments == {}


def test_the_arguments_of_records_are_literal_also_where_they_look_like_matchers(tmp_path: Path) -> None:
    record = {"query": "q", "gold_trajectory": [{"tool": "find", "arguments": {"filter": {"$regex": "("}}}]}
    path = _path(tmp_path, json.dumps(record), "record.json")
    assert path.steps[0].arguments == {"filter": Exact(expected={"$regex": "("})}


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        ({"tool": "t"}, CallStep(tool="t")),
        ({"tool": "t", "arguments": None}, CallStep(tool="t")),
        ({"tool": "t", "arguments": {}}, CallStep(tool="t", arguments={})),
        ({"tool": "t", "arguments": '{"a": 1}'}, CallStep(tool="t", arguments={"a": Exact(expected=1)})),
        ({"tool": "t", "result": "x", "id": 3}, CallStep(tool="t")),
        ("t", CallStep(tool="t")),
    ],
)
def test_steps_of_records(step: Any, expected: CallStep) -> None:
    assert parse_path({"query": "q", "gold_trajectory": [step]}).steps == (expected,)


def test_the_id_of_a_record_depends_on_its_query_alone(tmp_path: Path) -> None:
    first = _path(tmp_path, json.dumps(RECORD), "a.json")
    second = _path(tmp_path, json.dumps({**RECORD, "gold_trajectory": []}), "b/c.jsonl")
    assert first.id == second.id


def test_json_lines_hold_a_path_or_record_a_line(tmp_path: Path) -> None:
    lines = [json.dumps({"query": f"question {n}", "gold_trajectory": ["search"]}) for n in range(3)]
    paths = _paths(tmp_path, "\n\n".join(lines) + "\n", "gold.jsonl")
    assert [path.queries for path in paths] == [("question 0",), ("question 1",), ("question 2",)]


@pytest.mark.parametrize("name", ["gold.json", "gold.txt", "gold"])
def test_a_json_file_may_hold_values_one_after_the_other(tmp_path: Path, name: str) -> None:
    values = [json.dumps({"id": f"p{n}", "steps": []}, indent=2) for n in range(3)]
    assert [path.id for path in _paths(tmp_path, "\n".join(values), name)] == ["p0", "p1", "p2"]


def test_alternatives_of_one_query_in_a_file_of_records_get_numbers(tmp_path: Path) -> None:
    lines = [json.dumps({"query": "q", "gold_trajectory": steps}) for steps in (["a"], ["b"], ["a"], ["c"])]
    file = tmp_path / "gold.jsonl"
    file.write_text("\n".join(lines), encoding="utf-8")
    read = read_gold(file)
    base = read.paths[0].id
    assert [path.id for path in read.paths] == [base, f"{base}-2", f"{base}-3"]
    assert [path.steps[0].tool for path in read.paths] == ["a", "b", "c"]
    assert read.notes == (f"{file}: path {base!r} is there twice; read once",)


def test_a_file_may_say_things_for_all_its_paths(tmp_path: Path) -> None:
    text = """
agent: travel-*
version: 3
status: draft
tags: [smoke]
weights: accuracy
good_path: 0.7
thresholds: {score: 0.5}
provenance: {kind: generated, author: model-x, date: 2024-05-01}
tools: {search: {defaults: {limit: 10}}}
paths:
  - {id: one, query: q1, steps: [{search: {q: x}}], tags: [night]}
  - id: two
    query: q2
    agent: hotel
    status: approved
    good_path: 0.9
    thresholds: {}
    weights: {tool_accuracy: 2}
    tools: {search: {defaults: {limit: 20}}}
    steps: [search]
"""
    one, two = _paths(tmp_path, text)
    assert (one.agent, one.version, one.status, one.good_path) == ("travel-*", "3", "draft", 0.7)
    assert one.provenance == Provenance(kind="generated", author="model-x", date="2024-05-01")
    assert one.tags == ("smoke", "night")
    assert one.weights == settings.WEIGHT_PROFILES["accuracy"]
    assert one.thresholds == {"score": 0.5}
    assert one.steps[0].tool_defaults == {"limit": 10}
    assert (two.agent, two.version, two.status, two.good_path) == ("hotel", "3", "approved", 0.9)
    assert two.weights == {"tool_accuracy": 2.0}
    assert two.thresholds == {}
    assert two.steps[0].tool_defaults == {"limit": 20}


def test_several_yaml_documents_and_lists_of_paths(tmp_path: Path) -> None:
    assert [path.id for path in _paths(tmp_path, "id: a\nsteps: []\n---\nid: b\nsteps: []\n")] == ["a", "b"]
    assert [path.id for path in _paths(tmp_path, "- {id: a, steps: []}\n- {id: b, steps: []}\n")] == ["a", "b"]


def test_a_path_alone_in_its_file_is_called_like_the_file(tmp_path: Path) -> None:
    assert _path(tmp_path, "steps: [search]", "cancel-order.yaml").id == "cancel-order"


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        ("response", CallStep(tool="response")),
        ("search:", CallStep(tool="search")),
        ("search: {}", CallStep(tool="search", arguments={})),
        ("search: {q: x}", CallStep(tool="search", arguments={"q": Exact(expected="x")})),
        ("{search: {q: x}, must_succeed: true}", CallStep(tool="search", arguments={"q": Exact(expected="x")},
                                                          must_succeed=True)),
        ("{search: {q: x}, argument_mode: subset}", CallStep(tool="search", arguments={"q": Exact(expected="x")},
                                                             extra_arguments="allow")),
        ("{search: {q: x}, argument_mode: ignore}", CallStep(tool="search")),
        ("{tool: search}", CallStep(tool="search")),
        ("{tool: tool, arguments: {tool: x}}", CallStep(tool="tool", arguments={"tool": Exact(expected="x")})),
        ("{tool: optional, arguments: {a: 1}}", CallStep(tool="optional", arguments={"a": Exact(expected=1)})),
        ("{search: {q: x}, tool_defaults: {limit: 10}}", CallStep(tool="search", arguments={"q": Exact(expected="x")},
                                                                  tool_defaults={"limit": 10})),
        ("{search: {a: x, b: 1, c: [y]}, fold_case: true}",
         CallStep(tool="search", arguments={"a": Fold(expected="x"), "b": Exact(expected=1),
                                            "c": ListOf(items=(Fold(expected="y"),))})),
        ("{search: {a: 1, b: true}, coerce_numbers: true, abs_tolerance: 0.5}",
         CallStep(tool="search", arguments={"a": Number(expected=1, coerce=True, abs_tolerance=0.5),
                                            "b": Exact(expected=True)})),
    ],
)  # fmt: skip
def test_steps(tmp_path: Path, step: str, expected: CallStep) -> None:
    assert _path(tmp_path, f"steps:\n  - {step}\n").steps == (expected,)


def test_the_innermost_word_on_comparing_counts(tmp_path: Path) -> None:
    text = """
defaults: {argument_mode: ignore, must_succeed: true, fold_case: true}
paths:
  - id: a
    defaults: {argument_mode: subset}
    steps:
      - t: {a: x}
      - t: {a: x}
        argument_mode: exact
        must_succeed: false
        fold_case: false
"""
    first, second = _path(tmp_path, text).steps
    assert first == CallStep(tool="t", arguments={"a": Fold(expected="x")}, extra_arguments="allow", must_succeed=True)
    assert second == CallStep(tool="t", arguments={"a": Exact(expected="x")})


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("3", Exact(expected=3)),
        ("{type: hotel, regex: x}", Exact(expected={"type": "hotel", "regex": "x"})),
        ("{$exact: {$in: [1]}}", Exact(expected={"$in": [1]})),
        ("{$ignore: true}", Ignore()),
        ("{$number: 3, abs: 0.1}", Number(expected=3, abs_tolerance=0.1)),
        ("{$number: 3, rel: 0.1, coerce: true}", Number(expected=3, rel_tolerance=0.1, coerce=True)),
        ("{$fold: Paris}", Fold(expected="Paris")),
        ("{$fuzzy: temperature on Mars}", Fuzzy(expected="temperature on Mars", threshold=0.8)),
        ("{$fuzzy: temperature on Mars, threshold: 0.9}", Fuzzy(expected="temperature on Mars", threshold=0.9)),
        ("{$regex: '[A-Z]{3}'}", Regex(expected="[A-Z]{3}")),
        ("{$glob: '*.pdf'}", Glob(expected="*.pdf")),
        ("{$contains: Mars}", Contains(parts=("Mars",))),
        ("{$contains: [a, 1], fold_case: true}", Contains(parts=("a", 1), fold_case=True)),
        ("{$set: [1, 2]}", SameSet(items=(1, 2))),
        ("{$subset: {a: 1}}", MappingOf(items={"a": Exact(expected=1)}, extra="allow")),
        ("{$one_of: [a, {$glob: 'b*'}]}", OneOf(options=(Exact(expected="a"), Glob(expected="b*")))),
        ("{$type: string}", TypeOf(types=("text",))),
        ("{$type: [object, 'null']}", TypeOf(types=("mapping", "null"))),
        ("[1, {$ignore: true}]", ListOf(items=(Exact(expected=1), Ignore()))),
        ("{a: 1, b: {$fold: x}}", MappingOf(items={"a": Exact(expected=1), "b": Fold(expected="x")})),
        ("{a: [{b: {$set: [1]}}]}",
         MappingOf(items={"a": ListOf(items=(MappingOf(items={"b": SameSet(items=(1,))}),))})),
    ],
)  # fmt: skip
def test_matchers(tmp_path: Path, written: str, expected: Any) -> None:
    assert repr(_argument(tmp_path, written)) == repr(expected)


def test_a_registered_function_is_a_matcher_by_its_name(tmp_path: Path) -> None:
    register_matcher("test_files_iata", lambda expected, actual: expected == actual, replace=True)
    matcher = _argument(tmp_path, "{$call: test_files_iata, value: JFK, threshold: 0.5}")
    assert matcher == Called(function="test_files_iata", expected="JFK", threshold=0.5)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("no", "no"),
        ("NO", "NO"),
        ("on", "on"),
        ("2024-05-01", "2024-05-01"),
        ("12:30:00", "12:30:00"),
        ("1_000", "1_000"),
        ("0123", 123),
        ("0x1F", 31),
        ("0o17", 15),
        ("1e3", 1000.0),
        ("-.5", -0.5),
        ("true", True),
        ("~", None),
        ("", None),
        ("'3'", "3"),
        ("12345678901234567890123", 12345678901234567890123),
    ],
)
def test_yaml_scalars_mean_what_they_look_like(tmp_path: Path, written: str, expected: Any) -> None:
    value = _argument(tmp_path, written).expected
    assert value == expected
    assert type(value) is type(expected)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("'-63 degrees'", AnswerCheck(expected="-63 degrees")),
        ("{$fold: x}", AnswerCheck(expected="x")),
        ("-81.4", AnswerCheck(expected=-81.4, matcher="number")),
        ("{$number: -81.4, abs: 0.5, rel: 0.01}",
         AnswerCheck(expected=-81.4, matcher="number", abs_tolerance=0.5, rel_tolerance=0.01)),
        ("[five, '5']", AnswerCheck(expected=["five", "5"])),
        ("{$exact: '5'}", AnswerCheck(expected="5", matcher="exact")),
        ("{$contains: five}", AnswerCheck(expected="five", matcher="contains")),
        ("{$regex: 'a+'}", AnswerCheck(expected="a+", matcher="regex")),
    ],
)  # fmt: skip
def test_expected_answers(tmp_path: Path, written: str, expected: AnswerCheck) -> None:
    assert _path(tmp_path, f"steps: []\nanswer: {written}\n").answer == expected


def test_braces_in_queries_can_be_written(tmp_path: Path) -> None:
    path = _path(tmp_path, """steps: []\nqueries: ["weather in {{city}}", '{"a": {"b": 1}}', "{}", "{ x }"]\n""")
    assert path.queries == ("weather in {city}", '{"a": {"b": 1}}', "{}", "{ x }")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        *((f"empty{suffix}", content) for suffix in (".yaml", ".json", ".jsonl") for content in (b"", b"\n\n", b"[]")),
        ("mark.json", b"\xef\xbb\xbf"),
        ("comment.yaml", b"# only a comment\n"),
        ("documents.yaml", b"---\n---\n"),
        ("header.yaml", b"agent: x\npaths: []\n"),
    ],
)
def test_an_empty_file_has_no_paths_and_a_note(tmp_path: Path, name: str, content: bytes) -> None:
    file = tmp_path / name
    file.write_bytes(content)
    read = read_gold(file)
    assert read.paths == ()
    assert read.problems == ()
    assert read.notes == (f"{file}: no gold paths in it",)


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path: Path) -> None:
    file = tmp_path / "gold.yaml"
    file.write_bytes(b"\xef\xbb\xbf" + SIX_LINES.encode())
    assert load_paths(file)[0].id == "mars-temperature"


def test_a_folder_is_read_whole_in_order_hidden_and_other_files_left_out(tmp_path: Path) -> None:
    for name in ("b.yaml", "a.json", "sub/c.jsonl", "sub/D.YML"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(json.dumps({"id": name, "steps": []}), encoding="utf-8")
    for name in (".hidden.yaml", "readme.md", ".git/x.yaml"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("{", encoding="utf-8")
    read = read_gold(tmp_path, tmp_path / "a.json")
    assert [path.id for path in read.paths] == ["a.json", "b.yaml", "sub/D.YML", "sub/c.jsonl"]
    assert read.problems == ()


def test_a_folder_of_good_and_bad_files_names_each_bad_one_and_serves_the_good_ones(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(SIX_LINES, encoding="utf-8")
    (tmp_path / "b.yaml").write_text("id: b\nsteps: [1]\nagnet: x\n", encoding="utf-8")
    (tmp_path / "c.json").write_text("{", encoding="utf-8")
    (tmp_path / "d.yaml").write_text("id: d\nsteps: []\n", encoding="utf-8")
    read = read_gold(tmp_path)
    assert [path.id for path in read.paths] == ["mars-temperature", "d"]
    assert sorted(read.bad_files) == [str(tmp_path / "b.yaml"), str(tmp_path / "c.json")]
    assert len(read.one_per_file()) == 2
    with pytest.raises(FileFormatError, match=r"and 1 more problem in this file; and 1 more bad file\)$"):
        load_paths(tmp_path)


def test_one_bad_path_keeps_all_paths_of_its_file_out(tmp_path: Path) -> None:
    file = tmp_path / "gold.jsonl"
    file.write_text('{"id": "good", "steps": []}\n{"id": "bad"}\n', encoding="utf-8")
    read = read_gold(file)
    assert read.paths == ()
    assert [str(problem) for problem in read.problems] == [f"{file}: line 2: key 'steps' is missing"]


def test_an_id_in_two_files_is_a_problem_of_the_later_one(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("id: same\nsteps: []\n", encoding="utf-8")
    (tmp_path / "b.yaml").write_text("id: same\nsteps: [x]\n", encoding="utf-8")
    read = read_gold(tmp_path)
    assert [path.source for path in read.paths] == [str(tmp_path / "a.yaml")]
    (problem,) = read.problems
    assert str(problem) == (
        f"{tmp_path / 'b.yaml'}: id 'same' is also in {tmp_path / 'a.yaml'} (ids are unique over all files)"
    )


def test_a_folder_without_gold_files_is_noted(tmp_path: Path) -> None:
    read = read_gold(tmp_path)
    assert (read.paths, read.problems) == ((), ())
    assert read.notes == (f"{tmp_path}: no gold files in this folder",)


def test_a_place_that_does_not_exist_is_a_problem(tmp_path: Path) -> None:
    read = read_gold(tmp_path / "nowhere")
    assert [str(problem) for problem in read.problems] == [f"{tmp_path / 'nowhere'}: does not exist"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.yaml")
    assert [str(problem) for problem in read_gold(tmp_path).problems] == [
        f"{tmp_path / 'pipe.yaml'}: is no regular file"
    ]


def test_keys_of_records_that_are_not_read_are_noted(tmp_path: Path) -> None:
    file = tmp_path / "record.json"
    file.write_text(json.dumps({**RECORD, "success": True, "agnet": "x"}), encoding="utf-8")
    read = read_gold(file)
    assert len(read.paths) == 1
    assert read.notes == (f"{file}: not read in records: agnet, success",)


def test_a_mapping_in_code_becomes_a_path_and_its_problems_an_error() -> None:
    assert parse_path({"id": "x", "steps": ["a"]}).source is None
    with pytest.raises(FileFormatError) as caught:
        parse_path({"id": "x", "steps": [{"a": {"q": {"$fuzy": "x"}}}]}, source="line 3")
    assert str(caught.value).startswith("line 3: steps[0].a.q.$fuzy: unknown matcher '$fuzy' (did you mean '$fuzzy'?")


def test_a_file_like_any_other_ending_in_yaml_is_named_directly(tmp_path: Path) -> None:
    assert _path(tmp_path, SIX_LINES, "gold.txt").id == "mars-temperature"
    assert list(find_files(tmp_path)) == []


def test_metric_names_that_files_may_use_are_those_of_scores() -> None:
    assert settings.METRICS == score.METRICS
