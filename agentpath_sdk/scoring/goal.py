"""Whether a run reached its goal, and how its final answer compares with the expected one, word by word."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias, cast

from agentpath_sdk.gold.equality import values_equal
from agentpath_sdk.gold.model import AnswerCheck, GoldPath
from agentpath_sdk.gold.semantic import SEMANTIC_THRESHOLD, Semantic
from agentpath_sdk.scoring.answers_numbers import finite, numbers_in
from agentpath_sdk.scoring.answers_text import folded, normalise, token_f1, words_of
from agentpath_sdk.scoring.answers_units import quantity_passes
from agentpath_sdk.scoring.score import Goal
from agentpath_sdk.trajectories.model import Trajectory

__all__ = ["F1_THRESHOLD", "answer_metrics", "answer_passes", "judge_goal", "normalise", "numbers_in"]

_UNKNOWN: Final = Goal(reason="neither the application nor an expected answer tells")
_NO_ANSWER: Final = Goal(reason="the run's final answer is not known")
_NEVER_ANSWERED: Final = Goal(success=False, source="answer", reason="the run ended with an error, without an answer")
_LONGEST_ANSWER: Final = 100_000
_CLOSE: Final = 1e-9

F1_THRESHOLD: Final = 0.8
"""Share of words in common from which ``f1`` passes, where the check does not say."""


def judge_goal(trajectory: Trajectory, gold: GoldPath | None) -> Goal:
    """Return the application's word where there is one, else what the gold path's answer check says."""
    word = trajectory.goal
    if word is not None:
        return Goal(success=word.success, source=word.source, reason=word.reason)
    if gold is None or gold.answer is None:
        return _UNKNOWN
    if trajectory.final_answer is None:
        # An agent that raised has given no answer for certain; elsewhere it may not have been captured.
        return _NEVER_ANSWERED if trajectory.stop_reason == "error" else _NO_ANSWER
    passed = answer_passes(gold.answer, trajectory.final_answer)
    if passed is None:
        return Goal(source="answer", reason="the expected answer cannot be compared: check its pattern, number or unit")
    words = "matches" if passed else "does not match"
    return Goal(success=passed, source="answer", reason=f"the answer {words} the expected one ({gold.answer.matcher})")


def answer_passes(check: AnswerCheck, answer: str) -> bool | None:
    """Return whether ``answer`` meets the check; a list of expected answers is met by any. None = no valid check."""
    answer = answer[:_LONGEST_ANSWER]
    found = [_MATCHERS[check.matcher](check, expected, answer) for expected in _alternatives(check)]
    return True if True in found else None if None in found else False


def answer_metrics(check: AnswerCheck, answer: str) -> dict[str, float]:
    """Return ``answer_exact`` (0 or 1 after normalising) and ``answer_f1`` (words in common), best alternative.

    Empty where the expected answer is a pattern: there are no words to compare.
    """
    if check.matcher == "regex":
        return {}
    given = words_of(answer[:_LONGEST_ANSWER])
    expected = [words_of(str(one)) for one in _alternatives(check)]
    exact = any(one == given for one in expected)
    return {"answer_exact": float(exact), "answer_f1": max((token_f1(one, given) for one in expected), default=0.0)}


def _alternatives(check: AnswerCheck) -> list[Any]:
    expected = check.expected
    return list(cast("list[Any]", expected)) if isinstance(expected, list | tuple) else [expected]


def _exact(_: AnswerCheck, expected: Any, answer: str) -> bool:
    return values_equal(expected if isinstance(expected, dict | str) else str(expected), answer)


def _normalised(_: AnswerCheck, expected: Any, answer: str) -> bool:
    return words_of(str(expected)) == words_of(answer)


def _contains(_: AnswerCheck, expected: Any, answer: str) -> bool:
    return folded(str(expected)) in folded(answer)


def _regex(_: AnswerCheck, expected: Any, answer: str) -> bool | None:
    try:
        return re.search(str(expected), answer) is not None
    except re.error:
        return None


def _number(check: AnswerCheck, expected: Any, answer: str) -> bool | None:
    wanted = _one_number(expected)
    if wanted is None:
        return None
    if check.unit is not None:
        return quantity_passes(
            answer, wanted, check.unit, abs_tolerance=check.abs_tolerance, rel_tolerance=check.rel_tolerance
        )
    allowed = max(check.abs_tolerance, check.rel_tolerance * abs(wanted), _CLOSE * abs(wanted))
    # The hair of slack keeps 0.1 within 0.1 of 0.2.
    return any(abs(number - wanted) <= allowed * (1 + _CLOSE) for number in numbers_in(answer))


def _f1(check: AnswerCheck, expected: Any, answer: str) -> bool:
    wanted = F1_THRESHOLD if check.threshold is None else check.threshold
    return token_f1(words_of(str(expected)), words_of(answer)) >= wanted * (1 - _CLOSE)


def _semantic(check: AnswerCheck, expected: Any, answer: str) -> bool:
    wanted = SEMANTIC_THRESHOLD if check.threshold is None else check.threshold
    return Semantic(expected=str(expected), threshold=wanted)(answer).passed


_Matcher: TypeAlias = Callable[[AnswerCheck, Any, str], bool | None]
_MATCHERS: Final[Mapping[str, _Matcher]] = {
    "exact": _exact,
    "normalised": _normalised,
    "number": _number,
    "regex": _regex,
    "contains": _contains,
    "f1": _f1,
    "semantic": _semantic,
}


def _one_number(expected: Any) -> float | None:
    if isinstance(expected, bool):
        return None
    if isinstance(expected, int | float):
        return finite(str(expected))
    return next(numbers_in(str(expected)), None)
