"""What is called, by which agent, in which conversation: a span's name and the attributes it has from its start."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final

from opentelemetry import baggage
from opentelemetry.context import Context

from agentpath_sdk import redaction, semconv
from agentpath_sdk._plain import whole_text
from agentpath_sdk.tracing.conversation import conversation_in
from agentpath_sdk.tracing.recording import Kind, Recording

__all__ = [
    "Identity",
    "conversation_label",
    "identify",
    "label",
    "with_agent_facts",
    "with_call_facts",
]

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

_LONGEST_LABEL: Final = 256
_LONGEST_DESCRIPTION: Final = 1_024
_NOT_PRINTED: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]+")
"""Control characters, line ends, and what turns the direction of writing around."""

Identity = tuple[str, Mapping[str, Any], str | None]
"""Span name, attributes, conversation id."""


def identify(
    kind: Kind, name: str, enclosing: Recording | None, base: Context, conversation_id: str | None
) -> Identity:
    """Return the identity of a call; agent and conversation are those of the enclosing call, else of the context."""
    if enclosing is None:
        # The agent may run in another process, which said its name when it called.
        agent = label_or_none(baggage.get_baggage(semconv.AGENT_NAME, base))
    else:
        agent = None if enclosing.agent is None else enclosing.agent.name
        if conversation_id is None:
            conversation_id = enclosing.conversation_id
    if conversation_id is None:
        conversation_id = conversation_in(base)
    if conversation_id is not None and (enclosing is None or enclosing.conversation_id is not conversation_id):
        conversation_id = conversation_label(conversation_id)
    if len(name) > _LONGEST_LABEL:  # not to be kept by the cache
        return _identity.__wrapped__(kind, name, agent, conversation_id)
    return _identity(kind, name, agent, conversation_id)


@lru_cache(maxsize=1_024)
def _identity(kind: Kind, name: str, agent: str | None, conversation_id: str | None) -> Identity:
    name, operation = label(name), _OPERATIONS[kind]
    agent = label_or_none(agent)
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
    made = dict(attributes)
    if call_id is not None:
        made[semconv.TOOL_CALL_ID] = label(call_id)
    if description is not None:
        made[semconv.TOOL_DESCRIPTION] = _description(description)
    return made


def with_agent_facts(
    attributes: Mapping[str, Any], gold_path: str | None, enclosing: Recording | None, base: Context
) -> Mapping[str, Any]:
    """Return ``attributes`` with the gold path the run is to be scored against."""
    if gold_path is None and (enclosing is None or enclosing.agent is None):
        # Baggage speaks of the run as a whole, so nested agents do not take it for theirs.
        gold_path = label_or_none(baggage.get_baggage(semconv.REQUEST_GOLD_PATH, base))
    return attributes if gold_path is None else {**attributes, semconv.REQUEST_GOLD_PATH: label(gold_path)}


# --- names and ids from outside -------------------------------------------------------------------


def label(text: str) -> str:
    """Return a name or id fit for a span: one line of at most 256 characters, without secrets.

    What holds a secret keeps a trace of it that cannot be read back, so that different ids stay different. Rules of the
    application are not asked: one that raises would leave no tool its name.
    """
    return _label(text) if len(text) <= _LONGEST_LABEL else _label.__wrapped__(text)


def label_or_none(value: object) -> str | None:
    """Return ``value`` as a label if it is a text that is not blank."""
    return label(value) if isinstance(value, str) and value.strip() else None


def conversation_label(conversation_id: str) -> str | None:
    """Return a conversation id as a label, the application's rules applied too; None when it is blank."""
    clean = redaction.redact_text(conversation_id) if redaction.has_rules() else conversation_id
    return label_or_none(clean if clean == conversation_id else f"{clean} {_trace_of(conversation_id)}")


@lru_cache(maxsize=1_024)
def _label(text: str) -> str:
    line = _NOT_PRINTED.sub(" ", whole_text(text[: _LONGEST_LABEL * 4]))
    clean = redaction.without_secrets(line)
    if clean != line:
        clean = f"{clean} {_trace_of(text)}"
    return clean if len(clean) <= _LONGEST_LABEL else clean[: _LONGEST_LABEL - 1] + "…"


def _trace_of(text: str) -> str:
    return hashlib.blake2b(text.encode(errors="replace"), digest_size=4).hexdigest()


@lru_cache(maxsize=1_024)
def _description(text: str) -> str:
    clean = redaction.without_secrets(whole_text(text[: _LONGEST_DESCRIPTION * 4]))
    return clean if len(clean) <= _LONGEST_DESCRIPTION else clean[: _LONGEST_DESCRIPTION - 1] + "…"
