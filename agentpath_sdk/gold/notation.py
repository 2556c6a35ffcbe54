"""How matchers are written in gold files: ``{$word: value, option: ...}``; everything else is meant as it stands.

A mapping with a key that starts with ``$`` is a matcher, at any depth; a literal mapping with such a key is written
``{$exact: {...}}``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias, cast

from agentpath_sdk.gold.embedding import available
from agentpath_sdk.gold.entries import DEFINED_ELSEWHERE
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
from agentpath_sdk.gold.result_matchers import AtPath, Documents, compiled_path
from agentpath_sdk.gold.schema import Problem, closest
from agentpath_sdk.gold.semantic import SEMANTIC_THRESHOLD, Semantic
from agentpath_sdk.gold.slots import Slot, holds_slot, slots_in, unescaped
from agentpath_sdk.gold.wording import TypeName, found, is_list, json_type
from agentpath_sdk.gold.yaml_core import Loc

__all__ = [
    "MATCHER_WORDS",
    "Comparing",
    "SlotNames",
    "holds_matcher",
    "matcher_schemas",
    "read_matcher",
    "word_of",
]


@dataclass(frozen=True, kw_only=True, slots=True)
class Comparing:
    """How arguments written plainly are compared."""

    fold_case: bool = False
    coerce_numbers: bool = False
    abs_tolerance: float = 0.0
    rel_tolerance: float = 0.0


@dataclass(frozen=True, slots=True)
class SlotNames:
    """The slots of a path's templates, and those that its texts have used so far."""

    known: frozenset[str] = frozenset()
    used: dict[str, Loc] = field(default_factory=dict[str, Loc])
    """Name -> where it was first used."""

    def note(self, value: Any, loc: Loc) -> None:
        """Note the slots in a value as used at ``loc``."""
        for name in slots_in(value):
            if name in self.known:
                self.used.setdefault(name, loc)


@dataclass(frozen=True, slots=True)
class _Reader:
    """One pass over one argument, collecting problems."""

    comparing: Comparing
    problems: list[Problem]
    slots: SlotNames

    def read(self, value: Any, loc: Loc) -> ArgumentMatcher:
        if isinstance(value, dict):
            mapping = cast("dict[str, Any]", value)
            return self._matcher(mapping, loc) if word_of(mapping) else self._mapping(mapping, loc)
        if is_list(value):
            return self._list(value, loc)
        return self._text(value, loc) if self.slots.known and isinstance(value, str) else self._scalar(value)

    def read_all(self, values: Iterable[Any], loc: Loc) -> tuple[ArgumentMatcher, ...]:
        return tuple(self.read(value, (*loc, at)) for at, value in enumerate(values))

    def read_keys(self, mapping: Mapping[str, Any], loc: Loc) -> dict[str, ArgumentMatcher]:
        return {key: self.read(value, (*loc, key)) for key, value in mapping.items()}

    def _text(self, value: str, loc: Loc) -> ArgumentMatcher:
        if not holds_slot(value, self.slots.known):
            return self._scalar(unescaped(value))
        self.slots.note(value, loc)
        return Slot(pattern=Exact(expected=value))

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
            return self._built(form, mapping[word], options, (*loc, word))
        except Wrong as wrong:
            place = loc if wrong.at is None else (*loc, wrong.at)
            self.problems.append(Problem(place, wrong.problem, wrong.hint))
            return Ignore()

    def _built(self, form: _Form, value: Any, options: Mapping[str, Any], loc: Loc) -> ArgumentMatcher:
        """Return the matcher; of one that compares texts the whole is a slot where a text of it holds one."""
        if not form.slots or not self.slots.known:
            return form.build(self, value, options, loc)
        given = options.get("value") if form.build is _call else value
        if holds_slot(given, self.slots.known):
            self.slots.note(given, loc)
            return Slot(pattern=form.build(self, value, options, loc))
        plain = {key: _unescaped(option) for key, option in options.items()}
        return form.build(self, _unescaped(value), plain, loc)


Build: TypeAlias = Callable[[_Reader, Any, Mapping[str, Any], Loc], ArgumentMatcher]


@dataclass(frozen=True, slots=True)
class _Form:
    """How one matcher is written."""

    build: Build
    options: tuple[str, ...]
    example: str
    takes: Mapping[str, Any]
    """JSON Schema of the value."""
    slots: bool = False
    """Whether the texts of the value may hold slots; the matchers inside a value read theirs themselves."""


def read_matcher(
    value: Any, comparing: Comparing, loc: Loc, problems: list[Problem], slots: SlotNames | None = None
) -> ArgumentMatcher:
    """Return the matcher an argument's value in a gold file stands for; what is wrong is added to ``problems``."""
    return _Reader(comparing, problems, slots or SlotNames()).read(value, loc)


def matcher_schemas() -> dict[str, Any]:
    """Return the JSON Schema of each matcher, by its word; other matchers inside refer to ``Value``."""
    return {
        word: {
            "type": "object",
            "properties": {word: form.takes} | {option: _OPTIONS[option] for option in form.options},
            "required": [word],
            "additionalProperties": False,
        }
        for word, form in _FORMS.items()
    }


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


def _semantic(_: _Reader, value: Any, options: Mapping[str, Any], loc: Loc) -> ArgumentMatcher:
    if not available():
        hint = "pip install 'agentpath-sdk[semantic]', or call use_embedder before the gold files are loaded"
        raise Wrong("'$semantic' needs a model of meaning, and none is installed", hint, at="$semantic")
    text = a_text(value, "$semantic")
    if not text.strip():
        raise Wrong("expected a text that is not empty", at="$semantic")
    return Semantic(expected=text, threshold=a_threshold(options, SEMANTIC_THRESHOLD))


def _documents(_: _Reader, value: Any, options: Mapping[str, Any], loc: Loc) -> ArgumentMatcher:
    ids = a_list(value, "$documents")
    wrong = [one for one in ids if not isinstance(one, str | int) or isinstance(one, bool) or one == ""]
    if wrong or not ids:
        shown = found(wrong[0]) if wrong else "an empty list"
        raise Wrong(f"expected the ids of documents (texts or whole numbers), found {shown}", at="$documents")
    least = options.get("least")
    if least is not None and (type(least) is not int or not 1 <= least <= len(ids)):
        raise Wrong(f"expected a whole number from 1 to {len(ids)}, found {found(least)}", at="least")
    return Documents(ids=tuple(ids), least=least)


def _json_path(reader: _Reader, value: Any, options: Mapping[str, Any], loc: Loc) -> ArgumentMatcher:
    if not isinstance(value, dict) or not value:
        raise Wrong(f"expected a mapping of paths to values, found {found(value)}", at="$json_path")
    items = cast("dict[str, Any]", value)
    for path in items:
        try:
            compiled_path(path)
        except ValueError as error:
            raise Wrong(f"{path!r} is no JSON path: {error}", at="$json_path") from None
    return AtPath(items=reader.read_keys(items, loc))


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

_TEXT: Final = {"type": "string"}
_LIST: Final = {"type": "array"}
_VALUE: Final = {DEFINED_ELSEWHERE: "Value"}
_VALUES: Final = {"type": "object", "additionalProperties": _VALUE}
_OPTIONS: Final[Mapping[str, Any]] = {
    "abs": {"type": "number", "minimum": 0},
    "rel": {"type": "number", "minimum": 0},
    "coerce": {"type": "boolean"},
    "fold_case": {"type": "boolean"},
    "threshold": {"type": "number", "exclusiveMinimum": 0, "maximum": 1},
    "least": {"type": "integer", "minimum": 1},
    "value": {},
}
_TYPE_NAME: Final = {"enum": list(_TYPES)}
_FORMS: Final[Mapping[str, _Form]] = {
    "$exact": _Form(_exact, (), "{$exact: {any: value}}", {}),
    "$ignore": _Form(_ignore, (), "{$ignore: true}", {"const": True}),
    "$number": _Form(_number, ("abs", "rel", "coerce"), "{$number: 3, abs: 0.1}", {"type": "number"}),
    "$fold": _Form(_fold, (), "{$fold: Paris}", _TEXT, slots=True),
    "$fuzzy": _Form(_fuzzy, ("threshold",), "{$fuzzy: temperature on Mars, threshold: 0.8}", _TEXT, slots=True),
    "$semantic": _Form(_semantic, ("threshold",), "{$semantic: how warm is Mars, threshold: 0.6}", _TEXT, slots=True),
    "$regex": _Form(_regex, (), "{$regex: '[A-Z]{3}'}", _TEXT, slots=True),
    "$glob": _Form(_glob, (), "{$glob: '*.pdf'}", _TEXT, slots=True),
    "$contains": _Form(_contains, ("fold_case",), "{$contains: Mars}", {}, slots=True),
    "$set": _Form(_set, (), "{$set: [1, 2]}", _LIST),
    "$subset": _Form(_subset, (), "{$subset: {key: value}}", _VALUES),
    "$one_of": _Form(_one_of, (), "{$one_of: [a, b]}", {"type": "array", "items": _VALUE, "minItems": 1}),
    "$type": _Form(
        _type, (), "{$type: text}", {"anyOf": [_TYPE_NAME, {"type": "array", "items": _TYPE_NAME, "minItems": 1}]}
    ),
    "$documents": _Form(
        _documents,
        ("least",),
        "{$documents: [id1, id2], least: 1}",
        {"type": "array", "items": {"type": ["string", "integer"]}, "minItems": 1},
    ),
    "$json_path": _Form(_json_path, (), "{$json_path: {'$.rows[*].id': 17}}", {**_VALUES, "minProperties": 1}),
    "$call": _Form(_call, ("value", "threshold"), "{$call: name, value: expected}", _TEXT, slots=True),
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
    "meaning": "$semantic",
    "embedding": "$semantic",
    "about": "$semantic",
    "docs": "$documents",
    "ids": "$documents",
    "jsonpath": "$json_path",
    "path": "$json_path",
    "at": "$json_path",
    "eq": "$exact",
    "equals": "$exact",
    "literal": "$exact",
}


def _unescaped(value: Any) -> Any:
    if isinstance(value, str):
        return unescaped(value)
    if isinstance(value, dict):
        return {key: _unescaped(inner) for key, inner in cast("dict[str, Any]", value).items()}
    return [_unescaped(inner) for inner in value] if is_list(value) else value


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
