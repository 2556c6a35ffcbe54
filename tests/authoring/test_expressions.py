"""Computed values: right to the digit a person expects, and no way out of the sandbox."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentpath_sdk.errors import MissingExtraError
from agentpath_sdk.gold.authoring.expressions import ExpressionError, evaluate, names_in

pytest.importorskip("simpleeval")


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("{a} + {b}", 5),
        ("a + b", 5),
        ("{a} * 1.8 + 32", 35.6),
        ("0.1 + 0.2", 0.3),
        ("6 / {a}", 3),
        ("7 // 2", 3),
        ("{b} ** 2 % 5", 4),
        ("round({x}, 1)", 3.1),
        ("upper({city}) + '!'", "OSLO!"),
        ("{city} + ' ' + str({a})", "Oslo 2"),
        ("'even' if {a} % 2 == 0 else 'odd'", "even"),
        ("max({list}) - min({list})", 8),
        ("sum({list})", 14),
        ("{list}[0]", 1),
        ("{object}['k']", "v"),
        ("{a} < {b} and not {a} == {b}", True),
    ],
)
def test_expressions_over_slots(expression: str, value: Any) -> None:
    values = {"a": 2, "b": 3, "x": 3.14159, "city": "Oslo", "list": [1, 4, 9], "object": {"k": "v"}}
    found = evaluate(expression, values)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("{a} +", "is no expression"),
        ("{c} + 1", "there is no slot 'c'"),
        ("1 / 0", "division by zero"),
        ("{a} + 'x'", "has no value"),
        ("", "has no value"),
        ("1" * 600, "600 characters"),
        ("float('inf')", "no JSON number"),
    ],
)
def test_what_has_no_value_is_said_to_have_none(expression: str, words: str) -> None:
    with pytest.raises(ExpressionError, match=words):
        evaluate(expression, {"a": 1})


@pytest.mark.parametrize(
    "expression",
    [
        "__import__('os').system('true')",
        "open('/etc/passwd')",
        "{a}.__class__",
        "().__class__.__bases__[0].__subclasses__()",
        "(lambda: 1)()",
        "[x for x in range(10)]",
        "eval('1')",
        "abs.__globals__",
        "str.format('{0.__class__}', 1)",
        "f'{a:>999999999}'",
        "'%999999999d' % 1",
        "'x' * 10 ** 9",
        "9 ** 9 ** 9 ** 9",
        "10 ** 100000000",
        "2 << 10 ** 9",
        "a := 1",
        "import os",
    ],
)
def test_nothing_but_the_slots_can_be_reached_and_nothing_grows(expression: str) -> None:
    begun = time.monotonic()
    with pytest.raises(ExpressionError):
        evaluate(expression, {"a": 1})
    assert time.monotonic() - begun < 1


@given(st.integers(-(10**6), 10**6), st.integers(-(10**6), 10**6))
def test_sums_of_whole_numbers_are_exact(one: int, other: int) -> None:
    assert evaluate("{a} + {b}", {"a": one, "b": other}) == one + other


def test_the_names_in_an_expression_are_its_slots() -> None:
    assert names_in("max({a}, b) + 1") == {"a", "b"}
    assert names_in("{a} +") == frozenset()


def test_without_the_library_its_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(_: str) -> Any:
        raise ImportError

    monkeypatch.setattr("agentpath_sdk.gold.authoring.expressions.importlib.import_module", missing)
    with pytest.raises(MissingExtraError, match=r"agentpath-sdk\[synth\]"):
        evaluate("1 + 1", {})
