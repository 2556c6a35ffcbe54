"""Which gold path a run belongs to: by id, equal text, template, similar text, meaning, or agent; or none, with why."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from typing import Final

from agentpath_sdk.gold.binding import bind, bind_to_query
from agentpath_sdk.gold.equality import same_literals
from agentpath_sdk.gold.fuzzy_index import FuzzyIndex
from agentpath_sdk.gold.indexes import (
    Source,
    agent_fits,
    by_agent,
    by_id,
    by_template,
    by_text,
    first_spelling,
    for_agent,
    gathered,
    with_effects,
)
from agentpath_sdk.gold.look_up import Candidate, LookUp, MatchKind, found, ranked
from agentpath_sdk.gold.model import Effect, GoldPath, PathRule, Status
from agentpath_sdk.gold.query_text import normalise
from agentpath_sdk.gold.semantic_index import SEMANTIC_LEAST, SEMANTIC_MARGIN, SemanticIndex
from agentpath_sdk.gold.templates import TemplateFit, TemplateIndex, skeleton
from agentpath_sdk.trajectories.model import Trajectory

__all__ = [
    "FUZZY_LEAST",
    "FUZZY_MARGIN",
    "TEMPLATE_CONFIDENCE",
    "Candidate",
    "GoldPathRegistry",
    "LookUp",
    "MatchKind",
    "Source",
    "agent_fits",
]

FUZZY_LEAST: Final = 0.90
"""A query must be this similar to a registered one (``token_sort_ratio``)."""
FUZZY_MARGIN: Final = 0.05
"""And by this much nearer than to any query of another path."""
TEMPLATE_CONFIDENCE: Final = 0.95


class GoldPathRegistry:
    """Registered gold paths, indexed for look-up. Immutable, so that threads may share it."""

    def __init__(
        self,
        *sources: Source,
        statuses: Iterable[Status] = ("approved",),
        effects: Mapping[str, Effect] | None = None,
        semantic: bool = False,
    ) -> None:
        """Register files, folders, gold paths and path rules.

        ``statuses`` says which may be found: drafts and retired ones are in ``paths`` but not used unless asked for.
        ``effects`` says what tools do (see ``effects_from``); what a path says itself wins. ``semantic`` also looks for
        queries of the same meaning, where no text is similar: it needs the extra ``semantic`` or ``use_embedder``.

        Raises:
            FileFormatError: a file cannot be read.
            ConfigurationError: an id is there twice, or ``semantic`` is asked for and not installed.
        """
        paths, self._rules = gathered(sources)
        self._paths = tuple(with_effects(path, effects or {}) for path in paths)
        self._statuses = frozenset(statuses)
        self._by_id = by_id(self._paths)
        usable = [path for path in self._paths if path.status in self._statuses]
        self._by_text = by_text(usable)
        self._by_template = by_template(usable)
        self._by_agent = by_agent(path for path in usable if not path.queries and not path.templates)
        self._fuzzy = FuzzyIndex(self._by_text)
        self._templates = TemplateIndex(self._by_template)
        self._semantic = SemanticIndex(first_spelling(usable)) if semantic else None

    @property
    def paths(self) -> tuple[GoldPath, ...]:
        """All registered paths, whatever their status, as registered."""
        return self._paths

    @property
    def rules(self) -> tuple[PathRule, ...]:
        """All registered path rules, as registered."""
        return self._rules

    def rules_for(self, agent: str | None) -> tuple[PathRule, ...]:
        """Return the rules that runs of ``agent`` must keep to."""
        return tuple(rule for rule in self._rules if agent_fits(rule.agent, agent))

    def __len__(self) -> int:
        """Return the number of registered paths."""
        return len(self._paths)

    def look_up(self, trajectory: Trajectory) -> LookUp:
        """Return the gold path of a run: by the id it asks for, else by its query, else by its agent."""
        return self.find(query=trajectory.query, agent=trajectory.agent, gold_path_id=trajectory.gold_path_id)

    def find(self, *, query: str | None = None, agent: str | None = None, gold_path_id: str | None = None) -> LookUp:
        """Return the gold path asked for. An id that leads to none is answered with none, never with a guess."""
        if gold_path_id:
            return self._find_id(gold_path_id, agent, query)
        text = normalise(query) if query else ""
        exact = for_agent(self._by_text.get(text, ()), agent)
        if exact:
            return found(exact, "text", 1.0)
        fitting = self._find_template(query or "", agent)
        if fitting.paths or fitting.reason:
            return fitting
        near = self._find_similar(text, agent)
        if near.paths:
            return near
        alike = self._find_meaning(query or "", agent)
        if alike is not None and alike.paths:
            return alike
        general = for_agent(self._general(agent), agent)
        return found(general, "agent", 1.0) if general else near

    def _find_id(self, gold_path_id: str, agent: str | None, query: str | None) -> LookUp:
        path = self._by_id.get(gold_path_id)
        if path is None:
            return LookUp(reason=f"no gold path has the id {gold_path_id[:200]!r} that the application asked for")
        if path.status not in self._statuses:
            used = " and ".join(sorted(self._statuses)) or "no"
            return LookUp(reason=f"gold path {path.id!r} is {path.status}; only {used} ones are used")
        if not agent_fits(path.agent, agent):
            return LookUp(reason=f"gold path {path.id!r} is for agent {path.agent!r}, the run is of {agent!r}")
        filled = bind_to_query(path, query)
        if filled is None:
            return LookUp(reason=f"gold path {path.id!r} has slots, and the run's query fits none of its templates")
        return found((filled,), "id", 1.0)

    def _find_template(self, query: str, agent: str | None) -> LookUp:
        """Return the paths of the most specific template that the query fits, their slots filled."""
        groups = [
            (fitting, paths)
            for fitting in self._templates.fits(query)
            if (paths := for_agent(self._by_template[fitting.template], agent))
        ]
        if not groups:
            return LookUp()
        first = groups[0][0]
        same = skeleton(first.template)
        best = for_agent(_unique(bound for bound in _bound(groups, same)), agent)
        others = (bound for fitting, paths in groups for bound in _filled(paths, fitting))
        candidates = tuple(
            Candidate(gold=path, match="template", confidence=TEMPLATE_CONFIDENCE) for path in _unique((*best, *others))
        )
        ids = {path.id for path in best}
        rival = next(
            (one for one, paths in groups if one.weight == first.weight and _differs(one, paths, same, ids)), None
        )
        if rival is not None:
            reason = f"the query fits {first.template!r} and {rival.template!r} equally well"
            return LookUp(candidates=candidates, reason=reason)
        return LookUp(paths=best, how="template", confidence=TEMPLATE_CONFIDENCE, candidates=candidates)

    def _find_meaning(self, query: str, agent: str | None) -> LookUp | None:
        """Return the paths of the query nearest in meaning; None where that is not asked for, or nothing is near."""
        if self._semantic is None or not query.strip():
            return None
        groups = [
            (paths, similarity)
            for registered, similarity in self._semantic.nearest(query, SEMANTIC_LEAST - SEMANTIC_MARGIN)
            if (paths := for_agent(self._by_text[registered], agent))
        ]
        if not groups:
            return None
        paths, best = groups[0]
        candidates = ranked(groups, "semantic")
        ids = {path.id for path in paths}
        rival = next((one.confidence for one in candidates if one.gold.id not in ids), 0.0)
        if best < SEMANTIC_LEAST or best - rival < SEMANTIC_MARGIN:
            return LookUp(candidates=candidates)
        return LookUp(paths=paths, how="semantic", confidence=best, candidates=candidates)

    def _find_similar(self, text: str, agent: str | None) -> LookUp:
        if not text:
            return LookUp(reason="the run has no query")
        groups = list(self._similar(text, agent))
        candidates = ranked(groups)
        if not groups:
            return LookUp(reason="no registered query is like the run's, with the same numbers and quoted parts")
        paths, best = groups[0]
        ids = {path.id for path in paths}
        # Queries of the same path are no rivals, nor are alternatives registered for the very same text.
        rival = next((one.confidence for one in candidates if one.gold.id not in ids), 0.0)
        if best < FUZZY_LEAST:
            reason = f"the most similar query is {best:.2f} like the run's; {FUZZY_LEAST:.2f} is needed"
        elif round(best - rival, 9) < FUZZY_MARGIN:
            reason = f"two gold paths are about equally near ({best:.2f} and {rival:.2f})"
        else:
            return LookUp(paths=paths, how="fuzzy", confidence=best, candidates=candidates)
        return LookUp(candidates=candidates, reason=reason)

    def _similar(self, text: str, agent: str | None) -> Iterator[tuple[tuple[GoldPath, ...], float]]:
        """Yield the alternatives of each similar registered text and the similarity, nearest first."""
        for registered, similarity in self._fuzzy.nearest(text, FUZZY_LEAST - FUZZY_MARGIN):
            paths = for_agent(self._by_text[registered], agent)
            if paths and same_literals(registered, text):
                yield paths, similarity

    def _general(self, agent: str | None) -> list[GoldPath]:
        """Return the paths that may apply to every run of ``agent``."""
        own = self._by_agent.get(agent, ()) if agent is not None else ()
        return [*own, *self._by_agent.get(None, ())]


def _filled(paths: Iterable[GoldPath], fitting: TemplateFit) -> Iterator[GoldPath]:
    return (bind(path, fitting.values) for path in paths)


def _bound(groups: Iterable[tuple[TemplateFit, tuple[GoldPath, ...]]], same: tuple[str, ...]) -> Iterator[GoldPath]:
    """Yield the paths of all templates that differ from the best in the names of their slots only."""
    for fitting, paths in groups:
        if skeleton(fitting.template) == same:
            yield from _filled(paths, fitting)


def _differs(one: TemplateFit, paths: Iterable[GoldPath], same: tuple[str, ...], ids: Set[str]) -> bool:
    return skeleton(one.template) != same and any(path.id not in ids for path in paths)


def _unique(paths: Iterable[GoldPath]) -> tuple[GoldPath, ...]:
    found: dict[str, GoldPath] = {}
    for path in paths:
        found.setdefault(path.id, path)
    return tuple(found.values())
