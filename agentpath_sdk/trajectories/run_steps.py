"""The calls of a run as its steps."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Final, TypeAlias

from agentpath_sdk.trajectories.calls import Call, calls_of
from agentpath_sdk.trajectories.completeness import calls_expected, own_spans
from agentpath_sdk.trajectories.decoding import Arguments
from agentpath_sdk.trajectories.model import StepKind, ToolCall
from agentpath_sdk.trajectories.ordering import number_attempts, parallel_groups, resumed
from agentpath_sdk.trajectories.outcomes import handed_over, step_error, step_outcome
from agentpath_sdk.trajectories.run import Run, is_ours
from agentpath_sdk.trajectories.run_facts import first_fact
from agentpath_sdk.trajectories.told_calls import from_transcript, from_turns
from agentpath_sdk.trajectories.tree import CALLS, Node

__all__ = ["Inner", "is_step", "run_calls", "step_of", "steps_of"]

Inner: TypeAlias = Mapping[str, Sequence[Run]]
"""Span id of a call or of an agent -> the runs it started."""

# The usual name of a tool that hands over, where its agent is one of those seen.
_TRANSFER: Final = re.compile(r"(?:transfer|hand_?off)(?:_back)?_to_(.+)")


def run_calls(run: Run, inner: Inner, turns: Sequence[Node], agents: Collection[str]) -> list[Call]:
    """Return the calls of ``run``, each once; ``agents`` are the names of all agents of the trace."""
    nodes = [node for node in run.members if node.role in CALLS and not node.utility]
    if not nodes and calls_expected(run) is None:
        nodes = _told(run, turns)
    calls = [call for call in calls_of(nodes) if call.first("framework_tool") != "pseudo"]
    for call in calls:
        call.kind = "agent" if _told_agent(call, run, inner) else _kind(call, inner, agents)
    return [*calls, *(_agent_call(started) for started in inner.get(run.span_id, ()) if is_step(started))]


def _told(run: Run, turns: Sequence[Node]) -> list[Node]:
    """Return the calls of a run without any call span: what its model spans tell of, else what its own messages do."""
    found = from_turns(turns)
    for own in own_spans(run):
        if not found and (said := own.read("transcript")):
            found = from_transcript(said, own)
    return found


def _told_agent(call: Call, run: Run, inner: Inner) -> bool:
    """Return whether a call that messages tell of gave back what an agent directly inside the run answered."""
    if not call.nodes[0].told:
        return False
    result = call.result().value
    return any(
        result is not None and first_fact(own_spans(r), "final_answer") == result for r in inner.get(run.span_id, ())
    )


def _kind(call: Call, inner: Inner, agents: Collection[str]) -> StepKind:
    said = call.first("framework_tool")
    if any(span_id in inner for span_id in call.ids):
        return "agent"
    if call.nodes[0].role == "handoff" or said == "handoff" or handed_over(call):
        return "handoff"
    if said == "agent":
        return "agent"
    match = _TRANSFER.fullmatch(call.tool)
    return "handoff" if match is not None and match.group(1) in agents else call.kind


def is_step(started: Run) -> bool:
    """Return whether an agent that another run called directly is a step of that run."""
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


def steps_of(calls: list[Call], agent: str | None) -> tuple[list[Call], tuple[ToolCall, ...]]:
    """Return the calls that are steps, and those steps: a call paused and run again is there once."""
    groups = parallel_groups(calls)
    steps = [step_of(call, agent, group) for call, group in zip(calls, groups, strict=True)]
    gone = set(resumed(steps))
    if gone:
        calls = [call for index, call in enumerate(calls) if index not in gone]
        groups = parallel_groups(calls)
        steps = [step_of(call, agent, group) for call, group in zip(calls, groups, strict=True)]
    return calls, number_attempts(steps)


def step_of(call: Call, agent: str | None, group: int | None) -> ToolCall:
    """Return ``call`` as a step of an agent's run."""
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
        seen_in="messages" if call.nodes[0].told else "span",
        start_unix_nano=call.start,
        end_unix_nano=call.end,
    )
