"""Path rules in gold files: read into single rules, and written from them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from agentpath_sdk.gold.entries import RuleEntry
from agentpath_sdk.gold.model import PathRule, RuleKind
from agentpath_sdk.gold.notation import Comparing, read_matcher
from agentpath_sdk.gold.result_matchers import InResult
from agentpath_sdk.gold.schema import Problem, validated
from agentpath_sdk.gold.yaml_core import Loc

__all__ = ["KINDS", "MAX_RULES", "read_rules"]

KINDS: Final = ("requires", "never", "allowed", "at_most", "at_least", "same_value", "result")
"""Keys of which a rule has exactly one."""
MAX_RULES: Final = 1_000
"""Single rules of one document."""


def read_rules(
    raw: Sequence[Any], agent: str | None, source: str | None, loc: Loc, problems: list[Problem]
) -> tuple[PathRule, ...]:
    """Return the rules; one entry may stand for several. What is wrong is added to ``problems``."""
    found: list[PathRule] = []
    for at, value in enumerate(raw):
        place, before = (*loc, at), len(problems)
        entry = validated(RuleEntry, value, place, problems, instead={})
        if entry is not None and len(problems) == before:
            reading = _Reading(entry, agent, source, place, problems)
            found.extend(reading.rules(cast("Mapping[str, Any]", value)))
    if len(found) > MAX_RULES:
        problems.append(Problem(loc, f"there are {len(found)} rules, {MAX_RULES} are read at most"))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _Reading:
    entry: RuleEntry
    agent: str | None
    source: str | None
    loc: Loc
    problems: list[Problem]

    def rules(self, raw: Mapping[str, Any]) -> Iterator[PathRule]:
        kinds = [kind for kind in KINDS if kind in raw]
        if len(kinds) != 1:
            found = "none" if not kinds else " and ".join(repr(kind) for kind in kinds)
            self._wrong((), f"expected one of {', '.join(KINDS)}, found {found}")
            return
        if self._order_fits(kinds[0]):
            yield from _BY_KIND[kinds[0]](self)

    def _order_fits(self, kind: str) -> bool:
        placed = [key for key in ("before", "after") if getattr(self.entry, key) is not None]
        if placed and kind != "never":
            self._wrong((placed[0],), f"{placed[0]!r} beside {kind!r}; it belongs to 'never'")
        elif len(placed) > 1:
            self._wrong(("after",), "'before' and 'after' in one rule; expected one of them")
        else:
            return True
        return False

    def requires(self) -> Iterator[PathRule]:
        for tool, needed in (self.entry.requires or {}).items():
            for other in needed:
                if other == tool:
                    self._wrong(("requires", tool), f"{tool!r} cannot require itself")
                yield self._rule("requires", tool, other)

    def never(self) -> Iterator[PathRule]:
        for tool in self.entry.never or ():
            if self.entry.before is not None:
                yield self._rule("never_before", tool, self.entry.before)
            elif self.entry.after is not None:
                yield self._rule("never_after", tool, self.entry.after)
            else:
                yield self._rule("never", tool)

    def allowed(self) -> Iterator[PathRule]:
        if self.entry.allowed is not None:
            yield self._rule("allowed", *self.entry.allowed)

    def at_most(self) -> Iterator[PathRule]:
        for tool, count in (self.entry.at_most or {}).items():
            yield self._rule("at_most", tool, count=count)

    def at_least(self) -> Iterator[PathRule]:
        for tool, count in (self.entry.at_least or {}).items():
            yield self._rule("at_least", tool, count=count)

    def same_value(self) -> Iterator[PathRule]:
        pairs = [pair for entry in self.entry.same_value or () for pair in entry.items()]
        if pairs:
            yield self._rule("same_value", *(tool for tool, _ in pairs), arguments=tuple(name for _, name in pairs))

    def result(self) -> Iterator[PathRule]:
        for tool, expected in (self.entry.result or {}).items():
            matcher = read_matcher(expected, Comparing(), (*self.loc, "result", tool), self.problems)
            yield self._rule("result", tool, result=InResult(matcher=matcher))

    def _rule(self, kind: RuleKind, *tools: str, **more: Any) -> PathRule:
        return PathRule(
            kind=kind,
            tools=tools,
            agent=self.entry.agent or self.agent,
            severity=self.entry.severity,
            name=self.entry.name,
            source=self.source,
            **more,
        )

    def _wrong(self, inner: Loc, text: str, hint: str = "") -> None:
        self.problems.append(Problem((*self.loc, *inner), text, hint))


_BY_KIND: Final = {
    "requires": _Reading.requires,
    "never": _Reading.never,
    "allowed": _Reading.allowed,
    "at_most": _Reading.at_most,
    "at_least": _Reading.at_least,
    "same_value": _Reading.same_value,
    "result": _Reading.result,
}
