"""Documents of gold files become gold paths; every problem of a document is collected, none is raised."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Any, Final, cast

from agentpath_sdk.gold.answers import read_answer
from agentpath_sdk.gold.documents import place_of
from agentpath_sdk.gold.entries import ComparingEntry, FileEntry, HeaderEntry, PathEntry, ToolEntry
from agentpath_sdk.gold.expression import MAX_STATES, states
from agentpath_sdk.gold.ids import id_from_query, id_from_steps
from agentpath_sdk.gold.model import GoldPath, PathRule, Provenance, Step
from agentpath_sdk.gold.notation import SlotNames
from agentpath_sdk.gold.queries import Queries, read_queries
from agentpath_sdk.gold.rule_entries import read_rules
from agentpath_sdk.gold.schema import Problem, closest, validated
from agentpath_sdk.gold.slots import slot_names
from agentpath_sdk.gold.steps import StepReader, innermost, read_record_steps
from agentpath_sdk.gold.wording import found, is_list
from agentpath_sdk.gold.yaml_core import Loc
from agentpath_sdk.settings import METRICS, WEIGHT_PROFILES

__all__ = ["Built", "build_paths"]

_RECORD: Final = "gold_trajectory"
_RUN: Final = "agent_trajectory"
_RECORD_KEYS: Final = frozenset(PathEntry.model_fields) - {"steps", "alternatives", "queries", "defaults", "tools"}
_PARTS: Final = frozenset(METRICS) - {"composite"}
_LIMITED: Final = frozenset({*METRICS, "score"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Built:
    """What one document holds."""

    paths: list[tuple[Loc, GoldPath]] = field(default_factory=list[tuple[Loc, GoldPath]])
    rules: list[PathRule] = field(default_factory=list[PathRule])
    derived: set[str] = field(default_factory=set[str])
    """Ids that nobody wrote: made from the query or the steps."""
    problems: list[Problem] = field(default_factory=list[Problem])
    notes: list[str] = field(default_factory=list[str])


def build_paths(value: Any, *, source: str | None, sole_id: str | None = None) -> Built:
    """Return the paths of one document: a path, a record, a list of these, or a header with ``paths``.

    ``sole_id`` is the id of a document that holds one path without an id.
    """
    building = _Building(source, Built())
    if is_list(value):
        building.several(value, (), HeaderEntry())
    elif isinstance(value, dict) and ("paths" in value or ("rules" in value and "steps" not in value)):
        entry = validated(FileEntry, value, (), building.built.problems, instead={})
        if entry is not None:
            building.several(entry.paths, ("paths",), entry)
            rules = read_rules(entry.rules, entry.agent, source, ("rules",), building.built.problems)
            building.built.rules.extend(rules)
    elif value is not None:
        building.one(value, (), HeaderEntry(), sole_id)
    return building.built


@dataclass(frozen=True, slots=True)
class _Building:
    source: str | None
    built: Built

    def several(self, values: Any, loc: Loc, header: HeaderEntry) -> None:
        for at, value in enumerate(values):
            self.one(value, (*loc, at), header, None)

    def one(self, value: Any, loc: Loc, header: HeaderEntry, sole_id: str | None) -> None:
        before = len(self.built.problems)
        is_record = isinstance(value, dict) and (_RECORD in value or _RUN in value) and "steps" not in value
        entry = self._record_entry(cast("dict[str, Any]", value), loc) if is_record else self._entry(value, loc)
        if entry is None:
            return
        queries = read_queries(entry, loc, self.built.problems, literal=is_record)
        tools = {**header.tools, **entry.tools}
        if is_record:
            ways = [tuple[Step, ...](read_record_steps(entry.steps, (*loc, _RECORD), self.built.problems))]
        else:
            ways = self._ways(entry, innermost(header.defaults, entry.defaults), tools, queries, loc)
        path = self._path(entry, header, loc, queries, tools, ways)
        chosen = path.id or (None if is_record else sole_id) or self._derived_id(entry, path, loc, is_record)
        if len(self.built.problems) == before:
            self.built.paths.append((loc, replace(path, id=chosen)))

    def _ways(
        self, entry: PathEntry, defaults: ComparingEntry, tools: Mapping[str, ToolEntry], queries: Queries, loc: Loc
    ) -> list[tuple[Step, ...]]:
        """Return the steps, then each alternative to them."""
        slots = SlotNames(queries.slots)
        reader = StepReader(defaults=defaults, tools=tools, problems=self.built.problems, slots=slots)
        ways = [reader.steps(entry.steps, (*loc, "steps"))]
        for at, way in enumerate(entry.alternatives or ()):
            ways.append(reader.steps(way, (*loc, "alternatives", at)))
        size = sum(states(step) for way in ways for step in way)
        if size > MAX_STATES:
            text = f"the steps have {size} states, {MAX_STATES} are read at most"
            self._wrong((*loc, "steps"), text, "smaller any_order groups and repetitions have fewer")
        slots.note(entry.answer, (*loc, "answer"))
        self._check_slots(entry, queries, slots, loc)
        return ways

    def _check_slots(self, entry: PathEntry, queries: Queries, slots: SlotNames, loc: Loc) -> None:
        """Every query must give each slot that is used a value."""
        given = [entry.query] if entry.query is not None else entry.queries or []
        for at, query in enumerate(given):
            for name in slots.used:
                if name not in slot_names(query):
                    place = (*loc, "query") if entry.query is not None else (*loc, "queries", at)
                    where = place_of(slots.used[name][len(loc) :])
                    self._wrong(place, f"the query gives no value for {{{name}}}, which {where} uses")

    def _record_entry(self, record: Mapping[str, Any], loc: Loc) -> PathEntry | None:
        """Return the entry of a record as programs write it: keys that are not read are noted, not refused."""
        if _RECORD not in record:
            self._wrong(loc, f"key {_RECORD!r} is missing")
            return None
        steps = record[_RECORD]
        if not is_list(steps):
            self._wrong((*loc, _RECORD), f"expected a list of steps, found {found(steps)}")
            return None
        unread = sorted(set(record) - _RECORD_KEYS - {_RECORD, _RUN})
        if unread:
            self.built.notes.append(f"not read in records: {', '.join(unread)}")
        entry = {key: value for key, value in record.items() if key in _RECORD_KEYS and value not in (None, "")}
        return self._entry(entry | {"steps": list(steps)}, loc)

    def _entry(self, value: Any, loc: Loc) -> PathEntry | None:
        return validated(PathEntry, value, loc, self.built.problems, instead={"steps": []})

    def _path(
        self,
        entry: PathEntry,
        header: HeaderEntry,
        loc: Loc,
        queries: Queries,
        tools: Mapping[str, ToolEntry],
        ways: Sequence[tuple[Step, ...]],
    ) -> GoldPath:
        provenance = entry.provenance or header.provenance
        return GoldPath(
            id=entry.id or "",
            steps=ways[0],
            alternatives=tuple(ways[1:]),
            description=entry.description,
            version=entry.version or header.version or "1",
            agent=entry.agent or header.agent,
            queries=queries.texts,
            templates=queries.templates,
            status=entry.status or header.status or "approved",
            provenance=Provenance(**provenance.model_dump()) if provenance else Provenance(),
            tags=tuple(dict.fromkeys([*(header.tags or []), *(entry.tags or [])])),
            answer=None if entry.answer is None else read_answer(entry.answer, (*loc, "answer"), self.built.problems),
            weights=self._weights(*_said(entry, header, "weights", loc)),
            good_path=header.good_path if entry.good_path is None else entry.good_path,
            thresholds=self._thresholds(*_said(entry, header, "thresholds", loc)),
            min_steps=entry.min_steps,
            effects={name: tool.effect for name, tool in tools.items() if tool.effect is not None},
            extras={name: tool.extra for name, tool in tools.items() if tool.extra is not None},
            candidates=self._candidates(entry, loc),
            source=self.source,
        )

    def _candidates(self, entry: PathEntry, loc: Loc) -> tuple[str, ...]:
        given = entry.candidates or []
        for at, text in enumerate(given):
            if text in given[:at]:
                self._wrong((*loc, "candidates", at), f"the candidate {text!r} is there twice")
        return tuple(given)

    def _derived_id(self, entry: PathEntry, path: GoldPath, loc: Loc, is_record: bool) -> str:
        queries = path.queries or path.templates
        if not queries and not is_record:
            self._wrong(loc, "key 'id' is missing", "only a path with a query, or alone in its file, can do without")
        derived = id_from_query(queries[0]) if queries else id_from_steps(entry.steps)
        self.built.derived.add(derived)
        return derived

    def _weights(self, raw: Any, loc: Loc) -> Mapping[str, float] | None:
        if raw is None:
            return None
        if isinstance(raw, str):
            if raw not in WEIGHT_PROFILES:
                self._wrong(loc, f"unknown profile {raw!r}", closest(raw, WEIGHT_PROFILES))
            return dict(WEIGHT_PROFILES.get(raw, {}))
        if not isinstance(raw, dict):
            self._wrong(loc, f"expected a mapping of metrics, or the name of a profile, found {found(raw)}")
            return None
        weights = cast("dict[str, Any]", raw)
        self._check_metrics(weights, loc, _PARTS)
        wrong = {metric: weight for metric, weight in weights.items() if not _is_weight(weight)}
        for metric, weight in wrong.items():
            self._wrong((*loc, metric), f"expected a number of at least 0, found {found(weight)}")
        if not wrong and not any(weights.values()):
            self._wrong(loc, "expected at least one weight above 0")
        return None if wrong else {metric: float(weight) for metric, weight in weights.items()}

    def _thresholds(self, raw: Any, loc: Loc) -> dict[str, float]:
        thresholds: dict[str, float] = dict(raw or {})
        self._check_metrics(thresholds, loc, _LIMITED)
        return thresholds

    def _check_metrics(self, metrics: Iterable[str], loc: Loc, known: Set[str]) -> None:
        for metric in metrics:
            if metric not in known:
                self._wrong((*loc, metric), f"unknown metric {metric!r}", closest(metric, known))

    def _wrong(self, loc: Loc, text: str, hint: str = "") -> None:
        self.built.problems.append(Problem(loc, text, hint))


def _said(entry: PathEntry, header: HeaderEntry, key: str, loc: Loc) -> tuple[Any, Loc]:
    """Return what the path says under ``key``, else what the file says, and where."""
    own = getattr(entry, key)
    return (getattr(header, key), (key,)) if own is None else (own, (*loc, key))


def _is_weight(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e9
