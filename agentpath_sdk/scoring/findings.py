"""Findings and the first divergence, in words: made from the step diff when somebody asks for them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Final

from agentpath_sdk._guard import HEALTH
from agentpath_sdk.gold.rules import RuleResult
from agentpath_sdk.scoring.alignment import Pair
from agentpath_sdk.scoring.diff import diff_lines
from agentpath_sdk.scoring.executed import Run, read_any_run
from agentpath_sdk.scoring.pairs import FAILED_OUTCOMES
from agentpath_sdk.scoring.parallel import not_together
from agentpath_sdk.scoring.plan import Plan
from agentpath_sdk.scoring.reasons import argument_reasons, clean, outcome_words, shortened, well_formed
from agentpath_sdk.scoring.score import Alignment, Finding, Mode, Rendered, StepMatch
from agentpath_sdk.trajectories.model import ToolCall, Trajectory

__all__ = ["render", "render_without_gold"]

_MOST_CLAUSES: Final = 3
_LONGEST_MESSAGE: Final = 500
_KINDS: Final = {
    "wrong_arguments": "wrong_arguments",
    "wrong_tool": "wrong_tool",
    "missing": "missing_step",
    "extra": "extra_step",
    "misplaced": "misplaced_step",
    "failed": "failed_step",
}


def render(
    plan: Plan, trajectory: Trajectory, pairs: Sequence[Pair] | None, mode: Mode, broken: Sequence[RuleResult]
) -> Rendered:
    """Return findings and alignment; ``pairs`` None = the run follows the gold. Never raises.

    ``broken`` are the rules that the run broke.
    """
    try:
        run = read_any_run(plan, trajectory)
        given = [(at, at) for at in range(len(run.calls))] if pairs is None else pairs
        lines = diff_lines(run, given, name_misplaced=mode != "positional")
        words = [_words(run, trajectory, line) for line in lines]
        found = (
            *_findings(run, trajectory, lines, words),
            *not_together(run, given),
            *_rule_findings(trajectory, broken),
        )
        return found, _alignment(plan, lines, words)
    except Exception as error:
        HEALTH.fault("scoring.render", error)
        if HEALTH.raise_faults:
            raise
        return (), Alignment()


def render_without_gold(trajectory: Trajectory, broken: Sequence[RuleResult] = ()) -> Rendered:
    """Return the findings that need no gold path, and an empty alignment. Never raises."""
    try:
        found = (*_failures(trajectory, set()), *_repeats(trajectory, set()), *_endings(trajectory))
        return (*found, *_rule_findings(trajectory, broken)), Alignment()
    except Exception as error:
        HEALTH.fault("scoring.render", error)
        if HEALTH.raise_faults:
            raise
        return (), Alignment()


def _words(run: Run, trajectory: Trajectory, line: StepMatch) -> str:
    """Return the line as a sentence; empty for a match."""
    wanted, called = shortened(line.gold_tool or "", 80), shortened(line.run_tool or "", 80)
    where = "final answer" if line.run is None else f"step {line.run + 1}"
    if line.kind == "wrong_tool":
        text = f"{where}: {called} called, gold expects {wanted}"
    elif line.kind == "extra":
        text = f"{where}: {called} called, gold expects no such step here"
    elif line.kind == "missing":
        text = f"gold step {(line.gold or 0) + 1}: {wanted} was not called"
    elif line.kind == "misplaced":
        text = f"{where}: {called} called out of place, gold has it as its step {(line.gold or 0) + 1}"
    elif line.kind == "failed":
        text = f"{where}: {called} {_outcome(trajectory, line)}, gold says that it must succeed"
    elif line.kind == "wrong_arguments":
        text = f"{where}: {called} {_clauses(run, trajectory, line)}"
    else:
        return ""
    return shortened(clean(text), _LONGEST_MESSAGE)


def _outcome(trajectory: Trajectory, line: StepMatch) -> str:
    return outcome_words(trajectory.steps[line.run]) if line.run is not None else "failed"


def _clauses(run: Run, trajectory: Trajectory, line: StepMatch) -> str:
    if line.gold is None or line.run is None:
        return "called with other arguments"
    found = argument_reasons(run.plan.steps[line.gold], trajectory.steps[line.run])
    clauses = [one.clause for one in found[:_MOST_CLAUSES]]
    # "called with" once is enough.
    first, rest = clauses[0], [clause.removeprefix("called ") for clause in clauses[1:]]
    more = f", and {len(found) - _MOST_CLAUSES} more" if len(found) > _MOST_CLAUSES else ""
    return ", and ".join((first, *rest)) + more


def _alignment(plan: Plan, lines: Sequence[StepMatch], words: Sequence[str]) -> Alignment:
    several = plan.alternative is not None
    expansion = tuple(well_formed(step.tool) for step in plan.steps) if several else None
    first = _first_divergence(lines)
    if first is None:
        return Alignment(lines=tuple(lines), alternative=plan.alternative, expansion=expansion)
    return Alignment(
        lines=tuple(lines),
        alternative=plan.alternative,
        expansion=expansion,
        first_divergence="; ".join(filter(None, (words[first], _resynchronised(lines, first)))),
        first_divergence_kind=_value_free(lines[first]),
    )


def _first_divergence(lines: Sequence[StepMatch]) -> int | None:
    return next((at for at, line in enumerate(lines) if line.kind != "match"), None)


def _resynchronised(lines: Sequence[StepMatch], first: int) -> str | None:
    later = lines[first + 1 :]
    if not later:
        return None
    back = next((line for line in later if line.kind == "match"), None)
    if back is None:
        return "not resynchronised"
    return f"resynchronised at {'the final answer' if back.run is None else f'step {back.run + 1}'}"


def _value_free(line: StepMatch) -> str:
    kind = _KINDS[line.kind]
    if line.kind == "wrong_tool":
        text = f"{kind} {line.run_tool} instead of {line.gold_tool}"
    elif line.kind == "wrong_arguments":
        text = f"{kind} {line.gold_tool}({', '.join(sorted(line.reasons))})"
    else:
        text = f"{kind} {line.run_tool or line.gold_tool}"
    return shortened(clean(text), 200)


def _findings(
    run: Run, trajectory: Trajectory, lines: Sequence[StepMatch], words: Sequence[str]
) -> tuple[Finding, ...]:
    first = _first_divergence(lines)
    found: list[Finding] = []
    for at, line in enumerate(lines):
        if line.kind == "match" or (line.kind == "extra" and line.run_tool in run.plan.table.free):
            continue
        remarks = ("first divergence", _resynchronised(lines, at)) if at == first else ()
        found.append(
            Finding(
                kind=_KINDS[line.kind],
                message="; ".join(filter(None, (words[at], *remarks))),
                step=line.run,
                gold_step=line.gold,
                tool=line.run_tool or line.gold_tool,
            )
        )
    told = {line.run for line in lines if line.kind == "failed" and line.run is not None}
    wanted = {line.run for line in lines if line.kind in ("match", "wrong_arguments") and line.run is not None}
    found += _failures(trajectory, told)
    found += _repeats(trajectory, wanted)
    if len(run.letters) < len(run.plan.letters):
        found.append(_shorter(len(run.letters), len(run.plan.letters)))
    found += _endings(trajectory)
    return tuple(found)


def _rule_findings(trajectory: Trajectory, broken: Sequence[RuleResult]) -> Iterator[Finding]:
    for result in broken:
        step = result.steps[0] if result.steps else None
        yield Finding(
            kind=f"rule_{result.rule.kind}",
            message=shortened(clean(result.message), _LONGEST_MESSAGE),
            step=step,
            tool=None if step is None else well_formed(trajectory.steps[step].tool),
            severity=result.rule.severity,
        )


def _shorter(run: int, gold: int) -> Finding:
    return Finding(kind="incomplete", message=f"the run has {run} steps, the gold path {gold}")


def _failures(trajectory: Trajectory, told: set[int]) -> Iterator[Finding]:
    """Yield the steps that did not end well and are not told already."""
    for at, call in enumerate(trajectory.steps):
        if call.outcome in FAILED_OUTCOMES and at not in told:
            message = f"step {at + 1}: {shortened(call.tool, 80)} {outcome_words(call)}"
            yield Finding(
                kind="failed_step" if call.outcome == "error" else f"{call.outcome}_step",
                message=shortened(clean(message), _LONGEST_MESSAGE),
                step=at,
                tool=well_formed(call.tool),
            )


def _repeats(trajectory: Trajectory, wanted: set[int]) -> Iterator[Finding]:
    """Yield calls made before with the same arguments, unless the gold wants them or the one before failed."""
    seen: dict[int, int] = {}
    for at, call in enumerate(trajectory.steps):
        key = _call_key(call)
        if key is None:
            continue
        before = seen.get(key)
        seen[key] = at
        if before is None or at in wanted or trajectory.steps[before].outcome in FAILED_OUTCOMES:
            continue
        yield Finding(
            kind="repeated_call",
            message=shortened(clean(f"step {at + 1}: {call.tool} repeats step {before + 1}, arguments and all")),
            step=at,
            tool=well_formed(call.tool),
        )


def _call_key(call: ToolCall) -> int | None:
    if call.arguments_state != "known":
        return None
    try:
        arguments = call.arguments or {}
        return hash((call.tool, json.dumps(arguments, sort_keys=True)))
    except Exception:
        # What is no JSON value cannot be told to be equal.
        return None


def _endings(trajectory: Trajectory) -> Iterator[Finding]:
    if trajectory.stop_reason == "limit":
        yield Finding(kind="stopped_at_limit", message="the run was stopped by a limit")
    if trajectory.completeness == "presumed_incomplete":
        why = ", ".join(trajectory.incomplete_reasons) or "its end was not seen"
        yield Finding(kind="incomplete", message=shortened(f"the trace is presumed incomplete: {why}"))
