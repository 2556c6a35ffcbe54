"""Templates with lists of values become gold paths: one for each combination, computed values filled in.

A template is a path as in a gold file, with slots anywhere in its texts, and beside its own keys:

    values: {a: [1, 2], city: [Oslo, Paris]}   # what the slots stand for
    combine: product                           # each with each; zip = the first with the first, ...
    computed: {total: "{a} + 10"}              # further slots
    where: ["{a} != {b}"]                      # combinations that are left out when one of these is not so
"""

from __future__ import annotations

import itertools
import math
import os
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Final, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from agentpath_sdk._plain import is_dict
from agentpath_sdk.errors import FileFormatError
from agentpath_sdk.gold.authoring.expressions import ExpressionError, evaluate, names_in
from agentpath_sdk.gold.building import build_paths
from agentpath_sdk.gold.documents import Document, place_of, read_documents
from agentpath_sdk.gold.ids import id_from_query
from agentpath_sdk.gold.model import GoldPath
from agentpath_sdk.gold.schema import Problem, closest, validated
from agentpath_sdk.gold.slots import SLOT, escaped, filled, slot_names, slots_in
from agentpath_sdk.gold.wording import found, is_list, json_text, show
from agentpath_sdk.gold.yaml_core import Loc

__all__ = ["MAX_PATHS", "Synthetic", "synthesise"]

MAX_PATHS: Final = 10_000
"""Paths of one template; of more combinations a sample must be asked for."""

_OWN_KEYS: Final = ("values", "combine", "computed", "where")
_QUERY_KEYS: Final = ("query", "queries")
# Keys of a path that hold texts: a number that fills one is written out.
_TEXT_KEYS: Final = frozenset({"id", "description", "agent", "version", "tags", "candidates"})
_MAX_TRIES: Final = 200_000


class _TemplateEntry(BaseModel):
    """What a template says beside the path."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    values: Annotated[dict[str, Annotated[list[Any], Field(min_length=1)]], Field(min_length=1)]
    combine: Literal["product", "zip"] = "product"
    computed: dict[str, str] = Field(default_factory=dict[str, str])
    where: list[str] = Field(default_factory=list[str])


class Synthetic(NamedTuple):
    """One path, and the values it was filled with."""

    path: GoldPath
    values: Mapping[str, Any]


class _Wrong(Exception):
    def __init__(self, loc: Loc, text: str, hint: str = "") -> None:
        self.problem = Problem(loc, text, hint)


def synthesise(
    source: str | os.PathLike[str], *, sample: int | None = None, seed: int = 0, date: str | None = None
) -> tuple[Synthetic, ...]:
    """Return the paths of all templates of a file, of provenance ``synthetic``, in the order of the values.

    ``sample``: at most so many of each template, drawn at random, the same ones for the same ``seed``.

    Raises:
        FileFormatError: the first thing that is wrong with the file.
    """
    problems: list[FileFormatError] = []
    documents = read_documents(Path(source), problems.append)
    if problems:
        raise problems[0]
    taken: dict[str, int] = {}
    made: list[Synthetic] = []
    for document in documents:
        try:
            for raw, loc in _templates(document.value):
                made.extend(_Template(raw, loc, str(source), date).paths(sample, seed, taken))
        except _Wrong as wrong:
            raise _error(wrong.problem, document, str(source)) from None
    if not made:
        raise FileFormatError("holds no template with a combination of values", file=str(source))
    return tuple(made)


def _error(problem: Problem, document: Document, file: str) -> FileFormatError:
    place, inner = f"line {document.line_of(problem.loc)}", place_of(problem.loc)
    return FileFormatError(problem.text, file=file, place=f"{place}, {inner}" if inner else place, hint=problem.hint)


def _templates(value: Any) -> Iterator[tuple[dict[str, Any], Loc]]:
    items = list(enumerate(value)) if is_list(value) else [(None, value)]
    for at, item in items:
        loc: Loc = () if at is None else (at,)
        if not is_dict(item):
            raise _Wrong(loc, f"expected a template: a mapping with 'steps' and 'values', found {found(item)}")
        yield item, loc


@dataclass(frozen=True, slots=True)
class _Template:
    raw: dict[str, Any]
    loc: Loc
    file: str
    date: str | None

    def paths(self, sample: int | None, seed: int, taken: dict[str, int]) -> Iterator[Synthetic]:
        own = self._own()
        entry = {key: value for key, value in self.raw.items() if key not in _OWN_KEYS}
        self._check_names(own)
        for values in self._filled(own, sample, seed):
            path = self._path(entry, values)
            count = taken[path.id] = taken.get(path.id, 0) + 1
            # Where the id has no slot, all paths of the template have it, and each gets its number.
            numbered = count > 1 or ("id" in entry and not slot_names(str(entry["id"])))
            yield Synthetic(replace(path, id=f"{path.id}-{count}") if numbered else path, values)

    def _own(self) -> _TemplateEntry:
        problems: list[Problem] = []
        given = {key: self.raw[key] for key in _OWN_KEYS if key in self.raw}
        if "values" not in given:
            raise _Wrong(self.loc, "key 'values' is missing", "values: {city: [Oslo, Paris]}")
        own = validated(_TemplateEntry, given, self.loc, problems, instead={"values": {"?": [None]}})
        if problems or own is None:
            first = problems[0]
            raise _Wrong(first.loc, first.text, first.hint)
        return own

    def _check_names(self, own: _TemplateEntry) -> None:
        """Every slot that an expression uses must be known by then, and none may be given twice."""
        known = set(own.values)
        for name, expression in own.computed.items():
            loc = (*self.loc, "computed", name)
            if name in known:
                raise _Wrong(loc, f"the slot {name!r} is under 'values' too")
            self._check_expression(expression, known, loc)
            known.add(name)
        for at, expression in enumerate(own.where):
            self._check_expression(expression, known, (*self.loc, "where", at))
        for name in known:
            if not slot_names(f"{{{name}}}"):
                raise _Wrong((*self.loc, "values"), f"{name!r} is no name of a slot", "letters, digits and _")

    def _check_expression(self, expression: str, known: set[str], loc: Loc) -> None:
        for name in sorted(names_in(expression) - known):
            raise _Wrong(loc, f"there is no slot {name!r}", closest(name, known))

    def _filled(self, own: _TemplateEntry, sample: int | None, seed: int) -> Iterator[dict[str, Any]]:
        combinations = self._combinations(own, sample, seed)
        count = 0
        for values in combinations:
            full = self._computed(own, values)
            if not all(self._value(one, full, (*self.loc, "where", at)) for at, one in enumerate(own.where)):
                continue
            count += 1
            if count > MAX_PATHS:
                raise _Wrong((*self.loc, "values"), f"gives more than {MAX_PATHS} paths", "ask for a sample")
            yield full
            if sample is not None and count >= sample:
                return

    def _combinations(self, own: _TemplateEntry, sample: int | None, seed: int) -> Iterable[dict[str, Any]]:
        names, lists = list(own.values), list(own.values.values())
        if own.combine == "zip":
            lengths = {len(one) for one in lists}
            if len(lengths) > 1:
                sizes = ", ".join(f"{name} has {len(one)}" for name, one in own.values.items())
                raise _Wrong((*self.loc, "values"), f"lists of different length cannot be zipped: {sizes}")
            rows = list(zip(*lists, strict=True))
            chosen = rows if sample is None else _shuffled(rows, seed)
            return (dict(zip(names, row, strict=True)) for row in chosen)
        size = math.prod(map(len, lists))
        if sample is None:
            if size > MAX_PATHS and not own.where:
                raise _Wrong((*self.loc, "values"), f"gives {size} paths, {MAX_PATHS} at most", "ask for a sample")
            if size > _MAX_TRIES:
                text = f"gives {size} combinations, {_MAX_TRIES} are looked at at most"
                raise _Wrong((*self.loc, "values"), text, "ask for a sample")
            return (dict(zip(names, row, strict=True)) for row in itertools.product(*lists))
        draws = _MAX_TRIES if own.where else sample
        numbers = random.Random(seed).sample(range(size), min(size, draws))
        return (dict(zip(names, _row(lists, number), strict=True)) for number in numbers)

    def _computed(self, own: _TemplateEntry, values: dict[str, Any]) -> dict[str, Any]:
        full = dict(values)
        for name, expression in own.computed.items():
            full[name] = self._value(expression, full, (*self.loc, "computed", name))
        return full

    def _value(self, expression: str, values: Mapping[str, Any], loc: Loc) -> Any:
        try:
            return evaluate(expression, values)
        except ExpressionError as error:
            raise _Wrong(loc, f"{expression!r} {error} (with {show(dict(values))})") from None

    def _path(self, entry: dict[str, Any], values: Mapping[str, Any]) -> GoldPath:
        whole = _filled_entry(entry, values)
        built = build_paths({"provenance": self._provenance(), **whole}, source=self.file, sole_id=Path(self.file).stem)
        if built.problems:
            first = built.problems[0]
            raise _Wrong((*self.loc, *first.loc), f"{first.text} (with {show(dict(values))})", first.hint)
        [(_, path)] = built.paths
        if "id" not in entry and path.queries:
            path = replace(path, id=id_from_query(path.queries[0]))
        return path

    def _provenance(self) -> dict[str, Any]:
        told = {"kind": "synthetic", "reference": f"template {Path(self.file).name}", "date": self.date}
        return {key: value for key, value in told.items() if value is not None}


def _shuffled(rows: Sequence[tuple[Any, ...]], seed: int) -> list[tuple[Any, ...]]:
    return random.Random(seed).sample(rows, len(rows))


def _row(lists: Sequence[Sequence[Any]], number: int) -> list[Any]:
    """Return the combination of this number, without those before it."""
    row: list[Any] = []
    for values in reversed(lists):
        number, at = divmod(number, len(values))
        row.append(values[at])
    return row[::-1]


def _filled_entry(entry: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the entry of one path.

    Queries keep the notation of gold files, in which braces as they stand are doubled. So does the rest where a query
    has further slots; else braces mean nothing in it any more.
    """
    queries = {key: _fill(entry[key], values, notation=True, typed=False) for key in _QUERY_KEYS if key in entry}
    is_open = next(slots_in(queries), None) is not None
    others = {
        key: _fill(value, values, notation=is_open, typed=key not in _TEXT_KEYS)
        for key, value in entry.items()
        if key not in queries
    }
    return {key: queries[key] if key in queries else others[key] for key in entry}


def _fill(value: Any, values: Mapping[str, Any], *, notation: bool, typed: bool) -> Any:
    """Return a part of the file with the slots filled.

    ``typed``: a text that is one slot and nothing else becomes its value, of whatever type.
    """
    if is_dict(value):
        return {
            _text(key, values, notation): _fill(inner, values, notation=notation, typed=typed)
            for key, inner in value.items()
        }
    if is_list(value):
        return [_fill(inner, values, notation=notation, typed=typed) for inner in value]
    if not isinstance(value, str):
        return value
    whole = SLOT.fullmatch(value) if typed else None
    if whole is not None and not isinstance(values.get(whole[1], ""), str):
        return values[whole[1]]
    return _text(value, values, notation)


def _text(text: str, values: Mapping[str, Any], notation: bool) -> str:
    written = {name: _written(value) for name, value in values.items()}
    if not notation:
        return filled(text, written)
    return SLOT.sub(lambda slot: escaped(written[slot[1]]) if slot[1] in written else slot[0], text)


def _written(value: Any) -> str:
    return value if isinstance(value, str) else json_text(value)
