"""What several values of one argument become."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentpath_sdk.gold.authoring.generalising import generalise
from agentpath_sdk.gold.dumping import dump_paths, matcher_notation
from agentpath_sdk.gold.files import parse_path, read_gold
from agentpath_sdk.gold.model import CallStep, GoldPath


@pytest.mark.parametrize(
    ("values", "how", "written"),
    [
        ([1, 1.0, 1], "exact", 1),
        (["Oslo", "oslo ", "OSLO"], "folded", {"$fold": "Oslo"}),
        ([20.5, 20.7, 20.4], "number", {"$number": 20.5, "abs": 0.2}),
        ([10, 20], "one_of", {"$one_of": [10, 20]}),
        ([1, 2, 3, 4, 5], "type", {"$type": "integer"}),
        ([1.5, 90.0, 400.0, 7.25, 9000.0], "type", {"$type": "number"}),
        ([True, False], "one_of", {"$one_of": [True, False]}),
        (["JFK", "SFO"], "one_of", {"$one_of": ["JFK", "SFO"]}),
        (["a", "b", "c", "d", "e"], "type", {"$type": "text"}),
        ([["b", "a"], ["a", "b"]], "set", {"$set": ["b", "a"]}),
        ([["a", 1], ["a", 2]], "parts", ["a", {"$one_of": [1, 2]}]),
        ([{"k": 1, "n": "x"}, {"k": 1, "n": "y"}], "parts", {"k": 1, "n": {"$one_of": ["x", "y"]}}),
        ([{"k": 1}, {"k": 1, "n": 2}], "parts", {"k": 1, "n": {"$ignore": True}}),
        ([None, "x"], "one_of", {"$one_of": [None, "x"]}),
        ([1, "1", None, [], {}], "varies", {"$ignore": True}),
        ([float("nan"), float("nan")], "varies", {"$ignore": True}),
        ([{"$in": [1]}, {"$in": [2]}], "one_of", {"$one_of": [{"$exact": {"$in": [1]}}, {"$exact": {"$in": [2]}}]}),
    ],
)
def test_the_narrowest_matcher_that_takes_all_values(values: list[Any], how: str, written: Any) -> None:
    found = generalise(values)
    assert found.how == how
    assert matcher_notation(found.matcher) == written


def test_texts_alike_become_fuzzy_and_others_are_told_apart() -> None:
    alike = generalise(
        ["average temperature on Mars", "average temperature of Mars", "the average temperature on Mars"]
    )
    assert alike.how == "fuzzy"
    assert matcher_notation(alike.matcher)["threshold"] == 0.8
    assert alike.matcher("the average temperature of Mars").passed
    assert not alike.matcher("the population of Venus").passed
    other_dates = generalise(["flights on 2024-05-20 to Oslo", "flights on 2024-05-21 to Oslo"])
    assert other_dates.how == "one_of"
    assert not other_dates.matcher("flights on 2024-05-22 to Oslo").passed


def test_long_free_text_is_not_compared() -> None:
    """Nobody writes the same long text twice: neither several of them nor a single one is expected again."""
    long = "The user asks for a refund of the order, " * 5
    assert generalise([long, "Something else altogether that is said at some length. " * 4]).how == "free_text"
    assert generalise([long]).how == "free_text"
    assert generalise([long, long]).how == "exact"
    assert generalise(["Refund order 17"]).how == "exact"


def test_an_argument_that_is_not_always_given_is_not_compared() -> None:
    assert generalise([1, 1], missing=1).how == "not_always_given"


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12) | st.sampled_from(["$in", "a b c"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)


@given(st.lists(_json, min_size=1, max_size=6))
def test_every_value_seen_is_taken_and_the_matcher_can_be_written(values: list[Any]) -> None:
    matcher = generalise(values).matcher
    assert matcher.name == "ignore" or all(matcher(value).passed for value in values)
    path = GoldPath(id="p", steps=(CallStep(tool="t", arguments={"a": matcher}),))
    assert parse_path({"id": "p", "steps": [{"t": {"a": matcher_notation(matcher)}}]}).steps == path.steps


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=2, max_size=5))
def test_a_tolerance_takes_every_number_seen(values: list[float]) -> None:
    matcher = generalise(values).matcher
    assert matcher.name == "ignore" or all(matcher(value).passed for value in values)


def test_a_dumped_matcher_reads_back(tmp_path: Any) -> None:
    matcher = generalise([20.5, 20.7]).matcher
    path = GoldPath(id="p", steps=(CallStep(tool="t", arguments={"a": matcher}),))
    file = tmp_path / "gold.yaml"
    file.write_text(dump_paths([path]))
    [back] = read_gold(file).paths
    assert back.steps == path.steps
