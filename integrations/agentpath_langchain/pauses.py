"""Runs paused for approval: marked as such, and linked to by the run that goes on after the answer."""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

from opentelemetry.trace import SpanContext

from agentpath_langchain.runs import Link
from agentpath_sdk.tracing.recorder import Recorder, Recording, StopReason

__all__ = ["link_to_paused", "remember", "settle"]

_REMEMBERED: Final = 1_000

_paused: Final[OrderedDict[str, SpanContext]] = OrderedDict()
"""Conversation id -> span of its paused run; the oldest go first."""


def remember(recording: Recording, paused: bool) -> None:
    """Keep the span of a run that pauses, for the run that resumes its conversation."""
    conversation = recording.conversation_id
    if conversation is None or not paused or not recording.live:
        return
    _paused[conversation] = recording.span.get_span_context()
    while len(_paused) > _REMEMBERED:
        _paused.pop(next(iter(_paused)), None)


def link_to_paused(recording: Recording) -> None:
    """Link a run to the paused run of its conversation, if there is one."""
    if recording.conversation_id is None or not recording.live:
        return
    earlier = _paused.pop(recording.conversation_id, None)
    if earlier is not None and earlier.span_id != recording.span.get_span_context().span_id:
        recording.span.add_link(earlier)


def settle(recorder: Recorder, recording: Recording, link: Link, stop_reason: StopReason | None) -> None:
    """Tell a decorated agent what its own end will not show: that the graph inside paused, or ran into a limit."""
    agent = recording.agent
    if agent is None or link.top is not None:
        return
    if link.paused:
        remember(agent, True)
        recorder.note_stop_reason(agent, "pending")
    elif stop_reason is not None:
        recorder.note_stop_reason(agent, stop_reason)
    elif agent.noted_stop_reason == "pending":
        # Paused and resumed within one decorated call.
        recorder.note_stop_reason(agent, None)
