"""What the value and the options of a matcher in a gold file must be."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import regex

from agentpath_sdk.gold.wording import found, is_list, show

__all__ = ["Wrong", "a_flag", "a_list", "a_number", "a_pattern", "a_text", "a_threshold", "a_tolerance"]


class Wrong(Exception):
    """What is wrong with a matcher's value or option."""

    def __init__(self, problem: str, hint: str = "", at: str | None = None) -> None:
        self.problem, self.hint, self.at = problem, hint, at


def a_text(value: Any, at: str | None) -> str:
    """Return ``value`` if it is a text."""
    if not isinstance(value, str):
        raise Wrong(f"expected a text, found {found(value)}", at=at)
    return value


def a_number(value: Any, at: str) -> int | float:
    """Return ``value`` if it is a finite number."""
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float)
        or (type(value) is float and not math.isfinite(value))
    ):
        raise Wrong(f"expected a number, found {found(value)}", at=at)
    return value


def a_list(value: Any, at: str) -> Sequence[Any]:
    """Return ``value`` if it is a list."""
    if not is_list(value):
        raise Wrong(f"expected a list, found {found(value)}", at=at)
    return value


def a_pattern(value: Any, at: str) -> str:
    """Return ``value`` if it is a text that compiles as a pattern."""
    pattern = a_text(value, at)
    try:
        regex.compile(pattern)
    except (regex.error, ValueError, OverflowError, RecursionError) as error:
        raise Wrong(f"the pattern {show(pattern)} does not compile: {error}", at=at) from None
    return pattern


def a_tolerance(options: Mapping[str, Any], key: str, default: float) -> float:
    """Return the option ``key``: a number of at least 0."""
    value = a_number(options.get(key, default), key)
    if value < 0:
        raise Wrong(f"expected a number of at least 0, found {found(value)}", at=key)
    return value


def a_threshold(options: Mapping[str, Any], default: float) -> float:
    """Return the option ``threshold``: a share above 0."""
    value = a_number(options.get("threshold", default), "threshold")
    if not 0 < value <= 1:
        raise Wrong(f"expected a number above 0 and at most 1, found {found(value)}", at="threshold")
    return value


def a_flag(options: Mapping[str, Any], key: str, default: bool) -> bool:
    """Return the option ``key``: true or false."""
    value = options.get(key, default)
    if not isinstance(value, bool):
        raise Wrong(f"expected true or false, found {found(value)}", at=key)
    return value
