"""What happened in a run, in order: model turns, phases, agents inside, steps."""

from __future__ import annotations

from collections.abc import Sequence

from agentpath_sdk.trajectories.calls import Call
from agentpath_sdk.trajectories.model import Event
from agentpath_sdk.trajectories.run import Run
from agentpath_sdk.trajectories.run_steps import Inner, is_step
from agentpath_sdk.trajectories.tree import Node

__all__ = ["events_of"]


def events_of(run: Run, turns: Sequence[Node], calls: Sequence[Call], inner: Inner) -> tuple[Event, ...]:
    """Return model turns, phases, directly nested agents (as phases) and steps in order of start."""
    found = [((turn.key[0], -1.0, turn.depth, turn.key[1]), _turn(turn)) for turn in turns]
    found += [
        ((n.key[0], -1.0, n.depth, n.key[1]), _phase(n)) for n in run.members if n.role == "phase" and not n.utility
    ]
    for started in inner.get(run.span_id, ()):
        if started.node is not None and started.parent is not None and not is_step(started):
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
