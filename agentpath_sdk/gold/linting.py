"""What is allowed in gold files and still probably not meant."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias, cast

from agentpath_sdk.gold.describing import describe_rule
from agentpath_sdk.gold.expansions import covers, words_of
from agentpath_sdk.gold.expression import inner_steps, least_calls, placed_calls, ways
from agentpath_sdk.gold.indexes import agent_fits
from agentpath_sdk.gold.matchers import Exact
from agentpath_sdk.gold.model import AnyOrder, CallStep, GoldPath, OneOf, OptionalStep, PathRule, Repeat, Step
from agentpath_sdk.gold.notation import Comparing, read_matcher
from agentpath_sdk.gold.query_text import normalise
from agentpath_sdk.gold.rule_conflicts import between_rules, path_against_rules, share_agent
from agentpath_sdk.gold.schema import Problem
from agentpath_sdk.gold.slots import filled, slot_names, slots_in
from agentpath_sdk.gold.templates import TemplateIndex, skeleton

__all__ = ["LintFinding", "LintKind", "lint"]

LintKind: TypeAlias = Literal[
    "alternatives",
    "repeated_query",
    "unreachable",
    "applies_to_everything",
    "looks_like_matcher",
    "not_used",
    "unknown_slot",
    "clashing_templates",
    "pointless_group",
    "rule_conflict",
]

# Templates up to here are also tried with each other's words in their slots.
_PAIRWISE: Final = 100
_AS_IS: Final = Comparing()


@dataclass(frozen=True, kw_only=True, slots=True)
class LintFinding:
    """Something worth a look in a registered path."""

    kind: LintKind
    path_id: str
    message: str
    source: str | None = None
    """File the path is in."""


def lint(paths: Iterable[GoldPath], rules: Iterable[PathRule] = ()) -> tuple[LintFinding, ...]:
    """Return what is probably not meant: path by path, between paths, between rules, between both."""
    registered, ruling = tuple(paths), tuple(rules)
    own = [finding for path in registered for finding in _of_path(path)]
    return (*own, *_between(registered), *_clashes(registered), *_of_rules(ruling), *_against(registered, ruling))


def _of_path(path: GoldPath) -> Iterator[LintFinding]:
    if path.status != "approved":
        yield _finding("not_used", path, f"is {path.status} and scores no run unless asked for")
    if not path.queries and not path.templates and path.agent is None:
        message = "has neither queries nor an agent, so it applies to every run of every agent that no other path fits"
        yield _finding("applies_to_everything", path, message)
    texts = [normalise(query) for query in path.queries]
    for at, query in enumerate(path.queries):
        if texts[at] in texts[:at]:
            yield _finding("repeated_query", path, f"has the query {query!r} twice, case and punctuation aside")
    yield from _of_ways(path)
    for place, call in placed_calls(path):
        yield from _of_call(path, place, call)


def _of_ways(path: GoldPath) -> Iterator[LintFinding]:
    """Yield alternatives that accept nothing which an earlier way does not, and groups that say nothing."""
    words = [words_of(way) for way in ways(path)]
    for at in range(1, len(words)):
        covering = next((one for one in range(at) if covers(words[one], words[at])), None)
        if covering is not None:
            other = f"alternative {covering}" if covering else "the steps"
            message = f"alternative {at} accepts nothing that {other} would not, so it never scores better"
            yield _finding("unreachable", path, message)
    for at, way in enumerate(ways(path)):
        start = f"alternative {at}, step " if at else "step "
        for number, step in enumerate(way, 1):
            yield from (_finding("pointless_group", path, text) for text in _pointless(f"{start}{number}", step))


def _pointless(place: str, step: Step) -> Iterator[str]:
    match step:
        case OneOf():
            yield from _covered_branches(place, step)
        case AnyOrder() if len(step.steps) == 1:
            yield f"{place} is a group of one"
        case OptionalStep() if least_calls(step.step) == 0:
            yield f"{place} is optional twice: what it holds may be left out already"
        case Repeat() if (step.least, step.most) == (1, 1):
            yield f"{place} is repeated once"
        case _:
            pass
    wrapped = isinstance(step, OptionalStep | Repeat)
    for number, inner in enumerate(inner_steps(step), 1):
        yield from _pointless(place if wrapped else f"{place}.{number}", inner)


def _covered_branches(place: str, step: OneOf) -> Iterator[str]:
    if len(step.branches) == 1:
        yield f"{place} is a choice of one"
    words = [words_of([branch]) for branch in step.branches]
    for at in range(1, len(words)):
        covering = next((one for one in range(at) if covers(words[one], words[at])), None)
        if covering is not None:
            yield f"{place}.{at + 1} accepts nothing that {place}.{covering + 1} would not"


def _of_call(path: GoldPath, place: str, call: CallStep) -> Iterator[LintFinding]:
    known = {name for template in path.templates for name in slot_names(template)}
    for name, matcher in (call.arguments or {}).items():
        where = f"{place}, {call.tool}.{name}"
        unknown = [slot for slot in slots_in(matcher.expected) if slot not in known] if known else []
        if unknown:
            message = f"{where}: {{{unknown[0]}}} is no slot of the queries, but a text like any"
            yield _finding("unknown_slot", path, message)
        word = _bare_word(matcher.expected) if isinstance(matcher, Exact) else None
        if word:
            message = f"{where}: {word!r} is the key of a literal mapping; a matcher is written ${word}"
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
            other = next((one for one in group[:at] if share_agent(one.agent, path.agent)), None)
            if other is not None and (other.id, path.id) not in told:
                told.add((other.id, path.id))
                yield _pair(other, path)


def _run_keys(path: GoldPath) -> Iterable[str]:
    """Return a key for each query and template; for a path without queries one for its agent."""
    if not path.queries and not path.templates:
        return (f"\0{path.agent}",)
    patterns = ("\0\0".join(skeleton(template)) for template in path.templates)
    return dict.fromkeys([*map(normalise, path.queries), *(f"\0\0{pattern}" for pattern in patterns)])


def _clashes(paths: Sequence[GoldPath]) -> Iterator[LintFinding]:
    """Yield templates of different paths that fit one query equally well: such a query is for neither."""
    usable = [path for path in paths if path.status == "approved" and path.templates]
    index = TemplateIndex(template for path in usable for template in path.templates)
    owners: dict[str, list[GoldPath]] = {}
    for path in usable:
        for template in path.templates:
            owners.setdefault(template, []).append(path)
    told: set[frozenset[str]] = set()
    for path in usable:
        for template in path.templates:
            for query, other in _common_queries(template, owners, index):
                clashing = next((o for o in owners[other] if o is not path and share_agent(o.agent, path.agent)), None)
                if clashing is not None and frozenset((template, other)) not in told:
                    told.add(frozenset((template, other)))
                    both = f"{template!r} and {other!r} of {clashing.id!r}"
                    message = f"{both} fit {query!r} equally well: it is scored by neither"
                    yield _finding("clashing_templates", path, message)


def _common_queries(template: str, owners: Iterable[str], index: TemplateIndex) -> Iterator[tuple[str, str]]:
    """Yield queries that fit the template and, just as exactly, another one with other words."""
    samples = ["x"]
    if len(templates := tuple(owners)) <= _PAIRWISE:
        samples += dict.fromkeys(word for other in templates for part in skeleton(other) for word in part.split())
    for sample in samples:
        query = filled(template, dict.fromkeys(slot_names(template), sample))
        fits = index.fits(query)
        own = next((one.weight for one in fits if one.template == template), None)
        for one in fits:
            if one.weight == own and skeleton(one.template) != skeleton(template):
                yield query, one.template


def _of_rules(rules: Sequence[PathRule]) -> Iterator[LintFinding]:
    for rule, message in between_rules(rules):
        named = f"rules of {'any agent' if rule.agent is None else rule.agent}"
        text = f"{describe_rule(rule)}: {message}"
        yield LintFinding(kind="rule_conflict", path_id=named, message=text, source=rule.source)


def _against(paths: Iterable[GoldPath], rules: Sequence[PathRule]) -> Iterator[LintFinding]:
    for path in paths:
        if path.status == "approved":
            yield from (_finding("rule_conflict", path, message) for message in path_against_rules(path, rules))


def _pair(one: GoldPath, other: GoldPath) -> LintFinding:
    shared = "the same query" if one.queries or one.templates else "every run of its agent"
    same = repr((one.steps, one.alternatives, one.answer)) == repr((other.steps, other.alternatives, other.answer))
    if same and agent_fits(one.agent, other.agent):
        message = f"has the same steps and answer as {one.id!r} for {shared}, so it never scores better"
        return _finding("unreachable", other, message)
    message = f"is for {shared} as {one.id!r}: the better-scoring one counts for a run"
    return _finding("alternatives", other, message)


def _finding(kind: LintKind, path: GoldPath, message: str) -> LintFinding:
    return LintFinding(kind=kind, path_id=path.id, message=message, source=path.source)
