"""Foreign values narrowed to the JSON shape they have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

__all__ = ["as_list", "as_object"]


def as_object(value: Any) -> Mapping[str, Any] | None:
    """Return ``value`` when it is a mapping, else None."""
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else None


def as_list(value: Any) -> Sequence[Any] | None:
    """Return ``value`` when it is a sequence that is no text, else None."""
    if isinstance(value, str | bytes | bytearray) or not isinstance(value, Sequence):
        return None
    return cast("Sequence[Any]", value)  # type: ignore[redundant-cast]  # pyright sees Sequence[Unknown]
