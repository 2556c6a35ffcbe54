"""From the spans of one trace to trajectories: one per agent run, the same whatever order the spans came in."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from agentpath_sdk.trajectories.calls import Call, calls_of
from agentpath_sdk.trajectories.completeness import calls_expected, calls_seen, completeness, own_spans
from agentpath_sdk.trajectories.model import Json, StopReason, ToolCall, Trajectory
from agentpath_sdk.trajectories.outcomes import stop_reason
from agentpath_sdk.trajectories.requests import asked_by, fates, model_turns, pair, turn_fact
from agentpath_sdk.trajectories.run import Run
from agentpath_sdk.trajectories.run_events import events_of
from agentpath_sdk.trajectories.run_facts import (
    conversation_id,
    final_answer,
    first_fact,
    goal,
    query,
    tags,
    usage,
)
from agentpath_sdk.trajectories.run_steps import Inner, run_calls, step_of, steps_of
from agentpath_sdk.trajectories.runs import partition
from agentpath_sdk.trajectories.span_record import SpanRecord
from agentpath_sdk.trajectories.told_calls import expand_invokers, settle_functions
from agentpath_sdk.trajectories.tree import CALLS, Node, build_tree

__all__ = ["Reconstruction", "order_of", "reconstruct_trace"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Reconstruction:
    """What the spans of one trace tell."""

    trajectories: tuple[Trajectory, ...] = ()
    unattached: tuple[ToolCall, ...] = ()
    """Calls outside every agent run: nobody's steps."""
    aliases: Mapping[str, str] = field(default_factory=dict[str, str])
    """Further agent spans that saw a run -> that run's span id."""
    loose: Literal["calls", "models"] | None = None
    """What the trace has in the place of an agent or application around its calls: it may be part of a run that was
    torn apart."""
    first_input: Json = None
    """Of loose models: what the first was given."""


def reconstruct_trace(
    spans: Iterable[SpanRecord], *, dropped: bool = False, keep_loose: bool = False
) -> Reconstruction:
    """Return the trajectories and the unattached calls of the spans of one trace.

    ``keep_loose`` makes calls that have nothing at all around them a run without agent, unless our own recorder made
    them.
    """
    nodes = expand_invokers(build_tree(spans))
    settle_functions(nodes)
    loose = _loose(nodes)
    parts = partition(nodes, keep_loose=keep_loose and loose == "calls")
    agents = {str(run.agent) for run in parts.runs if run.agent is not None}
    inner = _started_by(parts.runs)
    found = sorted((_trajectory(run, inner, agents, dropped=dropped) for run in parts.runs), key=order_of)
    strays = sorted(calls_of(parts.unattached), key=lambda call: call.order)
    return Reconstruction(
        trajectories=tuple(found),
        unattached=tuple(step_of(call, None, None) for call in strays),
        aliases={node.record.span_id: run.span_id for run in parts.runs for node in run.absorbed},
        loose=loose,
        first_input=nodes[0].read("input") if loose == "models" else None,
    )


def _loose(nodes: Sequence[Node]) -> Literal["calls", "models"] | None:
    tops = [node for node in nodes if node.parent is None]
    if any(not node.locally_rooted or node.utility for node in tops):
        return None
    if tops and all(node.role in CALLS or node.role == "model" for node in tops):
        return "calls" if any(node.role in CALLS for node in tops) else "models"
    return None


def order_of(trajectory: Trajectory) -> tuple[int, str, str]:
    """Sort key: start, then ids."""
    return trajectory.start_unix_nano or 0, trajectory.trace_id or "", trajectory.span_id or ""


def _started_by(runs: Iterable[Run]) -> Inner:
    started: dict[str, list[Run]] = {}
    for run in runs:
        if run.caller is not None:
            started.setdefault(run.caller.record.span_id, []).append(run)
        if run.parent is not None:
            started.setdefault(run.parent.span_id, []).append(run)
    return started


def _trajectory(run: Run, inner: Inner, agents: Collection[str], *, dropped: bool) -> Trajectory:
    turns = model_turns(run.members)
    asked = asked_by(turns)
    calls = run_calls(run, inner, turns, agents)
    pair(asked, calls)
    calls.sort(key=lambda call: call.order)
    calls, steps = steps_of(calls, run.agent)
    stopped = (
        "finished"
        if _answered_by_models(run, turns)
        else stop_reason(own_spans(run), steps, finish_reason=turns[-1].read("finish_reason") if turns else None)
    )
    all_seen = (expected := calls_expected(run)) is not None and calls_seen(run) >= expected
    found, reasons = completeness(run, dropped=dropped)
    return replace(
        _head(run, turns, calls, stopped),
        steps=steps,
        requested=fates(asked, turns, stopped=stopped, all_calls_seen=all_seen),
        events=events_of(run, turns, calls, inner),
        completeness=found,
        incomplete_reasons=reasons,
    )


def _answered_by_models(run: Run, turns: Sequence[Node]) -> bool:
    """Return whether a run that only model spans tell of ended with a turn that asks for no call."""
    return run.told and bool(turns) and not turn_fact(turns[-1], "requests")


def _head(run: Run, turns: Sequence[Node], calls: Sequence[Call], stopped: StopReason) -> Trajectory:
    """Return the run without its steps."""
    record = run.node.record if run.node is not None else None
    first = record or run.members[0].record
    gold = first_fact(own_spans(run), "gold_path")
    ends_with_answer = stopped == "finished" and bool(turns) and (not calls or turns[-1].key >= calls[-1].nodes[0].key)
    return Trajectory(
        agent=None if run.agent is None else str(run.agent),
        query=query(run, turns),
        final_answer=final_answer(run, turns, ends_with_answer=ends_with_answer),
        conversation_id=conversation_id(run),
        trace_id=first.trace_id,
        span_id=run.span_id,
        parent_span_id=None if record is None else record.parent_span_id,
        gold_path_id=None if gold is None else str(gold),
        stop_reason=stopped,
        goal=goal(run),
        usage=usage(run, turns),
        start_unix_nano=first.start_unix_nano,
        end_unix_nano=record.end_unix_nano if record else max(n.record.end_unix_nano for n in run.members),
        attributes=tags(run),
    )
