"""Foreign values narrowed to the JSON shape they have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

__all__ = ["as_list", "as_object"]


def as_object(value: Any) -> Mapping[str, Any] | None:
    """Return ``value`` when it is a mapping, else None."""
    # The exact type first: an abstract class costs ten times as much to ask.
    if type(value) is dict or isinstance(value, Mapping):
        return cast("Mapping[str, Any]", value)
    return None


def as_list(value: Any) -> Sequence[Any] | None:
    """Return ``value`` when it is a sequence that is no text, else None."""
    if type(value) is list or type(value) is tuple:
        return cast("Sequence[Any]", value)
    if value is None or isinstance(value, str | bytes | bytearray) or not isinstance(value, Sequence):
        return None
    return cast("Sequence[Any]", value)  # type: ignore[redundant-cast]  # pyright sees Sequence[Unknown]
