"""What is allowed in gold files and still probably not meant."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias, cast

from agentpath_sdk.gold.matchers import Exact
from agentpath_sdk.gold.model import CallStep, GoldPath
from agentpath_sdk.gold.notation import Comparing, read_matcher
from agentpath_sdk.gold.query_text import normalise
from agentpath_sdk.gold.registry import agent_fits
from agentpath_sdk.gold.schema import Problem

__all__ = ["LintFinding", "LintKind", "lint"]

LintKind: TypeAlias = Literal[
    "alternatives", "repeated_query", "unreachable", "applies_to_everything", "looks_like_matcher", "not_used"
]

_AS_IS: Final = Comparing()


@dataclass(frozen=True, kw_only=True, slots=True)
class LintFinding:
    """Something worth a look in a registered path."""

    kind: LintKind
    path_id: str
    message: str
    source: str | None = None
    """File the path is in."""


def lint(paths: Iterable[GoldPath]) -> tuple[LintFinding, ...]:
    """Return what is probably not meant, path by path, then between paths."""
    registered = tuple(paths)
    own = [finding for path in registered for finding in _of_path(path)]
    return (*own, *_between(registered))


def _of_path(path: GoldPath) -> Iterator[LintFinding]:
    if path.status != "approved":
        yield _finding("not_used", path, f"is {path.status} and scores no run unless asked for")
    if not path.queries and path.agent is None:
        message = "has neither queries nor an agent, so it applies to every run of every agent that no other path fits"
        yield _finding("applies_to_everything", path, message)
    texts = [normalise(query) for query in path.queries]
    for at, query in enumerate(path.queries):
        if texts[at] in texts[:at]:
            yield _finding("repeated_query", path, f"has the query {query!r} twice, case and punctuation aside")
    for number, step in enumerate(path.steps, 1):
        yield from _of_step(path, number, step)


def _of_step(path: GoldPath, number: int, step: CallStep) -> Iterator[LintFinding]:
    for name, matcher in (step.arguments or {}).items():
        word = _bare_word(matcher.expected) if isinstance(matcher, Exact) else None
        if word:
            place = f"step {number}, {step.tool}.{name}"
            message = f"{place}: {word!r} is the key of a literal mapping; a matcher is written ${word}"
            yield _finding("looks_like_matcher", path, message)


def _bare_word(value: Any) -> str | None:
    """Return the first key of a mapping that would be a sound matcher with a ``$`` before that key."""
    if not isinstance(value, dict) or not value:
        return None
    mapping = cast("dict[str, Any]", value)
    word = next(iter(mapping))
    problems: list[Problem] = []
    read_matcher(
        {f"${word}": mapping[word]} | {key: mapping[key] for key in mapping if key != word}, _AS_IS, (), problems
    )
    return None if problems else word


def _between(paths: Sequence[GoldPath]) -> Iterator[LintFinding]:
    """Yield what two approved paths of one query, or of one agent without queries, are to each other."""
    groups: dict[str, list[GoldPath]] = {}
    for path in paths:
        if path.status == "approved":
            for key in _run_keys(path):
                groups.setdefault(key, []).append(path)
    told: set[tuple[str, str]] = set()
    for group in groups.values():
        for at, path in enumerate(group):
            other = next((one for one in group[:at] if _share_runs(one, path)), None)
            if other is not None and (other.id, path.id) not in told:
                told.add((other.id, path.id))
                yield _pair(other, path)


def _run_keys(path: GoldPath) -> Iterable[str]:
    """Return a key for each query; for a path without queries one for its agent."""
    return dict.fromkeys(map(normalise, path.queries)) if path.queries else (f"\0{path.agent}",)


def _share_runs(one: GoldPath, other: GoldPath) -> bool:
    """Return whether a run may belong to both: the agent of one is taken by the other."""
    if one.agent is None or other.agent is None:
        return True
    return agent_fits(one.agent, other.agent) or agent_fits(other.agent, one.agent)


def _pair(one: GoldPath, other: GoldPath) -> LintFinding:
    shared = "the same query" if one.queries else "every run of its agent"
    if repr((one.steps, one.answer)) == repr((other.steps, other.answer)) and agent_fits(one.agent, other.agent):
        message = f"has the same steps and answer as {one.id!r} for {shared}, so it never scores better"
        return _finding("unreachable", other, message)
    message = f"is for {shared} as {one.id!r}: the better-scoring one counts for a run"
    return _finding("alternatives", other, message)


def _finding(kind: LintKind, path: GoldPath, message: str) -> LintFinding:
    return LintFinding(kind=kind, path_id=path.id, message=message, source=path.source)
