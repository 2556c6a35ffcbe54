"""One expected call against one executed call: does it pass, and how near is it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, NamedTuple, TypeGuard, cast

from agentpath_sdk.gold.equality import similarity, values_equal
from agentpath_sdk.gold.model import ArgumentMatcher, Comparison
from agentpath_sdk.scoring.plan import Key, PlanStep
from agentpath_sdk.trajectories.model import ToolCall

__all__ = [
    "FAILED_OUTCOMES",
    "FULL",
    "MISMATCH",
    "UNKNOWN",
    "UNKNOWN_STATES",
    "Verdict",
    "compare",
    "compare_value",
    "given_arguments",
    "may_match",
]


class Verdict(NamedTuple):
    """Outcome for one pair whose tool is right."""

    passed: bool
    similarity: float


FULL: Final = Verdict(True, 1.0)
MISMATCH: Final = Verdict(False, 0.0)
# Told apart by identity: counts as nothing in the alignment, and makes what depends on it not evaluated.
UNKNOWN: Final = Verdict(False, 0.0)

UNKNOWN_STATES: Final = frozenset({"truncated", "not_captured", "redacted"})
"""States in which arguments cannot be compared; ``unparsed`` can be: it is no object, hence a mismatch."""
FAILED_OUTCOMES: Final = frozenset({"error", "cancelled", "interrupted", "abandoned"})

_MISSING: Final = object()


def may_match(step: PlanStep, call: ToolCall) -> bool:
    """Return whether a call of the right tool may stand for the step: it did not fail where it must succeed."""
    return not (step.must_succeed and call.outcome in FAILED_OUTCOMES)


def compare(step: PlanStep, call: ToolCall) -> Verdict:
    """Return how the call's arguments compare with the step's. Never raises."""
    if not step.checked:
        return FULL
    if call.arguments_state != "known":
        return UNKNOWN if call.arguments_state in UNKNOWN_STATES else MISMATCH
    try:
        return _compare_known(step, call.arguments)
    except Exception:
        # Somebody's own mapping, key or value raised while it was looked at.
        return MISMATCH


def _compare_known(step: PlanStep, arguments: Any) -> Verdict:
    if step.plain is not None and arguments == step.plain and _traps_agree(step, arguments):
        return FULL
    given = given_arguments(arguments)
    if given is None:
        return MISMATCH
    passed, total, union = True, 0.0, 0
    for key in step.keys:
        value = given.get(key[0], _MISSING)
        if key[3]:
            continue
        union += 1
        if value is _MISSING:
            value = step.defaults.get(key[0], _MISSING)
        if value is _MISSING:
            passed = False
            continue
        one_passed, near = _compare_argument(key, value)
        passed = passed and one_passed
        total += near
    foreign = foreign_arguments(step, given)
    union += len(foreign)
    return Verdict(passed and not foreign, total / union if union else 1.0)


def _traps_agree(step: PlanStep, arguments: Mapping[str, Any]) -> bool:
    return all((type(arguments[name]) is bool) is boolean for name, boolean in step.traps)


def _compare_argument(key: Key, value: Any) -> tuple[bool, float]:
    _, matcher, exact, _ = key
    if not exact:
        found = compare_value(matcher, value)
        return found.passed, found.similarity
    near = similarity(matcher.expected, value)
    return near == 1.0, near


def compare_value(matcher: ArgumentMatcher, value: Any) -> Comparison:
    """Return the matcher's word, its similarity within 0..1; one that raises does not match."""
    try:
        found = matcher(value)
    except Exception as error:
        return Comparison(passed=False, similarity=0.0, reason=f"the matcher failed with {type(error).__name__}")
    if 0.0 <= found.similarity <= 1.0:
        return found
    return Comparison(passed=found.passed, similarity=1.0 if found.passed else 0.0, reason=found.reason)


def foreign_arguments(step: PlanStep, given: Mapping[str, Any]) -> list[str]:
    """Return the names of arguments that the gold does not expect, tool defaults and ignored extras left out."""
    if step.allow_extra or not step.checked:
        return []
    named = {key[0] for key in step.keys}
    return [name for name, value in given.items() if name not in named and not _is_default(step, name, value)]


def _is_default(step: PlanStep, name: str, value: Any) -> bool:
    return name in step.defaults and values_equal(step.defaults[name], value)


def given_arguments(arguments: Any) -> Mapping[str, Any] | None:
    """Return the arguments as an object (None is an empty one, a JSON text of one is decoded), or None."""
    if arguments is None:
        return {}
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except (ValueError, RecursionError):
            return None
    return arguments if _is_mapping(arguments) else None


def _is_mapping(value: Any) -> TypeGuard[Mapping[str, Any]]:
    return isinstance(cast("object", value), Mapping)
