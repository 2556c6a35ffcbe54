"""What people are told about their paths."""

from __future__ import annotations

from typing import Any

import pytest

from agentpath_sdk.gold.describing import describe
from agentpath_sdk.gold.files import parse_path
from agentpath_sdk.gold.linting import lint
from agentpath_sdk.gold.matcher_words import describe_matcher
from agentpath_sdk.gold.matchers import Called, Contains, Exact, ListOf, SameSet
from agentpath_sdk.gold.model import Comparison, GoldPath


def test_a_path_is_described_in_plain_words() -> None:
    path = parse_path(
        {
            "id": "mars",
            "description": "Temperature in Fahrenheit.",
            "version": 2,
            "status": "draft",
            "agent": "planets-*",
            "queries": ["Temperature on Mars?"],
            "tools": {"search": {"defaults": {"limit": 10}}},
            "steps": [
                {"search": {"query": {"$fuzzy": "temperature Mars"}, "limit": 10}, "must_succeed": True},
                {"tool": "calculator", "arguments": {"x": {"$number": 3, "abs": 0.1, "rel": 0.05}},
                 "argument_mode": "subset"},
                {"log": {}},
                "response",
            ],
            "answer": {"$number": -81.4, "abs": 0.5},
            "weights": "accuracy",
            "good_path": 0.7,
            "thresholds": {"score": 0.5},
            "min_steps": 3,
        }
    )  # fmt: skip
    assert describe(path) == "\n".join(
        [
            "mars (version 2, draft: not used for scoring unless asked for)",
            "Temperature in Fahrenheit.",
            "Applies to runs of agent planets-* whose query is, or is nearly:",
            "  - Temperature on Mars?",
            "Expects 4 steps, in this order:",
            "  1. search (must succeed)",
            '     query: a text at least 0.8 similar to "temperature Mars"',
            "     limit: 10 (the tool's default is 10)",
            "  2. calculator (further arguments are fine)",
            "     x: 3 plus or minus 0.1 or 5 %",
            "  3. log (without arguments)",
            "  4. response (arguments are not checked)",
            "The goal is reached when the answer gives the number -81.4 plus or minus 0.5.",
            "Weights: tool_accuracy 0.4, argument_accuracy 0.4, step_order_accuracy 0.1, path_efficiency 0.1.",
            "A score of at least 0.7 is a good path.",
            "'agentpath score' fails where score is below 0.5.",
            "The shortest way has 3 steps.",
        ]
    )


def test_a_path_for_everything_that_expects_nothing() -> None:
    assert describe(GoldPath(id="x")) == (
        "x (version 1)\nApplies to every run of any agent.\nExpects no tool call at all."
    )


class _Own:
    name = "own"
    expected = None

    def __call__(self, actual: Any) -> Comparison:
        return Comparison(passed=True, similarity=1.0)


@pytest.mark.parametrize(
    ("matcher", "words"),
    [
        (Contains(parts=("a", "b"), fold_case=True), 'a text or list that contains "a" and "b", case and blanks aside'),
        (SameSet(items=(1, 2)), "the items [1, 2] in any order"),
        (ListOf(items=(Exact(expected=1), SameSet(items=()))), "a list of 1, the items [] in any order"),
        (Called(function="iata", expected="JFK"), 'what the registered matcher iata takes for "JFK"'),
        (_Own(), "what the matcher 'own' takes"),
    ],
)
def test_matchers_in_words(matcher: Any, words: str) -> None:
    assert describe_matcher(matcher) == words


def _found(*entries: dict[str, Any]) -> list[tuple[str, str, str]]:
    return [(one.kind, one.path_id, one.message) for one in lint(parse_path(entry) for entry in entries)]


def test_sound_paths_have_no_findings() -> None:
    assert _found({"id": "a", "query": "qa", "steps": []}, {"id": "b", "query": "qb", "agent": "x", "steps": []}) == []


def test_a_path_for_everything_is_pointed_out() -> None:
    assert _found({"id": "a", "steps": []}) == [
        (
            "applies_to_everything",
            "a",
            "has neither queries nor an agent, so it applies to every run of every agent that no other path fits",
        )
    ]


def test_a_draft_and_a_query_given_twice_are_pointed_out() -> None:
    assert _found({"id": "a", "queries": ["Temp on Mars", "temp on  mars?"], "status": "draft", "steps": []}) == [
        ("not_used", "a", "is draft and scores no run unless asked for"),
        ("repeated_query", "a", "has the query 'temp on  mars?' twice, case and punctuation aside"),
    ]


@pytest.mark.parametrize(
    ("argument", "word"),
    [
        ({"regex": "a+"}, "regex"),
        ({"fuzzy": "x", "threshold": 0.5}, "fuzzy"),
        ({"number": 3, "abs": 1}, "number"),
        ({"type": "string"}, "type"),
        ({"type": "hotel"}, None),
        ({"number": "3"}, None),
        ({"regex": "a", "field": "b"}, None),
        ({"city": "Oslo"}, None),
        ({}, None),
    ],
)
def test_a_literal_mapping_that_looks_like_a_matcher_is_pointed_out(argument: Any, word: str | None) -> None:
    found = _found({"id": "a", "query": "q", "steps": [{"t": {"x": argument}}]})
    message = f"step 1, t.x: {word!r} is the key of a literal mapping; a matcher is written ${word}"
    assert found == ([] if word is None else [("looks_like_matcher", "a", message)])


def test_alternatives_and_paths_that_can_never_win_are_pointed_out() -> None:
    same = [{"search": {"q": 1}}]
    assert _found(
        {"id": "a", "query": "q", "agent": "x*", "steps": same},
        {"id": "b", "query": "Q?", "agent": "xy", "steps": same},
        {"id": "c", "query": "q", "agent": "xy", "steps": ["other"]},
        {"id": "d", "query": "q", "agent": "z", "steps": same},
        {"id": "e", "query": "q", "agent": "xy", "status": "draft", "steps": same},
    ) == [
        ("not_used", "e", "is draft and scores no run unless asked for"),
        ("unreachable", "b", "has the same steps and answer as 'a' for the same query, so it never scores better"),
        ("alternatives", "c", "is for the same query as 'a': the better-scoring one counts for a run"),
    ]


def test_true_and_1_are_not_the_same_steps() -> None:
    found = _found(
        {"id": "a", "query": "q", "steps": [{"t": {"x": 1}}]}, {"id": "b", "query": "q", "steps": [{"t": {"x": True}}]}
    )
    assert [kind for kind, _, _ in found] == ["alternatives"]


def test_two_paths_of_one_agent_without_queries_are_alternatives() -> None:
    found = _found(
        {"id": "a", "agent": "x", "steps": ["s"]},
        {"id": "b", "agent": "x", "steps": ["t"]},
        {"id": "c", "agent": "y", "steps": ["t"]},
    )
    assert found == [
        ("alternatives", "b", "is for every run of its agent as 'a': the better-scoring one counts for a run")
    ]
