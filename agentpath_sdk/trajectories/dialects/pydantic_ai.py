"""Pydantic AI: ``pydantic_ai.all_messages``, ``final_result``, the older ``tool_arguments`` and ``agent_name``."""

from __future__ import annotations

from typing import Any, Final

from agentpath_sdk.trajectories.dialects import messages
from agentpath_sdk.trajectories.dialects.contents import answer_in, loaded
from agentpath_sdk.trajectories.dialects.dialect import Answer, Dialect, Request, Role, attribute
from agentpath_sdk.trajectories.shapes import as_list, as_object
from agentpath_sdk.trajectories.span_record import SpanRecord

__all__ = ["PYDANTIC_AI"]

_MESSAGES: Final = ("pydantic_ai.all_messages", "all_messages_events")
_EVENTS: Final = "events"
_NEW: Final = "pydantic_ai.new_message_index"


def _role(span: SpanRecord) -> Role | None:
    return "unsaid"


def _query(span: SpanRecord) -> str | None:
    """Return the first user message that is this run's own: earlier ones are the history it was given."""
    for name in _MESSAGES:
        if (listed := as_list(loaded(span.attributes.get(name)))) is not None:
            start = span.attributes.get(_NEW)
            own = listed[start:] if isinstance(start, int) else listed
            found = (m.text for m in messages.messages(own) if m.role == "user" and m.text)
            return next(found, None)
    return None


def _final_answer(span: SpanRecord) -> str | None:
    return answer_in(span.attributes.get("final_result"))


def _choices(span: SpanRecord, *, chosen: bool) -> list[Any]:
    listed = as_list(loaded(span.attributes.get(_EVENTS))) or ()
    found = (event for one in listed if (event := as_object(one)) is not None)
    return [event for event in found if (event.get("event.name") == "gen_ai.choice") == chosen]


def _requests(span: SpanRecord) -> tuple[Request, ...] | None:
    return messages.requests(_choices(span, chosen=True)) or None


def _answered(span: SpanRecord) -> tuple[Answer, ...] | None:
    return messages.answered([_with_id(event) for event in _choices(span, chosen=False)]) or None


def _with_id(event: Any) -> dict[str, Any]:
    found = dict(event)
    if found.get("role") == "tool" and "id" in found:
        found.setdefault("tool_call_id", found["id"])
    return found


PYDANTIC_AI: Final = Dialect(
    name="pydantic_ai",
    role=_role,
    marks=frozenset({*_MESSAGES, "final_result", "tool_arguments", "tool_response", _EVENTS}),
    agent_name=attribute("agent_name"),
    arguments=attribute("tool_arguments"),
    result=attribute("tool_response"),
    query=_query,
    final_answer=_final_answer,
    requests=_requests,
    answered=_answered,
)
