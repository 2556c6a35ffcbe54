"""Runs torn into several traces, put together again by call ids, by what was asked for, or by time.

A call made in another thread, a model call without anything around it: each may be a trace of its own. Such a loose
trace comes home to an earlier one that (1) asked for a call with its id, (2) asked for the same tool with the same
arguments and got no call for it, (3) asked for the calls that the loose model's input answers, or (4) where nothing
was seen of what models asked, is the only agent run of the same instrumentation that was under way. Calls of our own
recorder are never taken home by time: their run counts its calls itself.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from agentpath_sdk import semconv
from agentpath_sdk.trajectories.dialects.messages import messages
from agentpath_sdk.trajectories.model import CallRequest, ToolCall, Trajectory
from agentpath_sdk.trajectories.one_trace import Reconstruction, reconstruct_trace
from agentpath_sdk.trajectories.span_record import SpanRecord

__all__ = ["rejoined"]

_MOST_TRACES: Final = 1_000
_MOST_SPANS: Final = 50_000
# Model calls of one run follow each other; the tools in between may take their time.
_LONGEST_GAP: Final = 15 * 60 * 1_000_000_000


@dataclass(slots=True, eq=False)
class _Trace:
    spans: list[SpanRecord]
    told: Reconstruction
    start: int
    end: int
    changed: bool = False
    scopes: frozenset[str] = field(default_factory=frozenset[str])

    def until(self) -> int:
        """Return the time from which on nothing comes home to this trace any more."""
        waits = self.told.loose == "models" or any(_open(t) for t in self.told.trajectories)
        return self.end + _LONGEST_GAP if waits else self.end


def rejoined(
    traces: Iterable[Sequence[SpanRecord]], *, dropped: frozenset[str] = frozenset()
) -> Iterator[Reconstruction]:
    """Yield what each of ``traces`` (by start) tells, in their order; loose ones as part of the trace they belong to.

    Holds a trace only while others may still come home to it: at most 1,000 traces and 50,000 spans.
    """
    held: deque[_Trace] = deque()
    count = 0
    for spans in traces:
        trace = _trace(spans, dropped)
        while held and (_over(held, count) or held[0].until() < trace.start):
            count -= len(held[0].spans)
            yield _finished(held.popleft(), dropped)
        if trace.told.loose is None or not _brought_home(trace, held, dropped):
            held.append(trace)
        count += len(spans)
    for trace in held:
        yield _finished(trace, dropped)


def _over(held: Sequence[_Trace], count: int) -> bool:
    return len(held) >= _MOST_TRACES or count >= _MOST_SPANS


def _trace(spans: Sequence[SpanRecord], dropped: frozenset[str]) -> _Trace:
    return _Trace(
        spans=list(spans),
        told=reconstruct_trace(spans, dropped=spans[0].trace_id in dropped, keep_loose=True),
        start=min(span.start_unix_nano for span in spans),
        end=max(span.end_unix_nano for span in spans),
        scopes=frozenset(span.scope for span in spans if span.scope is not None),
    )


def _finished(trace: _Trace, dropped: frozenset[str]) -> Reconstruction:
    if trace.changed:
        trace.told = reconstruct_trace(trace.spans, dropped=trace.spans[0].trace_id in dropped, keep_loose=True)
    return trace.told


# --- coming home ----------------------------------------------------------------------------------------------------


def _brought_home(loose: _Trace, held: Iterable[_Trace], dropped: frozenset[str]) -> bool:
    """Add the spans of ``loose`` to the one trace they belong to, and return whether there is one."""
    candidates = [trace for trace in held if trace.told.loose != "calls"]
    for trace in candidates:
        if trace.changed:
            trace.told, trace.changed = _finished(trace, dropped), False
    if loose.told.loose == "models":
        home = _asked_for(loose, candidates)
    else:
        home = _by_id(loose, candidates) or _by_request(loose, candidates) or _by_time(loose, candidates)
    if home is None:
        return False
    trace, run = home
    top = run.span_id if trace.told.loose is None else None
    trace.spans += [_moved(span, trace.spans[0].trace_id, top) for span in loose.spans]
    trace.end = max(trace.end, loose.end)
    trace.changed = True
    return True


def _moved(span: SpanRecord, trace_id: str, parent: str | None) -> SpanRecord:
    return replace(
        span, trace_id=trace_id, parent_span_id=parent if span.parent_span_id is None else span.parent_span_id
    )


def _only(found: Sequence[tuple[_Trace, Trajectory]]) -> tuple[_Trace, Trajectory] | None:
    return found[0] if len(found) == 1 else None


def _calls(loose: _Trace) -> list[ToolCall]:
    return [step for trajectory in loose.told.trajectories for step in trajectory.steps]


def _by_id(loose: _Trace, held: Iterable[_Trace]) -> tuple[_Trace, Trajectory] | None:
    ids = {call.call_id for call in _calls(loose) if call.call_id is not None}
    return _only(
        [(t, run) for t in held for run in t.told.trajectories if any(r.call_id in ids for r in run.requested)]
    )


def _by_request(loose: _Trace, held: Iterable[_Trace]) -> tuple[_Trace, Trajectory] | None:
    calls = _calls(loose)
    found = [
        (trace, run)
        for trace in held
        for run in trace.told.trajectories
        if _under_way(run, loose) and calls and all(any(_fits(r, call) for r in _open(run)) for call in calls)
    ]
    return _only(found) or _only([home for home in found if _same_conversation(home[1], loose)])


def _open(run: Trajectory) -> list[CallRequest]:
    return [request for request in run.requested if request.fate != "executed"]


def _fits(request: CallRequest, call: ToolCall) -> bool:
    if request.tool != call.tool:
        return False
    return request.arguments is None or call.arguments is None or request.arguments == call.arguments


def _under_way(run: Trajectory, loose: _Trace) -> bool:
    return (run.start_unix_nano or 0) <= loose.start <= (run.end_unix_nano or 0)


def _same_conversation(run: Trajectory, loose: _Trace) -> bool:
    return any(
        t.conversation_id is not None and t.conversation_id == run.conversation_id for t in loose.told.trajectories
    )


def _by_time(loose: _Trace, held: Iterable[_Trace]) -> tuple[_Trace, Trajectory] | None:
    if semconv.SCOPE_NAME in loose.scopes:
        return None
    found = [
        (trace, run)
        for trace in held
        if loose.scopes & trace.scopes and trace.told.loose is None
        for run in trace.told.trajectories
        if _under_way(run, loose)
    ]
    home = _only(found) or _only([(trace, run) for trace, run in found if _same_conversation(run, loose)])
    return None if home is None or home[1].requested else home


def _asked_for(loose: _Trace, held: Iterable[_Trace]) -> tuple[_Trace, Trajectory] | None:
    """Return the run whose requests the loose model's input answers last: there it goes on."""
    given = messages(loose.told.first_input)
    if not given or given[-1].role != "tool":
        return None
    ids = {answer.call_id for answer in given[-1].answers}
    return _only(
        [(t, run) for t in held for run in t.told.trajectories if any(r.call_id in ids for r in run.requested)]
    )
