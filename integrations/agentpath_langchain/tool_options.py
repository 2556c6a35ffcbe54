"""Options a user gave for one tool (``trace_tool(tool, redact=...)``), found again by the events of its calls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final
from uuid import uuid4
from weakref import WeakValueDictionary

from agentpath_sdk.tracing.options import CallOptions

__all__ = ["METADATA_KEY", "ToolOptions", "options_named"]

METADATA_KEY: Final = "agentpath_tool"
"""In a tool's metadata, which every handler sees: an id only, since other tracers export the metadata."""


class ToolOptions:
    """Options with an id; held by the traced tool, and gone with it."""

    __slots__ = ("__weakref__", "id", "value")

    def __init__(self, value: CallOptions) -> None:
        self.value = value
        self.id = uuid4().hex
        _OPTIONS[self.id] = self


_OPTIONS: Final[WeakValueDictionary[str, ToolOptions]] = WeakValueDictionary()


def options_named(metadata: Mapping[str, Any] | None) -> CallOptions | None:
    """Return the options that a tool's metadata refers to, else None."""
    found = _OPTIONS.get(metadata.get(METADATA_KEY, "")) if metadata else None
    return None if found is None else found.value
