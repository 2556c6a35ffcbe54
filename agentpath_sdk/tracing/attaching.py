"""Making a Context current and taking it back, also when that happens in another task or thread."""

from __future__ import annotations

from contextvars import Token

from opentelemetry import context as context_api
from opentelemetry.context import Context

__all__ = ["attach", "detach"]

attach = context_api.attach


def detach(token: Token[Context]) -> None:
    """Undo an ``attach``. Where the current context is another one (a generator finalised elsewhere, a coroutine
    closed by the garbage collector) there is nothing to undo, and nothing to log as OpenTelemetry's detach does."""
    variable = getattr(token, "var", None)
    if variable is None:  # not OpenTelemetry's default way of keeping the context
        context_api.detach(token)
        return
    try:
        variable.reset(token)
    except (ValueError, RuntimeError):
        return
