"""WRITE: an agent's call becomes spans."""

from __future__ import annotations

from opentelemetry.trace import TracerProvider

from agentpath_sdk.settings import TracingSettings
from agentpath_sdk.tracing.recorder import get_recorder

__all__ = ["configure_tracing", "use_tracer_provider"]


def configure_tracing(settings: TracingSettings) -> None:
    """Record by ``settings`` from the next call on."""
    get_recorder().settings = settings


def use_tracer_provider(provider: TracerProvider | None) -> None:
    """Take spans from ``provider``; None = the global provider of the moment. For tests and for ``configure``."""
    get_recorder().use_provider(provider)
