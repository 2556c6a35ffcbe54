"""Why arguments did not pass, in words: redacted, and shortened."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from agentpath_sdk._encode import encode
from agentpath_sdk.gold.model import ArgumentMatcher
from agentpath_sdk.redaction import redact, redact_text
from agentpath_sdk.scoring.pairs import (
    UNKNOWN_STATES,
    compare_value,
    foreign_arguments,
    given_arguments,
)
from agentpath_sdk.scoring.plan_steps import IGNORED, PlanStep
from agentpath_sdk.trajectories.model import ToolCall

__all__ = ["ArgumentReason", "argument_reasons", "clean", "outcome_words", "shortened", "well_formed"]

_SHOWN: Final = 100
_LONGEST: Final = 300
_MISSING: Final = object()


@dataclass(frozen=True, kw_only=True, slots=True)
class ArgumentReason:
    """Why one argument failed; ``argument`` is ``arguments`` where it is about all of them."""

    argument: str
    clause: str
    """For a sentence about the call: ``called with x = 2, gold expects 3``."""
    reason: str
    """For a line that names the argument itself: ``2, gold expects 3``."""


def argument_reasons(step: PlanStep, call: ToolCall) -> list[ArgumentReason]:
    """Return what is wrong with arguments and result of a call whose tool is right; empty where they pass."""
    return [*_wrong_arguments(step, call), *_wrong_result(step, call)]


def _wrong_arguments(step: PlanStep, call: ToolCall) -> list[ArgumentReason]:
    if not step.checked:
        return []
    if call.arguments_state != "known":
        return [_not_comparable(call)]
    given = given_arguments(call.arguments)
    if given is None:
        return [_not_comparable(call)]
    return [*_named(step, given), *(_foreign(name, given[name]) for name in foreign_arguments(step, given))]


def _wrong_result(step: PlanStep, call: ToolCall) -> Iterator[ArgumentReason]:
    if step.result is None:
        return
    if call.result_state != "known":
        words = f"result {call.result_state.replace('_', ' ')}"
        yield ArgumentReason(argument="result", clause=f"called with its {words}", reason=words)
        return
    found = compare_value(step.result, call.result)
    if not found.passed:
        actual, secret = _shown("result", call.result)
        wanted = _wanted("result", step.result, None if secret else found.reason)
        yield ArgumentReason(
            argument="result",
            clause=f"called with result {actual}, gold expects {wanted}",
            reason=f"{actual}, gold expects {wanted}",
        )


def outcome_words(call: ToolCall) -> str:
    """Return how the call ended, with the error's type and message where known."""
    error = call.error
    about = ": ".join(part for part in (error.type, error.message) if part) if error is not None else ""
    return f"ended with {call.outcome}" + (f" ({shortened(clean(about))})" if about else "")


def clean(text: str) -> str:
    """Return ``text`` without secrets and without lone surrogates, which no UTF-8 can hold."""
    return redact_text(well_formed(text))


def well_formed(text: str) -> str:
    """Return ``text`` with a question mark for each lone surrogate."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def shortened(text: str, limit: int = _LONGEST) -> str:
    """Return ``text`` in one line of at most ``limit`` characters."""
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def _not_comparable(call: ToolCall) -> ArgumentReason:
    if call.arguments_state in UNKNOWN_STATES:
        words = f"arguments {call.arguments_state.replace('_', ' ')}"
        return ArgumentReason(argument="arguments", clause=f"called with {words}", reason=words)
    raw = call.raw_arguments if call.raw_arguments is not None else call.arguments
    shown = _shown(None, raw)[0]
    return ArgumentReason(
        argument="arguments",
        clause=f"called with {shown}, gold expects an object of arguments",
        reason=f"{shown}, gold expects an object of arguments",
    )


def _named(step: PlanStep, given: Mapping[str, Any]) -> Iterator[ArgumentReason]:
    for name, matcher, kind, _, _ in step.keys:
        if kind == IGNORED:
            continue
        value = given.get(name, _MISSING)
        if value is _MISSING and name in step.defaults:
            value = step.defaults[name]
        if value is _MISSING:
            wanted = _wanted(name, matcher, None)
            yield ArgumentReason(
                argument=name,
                clause=f"called without {name}, gold expects {wanted}",
                reason=f"missing, gold expects {wanted}",
            )
            continue
        found = compare_value(matcher, value)
        if not found.passed:
            yield _wrong(name, matcher, value, found.reason)


def _wrong(name: str, matcher: ArgumentMatcher, value: Any, said: str | None) -> ArgumentReason:
    actual, secret = _shown(name, value)
    wanted = _wanted(name, matcher, None if secret else said)
    return ArgumentReason(
        argument=name,
        clause=f"called with {name} = {actual}, gold expects {wanted}",
        reason=f"{actual}, gold expects {wanted}",
    )


def _foreign(name: str, value: Any) -> ArgumentReason:
    actual, _ = _shown(name, value)
    return ArgumentReason(
        argument=name,
        clause=f"called with {name} = {actual}, which gold does not expect",
        reason=f"{actual}, which gold does not expect",
    )


def _wanted(name: str, matcher: ArgumentMatcher, said: str | None) -> str:
    """Return what the gold expects, in the matcher's own words where they can hold no secret."""
    expected, secret = _shown(name, matcher.expected)
    if matcher.name == "exact" or secret:
        return expected
    # Matchers say "expected WORDS, got VALUE"; the value is shown by us already.
    words = said if said is not None else compare_value(matcher, None).reason
    if words is None:
        return f"{matcher.name} {expected}"
    start, _, _ = words.rpartition(", got ")
    if start.startswith("expected "):
        return shortened(clean(start.removeprefix("expected ")), _SHOWN)
    return shortened(clean(f"{matcher.name} {expected} ({words})"), _LONGEST)


def _shown(name: str | None, value: Any) -> tuple[str, bool]:
    """Return ``value`` as short JSON without secrets, and whether there was one."""
    kept = {name or "": value}
    clean = redact(kept)
    if not isinstance(clean, dict):
        return str(clean), True
    (shown,) = cast("dict[str, Any]", clean).values()
    before, after = encode(value, _SHOWN * 100).text, encode(shown, _SHOWN * 100).text
    return encode(shown, _SHOWN).text, before != after
