"""Path rules: what every run of an agent must keep to, gold path or not.

What a rule forbids counts every call, failed ones too. What it demands counts calls that did not fail. Calls that were
asked for together (one parallel group) are neither before nor after each other.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final, TypeAlias, cast

from agentpath_sdk._guard import HEALTH
from agentpath_sdk.gold.equality import values_equal
from agentpath_sdk.gold.indexes import agent_fits
from agentpath_sdk.gold.model import PathRule, RuleKind
from agentpath_sdk.gold.result_matchers import structure
from agentpath_sdk.gold.wording import is_list, show
from agentpath_sdk.redaction import redact, redact_text
from agentpath_sdk.settings import ScoringSettings
from agentpath_sdk.trajectories.model import ToolCall, Trajectory

__all__ = ["IMMEDIATE", "RuleResult", "RuleWatch", "check_rules", "rules_passed", "violated_at_once"]

IMMEDIATE: Final[frozenset[RuleKind]] = frozenset(
    {"requires", "never", "never_before", "never_after", "allowed", "at_most", "same_value", "result"}
)
"""Kinds that are broken by a call, and so known while the run goes on; ``at_least`` is known at its end."""

_FAILED: Final = frozenset({"error", "cancelled", "interrupted", "abandoned"})
_MAX_EVIDENCE: Final = 20
# Values of one argument that are remembered; a run with more is not held against them.
_MAX_VALUES: Final = 200
_TERMINAL: Final = ScoringSettings().terminal_tools


@dataclass(frozen=True, kw_only=True, slots=True)
class RuleResult:
    """How one run stands to one rule."""

    rule: PathRule
    passed: bool | None
    """None: not evaluated, ``message`` says why."""
    steps: tuple[int, ...] = ()
    """Indices into ``Trajectory.steps`` of the calls that broke it, at most 20, the first first."""
    message: str = ""
    """In words, without secrets; empty where it passed."""


def check_rules(rules: Iterable[PathRule], trajectory: Trajectory) -> tuple[RuleResult, ...]:
    """Return how the run stands to each rule that is for its agent. Pure and total.

    Where calls are known to be missing, a rule that was broken stays broken; whether the others held is not known.
    """
    watch = RuleWatch(rules, agent=trajectory.agent)
    for call in trajectory.steps:
        watch.see(call)
    return watch.results(trajectory)


def rules_passed(results: Iterable[RuleResult]) -> float | None:
    """Return the share of evaluated rules that passed; None where none was evaluated."""
    verdicts = [result.passed for result in results if result.passed is not None]
    return sum(verdicts) / len(verdicts) if verdicts else None


def violated_at_once(rules: Iterable[PathRule], call: ToolCall, *, agent: str | None = None) -> tuple[RuleResult, ...]:
    """Return the rules that this call breaks by itself, whatever else the run did: for alerts on a single step."""
    alone = [rule for rule in rules if rule.kind in ("never", "allowed", "result") or rule.count == 0]
    return RuleWatch(alone, agent=agent).see(call)


class RuleWatch:
    """The rules of one run, told its calls one by one, in order. Bounded in memory; not shared between threads."""

    def __init__(self, rules: Iterable[PathRule], *, agent: str | None = None) -> None:
        self._watched = [_Watched(rule) for rule in rules if agent_fits(rule.agent, agent)]
        self._seen = 0

    def see(self, call: ToolCall) -> tuple[RuleResult, ...]:
        """Return the rules that are broken for the first time by this call."""
        at, self._seen = self._seen, self._seen + 1
        return tuple(_result(one) for one in self._watched if _sees(one, at, call))

    def results(self, trajectory: Trajectory) -> tuple[RuleResult, ...]:
        """Return how the whole run stands to each rule."""
        return tuple(_at_end(one, trajectory) for one in self._watched)


@dataclass(slots=True)
class _Watched:
    """One rule, and what of the run so far matters to it."""

    rule: PathRule
    steps: list[int] = field(default_factory=list[int])
    message: str = ""
    unknown: str = ""
    count: int = 0
    before: list[tuple[int, int | None]] = field(default_factory=list[tuple[int, "int | None"]])
    """Index and parallel group of the first call that others may not precede or follow, and the first outside it."""
    values: list[tuple[int, Any]] = field(default_factory=list[tuple[int, Any]])
    full: bool = False

    def broken(self, at: int, message: str, *earlier: int) -> None:
        """Note that the call at ``at`` breaks the rule."""
        if not self.message:
            self.message = redact_text(message)
            self.steps.extend(earlier)
        if len(self.steps) < _MAX_EVIDENCE:
            self.steps.append(at)

    def remember(self, at: int, call: ToolCall) -> None:
        """Keep the call as one that comes before later ones; two suffice to find one outside any group."""
        known = {group for _, group in self.before}
        if not self.before or (None not in known and call.parallel_group not in known and len(self.before) < 2):
            self.before.append((at, call.parallel_group))

    def earlier(self, call: ToolCall) -> int | None:
        """Return the index of a remembered call that was not asked for together with ``call``."""
        return next(
            (at for at, group in self.before if group is None or group != call.parallel_group),
            None,
        )


def _sees(one: _Watched, at: int, call: ToolCall) -> bool:
    """Return whether the call breaks the rule, which was not broken before."""
    was = bool(one.message)
    try:
        _SEE[one.rule.kind](one, at, call)
    except Exception as error:
        # A rule made by hand may lack its parts, a matcher of the application may raise.
        HEALTH.fault("gold.rule", error)
        one.unknown = one.unknown or f"the rule could not be checked: {type(error).__name__}"
    return bool(one.message) and not was


def _result(one: _Watched) -> RuleResult:
    if one.message:
        return RuleResult(rule=one.rule, passed=False, steps=tuple(one.steps), message=one.message)
    return RuleResult(rule=one.rule, passed=None if one.unknown else True, message=one.unknown)


def _at_end(one: _Watched, trajectory: Trajectory) -> RuleResult:
    incomplete = trajectory.completeness == "known_incomplete"
    if one.rule.kind == "at_least":
        return _counted(one, trajectory, incomplete)
    if incomplete and (not one.message or one.rule.kind == "requires"):
        return RuleResult(rule=one.rule, passed=None, message="calls of the run are missing")
    return _result(one)


def _counted(one: _Watched, trajectory: Trajectory, incomplete: bool) -> RuleResult:
    least, tool = one.rule.count or 1, one.rule.tools[0]
    if one.count >= least:
        return RuleResult(rule=one.rule, passed=True)
    if incomplete or trajectory.stop_reason in ("pending", "cancelled"):
        why = "calls of the run are missing" if incomplete else "the run did not come to its end"
        return RuleResult(rule=one.rule, passed=None, message=why)
    message = f"{tool} was called {_times(one.count)} without an error, at least {least} are needed"
    return RuleResult(rule=one.rule, passed=False, message=message)


# --- one function per kind ------------------------------------------------------------------------


def _requires(one: _Watched, at: int, call: ToolCall) -> None:
    tool, needed = one.rule.tools
    if _is(call, tool) and one.earlier(call) is None:
        one.broken(at, f"step {at + 1}: {call.tool} was called without {needed} before it")
    if _is(call, needed) and call.outcome not in _FAILED:
        one.remember(at, call)


def _never(one: _Watched, at: int, call: ToolCall) -> None:
    if _is(call, one.rule.tools[0]):
        one.broken(at, f"step {at + 1}: {call.tool} must never be called")


def _never_before(one: _Watched, at: int, call: ToolCall) -> None:
    tool, other = one.rule.tools
    earlier = one.earlier(call) if _is(call, other) else None
    if earlier is not None:
        one.broken(at, f"step {at + 1}: {call.tool} was called after {tool} (step {earlier + 1})", earlier)
    if _is(call, tool):
        one.remember(at, call)


def _never_after(one: _Watched, at: int, call: ToolCall) -> None:
    tool, other = one.rule.tools
    earlier = one.earlier(call) if _is(call, tool) else None
    if earlier is not None:
        one.broken(at, f"step {at + 1}: {call.tool} was called after {other} (step {earlier + 1})", earlier)
    if _is(call, other):
        one.remember(at, call)


def _allowed(one: _Watched, at: int, call: ToolCall) -> None:
    # The final answer is no tool, though some frameworks record it as one.
    if call.tool not in _TERMINAL and not any(_is(call, tool) for tool in one.rule.tools):
        one.broken(at, f"step {at + 1}: {call.tool} is not among the allowed tools")


def _at_most(one: _Watched, at: int, call: ToolCall) -> None:
    if _is(call, one.rule.tools[0]):
        one.count += 1
        most = one.rule.count or 0
        if one.count > most:
            words = f"was called more often than {_times(most)}" if most else "must not be called at all"
            one.broken(at, f"step {at + 1}: {call.tool} {words}")


def _at_least(one: _Watched, at: int, call: ToolCall) -> None:
    if _is(call, one.rule.tools[0]) and call.outcome not in _FAILED:
        one.count += 1


def _same_value(one: _Watched, at: int, call: ToolCall) -> None:
    rule = one.rule
    for number, (tool, argument) in enumerate(zip(rule.tools, rule.arguments, strict=True)):
        if not _is(call, tool):
            continue
        found = _value_of(call, argument)
        if found is _UNKNOWN:
            one.unknown = one.unknown or f"step {at + 1}: {call.tool}.{argument} is not known"
            # A value that others may repeat is not known: they can no longer be held against the ones that are.
            one.full = one.full or number == 0
            continue
        if number > 0 or len(rule.tools) == 1:
            _compare_value(one, at, call, argument, found)
        if number == 0 and found is not _MISSING:
            _keep_value(one, at, found)


def _compare_value(one: _Watched, at: int, call: ToolCall, argument: str, value: Any) -> None:
    alone_and_missing = value is _MISSING and len(one.rule.tools) == 1
    if not one.values or one.full or alone_and_missing or any(values_equal(known, value) for _, known in one.values):
        return
    first, known = one.values[0]
    tool, name = one.rule.tools[0], one.rule.arguments[0]
    says = f"{call.tool}.{argument} is {'missing' if value is _MISSING else _shown(argument, value)}"
    one.broken(at, f"step {at + 1}: {says}, {tool}.{name} was {_shown(name, known)} (step {first + 1})", first)


def _keep_value(one: _Watched, at: int, value: Any) -> None:
    # With a single tool the first value is the one that all others repeat.
    if len(one.rule.tools) == 1 and one.values:
        return
    if len(one.values) >= _MAX_VALUES:
        one.full = True
    else:
        one.values.append((at, value))


def _result_fits(one: _Watched, at: int, call: ToolCall) -> None:
    if one.rule.result is None or not _is(call, one.rule.tools[0]):
        return
    if call.outcome in _FAILED:
        one.broken(at, f"step {at + 1}: {call.tool} ended with {call.outcome} instead of a result")
    elif call.result_state != "known":
        one.unknown = one.unknown or f"step {at + 1}: the result of {call.tool} is {call.result_state}"
    else:
        comparison = one.rule.result(call.result)
        if not comparison.passed:
            # The reason shows the result, so it is taken from one without secrets.
            reason = one.rule.result(redact(call.result)).reason or "it holds a secret"
            one.broken(at, f"step {at + 1}: the result of {call.tool} does not fit: {reason}")


_See: TypeAlias = Callable[[_Watched, int, ToolCall], None]
_SEE: Final[Mapping[RuleKind, _See]] = {
    "requires": _requires,
    "never": _never,
    "never_before": _never_before,
    "never_after": _never_after,
    "allowed": _allowed,
    "at_most": _at_most,
    "at_least": _at_least,
    "same_value": _same_value,
    "result": _result_fits,
}


# Stand for a value that was not recorded, and for one that is not there.
_UNKNOWN: Final = object()
_MISSING: Final = object()


def _value_of(call: ToolCall, argument: str) -> Any:
    """Return the value under an argument's name, or its dotted path; ``$result`` starts inside the result."""
    if argument == "$result" or argument.startswith("$result."):
        if call.result_state != "known" or call.outcome in _FAILED:
            return _UNKNOWN
        return _walk(structure(call.result), argument.split(".")[1:])
    if call.arguments is None:
        return _UNKNOWN
    if argument in call.arguments:
        return call.arguments[argument]
    return _walk(call.arguments, argument.split("."))


def _walk(value: Any, parts: Sequence[str]) -> Any:
    """Return what is at the path, or ``_MISSING``."""
    for part in parts:
        if isinstance(value, Mapping):
            value = cast("Mapping[str, Any]", value).get(part, _MISSING)
        elif is_list(value) and part.isdecimal() and int(part) < len(value):
            value = value[int(part)]
        else:
            return _MISSING
    return value


def _shown(name: str, value: Any) -> str:
    """Return a value for a message, without secrets; the name tells of some."""
    key = name.rpartition(".")[2]
    plain = redact({key: value})
    return show(cast("dict[str, Any]", plain)[key] if isinstance(plain, dict) else plain)


def _is(call: ToolCall, pattern: str) -> bool:
    return call.tool == pattern or _glob_fits(pattern, call.tool)


@lru_cache(maxsize=8_192)
def _glob_fits(pattern: str, tool: str) -> bool:
    return fnmatch.fnmatchcase(tool, pattern)


def _times(count: int) -> str:
    return {0: "never", 1: "once", 2: "twice"}.get(count, f"{count} times")
