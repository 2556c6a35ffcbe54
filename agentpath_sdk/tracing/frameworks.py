"""How an agent framework's integration announces itself to the decorators (entry-point group
``agentpath_integrations``); the core imports no integration by name."""

from __future__ import annotations

import sys
from collections.abc import Hashable, Iterator
from contextlib import AbstractContextManager, ExitStack
from importlib.metadata import entry_points
from typing import Any, Final, Protocol, cast

from agentpath_sdk._guard import HEALTH, guard
from agentpath_sdk.tracing.recording import Outcome, StopReason

__all__ = ["Integration", "activate_all", "classify_error", "current_keys", "present", "wrapped_by_integration"]

_GROUP: Final = "agentpath_integrations"


class Integration(Protocol):
    """One agent framework. The entry point names an object of this shape (or a callable without arguments
    that returns one); importing it must not import the framework: that happens on first use."""

    @property
    def name(self) -> str:
        """Short name, as the extra is called."""
        ...

    @property
    def module(self) -> str:
        """Top-level module of the framework; the integration is asked only once that is in ``sys.modules``, but for
        ``activate``."""
        ...

    def activate(self) -> AbstractContextManager[None]:
        """Make the framework report to the recorder in the current context; cheap and re-entrant.

        Entered at the start of every traced agent run, also before the framework was ever imported: it must not import
        it, and must be effective once the run does."""
        ...

    def wrap_agent(self, obj: Any, options: Any) -> Any | None:
        """Return a traced stand-in for an agent object of this framework, else None.

        ``options`` is a ``tracing.options.CallOptions``."""
        ...

    def wrap_tool(self, obj: Any, options: Any) -> Any | None:
        """Return a traced stand-in for a tool object of this framework, else None.

        ``options`` is a ``tracing.options.CallOptions``."""
        ...

    def current_key(self) -> Hashable | None:
        """Return the recorder key of the framework's call that encloses the running code, else None.

        Lets a decorated function called inside a framework's tool find its true parent although no
        callback ever attaches an OpenTelemetry context."""
        ...

    def classify_error(self, error: BaseException) -> tuple[Outcome, StopReason | None] | None:
        """Return what an exception of this framework means (a pause is ``("interrupted", "pending")``, a hand-over
        ``("ok", None)``, a step limit ``("error", "limit")``), or None for any other exception. Optional."""
        ...


class _Integrations:
    """The installed integrations, loaded once; tests may put their own in."""

    def __init__(self) -> None:
        self._loaded: tuple[Integration, ...] | None = None

    def all(self) -> tuple[Integration, ...]:
        if self._loaded is None:
            self._loaded = tuple(_load())
        return self._loaded

    def replace(self, integrations: tuple[Integration, ...] | None) -> None:
        """Use ``integrations`` instead of the installed ones; None = load those again."""
        self._loaded = integrations


INTEGRATIONS: Final = _Integrations()


def _load() -> Iterator[Integration]:
    for entry in entry_points(group=_GROUP):
        try:
            found = entry.load()
            yield cast(Integration, found if hasattr(found, "wrap_agent") and not isinstance(found, type) else found())
        except Exception as error:
            HEALTH.fault(f"integration.{entry.name}", error)


def present() -> list[Integration]:
    """Return the integrations whose framework the application has imported."""
    return [one for one in INTEGRATIONS.all() if one.module in sys.modules]


def activate_all() -> ExitStack:
    """Enter ``activate()`` of every installed integration; a broken one is counted and left out."""
    stack = ExitStack()
    for integration in INTEGRATIONS.all():
        with guard(f"integration.{integration.name}"):
            stack.enter_context(integration.activate())
    return stack


def current_keys() -> list[Hashable]:
    """Return the key of each framework's call that encloses the running code."""
    keys: list[Hashable] = []
    for integration in INTEGRATIONS.all():
        if integration.module in sys.modules:
            try:
                key = integration.current_key()
            except Exception as error:
                HEALTH.fault(f"integration.{integration.name}", error)
                continue
            if key is not None:
                keys.append(key)
    return keys


def classify_error(error: BaseException) -> tuple[Outcome, StopReason | None] | None:
    """Return what the first framework that knows ``error`` says it means, else None."""
    for integration in present():
        with guard(f"integration.{integration.name}"):
            classify = getattr(integration, "classify_error", None)
            verdict = classify(error) if classify is not None else None
            if verdict is not None:
                return cast("tuple[Outcome, StopReason | None]", verdict)
    return None


def wrapped_by_integration(obj: Any, options: Any, *, as_agent: bool) -> Any | None:
    """Return the first stand-in a present integration offers for ``obj``, else None."""
    for integration in present():
        with guard(f"integration.{integration.name}"):
            stand_in = integration.wrap_agent(obj, options) if as_agent else integration.wrap_tool(obj, options)
            if stand_in is not None:
                return stand_in
    return None
