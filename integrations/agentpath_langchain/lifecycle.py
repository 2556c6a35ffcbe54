"""LangGraph's own lifecycle events: heard by subclasses of its handler class only, which need not be installed."""

from __future__ import annotations

import sys
from typing import Any, Final, TypeVar, cast

__all__ = ["graph_aware"]

_T = TypeVar("_T")

_COMBINED: Final[dict[tuple[Any, Any], Any]] = {}


def graph_aware(cls: type[_T]) -> type[_T]:
    """Return ``cls``, also derived from LangGraph's lifecycle handler if LangGraph has been imported."""
    lifecycle: Any = getattr(sys.modules.get("langgraph.callbacks"), "GraphCallbackHandler", None)
    if not isinstance(lifecycle, type) or issubclass(cls, lifecycle):
        return cls
    made = _COMBINED.get((cls, lifecycle))
    if made is None:
        body = {"__module__": cls.__module__, "__qualname__": cls.__qualname__, "__doc__": cls.__doc__}
        made = _COMBINED[cls, lifecycle] = type(cls.__name__, (cls, lifecycle), body)
    return cast("type[_T]", made)
