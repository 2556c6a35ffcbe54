"""The recorded cases: what truly happened, and what the reader makes of the spans."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from agentpath_sdk.trajectories.files import read_spans, read_trajectories
from agentpath_sdk.trajectories.model import ToolCall, Trajectory
from agentpath_sdk.trajectories.span_record import SpanRecord
from agentpath_sdk.trajectories.whole_run import all_steps

DATA = Path(__file__).parents[1] / "data" / "spans"
TRUTH: dict[str, dict[str, Any]] = json.loads(gzip.decompress((DATA / "truth.json.gz").read_bytes()))
CASES = sorted(TRUTH)
PAIRS = sorted({case.rpartition("__")[0] for case in CASES})


def pair_of(case: str) -> str:
    """Return framework and instrumentation of a case."""
    return case.rpartition("__")[0]


def path_of(case: str) -> Path:
    return DATA / f"{case}.jsonl.gz"


@cache
def spans_of(case: str) -> tuple[SpanRecord, ...]:
    return tuple(read_spans(path_of(case)))


@cache
def trajectories_of(case: str) -> tuple[Trajectory, ...]:
    return tuple(read_trajectories(path_of(case)))


def steps_of(case: str, trajectories: Iterable[Trajectory]) -> list[ToolCall]:
    """Return the calls of the user's tools over all agents of a run, by start: hand-offs and calls of agents by a tool
    of the framework are left out, since the truth knows them apart."""
    wanted = {step["tool"] for step in TRUTH[case]["steps"]}
    return [s for s in all_steps(trajectories) if s.tool in wanted or s.kind not in ("agent", "handoff")]


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """What was found right in one case; the counts are of steps."""

    steps: bool
    count: int
    arguments: int
    errors: bool
    agents: bool
    handoffs: bool
    query: bool
    answer: bool
    conversation: bool


@cache
def verdict_of(case: str) -> Verdict:
    return judged(case, trajectories_of(case))


def judged(case: str, trajectories: Iterable[Trajectory]) -> Verdict:
    """Return what is right in ``trajectories`` of a case."""
    runs, true = list(trajectories), TRUTH[case]
    found, wanted = steps_of(case, runs), true["steps"]
    same = [step.tool for step in found] == [step["tool"] for step in wanted]
    return Verdict(
        steps=same,
        count=len(wanted),
        arguments=_equal_arguments(found, wanted) if same else 0,
        errors=same
        and _failures(found, lambda s: s.outcome == "error") == _failures(wanted, lambda s: bool(s["error"])),
        agents=same and [step.agent for step in found] == [step["agent"] for step in wanted],
        handoffs=same and sum(s.kind in ("agent", "handoff") for s in all_steps(runs)) == len(true["handoffs"]),
        query=bool(runs) and runs[0].query == true["query"],
        answer=_answered(runs, true["final_answer"]),
        conversation=true["session_id"] in [run.conversation_id for run in runs],
    )


def _equal_arguments(found: list[ToolCall], wanted: list[dict[str, Any]]) -> int:
    """Return how many arguments are equal. Of calls asked for together, a span and its function may start in another
    order than the next one's: those are compared as a set."""
    equal = 0
    for group in _groups(wanted):
        left = [found[i].arguments for i in group]
        for index in group:
            if wanted[index]["arguments"] in left:
                left.remove(wanted[index]["arguments"])
                equal += 1
    return equal


def _groups(wanted: list[dict[str, Any]]) -> list[list[int]]:
    together: dict[Any, list[int]] = {}
    for index, step in enumerate(wanted):
        group = step["parallel_group"]
        key = ("alone", index) if group is None else (group, step["agent"], step["tool"])
        together.setdefault(key, []).append(index)
    return list(together.values())


def _failures(steps: list[Any], failed: Any) -> list[bool]:
    return [failed(step) for step in steps]


def _answered(runs: list[Trajectory], true: Any) -> bool:
    """Return whether the true answer is a run's. A structured answer is compared as data; a list is that of several
    runs; where all of an agent's texts were glued together, its last one is meant."""
    answers = [run.final_answer for run in runs]
    if isinstance(true, list):
        return sorted(a for a in answers if a is not None) == sorted(true)
    if isinstance(true, dict):
        return any(a is not None and a[:1] == "{" and json.loads(a) == true for a in answers)
    return true in answers or (true is not None and any(a is not None and true.endswith(a) for a in answers))
