"""What a matcher takes, in plain words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
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
from agentpath_sdk.gold.model import ArgumentMatcher
from agentpath_sdk.gold.result_matchers import AtPath, Documents, InResult
from agentpath_sdk.gold.semantic import Semantic
from agentpath_sdk.gold.slots import Slot, SlotText
from agentpath_sdk.gold.wording import show

__all__ = ["describe_matcher", "tolerance_words"]


def describe_matcher(matcher: ArgumentMatcher) -> str:
    """Return what the matcher accepts, to follow the word "is"."""
    write = _WORDS.get(type(matcher))
    return f"what the matcher {matcher.name!r} takes" if write is None else write(matcher)


def tolerance_words(absolute: float, relative: float) -> str:
    """Return `` plus or minus 0.1 or 5 %``, or an empty text where there is no tolerance."""
    parts = [f"{absolute:g}"] if absolute else []
    parts += [f"{relative * 100:g} %"] if relative else []
    return f" plus or minus {' or '.join(parts)}" if parts else ""


def _number(matcher: Number) -> str:
    coerced = ", also written as a text" if matcher.coerce else ""
    return f"{show(matcher.expected)}{tolerance_words(matcher.abs_tolerance, matcher.rel_tolerance)}{coerced}"


def _contains(matcher: Contains) -> str:
    folded = ", case and blanks aside" if matcher.fold_case else ""
    return f"a text or list that contains {' and '.join(map(show, matcher.parts))}{folded}"


def _documents(matcher: Documents) -> str:
    least = "" if matcher.least is None else f"at least {matcher.least} of "
    return f"{least}the documents {', '.join(map(show, matcher.ids))}"


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
    Semantic: lambda m: f"a text at least {cast('Semantic', m).threshold:g} near in meaning to {show(m.expected)}",
    Slot: lambda m: f"{describe_matcher(cast('Slot', m).pattern)}, the slots filled from the query",
    SlotText: lambda m: f"{show(cast('SlotText', m).expected)} as in the query, case and blanks aside",
    Documents: _documents,
    AtPath: lambda m: " and ".join(f"{describe_matcher(one)} at {at}" for at, one in cast("AtPath", m).items.items()),
    InResult: lambda m: describe_matcher(cast("InResult", m).matcher),
}
