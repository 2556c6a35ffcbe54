"""Several traces of one conversation as one trajectory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final, TypeVar

from agentpath_sdk.trajectories.model import CallRequest, Completeness, Event, ToolCall, Trajectory, Usage
from agentpath_sdk.trajectories.ordering import number_attempts, resumed

__all__ = ["conversations", "join_conversation", "resumes"]

_WORST: Final[tuple[Completeness, ...]] = ("complete", "presumed_incomplete", "known_incomplete")
_T = TypeVar("_T")


def resumes(later: Trajectory, earlier: Trajectory) -> bool:
    """Return whether ``later`` goes on with ``earlier``: same conversation and agent, and ``earlier`` was paused."""
    return (
        earlier.conversation_id is not None
        and earlier.conversation_id == later.conversation_id
        and earlier.agent == later.agent
        and earlier.stop_reason == "pending"
        and (earlier.start_unix_nano or 0) <= (later.start_unix_nano or 0)
    )


def conversations(trajectories: Iterable[Trajectory]) -> tuple[Trajectory, ...]:
    """Return one trajectory per conversation id and agent; runs without a conversation id stay as they are."""
    groups: dict[object, list[Trajectory]] = {}
    for number, trajectory in enumerate(trajectories):
        named = trajectory.conversation_id is not None
        groups.setdefault((trajectory.conversation_id, trajectory.agent) if named else number, []).append(trajectory)
    return tuple(join_conversation(group) for group in groups.values())


def join_conversation(trajectories: Iterable[Trajectory]) -> Trajectory:
    """Return runs of one conversation as one trajectory, whatever order they are given in.

    Steps, requests and events follow each other by start of their run. A call that was paused and run again later is
    one step: the later one. The query is the first run's, the answer, stop reason and ids are the last run's (there
    the verdict belongs), the goal is the latest word on it, and it is as complete as its least complete run.

    Raises:
        ValueError: there is no trajectory to join.
    """
    runs = sorted(trajectories, key=lambda t: (t.start_unix_nano or 0, t.trace_id or "", t.span_id or ""))
    if not runs:
        raise ValueError("no trajectory to join")
    if len(runs) == 1:
        return runs[0]
    first, last = runs[0], runs[-1]
    steps = [step for number, run in enumerate(runs) for step in _regrouped(run, _groups_before(runs, number))]
    gone = frozenset(resumed(steps))
    return replace(
        last,
        steps=number_attempts([step for index, step in enumerate(steps) if index not in gone]),
        requested=_requested(runs),
        events=_events(runs, gone),
        query=_first(run.query for run in runs),
        gold_path_id=_first(run.gold_path_id for run in runs),
        goal=_first(run.goal for run in reversed(runs)),
        completeness=max((run.completeness for run in runs), key=_WORST.index),
        incomplete_reasons=tuple(dict.fromkeys(reason for run in runs for reason in run.incomplete_reasons)),
        usage=_usage(runs),
        start_unix_nano=first.start_unix_nano,
        attributes={key: value for run in runs for key, value in run.attributes.items()},
        revision=max(run.revision for run in runs),
        late=any(run.late for run in runs),
    )


def _first(values: Iterable[_T | None]) -> _T | None:
    return next((value for value in values if value is not None), None)


def _groups_before(runs: Sequence[Trajectory], number: int) -> int:
    return sum(max((step.parallel_group or 0 for step in run.steps), default=0) for run in runs[:number])


def _regrouped(run: Trajectory, offset: int) -> Iterable[ToolCall]:
    return (
        step if step.parallel_group is None else replace(step, parallel_group=step.parallel_group + offset)
        for step in run.steps
    )


def _requested(runs: Sequence[Trajectory]) -> tuple[CallRequest, ...]:
    """Return the requests; one that was pending and then executed, or asked for again by its id, is there once."""
    requests: list[CallRequest] = []
    place: dict[str, int] = {}
    executed = {step.call_id for run in runs for step in run.steps if step.outcome != "interrupted"}
    for request in (request for run in runs for request in run.requested):
        if request.call_id is not None and request.call_id in place:
            requests[place[request.call_id]] = request
            continue
        if request.call_id is not None:
            place[request.call_id] = len(requests)
        requests.append(request)
    return tuple(
        replace(request, fate="executed") if request.fate == "pending" and request.call_id in executed else request
        for request in requests
    )


def _events(runs: Sequence[Trajectory], gone: frozenset[int]) -> tuple[Event, ...]:
    found: list[Event] = []
    offset = 0
    for run in runs:
        for event in run.events:
            step = None if event.step is None else event.step + offset
            if step is None or step not in gone:
                before = 0 if step is None else sum(1 for index in gone if index < step)
                found.append(event if step is None else replace(event, step=step - before))
        offset += len(run.steps)
    return tuple(found)


def _usage(runs: Sequence[Trajectory]) -> Usage:
    def total(counts: Iterable[int | None]) -> int | None:
        known = [count for count in counts if count is not None]
        return sum(known) if known else None

    return Usage(
        input_tokens=total(run.usage.input_tokens for run in runs),
        output_tokens=total(run.usage.output_tokens for run in runs),
    )
