"""Whether a run reached its goal, and how its final answer compares with the expected one, word by word."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeAlias, cast

from agentpath_sdk.gold.equality import values_equal
from agentpath_sdk.gold.model import AnswerCheck, GoldPath
from agentpath_sdk.scoring.score import Goal
from agentpath_sdk.trajectories.model import Trajectory

__all__ = ["answer_metrics", "answer_passes", "judge_goal", "normalise", "numbers_in"]

_UNKNOWN: Final = Goal(reason="neither the application nor an expected answer tells")
_NO_ANSWER: Final = Goal(reason="the run's final answer is not known")
_NEVER_ANSWERED: Final = Goal(success=False, source="answer", reason="the run ended with an error, without an answer")
_LONGEST_ANSWER: Final = 100_000
_CLOSE: Final = 1e-9

_SIGN: Final = r"(?:(?<!\w)[-+\u2212\u2013])?"
_WORD: Final = re.compile(_SIGN + r"\d+(?:[.,]\d+)*|\w+")
_LEADING_ARTICLE: Final = frozenset({"a", "an", "the"})
_SPACED_THOUSANDS: Final = re.compile(_SIGN + r"\d{1,3}(?:[ \u00a0\u202f]\d{3})+(?![\d])(?:[.,]\d+)?")
_NUMBER: Final = re.compile(_SIGN + r"(?:\d[\d.,]*|[.,]\d+)(?:[eE][-+]?\d+)?")
_GROUPED: Final = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d{1,3}(?:\.\d{3})+(?:,\d+)?")


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
        return Goal(source="answer", reason="the expected answer cannot be compared: check its pattern or number")
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
    given = _words(answer[:_LONGEST_ANSWER])
    expected = [_words(str(one)) for one in _alternatives(check)]
    exact = any(one == given for one in expected)
    return {"answer_exact": float(exact), "answer_f1": max((_f1(one, given) for one in expected), default=0.0)}


def normalise(text: str) -> str:
    """Return text without case, punctuation and a leading article; signs and decimal points of numbers stay."""
    return " ".join(_words(text))


def numbers_in(text: str) -> Iterator[float]:
    """Yield every number in ``text``, in each way it may be read: ``1,234`` is 1234 and 1.234."""
    for found in _SPACED_THOUSANDS.findall(text):
        yield from _readings(re.sub(r"\s", "", found))
    for found in _NUMBER.findall(text):
        yield from _readings(found.rstrip(".,"))


def _alternatives(check: AnswerCheck) -> list[Any]:
    expected = check.expected
    return list(cast("list[Any]", expected)) if isinstance(expected, list | tuple) else [expected]


def _exact(_: AnswerCheck, expected: Any, answer: str) -> bool:
    return values_equal(expected if isinstance(expected, dict | str) else str(expected), answer)


def _normalised(_: AnswerCheck, expected: Any, answer: str) -> bool:
    return _words(str(expected)) == _words(answer)


def _contains(_: AnswerCheck, expected: Any, answer: str) -> bool:
    return _folded(str(expected)) in _folded(answer)


def _regex(_: AnswerCheck, expected: Any, answer: str) -> bool | None:
    try:
        return re.search(str(expected), answer) is not None
    except re.error:
        return None


def _number(check: AnswerCheck, expected: Any, answer: str) -> bool | None:
    wanted = _one_number(expected)
    if wanted is None:
        return None
    allowed = max(check.abs_tolerance, check.rel_tolerance * abs(wanted), _CLOSE * abs(wanted))
    # The hair of slack keeps 0.1 within 0.1 of 0.2.
    return any(abs(number - wanted) <= allowed * (1 + _CLOSE) for number in numbers_in(answer))


_Matcher: TypeAlias = Callable[[AnswerCheck, Any, str], bool | None]
_MATCHERS: Final[Mapping[str, _Matcher]] = {
    "exact": _exact,
    "normalised": _normalised,
    "number": _number,
    "regex": _regex,
    "contains": _contains,
}


def _one_number(expected: Any) -> float | None:
    if isinstance(expected, bool):
        return None
    if isinstance(expected, int | float):
        return _finite(str(expected))
    return next(numbers_in(str(expected)), None)


def _readings(text: str) -> Iterator[float]:
    sign = -1.0 if text[:1] in {"-", "\u2212", "\u2013"} else 1.0
    body = text.lstrip("-+\u2212\u2013")
    seen: set[float] = set()
    for reading in _spellings(body):
        number = _finite(reading)
        if number is not None and number not in seen:
            seen.add(number)
            yield sign * number


def _spellings(body: str) -> Iterator[str]:
    """Yield ``body`` as Python writes numbers, in each way its points and commas may be meant."""
    if _GROUPED.fullmatch(body):
        separator = "," if body.find(",") >= 0 and (body.find(".") < 0 or body.find(",") < body.find(".")) else "."
        yield body.replace(separator, "").replace(",", ".")
    if body.count(".") + body.count(",") <= 1:
        yield body.replace(",", ".")


def _finite(text: str) -> float | None:
    try:
        number = float(text)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _words(text: str) -> list[str]:
    words = [word.replace("\u2212", "-").replace("\u2013", "-") for word in _WORD.findall(_folded(text))]
    return words[1:] if len(words) > 1 and words[0] in _LEADING_ARTICLE else words


def _f1(expected: list[str], given: list[str]) -> float:
    if not expected or not given:
        return float(expected == given)
    common = (Counter(expected) & Counter(given)).total()
    return 2.0 * common / (len(expected) + len(given))
