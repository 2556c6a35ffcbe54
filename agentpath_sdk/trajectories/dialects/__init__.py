"""Span vocabularies, one small module each.

A span may speak several at once. For each fact the first vocabulary in ``BUILT_IN`` that says it wins, the role of the
span included, so the order below is the written precedence: what a framework says of itself and the special before
the general, the exact before the guessed. Vocabularies of others (entry points ``agentpath_dialects``) come first.
"""

from __future__ import annotations

from typing import Final

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
from agentpath_sdk.trajectories.dialects.pydantic_ai import PYDANTIC_AI
from agentpath_sdk.trajectories.dialects.traceloop import TRACELOOP
from agentpath_sdk.trajectories.dialects.vercel import VERCEL
from agentpath_sdk.trajectories.span_record import SpanRecord

__all__ = ["BUILT_IN", "spoken"]

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


def spoken(span: SpanRecord) -> tuple[Role, tuple[Dialect, ...]]:
    """Return what ``span`` is to a trajectory and the vocabularies it speaks, in order of precedence."""
    role: Role = "unsaid"
    speakers: list[Dialect] = []
    attributes = span.attributes
    for dialect in BUILT_IN:
        if dialect.marks and dialect.marks.isdisjoint(attributes):
            continue
        found = dialect.role(span)
        if found is not None:
            role = found if role == "unsaid" else role
            speakers.append(dialect)
    return ("none" if role == "unsaid" else role), tuple(speakers)
