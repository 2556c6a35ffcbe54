"""The steps of a gold file: calls in short and long form, groups of steps, and the records that programs write."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, cast

from agentpath_sdk.gold.entries import (
    GROUPS,
    AnyOrderEntry,
    ComparingEntry,
    OneOfEntry,
    OptionalEntry,
    ParallelEntry,
    RepeatEntry,
    SequenceEntry,
    StepEntry,
    ToolEntry,
)
from agentpath_sdk.gold.expression import MAX_NESTING
from agentpath_sdk.gold.matchers import Exact
from agentpath_sdk.gold.model import AnyOrder, ArgumentMatcher, CallStep, OneOf, OptionalStep, Repeat, Step
from agentpath_sdk.gold.model import Sequence as InSequence
from agentpath_sdk.gold.notation import MATCHER_WORDS, Comparing, SlotNames, read_matcher
from agentpath_sdk.gold.result_matchers import InResult
from agentpath_sdk.gold.schema import Problem, closest, validated
from agentpath_sdk.gold.wording import found, is_list
from agentpath_sdk.gold.yaml_core import Loc

__all__ = ["GROUP_WORDS", "STEP_KEYS", "StepReader", "innermost", "read_record_steps"]

STEP_KEYS: Final = frozenset(StepEntry.model_fields)
GROUP_WORDS: Final = frozenset({*GROUPS, "steps"})
"""Keys that make a mapping a group of steps, and ``steps``, which many write for one."""

_GROUP_EXAMPLES: Final[Mapping[str, str]] = {
    "optional": "'optional: {search: {query: x}}'",
    "repeat": "'repeat: search' with 'min: 1' and 'max: 3' beside it",
    "any_order": "'any_order: [a, b]'",
    "parallel": "'any_order: [a, b]' with 'parallel: true' beside it, or 'parallel: [a, b]'",
    "one_of": "'one_of: [a, [b, c]]'",
    "sequence": "'sequence: [a, b]'",
}

# Stands for a step with a problem; the file is refused, so nobody ever sees it.
_NO_STEP: Final = CallStep(tool="?")


class _Long(NamedTuple):
    """A step in its long form, and where its arguments stand in the file."""

    entry: Mapping[str, Any]
    arguments: Loc


def read_record_steps(raw: Sequence[Any], loc: Loc, problems: list[Problem]) -> tuple[CallStep, ...]:
    """Return the steps of a record, arguments meant as they stand: programs know nothing of matchers."""
    return tuple(_record_step(step, (*loc, at), problems) for at, step in enumerate(raw))


def innermost(outer: ComparingEntry, inner: ComparingEntry) -> ComparingEntry:
    """Return what the inner entry says, and the outer where the inner is silent."""
    said = {name: getattr(inner, name) for name in ComparingEntry.model_fields}
    return outer.model_copy(update={name: value for name, value in said.items() if value is not None})


@dataclass(frozen=True, kw_only=True, slots=True)
class StepReader:
    """Reads the steps a person wrote; what is wrong is added to ``problems``."""

    defaults: ComparingEntry
    tools: Mapping[str, ToolEntry]
    problems: list[Problem]
    slots: SlotNames = field(default_factory=SlotNames)

    def steps(self, raw: Sequence[Any], loc: Loc) -> tuple[Step, ...]:
        """Return the steps of a list at ``loc``."""
        return tuple(self._step(step, (*loc, at), 0) for at, step in enumerate(raw))

    def _step(self, raw: Any, loc: Loc, depth: int) -> Step:
        word = _group_word(raw)
        if word is None:
            return self._call(raw, loc)
        if depth >= MAX_NESTING:
            self._wrong(loc, f"groups are nested deeper than {MAX_NESTING} levels")
            return _NO_STEP
        return self._group(word, cast("dict[str, Any]", raw), loc, depth + 1)

    def _member(self, raw: Any, loc: Loc, depth: int) -> Step:
        """Return a step, or a list of steps as a sequence; a list of one is that one."""
        if not is_list(raw):
            return self._step(raw, loc, depth)
        if not raw:
            self._wrong(loc, "expected a step or a list of steps, found an empty list", "see 'optional'")
            return _NO_STEP
        steps = tuple(self._step(step, (*loc, at), depth) for at, step in enumerate(raw))
        return steps[0] if len(steps) == 1 else InSequence(steps=steps)

    def _members(self, raw: Sequence[Any], loc: Loc, depth: int) -> tuple[Step, ...]:
        return tuple(self._member(member, (*loc, at), depth) for at, member in enumerate(raw))

    def _group(self, word: str, raw: dict[str, Any], loc: Loc, depth: int) -> Step:
        hint = _group_mistake(word, raw)
        if hint:
            self._wrong((*loc, word), f"{word!r} is a group of steps, found {found(raw[word])}", hint)
            return _NO_STEP
        entry = validated(GROUPS[word], raw, loc, self.problems, instead={word: ["?"]})
        inner = (*loc, word)
        match entry:
            case OptionalEntry():
                return OptionalStep(step=self._member(entry.optional, inner, depth))
            case RepeatEntry():
                return self._repeat(entry, loc, depth)
            case AnyOrderEntry():
                return AnyOrder(steps=self._members(entry.any_order, inner, depth), parallel=entry.parallel)
            case ParallelEntry():
                return AnyOrder(steps=self._members(entry.parallel, inner, depth), parallel=True)
            case OneOfEntry():
                return OneOf(branches=self._members(entry.one_of, inner, depth))
            case SequenceEntry():
                steps = enumerate(entry.sequence)
                return InSequence(steps=tuple(self._step(step, (*inner, at), depth) for at, step in steps))
            case _:
                return _NO_STEP

    def _repeat(self, entry: RepeatEntry, loc: Loc, depth: int) -> Step:
        if entry.max is not None and entry.max < entry.min:
            self._wrong((*loc, "max"), f"expected a number of at least {entry.min} ('min'), found number {entry.max}")
        step = self._member(entry.repeat, (*loc, "repeat"), depth)
        return Repeat(step=step, least=entry.min, most=entry.max)

    def _call(self, raw: Any, loc: Loc) -> CallStep:
        long = _long_form(raw, loc, self.problems)
        entry = None if long is None else validated(StepEntry, long.entry, loc, self.problems, instead={"tool": "?"})
        if long is None or entry is None:
            return _NO_STEP
        how = innermost(self.defaults, entry)
        tool = self.tools.get(entry.tool, ToolEntry())
        return CallStep(
            tool=entry.tool,
            arguments=self._arguments(entry, how, long.arguments),
            extra_arguments="allow" if how.argument_mode == "subset" else "forbid",
            tool_defaults={**tool.defaults, **(entry.tool_defaults or {})},
            must_succeed=how.must_succeed or False,
            result=None if entry.result is None else self._result(entry.result, how, (*loc, "result")),
        )

    def _arguments(self, entry: StepEntry, how: ComparingEntry, loc: Loc) -> dict[str, ArgumentMatcher] | None:
        if entry.arguments is None:
            return None
        for word in MATCHER_WORDS & entry.arguments.keys():
            text = f"expected the names of arguments, found the matcher {word!r}"
            self._wrong((*loc, word), text, f"'- {entry.tool}' alone leaves the arguments unchecked")
        # Read in any mode: a mistake in arguments that are not compared today is one tomorrow.
        read = {key: self._matcher(value, how, (*loc, key)) for key, value in entry.arguments.items()}
        return None if how.argument_mode == "ignore" else read

    def _result(self, raw: Any, how: ComparingEntry, loc: Loc) -> ArgumentMatcher:
        return InResult(matcher=self._matcher(raw, how, loc))

    def _matcher(self, raw: Any, how: ComparingEntry, loc: Loc) -> ArgumentMatcher:
        comparing = Comparing(
            fold_case=how.fold_case or False,
            coerce_numbers=how.coerce_numbers or False,
            abs_tolerance=how.abs_tolerance or 0.0,
            rel_tolerance=how.rel_tolerance or 0.0,
        )
        return read_matcher(raw, comparing, loc, self.problems, self.slots)

    def _wrong(self, loc: Loc, text: str, hint: str = "") -> None:
        self.problems.append(Problem(loc, text, hint))


def _group_word(raw: Any) -> str | None:
    """Return the key that makes a mapping a group, or None for a call."""
    if not isinstance(raw, dict) or "tool" in raw:
        return None
    return next((word for word in GROUPS if word in raw), None)


def _group_mistake(word: str, raw: Mapping[str, Any]) -> str:
    """Return how the group is written where its members are no members at all, else an empty text."""
    inner = raw[word]
    lists = word not in ("optional", "repeat")
    # A mapping is a step, and so a member; a group that takes several wants a list.
    plain = is_list(inner) or (not lists and isinstance(inner, str | dict))
    if plain and "steps" not in raw:
        return ""
    return f"write {_GROUP_EXAMPLES[word]}; a tool of this name is written 'tool: {word}'"


def _long_form(raw: Any, loc: Loc, problems: list[Problem]) -> _Long | None:
    if isinstance(raw, str):
        return _Long({"tool": raw}, loc)
    if not isinstance(raw, dict) or not raw:
        problems.append(
            Problem(loc, f"expected a step, found {found(raw)}", "write 'tool' or 'tool: {argument: value}'")
        )
        return None
    step = cast("dict[str, Any]", raw)
    if "tool" in step:
        return _Long(step, (*loc, "arguments"))
    names = [key for key in step if key not in STEP_KEYS]
    if len(names) != 1:
        problems.append(Problem(loc, *_no_tool(names)))
        return None
    return _short_form(step, names[0], loc, problems)


def _short_form(step: Mapping[str, Any], tool: str, loc: Loc, problems: list[Problem]) -> _Long | None:
    arguments, at = step[tool], (*loc, tool)
    in_long_form = f"write 'tool: {tool}' and 'arguments: {{...}}'"
    if tool in GROUP_WORDS:
        hint = f"steps in a row are written 'sequence: [a, b]'; for a tool of this name {in_long_form}"
        problems.append(Problem(at, f"{tool!r} is no step", hint))
    elif "arguments" in step:
        problems.append(Problem(at, f"tool {tool!r} in short form beside 'arguments'", in_long_form))
    elif arguments is not None and not isinstance(arguments, dict):
        near = closest(tool, STEP_KEYS)
        hint = near if near.startswith("did you mean") else f"write '{tool}: {{argument: value}}'"
        problems.append(Problem(at, f"expected the arguments of {tool!r} as a mapping, found {found(arguments)}", hint))
    else:
        options = {key: value for key, value in step.items() if key != tool}
        return _Long({"tool": tool, "arguments": arguments, **options}, at)
    return None


def _no_tool(names: list[str]) -> tuple[str, str]:
    if not names:
        return "a step without a tool", "write 'tool: name' beside the options"
    for name in names:
        hint = closest(name, STEP_KEYS)
        if hint.startswith("did you mean"):
            return f"unknown key {name!r} in a step", hint
    words = " and ".join(repr(name) for name in names[:3])
    return f"expected one tool in a step, found {words}", "each step is an item of the list, with its own '-'"


def _record_step(raw: Any, loc: Loc, problems: list[Problem]) -> CallStep:
    if isinstance(raw, str):
        return CallStep(tool=raw) if raw else _NO_STEP
    if not isinstance(raw, dict):
        problems.append(Problem(loc, f"expected a mapping with 'tool' and 'arguments', found {found(raw)}"))
        return _NO_STEP
    step = cast("dict[str, Any]", raw)
    entry = {key: step[key] for key in ("tool", "arguments") if key in step}
    if isinstance(entry.get("arguments"), str):
        entry["arguments"] = _decoded(entry["arguments"])
    read = validated(StepEntry, entry, loc, problems, instead={"tool": "?"})
    if read is None:
        return _NO_STEP
    arguments = read.arguments
    return CallStep(
        tool=read.tool,
        arguments=None if arguments is None else {key: Exact(expected=value) for key, value in arguments.items()},
    )


def _decoded(text: str) -> Any:
    """Return the object a JSON text of arguments holds, or the text: model APIs write arguments as text."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return cast("dict[str, Any]", value) if isinstance(value, dict) else text
