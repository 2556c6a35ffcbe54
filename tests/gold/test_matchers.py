"""What each matcher takes, what it refuses, and the words it refuses with."""

from __future__ import annotations

import math
import pickle
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentpath_sdk._guard import HEALTH
from agentpath_sdk.errors import ConfigurationError
from agentpath_sdk.gold import matchers
from agentpath_sdk.gold.embedding import use_embedder
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
from agentpath_sdk.gold.model import ArgumentMatcher, Comparison
from agentpath_sdk.gold.result_matchers import AtPath, Documents, InResult
from agentpath_sdk.gold.semantic import Semantic
from agentpath_sdk.gold.slots import Slot, SlotText

ONE_OF_EACH: list[ArgumentMatcher] = [
    Exact(expected={"a": [1, "x"]}),
    Ignore(),
    Number(expected=3, abs_tolerance=0.1, coerce=True),
    Fold(expected="Paris"),
    Fuzzy(expected="temperature on Mars", threshold=0.8),
    Regex(expected="[A-Z]{3}"),
    Glob(expected="*.pdf"),
    Contains(parts=("Mars", "water")),
    SameSet(items=(1, 2)),
    TypeOf(types=("text", "null")),
    OneOf(options=(Exact(expected="a"), Glob(expected="b*"))),
    ListOf(items=(Exact(expected=1), Ignore())),
    MappingOf(items={"a": Exact(expected=1)}, extra="allow"),
    Called(function="nobody_registered_this", expected=1),
    Semantic(expected="temperature on Mars"),
    Documents(ids=("a", 1), least=1),
    AtPath(items={"$.a[0]": Exact(expected=1), "$..b": Ignore()}),
    InResult(matcher=Contains(parts=("Mars",))),
    Slot(pattern=Exact(expected="{city}")),
    SlotText(expected="17"),
]

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(alphabet=st.characters(codec=None)) | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.integers(), inner) | st.tuples(inner),
    max_leaves=8,
)


@pytest.fixture(autouse=True, scope="module")
def _some_embedder() -> Iterator[None]:
    """Meaning is compared whether or not the extra is installed."""
    use_embedder(lambda texts: [(1.0, float(len(text))) for text in texts])
    yield
    use_embedder(None)


@pytest.fixture
def registered() -> Any:
    """Give back the registered functions as they were before the test."""
    before = dict(matchers._FUNCTIONS)
    yield
    matchers._FUNCTIONS.clear()
    matchers._FUNCTIONS.update(before)


@pytest.mark.parametrize(
    ("matcher", "actual"),
    [
        (Exact(expected={"lang": "en", "year": 2024}), {"year": 2024, "lang": "en"}),
        (Exact(expected=1), 1.0),
        (Exact(expected={"q": "x"}), '{"q": "x"}'),
        (Ignore(), None),
        (Number(expected=3, abs_tolerance=0.1), 3.1),
        (Number(expected=3, abs_tolerance=0.1), 2.9),
        (Number(expected=0.3, abs_tolerance=1e-9), 0.30000000000000004),
        (Number(expected=200, rel_tolerance=0.05), 210),
        (Number(expected=-200, rel_tolerance=0.05), -190),
        (Number(expected=200, abs_tolerance=1, rel_tolerance=0.05), 209),
        (Number(expected=1, coerce=True), "1"),
        (Number(expected=1.5, coerce=True), " 1.50 "),
        (Number(expected=2**70, coerce=True), str(2**70)),
        (Fold(expected="Paris"), " paris"),
        (Fold(expected="average  temperature"), "Average\n temperature "),
        (Fold(expected="STRASSE"), "straße"),
        (Fuzzy(expected="average temperature on Mars"), "temperature average on mars"),
        (Fuzzy(expected="average temperature on Mars", threshold=0.7), "average temperature Mars"),
        (Regex(expected="[a-z]+@example\\.com"), "ann@example.com"),
        (Regex(expected="(?i)mars"), "MARS"),
        (Glob(expected="report-??.pdf"), "report-07.pdf"),
        (Contains(parts=("Mars",)), "water on Mars?"),
        (Contains(parts=("mars", "water"), fold_case=True), "Water on MARS"),
        (Contains(parts=(2, "x")), ["x", 1, 2.0]),
        (SameSet(items=(1, 2)), [2, 1]),
        (SameSet(items=(1, 2)), [2, 1, 1.0]),
        (SameSet(items=()), []),
        (SameSet(items=({"a": 1}, {"b": 2})), [{"b": 2}, {"a": 1}]),
        (TypeOf(types=("integer",)), 3.0),
        (TypeOf(types=("number",)), 3),
        (TypeOf(types=("text", "null")), None),
        (TypeOf(types=("mapping",)), {}),
        (OneOf(options=(Exact(expected="a"), Glob(expected="b*"))), "bcd"),
        (ListOf(items=(Exact(expected=1), Regex(expected="x+"))), [1, "xx"]),
        (MappingOf(items={"a": Exact(expected=1)}, extra="allow"), {"a": 1, "b": 2}),
        (MappingOf(items={"a": Exact(expected=1), "b": Ignore()}), {"a": 1}),
        (MappingOf(items={"a": Number(expected=1, abs_tolerance=1)}), '{"a": 2}'),
    ],
)
def test_takes(matcher: ArgumentMatcher, actual: Any) -> None:
    comparison = matcher(actual)
    assert comparison.passed
    assert comparison.reason is None
    assert comparison.similarity == pytest.approx(1.0) or isinstance(matcher, Fuzzy)


@pytest.mark.parametrize(
    ("matcher", "actual", "reason"),
    [
        (Exact(expected=True), 1, "expected true, got number 1"),
        (Exact(expected=1), "1", 'expected 1, got text "1"'),
        (Exact(expected=80), 8080, "expected 80, got number 8080"),
        (Exact(expected=[1, 2]), [2, 1], "expected [1, 2], got list [2, 1]"),
        (Number(expected=3, abs_tolerance=0.1), 3.11, "expected 3 plus or minus 0.1, got number 3.11"),
        (Number(expected=3, rel_tolerance=0.05), 4, "expected 3 plus or minus 5 %, got number 4"),
        (Number(expected=3), "3", 'expected 3, got text "3"'),
        (Number(expected=1), True, "expected 1, got true"),
        (Number(expected=1, coerce=True), "1_0", 'expected 1, got text "1_0"'),
        (Number(expected=1, coerce=True), "nan", 'expected 1, got text "nan"'),
        (Fold(expected="Paris"), "London", 'expected "Paris" (case and blanks do not matter), got text "London"'),
        (Fold(expected="1"), 1, 'expected "1" (case and blanks do not matter), got number 1'),
        (Fuzzy(expected="x"), 3, 'expected a text like "x", got number 3'),
        (Regex(expected="mars"), "mars!", 'expected a text that fits the pattern "mars", got text "mars!"'),
        (Regex(expected="."), "a\n", 'expected a text that fits the pattern ".", got text "a\\n"'),
        (Regex(expected="1"), 1, 'expected a text that fits the pattern "1", got number 1'),
        (Glob(expected="*.pdf"), "a.txt", 'expected a text like *.pdf, got text "a.txt"'),
        (Glob(expected="*.pdf"), "a.PDF", 'expected a text like *.pdf, got text "a.PDF"'),
        (Contains(parts=("Mars",)), "mars", 'expected "Mars" in it, got text "mars"'),
        (Contains(parts=("1",)), 1, 'expected a text or list with "1", got number 1'),
        (Contains(parts=(1,)), "1", 'expected 1 in it, got text "1"'),
        (SameSet(items=(1, 2)), [2, 3], "expected the items [1, 2] in any order, got list [2, 3]"),
        (SameSet(items=(1, 2)), [1], "expected the items [1, 2] in any order, got list [1]"),
        (SameSet(items=(1,)), 1, "expected the items [1] in any order, got number 1"),
        (TypeOf(types=("integer",)), 3.5, "expected any integer, got number 3.5"),
        (TypeOf(types=("number",)), True, "expected any number, got true"),
        (TypeOf(types=("text", "null")), [], "expected any text or null, got list []"),
        (OneOf(options=(Exact(expected="a"),)), "b", 'expected one of ["a"], got text "b"'),
        (ListOf(items=(Exact(expected=1),)), [2], "item 0: expected 1, got number 2"),
        (ListOf(items=(Exact(expected=1),)), [1, 2], "expected 1 items, got 2"),
        (ListOf(items=()), "x", 'expected the list [], got text "x"'),
        (MappingOf(items={"a": Exact(expected=1)}), {"a": 2}, "a: expected 1, got number 2"),
        (MappingOf(items={"a": Exact(expected=1)}), {}, "a: expected, but missing"),
        (MappingOf(items={"a": Exact(expected=1)}), {"a": 1, "b": 2}, "b: not expected, but given"),
        (MappingOf(items={}), "x", 'expected the mapping {}, got text "x"'),
    ],
)
def test_refuses_and_says_what_was_expected_and_what_came(matcher: ArgumentMatcher, actual: Any, reason: str) -> None:
    comparison = matcher(actual)
    assert not comparison.passed
    assert comparison.reason == reason


def test_a_fuzzy_text_below_its_threshold_says_how_similar_it_is() -> None:
    comparison = Fuzzy(expected="temperature on Mars", threshold=0.9)("temperature on Venus")
    assert not comparison.passed
    assert 0.5 < comparison.similarity < 0.9
    assert comparison.reason == (
        'expected a text at least 0.9 similar to "temperature on Mars", got text "temperature on Venus", '
        f"which is {comparison.similarity:.2f}"
    )


def test_a_fuzzy_text_with_another_date_is_refused_however_similar() -> None:
    assert not Fuzzy(expected="flights on 2024-05-01", threshold=0.5)("flights on 2024-05-02").passed


@pytest.mark.parametrize(
    ("matcher", "actual", "similarity"),
    [
        (Contains(parts=("a", "b")), "xa", 0.5),
        (SameSet(items=(1, 2)), [2, 3], 1 / 3),
        (ListOf(items=(Exact(expected=1), Exact(expected=2))), [1, 3], 0.5),
        (ListOf(items=(Exact(expected=1),)), [1, 2], 0.5),
        (MappingOf(items={"a": Exact(expected=1), "b": Exact(expected=2)}), {"a": 1}, 0.5),
        (MappingOf(items={"a": Exact(expected=1)}), {"a": 1, "b": 1, "c": 1}, 1 / 3),
        (OneOf(options=(Exact(expected="abcd"), Exact(expected="ab"))), "abc", 0.8571428571428571),
    ],
)
def test_partial_agreement_is_graded(matcher: ArgumentMatcher, actual: Any, similarity: float) -> None:
    comparison = matcher(actual)
    assert not comparison.passed
    assert comparison.similarity == pytest.approx(similarity)


@given(actual=ANYTHING)
def test_every_matcher_takes_anything_without_raising_and_grades_within_0_and_1(actual: Any) -> None:
    for matcher in ONE_OF_EACH:
        comparison = matcher(actual)
        assert 0.0 <= comparison.similarity <= 1.0
        assert math.isfinite(comparison.similarity)
        assert comparison.passed == (comparison.reason is None)
        assert comparison == matcher(actual)


@given(actual=ANYTHING)
def test_a_value_that_holds_itself_and_foreign_objects_are_compared_without_raising(actual: Any) -> None:
    class Foreign:
        def __eq__(self, other: object) -> bool:
            raise RuntimeError("no")

        __hash__ = None  # type: ignore[assignment]  # unhashable on purpose

    loop: list[Any] = [actual]
    loop.append(loop)
    for matcher in ONE_OF_EACH:
        for value in (loop, Foreign(), {"a": Foreign()}):
            assert 0.0 <= matcher(value).similarity <= 1.0


def test_reasons_can_always_be_sent_as_utf_8() -> None:
    reason = Exact(expected="Київ \ud83d")("😀 \udc00" * 50).reason
    assert reason is not None
    assert reason.startswith('expected "Київ \\ud83d", got text "😀 \\udc00😀')
    reason.encode("utf-8")


@pytest.mark.parametrize("matcher", ONE_OF_EACH, ids=lambda matcher: matcher.name)
def test_matchers_are_values_that_pickle(matcher: ArgumentMatcher) -> None:
    assert pickle.loads(pickle.dumps(matcher)) == matcher
    assert matcher.name
    assert repr(matcher.expected)


def test_a_pattern_that_would_search_for_ever_is_given_up_on_and_counted() -> None:
    before = HEALTH.counts().get("gold.regex_timeout", 0)
    comparison = Regex(expected="(a|aa)+b")("a" * 60 + "c")
    assert not comparison.passed
    assert comparison.reason is not None
    assert comparison.reason.endswith("but the pattern was given up on after 50 ms")
    assert HEALTH.counts()["gold.regex_timeout"] == before + 1


@pytest.mark.parametrize("matcher", [Regex(expected=".*"), Glob(expected="*")])
def test_patterns_refuse_texts_beyond_their_limit(matcher: ArgumentMatcher) -> None:
    comparison = matcher("a" * 20_001)
    assert comparison.reason is not None
    assert comparison.reason.endswith("too long to be searched (20001 characters)")


def test_a_set_of_too_many_items_is_refused_and_not_compared_for_minutes() -> None:
    comparison = SameSet(items=tuple(range(1_000)))(list(range(1_000)))
    assert comparison.reason is not None
    assert comparison.reason.endswith("too many items to be compared (1000)")


def test_a_registered_function_may_answer_with_a_verdict_a_share_or_a_comparison(registered: Any) -> None:
    register_matcher("same_length", lambda expected, actual: len(expected) == len(actual))
    register_matcher("overlap", lambda expected, actual: len(set(expected) & set(actual)) / len(set(expected)))
    register_matcher("own", lambda expected, actual: Comparison(passed=False, similarity=0.3, reason="told so"))
    register_matcher("silent", lambda expected, actual: Comparison(passed=False, similarity=0.3))
    assert Called(function="same_length", expected="abc")("xyz").passed
    assert Called(function="overlap", expected="abcd", threshold=0.5)("abxy") == Comparison(passed=True, similarity=0.5)
    assert Called(function="overlap", expected="abcd")("abxy") == Comparison(
        passed=False, similarity=0.5, reason='expected what overlap takes for "abcd", got text "abxy"'
    )
    assert Called(function="own")("x") == Comparison(passed=False, similarity=0.3, reason="told so")
    assert Called(function="silent")("x").reason == 'expected what silent takes for null, got text "x"'


@pytest.mark.parametrize(("said", "error"), [(2.0, "ValueError"), ("yes", "ValueError"), (None, "TypeError")])
def test_a_registered_function_that_answers_nonsense_fails_the_comparison(
    registered: Any, said: Any, error: str
) -> None:
    register_matcher("nonsense", lambda expected, actual: said)
    reason = Called(function="nonsense")(1).reason
    assert reason == f"expected what nonsense takes for null, got number 1, but the matcher failed with {error}"


def test_a_registered_function_that_raises_fails_the_comparison_and_is_counted_without_its_message(
    registered: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(expected: Any, actual: Any) -> bool:
        raise RuntimeError("secret of the user")

    monkeypatch.setattr(HEALTH, "raise_faults", True)
    register_matcher("broken", broken)
    before = HEALTH.counts().get("fault.gold.matcher", 0)
    reason = Called(function="broken", expected=1)(2).reason
    assert reason == "expected what broken takes for 1, got number 2, but the matcher failed with RuntimeError"
    assert HEALTH.counts()["fault.gold.matcher"] == before + 1


def test_a_function_that_is_not_registered_in_this_process_fails_the_comparison() -> None:
    reason = Called(function="elsewhere")(1).reason
    assert (
        reason == "expected what elsewhere takes for null, got number 1, but no matcher 'elsewhere' is registered here"
    )


def test_registering_says_what_is_wrong_with_a_name(registered: Any) -> None:
    register_matcher("taken", max)
    register_matcher("taken", max)
    with pytest.raises(ConfigurationError, match="'taken' is registered already; pass replace=True"):
        register_matcher("taken", min)
    register_matcher("taken", min, replace=True)
    with pytest.raises(ConfigurationError, match="'not a name' is not an identifier"):
        register_matcher("not a name", max)
