"""Plain lists and dicts told apart from anything else, in words that every type checker understands alike."""

from __future__ import annotations

from typing import Any, TypeGuard

__all__ = ["is_dict", "is_list"]


def is_list(value: Any) -> TypeGuard[list[Any]]:
    """Return whether ``value`` is a list."""
    return isinstance(value, list)


def is_dict(value: Any) -> TypeGuard[dict[str, Any]]:
    """Return whether ``value`` is a dict; its keys are taken for text."""
    return isinstance(value, dict)
