"""From the spans of traces to trajectories: one per agent run, the same whatever order the spans came in."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from agentpath_sdk.trajectories.model import Trajectory
from agentpath_sdk.trajectories.one_trace import Reconstruction, order_of, reconstruct_trace
from agentpath_sdk.trajectories.span_record import SpanRecord
from agentpath_sdk.trajectories.torn import rejoined

__all__ = ["Reconstruction", "reconstruct", "reconstruct_trace"]


def reconstruct(spans: Iterable[SpanRecord], *, dropped: Collection[str] = ()) -> tuple[Trajectory, ...]:
    """Return one trajectory per agent run in ``spans``, of any number of traces, ordered by start.

    Every executed call is a step of exactly one trajectory. An agent called through a tool is, by that tool, one step
    (kind ``agent``) of its caller; an agent of ours called directly is one under its own name; both have their own
    trajectory too. An agent of another vocabulary nested directly (a graph's member) is an event of the outer run,
    no step, since those vocabularies also call plumbing agents.

    A run torn into several traces is one again (see ``torn``). Calls that have nothing around them and belong to no run
    make a run without agent; those of our own recorder are nobody's.

    The result depends on the spans alone, not on their order. ``dropped`` names traces known to have lost spans.
    """
    traces: dict[str, list[SpanRecord]] = {}
    for span in spans:
        traces.setdefault(span.trace_id, []).append(span)
    ordered = sorted(traces.values(), key=lambda records: (min(map(_start, records)), records[0].trace_id))
    found = (trajectory for told in rejoined(ordered, dropped=frozenset(dropped)) for trajectory in told.trajectories)
    return tuple(sorted(found, key=order_of))


def _start(record: SpanRecord) -> int:
    return record.start_unix_nano
