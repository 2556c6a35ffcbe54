"""Span vocabularies, one small module each.

A span may speak several at once. For each fact the first vocabulary in ``BUILT_IN`` that says it wins, the role of the
span included, so the order below is the written precedence: what a framework says of itself and the special before
the general, the exact before the guessed. Vocabularies of others (entry points ``agentpath_dialects``) come first.
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import entry_points
from typing import Final

from agentpath_sdk._guard import HEALTH
from agentpath_sdk.trajectories.dialects.dialect import Dialect, Role
from agentpath_sdk.trajectories.dialects.genai import GENAI
from agentpath_sdk.trajectories.dialects.genai_events import GENAI_EVENTS
from agentpath_sdk.trajectories.dialects.genai_flat import GENAI_FLAT
from agentpath_sdk.trajectories.dialects.google_adk import GOOGLE_ADK
from agentpath_sdk.trajectories.dialects.haystack import HAYSTACK
from agentpath_sdk.trajectories.dialects.langfuse import LANGFUSE
from agentpath_sdk.trajectories.dialects.langsmith import LANGSMITH
from agentpath_sdk.trajectories.dialects.logfire import LOGFIRE
from agentpath_sdk.trajectories.dialects.mcp import MCP
from agentpath_sdk.trajectories.dialects.mlflow import MLFLOW
from agentpath_sdk.trajectories.dialects.openinference import OPENINFERENCE
from agentpath_sdk.trajectories.dialects.openlit import OPENLIT
from agentpath_sdk.trajectories.dialects.otel import OTEL
from agentpath_sdk.trajectories.dialects.pydantic_ai import PYDANTIC_AI
from agentpath_sdk.trajectories.dialects.traceloop import TRACELOOP
from agentpath_sdk.trajectories.dialects.vercel import VERCEL
from agentpath_sdk.trajectories.span_record import SpanRecord

__all__ = ["BUILT_IN", "active", "marks", "spoken"]

BUILT_IN: Final[tuple[Dialect, ...]] = (
    GOOGLE_ADK,
    OPENLIT,
    HAYSTACK,
    PYDANTIC_AI,
    MCP,
    VERCEL,
    TRACELOOP,
    GENAI,
    GENAI_EVENTS,
    LANGSMITH,
    GENAI_FLAT,
    OPENINFERENCE,
    LANGFUSE,
    MLFLOW,
    LOGFIRE,
)


_GROUP: Final = "agentpath_dialects"


@cache
def active() -> tuple[Dialect, ...]:
    """Return the vocabularies in order of precedence: those that other packages register, then the built-in ones.

    A package registers one by an entry point of group ``agentpath_dialects`` that is a ``Dialect``. One that cannot be
    loaded, or is none, is counted as a fault and left out.
    """
    found: list[Dialect] = []
    for entry in entry_points(group=_GROUP):
        try:
            loaded = entry.load()
            if not isinstance(loaded, Dialect):
                raise TypeError(f"{entry.value} is {type(loaded).__name__}, expected a Dialect")
            found.append(loaded)
        except Exception as error:
            HEALTH.fault("dialects.load", error)
    return (*found, *BUILT_IN)


@cache
def marks() -> frozenset[str]:
    """Return the attributes by which spans are known to speak any vocabulary: a span with none of them and without
    events says nothing (unless a vocabulary of another package asks for every span)."""
    return frozenset(mark for dialect in active() for mark in dialect.marks)


@cache
def _known() -> tuple[tuple[Dialect, ...], frozenset[str], bool]:
    """Return vocabularies, marks, and whether any but the one in span events wants to be asked without a mark."""
    dialects = active()
    return dialects, marks(), any(not dialect.marks and dialect is not GENAI_EVENTS for dialect in dialects)


def spoken(span: SpanRecord) -> tuple[Role, tuple[Dialect, ...]]:
    """Return what ``span`` is to a trajectory and the vocabularies it speaks, in order of precedence."""
    attributes = span.attributes
    dialects, known, unmarked = _known()
    if not unmarked and not span.events and known.isdisjoint(attributes):
        return "none", ()
    role: Role = "unsaid"
    speakers: list[Dialect] = []
    for dialect in dialects:
        if dialect.marks and dialect.marks.isdisjoint(attributes):
            continue
        found = _role_in(dialect, span)
        if found is not None:
            role = found if role == "unsaid" else role
            speakers.append(dialect)
    if speakers:
        speakers.append(OTEL)
    return ("none" if role == "unsaid" else role), tuple(speakers)


def _role_in(dialect: Dialect, span: SpanRecord) -> Role | None:
    try:
        return dialect.role(span)
    except Exception as error:
        HEALTH.fault(f"dialects.{dialect.name}", error)
        return None
