"""What counts as the same argument: by default, and with the option that a gold file may ask for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from agentpath_sdk.gold.matchers import Called, Exact, Fold, Ignore, MappingOf, Number, Regex, SameSet, register_matcher
from agentpath_sdk.gold.model import ArgumentMatcher, CallStep, Comparison, GoldPath
from agentpath_sdk.scoring.score import PathScore
from agentpath_sdk.scoring.scorer import score_path
from agentpath_sdk.trajectories.model import ToolCall, Trajectory


def scored(expected: Mapping[str, ArgumentMatcher] | None, actual: Any, **more: Any) -> PathScore:
    path = GoldPath(id="g", steps=(CallStep(tool="before"), CallStep(tool="f", arguments=expected, **more)))
    steps = (ToolCall(tool="before", arguments={}), ToolCall(tool="f", arguments=actual))
    return score_path(Trajectory(steps=steps, stop_reason="finished"), path)


def exact(given: Mapping[str, Any]) -> dict[str, ArgumentMatcher]:
    return {name: Exact(expected=value) for name, value in given.items()}


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        ({"f": {"lang": "en", "year": 2024}}, {"f": {"year": 2024, "lang": "en"}}),
        ({"a": 2, "b": 3}, {"b": 3, "a": 2}),
        ({"n": 1}, {"n": 1.0}),
        (None, {}),
        (None, {"q": "x"}),
        (None, None),
        ({}, {}),
        ({}, None),
        ({"q": "x"}, '{"q": "x"}'),
        ({"q": {"a": "x"}}, {"q": '{"a": "x"}'}),
        ({"q": '{"a": "x"}'}, {"q": {"a": "x"}}),
        ({"q": "caf\u00e9"}, {"q": "cafe\u0301"}),
    ],
)
def test_equal_by_default(expected: Any, actual: Any) -> None:
    assert scored(None if expected is None else exact(expected), actual).value == 1.0


@pytest.mark.parametrize(
    ("expected", "actual", "named"),
    [
        ({"n": True}, {"n": 1}, ["n = 1", "expects true"]),
        ({"n": 1}, {"n": True}, ["n = true", "expects 1"]),
        ({"n": 0}, {"n": False}, ["n = false", "expects 0"]),
        ({"n": 0.3}, {"n": 0.30000000000000004}, ["n = 0.30000000000000004", "expects 0.3"]),
        ({"n": 80}, {"n": 8080}, ["n = 8080", "expects 80"]),
        ({"n": 1}, {"n": "1"}, ['n = "1"', "expects 1"]),
        ({"ids": [1, 2]}, {"ids": [2, 1]}, ["ids = [2,1]", "expects [1,2]"]),
        ({"c": "Paris"}, {"c": " paris"}, ['c = " paris"', 'expects "Paris"']),
        ({}, {"q": "x"}, ['q = "x"', "gold does not expect"]),
        ({"q": "x"}, {"q": "x", "limit": 10}, ["limit = 10", "gold does not expect"]),
        ({"q": "x"}, {"q": "x", "limit": 50}, ["limit = 50", "gold does not expect"]),
        ({"q": None}, {}, ["without q", "expects null"]),
        ({"q": "x"}, [1], ["[1]", "object of arguments"]),
        ({"q": "x"}, "not json", ["not json", "object of arguments"]),
    ],
)
def test_different_by_default_with_a_reason_that_names_everything(expected: Any, actual: Any, named: list[str]) -> None:
    score = scored(exact(expected), actual)
    assert score.metrics["tool_accuracy"] == 1.0
    assert score.metrics["argument_accuracy"] == 0.5
    assert score.metrics["argument_similarity"] < 1.0
    message = score.alignment.first_divergence
    assert message is not None
    assert message.startswith("step 2: f called with")
    assert all(part in message for part in named)


@pytest.mark.parametrize(
    ("expected", "actual", "more"),
    [
        ({"n": Number(expected=0.3, abs_tolerance=1e-9)}, {"n": 0.30000000000000004}, {}),
        ({"n": Number(expected=1, coerce=True)}, {"n": "1"}, {}),
        ({"ids": SameSet(items=(1, 2))}, {"ids": [2, 1]}, {}),
        ({"c": Fold(expected="Paris")}, {"c": " paris"}, {}),
        ({"c": Regex(expected="P.*")}, {"c": "Paris"}, {}),
        ({"c": Ignore()}, {"c": "anything"}, {}),
        ({"c": Ignore()}, {}, {}),
        ({"f": MappingOf(items={"a": Exact(expected=1)}, extra="allow")}, {"f": {"a": 1, "b": 2}}, {}),
        (exact({"q": "x"}), {"q": "x", "limit": 10}, {"tool_defaults": {"limit": 10}}),
        (exact({"q": "x", "limit": 10}), {"q": "x"}, {"tool_defaults": {"limit": 10}}),
        (exact({"q": "x"}), {"q": "x", "limit": 50}, {"extra_arguments": "allow"}),
        ({}, {"q": "x"}, {"extra_arguments": "allow"}),
    ],
)
def test_equal_with_the_option(expected: Any, actual: Any, more: dict[str, Any]) -> None:
    score = scored(expected, actual, **more)
    assert score.metrics["argument_accuracy"] == 1.0
    assert score.metrics["argument_similarity"] == 1.0
    assert score.metrics["recall"] == 1.0


def test_default_value_of_a_tool_is_compared_where_the_gold_expects_another() -> None:
    assert scored(exact({"limit": 20}), {}, tool_defaults={"limit": 10}).metrics["argument_accuracy"] == 0.5
    assert scored(exact({"q": "x"}), {"q": "x", "limit": 50}, tool_defaults={"limit": 10}).value != 1.0


def test_similarity_is_the_mean_over_the_union_of_keys() -> None:
    expected = {**exact({"a": 1, "b": 2}), "skipped": Ignore()}
    score = scored(expected, {"a": 1, "c": 3, "skipped": 4})
    assert score.metrics["argument_similarity"] == pytest.approx((1 + 1 / 3) / 2)


def test_keys_the_gold_does_not_name_leave_the_union_where_extras_are_allowed() -> None:
    score = scored(exact({"a": 1, "b": 2}), {"a": 1, "c": 3}, extra_arguments="allow")
    assert score.metrics["argument_similarity"] == pytest.approx((1 + 1 / 2) / 2)


def test_tolerance_is_told_in_words() -> None:
    score = scored({"x": Number(expected=3, abs_tolerance=0.1)}, {"x": 2})
    assert score.alignment.first_divergence == "step 2: f called with x = 2, gold expects 3 plus or minus 0.1"


class _Wild:
    """A matcher somebody wrote: it raises, or its similarity is out of range."""

    name = "wild"
    expected = "anything"

    def __init__(self, outcome: Comparison | Exception) -> None:
        self.outcome = outcome

    def __call__(self, actual: Any) -> Comparison:
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self.outcome


@pytest.mark.parametrize(
    ("outcome", "passed"),
    [
        (RuntimeError("secret"), False),
        (Comparison(passed=True, similarity=7.0), True),
        (Comparison(passed=False, similarity=float("nan")), False),
        (Comparison(passed=False, similarity=-1.0), False),
    ],
)
def test_matcher_that_misbehaves_does_no_harm(outcome: Any, passed: bool) -> None:
    score = scored({"x": _Wild(outcome)}, {"x": 1})
    assert score.metrics["argument_accuracy"] == (1.0 if passed else 0.5)
    assert 0.0 <= score.metrics["argument_similarity"] <= 1.0
    assert "secret" not in str(score.to_json())


def test_registered_function_compares() -> None:
    register_matcher("same_length", lambda expected, actual: len(expected) == len(actual), replace=True)
    matcher = Called(function="same_length", expected="abc")
    assert scored({"x": matcher}, {"x": "xyz"}).value == 1.0
    assert scored({"x": matcher}, {"x": "wxyz"}).metrics["argument_accuracy"] == 0.5
