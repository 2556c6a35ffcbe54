"""One expected call against one executed call: does it pass, and how near is it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, TypeAlias, TypeGuard, cast

from agentpath_sdk.gold.equality import plain_text_similarity, similarity, values_equal
from agentpath_sdk.gold.model import ArgumentMatcher, Comparison
from agentpath_sdk.scoring.plan_steps import EXACT, IGNORED, MATCHER, NUMBER, TEXT, PlanStep, Traps
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
    "differs",
    "foreign_arguments",
    "given_arguments",
    "may_match",
    "traps_agree",
]


Verdict: TypeAlias = tuple[bool, float]
"""Outcome for one pair whose tool is right: whether all arguments pass, and their similarity in 0..1."""

FULL: Final[Verdict] = (True, 1.0)
MISMATCH: Final[Verdict] = (False, 0.0)
# Told apart by identity, hence computed: equal constants may be one object. Counts as nothing in the alignment, and
# makes what depends on it not evaluated.
UNKNOWN: Final[Verdict] = (bool(MISMATCH[1]), 0.0)

UNKNOWN_STATES: Final = frozenset({"truncated", "not_captured", "redacted"})
"""States in which arguments cannot be compared; ``unparsed`` can be: it is no object, hence a mismatch."""
FAILED_OUTCOMES: Final = frozenset({"error", "cancelled", "interrupted", "abandoned"})

_MISSING: Final = object()


def may_match(step: PlanStep, call: ToolCall) -> bool:
    """Return whether a call of the right tool may stand for the step: it did not fail where it must succeed."""
    return not (step.must_succeed and call.outcome in FAILED_OUTCOMES)


def compare(step: PlanStep, call: ToolCall) -> Verdict:
    """Return how the call's arguments, and result where the step has a matcher for it, compare. Never raises."""
    if step.result is not None:
        return _compare_with_result(step, step.result, call)
    if not step.checked:
        return FULL
    if call.arguments_state != "known":
        return UNKNOWN if call.arguments_state in UNKNOWN_STATES else MISMATCH
    passed, total, union = _compare_known(step, call.arguments)
    return passed, total / union if union else 1.0


def _compare_with_result(step: PlanStep, matcher: ArgumentMatcher, call: ToolCall) -> Verdict:
    """Return the verdict with the result as one more argument."""
    passed, total, union = True, 0.0, 0
    if step.checked:
        if call.arguments_state in UNKNOWN_STATES:
            return UNKNOWN
        passed, total, union = False, 0.0, step.compared
        if call.arguments_state == "known":
            passed, total, union = _compare_known(step, call.arguments)
    if call.result_state != "known":
        return UNKNOWN
    found = compare_value(matcher, call.result)
    return passed and found.passed, (total + found.similarity) / (union + 1)


def differs(step: PlanStep, call: ToolCall) -> bool:
    """Return whether the arguments surely are not equal; False may only mean that it takes a closer look."""
    if step.plain is None or type(call.arguments) is not dict:
        return False
    arguments = cast("dict[str, Any]", call.arguments)
    for name, _, kind, expected, _ in step.keys:
        value = arguments.get(name)
        if kind == TEXT:
            # Two texts within ASCII, the expected one no JSON object.
            if type(value) is str and value != expected and value.isascii():
                return True
        elif kind == NUMBER and (type(value) is int or type(value) is float) and value != expected:
            return True
    return False


def _compare_known(step: PlanStep, arguments: Any) -> tuple[bool, float, int]:
    """Return whether all arguments pass, the sum of their similarities, and how many there are on either side."""
    try:
        return _compare_arguments(step, arguments)
    except Exception:
        # Somebody's own mapping, key or value raised while it was looked at.
        return False, 0.0, 1


def _compare_arguments(step: PlanStep, arguments: Any) -> tuple[bool, float, int]:
    given: Mapping[str, Any] | None
    # The exact type first: asking whether something is a Mapping takes longer than all the rest.
    given = cast("dict[str, Any]", arguments) if type(arguments) is dict else given_arguments(arguments)
    if given is None:
        return False, 0.0, 1
    passed, total, named = True, 0.0, 0
    for name, matcher, kind, expected, folded in step.keys:
        value = given.get(name, _MISSING)
        if kind < EXACT and value == expected and type(value) is not bool:
            # The most frequent case first.
            named += 1
            total += 1.0
            continue
        if value is not _MISSING:
            named += 1
        elif kind != IGNORED and name in step.defaults:
            value = step.defaults[name]
        if kind == IGNORED:
            continue
        if value is _MISSING:
            passed = False
        elif kind < EXACT and value == expected and type(value) is not bool:
            total += 1.0
        elif kind == MATCHER:
            found = compare_value(matcher, value)
            passed = passed and found.passed
            total += found.similarity
        else:
            near = plain_text_similarity(folded, value) if kind == TEXT and type(value) is str else None
            if near is None:
                near = similarity(expected, value)
            passed = passed and near == 1.0
            total += near
    union = step.compared
    if len(given) > named:
        foreign = len(foreign_arguments(step, given))
        union += foreign
        passed = passed and not foreign
    return passed, total, union


def traps_agree(traps: Traps, arguments: Mapping[str, Any]) -> bool:
    """Return whether booleans, zeros and ones are so on both sides, Python calling the arguments equal."""
    return all((type(arguments[name]) is bool) is boolean for name, boolean in traps)


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
