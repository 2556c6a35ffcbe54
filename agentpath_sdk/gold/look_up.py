"""Which gold path a run belongs to, as the registry answers it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from agentpath_sdk.gold.model import GoldPath

__all__ = ["Candidate", "LookUp", "MatchKind", "found", "ranked"]

MatchKind: TypeAlias = Literal["id", "text", "template", "fuzzy", "semantic", "agent"]
"""How a gold path was found; ``agent``: it has no queries and so applies to every run of its agent."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Candidate:
    """A gold path, how it was found, and how sure that is in 0..1 (1.0 for id, text and agent, .95 for a template)."""

    gold: GoldPath
    match: MatchKind
    confidence: float


@dataclass(frozen=True, kw_only=True, slots=True)
class LookUp:
    """Which gold path a run belongs to. Several paths are alternatives: the best-scoring one counts."""

    paths: tuple[GoldPath, ...] = ()
    """Those for a named agent first, then those for a glob, then the rest, each as registered; empty = none."""
    how: MatchKind | None = None
    confidence: float = 0.0
    candidates: tuple[Candidate, ...] = ()
    """Best first: the paths found and those next to them, or the nearest ones that were not good enough."""
    reason: str | None = None
    """Why there is none; never holds the run's query."""

    @property
    def path(self) -> GoldPath | None:
        """The first of ``paths``."""
        return self.paths[0] if self.paths else None


def found(paths: tuple[GoldPath, ...], how: MatchKind, confidence: float) -> LookUp:
    candidates = tuple(Candidate(gold=path, match=how, confidence=confidence) for path in paths)
    return LookUp(paths=paths, how=how, confidence=confidence, candidates=candidates)


def ranked(groups: Iterable[tuple[tuple[GoldPath, ...], float]], match: MatchKind = "fuzzy") -> tuple[Candidate, ...]:
    """Return each path once, at its best similarity."""
    best: dict[str, Candidate] = {}
    for paths, similarity in groups:
        for path in paths:
            best.setdefault(path.id, Candidate(gold=path, match=match, confidence=similarity))
    return tuple(best.values())
