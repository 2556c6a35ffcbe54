"""Path rules that cannot be kept together, and gold paths that cannot be kept with them."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Iterator, Sequence

from agentpath_sdk.gold.describing import describe_rule
from agentpath_sdk.gold.expression import placed_calls, ways
from agentpath_sdk.gold.indexes import agent_fits
from agentpath_sdk.gold.model import AnyOrder, CallStep, GoldPath, OneOf, OptionalStep, PathRule, Repeat, Step
from agentpath_sdk.gold.model import Sequence as InSequence
from agentpath_sdk.settings import ScoringSettings

__all__ = ["between_rules", "path_against_rules", "share_agent"]

_TERMINAL = ScoringSettings().terminal_tools


def between_rules(rules: Sequence[PathRule]) -> Iterator[tuple[PathRule, str]]:
    """Yield each rule that stands against an earlier one for the same agent, and how."""
    for at, rule in enumerate(rules):
        for other in rules[:at]:
            if share_agent(rule.agent, other.agent):
                message = _repeated(rule, other) or _conflict(rule, other) or _conflict(other, rule)
                if message:
                    yield rule, message


def path_against_rules(path: GoldPath, rules: Iterable[PathRule]) -> Iterator[str]:
    """Yield how every way of the path, or one of its calls, breaks a rule for its agent."""
    for rule in rules:
        if not share_agent(rule.agent, path.agent):
            continue
        if rule.kind in ("never", "allowed"):
            yield from _forbidden(path, rule)
        elif rule.kind == "at_most":
            least = min(_least_of(way, rule.tools[0]) for way in ways(path))
            if least > (rule.count or 0):
                yield f"takes {rule.tools[0]} {least} times, but the rule says: {describe_rule(rule)}"


def share_agent(one: str | None, other: str | None) -> bool:
    """Return whether a run may be of both agents, each a name, a glob, or None for any."""
    if one is None or other is None:
        return True
    return agent_fits(one, other) or agent_fits(other, one)


def _repeated(rule: PathRule, other: PathRule) -> str:
    same = (rule.kind, rule.tools, rule.arguments, rule.result) == (
        other.kind,
        other.tools,
        other.arguments,
        other.result,
    )
    if not same or rule.kind == "same_value":
        return "is there twice" if same else ""
    if rule.count == other.count:
        return "is there twice"
    return f"is there with {other.count} and with {rule.count}; only one of them decides"


def _conflict(one: PathRule, other: PathRule) -> str:
    """Return why the two cannot both be kept, or what can never happen; empty where they can."""
    tools = other.tools
    match one.kind, other.kind:
        case "never", "at_least" if _takes(one, tools[0]):
            return f"{tools[0]} must be called and must never be called"
        case "never", "requires" if _takes(one, tools[1]) and not _takes(one, tools[0]):
            return f"{tools[0]} needs {tools[1]}, which is never to be called, so it can never be called"
        case "never", "allowed" if any(_takes(one, tool) for tool in tools):
            return f"{one.tools[0]} is allowed and never to be called"
        case "allowed", "at_least" if not _allows(one, tools[0]):
            return f"{tools[0]} must be called and is not allowed"
        case "allowed", "requires" if _allows(one, tools[0]) and not _allows(one, tools[1]):
            return f"{tools[0]} needs {tools[1]}, which is not allowed, so it can never be called"
        case "at_most", "at_least" if one.tools == tools and (one.count or 0) < (other.count or 0):
            return f"{tools[0]} is to be called at most {one.count} and at least {other.count} times"
        case "requires", "requires" if one.tools == (tools[1], tools[0]):
            return f"{tools[0]} and {tools[1]} each need the other before them, so neither can ever be called"
        case "never_before", "requires" if one.tools == (tools[1], tools[0]):
            return f"{tools[0]} needs {tools[1]}, which is never to be called before it"
        case "never_after", "requires" if one.tools == tools:
            return f"{tools[0]} needs {tools[1]}, and is never to be called after it"
        case _:
            return ""


def _takes(rule: PathRule, tool: str) -> bool:
    return fnmatch.fnmatchcase(tool, rule.tools[0])


def _allows(rule: PathRule, tool: str) -> bool:
    return any(fnmatch.fnmatchcase(tool, pattern) for pattern in rule.tools)


def _forbidden(path: GoldPath, rule: PathRule) -> Iterator[str]:
    for place, call in placed_calls(path):
        forbidden = _takes(rule, call.tool) if rule.kind == "never" else not _allows(rule, call.tool)
        if forbidden and call.tool not in _TERMINAL:
            yield f"{place} is {call.tool}, but the rule says: {describe_rule(rule)}"


def _least_of(steps: Iterable[Step], tool: str) -> int:
    """Return how often the steps surely call the tool."""
    return sum(_least_in(step, tool) for step in steps)


def _least_in(step: Step, tool: str) -> int:
    match step:
        case CallStep():
            return int(fnmatch.fnmatchcase(step.tool, tool))
        case InSequence() | AnyOrder():
            return _least_of(step.steps, tool)
        case Repeat():
            return step.least * _least_in(step.step, tool)
        case OneOf():
            return min((_least_in(branch, tool) for branch in step.branches), default=0)
        case OptionalStep():
            return 0
