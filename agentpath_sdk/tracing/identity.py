"""What is called, by which agent, in which conversation: a span's name and the attributes it has from its start."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final

from opentelemetry import baggage
from opentelemetry.context import Context

from agentpath_sdk import semconv
from agentpath_sdk.tracing.conversation import conversation_in
from agentpath_sdk.tracing.recording import Kind, Recording

__all__ = ["Identity", "identify", "with_agent_facts", "with_call_facts"]

_OPERATIONS: Final[Mapping[Kind, str]] = {
    "agent": semconv.OP_INVOKE_AGENT,
    "tool": semconv.OP_EXECUTE_TOOL,
    "model": semconv.OP_CHAT,
    "retrieval": semconv.OP_RETRIEVAL,
    "phase": "",
}
_NAME_ATTRIBUTES: Final[Mapping[Kind, str]] = {
    "agent": semconv.AGENT_NAME,
    "tool": semconv.TOOL_NAME,
    "model": semconv.REQUEST_MODEL,
    "retrieval": semconv.TOOL_NAME,
    "phase": semconv.STEP_PHASE,
}

Identity = tuple[str, Mapping[str, Any], str | None]
"""Span name, attributes, conversation id."""


def identify(
    kind: Kind, name: str, enclosing: Recording | None, base: Context, conversation_id: str | None
) -> Identity:
    """Return the identity of a call; agent and conversation are those of the enclosing call, else of the context."""
    if enclosing is None:
        # The agent may run in another process, which said its name when it called.
        remote = baggage.get_baggage(semconv.AGENT_NAME, base)
        agent = remote if isinstance(remote, str) else None
    else:
        agent = None if enclosing.agent is None else enclosing.agent.name
        if conversation_id is None:
            conversation_id = enclosing.conversation_id
    if conversation_id is None:
        conversation_id = conversation_in(base)
    return _identity(kind, name, agent, conversation_id)


@lru_cache(maxsize=1_024)
def _identity(kind: Kind, name: str, agent: str | None, conversation_id: str | None) -> Identity:
    operation = _OPERATIONS[kind]
    attributes = {semconv.OPERATION_NAME: operation} if operation else {}
    attributes[_NAME_ATTRIBUTES[kind]] = name
    if agent is not None and kind != "agent":
        attributes[semconv.AGENT_NAME] = agent
    if conversation_id is not None:
        attributes[semconv.CONVERSATION_ID] = conversation_id
    span_name = semconv.span_name(operation, name) if operation else name
    return span_name, MappingProxyType(attributes), conversation_id


def with_call_facts(attributes: Mapping[str, Any], call_id: str | None, description: str | None) -> Mapping[str, Any]:
    """Return ``attributes`` with what is known of this one call."""
    more = {semconv.TOOL_CALL_ID: call_id, semconv.TOOL_DESCRIPTION: description}
    return {**attributes, **{name: value for name, value in more.items() if value is not None}}


def with_agent_facts(
    attributes: Mapping[str, Any], gold_path: str | None, enclosing: Recording | None, base: Context
) -> Mapping[str, Any]:
    """Return ``attributes`` with the gold path the run is to be scored against."""
    if gold_path is None and (enclosing is None or enclosing.agent is None):
        # Baggage speaks of the run as a whole, so nested agents do not take it for theirs.
        found = baggage.get_baggage(semconv.REQUEST_GOLD_PATH, base)
        gold_path = found if isinstance(found, str) else None
    return attributes if gold_path is None else {**attributes, semconv.REQUEST_GOLD_PATH: gold_path}
