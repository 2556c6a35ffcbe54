"""A trajectory becomes a score record: look-up, score, clean; later revisions and outcomes told later join in."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from agentpath_sdk._guard import HEALTH
from agentpath_sdk.gold.model import GoldPath
from agentpath_sdk.gold.registry import LookUp
from agentpath_sdk.online.cleaning import clean_goal, clean_score
from agentpath_sdk.online.clock import Clock
from agentpath_sdk.online.record import ScoreRecord, record_id, replaces
from agentpath_sdk.scoring.score import PathScore
from agentpath_sdk.trajectories.model import GoalWord, Trajectory

__all__ = ["Finder", "Judge", "Key", "Scorer"]

Key: TypeAlias = tuple[str, str]
"""Trace id and span id of an agent's own span."""


Finder: TypeAlias = Callable[[Trajectory], LookUp]
Scorer: TypeAlias = Callable[[Trajectory, Sequence[GoldPath]], PathScore]
"""Judges against the best of several alternatives, or against none."""


@dataclass(frozen=True, slots=True)
class _Retained:
    trajectory: Trajectory
    found: LookUp
    record: ScoreRecord


@dataclass(frozen=True, slots=True)
class _Promised:
    goal: GoalWord
    until: float


class Judge:
    """Scores trajectories on the worker's thread; keeps the latest runs for revisions, within bounds.

    The gold path is looked up once per run and pinned: a revision is judged by the same one.
    """

    def __init__(self, look_up: Finder, score: Scorer, *, clock: Clock, retained: int, patience_seconds: float) -> None:
        self._look_up = look_up
        self._score = score
        self._clock = clock
        self._capacity = max(retained, 1)
        self._patience_seconds = patience_seconds
        self._retained: OrderedDict[Key, _Retained] = OrderedDict()
        self._promised: OrderedDict[Key, _Promised] = OrderedDict()

    def judge(self, trajectory: Trajectory) -> ScoreRecord | None:
        """Return the record of ``trajectory``; None if it would replace a more complete one."""
        key = _key(trajectory)
        before = self._retained.get(key)
        trajectory = self._with_goal(key, trajectory, before)
        found = self._find(trajectory) if before is None else before.found
        record = self._record(trajectory, found, before)
        if before is not None and not replaces(record, before.record):
            HEALTH.count("online.less_complete_revision")
            return None
        # A score is made of steps, not of events; they may be half of a long run's memory.
        self._retain(key, _Retained(replace(trajectory, events=(), requested=()), found, record))
        return record

    def outcome(self, key: Key, goal: GoalWord) -> ScoreRecord | None:
        """Return the next revision of a run told to have (not) reached its goal; None if it is not at hand (yet)."""
        before = self._retained.get(key)
        if before is None:
            self._promised[key] = _Promised(goal, self._clock.monotonic() + self._patience_seconds)
            if len(self._promised) > self._capacity:
                self._promised.popitem(last=False)
                HEALTH.count("online.outcome_dropped")
            return None
        trajectory = replace(before.trajectory, goal=goal)
        record = self._record(trajectory, before.found, before)
        self._retain(key, _Retained(trajectory, before.found, record))
        return record

    def unclaimed(self, *, all_of_them: bool = False) -> list[tuple[Key, GoalWord]]:
        """Return and forget the outcomes whose run has not turned up in time."""
        now = self._clock.monotonic()
        late = [key for key, promise in self._promised.items() if all_of_them or promise.until <= now]
        return [(key, self._promised.pop(key).goal) for key in late]

    def waits_for_runs(self) -> bool:
        """Return whether an outcome waits for its run."""
        return bool(self._promised)

    def _with_goal(self, key: Key, trajectory: Trajectory, before: _Retained | None) -> Trajectory:
        promise = self._promised.pop(key, None)
        if promise is not None:
            return replace(trajectory, goal=promise.goal)
        if before is not None and before.trajectory.goal is not None:
            # Late spans must not undo what the application said meanwhile.
            return replace(trajectory, goal=before.trajectory.goal)
        return trajectory

    def _find(self, trajectory: Trajectory) -> LookUp:
        try:
            return self._look_up(trajectory)
        except Exception as error:
            HEALTH.fault("online.look_up", error)
            if HEALTH.raise_faults:
                raise
            return LookUp(reason=f"the look-up failed: {type(error).__name__}")

    def _record(self, trajectory: Trajectory, found: LookUp, before: _Retained | None) -> ScoreRecord:
        score, error_type = self._scored(trajectory, found)
        trace_id, span_id = _key(trajectory)
        return ScoreRecord(
            id=record_id(trace_id, span_id),
            trace_id=trace_id,
            span_id=span_id,
            score=score,
            agent=trajectory.agent,
            conversation_id=trajectory.conversation_id,
            gold_path_match=found.how,
            gold_path_confidence=found.confidence if found.paths else None,
            completeness=trajectory.completeness,
            incomplete_reasons=trajectory.incomplete_reasons,
            stop_reason=trajectory.stop_reason,
            goal=clean_goal(trajectory.goal),
            steps=len(trajectory.steps),
            revision=max(trajectory.revision, 1 if before is None else before.record.revision + 1),
            late=trajectory.late,
            scored_unix_nano=self._clock.unix_nano(),
            root_start_unix_nano=trajectory.start_unix_nano,
            root_end_unix_nano=trajectory.end_unix_nano,
            step_span_ids=tuple(step.span_id for step in trajectory.steps),
            error_type=error_type,
        )

    def _scored(self, trajectory: Trajectory, found: LookUp) -> tuple[PathScore, str | None]:
        try:
            return clean_score(self._scored_with_reason(trajectory, found)), None
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            # SystemExit too: a scorer that calls sys.exit() must not take the other runs of this turn with it.
            HEALTH.fault("online.scorer", error)
            if HEALTH.raise_faults:
                raise
            return _unscored(type(error).__name__, found), type(error).__name__

    def _scored_with_reason(self, trajectory: Trajectory, found: LookUp) -> PathScore:
        score = self._score(trajectory, found.paths)
        if found.paths or found.reason is None or score.not_evaluated is None:
            return score
        # The scorer knows only that there is no gold path; the look-up knows why.
        return replace(score, not_evaluated=f"{score.not_evaluated}: {found.reason}")

    def _retain(self, key: Key, retained: _Retained) -> None:
        self._retained[key] = retained
        self._retained.move_to_end(key)
        if len(self._retained) > self._capacity:
            self._retained.popitem(last=False)


def _unscored(error_type: str, found: LookUp) -> PathScore:
    return PathScore(
        value=None,
        name="composite",
        label="not_evaluated",
        metrics={},
        not_evaluated=f"the scorer failed: {error_type}",
        gold_path_id=None if found.path is None else found.path.id,
        gold_path_version=None if found.path is None else found.path.version,
    )


def _key(trajectory: Trajectory) -> Key:
    return trajectory.trace_id or "", trajectory.span_id or ""
