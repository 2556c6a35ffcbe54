"""Whether the goal was reached: the application's word first, else the expected answer."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentpath_sdk.gold.model import AnswerCheck, GoldPath
from agentpath_sdk.scoring.goal import answer_metrics, answer_passes, judge_goal, normalise, numbers_in
from agentpath_sdk.scoring.scorer import score_path
from agentpath_sdk.trajectories.model import GoalWord, Trajectory

MATCHERS: tuple[Any, ...] = ("exact", "normalised", "number", "regex", "contains")


@pytest.mark.parametrize(
    ("check", "answer", "passes"),
    [
        (AnswerCheck(expected="Paris", matcher="exact"), "Paris", True),
        (AnswerCheck(expected="Paris", matcher="exact"), "paris", False),
        (AnswerCheck(expected=42, matcher="exact"), "42", True),
        (AnswerCheck(expected={"a": 1}, matcher="exact"), '{"a":1}', True),
        (AnswerCheck(expected="The Eiffel Tower"), "eiffel  tower!", True),
        (AnswerCheck(expected="vitamin A"), "vitamin", False),
        (AnswerCheck(expected="-63 °C"), "63 ℃", False),
        (AnswerCheck(expected="-63 °C"), "\u221263 ℃", True),
        (AnswerCheck(expected="3.5"), "35", False),
        (AnswerCheck(expected=["New York", "NYC"]), "nyc", True),
        (AnswerCheck(expected=-63, matcher="number"), "about \u221263 °C in winter", True),
        (AnswerCheck(expected=-63, matcher="number"), "63 degrees", False),
        (AnswerCheck(expected=3, matcher="number", abs_tolerance=0.1), "2.9", True),
        (AnswerCheck(expected=3, matcher="number", abs_tolerance=0.1), "2.8", False),
        (AnswerCheck(expected=100, matcher="number", rel_tolerance=0.1), "it is 109 km", True),
        (AnswerCheck(expected=1234.5, matcher="number"), "1,234.5 dollars", True),
        (AnswerCheck(expected=1234.5, matcher="number"), "1.234,5 Euro", True),
        (AnswerCheck(expected=1234567, matcher="number"), "1 234 567 человек", True),
        (AnswerCheck(expected=3.7, matcher="number"), "3,7 процента", True),
        (AnswerCheck(expected="20 %", matcher="number"), "20", True),
        (AnswerCheck(expected="no number", matcher="number"), "20", None),
        (AnswerCheck(expected=True, matcher="number"), "1", None),
        (AnswerCheck(expected=r"\b4[0-9]\b", matcher="regex"), "the answer is 42", True),
        (AnswerCheck(expected=r"^42$", matcher="regex"), "the answer is 42", False),
        (AnswerCheck(expected="(", matcher="regex"), "(", None),
        (AnswerCheck(expected="Mars", matcher="contains"), "it is mars, the red planet", True),
        (AnswerCheck(expected="Venus", matcher="contains"), "it is mars", False),
    ],
)
def test_answer_matchers(check: AnswerCheck, answer: str, passes: bool | None) -> None:
    assert answer_passes(check, answer) is passes


def test_a_hyphen_is_no_minus() -> None:
    assert list(numbers_in("GPT-4 in 2020-2024, -5, x=-2")) == [4.0, 2020.0, 2024.0, -5.0, -2.0]


def test_the_applications_word_wins() -> None:
    path = GoldPath(id="g", answer=AnswerCheck(expected="Paris"))
    run = Trajectory(final_answer="Paris", goal=GoalWord(success=False, reason="refund missing", source="app"))
    goal = judge_goal(run, path)
    assert (goal.success, goal.source, goal.reason) == (False, "app", "refund missing")


@pytest.mark.parametrize(
    ("run", "success"),
    [
        (Trajectory(final_answer="Paris"), True),
        (Trajectory(final_answer="Rome"), False),
        (Trajectory(), None),
        (Trajectory(stop_reason="finished"), None),
        (Trajectory(stop_reason="error"), False),
    ],
)
def test_missing_answer_is_unknown_unless_the_run_failed(run: Trajectory, success: bool | None) -> None:
    goal = judge_goal(run, GoldPath(id="g", answer=AnswerCheck(expected="Paris")))
    assert goal.success is success
    assert goal.reason


def test_answer_scores_stand_beside_the_path() -> None:
    path = GoldPath(id="g", answer=AnswerCheck(expected="the red planet", matcher="contains"))
    score = score_path(Trajectory(final_answer="Mars is the red planet", stop_reason="finished"), path)
    assert score.label == "solid"
    assert score.metrics["goal_success"] == 1.0
    assert score.metrics["answer_exact"] == 0.0
    assert score.metrics["answer_f1"] == pytest.approx(2 * 2 / (2 + 5))


def test_pattern_has_no_words_to_compare() -> None:
    path = GoldPath(id="g", answer=AnswerCheck(expected="4.", matcher="regex"))
    score = score_path(Trajectory(final_answer="42", stop_reason="finished"), path)
    assert "answer_f1" not in score.metrics
    assert "pattern" in score.metric_reasons["answer_f1"]


def test_best_alternative_counts() -> None:
    check = AnswerCheck(expected=["the big apple", "New York"])
    assert answer_metrics(check, "New York") == {"answer_exact": 1.0, "answer_f1": 1.0}


@given(st.text(), st.text(), st.sampled_from(MATCHERS))
def test_answers_are_judged_without_raising(expected: str, answer: str, matcher: Any) -> None:
    check = AnswerCheck(expected=expected, matcher=matcher)
    assert answer_passes(check, answer) in (True, False, None)
    assert all(0.0 <= value <= 1.0 for value in answer_metrics(check, answer).values())


@given(st.text())
def test_normalising_twice_changes_nothing_but_articles(text: str) -> None:
    once = normalise(text)
    assert normalise(once) in (once, once.partition(" ")[2])
