"""Lists and objects that a vocabulary spreads over many attributes: ``llm.output_messages.0.message.role``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

__all__ = ["gathered"]


def gathered(attributes: Mapping[str, Any], prefix: str) -> list[Any]:
    """Return the list that the attributes ``<prefix>.<number>.<path>`` spell, in order of their numbers."""
    found: dict[str, Any] = {}
    start = prefix + "."
    for name, value in attributes.items():
        if value is not None and name.startswith(start):
            _put(found, name[len(start) :].split("."), value)
    return [_listed(found[key]) for key in sorted(found, key=int)] if _is_list(found) else []


def _put(holder: dict[str, Any], path: list[str], value: Any) -> None:
    for step in path[:-1]:
        if not isinstance(holder.get(step), dict):
            holder[step] = {}
        holder = cast("dict[str, Any]", holder[step])
    holder.setdefault(path[-1], value)


def _is_list(fields: Mapping[str, Any]) -> bool:
    return bool(fields) and all(key.isdecimal() for key in fields)


def _listed(value: Any) -> Any:
    """Return nested dicts with those whose keys are all numbers turned into lists."""
    if not isinstance(value, dict):
        return value
    fields = cast("dict[str, Any]", value)
    if _is_list(fields):
        return [_listed(fields[key]) for key in sorted(fields, key=int)]
    return {key: _listed(item) for key, item in fields.items()}
