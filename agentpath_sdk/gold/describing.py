"""What a gold path accepts, in plain words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeAlias, cast

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
)
from agentpath_sdk.gold.model import AnswerCheck, ArgumentMatcher, CallStep, GoldPath
from agentpath_sdk.gold.wording import is_list, show

__all__ = ["describe", "describe_matcher"]

_ANSWERS: Final[Mapping[str, str]] = {
    "exact": "is exactly",
    "normalised": "is, case and punctuation aside,",
    "number": "gives the number",
    "regex": "fits the pattern",
    "contains": "contains",
}


def describe(path: GoldPath) -> str:
    """Return what the path accepts, one fact a line."""
    return "\n".join(_lines(path))


def describe_matcher(matcher: ArgumentMatcher) -> str:
    """Return what the matcher accepts, to follow the word "is"."""
    write = _WORDS.get(type(matcher))
    return f"what the matcher {matcher.name!r} takes" if write is None else write(matcher)


def _lines(path: GoldPath) -> Iterator[str]:
    status = "" if path.status == "approved" else f", {path.status}: not used for scoring unless asked for"
    yield f"{path.id} (version {path.version}{status})"
    if path.description:
        yield path.description
    yield from _applies_to(path)
    if not path.steps:
        yield "Expects no tool call at all."
    else:
        count = f"{len(path.steps)} steps, in this order" if len(path.steps) > 1 else "one step"
        yield f"Expects {count}:"
    for number, step in enumerate(path.steps, 1):
        yield from _step_lines(number, step)
    if path.answer is not None:
        yield f"The goal is reached when the answer {_answer(path.answer)}."
    yield from _judging(path)


def _applies_to(path: GoldPath) -> Iterator[str]:
    agent = "any agent" if path.agent is None else f"agent {path.agent}"
    if not path.queries:
        yield f"Applies to every run of {agent}."
        return
    yield f"Applies to runs of {agent} whose query is, or is nearly:"
    for query in path.queries:
        yield f"  - {query}"


def _step_lines(number: int, step: CallStep) -> Iterator[str]:
    remarks: list[str] = []
    if step.arguments is None:
        remarks.append("arguments are not checked")
    elif not step.arguments:
        remarks.append("any arguments" if step.extra_arguments == "allow" else "without arguments")
    elif step.extra_arguments == "allow":
        remarks.append("further arguments are fine")
    if step.must_succeed:
        remarks.append("must succeed")
    yield f"  {number}. {step.tool}" + (f" ({', '.join(remarks)})" if remarks else "")
    for name, matcher in (step.arguments or {}).items():
        default = f" (the tool's default is {show(step.tool_defaults[name])})" if name in step.tool_defaults else ""
        yield f"     {name}: {describe_matcher(matcher)}{default}"


def _answer(check: AnswerCheck) -> str:
    expected = " or ".join(map(show, check.expected)) if is_list(check.expected) else show(check.expected)
    return f"{_ANSWERS[check.matcher]} {expected}{_tolerance(check.abs_tolerance, check.rel_tolerance)}"


def _tolerance(absolute: float, relative: float) -> str:
    parts = [f"{absolute:g}"] if absolute else []
    parts += [f"{relative * 100:g} %"] if relative else []
    return f" plus or minus {' or '.join(parts)}" if parts else ""


def _judging(path: GoldPath) -> Iterator[str]:
    if path.weights is not None:
        yield "Weights: " + ", ".join(f"{metric} {weight:g}" for metric, weight in path.weights.items()) + "."
    if path.good_path is not None:
        yield f"A score of at least {path.good_path:g} is a good path."
    for metric, least in path.thresholds.items():
        yield f"'agentpath score' fails where {metric} is below {least:g}."
    if path.min_steps is not None:
        yield f"The shortest way has {path.min_steps} steps."


def _number(matcher: Number) -> str:
    coerced = ", also written as a text" if matcher.coerce else ""
    return f"{show(matcher.expected)}{_tolerance(matcher.abs_tolerance, matcher.rel_tolerance)}{coerced}"


def _contains(matcher: Contains) -> str:
    folded = ", case and blanks aside" if matcher.fold_case else ""
    return f"a text or list that contains {' and '.join(map(show, matcher.parts))}{folded}"


def _called(matcher: Called) -> str:
    return f"what the registered matcher {matcher.function} takes for {show(matcher.expected)}"


def _one_of(matcher: OneOf) -> str:
    return " or ".join(describe_matcher(option) for option in matcher.options)


def _list(matcher: ListOf) -> str:
    return f"a list of {', '.join(describe_matcher(item) for item in matcher.items)}"


def _mapping(matcher: MappingOf) -> str:
    keys = ", ".join(f"{key}: {describe_matcher(item)}" for key, item in matcher.items.items())
    return f"a mapping with {keys}" + (" and any further keys" if matcher.extra == "allow" else "")


_Write: TypeAlias = Callable[[Any], str]
_WORDS: Final[Mapping[type[object], _Write]] = {
    Exact: lambda matcher: show(cast("Exact", matcher).expected),
    Ignore: lambda _: "anything, or not given",
    Number: _number,
    Fold: lambda matcher: f"{show(cast('Fold', matcher).expected)}, case and blanks aside",
    Fuzzy: lambda m: f"a text at least {cast('Fuzzy', m).threshold:g} similar to {show(cast('Fuzzy', m).expected)}",
    Regex: lambda matcher: f"a text that fits the pattern {cast('Regex', matcher).expected} as a whole",
    Glob: lambda matcher: f"a text like {cast('Glob', matcher).expected}",
    Contains: _contains,
    SameSet: lambda matcher: f"the items {show(cast('SameSet', matcher).expected)} in any order",
    TypeOf: lambda matcher: f"any {' or '.join(cast('TypeOf', matcher).types)}",
    OneOf: _one_of,
    ListOf: _list,
    MappingOf: _mapping,
    Called: _called,
}
