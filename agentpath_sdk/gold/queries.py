"""Queries in gold files: literal texts. ``{name}`` is kept for the slots of templates, ``{{name}}`` is ``{name}``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from agentpath_sdk.gold.query_text import normalise
from agentpath_sdk.gold.schema import PathEntry, Problem
from agentpath_sdk.gold.yaml_core import Loc

__all__ = ["read_queries", "with_escaped_slots"]

_NAME: Final = r"\{[A-Za-z_]\w*\}"
_SLOT: Final = re.compile(rf"(?<!\{{){_NAME}(?!\}})")
_ESCAPED: Final = re.compile(rf"\{{({_NAME})\}}")
_TO_ESCAPE: Final = re.compile(rf"({_NAME})")


def read_queries(entry: PathEntry, loc: Loc, problems: list[Problem]) -> tuple[str, ...]:
    """Return the queries of a path; what is wrong is added to ``problems``."""
    if entry.query is not None and entry.queries is not None:
        problems.append(Problem((*loc, "query"), "'query' and 'queries' in one path; expected one of them"))
    if entry.query is not None:
        # As records write it: a text as it stands.
        _check_words((entry.query,), (*loc, "query"), problems)
        return (entry.query,)
    queries = entry.queries or []
    _check_words(queries, (*loc, "queries"), problems)
    _check_slots(queries, (*loc, "queries"), problems)
    return tuple(_ESCAPED.sub(r"\1", query) for query in queries)


def with_escaped_slots(query: str) -> str:
    """Return the query as it is written under ``queries``."""
    return _TO_ESCAPE.sub(r"{\1}", query)


def _check_words(queries: Sequence[str], loc: Loc, problems: list[Problem]) -> None:
    for at, query in enumerate(queries):
        if not normalise(query):
            place = loc if loc[-1] == "query" else (*loc, at)
            problems.append(Problem(place, f"the query {query!r} holds nothing to compare"))


def _check_slots(queries: Sequence[str], loc: Loc, problems: list[Problem]) -> None:
    for at, query in enumerate(queries):
        slot = _SLOT.search(query)
        if slot:
            text = f"{slot[0]} is the slot of a template, which this version does not read"
            problems.append(Problem((*loc, at), text, f"write {{{slot[0]}}} for braces as they stand"))
