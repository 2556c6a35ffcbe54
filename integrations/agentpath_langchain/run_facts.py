"""Facts of an agent run that come before or after their time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentpath_langchain import pauses
from agentpath_langchain.shapes import is_dict
from agentpath_langchain.states import conversation_of, query_of
from agentpath_sdk import semconv
from agentpath_sdk.tracing.recorder import Recorder, Recording
from agentpath_sdk.tracing.recording import STEP_KINDS

__all__ = ["adopt_conversation", "is_placeholder", "is_state", "late_query", "plain_input"]


def adopt_conversation(recorder: Recorder, recording: Recording, metadata: Mapping[str, Any]) -> None:
    """Give an agent the conversation that a LangChain run inside it is called with."""
    agent = recording.agent
    if agent is None or agent.conversation_id is not None or not agent.live or recording.kind in STEP_KINDS:
        return
    found = conversation_of(metadata)
    if found is not None and recorder.note_conversation(agent, found):
        pauses.link_to_paused(agent)


def late_query(recorder: Recorder, recording: Recording, inputs: Any) -> None:
    """Keep the question of a streamed run, whose input is told at its end."""
    if inputs is None or not recording.live or not recording.capture or semconv.INPUT_MESSAGES in recording.content:
        return
    query = query_of(inputs)
    if query is not None:
        recorder.note_query(recording, query)


def plain_input(inputs: Any) -> Any:
    """Return what a run was started with when that is no question: the answer a paused graph is resumed with."""
    resume = getattr(inputs, "resume", None)
    return inputs if resume is None else {"resume": resume}


def is_placeholder(inputs: Any) -> bool:
    """Return whether a run's input is what LangChain says where the true one is not known yet."""
    if not is_dict(inputs) or len(inputs) != 1:
        return False
    text = inputs.get("input")
    return isinstance(text, str) and not text


def is_state(outputs: Any) -> bool:
    """Return whether outputs are a conversation's whole state, which the inner calls already show."""
    return is_dict(outputs) and "messages" in outputs
