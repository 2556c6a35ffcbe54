"""Whether one call of the run is the call that the gold path expects, under one of the presets' argument modes.

The argument modes say how the run's arguments lie against the gold's: ``exact`` (the same, by the gold's own
matchers), ``ignore`` (not looked at), ``subset`` (the run's within the gold's: nothing foreign, some may be missing),
``superset`` (the gold's within the run's: nothing missing, more allowed).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, Literal, TypeAlias

from agentpath_sdk.gold.equality import values_equal
from agentpath_sdk.gold.matchers import Exact
from agentpath_sdk.gold.model import ArgumentMatcher, CallStep, Comparison
from agentpath_sdk.scoring.pairs import FAILED_OUTCOMES, UNKNOWN_STATES, compare_value, given_arguments
from agentpath_sdk.trajectories.model import ToolCall

__all__ = [
    "ArgumentComparer",
    "ArgumentMode",
    "ArgumentRule",
    "Arguments",
    "Call",
    "CallMatch",
    "CallTable",
    "GoldStep",
    "RunStep",
    "Unknown",
    "compare_call",
    "compare_calls",
    "tool_of",
]

Arguments: TypeAlias = Mapping[str, Any] | None
Call: TypeAlias = tuple[str, Arguments]
"""(tool, arguments). On the gold side None = not checked and ``{}`` = none expected; on the run side None = ``{}``."""

RunStep: TypeAlias = ToolCall | Call
GoldStep: TypeAlias = CallStep | Call

ArgumentMode: TypeAlias = Literal["exact", "ignore", "subset", "superset"]

ArgumentComparer: TypeAlias = Callable[[Arguments, Arguments], float]
"""Own rule: (gold's arguments, run's arguments) -> similarity in 0..1, where 1.0 alone is a match."""

ArgumentRule: TypeAlias = ArgumentMode | ArgumentComparer

Unknown: TypeAlias = Literal["match", "mismatch"]
"""What a call counts as whose arguments matter and are not known (cut, redacted, not captured)."""

_NOTHING: Final[Mapping[str, str]] = MappingProxyType({})
_NO_OBJECT: Final = "are no object"


@dataclass(frozen=True, slots=True)
class CallMatch:
    """How one run step compares with one gold step of the same tool."""

    passed: bool
    similarity: float
    """In 0..1; 0 as well where the step had to succeed and did not."""
    reasons: Mapping[str, str]
    """Argument name (or ``outcome``, ``arguments``) -> why not, in words."""
    unknown: bool = False
    """True = the run's arguments mattered and were not known."""


_MATCH: Final = CallMatch(True, 1.0, _NOTHING)


@dataclass(frozen=True, slots=True)
class CallTable:
    """Every gold step beside every run step."""

    gold: int
    """Number of gold steps."""
    run: int
    """Number of run steps."""
    matches: Sequence[Sequence[CallMatch | None]]
    """By gold step, then run step; None = another tool."""
    unknown: tuple[str, ...] = ()
    """The run steps whose arguments mattered and were not known, in words."""

    def passed(self, gold: int, run: int) -> bool:
        """Return whether the two are the same call."""
        match = self.matches[gold][run]
        return match is not None and match.passed

    def similarity(self, gold: int, run: int) -> float:
        """Return the similarity of the two, 0.0 for different tools."""
        match = self.matches[gold][run]
        return 0.0 if match is None else match.similarity

    def edges(self) -> list[list[int]]:
        """Return for each gold step the run steps that are the same call."""
        return [[at for at in range(self.run) if self.passed(row, at)] for row in range(self.gold)]

    def weights(self, *, graded: bool) -> list[list[float]]:
        """Return the similarities, or 1.0 for the same call and 0.0 for any other."""
        cell = self.similarity if graded else self.passed
        return [[float(cell(row, at)) for at in range(self.run)] for row in range(self.gold)]


def compare_calls(
    run: Sequence[RunStep],
    gold: Sequence[GoldStep],
    arguments: ArgumentRule,
    overrides: Mapping[str, ArgumentRule] | None = None,
    *,
    unknown: Unknown = "mismatch",
) -> CallTable:
    """Return the table of all comparisons; ``overrides`` gives single tools a rule of their own."""
    rules = overrides or {}
    matches = [[compare_call(one, other, rules.get(tool_of(one), arguments), unknown) for other in run] for one in gold]
    hidden = {at for line in matches for at, match in enumerate(line) if match is not None and match.unknown}
    words = tuple(f"step {at + 1}, {tool_of(run[at])}: arguments {_state(run[at])}" for at in sorted(hidden))
    return CallTable(len(gold), len(run), matches, words)


def _state(step: RunStep) -> str:
    return "known" if isinstance(step, tuple) else step.arguments_state.replace("_", " ")


def tool_of(step: GoldStep | RunStep) -> str:
    """Return the tool's name."""
    return step[0] if isinstance(step, tuple) else step.tool


def compare_call(gold: GoldStep, run: RunStep, rule: ArgumentRule, unknown: Unknown = "mismatch") -> CallMatch | None:
    """Return how ``run`` compares with ``gold``; None for two different tools. Total, as far as ``rule`` is."""
    if tool_of(gold) != tool_of(run):
        return None
    if (failure := _failure(gold, run)) is not None:
        return failure
    if rule == "ignore" or (not callable(rule) and _leaves_arguments_open(gold)):
        return _MATCH
    if isinstance(run, ToolCall) and run.arguments_state != "known":
        if run.arguments_state not in UNKNOWN_STATES:
            return CallMatch(False, 0.0, {"arguments": _NO_OBJECT})
        passed = unknown == "match"
        return CallMatch(passed, float(passed), {"arguments": f"are {_state(run)}"}, unknown=True)
    found = run[1] if isinstance(run, tuple) else run.arguments
    if callable(rule):
        return _by_comparer(gold, found, rule)
    given = given_arguments(found)
    return CallMatch(False, 0.0, {"arguments": _NO_OBJECT}) if given is None else _by_mode(gold, given, rule)


def _failure(gold: GoldStep, run: RunStep) -> CallMatch | None:
    """Return the mismatch of a step that had to succeed and did not, else None."""
    must_succeed = isinstance(gold, CallStep) and gold.must_succeed
    if not must_succeed or isinstance(run, tuple) or run.outcome not in FAILED_OUTCOMES:
        return None
    return CallMatch(False, 0.0, {"outcome": f"has to be ok, was {run.outcome}"})


def _leaves_arguments_open(gold: GoldStep) -> bool:
    return (gold[1] if isinstance(gold, tuple) else gold.arguments) is None


def _by_comparer(gold: GoldStep, given: Arguments, comparer: ArgumentComparer) -> CallMatch:
    value = min(1.0, max(0.0, float(comparer(_plain(gold), given))))
    return CallMatch(value == 1.0, value, _NOTHING if value == 1.0 else {"arguments": f"similarity {value:.3g}"})


def _plain(gold: GoldStep) -> Arguments:
    if isinstance(gold, tuple):
        return gold[1]
    return None if gold.arguments is None else {key: matcher.expected for key, matcher in gold.arguments.items()}


def _by_mode(gold: GoldStep, given: Mapping[str, Any], mode: ArgumentMode) -> CallMatch:
    step = gold if isinstance(gold, CallStep) else _as_step(gold)
    wanted = step.arguments or {}
    found = {key: _compare_key(matcher, key, given, step, mode) for key, matcher in wanted.items()}
    if mode != "superset" and step.extra_arguments == "forbid":
        extra = (key for key in given if key not in wanted)
        found.update((key, _EXTRA) for key in extra if not _is_default(step, key, given[key]))
    counted = {key: outcome for key, outcome in found.items() if outcome is not None}
    if not counted:
        return _MATCH
    share = sum(outcome.similarity for outcome in counted.values()) / len(counted)
    reasons = {key: outcome.reason or "differs" for key, outcome in counted.items() if not outcome.passed}
    return CallMatch(not reasons, min(1.0, max(0.0, share)), reasons)


def _compare_key(
    matcher: ArgumentMatcher, key: str, given: Mapping[str, Any], step: CallStep, mode: ArgumentMode
) -> Comparison | None:
    """Return the comparison of one expected argument; None where it leaves the union of keys."""
    if matcher.name == "ignore":
        return None
    if key in given:
        return compare_value(matcher, given[key])
    if key in step.tool_defaults and (by_default := compare_value(matcher, step.tool_defaults[key])).passed:
        return by_default
    return None if mode == "subset" else _MISSING


def _is_default(step: CallStep, key: str, value: Any) -> bool:
    return key in step.tool_defaults and values_equal(step.tool_defaults[key], value)


_EXTRA: Final = Comparison(passed=False, similarity=0.0, reason="is not expected")
_MISSING: Final = Comparison(passed=False, similarity=0.0, reason="is missing")


def _as_step(call: Call) -> CallStep:
    tool, arguments = call
    return CallStep(tool=tool, arguments={key: Exact(expected=value) for key, value in (arguments or {}).items()})
