"""From the spans of traces to trajectories: one per agent run, the same whatever order the spans came in."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from agentpath_sdk.trajectories.calls import Call, calls_of
from agentpath_sdk.trajectories.completeness import calls_expected, calls_seen, completeness, own_spans
from agentpath_sdk.trajectories.decoding import Arguments
from agentpath_sdk.trajectories.model import Event, StopReason, ToolCall, Trajectory
from agentpath_sdk.trajectories.ordering import number_attempts, parallel_groups, resumed
from agentpath_sdk.trajectories.outcomes import handed_over, step_error, step_outcome, stop_reason
from agentpath_sdk.trajectories.requests import asked_by, fates, model_turns, pair
from agentpath_sdk.trajectories.run_facts import (
    conversation_id,
    final_answer,
    first_fact,
    goal,
    query,
    tags,
    usage,
)
from agentpath_sdk.trajectories.runs import Run, is_ours, partition
from agentpath_sdk.trajectories.span_record import SpanRecord
from agentpath_sdk.trajectories.tree import CALLS, Node, build_tree

__all__ = ["Reconstruction", "reconstruct", "reconstruct_trace"]

_Inner: TypeAlias = Mapping[str, Sequence[Run]]
"""Span id of a call or of an agent -> the runs it started."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Reconstruction:
    """What the spans of one trace tell."""

    trajectories: tuple[Trajectory, ...] = ()
    unattached: tuple[ToolCall, ...] = ()
    """Calls outside every agent run: nobody's steps."""
    aliases: Mapping[str, str] = field(default_factory=dict[str, str])
    """Further agent spans that saw a run -> that run's span id."""


def reconstruct(spans: Iterable[SpanRecord], *, dropped: Collection[str] = ()) -> tuple[Trajectory, ...]:
    """Return one trajectory per agent run in ``spans``, of any number of traces, ordered by start.

    Every executed call is a step of exactly one trajectory. An agent called through a tool is, by that tool, one step
    (kind ``agent``) of its caller; an agent of ours called directly is one under its own name; both have their own
    trajectory too. An agent of another vocabulary nested directly (a graph's member) is an event of the outer run,
    no step, since those vocabularies also call plumbing agents.

    The result depends on the spans alone, not on their order. ``dropped`` names traces known to have lost spans.
    """
    traces: dict[str, list[SpanRecord]] = {}
    for span in spans:
        traces.setdefault(span.trace_id, []).append(span)
    found = (
        trajectory
        for trace_id, records in traces.items()
        for trajectory in reconstruct_trace(records, dropped=trace_id in dropped).trajectories
    )
    return tuple(sorted(found, key=_order))


def reconstruct_trace(spans: Iterable[SpanRecord], *, dropped: bool = False) -> Reconstruction:
    """Return the trajectories and the unattached calls of the spans of one trace."""
    parts = partition(build_tree(spans))
    inner = _started_by(parts.runs)
    found = sorted((_trajectory(run, inner, dropped=dropped) for run in parts.runs), key=_order)
    strays = sorted(calls_of(parts.unattached), key=lambda call: call.order)
    return Reconstruction(
        trajectories=tuple(found),
        unattached=tuple(_step(call, None, None) for call in strays),
        aliases={node.record.span_id: run.span_id for run in parts.runs for node in run.absorbed},
    )


def _order(trajectory: Trajectory) -> tuple[int, str, str]:
    return trajectory.start_unix_nano or 0, trajectory.trace_id or "", trajectory.span_id or ""


def _started_by(runs: Iterable[Run]) -> _Inner:
    started: dict[str, list[Run]] = {}
    for run in runs:
        if run.caller is not None:
            started.setdefault(run.caller.record.span_id, []).append(run)
        if run.parent is not None:
            started.setdefault(run.parent.span_id, []).append(run)
    return started


def _trajectory(run: Run, inner: _Inner, *, dropped: bool) -> Trajectory:
    turns = model_turns(run.members)
    asked = asked_by(turns)
    calls = _calls(run, inner)
    pair(asked, calls)
    calls.sort(key=lambda call: call.order)
    calls, steps = _steps(calls, run.agent)
    stopped = stop_reason(own_spans(run), steps, finish_reason=turns[-1].read("finish_reason") if turns else None)
    all_seen = (expected := calls_expected(run)) is not None and calls_seen(run) >= expected
    found, reasons = completeness(run, dropped=dropped)
    return replace(
        _head(run, turns, calls, stopped),
        steps=steps,
        requested=fates(asked, turns, stopped=stopped, all_calls_seen=all_seen),
        events=_events(run, turns, calls, inner),
        completeness=found,
        incomplete_reasons=reasons,
    )


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


# --- steps ----------------------------------------------------------------------------------------------------------


def _calls(run: Run, inner: _Inner) -> list[Call]:
    calls = calls_of([node for node in run.members if node.role in CALLS and not node.utility])
    for call in calls:
        if any(span_id in inner for span_id in call.ids):
            call.kind = "agent"
        elif handed_over(call):
            call.kind = "handoff"
    return [*calls, *(_agent_call(started) for started in inner.get(run.span_id, ()) if _is_step(started))]


def _is_step(started: Run) -> bool:
    return started.node is not None and started.parent is not None and is_ours(started.node)


def _agent_call(run: Run) -> Call:
    """Return an agent of ours that another run called directly, as a step of that run."""
    own = own_spans(run)
    asked = first_fact(own, "query")
    return Call(
        nodes=tuple(own),
        start=own[0].record.start_unix_nano,
        end=max(node.record.end_unix_nano for node in own),
        tool=str(run.agent or own[0].record.name),
        call_id=None,
        arguments=Arguments(state="not_captured") if asked is None else Arguments(values={"query": asked}),
        kind="agent",
        ids=frozenset(node.record.span_id for node in own),
    )


def _steps(calls: list[Call], agent: str | None) -> tuple[list[Call], tuple[ToolCall, ...]]:
    """Return the calls that are steps, and those steps: a call paused and run again is there once."""
    groups = parallel_groups(calls)
    steps = [_step(call, agent, group) for call, group in zip(calls, groups, strict=True)]
    gone = set(resumed(steps))
    if gone:
        calls = [call for index, call in enumerate(calls) if index not in gone]
        groups = parallel_groups(calls)
        steps = [_step(call, agent, group) for call, group in zip(calls, groups, strict=True)]
    return calls, number_attempts(steps)


def _step(call: Call, agent: str | None, group: int | None) -> ToolCall:
    result = call.result()
    call.outcome = step_outcome(call, result.value)
    partial = call.first("partial_items")
    # An agent's own name is that of the called, not of the caller.
    made_by = None if call.nodes[0].role == "agent" else call.first("agent_name")
    return ToolCall(
        tool=call.tool,
        arguments=call.arguments.values,
        arguments_state=call.arguments.state,
        raw_arguments=call.arguments.raw,
        result=call.first("final_answer") if call.nodes[0].role == "agent" else result.value,
        result_state=result.state,
        outcome=call.outcome,
        error=step_error(call, call.outcome, result.value),
        call_id=call.call_id,
        agent=agent if made_by is None else str(made_by),
        kind=call.kind,
        span_id=call.nodes[0].record.span_id,
        parallel_group=group,
        partial_items=partial if isinstance(partial, int) else None,
        start_unix_nano=call.start,
        end_unix_nano=call.end,
    )


# --- events ---------------------------------------------------------------------------------------------------------


def _events(run: Run, turns: Sequence[Node], calls: Sequence[Call], inner: _Inner) -> tuple[Event, ...]:
    """Return model turns, phases, directly nested agents (as phases) and steps in order of start."""
    found = [((turn.key[0], -1.0, turn.depth, turn.key[1]), _turn(turn)) for turn in turns]
    found += [
        ((n.key[0], -1.0, n.depth, n.key[1]), _phase(n)) for n in run.members if n.role == "phase" and not n.utility
    ]
    for started in inner.get(run.span_id, ()):
        if started.node is not None and started.parent is not None and not _is_step(started):
            node = started.node
            found.append(((node.key[0], -1.0, node.depth, node.key[1]), _phase(node, name=started.agent)))
    found += [(call.order, _call_event(call, index)) for index, call in enumerate(calls)]
    return tuple(event for _, event in sorted(found, key=lambda pair: pair[0]))


def _turn(node: Node) -> Event:
    return Event(
        kind="model",
        name=str(node.read("model_name") or node.record.name),
        span_id=node.record.span_id,
        input=node.read("input"),
        output=node.read("output"),
        start_unix_nano=node.record.start_unix_nano,
        end_unix_nano=node.record.end_unix_nano,
    )


def _phase(node: Node, name: str | None = None) -> Event:
    return Event(
        kind="phase",
        name=str(name or node.read("phase") or node.record.name),
        span_id=node.record.span_id,
        input=node.read("input"),
        output=node.read("output"),
        start_unix_nano=node.record.start_unix_nano,
        end_unix_nano=node.record.end_unix_nano,
    )


def _call_event(call: Call, index: int) -> Event:
    return Event(
        kind="tool",
        name=call.tool,
        span_id=call.nodes[0].record.span_id,
        step=index,
        start_unix_nano=call.start,
        end_unix_nano=call.end,
    )
