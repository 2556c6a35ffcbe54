"""WRITE: an agent's call becomes spans."""

from __future__ import annotations

from opentelemetry.trace import TracerProvider

from agentpath_sdk.settings import TracingSettings
from agentpath_sdk.tracing.context import (
    TracingExecutor,
    extract,
    inject,
    propagate,
    traced_thread,
    use_conversation,
    use_gold_path,
)
from agentpath_sdk.tracing.decorators import trace_agent, trace_step, trace_tool
from agentpath_sdk.tracing.outcomes import RunRef, current_run, record_outcome
from agentpath_sdk.tracing.recorder import get_recorder

__all__ = [
    "RunRef",
    "TracingExecutor",
    "configure_tracing",
    "current_run",
    "extract",
    "inject",
    "propagate",
    "record_outcome",
    "trace_agent",
    "trace_step",
    "trace_tool",
    "traced_thread",
    "use_conversation",
    "use_gold_path",
    "use_tracer_provider",
]


def configure_tracing(settings: TracingSettings) -> None:
    """Record by ``settings`` from the next call on."""
    get_recorder().settings = settings


def use_tracer_provider(provider: TracerProvider | None) -> None:
    """Take spans from ``provider``; None = the global provider of the moment. For tests and for ``configure``."""
    get_recorder().use_provider(provider)
