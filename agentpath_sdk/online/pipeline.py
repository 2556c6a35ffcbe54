"""The pipeline from ended spans to score records: a queue, one worker, and everything within bounds."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias
from weakref import WeakSet

from opentelemetry import context as context_api
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan

from agentpath_sdk import semconv
from agentpath_sdk._guard import HEALTH, guard
from agentpath_sdk.online.cleaning import clean_goal, clean_span
from agentpath_sdk.online.clock import SYSTEM_CLOCK, Clock
from agentpath_sdk.online.emit import Emitter, score_attributes
from agentpath_sdk.online.forks import reset_after_fork
from agentpath_sdk.online.holding import Hold
from agentpath_sdk.online.intake import RUN_OPERATIONS, VOCABULARY, Intake, attributes_of
from agentpath_sdk.online.judge import Finder, Judge, Key, Scorer
from agentpath_sdk.online.record import ScoreExporter, ScoreRecord
from agentpath_sdk.online.spool import Spool, SpoolState
from agentpath_sdk.online.worker import Worker
from agentpath_sdk.settings import OnlineSettings
from agentpath_sdk.trajectories.assembler import AssembledRun, Assembler
from agentpath_sdk.trajectories.dialects import spoken
from agentpath_sdk.trajectories.model import GoalWord
from agentpath_sdk.trajectories.span_record import from_sdk

__all__ = ["GoalSink", "Pipeline", "PipelineState", "will_be_judged"]

_POLL_SECONDS: Final = 0.2
"""How often the worker looks at its queue while runs are open; a span never wakes a busy worker."""
_IDLE_SECONDS: Final = 60.0
_OUTCOMES_KEPT: Final = 65_536
# Where the OpenTelemetry API keeps it until the specification has decided.
_SUPPRESS: Final[str] = getattr(context_api, "_SUPPRESS_INSTRUMENTATION_KEY", "suppress_instrumentation")

_Closing: TypeAlias = Literal["no", "ended", "all"]
GoalSink: TypeAlias = Callable[[str, str, GoalWord, int], None]
"""Receives trace id, span id, the word and the time, when a goal was told for a run no longer at hand."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PipelineState:
    """How the pipeline does; nothing in it names a run or holds content."""

    queued_spans: int
    open_traces: int
    held_spans: int
    destinations: tuple[SpoolState, ...]
    counters: dict[str, int]


class Pipeline:
    """Scores ended agent runs on one worker thread and hands the records on.

    ``offer`` is all that happens on the user's thread. The worker converts and cleans spans, assembles
    traces, looks the gold path up, scores, and gives each record to the emitters, to one spool per score
    exporter and to the holds. With ``background=False`` there is no thread: ``step()`` does what is due.
    """

    def __init__(
        self,
        look_up: Finder,
        score: Scorer,
        *,
        settings: OnlineSettings | None = None,
        emitters: Sequence[Emitter] = (),
        score_exporters: Sequence[ScoreExporter] = (),
        goal_sink: GoalSink | None = None,
        housekeeping: Callable[[], object] | None = None,
        on_first_span: Callable[[], object] | None = None,
        clock: Clock = SYSTEM_CLOCK,
        background: bool = True,
    ) -> None:
        self.settings = settings if settings is not None else OnlineSettings()
        self._look_up = look_up
        self._score = score
        self._clock = clock
        self._background = background
        self._emitters = tuple(emitters)
        self._goal_sink = goal_sink
        self._housekeeping = housekeeping
        self._holds: WeakSet[Hold] = WeakSet()
        self._senders: list[Callable[[float | None], bool]] = []
        self._on_first_span = on_first_span
        self._worker = Worker(self.step, name="pipeline", pending=self._pending, background=background)
        self._intake = Intake(
            capacity=self.settings.queue_size, traces=self.settings.max_open_traces, worker=self._worker
        )
        self.offer: Callable[[ReadableSpan], bool] = self._intake.offer
        """Take an ended span if it may belong to an agent's run; return whether it was taken. Never blocks."""
        self._spools = tuple(self._spool(exporter, number) for number, exporter in enumerate(score_exporters, 1))
        self._closed = False
        self._reset()
        reset_after_fork(self)

    def _reset(self) -> None:
        settings = self.settings
        self._assembler = Assembler(settings, self._clock.monotonic)
        self._judge = Judge(
            self._look_up,
            self._score,
            clock=self._clock,
            retained=settings.max_retained_runs,
            patience_seconds=settings.quiet_seconds + 5.0,
        )
        self._due: deque[AssembledRun] = deque()
        self._outcomes: deque[tuple[Key, GoalWord]] = deque()
        self._sources: dict[int, Resource] = {}
        self._closing: _Closing = "no"
        self._next_housekeeping = self._clock.monotonic() + settings.reload_seconds

    def after_fork(self) -> None:
        """Start clean: runs, outcomes and records of before the fork are the parent's."""
        self._reset()

    # --- on the user's threads ------------------------------------------------------------------------------------

    def started(self, span: ReadableSpan) -> None:
        """Note a span that has started, and that its provider's spans come through ``offer``."""
        resource = span.resource
        if id(resource) not in self._sources:
            self._note_source(resource)
            self._begin()
        self._intake.started(span)

    def offer_exported(self, span: ReadableSpan) -> bool:
        """As ``offer``, for an exporter: a span that a processor has already offered counts as taken."""
        if id(span.resource) not in self._sources:
            self._begin()
            return self._intake.offer(span)
        if self._worker.idle:
            self._worker.wake()  # what the exporter holds needs somebody to watch the time
        return True

    def record_outcome(self, trace_id: str, span_id: str, goal: GoalWord) -> None:
        """Note whether an ended run reached its goal; the run is scored again as a new revision."""
        if len(self._outcomes) >= _OUTCOMES_KEPT:
            HEALTH.count("online.outcome_dropped")
            return
        self._outcomes.append(((trace_id, span_id), goal))
        if self._worker.idle:
            self._worker.wake()

    @property
    def puts_scores_on_spans(self) -> bool:
        """True once somebody holds agents' spans for their score."""
        return bool(self._holds)

    def new_hold(self, *, remember: bool = False, send: Callable[[float | None], bool] | None = None) -> Hold:
        """Return a hold whose spans get this pipeline's verdicts.

        ``send`` is asked to send what was released: soon (None), or within some seconds (then it returns
        whether it did).
        """
        hold = Hold(
            seconds=self.settings.hold_seconds,
            capacity=self.settings.max_held_spans,
            remember=remember,
            clock=self._clock,
        )
        self._holds.add(hold)
        if send is not None:
            self._senders.append(send)
        return hold

    def flush(self, timeout: float = 30.0) -> bool:
        """Score the runs that have ended, send all records and held spans; return whether all was sent in time.

        Runs whose quiet time is not over are scored as presumed incomplete, unless they are known to be whole.
        """
        return self._flush("ended", timeout)

    def shutdown(self, timeout: float | None = None) -> bool:
        """As ``flush``, open traces included, and end all threads; return whether all was sent in time."""
        if self._closed:
            return True
        self._closed = True
        timeout = self.settings.shutdown_seconds if timeout is None else timeout
        deadline = time.monotonic() + timeout
        sent = self._flush("all", timeout)
        self._intake.close()
        for spool in self._spools:
            sent = spool.shutdown(max(deadline - time.monotonic(), 0.0)) and sent
        self._worker.stop(0.0)
        return sent

    def state(self) -> PipelineState:
        """Return a reading for health reports."""
        return PipelineState(
            queued_spans=len(self._intake),
            open_traces=self._assembler.open_traces,
            held_spans=sum(len(hold) for hold in list(self._holds)),
            destinations=tuple(spool.state() for spool in self._spools),
            counters=HEALTH.counts(),
        )

    def _flush(self, closing: _Closing, timeout: float) -> bool:
        deadline = time.monotonic() + timeout
        if self._closing != "all":
            self._closing = closing
        done = self._worker.run_now(timeout)
        for hold in list(self._holds):
            hold.release_all()
        for spool in self._spools:
            done = spool.flush(max(deadline - time.monotonic(), 0.0)) and done
        for send in self._senders:
            done = send(max(deadline - time.monotonic(), 0.0)) and done
        return done

    def _begin(self) -> None:
        if self._on_first_span is not None:
            act, self._on_first_span = self._on_first_span, None
            act()

    def _note_source(self, resource: Resource) -> None:
        if len(self._sources) >= 64:
            self._sources.clear()
        self._sources[id(resource)] = resource

    # --- on the worker's thread -----------------------------------------------------------------------------------

    def step(self) -> float:
        """Do all that is due; return the seconds until something else will be."""
        # Whatever scoring or a score exporter calls (a judge model, HTTP) is not the application's telemetry.
        token = context_api.attach(context_api.set_value(_SUPPRESS, True))
        try:
            return self._step()
        finally:
            context_api.detach(token)

    def _step(self) -> float:
        closing, self._closing = self._closing, "no"
        self._take_in()
        self._hear_outcomes()
        self._conclude(closing)
        self._give_up_on_outcomes(closing)
        waits = [self._keep_house(), *self._expire_holds()]
        for send in self._senders:
            with guard("online.send"):
                send(None)
        if not self._background:
            waits += [spool.step() for spool in self._spools if len(spool)]
        if self._assembler.open_traces or self._judge.waits_for_runs():
            waits.append(_POLL_SECONDS)
        return max(min(waits), 0.01)

    def _take_in(self) -> None:
        spans = list(self._intake.drain())
        with guard("online.take_in"):
            for trace_id, span_id in self._intake.starts():
                self._assembler.note_started(f"{trace_id:032x}", f"{span_id:016x}")
        with guard("online.take_in"):
            lost, overwhelmed = self._intake.losses()
            for trace_id in lost:
                self._assembler.note_dropped(f"{trace_id:032x}")
            if overwhelmed:
                self._assembler.note_all_dropped()
        for span in spans:
            with guard("online.take_in"):
                self._assembler.add(clean_span(from_sdk(span)))

    def _hear_outcomes(self) -> None:
        for _ in range(len(self._outcomes)):
            key, goal = self._outcomes.popleft()
            with guard("online.outcome"):
                record = self._judge.outcome(key, clean_goal(goal) or goal)
                if record is not None:
                    self._publish(record)

    def _conclude(self, closing: _Closing) -> None:
        with guard("online.assemble"):
            self._due += self._assembler.due()
        if closing != "no":
            with guard("online.assemble"):
                self._due += self._assembler.flush(final=closing == "all")
        # A queue of its own: should something end this turn, the next one goes on with the rest.
        while self._due:
            with guard("online.judge"):
                record = self._judge.judge(self._due.popleft().trajectory)
                if record is not None:
                    self._publish(record)

    def _give_up_on_outcomes(self, closing: _Closing) -> None:
        for (trace_id, span_id), goal in self._judge.unclaimed(all_of_them=closing != "no"):
            HEALTH.count("online.outcome_without_run")
            if self._goal_sink is not None:
                with guard("online.emit"):
                    self._goal_sink(trace_id, span_id, goal, self._clock.unix_nano())

    def _publish(self, record: ScoreRecord) -> None:
        attributes = score_attributes(record)
        for hold in list(self._holds):
            with guard("online.hold"):
                hold.release(record.trace_id, record.span_id, attributes)
        for emitter in self._emitters:
            with guard("online.emit"):
                emitter(record)
        for spool in self._spools:
            with guard("online.spool"):
                spool.offer(record)

    def _expire_holds(self) -> list[float]:
        waits: list[float] = []
        for hold in list(self._holds):
            with guard("online.hold"):
                wait = hold.expire()
                if wait is not None:
                    waits.append(wait)
        return waits

    def _keep_house(self) -> float:
        """Reload gold files when it is time; return the seconds until it is time again."""
        every = self.settings.reload_seconds
        if self._housekeeping is None or every <= 0:
            return _IDLE_SECONDS
        now = self._clock.monotonic()
        if now >= self._next_housekeeping:
            self._next_housekeeping = now + every
            with guard("online.reload"):
                self._housekeeping()
        return max(self._next_housekeeping - now, 0.0)

    def _pending(self) -> bool:
        return self._intake.pending() or bool(self._outcomes)

    def _spool(self, exporter: ScoreExporter, number: int) -> Spool:
        return Spool(
            exporter,
            name=f"{type(exporter).__name__}.{number}",
            capacity=self.settings.record_queue_size,
            give_up_seconds=self.settings.give_up_seconds,
            clock=self._clock,
            background=self._background,
        )


def will_be_judged(span: ReadableSpan) -> bool:
    """Return whether an ended span is an agent's own, by its vocabulary, so that a verdict on it will come."""
    attributes, context = attributes_of(span), span.context
    operation = attributes.get(semconv.OPERATION_NAME)
    if operation not in RUN_OPERATIONS and (operation is not None or not any(key in attributes for key in VOCABULARY)):
        return False
    if context is None or not context.trace_flags.sampled:
        return False
    if operation in RUN_OPERATIONS and semconv.STEP_PHASE not in attributes:
        return True  # no vocabulary says otherwise, and converting the span costs ten times as much
    return spoken(from_sdk(span))[0] in ("agent", "workflow")
