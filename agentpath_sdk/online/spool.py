"""One bounded queue for one score exporter: retry with back-off, and a dead destination harms nobody else."""

from __future__ import annotations

import math
import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeGuard, cast

from agentpath_sdk._guard import HEALTH, guard
from agentpath_sdk.online.clock import SYSTEM_CLOCK, Clock
from agentpath_sdk.online.forks import reset_after_fork
from agentpath_sdk.online.record import ExportResult, ScoreExporter, ScoreRecord, replaces
from agentpath_sdk.online.worker import Worker

__all__ = ["Spool", "SpoolState"]

_IDLE_SECONDS: Final = 60.0
_FIRST_BACKOFF_SECONDS: Final = 1.0
_LONGEST_BACKOFF_SECONDS: Final = 60.0


@dataclass(frozen=True, kw_only=True, slots=True)
class SpoolState:
    """How one destination does."""

    name: str
    queued: int
    failures: int
    """Tries in a row that sent nothing; 0 = healthy."""
    retry_in_seconds: float
    sent: int
    dropped: int


@dataclass(frozen=True, slots=True)
class _Waiting:
    record: ScoreRecord
    since: float


class Spool:
    """Hands records to one exporter, in batches, on a thread of its own.

    Of two revisions of a record only the better one waits. When the queue is full the oldest record is
    dropped; a record that could not be sent for ``give_up_seconds`` is dropped too. Both are counted as
    ``spool.<name>.dropped``. The queue lives in memory; everything that knows that is in the four
    methods ``offer``, ``_take``, ``_put_back`` and ``__len__``.
    """

    def __init__(
        self,
        exporter: ScoreExporter,
        *,
        name: str,
        capacity: int = 8_192,
        batch_size: int = 256,
        give_up_seconds: float = 900.0,
        clock: Clock = SYSTEM_CLOCK,
        background: bool = True,
    ) -> None:
        self.name = name
        self._exporter = exporter
        self._capacity = max(capacity, 1)
        self._batch_size = batch_size
        self._give_up_seconds = give_up_seconds
        self._clock = clock
        self._closing = False
        self._closed = False
        self._worker = Worker(self.step, name=f"spool.{name}", pending=lambda: bool(self._queue), background=background)
        self._reset()
        reset_after_fork(self)

    def _reset(self) -> None:
        self._lock = threading.Lock()
        self._queue: OrderedDict[str, _Waiting] = OrderedDict()
        self._failures = 0
        self._not_before = 0.0
        self._flush_within: float | None = None
        self._flushed = False
        self._sent = 0
        self._dropped = 0

    def after_fork(self) -> None:
        """Start empty: what waited is the parent's to send."""
        self._reset()

    def __len__(self) -> int:
        return len(self._queue)

    def offer(self, record: ScoreRecord) -> None:
        """Queue ``record``; in place of its earlier revision, unless that one is more complete."""
        if self._closed:
            self._drop(1)
            return
        with self._lock:
            waiting = self._queue.get(record.id)
            if waiting is not None and not replaces(record, waiting.record):
                HEALTH.count(f"spool.{self.name}.superseded")
                return
            since = self._clock.monotonic() if waiting is None else waiting.since
            self._queue[record.id] = _Waiting(record, since)
            while len(self._queue) > self._capacity:
                self._queue.popitem(last=False)
                self._drop(1)
        if self._worker.idle:
            self._worker.wake()

    def step(self) -> float:
        """Send what may be sent now; return the seconds until the next try."""
        flush_within, self._flush_within = self._flush_within, None
        try:
            while batch := self._take(urgent=flush_within is not None):
                if not self._send(batch):
                    break
            if flush_within is not None:
                self._flushed = not self._queue and self._flush_exporter(flush_within)
        finally:
            if self._closing:
                self._close()
        if not self._queue:
            return _IDLE_SECONDS
        return max(self._not_before - self._clock.monotonic(), 0.0)

    def flush(self, timeout: float) -> bool:
        """Try at once, whatever the back-off says; return whether all was sent within ``timeout`` seconds."""
        if self._closed:
            return not self._queue
        self._flushed = False
        self._flush_within = max(timeout, 0.0)
        return self._worker.run_now(timeout) and self._flushed

    def shutdown(self, timeout: float) -> bool:
        """Flush, end the thread and the exporter; return whether all was sent within ``timeout`` seconds."""
        self._closing = True
        flushed = self.flush(timeout)
        self._worker.stop(0.0)
        return flushed

    def state(self) -> SpoolState:
        """Return a reading for health reports."""
        return SpoolState(
            name=self.name,
            queued=len(self._queue),
            failures=self._failures,
            retry_in_seconds=max(self._not_before - self._clock.monotonic(), 0.0) if self._queue else 0.0,
            sent=self._sent,
            dropped=self._dropped,
        )

    def _take(self, *, urgent: bool) -> tuple[_Waiting, ...]:
        now = self._clock.monotonic()
        if not urgent and now < self._not_before:
            return ()
        with self._lock:
            self._expire(now)
            return tuple(self._queue.popitem(last=False)[1] for _ in range(min(self._batch_size, len(self._queue))))

    def _expire(self, now: float) -> None:
        while self._queue:
            oldest = next(iter(self._queue.values()))
            if now - oldest.since < self._give_up_seconds:
                return
            self._queue.popitem(last=False)
            self._drop(1)

    def _send(self, batch: tuple[_Waiting, ...]) -> bool:
        """Return whether all of ``batch`` is off our hands; else it waits again."""
        records = tuple(waiting.record for waiting in batch)
        try:
            result = self._understood(self._exporter.export(records))
        except BaseException as error:
            HEALTH.fault(f"spool.{self.name}", error)
            self._settle(batch, ExportResult(retry=records))
            if not isinstance(error, Exception):
                raise
            return False
        return self._settle(batch, result)

    def _understood(self, answer: Any) -> ExportResult:
        """Return ``answer``; one that is no answer counts as "all sent", since another try might send all twice."""
        if _is_answer(answer):
            return answer
        HEALTH.fault(f"spool.{self.name}", TypeError("export() returned no ExportResult"))
        return ExportResult()

    def _settle(self, batch: tuple[_Waiting, ...], result: ExportResult) -> bool:
        retry_ids = {record.id for record in result.retry}
        again = [waiting for waiting in batch if waiting.record.id in retry_ids]
        self._sent += len(batch) - len(again)
        if not again:
            self._failures = 0
            self._not_before = 0.0
            return True
        self._put_back(again)
        self._failures = self._failures + 1 if len(again) == len(batch) else 1
        self._not_before = self._clock.monotonic() + self._backoff(result.retry_after_seconds)
        HEALTH.count(f"spool.{self.name}.retried", len(again))
        return False

    def _put_back(self, again: list[_Waiting]) -> None:
        with self._lock:
            for waiting in reversed(again):
                newer = self._queue.get(waiting.record.id)
                if newer is not None and replaces(newer.record, waiting.record):
                    continue
                self._queue[waiting.record.id] = waiting
                self._queue.move_to_end(waiting.record.id, last=False)
            while len(self._queue) > self._capacity:
                self._queue.popitem(last=False)
                self._drop(1)

    def _backoff(self, retry_after: float | None) -> float:
        seconds = min(_FIRST_BACKOFF_SECONDS * 2 ** min(self._failures - 1, 16), _LONGEST_BACKOFF_SECONDS)
        return seconds if retry_after is None else min(max(retry_after, 0.0), self._give_up_seconds)

    def _drop(self, amount: int) -> None:
        self._dropped += amount
        HEALTH.count(f"spool.{self.name}.dropped", amount)

    def _flush_exporter(self, timeout: float) -> bool:
        with guard(f"spool.{self.name}"):
            return bool(self._exporter.flush(timeout))
        return False

    def _close(self) -> None:
        if self._closed:
            return
        self._closed = True
        if left := len(self._queue):
            self._drop(left)
            HEALTH.note(f"spool.{self.name}", f"{left} score records were not sent before shutdown")
        with guard(f"spool.{self.name}"):
            self._exporter.shutdown(1.0)


def _is_answer(answer: Any) -> TypeGuard[ExportResult]:
    if not isinstance(answer, ExportResult):
        return False
    again: Any = answer.retry
    after: Any = answer.retry_after_seconds
    return (
        isinstance(again, list | tuple)
        and all(isinstance(record, ScoreRecord) for record in cast("Sequence[Any]", again))
        and (after is None or (isinstance(after, int | float) and not math.isnan(after)))
    )
