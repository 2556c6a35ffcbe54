"""A gold path made ready for scoring: compiled once per gold path and settings, used for every run."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from agentpath_sdk.gold.equality import plain_equal_is_enough
from agentpath_sdk.gold.model import ArgumentMatcher, CallStep, GoldPath
from agentpath_sdk.scoring.formulas import perfect
from agentpath_sdk.scoring.score import METRICS
from agentpath_sdk.settings import ScoringSettings

__all__ = ["UNKNOWN_TOOL", "Plan", "PlanStep", "plan_for"]

UNKNOWN_TOOL: Final = "\0"
"""Letter of every tool the gold path does not name."""
# Letters from 1 on; one past the last that is no surrogate is far beyond any gold path.
_FIRST_LETTER: Final = 1
_FIRST_SURROGATE: Final = 0xD800

_PART_NAMES: Final = frozenset(METRICS) - {"composite"}
_STRUCTURAL: Final = frozenset({"goal_success", "answer_exact", "answer_f1"})

Key: TypeAlias = tuple[str, ArgumentMatcher, bool, bool]
"""Argument name, its matcher, whether it is the default (exact) comparison, whether it is ignored."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PlanStep:
    """One expected call."""

    tool: str
    letter: str
    terminal: bool
    """Means the run's final answer, whose text is judged by the goal and not here."""
    checked: bool
    """Whether there is anything to check in the arguments."""
    must_succeed: bool
    keys: tuple[Key, ...]
    allow_extra: bool
    defaults: Mapping[str, Any]
    plain: dict[str, Any] | None
    """Arguments that pass in full when Python calls them equal and ``traps`` agree; None = there are no such."""
    traps: tuple[tuple[str, bool], ...]
    """Arguments whose value is a boolean, 0 or 1: name, and whether it must be a boolean (``True == 1`` to Python)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """A compiled linear gold path. Each tool is a letter, so that sequences of tools are strings."""

    gold: GoldPath
    settings: ScoringSettings
    steps: tuple[PlanStep, ...]
    letters: str
    letter_of: Mapping[str, str]
    """Tool -> letter. A terminal tool has the one terminal letter, or none where the gold has no terminal step."""
    terminal_letter: str
    """Empty where the gold has no terminal step."""
    groups: tuple[tuple[str, tuple[int, ...]], ...]
    """Letter and the gold steps that have it."""
    simple: bool
    """Whether each step is either unchecked or plain, and none must succeed."""
    wanted: tuple[dict[str, Any] | None, ...]
    """Per step its ``plain``; None where nothing is checked."""
    any_must_succeed: bool
    any_traps: bool
    min_steps: int
    perfect: dict[str, float]
    """Metrics of a run that follows the gold path exactly."""
    weights: tuple[tuple[str, float], ...]
    """Metric and weight of the composite's parts that apply, weights summing to 1."""
    weights_without_goal: tuple[tuple[str, float], ...] | None
    """The same without the goal, for runs whose goal nobody can tell; None where that makes no difference."""
    weights_problem: str | None
    """Why there can be no composite, else None."""
    good_path: float
    identity: tuple[str | None, str | None]
    """Gold path id and version."""


# Keyed by identity: gold paths hold mappings, so they have no hash. Each entry holds its gold path, so that the id
# stays its own, and there are at most this many.
_MOST_PLANS: Final = 4_096
_plans: dict[tuple[int, int], Plan] = {}


def plan_for(gold: GoldPath, settings: ScoringSettings) -> Plan:
    """Return the compiled gold path, from the cache where it was compiled before."""
    key = (id(gold), id(settings))
    plan = _plans.get(key)
    if plan is None:
        plan = _compile(gold, settings)
        if len(_plans) >= _MOST_PLANS:
            # All at once, since picking the oldest would need a lock, which a fork could leave locked.
            _plans.clear()
        _plans[key] = plan
    return plan


def _compile(gold: GoldPath, settings: ScoringSettings) -> Plan:
    letter_of = _letters(gold, settings)
    terminal = any(step.tool in settings.terminal_tools for step in gold.steps)
    steps = tuple(_compile_step(step, letter_of[step.tool], settings) for step in gold.steps)
    letters = "".join(step.letter for step in steps)
    weights, problem = _weights(gold, settings)
    min_steps = len(steps) if gold.min_steps is None else max(0, gold.min_steps)
    return Plan(
        gold=gold,
        settings=settings,
        steps=steps,
        letters=letters,
        letter_of=letter_of,
        terminal_letter=chr(_FIRST_LETTER) if terminal else "",
        groups=tuple((one, tuple(i for i, x in enumerate(letters) if x == one)) for one in dict.fromkeys(letters)),
        simple=all(not step.must_succeed and (step.plain is not None or not step.checked) for step in steps),
        wanted=tuple(step.plain if step.checked else None for step in steps),
        any_must_succeed=any(step.must_succeed for step in steps),
        any_traps=any(step.traps for step in steps),
        min_steps=min_steps,
        perfect=perfect(len(steps), min_steps),
        weights=weights,
        weights_without_goal=_without_goal(weights) if gold.answer is None else None,
        weights_problem=problem,
        good_path=settings.good_path if gold.good_path is None else gold.good_path,
        identity=(gold.id, gold.version),
    )


def _letters(gold: GoldPath, settings: ScoringSettings) -> dict[str, str]:
    terminal = any(step.tool in settings.terminal_tools for step in gold.steps)
    letter_of = dict.fromkeys(settings.terminal_tools, chr(_FIRST_LETTER) if terminal else "")
    free = iter(range(_FIRST_LETTER + 1, _FIRST_SURROGATE))
    for step in gold.steps:
        if step.tool not in letter_of:
            letter_of[step.tool] = chr(next(free))
    return letter_of


def _compile_step(step: CallStep, letter: str, settings: ScoringSettings) -> PlanStep:
    terminal = step.tool in settings.terminal_tools
    keys = tuple((name, m, m.name == "exact", m.name == "ignore") for name, m in (step.arguments or {}).items())
    allow_extra = step.extra_arguments == "allow"
    checked = not terminal and step.arguments is not None and not (allow_extra and all(key[3] for key in keys))
    plain, traps = _plain(keys)
    return PlanStep(
        tool=step.tool,
        letter=letter,
        terminal=terminal,
        checked=checked,
        must_succeed=step.must_succeed and not terminal,
        keys=keys,
        allow_extra=allow_extra,
        defaults=step.tool_defaults,
        plain=plain if checked else None,
        traps=traps if checked and plain is not None else (),
    )


def _plain(keys: tuple[Key, ...]) -> tuple[dict[str, Any] | None, tuple[tuple[str, bool], ...]]:
    plain: dict[str, Any] = {}
    traps: list[tuple[str, bool]] = []
    for name, matcher, exact, _ in keys:
        value = matcher.expected
        if not exact:
            return None, ()
        if type(value) in (bool, int, float) and value in (0, 1):
            traps.append((name, type(value) is bool))
        elif not plain_equal_is_enough(value):
            return None, ()
        plain[name] = value
    return plain, tuple(traps)


def _weights(gold: GoldPath, settings: ScoringSettings) -> tuple[tuple[tuple[str, float], ...], str | None]:
    """Return the weights that apply, scaled to the sum 1, or what is wrong with them."""
    given = settings.weights if gold.weights is None else gold.weights
    for name, weight in given.items():
        if name not in _PART_NAMES:
            return (), f"weights name an unknown metric {name!r}"
        if not (math.isfinite(weight) and weight >= 0):
            return (), f"the weight of {name} is {weight!r}, not a number of 0 or more"
    # Without an expected answer there is nothing these could measure, unless the application tells the goal itself.
    absent = _STRUCTURAL - {"goal_success"} if gold.answer is None else frozenset[str]()
    parts = {name: float(weight) for name, weight in given.items() if weight > 0 and name not in absent}
    total = sum(parts.values())
    if not parts or not math.isfinite(total):
        return (), "the weights that apply sum to nothing"
    return tuple((name, weight / total) for name, weight in parts.items()), None


def _without_goal(weights: tuple[tuple[str, float], ...]) -> tuple[tuple[str, float], ...] | None:
    rest = [(name, weight) for name, weight in weights if name != "goal_success"]
    total = sum(weight for _, weight in rest)
    return None if len(rest) == len(weights) else tuple((name, weight / total) for name, weight in rest)
