"""Gold paths written as YAML that reads back to equal values, short forms where they say it all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final, TypeAlias, cast

import yaml

from agentpath_sdk.errors import ConfigurationError
from agentpath_sdk.gold.answers import answer_notation
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
from agentpath_sdk.gold.model import ArgumentMatcher, CallStep, GoldPath, Provenance
from agentpath_sdk.gold.notation import holds_matcher, word_of
from agentpath_sdk.gold.queries import with_escaped_slots
from agentpath_sdk.gold.steps import GROUP_WORDS, STEP_KEYS
from agentpath_sdk.gold.wording import is_list, json_text
from agentpath_sdk.gold.yaml_core import Dumper

__all__ = ["dump_paths", "matcher_notation", "path_entry"]


def dump_paths(paths: Iterable[GoldPath]) -> str:
    """Return the paths as one YAML document: a path by itself, several under ``paths``.

    Raises:
        ConfigurationError: a path holds something that gold files have no form for, such as a matcher of your own.
    """
    entries = [path_entry(path) for path in paths]
    document = entries[0] if len(entries) == 1 else {"paths": entries}
    try:
        dump = cast("Callable[..., str]", yaml.dump)  # its stub leaves types open
        return dump(document, Dumper=Dumper, allow_unicode=True, sort_keys=False, width=110, default_flow_style=None)
    except yaml.representer.RepresenterError as error:
        raise ConfigurationError(f"a value that is no JSON value cannot be written: {error.args[-1]!r}") from None


def path_entry(path: GoldPath) -> dict[str, Any]:
    """Return the path as plain values in the shape of the files, without what is at its default."""
    tools = _tool_defaults(path.steps)
    said: dict[str, Any] = {
        "id": path.id,
        "description": path.description,
        "version": path.version if path.version != "1" else None,
        "agent": path.agent,
        "status": path.status if path.status != "approved" else None,
        "provenance": _provenance(path.provenance),
        "tags": list(path.tags),
        "queries": [with_escaped_slots(query) for query in path.queries],
        "answer": None if path.answer is None else answer_notation(path.answer),
        "weights": None if path.weights is None else dict(path.weights),
        "good_path": path.good_path,
        "thresholds": dict(path.thresholds),
        "min_steps": path.min_steps,
        "tools": {tool: {"defaults": dict(defaults)} for tool, defaults in tools.items()},
    }
    entry = {key: value for key, value in said.items() if value not in (None, [], {})}
    return entry | {"steps": [_step(step, tools) for step in path.steps]}


def matcher_notation(matcher: ArgumentMatcher) -> Any:
    """Return the matcher as it is written in a gold file.

    Raises:
        ConfigurationError: it is not one of those that gold files know.
    """
    write = _WRITERS.get(type(matcher))
    if write is None:
        raise ConfigurationError(f"a matcher of type {type(matcher).__name__} cannot be written to a gold file")
    return write(matcher)


def _provenance(provenance: Provenance) -> dict[str, Any] | None:
    if provenance == Provenance():
        return None
    return {key: value for key, value in asdict(provenance).items() if value is not None}


def _tool_defaults(steps: Iterable[CallStep]) -> dict[str, Mapping[str, Any]]:
    """Return the defaults of the tools whose steps all agree about them."""
    found: dict[str, Mapping[str, Any]] = {}
    differing: set[str] = set()
    for step in steps:
        if json_text(found.setdefault(step.tool, step.tool_defaults)) != json_text(step.tool_defaults):
            differing.add(step.tool)
    return {tool: defaults for tool, defaults in found.items() if defaults and tool not in differing}


def _step(step: CallStep, tools: Mapping[str, Mapping[str, Any]]) -> Any:
    options: dict[str, Any] = {}
    if step.extra_arguments == "allow":
        options["argument_mode"] = "subset"
    if step.must_succeed:
        options["must_succeed"] = True
    if step.tool_defaults and step.tool not in tools:
        options["tool_defaults"] = dict(step.tool_defaults)
    arguments = None if step.arguments is None else _notations(step.arguments)
    if step.tool in STEP_KEYS or step.tool in GROUP_WORDS:
        return {"tool": step.tool} | ({} if arguments is None else {"arguments": arguments}) | options
    if arguments is None and not options:
        return step.tool
    return {step.tool: arguments} | options


def _notations(matchers: Mapping[str, ArgumentMatcher]) -> dict[str, Any]:
    return {key: matcher_notation(matcher) for key, matcher in matchers.items()}


def _items(matchers: Sequence[ArgumentMatcher]) -> list[Any]:
    return [matcher_notation(matcher) for matcher in matchers]


def _exact(matcher: Exact) -> Any:
    value = matcher.expected
    return {"$exact": value} if holds_matcher(value) else value


def _number(matcher: Number) -> Any:
    options = {"abs": matcher.abs_tolerance, "rel": matcher.rel_tolerance, "coerce": matcher.coerce}
    return {"$number": matcher.expected} | {key: value for key, value in options.items() if value}


def _contains(matcher: Contains) -> Any:
    first, *others = matcher.parts
    # A single part that is a list itself must not read as several parts.
    parts: Any = [first, *others] if others or is_list(first) else first
    return {"$contains": parts} | ({"fold_case": True} if matcher.fold_case else {})


def _call(matcher: Called) -> Any:
    written = {"$call": matcher.function, "value": matcher.expected}
    return written if matcher.threshold == 1.0 else written | {"threshold": matcher.threshold}


def _mapping(matcher: MappingOf) -> Any:
    items = _notations(matcher.items)
    if matcher.extra == "allow":
        return {"$subset": items}
    if (word := word_of(items)) is not None:
        raise ConfigurationError(f"a mapping with matchers and the key {word!r} cannot be written to a gold file")
    return items


_Write: TypeAlias = Callable[[Any], Any]
_WRITERS: Final[Mapping[type[object], _Write]] = {
    Exact: _exact,
    Ignore: lambda _: {"$ignore": True},
    Number: _number,
    Fold: lambda matcher: {"$fold": cast("Fold", matcher).expected},
    Fuzzy: lambda matcher: {"$fuzzy": cast("Fuzzy", matcher).expected, "threshold": cast("Fuzzy", matcher).threshold},
    Regex: lambda matcher: {"$regex": cast("Regex", matcher).expected},
    Glob: lambda matcher: {"$glob": cast("Glob", matcher).expected},
    Contains: _contains,
    SameSet: lambda matcher: {"$set": cast("SameSet", matcher).expected},
    TypeOf: lambda matcher: {"$type": cast("TypeOf", matcher).expected},
    OneOf: lambda matcher: {"$one_of": _items(cast("OneOf", matcher).options)},
    ListOf: lambda matcher: _items(cast("ListOf", matcher).items),
    MappingOf: _mapping,
    Called: _call,
}
