"""Span vocabularies, one small module each.

A span may speak several at once. For each fact the first vocabulary in ``DIALECTS`` that says it wins, the role of
the span included, so the order below is the written precedence: the exact and explicit before the guessed.
"""

from __future__ import annotations

from typing import Final

from agentpath_sdk.trajectories.dialects.dialect import Dialect, Role
from agentpath_sdk.trajectories.dialects.genai import GENAI
from agentpath_sdk.trajectories.span_record import SpanRecord

__all__ = ["DIALECTS", "spoken"]

DIALECTS: Final[tuple[Dialect, ...]] = (GENAI,)


def spoken(span: SpanRecord) -> tuple[Role, tuple[Dialect, ...]]:
    """Return what ``span`` is to a trajectory and the vocabularies it speaks, in order of precedence."""
    role: Role = "none"
    speakers: list[Dialect] = []
    for dialect in DIALECTS:
        if (found := dialect.role(span)) is not None:
            role = role if speakers else found
            speakers.append(dialect)
    return role, tuple(speakers)
