"""Answers by words in common and by a number with its unit."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentpath_sdk.gold.answers import answer_notation, read_answer
from agentpath_sdk.gold.model import AnswerCheck
from agentpath_sdk.gold.schema import Problem
from agentpath_sdk.scoring import answers_units
from agentpath_sdk.scoring.answers_numbers import number_spans
from agentpath_sdk.scoring.answers_text import token_f1, words_of
from agentpath_sdk.scoring.answers_units import quantity_passes, same_unit
from agentpath_sdk.scoring.goal import answer_passes


@pytest.mark.parametrize(
    ("answer", "expected", "unit"),
    [
        ("It is 5 km.", 5, "km"),
        ("5km", 5, "km"),
        ("a 5-km walk", 5, "km"),
        ("costs $5", 5, "USD"),
        ("USD 5", 5, "$"),
        ("5 dollars in all", 5, "USD"),
        ("12 %", 12, "percent"),
        ("from 3 to 5 km", 5, "km"),
        ("1,234.5 USD", 1234.5, "USD"),
        ("-63 °C", -63, "°C"),
    ],
)
def test_the_number_with_its_unit_is_found_without_any_converter(
    answer: str, expected: float, unit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    _without_pint(monkeypatch)
    assert quantity_passes(answer, expected, unit) is True


@pytest.mark.parametrize(
    ("answer", "expected", "unit"), [("5", 5, "km"), ("no idea", 5, "km"), ("6 km", 5, "km"), ("km 5", 5, "km")]
)
def test_a_number_alone_or_another_number_is_not_the_quantity(
    answer: str, expected: float, unit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    _without_pint(monkeypatch)
    assert quantity_passes(answer, expected, unit) is False


def test_another_unit_cannot_be_compared_without_a_converter(monkeypatch: pytest.MonkeyPatch) -> None:
    _without_pint(monkeypatch)
    assert quantity_passes("5,000 metres", 5, "km") is None
    assert quantity_passes("5,000 metres or 5 km", 5, "km") is True


@pytest.mark.parametrize(
    ("answer", "expected", "unit", "passes"),
    [
        ("about 5,000 metres away", 5, "km", True),
        ("41 °F outside", 5, "°C", True),
        ("120 km/h on the road", 33.3333, "m/s", True),
        ("1.5 GB", 1500, "MB", True),
        ("5 miles", 5, "km", False),
        ("5 people", 5, "km", False),
        ("5 mW", 5, "MW", False),
        ("€5", 5, "USD", False),
        ("5 in 2020", 5, "km", False),
        ("9" * 400 + " m", 5, "km", False),
        ("5 m**999999999", 5, "km", False),
    ],
)
def test_units_are_converted_where_the_extra_is_there(answer: str, expected: float, unit: str, passes: bool) -> None:
    pytest.importorskip("pint", reason="extra units")
    assert quantity_passes(answer, expected, unit, rel_tolerance=1e-4) is passes


def test_the_tolerance_is_in_the_expected_unit() -> None:
    pytest.importorskip("pint", reason="extra units")
    assert quantity_passes("5,090 m", 5, "km", abs_tolerance=0.1) is True
    assert quantity_passes("5,110 m", 5, "km", abs_tolerance=0.1) is False


def test_case_tells_units_apart_but_not_currencies_by_name() -> None:
    assert not same_unit("mW", "MW")
    assert same_unit("Dollars", "USD")
    assert same_unit("° C", "degC")


@given(st.text(max_size=60), st.floats(allow_nan=False, allow_infinity=False))
def test_no_answer_raises(answer: str, expected: float) -> None:
    assert quantity_passes(answer, expected, "km") in (True, False, None)


@given(st.text(max_size=60))
def test_the_place_of_a_number_is_the_number(text: str) -> None:
    for number in number_spans(text):
        assert 0 <= number.start < number.end <= len(text)
        assert any(sign.isdigit() for sign in text[number.start : number.end])


words = st.lists(st.sampled_from(["a", "b", "c"]), max_size=6)


@given(words, words)
def test_words_in_common_are_symmetric_and_1_for_the_same_words(one: list[str], other: list[str]) -> None:
    assert token_f1(one, other) == token_f1(other, one)
    assert 0.0 <= token_f1(one, other) <= 1.0
    assert (token_f1(one, other) == 1.0) == (sorted(one) == sorted(other))


def test_f1_passes_from_its_threshold_on() -> None:
    check = AnswerCheck(expected="the Singapore Girl in 1972", matcher="f1")
    assert answer_passes(check, "Singapore girl, 1972") is True
    assert answer_passes(check, "in 1972") is False
    assert answer_passes(AnswerCheck(expected=check.expected, matcher="f1", threshold=0.5), "in 1972") is True
    assert words_of("the Singapore Girl in 1972") == ["singapore", "girl", "in", "1972"]


@pytest.mark.parametrize(
    "written",
    [
        {"$f1": "a b c"},
        {"$f1": "a b c", "threshold": 0.5},
        {"$number": 5, "unit": "km"},
        {"$number": 5, "abs": 0.1, "unit": "km"},
    ],
)
def test_they_are_read_from_gold_files_and_written_back(written: object) -> None:
    problems: list[Problem] = []
    check = read_answer(written, (), problems)
    assert problems == []
    assert check is not None
    assert answer_notation(check) == written


@pytest.mark.parametrize(
    "written",
    [
        {"$f1": ""},
        {"$f1": "a", "threshold": 2},
        {"$number": 5, "unit": ""},
        {"$number": 5, "unit": 3},
        {"$f1": "a", "x": 1},
    ],
)
def test_what_is_wrong_with_them_is_said(written: object) -> None:
    problems: list[Problem] = []
    assert read_answer(written, (), problems) is None
    assert len(problems) == 1


def test_a_number_with_a_unit_judges_the_answer() -> None:
    check = AnswerCheck(expected=5, matcher="number", unit="km", rel_tolerance=0.01)
    assert answer_passes(check, "It is 5.02 km away") is True
    pytest.importorskip("pint", reason="needs the extra units")
    assert answer_passes(check, "It is 5.02 away") is False


def _without_pint(monkeypatch: pytest.MonkeyPatch) -> None:
    answers_units._converter.cache_clear()
    monkeypatch.setattr(answers_units, "find_spec", lambda _: None)
    # The next test finds whatever is really installed.
    monkeypatch.setattr(answers_units, "_converter", answers_units._converter.__wrapped__)
