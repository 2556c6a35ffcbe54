"""A span exporter that stands before the application's own and adds the score to agents' spans."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Sequence
from typing import Final

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from agentpath_sdk._guard import HEALTH, guard
from agentpath_sdk.online.current import follow_pipeline
from agentpath_sdk.online.forks import reset_after_fork
from agentpath_sdk.online.holding import Hold
from agentpath_sdk.online.pipeline import Pipeline, will_be_judged
from agentpath_sdk.online.worker import Worker

__all__ = ["AgentPathExporter"]

_IDLE_SECONDS: Final = 60.0
_SHUTDOWN_SECONDS: Final = 5.0


class AgentPathExporter(SpanExporter):
    """Wraps an exporter; everything passes at once, except that agents' spans wait for their score.

    >>> provider.add_span_processor(BatchSpanProcessor(AgentPathExporter(OTLPSpanExporter())))

    Each agent span, nested ones too (each has its own score), is handed to ``inner`` as a copy with the
    score's attributes, at the latest ``hold_seconds`` after it came and then as it is. ``inner`` is never
    called by two threads at once. Without ``pipeline`` the one that ``configure()`` made is used; before
    there is one, spans pass untouched.
    """

    def __init__(self, inner: SpanExporter, pipeline: Pipeline | None = None) -> None:
        self._inner = inner
        self._pipeline: Pipeline | None = None
        self._hold: Hold | None = None
        self._sender = Worker(self._send_ready, name="exporter", pending=lambda: bool(self._ready))
        self._reset()
        reset_after_fork(self)
        if pipeline is None:
            follow_pipeline(self)
        else:
            self.use(pipeline)

    def use(self, pipeline: Pipeline | None) -> None:
        """Wait for the verdicts of ``pipeline`` from now on; None = let everything pass."""
        before = self._hold
        self._hold = None if pipeline is None else pipeline.new_hold(remember=True, send=self._send_soon)
        self._pipeline = pipeline
        if before is not None:
            before.release_all()
            self._send_soon(None)

    def _reset(self) -> None:
        self._ready: deque[ReadableSpan] = deque()
        self._inner_lock = threading.Lock()

    def after_fork(self) -> None:
        """Start empty: the parent exports what it holds."""
        self._reset()

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Hand ``spans`` to ``inner``, agents' spans once their verdict is known."""
        passing = list(spans)
        with guard("online.export"):
            pipeline, hold = self._pipeline, self._hold
            if pipeline is not None and hold is not None:
                passing = self._admit(pipeline, hold, spans)
        return self._export([*self._take_ready(), *passing])

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Give verdicts on ended runs, export every held span, flush ``inner``; return whether all was in time."""
        deadline = time.monotonic() + timeout_millis / 1e3
        flushed = self._settle(timeout_millis / 1e3)
        left = max(deadline - time.monotonic(), 0.0)
        with guard("online.next_exporter"):
            return self._inner.force_flush(int(left * 1e3)) and flushed
        return False

    def shutdown(self) -> None:
        """Export every held span, with a verdict where there is one, and shut ``inner`` down."""
        pipeline = self._pipeline
        self._settle(pipeline.settings.shutdown_seconds if pipeline is not None else _SHUTDOWN_SECONDS)
        self._sender.stop(0.0)
        with guard("online.next_exporter"):
            self._inner.shutdown()

    def _admit(self, pipeline: Pipeline, hold: Hold, spans: Sequence[ReadableSpan]) -> list[ReadableSpan]:
        """Return the spans that may pass now; the rest is held."""
        passing: list[ReadableSpan] = []
        for span in spans:
            if not will_be_judged(span):
                passing.append(span)
                pipeline.offer_exported(span)
                continue
            hold.hold(span, self._ready.append)
            if not pipeline.offer_exported(span) or self._pipeline is not pipeline:
                hold.let_go(span)
        return passing

    def _settle(self, timeout: float) -> bool:
        deadline = time.monotonic() + timeout
        flushed = True
        with guard("online.force_flush"):
            if self._pipeline is not None:
                flushed = self._pipeline.flush(timeout)
            if self._hold is not None:
                self._hold.release_all()
            flushed = self._sender.run_now(max(deadline - time.monotonic(), 0.0)) and flushed
        return flushed and not self._ready

    def _send_soon(self, timeout: float | None) -> bool:
        """Export released spans: on the sender's thread, or within ``timeout`` seconds."""
        if not self._ready:
            return True
        if timeout is not None:
            return self._sender.run_now(timeout)
        if self._sender.idle:
            self._sender.wake()
        return True

    def _send_ready(self) -> float:
        if ready := self._take_ready():
            self._export(ready)
        return _IDLE_SECONDS

    def _take_ready(self) -> list[ReadableSpan]:
        taken: list[ReadableSpan] = []
        while True:
            try:
                taken.append(self._ready.popleft())
            except IndexError:
                return taken

    def _export(self, spans: list[ReadableSpan]) -> SpanExportResult:
        if not spans:
            return SpanExportResult.SUCCESS
        result = SpanExportResult.FAILURE
        with guard("online.next_exporter"), self._inner_lock:
            result = self._inner.export(spans)
        if result is not SpanExportResult.SUCCESS:
            HEALTH.count("online.next_exporter_failed", len(spans))
        return result
