"""What a gold path accepts and a path rule asks for, in plain words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from agentpath_sdk.gold.expression import inner_steps
from agentpath_sdk.gold.matcher_words import describe_matcher, tolerance_words
from agentpath_sdk.gold.model import (
    AnswerCheck,
    AnyOrder,
    CallStep,
    GoldPath,
    OptionalStep,
    PathRule,
    Repeat,
    RuleKind,
    Step,
)
from agentpath_sdk.gold.model import OneOf as Branches
from agentpath_sdk.gold.wording import is_list, show

__all__ = ["describe", "describe_rule", "outline"]

_ANSWERS: Final[Mapping[str, str]] = {
    "exact": "is exactly",
    "normalised": "is, case and punctuation aside,",
    "number": "gives the number",
    "regex": "fits the pattern",
    "contains": "contains",
    "f1": "has nearly the words of",
    "semantic": "means about",
}


def describe(path: GoldPath) -> str:
    """Return what the path accepts, one fact a line."""
    return "\n".join(_lines(path))


def describe_rule(rule: PathRule) -> str:
    """Return the rule in plain words."""
    label = f"{rule.name}: " if rule.name else ""
    return f"{label}{_RULES[rule.kind](rule)}" + ("" if rule.severity == "warning" else f" ({rule.severity})")


def outline(path: GoldPath) -> str:
    """Return the tools of the path in a line: ``search > [open] > (a & b) > (c | d > e)``, optional ones in ``[]``."""
    ways = [" > ".join(map(_outlined, way)) or "no steps" for way in (path.steps, *path.alternatives)]
    return " | ".join(ways)


def _outlined(step: Step) -> str:
    match step:
        case CallStep():
            return step.tool
        case OptionalStep():
            return f"[{_outlined(step.step)}]"
        case Repeat():
            most = "" if step.most is None else str(step.most)
            inner = _outlined(step.step)
            plain = isinstance(step.step, CallStep) or inner[0] in "[("
            count = str(step.least) if step.least == step.most else f"{step.least}..{most}"
            return f"{inner if plain else f'({inner})'} x {count}"
        case AnyOrder() | Branches():
            sign = " | " if isinstance(step, Branches) else " & "
            return f"({sign.join(map(_outlined, inner_steps(step)))})"
        case _:
            return " > ".join(map(_outlined, step.steps))


def _lines(path: GoldPath) -> Iterator[str]:
    status = "" if path.status == "approved" else f", {path.status}: not used for scoring unless asked for"
    yield f"{path.id} (version {path.version}{status})"
    if path.description:
        yield path.description
    yield from _applies_to(path)
    yield from _way("Expects", path.steps)
    for way in path.alternatives:
        yield from _way("Or", way)
    if path.answer is not None:
        yield f"The goal is reached when the answer {_answer(path.answer)}."
    if path.candidates:
        yield f"Candidate answers: {', '.join(map(show, path.candidates))}."
    yield from _tools(path)
    yield from _judging(path)


def _applies_to(path: GoldPath) -> Iterator[str]:
    agent = "any agent" if path.agent is None else f"agent {path.agent}"
    if not path.queries and not path.templates:
        yield f"Applies to every run of {agent}."
        return
    yield f"Applies to runs of {agent} whose query is, or is nearly:"
    for query in path.queries:
        yield f"  - {query}"
    for template in path.templates:
        yield f"  - {template} (as it stands, with anything in the slots)"
    if path.slots:
        yield "Here " + ", ".join(f"{{{name}}} is {show(value)}" for name, value in path.slots.items()) + "."


def _way(word: str, steps: Sequence[Step]) -> Iterator[str]:
    if not steps:
        yield f"{word} no tool call at all."
        return
    yield f"{word} {f'{len(steps)} steps, in this order' if len(steps) > 1 else 'one step'}:"
    for number, step in enumerate(steps, 1):
        yield from _step_lines(str(number), step, "  ")


def _step_lines(number: str, step: Step, indent: str) -> Iterator[str]:
    words = ""
    while isinstance(step, OptionalStep | Repeat):
        words += "optional: " if isinstance(step, OptionalStep) else f"{_times(step)}: "
        step = step.step
    if isinstance(step, CallStep):
        yield from _call_lines(f"{indent}{number}. {words}", step, indent + "   ")
        return
    yield f"{indent}{number}. {words}{_group(step)}:"
    for at, member in enumerate(inner_steps(step), 1):
        yield from _step_lines(f"{number}.{at}", member, indent + "   ")


def _group(step: Step) -> str:
    match step:
        case AnyOrder():
            return "together, in one parallel group" if step.parallel else "in any order"
        case Branches():
            return "one of"
        case _:
            return "in this order"


def _times(step: Repeat) -> str:
    least, most = step.least, step.most
    if most is None:
        return {0: "any number of times", 1: "once or more"}.get(least, f"{least} times or more")
    if least == most:
        return f"exactly {least} {'time' if least == 1 else 'times'}"
    return f"up to {most} times" if least == 0 else f"{least} to {most} times"


def _call_lines(start: str, step: CallStep, indent: str) -> Iterator[str]:
    remarks: list[str] = []
    if step.arguments is None:
        remarks.append("arguments are not checked")
    elif not step.arguments:
        remarks.append("any arguments" if step.extra_arguments == "allow" else "without arguments")
    elif step.extra_arguments == "allow":
        remarks.append("further arguments are fine")
    if step.must_succeed:
        remarks.append("must succeed")
    yield f"{start}{step.tool}" + (f" ({', '.join(remarks)})" if remarks else "")
    for name, matcher in (step.arguments or {}).items():
        default = f" (the tool's default is {show(step.tool_defaults[name])})" if name in step.tool_defaults else ""
        yield f"{indent}{name}: {describe_matcher(matcher)}{default}"
    if step.result is not None:
        yield f"{indent}returns {describe_matcher(step.result)}"


def _tools(path: GoldPath) -> Iterator[str]:
    for effect, words in (("read", "only read"), ("write", "change something")):
        tools = [tool for tool, one in path.effects.items() if one == effect]
        if tools:
            yield f"Tools that {words}: {', '.join(tools)}."
    for extra in ("free", "charged"):
        tools = [tool for tool, one in path.extras.items() if one == extra]
        if tools:
            yield f"Extra calls of {', '.join(tools)} are {extra}."


def _answer(check: AnswerCheck) -> str:
    expected = " or ".join(map(show, check.expected)) if is_list(check.expected) else show(check.expected)
    unit = "" if check.unit is None else f" {check.unit}"
    least = "" if check.threshold is None else f" (at least {check.threshold:g})"
    tolerance = tolerance_words(check.abs_tolerance, check.rel_tolerance)
    return f"{_ANSWERS[check.matcher]} {expected}{unit}{tolerance}{least}"


def _judging(path: GoldPath) -> Iterator[str]:
    if path.weights is not None:
        yield "Weights: " + ", ".join(f"{metric} {weight:g}" for metric, weight in path.weights.items()) + "."
    if path.good_path is not None:
        yield f"A score of at least {path.good_path:g} is a good path."
    for metric, least in path.thresholds.items():
        yield f"'agentpath score' fails where {metric} is below {least:g}."
    if path.min_steps is not None:
        yield f"The shortest way has {path.min_steps} steps."


def _same_value_words(rule: PathRule) -> str:
    places = [f"{tool}.{argument}" for tool, argument in zip(rule.tools, rule.arguments, strict=False)]
    if len(places) == 1:
        return f"{places[0]} is the same in all calls"
    return f"{' and '.join(places[1:])} must be a value that {places[0]} had before"


def _result_words(rule: PathRule) -> str:
    matcher = rule.result
    return f"every result of {rule.tools[0]} is {'anything' if matcher is None else describe_matcher(matcher)}"


_RULES: Final[Mapping[RuleKind, Callable[[PathRule], str]]] = {
    "requires": lambda rule: f"{rule.tools[0]} needs {rule.tools[1]} before it",
    "never": lambda rule: f"{rule.tools[0]} is never called",
    "never_before": lambda rule: f"{rule.tools[0]} is never called before {rule.tools[1]}",
    "never_after": lambda rule: f"{rule.tools[0]} is never called after {rule.tools[1]}",
    "allowed": lambda rule: f"no other tools are called than {', '.join(rule.tools)}",
    "at_most": lambda rule: f"{rule.tools[0]} is called at most {rule.count} times",
    "at_least": lambda rule: f"{rule.tools[0]} is called at least {rule.count} times without an error",
    "same_value": _same_value_words,
    "result": _result_words,
}
