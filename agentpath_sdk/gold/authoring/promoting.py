"""Recorded runs that reached their goal become gold paths: one a task, several good runs of it merged."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Final, Literal, NamedTuple, TypeAlias

from agentpath_sdk.gold.authoring.merging import Merged, merge
from agentpath_sdk.gold.expression import MAX_STATES, states
from agentpath_sdk.gold.ids import id_from_query
from agentpath_sdk.gold.model import AnswerCheck, Effect, Extra, GoldPath, Provenance, Status
from agentpath_sdk.gold.query_text import normalise
from agentpath_sdk.trajectories.model import Trajectory

__all__ = ["GroupBy", "Known", "Promotion", "Promotions", "Reached", "promote", "recorded_outcome", "run_reference"]

Reached: TypeAlias = Callable[[Trajectory], "bool | None"]
"""Whether a run reached its goal; None = nobody knows."""

GroupBy: TypeAlias = Literal["query", "agent"]
"""What makes runs one task: the agent and the normalised query, or the agent alone."""

MAX_RUNS: Final = 100
"""Good runs of one task that are merged; further ones are counted."""

MAX_CALLS: Final = 300
"""Calls of a run that is merged: nobody wants a longer way repeated."""

_REFERENCES: Final = 20


@dataclass(frozen=True, kw_only=True, slots=True)
class Known:
    """What is known about a task beforehand, and stands in its path."""

    answer: AnswerCheck | None = None
    effects: Mapping[str, Effect] = field(default_factory=dict[str, Effect])
    extras: Mapping[str, Extra] = field(default_factory=dict[str, Extra])


@dataclass(frozen=True, kw_only=True, slots=True)
class Promotion:
    """A path, the evidence for it, and what became of the other runs of its task."""

    path: GoldPath
    merged: Merged
    references: tuple[str, ...]
    """The runs it was merged from."""
    missed: int = 0
    """Runs of the task that missed the goal."""
    unknown: int = 0
    """Runs of the task of which nobody knows."""
    left_over: int = 0
    """Good runs beyond the bound."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Promotions:
    """The paths of all tasks, and why other runs gave none."""

    paths: tuple[Promotion, ...] = ()
    skipped: Mapping[str, int] = field(default_factory=dict[str, int])
    """Reason -> runs."""


class _Task(NamedTuple):
    agent: str | None
    query: str | None


@dataclass(slots=True)
class _Runs:
    """The runs of one task, seen so far."""

    query: str | None
    good: list[Trajectory] = field(default_factory=list[Trajectory])
    missed: int = 0
    unknown: int = 0
    left_over: int = 0


def recorded_outcome(trajectory: Trajectory) -> bool | None:
    """Return what the application or the record said."""
    return None if trajectory.goal is None else trajectory.goal.success


def promote(
    trajectories: Iterable[Trajectory],
    *,
    reached: Reached = recorded_outcome,
    known: Callable[[Trajectory], Known] | None = None,
    by: GroupBy = "query",
    query: str | None = None,
    agent: str | None = None,
    least_runs: int = 1,
    status: Status = "draft",
    author: str | None = None,
    date: str | None = None,
) -> Promotions:
    """Return a gold path for each task of which a run reached its goal.

    Args:
        trajectories: recorded runs; whole ones that finished are looked at.
        reached: only runs of which it says True are used.
        known: what stands in the path of a run's task beside its steps.
        by: ``agent`` makes all runs of an agent one task, whose path then has no query.
        query: only runs of this query (normalised).
        agent: only runs of agents that this name or glob fits.
        least_runs: good runs that a task must have.
        status: of the paths; drafts do not score runs until somebody approves them.
        author: who promotes them.
        date: when, as it is to stand in the file.
    """
    tasks: dict[_Task, _Runs] = {}
    skipped: Counter[str] = Counter()
    for trajectory in trajectories:
        if not _is_wanted(trajectory, query, agent):
            skipped["not asked for"] += 1
        elif (task := _task(trajectory, by)) is None:
            skipped[f"no {by} is known"] += 1
        else:
            _file(tasks.setdefault(task, _Runs(trajectory.query)), trajectory, reached, skipped)
    paths: list[Promotion] = []
    taken: set[str] = set()
    for task, runs in tasks.items():
        if len(runs.good) < max(least_runs, 1):
            skipped["too few runs of the task reached the goal"] += len(runs.good)
            continue
        about = known(runs.good[0]) if known is not None else Known()
        told = Provenance(kind="promoted", reference=_reference(runs.good), author=author, date=date)
        promotion = _promotion(GoldPath(id="?", status=status, provenance=told), task, runs, about)
        if sum(map(states, promotion.path.steps)) > MAX_STATES:
            skipped["the merged path is too large for a gold file"] += len(runs.good)
            continue
        paths.append(replace(promotion, path=replace(promotion.path, id=_id(task, taken))))
    return Promotions(paths=tuple(paths), skipped={reason: count for reason, count in skipped.items() if count})


def run_reference(trajectory: Trajectory) -> str:
    """Return what finds the run again: its trace id, else the id of its record, else a hash of what it did."""
    if trajectory.trace_id is not None:
        return f"trace {trajectory.trace_id}"
    record = trajectory.attributes.get("record.id")
    if record is not None:
        return f"record {record}"
    content = repr((trajectory.query, [(step.tool, step.arguments) for step in trajectory.steps]))
    return f"run {hashlib.sha256(content.encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"


def _is_wanted(trajectory: Trajectory, query: str | None, agent: str | None) -> bool:
    if query is not None and normalise(trajectory.query or "") != normalise(query):
        return False
    return agent is None or fnmatchcase(trajectory.agent or "", agent)


def _task(trajectory: Trajectory, by: GroupBy) -> _Task | None:
    if by == "agent":
        return None if trajectory.agent is None else _Task(trajectory.agent, None)
    text = normalise(trajectory.query or "")
    return _Task(trajectory.agent, text) if text else None


def _file(runs: _Runs, trajectory: Trajectory, reached: Reached, skipped: Counter[str]) -> None:
    verdict = reached(trajectory)
    if verdict is None:
        runs.unknown += 1
        skipped["nobody knows whether the goal was reached"] += 1
    elif not verdict:
        runs.missed += 1
        skipped["the goal was missed"] += 1
    elif trajectory.completeness != "complete":
        skipped["the recording is not complete"] += 1
    elif trajectory.stop_reason not in ("finished", "unknown"):
        skipped[f"the run did not finish ({trajectory.stop_reason})"] += 1
    elif len(trajectory.steps) > MAX_CALLS:
        skipped[f"the run has more than {MAX_CALLS} calls"] += 1
    elif len(runs.good) >= MAX_RUNS:
        runs.left_over += 1
    else:
        # Events are the bulk of a run, and are of no use here.
        runs.good.append(replace(trajectory, events=(), requested=()))


def _id(task: _Task, taken: set[str]) -> str:
    """Return an id of the query, else of the agent; with a number where two tasks would share one."""
    base = id_from_query(task.query) if task.query is not None else _slug(task.agent or "agent")
    tries = [base] if task.agent is None or task.query is None else [base, f"{base}-{_slug(task.agent)}"]
    tries += [f"{tries[-1]}-{number}" for number in range(2, len(taken) + 3)]
    chosen = next(name for name in tries if name not in taken)
    taken.add(chosen)
    return chosen


def _slug(text: str) -> str:
    words = "-".join("".join(sign if sign.isalnum() else " " for sign in text.casefold()).split())
    return words[:60].strip("-") or "agent"


def _promotion(path: GoldPath, task: _Task, runs: _Runs, about: Known) -> Promotion:
    merged = merge(runs.good, effects=about.effects)
    return Promotion(
        path=replace(
            path,
            agent=task.agent,
            queries=() if task.query is None or runs.query is None else (runs.query,),
            steps=merged.steps,
            answer=about.answer,
            effects=about.effects,
            extras=about.extras,
        ),
        merged=merged,
        references=tuple(map(run_reference, runs.good)),
        missed=runs.missed,
        unknown=runs.unknown,
        left_over=runs.left_over,
    )


def _reference(runs: Sequence[Trajectory]) -> str:
    shown = ", ".join(map(run_reference, runs[:_REFERENCES]))
    more = len(runs) - _REFERENCES
    return f"{shown} and {more} more" if more > 0 else shown
