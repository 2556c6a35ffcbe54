"""Ways and branches that can never count, and groups that say nothing."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentpath_sdk.gold.expansions import covers, words_of
from agentpath_sdk.gold.files import parse_path
from agentpath_sdk.gold.linting import lint


def _messages(entry: dict[str, Any]) -> list[tuple[str, str]]:
    return [(one.kind, one.message) for one in lint([parse_path({"id": "x", "agent": "a", **entry})])]


@pytest.mark.parametrize(
    ("steps", "alternative", "unreachable"),
    [
        (["a", "b"], ["a", "b"], True),
        (["a", {"optional": "b"}], ["a", "b"], True),
        (["a", {"optional": "b"}], ["a"], True),
        ([{"any_order": ["a", "b"]}], ["b", "a"], True),
        ([{"any_order": ["a", ["b", "c"]]}], ["b", "c", "a"], True),
        ([{"repeat": "a", "max": 3}], ["a", "a"], True),
        ([{"one_of": ["a", ["b", "c"]]}, "d"], [{"sequence": ["b", "c"]}, "d"], True),
        (["a", "b"], ["b", "a"], False),
        (["a"], ["a", {"optional": "b"}], False),
        ([{"t": {"x": 1}}], [{"t": {"x": True}}], False),
        (["a", "b"], [{"parallel": ["a", "b"]}], False),
        ([{"repeat": "a"}], ["a", "a"], False),
    ],
)
def test_an_alternative_that_accepts_nothing_new_is_pointed_out(
    steps: list[Any], alternative: list[Any], unreachable: bool
) -> None:
    found = _messages({"steps": steps, "alternatives": [alternative]})
    message = "alternative 1 accepts nothing that the steps would not, so it never scores better"
    assert found == ([("unreachable", message)] if unreachable else [])


def test_a_later_alternative_is_compared_with_the_earlier_ones() -> None:
    found = _messages({"steps": ["a"], "alternatives": [["b", {"optional": "c"}], ["b"]]})
    assert found == [
        ("unreachable", "alternative 2 accepts nothing that alternative 1 would not, so it never scores better")
    ]


@pytest.mark.parametrize(
    ("step", "message"),
    [
        ({"one_of": ["a", {"optional": "b"}, "b"]}, "step 1.3 accepts nothing that step 1.2 would not"),
        ({"one_of": ["a"]}, "step 1 is a choice of one"),
        ({"any_order": [["a", "b"]]}, "step 1 is a group of one"),
        ({"optional": {"repeat": "a", "min": 0}}, "step 1 is optional twice: what it holds may be left out already"),
        ({"any_order": ["a", {"repeat": "b", "max": 1}]}, "step 1.2 is repeated once"),
    ],
)
def test_a_group_that_says_nothing_is_pointed_out(step: Any, message: str) -> None:
    assert _messages({"steps": [step]}) == [("pointless_group", message)]


def test_expressions_too_large_to_be_written_out_are_left_alone() -> None:
    large = [{"any_order": list("abcdefgh")}, {"repeat": {"one_of": ["a", "b"]}, "max": 20}]
    steps = parse_path({"id": "x", "steps": large}).steps
    assert words_of(steps) is None
    assert _messages({"steps": large, "alternatives": [["a"]]}) == []
    assert not covers(None, None)


@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=4))
def test_a_group_in_any_order_accepts_every_order_and_nothing_else(names: list[str]) -> None:
    (step,) = parse_path({"id": "x", "steps": [{"any_order": names}]}).steps
    found = words_of([step])
    rows = [words_of(parse_path({"id": "x", "steps": list(order)}).steps) for order in permutations(names)]
    assert found == frozenset[Any]().union(*(row for row in rows if row is not None))


def test_two_paths_that_differ_in_their_alternatives_only_are_both_reachable() -> None:
    one = parse_path({"id": "a", "query": "q", "steps": ["s"]})
    other = parse_path({"id": "b", "query": "q", "steps": ["s"], "alternatives": [["t"]]})
    assert [finding.kind for finding in lint([one, other])] == ["alternatives"]
