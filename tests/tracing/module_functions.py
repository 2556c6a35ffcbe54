"""Decorated functions of a module, for tests that need an importable name."""

from __future__ import annotations

from agentpath_sdk.tracing import trace_agent, trace_tool

__all__ = ["Worker", "ask", "double"]


@trace_tool
def double(n: int) -> int:
    """Return twice ``n``."""
    return 2 * n


@trace_agent(name="asker")
def ask(question: str) -> str:
    """Return the question, doubled."""
    return f"{question}{double(2)}"


class Worker:
    """Has a traced method."""

    def __init__(self, factor: int) -> None:
        self.factor = factor

    @trace_tool
    def times(self, n: int) -> int:
        """Return ``n`` times the factor."""
        return n * self.factor
