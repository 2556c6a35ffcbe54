"""One expected call made ready for comparison."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from agentpath_sdk.gold.equality import plain_equal_is_enough, plain_text
from agentpath_sdk.gold.model import ArgumentMatcher, CallStep
from agentpath_sdk.settings import ScoringSettings

__all__ = ["EXACT", "IGNORED", "MATCHER", "NUMBER", "TEXT", "Key", "PlanStep", "Traps", "compile_step"]


# How an argument is compared. Plain integers, as this is asked for each argument of each call.
TEXT: Final = 0
"""The default comparison with a text that has a folded form."""
NUMBER: Final = 1
"""The default comparison with a number other than NaN; a boolean is none."""
EXACT: Final = 2
"""The default comparison with any other value."""
MATCHER: Final = 3
IGNORED: Final = 4


Key: TypeAlias = tuple[str, ArgumentMatcher, int, Any, str]
"""Argument name, its matcher, how it is compared, the expected value, and its folded form where it is a TEXT."""


Traps: TypeAlias = tuple[tuple[str, bool], ...]
"""Arguments whose value is a boolean, 0 or 1: name, and whether it must be a boolean (``True == 1`` to Python)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PlanStep:
    """One expected call."""

    tool: str
    terminal: bool
    """Means the run's final answer, whose text is judged by the goal and not here."""
    checked: bool
    """Whether there is anything to check in the arguments."""
    must_succeed: bool
    keys: tuple[Key, ...]
    compared: int
    """How many of them are not ignored."""
    allow_extra: bool
    defaults: Mapping[str, Any]
    plain: dict[str, Any] | None
    """Arguments that pass in full when Python calls them equal and ``traps`` agree; None = there are no such."""
    traps: Traps
    uniform: bool
    """Whether exactly the calls with the ``plain`` arguments pass in full, or all calls where nothing is checked."""
    result: ArgumentMatcher | None = None
    """On what the call returned; compared like one more argument."""


def compile_step(step: CallStep, settings: ScoringSettings) -> PlanStep:
    """Return ``step`` ready for comparison."""
    terminal = step.tool in settings.terminal_tools
    keys = tuple(_key(name, matcher) for name, matcher in (step.arguments or {}).items())
    allow_extra = step.extra_arguments == "allow"
    nothing = allow_extra and all(key[2] == IGNORED for key in keys)
    checked = not terminal and step.arguments is not None and not nothing
    must_succeed = step.must_succeed and not terminal
    result = None if terminal else step.result
    plain, traps = _plain(keys)
    return PlanStep(
        tool=step.tool,
        terminal=terminal,
        checked=checked,
        must_succeed=must_succeed,
        keys=keys,
        compared=sum(key[2] != IGNORED for key in keys),
        allow_extra=allow_extra,
        defaults=step.tool_defaults,
        plain=plain if checked else None,
        traps=traps if checked and plain is not None else (),
        uniform=not must_succeed
        and result is None
        and (not checked or (plain is not None and not allow_extra and not step.tool_defaults)),
        result=result,
    )


def _key(name: str, matcher: ArgumentMatcher) -> Key:
    if matcher.name == "ignore":
        return name, matcher, IGNORED, None, ""
    if matcher.name != "exact":
        return name, matcher, MATCHER, None, ""
    value = matcher.expected
    if type(value) in (int, float) and value == value:
        return name, matcher, NUMBER, value, ""
    folded = plain_text(value) if type(value) is str else None
    return (name, matcher, EXACT, value, "") if folded is None else (name, matcher, TEXT, value, folded)


def _plain(keys: tuple[Key, ...]) -> tuple[dict[str, Any] | None, tuple[tuple[str, bool], ...]]:
    plain: dict[str, Any] = {}
    traps: list[tuple[str, bool]] = []
    for name, _, kind, value, _ in keys:
        if kind in (IGNORED, MATCHER):
            return None, ()
        if type(value) in (bool, int, float) and value in (0, 1):
            traps.append((name, type(value) is bool))
        elif not plain_equal_is_enough(value):
            return None, ()
        plain[name] = value
    return plain, tuple(traps)
