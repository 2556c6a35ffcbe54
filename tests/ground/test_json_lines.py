"""A line of JSON: strict, uncut, and made of any value."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from agentpath_sdk._encode import json_line

json_values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(st.characters()), inner, max_size=3),
    max_leaves=8,
)


@given(json_values)
def test_any_value_is_one_line_of_strict_json(value: Any) -> None:
    line = json_line(value)
    assert b"\n" not in line

    def refuse(token: str) -> Any:
        raise ValueError(token)

    json.loads(line.decode("utf-8"), parse_constant=refuse)


def test_whole_numbers_beyond_64_bits_stay_exact_and_lone_surrogates_become_a_mark() -> None:
    number = 2**200
    assert json.loads(json_line({"n": number, "t": "\ud800x"})) == {"n": number, "t": "\ufffdx"}


def test_values_nested_beyond_any_reader_or_of_thousands_of_digits_are_cut_not_raised() -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    assert b"too deep" in json_line(deep)
    assert b"bits" in json_line({"n": 10**10_000})
