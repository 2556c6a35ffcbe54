"""How peers compare arguments, where that is not our way: each is an argument rule for the presets."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from agentpath_sdk.scoring.presets_calls import ArgumentComparer, Arguments

__all__ = [
    "by_keys",
    "by_text",
    "containing",
    "patterns",
    "plain_text",
    "python_exact",
    "python_subset",
    "python_superset",
    "share_of_keys",
    "share_of_texts",
    "sorted_json",
]


def python_exact(gold: Arguments, run: Arguments) -> float:
    """Python's own equality: true equals 1, texts are compared code point by code point."""
    return float(gold == run)


def python_subset(gold: Arguments, run: Arguments) -> float:
    """The run's arguments within the gold's."""
    return _within(run or {}, gold or {})


def python_superset(gold: Arguments, run: Arguments) -> float:
    """The gold's arguments within the run's; nothing is checked where the gold gives none."""
    return _within(gold or {}, run or {})


def _within(small: Mapping[str, Any], large: Mapping[str, Any]) -> float:
    return float(all(key in large and large[key] == value for key, value in small.items()))


def by_keys(paths: Sequence[str]) -> ArgumentComparer:
    """Only the values at these dotted paths, equal or missing on both sides."""

    def compare(gold: Arguments, run: Arguments) -> float:
        return float(all(_at(gold, path) == _at(run, path) for path in paths))

    return compare


def _at(arguments: Any, path: str) -> Any:
    for part in path.split("."):
        if not isinstance(arguments, dict):
            return None
        arguments = arguments.get(part)
        if arguments is None:
            return None
    return arguments


def by_text(text_of: Callable[[Any], str]) -> ArgumentComparer:
    """The same keys, and values whose texts are equal."""

    def compare(gold: Arguments, run: Arguments) -> float:
        expected, given = gold or {}, run or {}
        return float(
            expected.keys() == given.keys() and all(text_of(expected[key]) == text_of(given[key]) for key in expected)
        )

    return compare


def sorted_json(value: Any) -> str:
    """JSON with sorted keys: 1 and 1.0, 1 and true are different texts."""
    return json.dumps(value, sort_keys=True)


def plain_text(value: Any) -> str:
    """Texts as they are, objects and lists as sorted JSON, the rest as Python prints it: 1 and "1" are one text."""
    if isinstance(value, str):
        return value
    return json.dumps(value, sort_keys=True) if isinstance(value, dict | list) else str(value)


def share_of_texts(gold: Arguments, run: Arguments) -> float:
    """The share of the gold's arguments that the run gives with an equal text; more arguments cost nothing."""
    expected, given = gold or {}, run or {}
    if not expected:
        return float(not given)
    return sum(key in given and str(given[key]) == str(expected[key]) for key in expected) / len(expected)


def share_of_keys(gold: Arguments, run: Arguments) -> float:
    """The mean over the union of keys, objects inside graded the same way."""
    if gold == run:
        return 1.0
    expected, given = gold or {}, run or {}
    union = expected.keys() | given.keys()
    return (
        sum(_value_share(expected[key], given[key]) for key in expected if key in given) / len(union) if union else 0.0
    )


def _value_share(expected: Any, given: Any) -> float:
    if expected == given:
        return 1.0
    return share_of_keys(expected, given) if isinstance(expected, dict) and isinstance(given, dict) else 0.0


def patterns(gold: Arguments, run: Arguments) -> float:
    """The same keys, and each of the gold's values found in the run's as a regular expression."""
    expected, given = gold or {}, run or {}
    return float(expected.keys() == given.keys() and all(_found(expected[key], given[key]) for key in expected))


def _found(pattern: Any, text: Any) -> bool:
    try:
        return re.search(str(pattern), str(text)) is not None
    except re.error:
        return False


def containing(gold: Arguments, run: Arguments) -> float:
    """The gold's arguments anywhere inside the run's, objects and lists searched."""
    return float(_contained(gold or {}, run or {}))


def _contained(small: Any, large: Any) -> bool:
    if isinstance(small, dict):
        return isinstance(large, dict) and all(key in large and _contained(small[key], large[key]) for key in small)
    if isinstance(small, list):
        return isinstance(large, list) and all(any(_contained(one, other) for other in large) for one in small)
    return bool(small == large)
