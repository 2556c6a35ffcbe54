"""A gold path with slots becomes the path of one run: its matchers expect what the query says."""

from __future__ import annotations

import glob
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

import regex

from agentpath_sdk.gold.expression import all_calls
from agentpath_sdk.gold.matchers import Called, Contains, Exact, Fold, Fuzzy, Glob, ListOf, MappingOf, Regex
from agentpath_sdk.gold.matchers import OneOf as AnyMatcher
from agentpath_sdk.gold.model import (
    AnswerCheck,
    AnyOrder,
    ArgumentMatcher,
    CallStep,
    GoldPath,
    OneOf,
    OptionalStep,
    Repeat,
    Sequence,
    Step,
)
from agentpath_sdk.gold.result_matchers import AtPath, InResult
from agentpath_sdk.gold.semantic import Semantic
from agentpath_sdk.gold.slots import Slot, SlotText, filled, slot_names
from agentpath_sdk.gold.templates import fit
from agentpath_sdk.gold.wording import is_list

__all__ = ["bind", "bind_to_query", "has_slots"]


def bind(path: GoldPath, values: Mapping[str, str]) -> GoldPath:
    """Return a copy of the path whose matchers expect ``values`` in the places of its slots."""
    return replace(
        path,
        steps=_steps(path.steps, values),
        alternatives=tuple(_steps(way, values) for way in path.alternatives),
        answer=None if path.answer is None else _answer(path.answer, values),
        slots=dict(values),
    )


def bind_to_query(path: GoldPath, query: str | None) -> GoldPath | None:
    """Return the path as it is for a run of this query; None where its slots stay unknown.

    A path without templates, or bound already, is returned as it is.
    """
    if not path.templates or path.slots:
        return path
    for template in path.templates:
        values = fit(template, query or "")
        if values is not None:
            return bind(path, values)
    return None if has_slots(path) else path


def has_slots(path: GoldPath) -> bool:
    """Return whether anything the path expects depends on a slot that is not filled."""
    if not path.templates or path.slots:
        return False
    calls = (matcher for call in all_calls(path) for matcher in (*(call.arguments or {}).values(), call.result))
    return any(map(_has_slot, calls)) or _answer_has_slot(path)


def fill_matcher(matcher: ArgumentMatcher, values: Mapping[str, str]) -> ArgumentMatcher:
    """Return the matcher with its slots filled, itself where it has none."""
    match matcher:
        case Slot():
            return _filled(matcher.pattern, values)
        case AnyMatcher():
            return AnyMatcher(options=tuple(fill_matcher(option, values) for option in matcher.options))
        case ListOf():
            return ListOf(items=tuple(fill_matcher(item, values) for item in matcher.items))
        case MappingOf():
            return replace(matcher, items=_filled_items(matcher.items, values))
        case AtPath():
            return AtPath(items=_filled_items(matcher.items, values))
        case InResult():
            return InResult(matcher=fill_matcher(matcher.matcher, values))
        case _:
            return matcher


def _steps(steps: tuple[Step, ...], values: Mapping[str, str]) -> tuple[Step, ...]:
    return tuple(_step(step, values) for step in steps)


def _step(step: Step, values: Mapping[str, str]) -> Step:
    match step:
        case CallStep():
            arguments = None if step.arguments is None else _filled_items(step.arguments, values)
            result = None if step.result is None else fill_matcher(step.result, values)
            return replace(step, arguments=arguments, result=result)
        case OptionalStep() | Repeat():
            return replace(step, step=_step(step.step, values))
        case Sequence() | AnyOrder():
            return replace(step, steps=_steps(step.steps, values))
        case OneOf():
            return replace(step, branches=_steps(step.branches, values))


def _filled_items(items: Mapping[str, ArgumentMatcher], values: Mapping[str, str]) -> dict[str, ArgumentMatcher]:
    return {key: fill_matcher(matcher, values) for key, matcher in items.items()}


def _filled(pattern: ArgumentMatcher, values: Mapping[str, str]) -> ArgumentMatcher:
    """Return the matcher of a filled text; what came out of a query is compared without case."""
    match pattern:
        case Exact() | Fold():
            return SlotText(expected=filled(str(pattern.expected), values))
        case Fuzzy() | Semantic():
            return replace(pattern, expected=filled(pattern.expected, values))
        case Contains():
            return Contains(parts=tuple(_deep(part, values) for part in pattern.parts), fold_case=True)
        case Regex():
            literal = {name: f"(?i:{regex.escape(value)})" for name, value in values.items()}
            return Regex(expected=filled(pattern.expected, literal))
        case Glob():
            return Glob(expected=filled(pattern.expected, {name: glob.escape(v) for name, v in values.items()}))
        case Called():
            return replace(pattern, expected=_deep(pattern.expected, values))
        case _:
            return pattern


def _deep(value: Any, values: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return filled(value, values)
    if isinstance(value, dict):
        return {key: _deep(inner, values) for key, inner in cast("dict[str, Any]", value).items()}
    return [_deep(inner, values) for inner in value] if is_list(value) else value


def _answer(check: AnswerCheck, values: Mapping[str, str]) -> AnswerCheck:
    literal = {k: regex.escape(v) for k, v in values.items()} if check.matcher == "regex" else values
    return replace(check, expected=_deep(check.expected, literal))


def _answer_has_slot(path: GoldPath) -> bool:
    check = path.answer
    if check is None:
        return False
    texts = check.expected if is_list(check.expected) else [check.expected]
    known = {name for template in path.templates for name in slot_names(template)}
    return any(name in known for text in texts if isinstance(text, str) for name in slot_names(text))


def _has_slot(matcher: ArgumentMatcher | None) -> bool:
    match matcher:
        case Slot():
            return True
        case AnyMatcher():
            return any(map(_has_slot, matcher.options))
        case ListOf():
            return any(map(_has_slot, matcher.items))
        case MappingOf() | AtPath():
            return any(map(_has_slot, matcher.items.values()))
        case InResult():
            return _has_slot(matcher.matcher)
        case _:
            return False
