"""Groups of steps: how they are written, read, bounded, and told."""

from __future__ import annotations

from typing import Any

import pytest

from agentpath_sdk.errors import FileFormatError
from agentpath_sdk.gold.describing import describe, outline
from agentpath_sdk.gold.expression import least_calls, nesting, placed_calls, states
from agentpath_sdk.gold.files import parse_path
from agentpath_sdk.gold.model import AnyOrder, CallStep, OneOf, OptionalStep, Repeat, Sequence, Step

A, B, C = (CallStep(tool=name) for name in "abc")


def _step(raw: Any) -> Step:
    (step,) = parse_path({"id": "x", "steps": [raw]}).steps
    return step


@pytest.mark.parametrize(
    ("raw", "step"),
    [
        ({"optional": "a"}, OptionalStep(step=A)),
        ({"optional": {"a": None}}, OptionalStep(step=A)),
        ({"optional": ["a", "b"]}, OptionalStep(step=Sequence(steps=(A, B)))),
        ({"optional": ["a"]}, OptionalStep(step=A)),
        ({"optional": {"sequence": ["a"]}}, OptionalStep(step=Sequence(steps=(A,)))),
        ({"repeat": "a"}, Repeat(step=A, least=1, most=None)),
        ({"repeat": ["a", "b"], "min": 0, "max": 3}, Repeat(step=Sequence(steps=(A, B)), least=0, most=3)),
        ({"any_order": ["a", ["b", "c"]]}, AnyOrder(steps=(A, Sequence(steps=(B, C))))),
        ({"any_order": ["a", "b"], "parallel": True}, AnyOrder(steps=(A, B), parallel=True)),
        ({"parallel": ["a", "b"]}, AnyOrder(steps=(A, B), parallel=True)),
        ({"one_of": ["a", {"optional": "b"}]}, OneOf(branches=(A, OptionalStep(step=B)))),
        ({"sequence": ["a", "b"]}, Sequence(steps=(A, B))),
        ({"tool": "optional"}, CallStep(tool="optional")),
    ],
)
def test_each_group_has_one_meaning(raw: Any, step: Step) -> None:
    assert _step(raw) == step


def test_groups_stand_in_groups_and_calls_in_them_have_all_their_options() -> None:
    step = _step(
        {"optional": {"any_order": [{"a": {"x": {"$number": 1, "abs": 1}}, "must_succeed": True}, {"repeat": "b"}]}}
    )
    assert isinstance(step, OptionalStep)
    assert isinstance(step.step, AnyOrder)
    first, second = step.step.steps
    assert isinstance(first, CallStep)
    assert first.must_succeed
    assert first.arguments is not None
    assert first.arguments["x"](2).passed
    assert second == Repeat(step=B)


def test_defaults_reach_into_groups() -> None:
    path = parse_path({"id": "x", "defaults": {"argument_mode": "subset"}, "steps": [{"optional": {"a": {"x": 1}}}]})
    (call,) = (call for _, call in placed_calls(path))
    assert call.extra_arguments == "allow"


@pytest.mark.parametrize(
    ("raw", "problem"),
    [
        ({"any_order": {"a": 1}}, "'any_order' is a group of steps, found mapping"),
        ({"optional": True}, "'optional' is a group of steps, found true"),
        ({"a": {"x": 1}, "optional": True}, "'optional' is a group of steps, found true"),
        ({"any_order": []}, "expected at least 1 item, found list []"),
        ({"one_of": [[]]}, "expected a step or a list of steps, found an empty list"),
        ({"any_order": ["a"] * 9}, "expected at most 8 items, found list"),
        ({"repeat": "a", "min": 3, "max": 2}, "expected a number of at least 3 ('min'), found number 2"),
        ({"repeat": "a", "min": 101}, "expected a number of at most 100"),
        ({"repeat": "a", "times": 3}, "unknown key 'times'"),
        ({"optional": ["a", 3]}, "expected a step, found number 3"),
        ({"steps": ["a"]}, "'steps' is no step"),
        ({"repeat": {"repeat": "a", "min": 100}, "min": 100}, "the steps have 10000 states, 5000 are read at most"),
        ({"any_order": [{"any_order": list("abcdefgh")}] * 8}, "states, 5000 are read at most"),
    ],
)
def test_a_mistake_in_a_group_is_told(raw: Any, problem: str) -> None:
    with pytest.raises(FileFormatError) as caught:
        _step(raw)
    assert problem in caught.value.problem


def test_groups_in_groups_end_at_a_bound() -> None:
    raw: Any = "a"
    for _ in range(11):
        raw = {"optional": raw}
    with pytest.raises(FileFormatError, match="nested deeper than 10 levels"):
        _step(raw)
    step = _step(raw["optional"])
    assert nesting(step) == 10


def test_whole_alternatives_stand_beside_the_steps() -> None:
    path = parse_path({"id": "x", "steps": ["a"], "alternatives": [["b", "c"], []]})
    assert path.alternatives == ((B, C), ())
    assert [place for place, _ in placed_calls(path)] == ["step 1", "alternative 1, step 1", "alternative 1, step 2"]


@pytest.mark.parametrize(
    ("raw", "least", "places"),
    [
        ("a", 1, 1),
        ({"optional": "a"}, 0, 1),
        ({"repeat": ["a", "b"], "min": 2}, 4, 4),
        ({"one_of": ["a", ["b", "c"]]}, 1, 3),
        ({"any_order": ["a", "b"]}, 2, 4 + 2 * 2),
    ],
)
def test_the_shortest_way_and_the_number_of_states(raw: Any, least: int, places: int) -> None:
    step = _step(raw)
    assert (least_calls(step), states(step)) == (least, places)


def test_a_nested_path_is_described_in_plain_words() -> None:
    path = parse_path(
        {
            "id": "trip",
            "agent": "travel",
            "steps": [
                {"optional": {"login": {}}},
                {"any_order": [{"flights": {"to": "LIM"}}, [{"hotels": {}}, "rate"]]},
                {"repeat": "retry", "min": 0, "max": 2},
                {"one_of": ["pay", {"parallel": ["hold", "notify"]}]},
            ],
            "alternatives": [["book_all"]],
            "tools": {"pay": {"effect": "write"}, "flights": {"effect": "read", "extra": "charged"}},
            "candidates": ["yes", "no"],
        }
    )
    assert describe(path) == "\n".join(
        [
            "trip (version 1)",
            "Applies to every run of agent travel.",
            "Expects 4 steps, in this order:",
            "  1. optional: login (without arguments)",
            "  2. in any order:",
            "     2.1. flights",
            '        to: "LIM"',
            "     2.2. in this order:",
            "        2.2.1. hotels (without arguments)",
            "        2.2.2. rate (arguments are not checked)",
            "  3. up to 2 times: retry (arguments are not checked)",
            "  4. one of:",
            "     4.1. pay (arguments are not checked)",
            "     4.2. together, in one parallel group:",
            "        4.2.1. hold (arguments are not checked)",
            "        4.2.2. notify (arguments are not checked)",
            "Or one step:",
            "  1. book_all (arguments are not checked)",
            'Candidate answers: "yes", "no".',
            "Tools that only read: flights.",
            "Tools that change something: pay.",
            "Extra calls of flights are charged.",
        ]
    )
    assert outline(path) == "[login] > (flights & hotels > rate) > retry x 0..2 > (pay | (hold & notify)) | book_all"


@pytest.mark.parametrize(
    ("least", "most", "words"),
    [
        (1, None, "once or more"),
        (0, None, "any number of times"),
        (3, None, "3 times or more"),
        (2, 2, "exactly 2 times"),
        (1, 4, "1 to 4 times"),
    ],
)
def test_repetitions_in_words(least: int, most: int | None, words: str) -> None:
    raw = {"repeat": "a", "min": least} | ({} if most is None else {"max": most})
    assert f"1. {words}: a" in describe(parse_path({"id": "x", "steps": [raw]}))


def test_a_candidate_given_twice_is_refused() -> None:
    with pytest.raises(FileFormatError, match="the candidate 'a' is there twice"):
        parse_path({"id": "x", "steps": [], "candidates": ["a", "b", "a"]})


def test_what_a_file_says_about_tools_reaches_its_records_too() -> None:
    header = {"tools": {"pay": {"effect": "write"}, "think": {"extra": "free"}}}
    path = parse_path({**header, "paths": [{"id": "x", "query": "q", "gold_trajectory": ["pay"]}]})
    assert path.effects == {"pay": "write"}
    assert path.extras == {"think": "free"}
