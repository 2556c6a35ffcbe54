"""``agentevals.trajectory_match``: four modes times four argument modes, with rules for single tools."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from cases import Adapter, Answer, Case, Step, calls, grouped
from comparers import by_keys, python_exact, python_subset, python_superset

from agentpath_sdk.scoring.presets import MatchMode, match_path
from agentpath_sdk.scoring.presets_calls import ArgumentRule, Arguments, Call, compare_call

__all__ = ["ADAPTERS"]

SWAPPED: Final = "agentevals-swapped-arguments"
GREEDY: Final = "agentevals-first-fit-pairing"

_MODES: Final[Mapping[str, MatchMode]] = {"unordered": "unordered", "subset": "subset", "superset": "superset"}
_RULES: Final[Mapping[str, ArgumentRule]] = {
    "exact": python_exact,
    "ignore": "ignore",
    "subset": python_subset,
    "superset": python_superset,
}
_TURNED: Final = {"subset": "superset", "superset": "subset"}


def _trajectory_match(case: Case) -> Answer:
    """Return the verdict; ``strict`` compares message by message, calls of one message in any order."""
    mode = case.settings["trajectory_match_mode"]
    if mode == "strict":
        return Answer(value=_strict(case), defects={GREEDY: lambda: _strict_first_fit(case)})
    run, gold = calls(case.actual, absent={}), calls(case.reference, absent={})
    rule, overrides = _rules(case.settings)
    turned, turned_overrides = _rules(case.settings, turn=mode in ("subset", "unordered"))
    return Answer(
        value=match_path(run, gold, mode=_MODES[mode], arguments=rule, overrides=overrides),
        defects={
            SWAPPED: lambda: _swapped(run, gold, mode, (rule, overrides), (turned, turned_overrides)),
            GREEDY: lambda: _first_fit(run, gold, mode, case.settings),
        },
    )


_Rules = tuple[ArgumentRule, Mapping[str, ArgumentRule]]


def _rules(settings: Mapping[str, Any], *, turn: bool = False) -> _Rules:
    """Return the rule for all tools and those for single ones; with ``turn``, subset and superset change places."""
    overrides = settings.get("tool_args_match_overrides") or {}
    rules = {tool: _rule(said, turn=turn) for tool, said in overrides.items() if said}
    return _rule(settings["tool_args_match_mode"], turn=turn), rules


def _rule(said: str | Sequence[str], *, turn: bool) -> ArgumentRule:
    if isinstance(said, str):
        return _RULES[_TURNED.get(said, said) if turn else said]
    return by_keys(said)


def _strict(case: Case) -> bool:
    rule, overrides = _rules(case.settings)

    def same_message(gold: Arguments, run: Arguments) -> float:
        ours, theirs = _inside(run), _inside(gold)
        return float(match_path(ours, theirs, mode="unordered", arguments=rule, overrides=overrides))

    return match_path(_messages(case.actual), _messages(case.reference), mode="exact", arguments=same_message)


def _messages(steps: Sequence[Step]) -> list[Call]:
    return [("message", {"calls": calls(group, absent={})}) for group in grouped(steps, "turn")]


def _inside(message: Arguments) -> list[Call]:
    return message["calls"] if message else []


def _swapped(run: Sequence[Call], gold: Sequence[Call], mode: str, straight: _Rules, turned: _Rules) -> bool:
    """Return the verdict where the sides of an argument comparison are mixed up whenever the run has to lie within."""
    if mode == "subset":
        return match_path(run, gold, mode="subset", arguments=turned[0], overrides=turned[1])
    above = match_path(run, gold, mode="superset", arguments=straight[0], overrides=straight[1])
    return above and match_path(run, gold, mode="subset", arguments=turned[0], overrides=turned[1])


def _first_fit(run: Sequence[Call], gold: Sequence[Call], mode: str, settings: Mapping[str, Any]) -> bool:
    """Return the verdict where each call takes the first that fits, sides mixed up as above."""
    rules = _rules(settings)
    within = _covers(run, gold, rules) if mode in ("superset", "unordered") else True
    return within and (_covers(gold, run, rules) if mode in ("subset", "unordered") else True)


def _covers(large: Sequence[Call], small: Sequence[Call], rules: _Rules) -> bool:
    free = list(large)
    for wanted in small:
        found = next((at for at, given in enumerate(free) if _passes(wanted, given, rules)), None)
        if found is None:
            return False
        del free[found]
    return True


def _passes(gold: Call, run: Call, rules: _Rules) -> bool:
    match = compare_call(gold, run, rules[1].get(gold[0], rules[0]))
    return match is not None and match.passed


def _strict_first_fit(case: Case) -> bool:
    rules = _rules(case.settings)
    ours, theirs = grouped(case.actual, "turn"), grouped(case.reference, "turn")
    if [len(group) for group in ours] != [len(group) for group in theirs]:
        return False
    return all(
        _taken_in_turn(calls(one, absent={}), calls(other, absent={}), rules)
        for one, other in zip(ours, theirs, strict=True)
    )


def _taken_in_turn(run: Sequence[Call], gold: Sequence[Call], rules: _Rules) -> bool:
    free = list(gold)
    for given in run:
        found = next((at for at, wanted in enumerate(free) if _passes(wanted, given, rules)), None)
        if found is None:
            return False
        del free[found]
    return True


ADAPTERS: Final[Mapping[str, Adapter]] = {"agentevals.trajectory_match": _trajectory_match}
