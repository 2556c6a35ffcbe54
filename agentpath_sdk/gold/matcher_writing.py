"""Matchers written as gold files have them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final, NoReturn, TypeAlias, cast

from agentpath_sdk.errors import ConfigurationError
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
from agentpath_sdk.gold.notation import holds_matcher, word_of
from agentpath_sdk.gold.result_matchers import AtPath, Documents, InResult
from agentpath_sdk.gold.semantic import Semantic
from agentpath_sdk.gold.slots import Slot, escaped, slots_in
from agentpath_sdk.gold.wording import is_list

__all__ = ["matcher_notation"]


def matcher_notation(matcher: ArgumentMatcher, slots: Collection[str] = ()) -> Any:
    """Return the matcher as it is written in a gold file, in a path with the slots of these names.

    Raises:
        ConfigurationError: it is not one of those that gold files know.
    """
    return _Notation(slots).of(matcher)


@dataclass(frozen=True, slots=True)
class _Notation:
    """Writes matchers; where there are slots, texts that look like one are escaped."""

    slots: Collection[str]

    def of(self, matcher: ArgumentMatcher) -> Any:
        match matcher:
            case Slot():
                return self._slot(matcher)
            case InResult():
                # ``result: null`` would read as a result that is not checked.
                return {"$exact": None} if matcher.matcher == Exact(expected=None) else self.of(matcher.matcher)
            case Exact():
                return {"$exact": matcher.expected} if self._is_ambiguous(matcher.expected) else matcher.expected
            case OneOf():
                return {"$one_of": [self.of(option) for option in matcher.options]}
            case ListOf():
                return [self.of(item) for item in matcher.items]
            case MappingOf():
                return self._mapping(matcher)
            case AtPath():
                return {"$json_path": self.items(matcher.items)}
            case _:
                return self._plain(matcher)

    def items(self, matchers: Mapping[str, ArgumentMatcher]) -> dict[str, Any]:
        return {key: self.of(matcher) for key, matcher in matchers.items()}

    def _slot(self, matcher: Slot) -> Any:
        kind = type(matcher.pattern)
        return _PLAIN[kind](matcher.pattern) if kind in _SLOTTED or kind is Exact else _unwritable(matcher)

    def _is_ambiguous(self, value: Any) -> bool:
        return holds_matcher(value) or (bool(self.slots) and (_unescaped_differs(value) or any(slots_in(value))))

    def _mapping(self, matcher: MappingOf) -> Any:
        items = self.items(matcher.items)
        if matcher.extra == "allow":
            return {"$subset": items}
        if (word := word_of(items)) is not None:
            raise ConfigurationError(f"a mapping with matchers and the key {word!r} cannot be written to a gold file")
        return items

    def _plain(self, matcher: ArgumentMatcher) -> Any:
        write = _PLAIN.get(type(matcher))
        if write is None:
            return _unwritable(matcher)
        written = write(matcher)
        return _escaped(written) if self.slots and type(matcher) in _SLOTTED else written


def _unwritable(matcher: ArgumentMatcher) -> NoReturn:
    raise ConfigurationError(f"a matcher of type {type(matcher).__name__} cannot be written to a gold file")


def _escaped(value: Any) -> Any:
    if isinstance(value, str):
        return escaped(value)
    if isinstance(value, dict):
        return {key: _escaped(inner) for key, inner in cast("dict[str, Any]", value).items()}
    return [_escaped(inner) for inner in value] if is_list(value) else value


def _unescaped_differs(value: Any) -> bool:
    return bool(_escaped(value) != value)


def _number(matcher: Number) -> Any:
    options = {"abs": matcher.abs_tolerance, "rel": matcher.rel_tolerance, "coerce": matcher.coerce}
    return {"$number": matcher.expected} | {key: value for key, value in options.items() if value}


def _contains(matcher: Contains) -> Any:
    first, *others = matcher.parts
    # A single part that is a list itself must not read as several parts.
    parts: Any = [first, *others] if others or is_list(first) else first
    return {"$contains": parts} | ({"fold_case": True} if matcher.fold_case else {})


def _documents(matcher: Documents) -> Any:
    return {"$documents": matcher.expected} | ({} if matcher.least is None else {"least": matcher.least})


def _call(matcher: Called) -> Any:
    written = {"$call": matcher.function, "value": matcher.expected}
    return written if matcher.threshold == 1.0 else written | {"threshold": matcher.threshold}


_Write: TypeAlias = Callable[[Any], Any]
_PLAIN: Final[Mapping[type[object], _Write]] = {
    Exact: lambda matcher: cast("Exact", matcher).expected,
    Ignore: lambda _: {"$ignore": True},
    Number: _number,
    Fold: lambda matcher: {"$fold": cast("Fold", matcher).expected},
    Fuzzy: lambda matcher: {"$fuzzy": cast("Fuzzy", matcher).expected, "threshold": cast("Fuzzy", matcher).threshold},
    Semantic: lambda m: {"$semantic": cast("Semantic", m).expected, "threshold": cast("Semantic", m).threshold},
    Regex: lambda matcher: {"$regex": cast("Regex", matcher).expected},
    Glob: lambda matcher: {"$glob": cast("Glob", matcher).expected},
    Contains: _contains,
    SameSet: lambda matcher: {"$set": cast("SameSet", matcher).expected},
    TypeOf: lambda matcher: {"$type": cast("TypeOf", matcher).expected},
    Documents: _documents,
    Called: _call,
}
_SLOTTED: Final = frozenset({Fold, Fuzzy, Semantic, Regex, Glob, Contains, Called})
"""Those whose texts may hold slots."""
