"""When two argument values are equal by default, and how near they are when not."""

from __future__ import annotations

import json
import math
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentpath_sdk.gold.equality import plain_equal_is_enough, same_literals, similarity, values_equal

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=True) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)


def deep(depth: int, bottom: Any = 0) -> Any:
    value = bottom
    for _ in range(depth):
        value = {"a": [value]}
    return value


class Raises:
    def __eq__(self, other: object) -> bool:
        raise RuntimeError("no")

    __hash__ = None  # type: ignore[assignment]  # unhashable on purpose


@pytest.mark.parametrize(
    ("expected", "actual", "equal"),
    [
        ({"lang": "en", "year": 2024}, {"year": 2024, "lang": "en"}, True),
        (1, 1.0, True),
        (True, 1, False),
        (0, False, False),
        ([True], [1], False),
        (0.3, 0.30000000000000004, False),
        (80, 8080, False),
        (1, "1", False),
        ([1, 2], [2, 1], False),
        ("Paris", " paris", False),
        (None, "", False),
        ({"q": None}, {}, False),
        ({"q": "x"}, '{"q": "x"}', True),
        ('{"q": "x"}', {"q": "x"}, True),
        ('{"q": "x"}', ' {"q":"x"} ', True),
        ({"q": "x"}, '{"q": "y"}', False),
        ([1], "[1]", False),
        ("caf\u00e9", "cafe\u0301", True),
        ({"caf\u00e9": 1}, {"cafe\u0301": 1}, True),
        ({1: "a"}, {True: "a"}, False),
        (math.nan, float("nan"), True),
        (math.nan, 1.0, False),
        (2**53 + 1, float(2**53), False),
        (10**400, 1e308, False),
        ((1, 2), [1, 2], True),
        ("\ud800", "\ud800", True),
        ("\ud800", "\ud801", False),
        (Decimal("0.5"), 0.5, True),
        (Decimal("sNaN"), 1, False),
        (Raises(), 1, False),
        ("{" * 100_000, "{" * 100_001, False),
    ],
)
def test_default_equality(expected: Any, actual: Any, equal: bool) -> None:
    assert values_equal(expected, actual) is equal
    assert values_equal(actual, expected) is equal


def test_deep_nesting_is_compared_to_the_bottom() -> None:
    assert values_equal(deep(50_000), deep(50_000))
    assert not values_equal(deep(50_000), deep(50_000, bottom=1))
    assert similarity(deep(50_000), deep(50_000)) == 1.0
    assert 0.0 <= similarity(deep(50_000), deep(50_000, bottom=1)) <= 1.0


def test_a_value_that_holds_itself_is_compared_and_ends() -> None:
    one: dict[str, Any] = {"n": 1}
    one["self"] = one
    other: dict[str, Any] = {"n": 1}
    other["self"] = other
    assert values_equal(one, other)
    assert 0.0 <= similarity(one, {"n": 1, "self": 2}) <= 1.0


def test_dropped_word_of_a_russian_query_keeps_four_fifths() -> None:
    assert similarity("средняя температура Марса", "температура Марса") == pytest.approx(0.81, abs=0.005)


@pytest.mark.parametrize(
    ("expected", "actual", "low", "high"),
    [
        ("book on 2024-05-01", "book on 2024-05-02", 0.0, 0.0),
        ("order AB-17", "order AB-71", 0.0, 0.0),
        ("open https://a.test/x", "open https://a.test/y", 0.0, 0.0),
        ('find "red car"', 'find "blue car"', 0.0, 0.0),
        ("from 2024-05-01 to 2024-06-01", "from 2024-05-01 to 2024-06-02", 0.3, 0.35),
        ("x * 1.8 + 32", "32 + x * 1.8", 0.99, 0.99),
        ("Paris", "  paris ", 0.99, 0.99),
        ("\uff30aris", "Paris", 0.99, 0.99),
        ("it's fine", "its fine", 0.9, 1.0),
        ("book flight to NYC", "cancel flight to NYC", 0.0, 0.8),
        (1, 5, 0.0, 0.0),
        (0.3, 0.1 + 0.2, 0.99, 0.99),
        (1, "1", 0.99, 0.99),
        (1, True, 0.0, 0.0),
        ({"a": 1, "b": 1, "c": 1}, {"a": 1, "b": 5, "c": 5}, 1 / 3, 1 / 3),
        ({"a": 1}, {"a": 1, "b": 2}, 0.5, 0.5),
        ({"a": 1}, '{"a": 1, "b": 2}', 0.5, 0.5),
        ({}, {}, 1.0, 1.0),
        ([], [], 1.0, 1.0),
        ([1, 2], [2, 1], 0.5, 0.5),
        ([1, 2, 3], [1, 3], 2 / 3, 2 / 3),
        ([1], {"a": 1}, 0.0, 0.0),
        (None, 0, 0.0, 0.0),
        ("a", None, 0.0, 0.0),
    ],
)
def test_graded_similarity(expected: Any, actual: Any, low: float, high: float) -> None:
    assert low - 1e-9 <= similarity(expected, actual) <= high + 1e-9


def test_same_literals_tells_dates_apart_and_ignores_their_order() -> None:
    assert same_literals("weather on 2024-05-01 in Rome", "Rome weather, 2024-05-01")
    assert not same_literals("weather on 2024-05-01", "weather on 2024-05-02")
    assert not same_literals("top 5 hotels", "hotels")


def test_similarity_of_large_values_is_bounded_in_time() -> None:
    """Five thousand elements against as many would be 25 million comparisons."""
    one, other = [f"word {n}" for n in range(5_000)], [f"word {n}" for n in range(1, 5_001)]
    assert 0.0 <= similarity(one, other) <= 1.0
    assert 0.0 <= similarity("a" * 3_000_000, "b" * 3_000_000) <= 1.0


@given(JSON, JSON)
def test_scores_of_any_two_values_lie_in_range_and_agree_with_equality(one: Any, other: Any) -> None:
    value = similarity(one, other)
    assert 0.0 <= value <= 1.0
    assert values_equal(one, other) == values_equal(other, one)
    assert values_equal(one, other) == (value == 1.0)


@given(JSON)
def test_a_value_equals_its_own_copy(value: Any) -> None:
    assert values_equal(value, json.loads(json.dumps(value)))


@given(JSON, JSON)
def test_plain_equality_is_proof_where_it_is_said_to_be_enough(expected: Any, actual: Any) -> None:
    if plain_equal_is_enough(expected) and expected == actual:
        assert values_equal(expected, actual)


@pytest.mark.parametrize("trap", [True, 0, 1.0, [1], {"a": False}, {1: "x"}, deep(1_000), {2, 3}, Raises()])
def test_plain_equality_is_not_enough_for_a_trap(trap: Any) -> None:
    assert not plain_equal_is_enough(trap)


@pytest.mark.parametrize("plain", [None, "x", 2, 2.5, {"a": ["b", {"c": None}]}, [], {}])
def test_plain_equality_is_enough_for_plain_values(plain: Any) -> None:
    assert plain_equal_is_enough(plain)
