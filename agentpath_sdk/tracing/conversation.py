"""The conversation a run belongs to: kept in the OpenTelemetry Context, so that it goes where the context goes."""

from __future__ import annotations

from typing import Final

from opentelemetry import baggage
from opentelemetry import context as context_api
from opentelemetry.context import Context

from agentpath_sdk import semconv

__all__ = ["conversation_in", "with_conversation"]

# Not baggage: HTTP instrumentations send all baggage to every host called, model providers included. ``inject`` adds
# it to the carriers of calls between the application's own processes.
_KEY: Final = context_api.create_key("agentpath-conversation")


def conversation_in(context: Context) -> str | None:
    """Return the conversation id of ``context``, from ``use_conversation`` or from another process's baggage."""
    found = context.get(_KEY)
    if found is None:
        found = baggage.get_baggage(semconv.CONVERSATION_ID, context)
    return found if isinstance(found, str) else None


def with_conversation(conversation_id: str, context: Context | None = None) -> Context:
    """Return a context whose runs belong to ``conversation_id``."""
    return context_api.set_value(_KEY, conversation_id, context)
