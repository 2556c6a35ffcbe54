"""Queries in gold files: literal texts, and templates with slots."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from agentpath_sdk.gold.entries import PathEntry
from agentpath_sdk.gold.query_text import normalise
from agentpath_sdk.gold.schema import Problem
from agentpath_sdk.gold.slots import slot_names, unescaped
from agentpath_sdk.gold.templates import template_problem
from agentpath_sdk.gold.yaml_core import Loc

__all__ = ["Queries", "read_queries"]


class Queries(NamedTuple):
    """The queries of a path."""

    texts: tuple[str, ...]
    templates: tuple[str, ...]

    @property
    def slots(self) -> frozenset[str]:
        """The names of all slots."""
        return frozenset(name for template in self.templates for name in slot_names(template))


def read_queries(entry: PathEntry, loc: Loc, problems: list[Problem], *, literal: bool) -> Queries:
    """Return the queries of a path; what is wrong is added to ``problems``.

    ``literal``: braces mean nothing, as in the records of programs.
    """
    if entry.query is not None and entry.queries is not None:
        problems.append(Problem((*loc, "query"), "'query' and 'queries' in one path; expected one of them"))
    queries = (entry.queries or []) if entry.query is None else [entry.query]
    place = (*loc, "queries") if entry.query is None else (*loc, "query")
    _check_words(queries, place, problems)
    if literal:
        return Queries(tuple(queries), ())
    _check_templates(queries, place, problems)
    return Queries(
        tuple(unescaped(query) for query in queries if not slot_names(query)),
        tuple(query for query in queries if slot_names(query)),
    )


def _check_words(queries: Sequence[str], loc: Loc, problems: list[Problem]) -> None:
    for at, query in enumerate(queries):
        if not normalise(query):
            problems.append(Problem(_place(loc, at), f"the query {query!r} holds nothing to compare"))


def _check_templates(queries: Sequence[str], loc: Loc, problems: list[Problem]) -> None:
    for at, query in enumerate(queries):
        problem = template_problem(query) if slot_names(query) else None
        if problem is not None:
            problems.append(Problem(_place(loc, at), problem, "braces as they stand are doubled: {{name}}"))


def _place(loc: Loc, at: int) -> Loc:
    return loc if loc[-1] == "query" else (*loc, at)
