"""What people pass to ``configure()``, checked before anything is changed."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping
from typing import Any, TypeGuard

from agentpath_sdk.errors import ConfigurationError
from agentpath_sdk.gold.model import GoldPath
from agentpath_sdk.redaction import Rule

__all__ = ["check_provider", "check_word", "gold_sources", "rules"]


def check_word(name: str, value: object, known: Collection[object]) -> None:
    """Refuse a value that is none of ``known``.

    Raises:
        ConfigurationError: names what there is.
    """
    if not any(value is one or (isinstance(value, str) and value == one) for one in known):
        raise ConfigurationError(f"{name}={value!r}: there are {', '.join(map(str, known))}")


def check_provider(name: str, value: object, method: str) -> None:
    """Refuse a value other than None that has no ``method``.

    Raises:
        ConfigurationError: says what was found.
    """
    if value is not None and not callable(getattr(value, method, None)):
        raise ConfigurationError(f"{name}: {type(value).__name__} has no {method}(); give a provider of OpenTelemetry")


def rules(given: Any) -> list[Rule]:
    """Return the redaction rules in ``given``.

    Raises:
        ConfigurationError: it is no list of functions.
    """
    found: list[Any] = list(given) if _is_many(given) else [None]
    if not all(map(callable, found)):
        raise ConfigurationError("redact: give a list of functions, see agentpath_sdk.redaction.add_rule")
    return found


def gold_sources(given: Any) -> list[str | os.PathLike[str] | GoldPath]:
    """Return the files, folders and gold paths in ``given``: one of these or several.

    Raises:
        ConfigurationError: something in it is none of these.
    """
    if not _is_gold(given) and not _is_many(given):
        raise _no_gold(given)
    sources: list[Any] = [given] if _is_gold(given) else list(given)
    for source in sources:
        if source == "" or not _is_gold(source):
            raise _no_gold(source)
    return sources


def _is_gold(value: object) -> bool:
    return isinstance(value, str | os.PathLike | GoldPath)


def _is_many(value: object) -> TypeGuard[Iterable[Any]]:
    return isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping)


def _no_gold(found: object) -> ConfigurationError:
    what = repr(found) if isinstance(found, str | bytes | int | float | None) else type(found).__name__
    return ConfigurationError(f"gold: found {what}; give a file, a folder, a GoldPath, or a list of these")
