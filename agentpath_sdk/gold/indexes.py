"""What a registry holds: its paths and rules, and the paths by id, query, template and agent."""

from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Final, TypeAlias

from agentpath_sdk.errors import ConfigurationError
from agentpath_sdk.gold.files import load_gold
from agentpath_sdk.gold.model import Effect, GoldPath, PathRule
from agentpath_sdk.gold.query_text import normalise

__all__ = [
    "Source",
    "agent_fits",
    "by_agent",
    "by_id",
    "by_template",
    "by_text",
    "first_spelling",
    "for_agent",
    "gathered",
    "with_effects",
]

Source: TypeAlias = "str | os.PathLike[str] | GoldPath | PathRule | Iterable[GoldPath | PathRule]"

_GLOB_SIGNS: Final = re.compile(r"[*?\[]")


@lru_cache(maxsize=4_096)
def agent_fits(pattern: str | None, agent: str | None) -> bool:
    """Return whether a path's agent (a name, a glob, or None for any) takes runs of ``agent``."""
    return pattern is None or pattern == agent or fnmatch.fnmatchcase(agent or "", pattern)


def gathered(sources: Iterable[Source]) -> tuple[list[GoldPath], tuple[PathRule, ...]]:
    files: list[str | os.PathLike[str]] = []
    given: list[GoldPath | PathRule] = []
    for source in sources:
        if isinstance(source, str | os.PathLike):
            files.append(source)
        elif isinstance(source, GoldPath | PathRule):
            given.append(source)
        else:
            given.extend(source)
    # In one go: ids are unique over all files, and a file inside a folder that is given too is read once.
    read = load_gold(*files)
    paths = [one for one in given if isinstance(one, GoldPath)]
    rules = [one for one in given if isinstance(one, PathRule)]
    return [*paths, *read.paths], (*rules, *read.rules)


def with_effects(path: GoldPath, effects: Mapping[str, Effect]) -> GoldPath:
    return replace(path, effects={**effects, **path.effects}) if effects else path


def by_id(paths: Iterable[GoldPath]) -> dict[str, GoldPath]:
    found: dict[str, GoldPath] = {}
    for path in paths:
        other = found.setdefault(path.id, path)
        if other is not path:
            places = " and ".join(str(one.source or "code") for one in (other, path))
            raise ConfigurationError(f"gold path id {path.id!r} is there twice (in {places}); give each its own")
    return found


def by_text(paths: Iterable[GoldPath]) -> dict[str, tuple[GoldPath, ...]]:
    found: dict[str, dict[str, GoldPath]] = {}
    for path in paths:
        for query in path.queries:
            if text := normalise(query):
                found.setdefault(text, {})[path.id] = path
    return {text: tuple(group.values()) for text, group in found.items()}


def first_spelling(paths: Iterable[GoldPath]) -> dict[str, str]:
    """Return each normalised query and how it was first written."""
    found: dict[str, str] = {}
    for query in (query for path in paths for query in path.queries):
        found.setdefault(normalise(query), query)
    return found


def by_template(paths: Iterable[GoldPath]) -> dict[str, tuple[GoldPath, ...]]:
    found: dict[str, dict[str, GoldPath]] = {}
    for path in paths:
        for template in path.templates:
            found.setdefault(template, {})[path.id] = path
    return {template: tuple(group.values()) for template, group in found.items()}


def by_agent(paths: Iterable[GoldPath]) -> Mapping[str | None, Sequence[GoldPath]]:
    """Return the paths by agent; those for a glob or for any agent under None."""
    found: dict[str | None, list[GoldPath]] = {}
    for path in paths:
        named = path.agent is not None and _GLOB_SIGNS.search(path.agent) is None
        found.setdefault(path.agent if named else None, []).append(path)
    return found


def for_agent(paths: Sequence[GoldPath], agent: str | None) -> tuple[GoldPath, ...]:
    fitting = [path for path in paths if agent_fits(path.agent, agent)]
    if len(fitting) > 1:
        fitting.sort(key=lambda path: 2 if path.agent is None else int(path.agent != agent))
    return tuple(fitting)
