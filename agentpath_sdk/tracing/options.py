"""What a user may say when tracing a function or an object."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from agentpath_sdk.redaction import is_secret_name

__all__ = ["CallOptions", "Pick"]

Pick: TypeAlias = "str | Callable[..., Any]"
"""An argument name, a dotted path (``request.text``, ``messages.0.content``), or a callable."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CallOptions:
    """Options of ``trace_agent`` and ``trace_tool``; an integration's ``wrap_*`` receives the same value."""

    name: str | None = None
    """Agent or tool name; None = the object's own name."""
    gold_path: str | None = None
    """Id of the gold path the run belongs to (agents only)."""
    query: Pick | None = None
    """Where the user's question is: argument name, dotted path from one, or a callable given the call's arguments."""
    answer: Pick | None = None
    """Where the final answer is in the result: dotted path, or a callable given the result."""
    description: str | None = None
    capture: bool | None = None
    """False = never record content of this call; None = as the settings say."""
    redact: frozenset[str] = frozenset()
    """Argument names whose values are always redacted."""
    keep: frozenset[str] = frozenset()
    """Argument names that look like secrets and are none (``token`` of a parser); their values are still searched."""

    def hides(self, name: str) -> bool:
        """Return whether the argument of this name is never shown."""
        return name in self.redact or (name not in self.keep and is_secret_name(name))
