"""Spans of live traces, as they arrive, to runs that are ready to be judged. Pure: no thread, no clock of its own."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias, TypeVar

from agentpath_sdk._guard import HEALTH
from agentpath_sdk.settings import OnlineSettings
from agentpath_sdk.trajectories.dialects import spoken
from agentpath_sdk.trajectories.model import Trajectory
from agentpath_sdk.trajectories.open_trace import MAYBE_CALLS, RUNS, OpenTrace
from agentpath_sdk.trajectories.reconstruct import Reconstruction, reconstruct_trace
from agentpath_sdk.trajectories.remembered import Remembered
from agentpath_sdk.trajectories.span_record import SpanRecord

__all__ = ["AssembledRun", "Assembler", "Cause"]

Cause: TypeAlias = Literal["counted", "quiet", "flushed", "cap", "expired"]
"""Why a run is given out now: all calls it counts have arrived; its quiet time is over; it was closed early."""

_EARLY: Final[Mapping[Cause, str]] = {
    "flushed": "possibly incomplete: flushed before the quiet time",
    "cap": "possibly incomplete: too many traces were open",
    "expired": "possibly incomplete: no span for too long",
}
# A trace with an agent known to run is kept this many times longer than one nothing is known of.
_PATIENCE: Final = 4
_K = TypeVar("_K")
_V = TypeVar("_V")


@dataclass(frozen=True, kw_only=True, slots=True)
class AssembledRun:
    """One run to judge. ``trajectory`` carries revision, lateness and completeness too; a run is known by its trace
    id and span id, the same for each revision, also where the agent's span is still missing."""

    trajectory: Trajectory
    revision: int = 1
    late: bool = False
    """True when spans that came after the first verdict made this revision."""
    cause: Cause = "quiet"


class Assembler:
    """Keeps the spans of open traces and says when a run is complete.

    A run is complete when its agent's span has arrived and no span of its own has come for ``quiet_seconds``; at once
    only if that span carries our own call count and that many calls have arrived. Calls whose agent's span is missing
    make a presumed-incomplete run after the quiet time, unless that agent is known to be running still. A span that
    comes after the verdict makes the next revision of the same run.

    Bounds: ``max_open_traces`` open traces (the longest idle is closed early), ``max_retained_runs`` traces with a
    verdict kept for late spans, ``max_spans_per_trace`` spans each, ``trace_ttl_seconds`` idle time. For one thread.
    """

    def __init__(
        self,
        settings: OnlineSettings,
        clock: Callable[[], float],
        *,
        keep_history: bool = False,
        count: Callable[[str, int], None] = HEALTH.count,
    ) -> None:
        """``clock`` gives seconds that never go back. ``keep_history`` keeps what each model call was given, for step
        values; it makes an open trace several times as large. ``count`` receives counter names and amounts."""
        self._settings = settings
        self._clock = clock
        self._keep_history = keep_history
        self._count = count
        self._open: OrderedDict[str, OpenTrace] = OrderedDict()
        self._settled: OrderedDict[str, OpenTrace] = OrderedDict()
        # Runs with a verdict that were let go: what comes for them comes too late.
        self._released = Remembered(settings.max_open_traces)
        # Of traces no span has come of: agents started, spans lost.
        self._started: OrderedDict[str, set[str]] = OrderedDict()
        self._dropped: OrderedDict[str, None] = OrderedDict()
        # What waits, by time of its last span.
        self._runs: OrderedDict[tuple[str, str], float] = OrderedDict()
        self._homeless: OrderedDict[str, float] = OrderedDict()
        self._counted: dict[tuple[str, str], None] = {}
        self._closed_early: list[AssembledRun] = []

    # --- what happens -------------------------------------------------------------------------------------------------

    def add(self, record: SpanRecord) -> None:
        """Take an ended span."""
        if self._too_late(record):
            return
        now = self._clock()
        trace = self._trace(record.trace_id, now)
        if not self._too_many(trace, record):
            role = trace.add(record, history=self._keep_history)
            run = trace.run_above(record.span_id)
            if run is None:
                if role in MAYBE_CALLS:
                    trace.homeless = True
                if trace.homeless:
                    _put_last(self._homeless, trace.trace_id, now)
            elif role != "none" or trace.homeless:
                self._touch(trace, run, now)
        self._settle(trace)
        self._close_over_cap()

    def note_started(self, trace_id: str, span_id: str) -> None:
        """Note that an agent's span has started in this process: while it goes on, its calls are not taken for a run
        without root, and an agent inside it waits, for the two may be one run seen twice."""
        trace = self._open.get(trace_id) or self._settled.get(trace_id)
        if trace is not None:
            trace.started.add(span_id)
            return
        self._started.setdefault(trace_id, set()).add(span_id)
        _trim(self._started, self._settings.max_open_traces)

    def note_dropped(self, trace_id: str) -> None:
        """Note that spans of a trace were lost: none of its runs without a verdict is whole any more."""
        trace = self._open.get(trace_id) or self._settled.get(trace_id)
        self._started.pop(trace_id, None)
        if trace is not None:
            trace.dropped = True
            # The lost span may be the agent's own: do not wait for it.
            trace.started.clear()
            return
        self._dropped[trace_id] = None
        _trim(self._dropped, self._settings.max_open_traces)

    def note_all_dropped(self) -> None:
        """Note that spans were lost of traces nobody can name: every trace now open may be one of them."""
        for trace_id in (*self._open, *self._started):
            self.note_dropped(trace_id)

    # --- what is due --------------------------------------------------------------------------------------------------

    def due(self) -> list[AssembledRun]:
        """Return the runs to judge now, and let go what has been idle for too long."""
        now = self._clock()
        found, self._closed_early = self._closed_early, []
        found += self._due_by_count()
        found += self._due_by_quiet(now)
        found += self._due_homeless(now)
        found += self._expire(now)
        return found

    def flush(self, *, final: bool = False) -> list[AssembledRun]:
        """Return every ended run without a verdict, marked as possibly incomplete unless its own count fits, and the
        calls whose agent's span is missing. ``final`` includes agents known to be still running. A run that stays
        quiet after a flush is given out once more, as complete."""
        found, self._closed_early = self._closed_early, []
        for trace in list(self._open.values()):
            found += self._close(trace, "flushed", final=final)
        return found

    @property
    def open_traces(self) -> int:
        """How many traces hold something without a verdict."""
        return len(self._open)

    @property
    def retained_traces(self) -> int:
        """How many traces with a verdict are kept for late spans."""
        return len(self._settled)

    def wait_seconds(self) -> float | None:
        """Return the seconds until ``due`` may have something to give; None = not before another span comes."""
        if self._closed_early or self._counted:
            return 0.0
        firsts = [next(iter(waiting.values())) for waiting in (self._runs, self._homeless) if waiting]
        if not firsts:
            return None
        return max(0.0, min(firsts) + self._settings.quiet_seconds - self._clock())

    # --- arrival ------------------------------------------------------------------------------------------------------

    def _trace(self, trace_id: str, now: float) -> OpenTrace:
        trace = self._open.get(trace_id) or self._settled.pop(trace_id, None) or self._new_trace(trace_id, now)
        trace.last = now
        _put_last(self._open, trace_id, trace)
        return trace

    def _new_trace(self, trace_id: str, now: float) -> OpenTrace:
        dropped = trace_id in self._dropped
        self._dropped.pop(trace_id, None)
        return OpenTrace(
            trace_id=trace_id,
            last=now,
            started=self._started.pop(trace_id, set()),
            dropped=dropped,
        )

    def _too_late(self, record: SpanRecord) -> bool:
        if record.parent_span_id not in self._released and record.span_id not in self._released:
            return False
        # What hangs below it comes too late as well.
        self._released.add(record.span_id)
        self._count("trajectories.span_after_release", 1)
        return True

    def _too_many(self, trace: OpenTrace, record: SpanRecord) -> bool:
        limit = self._settings.max_spans_per_trace
        if len(trace) < limit:
            return False
        settled = [run for run in trace.emitted if run in trace.runs and run not in trace.closing]
        for run in trace.release(settled):
            self._released.add(run)
        if len(trace) < limit or (len(trace) < 2 * limit and spoken(record)[0] in RUNS):
            return False
        trace.dropped = True
        self._count("trajectories.span_over_limit", 1)
        return True

    def _touch(self, trace: OpenTrace, run: str, now: float) -> None:
        key = trace.trace_id, run
        trace.closing.add(run)
        trace.fresh.add(run)
        _put_last(self._runs, key, now)
        expected = trace.runs[run]
        if expected is not None and trace.calls_of(run) >= expected and not self._held(trace, run, told=False):
            self._counted[key] = None

    def _held(self, trace: OpenTrace, run: str, *, told: bool) -> bool:
        """Return whether an agent around ``run`` is to be waited for. Where starts were told, only for one known to
        run; else (``told`` False) for any there may be."""
        if not trace.may_be_inside(run):
            return False
        return bool(trace.started - {run}) or not (told or run in trace.tracked)

    # --- verdicts -----------------------------------------------------------------------------------------------------

    def _due_by_count(self) -> list[AssembledRun]:
        found: list[AssembledRun] = []
        for trace_id, run in list(self._counted):
            trace = self._open.get(trace_id)
            if trace is not None and run in trace.fresh:
                found += self._verdict(trace, {run}, cause="counted")
        self._counted.clear()
        return found

    def _due_by_quiet(self, now: float) -> list[AssembledRun]:
        found: list[AssembledRun] = []
        for trace_id, run in self._past(self._runs, now):
            trace = self._open.get(trace_id)
            if trace is None or run not in trace.closing:
                continue
            if self._held(trace, run, told=True):
                self._runs[trace_id, run] = now
                continue
            found += self._verdict(trace, {run}, cause="quiet")
        return found

    def _due_homeless(self, now: float) -> list[AssembledRun]:
        found: list[AssembledRun] = []
        for trace_id in self._past(self._homeless, now):
            trace = self._open.get(trace_id)
            if trace is None or not trace.homeless:
                continue
            if trace.started:
                self._homeless[trace_id] = now
                continue
            found += self._verdict(trace, (), cause="quiet", homeless=True)
        return found

    def _past(self, waiting: OrderedDict[_K, float], now: float) -> list[_K]:
        """Take out and return what has been quiet for long enough."""
        found: list[_K] = []
        for key, last in waiting.items():
            if last + self._settings.quiet_seconds > now:
                break
            found.append(key)
        for key in found:
            del waiting[key]
        return found

    def _close(self, trace: OpenTrace, cause: Cause, *, final: bool) -> list[AssembledRun]:
        runs = {run for run in trace.fresh if final or not self._held(trace, run, told=True)}
        homeless = trace.homeless and (final or not trace.started)
        return self._verdict(trace, runs, cause=cause, homeless=homeless) if runs or homeless else []

    def _verdict(
        self, trace: OpenTrace, runs: Collection[str], *, cause: Cause, homeless: bool = False
    ) -> list[AssembledRun]:
        if trace.homeless and not trace.has_homeless():
            trace.homeless = homeless = False
        told: Reconstruction | None = None
        found: list[AssembledRun] = []
        if runs or homeless:
            told = reconstruct_trace(trace.records(() if homeless else runs), dropped=trace.dropped)
            wanted = _wanted(trace, told, runs, homeless=homeless)
            # What looked like a run of its own may be part of one further out, which takes more spans to tell.
            if not homeless and (further_out := wanted & trace.runs.keys() - set(runs)):
                told = reconstruct_trace(trace.records({*runs, *further_out}), dropped=trace.dropped)
                wanted = _wanted(trace, told, runs, homeless=homeless)
            if cause == "counted" and not _all_complete(told, wanted):
                return []  # counted one by one all had come, taken together one has not
            found = [self._emit(trace, t, cause, told) for t in told.trajectories if t.span_id in wanted]
            self._forget_waiting(trace, told, wanted, runs, keep=cause == "flushed")
        if homeless and told is not None:
            trace.homeless = False
            self._count_unattached(trace, told)
        self._settle(trace)
        return found

    def _emit(self, trace: OpenTrace, trajectory: Trajectory, cause: Cause, told: Reconstruction) -> AssembledRun:
        run = trajectory.span_id or ""
        revision = trace.emitted.get(run, (0, 0))[0] + 1
        spans = [run, *(alias for alias, target in told.aliases.items() if target == run)]
        late = revision > 1 and (run not in trace.runs or any(span in trace.fresh for span in spans))
        trace.emitted[run] = revision, len(trajectory.steps)
        counted = any(trace.runs.get(span) is not None for span in spans)
        trajectory = replace(_marked(trajectory, cause, counted=counted), revision=revision, late=late)
        return AssembledRun(trajectory=trajectory, revision=revision, late=late, cause=cause)

    def _forget_waiting(
        self, trace: OpenTrace, told: Reconstruction, wanted: Collection[str], runs: Collection[str], *, keep: bool
    ) -> None:
        """Take what got its verdict off the waiting lists; ``keep`` = it may still be given out as complete."""
        for run in list(trace.closing):
            if run in runs or _resolve(trace, told, run) in wanted:
                trace.fresh.discard(run)
                if not keep or trace.runs.get(run) is not None:
                    trace.closing.discard(run)

    def _count_unattached(self, trace: OpenTrace, told: Reconstruction) -> None:
        more = len(told.unattached) - trace.unattached
        if more > 0:
            trace.unattached += more
            self._count("trajectories.unattached_call", more)

    # --- letting go ---------------------------------------------------------------------------------------------------

    def _settle(self, trace: OpenTrace) -> None:
        if trace.settled and trace.trace_id in self._open:
            del self._open[trace.trace_id]
            self._settled[trace.trace_id] = trace
        while len(self._settled) > self._settings.max_retained_runs:
            self._let_go(self._settled.popitem(last=False)[1])

    def _close_over_cap(self) -> None:
        while len(self._open) > self._settings.max_open_traces:
            trace = next(iter(self._open.values()))
            closed = self._close(trace, "cap", final=True)
            self._open.pop(trace.trace_id, None)
            self._settled.pop(trace.trace_id, None)
            self._closed_early += closed
            self._let_go(trace)
            if closed:
                self._count("trajectories.closed_over_cap", 1)

    def _expire(self, now: float) -> list[AssembledRun]:
        found: list[AssembledRun] = []
        limit = self._settings.trace_ttl_seconds
        for trace in _idle(self._open, now - limit):
            if trace.started and trace.last + limit * _PATIENCE > now:
                continue
            found += self._close(trace, "expired", final=True)
            self._open.pop(trace.trace_id, None)
            self._settled.pop(trace.trace_id, None)
            self._let_go(trace)
        for trace in _idle(self._settled, now - limit):
            del self._settled[trace.trace_id]
            self._let_go(trace)
        return found

    def _let_go(self, trace: OpenTrace) -> None:
        """Remember only which runs had their verdict, so that what comes for them later makes no new run."""
        for run in trace.closing:
            self._runs.pop((trace.trace_id, run), None)
        self._homeless.pop(trace.trace_id, None)
        for run in (*trace.emitted, *trace.runs):
            self._released.add(run)


def _wanted(trace: OpenTrace, told: Reconstruction, runs: Collection[str], *, homeless: bool) -> set[str]:
    """Return which trajectories to give out: those of ``runs`` and, for calls without a run span above them, those
    that have no run span, and those that such calls were added to."""
    wanted = {run for run in (_resolve(trace, told, run) for run in runs) if run is not None}
    # A run whose own span is no agent's (a chain inside a tool) comes with the one around it.
    wanted |= {
        run
        for run in (trajectory.span_id or "" for trajectory in told.trajectories)
        if run not in trace.runs and not wanted.isdisjoint(trace.upwards(run))
    }
    if homeless:
        for trajectory in told.trajectories:
            run = trajectory.span_id or ""
            given = trace.emitted.get(run)
            if (run not in trace.runs) if given is None else given[1] != len(trajectory.steps):
                wanted.add(run)
    return wanted


def _resolve(trace: OpenTrace, told: Reconstruction, run: str) -> str | None:
    """Return the trajectory that a run span belongs to: its own, or that of a run around it."""
    known = {trajectory.span_id for trajectory in told.trajectories}
    return next((found for above in trace.upwards(run) if (found := told.aliases.get(above, above)) in known), None)


def _all_complete(told: Reconstruction, wanted: Collection[str]) -> bool:
    return all(t.completeness == "complete" for t in told.trajectories if t.span_id in wanted)


def _marked(trajectory: Trajectory, cause: Cause, *, counted: bool) -> Trajectory:
    """Return the trajectory with what closing it early makes of it; a run whose count fits is whole anyway."""
    reason = _EARLY.get(cause)
    if reason is None or trajectory.completeness == "known_incomplete":
        return trajectory
    if counted and trajectory.completeness == "complete":
        return trajectory
    reasons = (*trajectory.incomplete_reasons, reason)
    return replace(trajectory, completeness="presumed_incomplete", incomplete_reasons=reasons)


def _idle(traces: Mapping[str, OpenTrace], since: float) -> list[OpenTrace]:
    found: list[OpenTrace] = []
    for trace in traces.values():
        if trace.last > since:
            break
        found.append(trace)
    return found


def _put_last(table: OrderedDict[_K, _V], key: _K, value: _V) -> None:
    table[key] = value
    table.move_to_end(key)


def _trim(table: OrderedDict[_K, _V], limit: int) -> None:
    while len(table) > limit:
        table.popitem(last=False)
