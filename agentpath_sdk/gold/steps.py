"""The steps of a gold file: short form, long form, and the records that programs write."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple, cast

from agentpath_sdk.gold.matchers import Exact
from agentpath_sdk.gold.model import ArgumentMatcher, CallStep
from agentpath_sdk.gold.notation import MATCHER_WORDS, Comparing, read_matcher
from agentpath_sdk.gold.schema import ComparingEntry, Problem, StepEntry, ToolEntry, closest, validated
from agentpath_sdk.gold.wording import found
from agentpath_sdk.gold.yaml_core import Loc

__all__ = ["GROUP_WORDS", "STEP_KEYS", "innermost", "read_record_steps", "read_steps"]

STEP_KEYS: Final = frozenset(StepEntry.model_fields)
GROUP_WORDS: Final = frozenset({"optional", "repeat", "any_order", "one_of", "parallel", "sequence", "steps"})
"""One-key mappings that mean a group of steps and no tool, so that files keep their meaning when groups are read."""

# Stands for a step with a problem; the file is refused, so nobody ever sees it.
_NO_STEP: Final = CallStep(tool="?")


class _Long(NamedTuple):
    """A step in its long form, and where its arguments stand in the file."""

    entry: Mapping[str, Any]
    arguments: Loc


def read_steps(
    raw: Sequence[Any], defaults: ComparingEntry, tools: Mapping[str, ToolEntry], loc: Loc, problems: list[Problem]
) -> tuple[CallStep, ...]:
    """Return the steps written by a person at ``loc``; what is wrong is added to ``problems``."""
    return tuple(_step(step, defaults, tools, (*loc, at), problems) for at, step in enumerate(raw))


def read_record_steps(raw: Sequence[Any], loc: Loc, problems: list[Problem]) -> tuple[CallStep, ...]:
    """Return the steps of a record, arguments meant as they stand: programs know nothing of matchers."""
    return tuple(_record_step(step, (*loc, at), problems) for at, step in enumerate(raw))


def innermost(outer: ComparingEntry, inner: ComparingEntry) -> ComparingEntry:
    """Return what the inner entry says, and the outer where the inner is silent."""
    said = {name: getattr(inner, name) for name in ComparingEntry.model_fields}
    return outer.model_copy(update={name: value for name, value in said.items() if value is not None})


def _step(
    raw: Any, defaults: ComparingEntry, tools: Mapping[str, ToolEntry], loc: Loc, problems: list[Problem]
) -> CallStep:
    long = _long_form(raw, loc, problems)
    entry = None if long is None else validated(StepEntry, long.entry, loc, problems, instead={"tool": "?"})
    if long is None or entry is None:
        return _NO_STEP
    how = innermost(defaults, entry)
    return CallStep(
        tool=entry.tool,
        arguments=_arguments(entry, how, long.arguments, problems),
        extra_arguments="allow" if how.argument_mode == "subset" else "forbid",
        tool_defaults={**tools.get(entry.tool, ToolEntry()).defaults, **(entry.tool_defaults or {})},
        must_succeed=how.must_succeed or False,
    )


def _arguments(
    entry: StepEntry, how: ComparingEntry, loc: Loc, problems: list[Problem]
) -> dict[str, ArgumentMatcher] | None:
    if entry.arguments is None:
        return None
    for word in MATCHER_WORDS & entry.arguments.keys():
        text = f"expected the names of arguments, found the matcher {word!r}"
        problems.append(Problem((*loc, word), text, f"'- {entry.tool}' alone leaves the arguments unchecked"))
    comparing = Comparing(
        fold_case=how.fold_case or False,
        coerce_numbers=how.coerce_numbers or False,
        abs_tolerance=how.abs_tolerance or 0.0,
        rel_tolerance=how.rel_tolerance or 0.0,
    )
    # Read in any mode: a mistake in arguments that are not compared today is one tomorrow.
    read = {key: read_matcher(value, comparing, (*loc, key), problems) for key, value in entry.arguments.items()}
    return None if how.argument_mode == "ignore" else read


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
        text = f"{tool!r} is a group of steps, which this version does not read"
        problems.append(Problem(at, text, f"for a tool of this name {in_long_form}"))
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
