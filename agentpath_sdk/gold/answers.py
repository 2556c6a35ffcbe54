"""The expected answer in a gold file: a text, a number, several texts of which one will do, or a matcher."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias, cast

from agentpath_sdk.gold.embedding import available
from agentpath_sdk.gold.expecting import Wrong, a_number, a_pattern, a_text, a_threshold, a_tolerance
from agentpath_sdk.gold.model import AnswerCheck
from agentpath_sdk.gold.schema import Problem, closest
from agentpath_sdk.gold.wording import found, is_list
from agentpath_sdk.gold.yaml_core import Loc

__all__ = ["answer_notation", "read_answer"]


def read_answer(raw: Any, loc: Loc, problems: list[Problem]) -> AnswerCheck | None:
    """Return the check an answer in a gold file stands for, or None after adding what is wrong to ``problems``."""
    try:
        return _read(raw)
    except Wrong as wrong:
        place = loc if wrong.at is None else (*loc, wrong.at)
        problems.append(Problem(place, wrong.problem, wrong.hint))
        return None


def answer_notation(check: AnswerCheck) -> Any:
    """Return the check as it is written in a gold file."""
    if check.matcher == "normalised":
        return list(check.expected) if is_list(check.expected) else check.expected
    options = {
        "abs": check.abs_tolerance or None,
        "rel": check.rel_tolerance or None,
        "unit": check.unit,
        "threshold": check.threshold,
    }
    given = {key: value for key, value in options.items() if value is not None}
    if check.matcher == "number" and not given:
        return check.expected
    return {f"${check.matcher}": check.expected, **given}


def _read(raw: Any) -> AnswerCheck:
    if isinstance(raw, str):
        return AnswerCheck(expected=_not_empty(raw, None))
    if isinstance(raw, int | float) and not isinstance(raw, bool):
        return AnswerCheck(expected=raw, matcher="number")
    if is_list(raw):
        return _any_of(list(raw))
    if isinstance(raw, dict) and raw:
        return _with_matcher(cast("dict[str, Any]", raw))
    raise Wrong(f"expected a text, a number, a list of texts or a matcher, found {found(raw)}")


def _any_of(answers: list[Any]) -> AnswerCheck:
    for answer in answers:
        if not isinstance(answer, str) or not answer.strip():
            raise Wrong(f"expected texts that are not empty, found {found(answer)}")
    if not answers:
        raise Wrong("expected at least one answer, found an empty list")
    return AnswerCheck(expected=answers)


def _with_matcher(raw: Mapping[str, Any]) -> AnswerCheck:
    word = next((key for key in raw if key.startswith("$")), None)
    if word is None:
        bare = next(iter(raw))
        hint = f"write {{${bare}: ...}}" if f"${bare}" in _WORDS else f"matchers are {', '.join(sorted(_WORDS))}"
        raise Wrong(f"expected a matcher, found the key {bare!r}", hint)
    if word not in _WORDS:
        raise Wrong(f"{word!r} is no matcher for answers", closest(word, _WORDS), at=word)
    options = {key: value for key, value in raw.items() if key != word}
    allowed = _OPTIONS.get(word, ())
    for key in options:
        if key not in allowed:
            raise Wrong(f"unknown option {key!r} of {word!r}", closest(key, allowed) if allowed else "", at=key)
    return _WORDS[word](raw[word], options)


def _number(value: Any, options: Mapping[str, Any]) -> AnswerCheck:
    return AnswerCheck(
        expected=a_number(value, "$number"),
        matcher="number",
        abs_tolerance=a_tolerance(options, "abs", 0.0),
        rel_tolerance=a_tolerance(options, "rel", 0.0),
        unit=_not_empty(options["unit"], "unit") if "unit" in options else None,
    )


def _f1(value: Any, options: Mapping[str, Any]) -> AnswerCheck:
    return AnswerCheck(expected=_not_empty(value, "$f1"), matcher="f1", threshold=_threshold(options))


def _semantic(value: Any, options: Mapping[str, Any]) -> AnswerCheck:
    if not available():
        hint = "pip install 'agentpath-sdk[semantic]', or call use_embedder before the gold files are loaded"
        raise Wrong("'$semantic' needs a model of meaning, and none is installed", hint, at="$semantic")
    return AnswerCheck(expected=_not_empty(value, "$semantic"), matcher="semantic", threshold=_threshold(options))


def _threshold(options: Mapping[str, Any]) -> float | None:
    return a_threshold(options, 1.0) if "threshold" in options else None


def _exact(value: Any, _: Mapping[str, Any]) -> AnswerCheck:
    return AnswerCheck(expected=a_text(value, "$exact"), matcher="exact")


def _fold(value: Any, _: Mapping[str, Any]) -> AnswerCheck:
    return AnswerCheck(expected=_not_empty(value, "$fold"))


def _contains(value: Any, _: Mapping[str, Any]) -> AnswerCheck:
    return AnswerCheck(expected=_not_empty(value, "$contains"), matcher="contains")


def _regex(value: Any, _: Mapping[str, Any]) -> AnswerCheck:
    return AnswerCheck(expected=a_pattern(value, "$regex"), matcher="regex")


def _not_empty(value: Any, at: str | None) -> str:
    text = a_text(value, at)
    if not text.strip():
        raise Wrong("expected a text that is not empty", at=at)
    return text


_Read: TypeAlias = Callable[[Any, Mapping[str, Any]], AnswerCheck]
_WORDS: Final[Mapping[str, _Read]] = {
    "$number": _number,
    "$exact": _exact,
    "$fold": _fold,
    "$contains": _contains,
    "$regex": _regex,
    "$f1": _f1,
    "$semantic": _semantic,
}
_OPTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "$number": ("abs", "rel", "unit"),
    "$f1": ("threshold",),
    "$semantic": ("threshold",),
}
