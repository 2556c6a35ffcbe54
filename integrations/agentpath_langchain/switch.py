"""Where LangChain asks, at every call, whether this SDK wants to hear about it; imports no LangChain."""

from __future__ import annotations

import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final

import wrapt

if TYPE_CHECKING:
    from agentpath_langchain.handler import AgentPathCallbackHandler

__all__ = ["SWITCH", "Switch"]

_HOOKS_MODULE: Final = "langchain_core.tracers.context"
_LIFECYCLE_MODULE: Final = "langgraph.callbacks"


class Switch:
    """Read by LangChain like a context variable: its value is the shared handler, or None.

    On inside a traced agent run (this context only) and while the instrumentor is on (everywhere). LangChain offers
    no way to take a hook out again, so one hook is put in once and answers None when nobody listens.
    """

    def __init__(self) -> None:
        self._depth: ContextVar[int] = ContextVar("agentpath_langchain_active", default=0)
        self._lock = threading.Lock()
        self._hooked = False
        self._handler: AgentPathCallbackHandler | None = None
        self._hears_graphs = False
        self.everywhere = False
        """Set by the instrumentor."""

    def get(self) -> AgentPathCallbackHandler | None:
        """Return the shared handler if this context is to be heard, else None."""
        if self.everywhere or self._depth.get():
            return self.shared()
        return None

    @contextmanager
    def on(self) -> Generator[None]:
        """Listen in the current context."""
        self.hook()
        token = self._depth.set(self._depth.get() + 1)
        try:
            yield
        finally:
            # A generator closed from another context than it started in has nothing to undo there.
            with suppress(ValueError):
                self._depth.reset(token)

    def hook(self) -> None:
        """Have LangChain ask here, from the moment it is imported."""
        with self._lock:
            if self._hooked:
                return
            self._hooked = True
        wrapt.register_post_import_hook(self._install, _HOOKS_MODULE)

    def _install(self, module: Any) -> None:
        # Not by class: a handler that a tool or model has for itself is not passed on to what runs inside it, so ours
        # is put beside it. Two handlers that see the same call make one step.
        module.register_configure_hook(self, inheritable=True)

    def shared(self) -> AgentPathCallbackHandler:
        """Return the process-wide handler."""
        graphs = _LIFECYCLE_MODULE in sys.modules
        handler = self._handler
        if handler is None or (graphs and not self._hears_graphs):
            from agentpath_langchain.handler import AgentPathCallbackHandler

            # Two threads may each make one; they are doors to the same recorder, and the last stays.
            handler = self._handler = AgentPathCallbackHandler()
            self._hears_graphs = graphs
        return handler


SWITCH: Final = Switch()
