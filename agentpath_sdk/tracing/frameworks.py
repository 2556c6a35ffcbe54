"""How an agent framework's integration announces itself to the decorators (entry-point group
``agentpath_integrations``); the core imports no integration by name."""

from __future__ import annotations

from collections.abc import Hashable
from contextlib import AbstractContextManager
from typing import Any, Protocol

__all__ = ["Integration"]


class Integration(Protocol):
    """One agent framework. The entry point names an object of this shape (or a callable without arguments
    that returns one); importing it must not import the framework: that happens on first use."""

    @property
    def name(self) -> str:
        """Short name, as the extra is called."""
        ...

    @property
    def module(self) -> str:
        """Top-level module of the framework; the integration is asked only once that is in ``sys.modules``."""
        ...

    def activate(self) -> AbstractContextManager[None]:
        """Make the framework report to the recorder in the current context; cheap and re-entrant.

        Entered at the start of every traced agent run."""
        ...

    def wrap_agent(self, obj: Any, options: Any) -> Any | None:
        """Return a traced stand-in for an agent object of this framework, else None."""
        ...

    def wrap_tool(self, obj: Any, options: Any) -> Any | None:
        """Return a traced stand-in for a tool object of this framework, else None."""
        ...

    def current_key(self) -> Hashable | None:
        """Return the recorder key of the framework's call that encloses the running code, else None.

        Lets a decorated function called inside a framework's tool find its true parent although no
        callback ever attaches an OpenTelemetry context."""
        ...
