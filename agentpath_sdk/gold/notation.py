"""How matchers are written in gold files: ``{$word: value, option: ...}``; everything else is meant as it stands.

A mapping with a key that starts with ``$`` is a matcher, at any depth; a literal mapping with such a key is written
``{$exact: {...}}``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, cast

from agentpath_sdk.gold.expecting import Wrong, a_flag, a_list, a_number, a_pattern, a_text, a_threshold, a_tolerance
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
    registered_matchers,
)
from agentpath_sdk.gold.model import ArgumentMatcher
from agentpath_sdk.gold.schema import Problem, closest
from agentpath_sdk.gold.wording import TypeName, found, is_list, json_type
from agentpath_sdk.gold.yaml_core import Loc

__all__ = ["MATCHER_WORDS", "Comparing", "holds_matcher", "read_matcher", "word_of"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Comparing:
    """How arguments written plainly are compared."""

    fold_case: bool = False
    coerce_numbers: bool = False
    abs_tolerance: float = 0.0
    rel_tolerance: float = 0.0


@dataclass(frozen=True, slots=True)
class _Reader:
    """One pass over one argument, collecting problems."""

    comparing: Comparing
    problems: list[Problem]

    def read(self, value: Any, loc: Loc) -> ArgumentMatcher:
        if isinstance(value, dict):
            mapping = cast("dict[str, Any]", value)
            return self._matcher(mapping, loc) if word_of(mapping) else self._mapping(mapping, loc)
        if is_list(value):
            return self._list(value, loc)
        return self._scalar(value)

    def read_all(self, values: Iterable[Any], loc: Loc) -> tuple[ArgumentMatcher, ...]:
        return tuple(self.read(value, (*loc, at)) for at, value in enumerate(values))

    def read_keys(self, mapping: Mapping[str, Any], loc: Loc) -> dict[str, ArgumentMatcher]:
        return {key: self.read(value, (*loc, key)) for key, value in mapping.items()}

    def _scalar(self, value: Any) -> ArgumentMatcher:
        how, kind = self.comparing, json_type(value)
        if kind == "text" and how.fold_case:
            return Fold(expected=value)
        if kind == "number" and (how.coerce_numbers or how.abs_tolerance or how.rel_tolerance):
            return Number(
                expected=value,
                abs_tolerance=how.abs_tolerance,
                rel_tolerance=how.rel_tolerance,
                coerce=how.coerce_numbers,
            )
        return Exact(expected=value)

    def _list(self, values: Sequence[Any], loc: Loc) -> ArgumentMatcher:
        items = self.read_all(values, loc)
        return Exact(expected=values) if all(map(_is_exact, items, values)) else ListOf(items=items)

    def _mapping(self, mapping: dict[str, Any], loc: Loc) -> ArgumentMatcher:
        items = self.read_keys(mapping, loc)
        plain = all(_is_exact(item, mapping[key]) for key, item in items.items())
        return Exact(expected=mapping) if plain else MappingOf(items=items)

    def _matcher(self, mapping: dict[str, Any], loc: Loc) -> ArgumentMatcher:
        word = word_of(mapping) or ""
        options = {key: value for key, value in mapping.items() if key != word}
        try:
            form = _form(word)
            _check_options(word, form, options)
            return form.build(self, mapping[word], options, (*loc, word))
        except Wrong as wrong:
            place = loc if wrong.at is None else (*loc, wrong.at)
            self.problems.append(Problem(place, wrong.problem, wrong.hint))
            return Ignore()


Build: TypeAlias = Callable[[_Reader, Any, Mapping[str, Any], Loc], ArgumentMatcher]


@dataclass(frozen=True, slots=True)
class _Form:
    """How one matcher is written."""

    build: Build
    options: tuple[str, ...]
    example: str


def read_matcher(value: Any, comparing: Comparing, loc: Loc, problems: list[Problem]) -> ArgumentMatcher:
    """Return the matcher an argument's value in a gold file stands for; what is wrong is added to ``problems``."""
    return _Reader(comparing, problems).read(value, loc)


def word_of(mapping: Mapping[str, Any]) -> str | None:
    """Return the first key that starts with ``$``: the word of a matcher, or None for a literal mapping."""
    return next((key for key in mapping if key.startswith("$")), None)


def holds_matcher(value: Any) -> bool:
    """Return whether a mapping inside ``value``, or itself, would be read as a matcher."""
    if isinstance(value, dict):
        mapping = cast("dict[str, Any]", value)
        return word_of(mapping) is not None or any(map(holds_matcher, mapping.values()))
    return is_list(value) and any(map(holds_matcher, value))


# --- one reader per matcher ----------------------------------------------------------------------


def _exact(_: _Reader, value: Any, options: Mapping[str, Any], loc: Loc) -> ArgumentMatcher:
    return Exact(expected=value)


def _ignore(_: _Reader, value: Any, options: Mapping[str, Any], loc: Loc) -> ArgumentMatcher:
    if value is not True:
        raise Wrong(f"expected true, found {found(value)}", at="$ignore")
    return Ignore()


def _number(reader: _Reader, value: Any, options: Mapping[str, Any], loc: Loc) -> ArgumentMatcher:
    how = reader.comparing
    return Number(
        expected=a_number(value, "$number"),
        abs_tolerance=a_tolerance(options, "abs", how.abs_tolerance),
        rel_tolerance=a_tolerance(options, "rel", how.rel_tolerance),
        coerce=a_flag(options, "coerce", how.coerce_numbers),
    )


def _fold(_: _Reader, value: Any, options: Mapping[str, Any], loc: Loc) -> ArgumentMatcher:
    return Fold(expected=a_text(value, "$fold"))


def _fuzzy(_: _Reader, value: Any, options: Mapping[str, Any], loc: Loc) -> ArgumentMatcher:
    return Fuzzy(expected=a_text(value, "$fuzzy"), threshold=a_threshold(options, 0.8))


def _regex(_: _Reader, value: Any, options: Mapping[str, Any], loc: Loc) -> ArgumentMatcher:
    return Regex(expected=a_pattern(value, "$regex"))


def _glob(_: _Reader, value: Any, options: Mapping[str, Any], loc: Loc) -> ArgumentMatcher:
    return Glob(expected=a_text(value, "$glob"))


def _contains(reader: _Reader, value: Any, options: Mapping[str, Any], loc: Loc) -> ArgumentMatcher:
    parts = tuple(value) if is_list(value) else (value,)
    if not parts or "" in parts:
        raise Wrong(f"expected at least one part, none of them empty, found {found(value)}", at="$contains")
    _check_literal(value, "$contains")
    return Contains(parts=parts, fold_case=a_flag(options, "fold_case", reader.comparing.fold_case))


def _set(_: _Reader, value: Any, options: Mapping[str, Any], loc: Loc) -> ArgumentMatcher:
    items = tuple(a_list(value, "$set"))
    _check_literal(value, "$set")
    return SameSet(items=items)


def _subset(reader: _Reader, value: Any, options: Mapping[str, Any], loc: Loc) -> ArgumentMatcher:
    if not isinstance(value, dict):
        raise Wrong(f"expected a mapping, found {found(value)}", at="$subset")
    return MappingOf(items=reader.read_keys(cast("dict[str, Any]", value), loc), extra="allow")


def _one_of(reader: _Reader, value: Any, options: Mapping[str, Any], loc: Loc) -> ArgumentMatcher:
    values = a_list(value, "$one_of")
    if not values:
        raise Wrong("expected at least one option, found an empty list", at="$one_of")
    return OneOf(options=reader.read_all(values, loc))


def _type(_: _Reader, value: Any, options: Mapping[str, Any], loc: Loc) -> ArgumentMatcher:
    names: Sequence[Any] = value if is_list(value) else [value]
    wrong = [name for name in names if not isinstance(name, str) or name not in _TYPES]
    if wrong or not names:
        shown = found(wrong[0]) if wrong else "an empty list"
        raise Wrong(f"expected the name of a type, found {shown}", closest(str(wrong[:1]), _TYPES), at="$type")
    return TypeOf(types=tuple(_TYPES[name] for name in names))


def _call(_: _Reader, value: Any, options: Mapping[str, Any], loc: Loc) -> ArgumentMatcher:
    known = registered_matchers()
    if not isinstance(value, str) or value not in known:
        hint = closest(str(value), known) if known else "call register_matcher before the gold files are loaded"
        raise Wrong(f"no matcher {value!r} is registered", hint, at="$call")
    return Called(function=value, expected=options.get("value"), threshold=a_threshold(options, 1.0))


_TYPES: Final[Mapping[str, TypeName]] = {
    "text": "text",
    "string": "text",
    "number": "number",
    "integer": "integer",
    "boolean": "boolean",
    "list": "list",
    "array": "list",
    "mapping": "mapping",
    "object": "mapping",
    "null": "null",
}

_FORMS: Final[Mapping[str, _Form]] = {
    "$exact": _Form(_exact, (), "{$exact: {any: value}}"),
    "$ignore": _Form(_ignore, (), "{$ignore: true}"),
    "$number": _Form(_number, ("abs", "rel", "coerce"), "{$number: 3, abs: 0.1}"),
    "$fold": _Form(_fold, (), "{$fold: Paris}"),
    "$fuzzy": _Form(_fuzzy, ("threshold",), "{$fuzzy: temperature on Mars, threshold: 0.8}"),
    "$regex": _Form(_regex, (), "{$regex: '[A-Z]{3}'}"),
    "$glob": _Form(_glob, (), "{$glob: '*.pdf'}"),
    "$contains": _Form(_contains, ("fold_case",), "{$contains: Mars}"),
    "$set": _Form(_set, (), "{$set: [1, 2]}"),
    "$subset": _Form(_subset, (), "{$subset: {key: value}}"),
    "$one_of": _Form(_one_of, (), "{$one_of: [a, b]}"),
    "$type": _Form(_type, (), "{$type: text}"),
    "$call": _Form(_call, ("value", "threshold"), "{$call: name, value: expected}"),
}
MATCHER_WORDS: Final = frozenset(_FORMS)
"""All words that a matcher may start with, ``$`` included."""

# Words of other tools, and ours for the same thing.
_OTHER_WORDS: Final[Mapping[str, str]] = {
    "any": "$ignore",
    "anything": "$ignore",
    "approx": "$number",
    "close_to": "$number",
    "tolerance": "$number",
    "abs": "$number",
    "rel": "$number",
    "coerce": "$number",
    "casefold": "$fold",
    "fold_case": "$fold",
    "ignore_case": "$fold",
    "similar": "$fuzzy",
    "like": "$fuzzy",
    "match": "$regex",
    "matches": "$regex",
    "pattern": "$regex",
    "re": "$regex",
    "wildcard": "$glob",
    "includes": "$contains",
    "substring": "$contains",
    "any_order": "$set",
    "unordered": "$set",
    "keys": "$subset",
    "partial": "$subset",
    "any_of": "$one_of",
    "enum": "$one_of",
    "in": "$one_of",
    "callable": "$call",
    "custom": "$call",
    "function": "$call",
    "eq": "$exact",
    "equals": "$exact",
    "literal": "$exact",
}


def _form(word: str) -> _Form:
    form = _FORMS.get(word)
    if form is not None:
        return form
    other = _OTHER_WORDS.get(word[1:].lower())
    hint = f"did you mean {_FORMS[other].example}?" if other else closest(word, _FORMS)
    literal = "; a literal mapping with such a key is written {$exact: {...}}"
    raise Wrong(f"unknown matcher {word!r}", hint + literal, at=word)


def _check_options(word: str, form: _Form, options: Mapping[str, Any]) -> None:
    for key in options:
        if key.startswith("$"):
            raise Wrong(f"{word!r} and {key!r} in one mapping; expected one matcher", "see $one_of", at=key)
        if key not in form.options:
            known = closest(key, form.options) if form.options else f"{word} has no options"
            raise Wrong(f"unknown option {key!r} of {word!r}", f"{known}; write {form.example}", at=key)


def _check_literal(value: Any, at: str) -> None:
    if holds_matcher(value):
        raise Wrong(f"{at!r} takes plain values, found a matcher inside", at=at)


def _is_exact(matcher: ArgumentMatcher, value: Any) -> bool:
    """Return whether the part was written plainly: ``$exact`` with the same value is no reason to compare by parts."""
    return isinstance(matcher, Exact) and matcher.expected is value
