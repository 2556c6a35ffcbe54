"""The calls of a run over all its agents, as one list."""

from __future__ import annotations

from collections.abc import Iterable

from agentpath_sdk.trajectories.model import ToolCall, Trajectory

__all__ = ["all_steps"]


def all_steps(trajectories: Iterable[Trajectory]) -> tuple[ToolCall, ...]:
    """Return the steps of ``trajectories`` by start: each executed call once, whichever agent made it.

    A call that went to another agent is there as a step of kind ``agent`` or ``handoff``, followed by that agent's own
    steps; leave those kinds out to get the tools alone.
    """
    steps = [(step.start_unix_nano or 0, number, step) for t in trajectories for number, step in enumerate(t.steps)]
    return tuple(step for _, _, step in sorted(steps, key=lambda found: found[:2]))
