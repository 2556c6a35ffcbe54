"""What is kept of one trace while its spans arrive."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Final

from agentpath_sdk.trajectories.dialects import spoken
from agentpath_sdk.trajectories.dialects.dialect import Dialect, Role, read
from agentpath_sdk.trajectories.span_record import SpanRecord
from agentpath_sdk.trajectories.tree import CALLS

__all__ = ["MAYBE_CALLS", "RUNS", "OpenTrace"]

RUNS: Final[frozenset[Role]] = frozenset(("agent", "workflow"))
MAYBE_CALLS: Final[frozenset[Role]] = frozenset((*CALLS, "function", "invoker"))
"""What is a call, or may prove to be one."""

_ROOT_RUNS: Final[frozenset[Role]] = frozenset(("chain", "function"))
# Texts at least this long are worth a look for an equal one in the span before (tool definitions, instructions).
_SHARED_FROM: Final = 256
_CHAIN_TEXT: Final = 4_096


@dataclass(slots=True, eq=False)
class OpenTrace:
    """Spans of one trace: whole where they say something about a run, else only their place in the tree.

    "Run" here is any agent or workflow span; which of them are runs of their own is for ``reconstruct`` to say.
    """

    trace_id: str
    last: float
    """Clock time of the last span."""
    spans: dict[str, SpanRecord] = field(default_factory=dict[str, SpanRecord])
    places: dict[str, str | None] = field(default_factory=dict[str, "str | None"])
    """Span id -> parent id of spans that say nothing about a run."""
    calls: set[str] = field(default_factory=set[str])
    """Call spans among ``spans``."""
    runs: dict[str, int | None] = field(default_factory=dict[str, "int | None"])
    """Run spans among ``spans`` -> the call count each carries."""
    started: set[str] = field(default_factory=set[str])
    """Agents known to have started, whose span has not arrived."""
    tracked: set[str] = field(default_factory=set[str])
    """Runs whose start was told: then no start of another agent goes untold."""
    closing: set[str] = field(default_factory=set[str])
    """Runs that wait for a verdict."""
    fresh: set[str] = field(default_factory=set[str])
    """Runs that got a span since their last verdict."""
    homeless: bool = False
    """True = since the last verdict a call came that no run span is above."""
    emitted: dict[str, tuple[int, int]] = field(default_factory=dict[str, tuple[int, int]])
    """Run's span id -> revisions given, steps in the last one."""
    unattached: int = 0
    dropped: bool = False
    texts: dict[str, str] = field(default_factory=dict[str, str])

    def __len__(self) -> int:
        return len(self.spans) + len(self.places)

    # --- arrival ------------------------------------------------------------------------------------------------------

    def add(self, record: SpanRecord, *, history: bool) -> Role:
        """Keep ``record``, or only its place, and return its role; ``history`` = with what each model was given."""
        role, speakers = spoken(record)
        if role == "none":
            self._add_place(record)
            return role
        if role == "model":
            record = self._slim(record, speakers, history=history)
        elif role == "chain" and record.parent_span_id is not None:
            record = _without_long_texts(record)
        self.spans[record.span_id] = record
        if role in MAYBE_CALLS and not (role == "function" and record.parent_span_id is None):
            self.calls.add(record.span_id)
        elif role in RUNS or (role in _ROOT_RUNS and record.parent_span_id is None):
            self.runs[record.span_id] = read(speakers, "run_calls", record)
            if record.span_id in self.started:
                self.started.discard(record.span_id)
                self.tracked.add(record.span_id)
        return role

    def _add_place(self, record: SpanRecord) -> None:
        if record.parent_span_id is None or record.parent_remote or record.parent_sampled is False:
            # The top of a tree may stand for a run that no agent span tells of: its times and flags count.
            self.spans[record.span_id] = replace(record, attributes={}, events=(), links=())
        else:
            self.places[record.span_id] = record.parent_span_id

    def _slim(self, record: SpanRecord, speakers: Collection[Dialect], *, history: bool) -> SpanRecord:
        attributes: dict[str, Any] = dict(record.attributes)
        for dialect in () if history else speakers:
            attributes.update(dialect.without_history(record) or {})
        for name, value in attributes.items():
            if isinstance(value, str) and len(value) >= _SHARED_FROM:
                attributes[name] = self._shared(name, value)
        return replace(record, attributes=attributes)

    def _shared(self, name: str, value: str) -> str:
        """Return a text equal to ``value``, the same object for each span that repeats it."""
        known = self.texts.get(name)
        if known is not None and known == value:
            return known
        self.texts[name] = value
        return value

    # --- the tree -----------------------------------------------------------------------------------------------------

    def has(self, span_id: str) -> bool:
        """Return whether the span has arrived."""
        return span_id in self.spans or span_id in self.places

    def upwards(self, span_id: str) -> Iterator[str]:
        """Yield the ids from ``span_id`` up, as far as the spans have arrived."""
        seen: set[str] = set()
        current: str | None = span_id
        while current is not None and current not in seen and self.has(current):
            yield current
            seen.add(current)
            current = self._parent(current)

    def _parent(self, span_id: str) -> str | None:
        record = self.spans.get(span_id)
        return self.places[span_id] if record is None else record.parent_span_id

    def run_above(self, span_id: str) -> str | None:
        """Return the nearest run at or above a span, else None."""
        return next((above for above in self.upwards(span_id) if above in self.runs), None)

    def missing_above(self, span_id: str) -> str | None:
        """Return the id of the span whose absence ends the way up from ``span_id``; None at a root of this process."""
        uppermost = list(self.upwards(span_id))[-1]
        record = self.spans.get(uppermost)
        if record is not None and (record.parent_remote or record.kind in ("server", "consumer")):
            return None
        parent = self._parent(uppermost)
        return None if parent is None or self.has(parent) else parent

    def may_be_inside(self, run: str) -> bool:
        """Return whether an agent that has not ended may enclose ``run`` directly: both may be one run seen twice."""
        for above in self.upwards(run):
            if above in self.calls or (above != run and above in self.runs):
                return False
        return self.missing_above(run) is not None

    def calls_of(self, run: str) -> int:
        """Return how many calls have arrived that no other run lies between."""
        return sum(1 for span_id in self.calls if self.run_above(span_id) == run)

    def has_homeless(self) -> bool:
        """Return whether there are calls that no run span is above."""
        return any(self.run_above(span_id) is None for span_id in self.calls)

    def inside(self, runs: Collection[str]) -> list[str]:
        """Return the ids of the spans at and below any of ``runs``."""
        known: dict[str, bool] = {}
        for span_id in (*self.spans, *self.places):
            way: list[str] = []
            found = False
            for above in self.upwards(span_id):
                if above in known:
                    found = known[above]
                    break
                way.append(above)
                if above in runs:
                    found = True
                    break
            known.update(dict.fromkeys(way, found))
        return [span_id for span_id, is_inside in known.items() if is_inside]

    # --- verdicts -----------------------------------------------------------------------------------------------------

    @property
    def settled(self) -> bool:
        """Whether all that came has its verdict."""
        return not self.closing and not self.homeless and bool(self.emitted or self.unattached)

    def records(self, runs: Collection[str] = ()) -> list[SpanRecord]:
        """Return the spans that decide about ``runs``: those at, above and below them; all spans where ``runs`` is
        empty, or where a call has no run above it and any may be its home."""
        if not runs or len(self.runs) == 1 or self.has_homeless():
            return [*self.spans.values(), *map(self._placeholder, self.places)]
        wanted = dict.fromkeys(self.inside(runs)) | dict.fromkeys(above for run in runs for above in self.upwards(run))
        return [record if (record := self.spans.get(i)) is not None else self._placeholder(i) for i in wanted]

    def _placeholder(self, span_id: str) -> SpanRecord:
        return SpanRecord(trace_id=self.trace_id, span_id=span_id, name="", parent_span_id=self.places[span_id])

    def release(self, runs: Collection[str]) -> list[str]:
        """Forget ``runs`` and all below them; return the run spans among those."""
        gone = self.inside(runs)
        forgotten = [span_id for span_id in gone if span_id in self.runs]
        for span_id in gone:
            for table in (self.spans, self.places, self.runs, self.emitted):
                table.pop(span_id, None)
            for group in (self.calls, self.closing, self.fresh, self.tracked):
                group.discard(span_id)
        return forgotten


def _without_long_texts(record: SpanRecord) -> SpanRecord:
    """Return an inner chain's span without the state that it was given whole: each node of a graph repeats it."""
    kept = {k: v for k, v in record.attributes.items() if not (isinstance(v, str) and len(v) > _CHAIN_TEXT)}
    return replace(record, attributes=kept)
