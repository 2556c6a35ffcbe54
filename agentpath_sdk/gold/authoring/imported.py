"""What the files of other tools have in common: turns with a query, calls in groups, an answer."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias, cast

from agentpath_sdk._plain import is_dict
from agentpath_sdk.gold.matchers import Exact
from agentpath_sdk.gold.model import ArgumentMatcher, CallStep
from agentpath_sdk.gold.wording import found, is_list

__all__ = [
    "Conversation",
    "Format",
    "Turn",
    "Unfit",
    "exact_call",
    "identity",
    "items_of",
    "object_of",
    "objects_of",
    "text_at",
]

Format: TypeAlias = Literal["adk", "messages", "traject", "bfcl"]

_NOT_IN_IDS: Final = re.compile(r"[^\w.:+-]+")
_MAX_ID: Final = 120


class Unfit(Exception):
    """A part of the file that is not as the format has it: where, and what was found."""

    def __init__(self, place: str, problem: str) -> None:
        self.place, self.problem = place, problem
        super().__init__(f"{place}: {problem}" if place else problem)


@dataclass(frozen=True, kw_only=True, slots=True)
class Turn:
    """One query of a user and the calls it should lead to."""

    query: str | None = None
    groups: tuple[tuple[CallStep, ...], ...] = ()
    """Calls that were asked for together, or whose order is free, are one group."""
    answer: str | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Conversation:
    """The turns of one case."""

    id: str | None = None
    turns: tuple[Turn, ...] = ()
    agent: str | None = None
    description: str | None = None
    tags: tuple[str, ...] = ()
    missing_query: bool = field(default=False)
    """True where the file keeps queries apart, under the same id."""


def exact_call(tool: Any, arguments: Any, place: str) -> CallStep:
    """Return a call with exactly these arguments; None leaves them unchecked."""
    if not isinstance(tool, str) or not tool.strip():
        raise Unfit(place, f"expected the name of a tool, found {found(tool)}")
    if arguments is not None and not is_dict(arguments):
        raise Unfit(place, f"expected an object of arguments, found {found(arguments)}")
    given = arguments
    matchers: dict[str, ArgumentMatcher] | None = (
        None if given is None else {name: Exact(expected=value) for name, value in given.items()}
    )
    return CallStep(tool=tool.strip(), arguments=matchers)


def objects_of(value: Any, place: str) -> Sequence[Mapping[str, Any]]:
    """Return a list of objects; null is an empty one."""
    items = items_of(value, place)
    for at, item in enumerate(items):
        if not is_dict(item):
            raise Unfit(f"{place}[{at}]", f"expected an object, found {found(item)}")
    return cast("Sequence[Mapping[str, Any]]", items)


def items_of(value: Any, place: str) -> Sequence[Any]:
    """Return a list; null is an empty one."""
    if value is None:
        return []
    if not is_list(value):
        raise Unfit(place, f"expected a list, found {found(value)}")
    return value


def object_of(value: Any) -> Mapping[str, Any]:
    """Return an object, an empty one for anything else."""
    return value if is_dict(value) else {}


def text_at(holder: Mapping[str, Any], *keys: str) -> str | None:
    """Return the first of these that is a text with something in it."""
    values = (holder.get(key) for key in keys)
    return next((value for value in values if isinstance(value, str) and value.strip()), None)


def identity(*parts: object) -> str:
    """Return parts as the id of a path: no blanks, nothing odd, not too long."""
    words = [_NOT_IN_IDS.sub("-", str(part)).strip("-") for part in parts if part is not None and str(part).strip()]
    return "/".join(word for word in words if word)[:_MAX_ID].strip("-/") or "path"
