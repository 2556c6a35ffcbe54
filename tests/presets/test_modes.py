"""What the match modes and measures say, and the facts that always hold between them."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentpath_sdk.errors import ConfigurationError
from agentpath_sdk.gold.matchers import Exact, Ignore
from agentpath_sdk.gold.model import CallStep
from agentpath_sdk.scoring.presets import PRESETS, find_preset, match_path, measure_path, score_calls
from agentpath_sdk.scoring.presets_calls import Call

ARGUMENTS = st.none() | st.dictionaries(st.sampled_from("ab"), st.sampled_from([1, 2, True, "x", None]), max_size=2)
CALLS: st.SearchStrategy[list[Call]] = st.lists(st.tuples(st.sampled_from("tuv"), ARGUMENTS), max_size=6)
CHECKED: st.SearchStrategy[list[Call]] = CALLS.map(lambda calls: [(tool, given or {}) for tool, given in calls])


def names(*tools: str) -> list[Call]:
    return [(tool, None) for tool in tools]


def book(a: int, b: int, c: int) -> Call:
    return "book", {"a": a, "b": b, "c": c}


def weather(*times: int) -> list[Call]:
    return [("weather", {"t": time}) for time in times]


@pytest.mark.parametrize(
    ("mode", "good", "bad"),
    [
        ("exact", ["ab"], ["ba", "a", "abc", "aab"]),
        ("in_order", ["ab", "axb", "xaab"], ["ba", "a", ""]),
        ("any_order", ["ab", "ba", "bxa"], ["a", "aa", ""]),
        ("superset", ["ab", "ba", "bxa"], ["a", "aa", ""]),
        ("unordered", ["ab", "ba"], ["a", "abx", "aab"]),
        ("subset", ["ab", "ba", "a", ""], ["aa", "abx"]),
    ],
)
def test_each_mode_accepts_what_it_says(mode: Any, good: list[str], bad: list[str]) -> None:
    gold = names("a", "b")
    assert [match_path(names(*run), gold, mode=mode) for run in good] == [True] * len(good)
    assert [match_path(names(*run), gold, mode=mode) for run in bad] == [False] * len(bad)


@pytest.mark.parametrize(
    ("rule", "good", "bad"),
    [
        ("exact", [{"q": "x", "n": 1}, {"n": 1.0, "q": "x"}], [{"q": "x"}, {"q": "x", "n": 1, "z": 0}, {}, None]),
        ("subset", [{"q": "x", "n": 1}, {"q": "x"}, {}, None], [{"q": "y"}, {"q": "x", "z": 0}]),
        ("superset", [{"q": "x", "n": 1}, {"q": "x", "n": 1, "z": 0}], [{"q": "x"}, {"q": "y", "n": 1}]),
        ("ignore", [{"q": "x"}, {"z": 0}, {}, None], []),
    ],
)
def test_each_argument_mode_accepts_what_it_says(rule: Any, good: list[Any], bad: list[Any]) -> None:
    """Subset: the run's arguments within the gold's; superset: the gold's within the run's."""
    gold = [("f", {"q": "x", "n": 1})]
    assert [match_path([("f", given)], gold, mode="exact", arguments=rule) for given in good] == [True] * len(good)
    assert [match_path([("f", given)], gold, mode="exact", arguments=rule) for given in bad] == [False] * len(bad)


def test_arguments_left_out_in_the_gold_are_not_checked_and_an_empty_object_expects_none() -> None:
    assert match_path([("f", {"q": "x"})], [("f", None)], mode="exact")
    assert not match_path([("f", {"q": "x"})], [("f", {})], mode="exact")


def test_a_single_tool_may_have_a_rule_of_its_own() -> None:
    run, gold = [("f", {"q": "x"}), ("g", {"q": "x"})], [("f", {"q": "y"}), ("g", {"q": "x"})]
    assert not match_path(run, gold, mode="exact")
    assert match_path(run, gold, mode="exact", overrides={"f": "ignore"})
    assert match_path(run, gold, mode="exact", overrides={"f": lambda expected, given: 1.0})


def test_matchers_defaults_and_allowed_extras_of_a_gold_path_are_heard() -> None:
    step = CallStep(
        tool="f",
        arguments={"q": Exact(expected="x"), "note": Ignore(), "limit": Exact(expected=10)},
        tool_defaults={"limit": 10, "page": 1},
    )
    assert match_path([("f", {"q": "x", "note": "anything", "page": 1})], [step], mode="exact")
    assert not match_path([("f", {"q": "x", "limit": 50})], [step], mode="exact")
    assert not match_path([("f", {"q": "x", "page": 2})], [step], mode="exact")
    assert match_path([("f", {"q": "x", "page": 2})], [step], mode="exact", arguments="superset")


def test_partial_credit_goes_to_the_best_pairing_in_any_order_of_the_lists() -> None:
    gold, run = [book(1, 1, 1), book(1, 1, 2)], [book(1, 1, 2), book(1, 5, 5)]
    for one in (gold, gold[::-1]):
        for other in (run, run[::-1]):
            assert measure_path(other, one, measure="graded_recall") == pytest.approx(2 / 3)


def test_a_repeated_gold_call_needs_a_call_for_each() -> None:
    search: Call = ("search", {"q": "x"})
    assert measure_path([search, search], [search, search], measure="f1") == 1.0
    assert measure_path([search], [search, search], measure="recall") == 0.5
    assert measure_path([search], [search, search], measure="precision") == 1.0


def test_further_calls_of_the_same_tool_cost_precision_and_pass_at_least_modes() -> None:
    run, gold = weather(9, 13, 21), weather(9)
    assert measure_path(run, gold, measure="recall") == 1.0
    assert measure_path(run, gold, measure="precision") == pytest.approx(1 / 3)
    assert match_path(run, gold, mode="superset")
    assert not match_path(run, gold, mode="exact")


def test_in_order_counts_the_longest_common_part() -> None:
    run, gold = names("A", "A", "B"), names("A", "B", "A")
    assert measure_path(run, gold, measure="recall", order="in_order") == pytest.approx(2 / 3)
    assert not match_path(run, gold, mode="exact")
    assert score_calls(run, gold, "in_order_recall").pairs == ((0, 0), (2, 1))


NOTHING: list[Call] = []
ONE = names("a")


@pytest.mark.parametrize("name", sorted(PRESETS))
def test_nothing_expected_and_nothing_done_is_full_marks(name: str) -> None:
    assert score_calls(NOTHING, NOTHING, name).value == 1.0


@pytest.mark.parametrize("name", sorted(PRESETS))
def test_an_empty_gold_is_within_any_run(name: str) -> None:
    """Set logic: what asks whether the gold was done is 1; what charges extra calls is 0."""
    kind = PRESETS[name].kind
    at_least = kind in ("in_order", "any_order", "superset", "recall", "graded_recall")
    assert score_calls(ONE, NOTHING, name).value == float(at_least)


@pytest.mark.parametrize("name", sorted(PRESETS))
def test_an_empty_run_is_within_any_gold(name: str) -> None:
    assert score_calls(NOTHING, ONE, name).value == float(PRESETS[name].kind == "subset")


@pytest.mark.parametrize("name", sorted(PRESETS))
def test_the_same_step_without_arguments_is_full_marks(name: str) -> None:
    assert score_calls([("a", {})], ONE, name).value == 1.0
    assert score_calls([("a", None)], [("a", {})], name).value == 1.0


@given(run=CALLS, gold=CALLS)
def test_stricter_modes_imply_looser_ones(run: list[Call], gold: list[Call]) -> None:
    says = {mode: match_path(run, gold, mode=mode) for mode in ("exact", "in_order", "any_order", "unordered")}
    subset, superset = (match_path(run, gold, mode=mode) for mode in ("subset", "superset"))
    assert not says["exact"] or (says["in_order"] and says["unordered"])
    assert not says["in_order"] or says["any_order"]
    assert says["any_order"] == superset
    assert says["unordered"] == (subset and superset and len(run) == len(gold))


@given(run=CHECKED, gold=CHECKED)
def test_looser_arguments_never_lower_a_verdict(run: list[Call], gold: list[Call]) -> None:
    for mode in ("exact", "in_order", "any_order", "unordered", "subset"):
        exact = match_path(run, gold, mode=mode)
        for rule in ("subset", "superset", "ignore"):
            assert match_path(run, gold, mode=mode, arguments=rule) >= exact


@given(run=CHECKED, gold=CHECKED)
def test_run_and_gold_changed_about_turn_subset_into_superset_and_precision_into_recall(
    run: list[Call], gold: list[Call]
) -> None:
    for mode, turned in (("subset", "superset"), ("exact", "exact"), ("unordered", "unordered")):
        for rule, turned_rule in (("exact", "exact"), ("subset", "superset"), ("ignore", "ignore")):
            one = match_path(run, gold, mode=mode, arguments=rule)  # type: ignore[arg-type]  # words of the sets above
            assert one == match_path(gold, run, mode=turned, arguments=turned_rule)  # type: ignore[arg-type]  # same
    assert measure_path(run, gold, measure="f1") == measure_path(gold, run, measure="f1")
    if run and gold:
        assert measure_path(run, gold, measure="precision") == measure_path(gold, run, measure="recall")


@given(run=CALLS, gold=CALLS, data=st.data())
def test_modes_that_ignore_order_do(run: list[Call], gold: list[Call], data: st.DataObject) -> None:
    other = data.draw(st.permutations(run))
    for name in ("any_order", "unordered", "subset", "superset", "precision", "recall", "f1", "graded_recall"):
        assert score_calls(run, gold, name).value == pytest.approx(score_calls(other, gold, name).value)


@given(run=CALLS, gold=CALLS, name=st.sampled_from(sorted(PRESETS)))
def test_every_value_lies_in_0_to_1_and_no_step_is_used_twice(run: list[Call], gold: list[Call], name: str) -> None:
    result = score_calls(run, gold, name)
    assert result.value is not None
    assert 0.0 <= result.value <= 1.0
    assert PRESETS[name].kind not in ("exact", "in_order", "any_order", "unordered") or result.value in (0.0, 1.0)
    assert len({one for one, _ in result.pairs}) == len(result.pairs) == len({other for _, other in result.pairs})
    assert (result.value == 1.0) == (not result.reasons)


def test_a_thousand_random_pairs_of_lists_stay_within_bounds() -> None:
    source = random.Random(14)
    for _ in range(1000):
        run, gold = (
            [(source.choice("tu"), {"a": source.randint(0, 2), "b": source.randint(0, 1)}) for _ in range(size)]
            for size in (source.randint(0, 9), source.randint(0, 9))
        )
        graded = measure_path(run, gold, measure="graded_recall")
        assert 0.0 <= measure_path(run, gold, measure="recall") <= graded <= 1.0


def test_reasons_say_what_is_missing_what_is_wrong_and_what_is_too_much() -> None:
    run: list[Call] = [("search", {"q": "x"}), ("calculator", {"x": 2}), ("calculator", {"x": 9})]
    gold: list[Call] = [("search", {"q": "x"}), ("calculator", {"x": 3}), ("report", None)]
    reasons = score_calls(run, gold, "unordered").reasons
    assert any("gold step 2, calculator" in line and "x" in line and "3" in line for line in reasons)
    assert any("gold step 3, report" in line and "not called" in line for line in reasons)
    assert any(line.startswith("step 3, calculator") for line in reasons)


def test_an_unknown_name_is_an_error_that_lists_the_known_ones() -> None:
    with pytest.raises(ConfigurationError, match=r"'exactly'.*in_order/ignore"):
        find_preset("exactly")
