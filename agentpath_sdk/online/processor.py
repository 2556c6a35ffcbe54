"""Two span processors: one hangs beside the application's own, one stands before it and adds the score."""

from __future__ import annotations

from opentelemetry.context import Context
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor

from agentpath_sdk._guard import guard
from agentpath_sdk.online.pipeline import Pipeline, will_be_judged

__all__ = ["AgentPathSpanProcessor", "ForwardingSpanProcessor"]


class AgentPathSpanProcessor(SpanProcessor):
    """Feeds a pipeline. Changes nothing about spans and never raises towards the provider."""

    def __init__(self, pipeline: Pipeline) -> None:
        self.pipeline: Pipeline | None = pipeline
        """None once detached: a provider cannot let a processor go, so it stays and does nothing."""

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        """Note the trace of an agent's span."""
        pipeline = self.pipeline
        if pipeline is not None:
            with guard("online.on_start"):
                pipeline.started(span)

    def on_end(self, span: ReadableSpan) -> None:
        """Queue the span."""
        pipeline = self.pipeline
        if pipeline is None:
            return
        # Not ``with guard(...)``: a try costs nothing here, and this line runs for every span of the process.
        try:
            pipeline.offer(span)
        except Exception as error:
            with guard("online.on_end"):
                raise error

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Return whether all scores of ended runs were sent in time."""
        with guard("online.force_flush"):
            return self.pipeline is None or self.pipeline.flush(timeout_millis / 1e3)
        return False

    def shutdown(self) -> None:
        """Score and send what there is, within the settings' ``shutdown_seconds``."""
        with guard("online.shutdown"):
            if self.pipeline is not None:
                self.pipeline.shutdown()


class ForwardingSpanProcessor(SpanProcessor):
    """Stands before the application's own processor and puts the score on agents' spans.

    >>> provider.add_span_processor(ForwardingSpanProcessor(BatchSpanProcessor(exporter), pipeline))

    Every span but an agent's is passed on at once. Each agent span, nested ones too (each has its own
    score), waits until its verdict, at most ``hold_seconds``, and is passed on as a copy with the score's
    attributes; without a verdict it is passed on as it is. No span is passed on twice, none is lost.
    """

    def __init__(self, next_processor: SpanProcessor, pipeline: Pipeline) -> None:
        self.pipeline: Pipeline | None = pipeline
        """None once detached: spans then pass straight through."""
        self._next = next_processor
        self._hold = pipeline.new_hold()

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        """Pass on, and note the trace of an agent's span."""
        with guard("online.next_processor"):
            self._next.on_start(span, parent_context=parent_context)
        if (pipeline := self.pipeline) is not None:
            with guard("online.on_start"):
                pipeline.started(span)

    def _on_ending(self, span: Span) -> None:
        with guard("online.next_processor"):
            self._next._on_ending(span)  # pyright: ignore[reportPrivateUsage] - part of the SDK's processor protocol

    def on_end(self, span: ReadableSpan) -> None:
        """Pass on, or hold if this is an agent's span and its verdict is to come."""
        pipeline, hold, held = self.pipeline, self._hold, False
        if pipeline is not None:
            with guard("online.on_end"):
                # Held before it is offered: the verdict of a run may be there before ``offer`` returns.
                if will_be_judged(span):
                    hold.hold(span, self._forward)
                    held = True
                taken = pipeline.offer(span)
                if held and not (taken and self.pipeline is pipeline):
                    hold.let_go(span)
        if not held:
            self._forward(span)

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Give verdicts on ended runs, pass on every held span, flush the next processor."""
        flushed = False
        with guard("online.force_flush"):
            flushed = self.pipeline is None or self.pipeline.flush(timeout_millis / 1e3)
        self._hold.release_all()
        with guard("online.next_processor"):
            return self._next.force_flush(timeout_millis) and flushed
        return False

    def shutdown(self) -> None:
        """As ``force_flush``, then shut the next processor down."""
        with guard("online.shutdown"):
            if self.pipeline is not None:
                self.pipeline.shutdown()
        self._hold.release_all()
        with guard("online.next_processor"):
            self._next.shutdown()

    def attach(self, pipeline: Pipeline) -> None:
        """Feed ``pipeline`` from now on, and take its verdicts."""
        self._hold.release_all()
        self._hold = pipeline.new_hold()
        self.pipeline = pipeline

    def detach(self) -> None:
        """Pass on everything held and feed no pipeline any more."""
        self.pipeline = None
        self._hold.release_all()

    def _forward(self, span: ReadableSpan) -> None:
        with guard("online.next_processor"):
            self._next.on_end(span)
