"""Words for values and comparisons: what was found, what was expected."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias, TypeGuard

from agentpath_sdk.gold.model import Comparison

__all__ = ["PASSED", "TypeName", "failed", "found", "is_list", "joined", "json_text", "json_type", "show"]

TypeName: TypeAlias = Literal["text", "number", "integer", "boolean", "list", "mapping", "null"]

PASSED: Final = Comparison(passed=True, similarity=1.0)

_SHOWN: Final = 80
_REASONS: Final = 3


def show(value: Any) -> str:
    """Return ``value`` as JSON text of at most 80 characters, for reasons. Never raises."""
    text = json_text(value)
    shown = text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."
    # Half a character pair would make the reason impossible to send.
    return shown if shown.isascii() else shown.encode("utf-8", "backslashreplace").decode("utf-8")


def json_text(value: Any) -> str:
    """Return ``value`` as JSON text, foreign objects by the name of their type. Never raises."""
    try:
        return json.dumps(value, ensure_ascii=False, sort_keys=True, default=_type_name)
    except (TypeError, ValueError, RecursionError):
        return _type_name(value)


def found(value: Any) -> str:
    """Return ``value`` with its type where the text alone may mislead: ``text "3"``, ``number 3``, ``null``."""
    kind = json_type(value)
    if kind in ("null", "boolean"):
        return show(value)
    return f"{kind or 'value'} {show(value)}"


def json_type(value: Any) -> TypeName | None:
    """Return the JSON type of ``value`` by the name used in gold files, or None for a foreign object."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, str):
        return "text"
    if isinstance(value, Mapping):
        return "mapping"
    return "list" if isinstance(value, list | tuple) else None


def failed(expected: str, actual: Any, similarity: float, remark: str = "") -> Comparison:
    """Return a failed comparison that says what was expected, in words, and what came."""
    return Comparison(passed=False, similarity=similarity, reason=f"expected {expected}, got {found(actual)}{remark}")


def is_list(value: Any) -> TypeGuard[Sequence[Any]]:
    """Return whether ``value`` is a list (or a tuple, which JSON writes as one)."""
    return isinstance(value, list | tuple)


def joined(reasons: Sequence[str], similarity: float) -> Comparison:
    """Return passed where there are no reasons against it, else failed with the first few."""
    if not reasons:
        return Comparison(passed=True, similarity=similarity)
    more = f" (and {len(reasons) - _REASONS} more)" if len(reasons) > _REASONS else ""
    return Comparison(passed=False, similarity=similarity, reason="; ".join(reasons[:_REASONS]) + more)


def _type_name(value: Any) -> str:
    return f"<{type(value).__name__}>"
