"""The one seam through which decorators and callback handlers turn calls into spans.

Nothing is attached to a context here: calls are paired by key, so that start and end may come from different threads.
One call reported by several doors (a decorator and a handler, two handlers) is one span: the door that reported it
first ends it; what the others say at their ends is added to it.
"""

from __future__ import annotations

import heapq
import os
import time
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any, Final

from opentelemetry import context as context_api
from opentelemetry.context import Context
from opentelemetry.trace import TracerProvider

from agentpath_sdk import semconv
from agentpath_sdk._guard import HEALTH, guard
from agentpath_sdk.settings import TracingSettings
from agentpath_sdk.tracing import content, ending
from agentpath_sdk.tracing.identity import Identity, conversation_label, identify, with_agent_facts, with_call_facts
from agentpath_sdk.tracing.open_calls import OpenCalls
from agentpath_sdk.tracing.recording import UNSET, Kind, Outcome, Recording, StopReason, Unset
from agentpath_sdk.tracing.spans import SpanSource

__all__ = ["UNSET", "Kind", "Outcome", "Recorder", "Recording", "StopReason", "Unset", "fault", "get_recorder"]

_EVICTED_AT_ONCE: Final = 64
"""One in so many of the open recordings is ended when the cap is reached, so that the scan is paid rarely."""


class Recorder:
    """Open calls by key. Thread-safe; every public method returns normally whatever goes wrong inside."""

    def __init__(
        self,
        *,
        settings: TracingSettings | None = None,
        provider: TracerProvider | None = None,
        clock: Callable[[], float] = time.monotonic,
        at_exit: bool = False,
    ) -> None:
        self.settings = settings or TracingSettings()
        self._clock = clock
        self._calls = OpenCalls()
        self._next_sweep = 0.0
        self._spans = SpanSource(provider, at_exit=self.shutdown if at_exit else None)

    def use_provider(self, provider: TracerProvider | None) -> None:
        """Take spans from ``provider`` from now on; None = the global provider of the moment."""
        self._spans.use(provider)

    def start(
        self,
        key: Hashable,
        *,
        door: Hashable,
        kind: Kind,
        name: str,
        parent: Hashable | None = None,
        inherit: bool = True,
        arguments: Any = UNSET,
        input: Any = UNSET,  # noqa: A002 - the word the field uses
        query: str | None = None,
        call_id: str | None = None,
        description: str | None = None,
        gold_path: str | None = None,
        conversation_id: str | None = None,
        attributes: Mapping[str, Any] | None = None,
        capture: bool | None = None,
        redact: frozenset[str] = frozenset(),
        keep: frozenset[str] = frozenset(),
        function: object = None,
        ambient: Context | None = None,
    ) -> Recording | None:
        """Open a call; None only when our own code failed.

        ``parent`` is the key of the enclosing call; one that is not open makes a root. Without it the ambient context
        (or ``ambient``) is taken, unless ``inherit`` is False. ``arguments`` is a mapping by name, or text that is no
        object (kept raw and flagged); ``input`` GenAI messages or any value. A key that is open already: from another
        door it is the same call (joined), from the same door the first is ended as abandoned. ``function`` is the one
        that a tool runs in the end: a tool call started directly inside another door's call of the same function (where
        it is not known: of the same name) is that call, and so is a further attempt at it after a failure.
        """
        try:
            now = self._clock()
            if now >= self._next_sweep:
                self._sweep(now)
            context = context_api.get_current() if ambient is None else ambient
            enclosing, twin, base = self._calls.place(parent, context, inherit, kind, name, function)
            if twin is not None or self._calls.get(key) is not None:
                joined = self._joined(key, kind, door, twin)
                if joined is not None:
                    self._more(joined, arguments, call_id)
                    return joined
            identity = identify(kind, name, enclosing, base, conversation_id)
            attributes_at_start = identity[1]
            if call_id is not None or description is not None:
                attributes_at_start = with_call_facts(attributes_at_start, call_id, description)
            if kind == "agent":
                attributes_at_start = with_agent_facts(attributes_at_start, gold_path, enclosing, base)
            recording = self._begin(key, door, kind, name, enclosing, base, identity, attributes_at_start)
            if function is not None:
                recording.function = function
            self._calls.add(recording, now)
            if len(self._calls) > self.settings.max_open_runs:
                self._evict()
            if recording.live:
                recording.capture = self.settings.capture_content if capture is None else capture
                if redact or keep:
                    recording.redact, recording.keep = redact, keep
                self._take(recording, arguments, input, query, attributes)
            return recording
        except Exception as error:
            fault("tracing.start", error)
            return None

    def end(
        self,
        key: Hashable,
        *,
        door: Hashable,
        result: Any = UNSET,
        answer: str | None = None,
        output: Any = UNSET,
        outcome: Outcome = "ok",
        error: BaseException | None = None,
        error_message: str | None = None,
        error_type: str | None = None,
        stop_reason: StopReason | None = None,
        partial_items: int | None = None,
        attributes: Mapping[str, Any] | None = None,
    ) -> None:
        """Close a call; an unknown key is ignored.

        An ``error`` with outcome "ok" makes the outcome "error". A tool result that carries an error flag does too.
        """
        recording = self._calls.get(key)
        if recording is None or door not in recording.doors:
            return
        try:
            if recording.live:
                try:
                    if outcome == "ok" and error is None and stop_reason is None:
                        ending.take_success(recording, result)
                    else:
                        first = door == recording.door
                        ending.take_outcome(recording, outcome, error, error_message, error_type, stop_reason, first)
                except Exception as own:
                    # What is known is said, whatever else could not be found out.
                    if recording.outcome == "ok":
                        recording.outcome = "error" if error is not None and outcome == "ok" else outcome
                    fault("tracing.end", own)
                try:
                    ending.take_content(recording, result, answer, output, partial_items, self.settings.result_limit)
                    if attributes:
                        recording.content.update(content.safe_attributes(recording, attributes))
                except Exception as own:
                    fault("tracing.end", own)
        finally:
            # An interrupt from the keyboard may come in the middle of the above.
            if door == recording.door:
                self._close(recording, outcome if recording.outcome == "ok" else recording.outcome)
            else:
                if recording.outcome != "ok":
                    recording.failed_door = door
                if key != recording.key:
                    self._calls.forget_alias(key, recording)

    def get(self, key: Hashable) -> Recording | None:
        """Return the open call known under ``key``, else None."""
        return self._calls.get(key)

    def find_span(self, trace_id: int, span_id: int) -> Recording | None:
        """Return the open call with this span, else None."""
        return self._calls.with_span(trace_id, span_id)

    def enclosing(self, parent: Hashable | None = None) -> Recording | None:
        """Return the call that a call started here and now would be inside of, else None."""
        with guard("tracing.enclosing"):
            return self._calls.get(parent) if parent is not None else self._calls.innermost(context_api.get_current())
        return None

    def note_stop_reason(self, recording: Recording, stop_reason: StopReason | None) -> None:
        """Say why an open agent run is about to stop, where its own end will not know; None = as its end says.

        An end that is not ok says it better than any note."""
        recording.noted_stop_reason = stop_reason

    def note_conversation(self, recording: Recording, conversation_id: str) -> bool:
        """Give an open call the conversation that was not known at its start; False if it has one already."""
        with guard("tracing.note"):
            known = conversation_label(conversation_id)
            if known is None or recording.conversation_id is not None or not recording.live:
                return False
            recording.conversation_id = known
            self.note(recording, {semconv.CONVERSATION_ID: known})
            return True
        return False

    def note_query(self, recording: Recording, query: str) -> None:
        """Give an open agent run the question that was not known at its start."""
        with guard("tracing.note"):
            if recording.live and recording.capture and semconv.INPUT_MESSAGES not in recording.content:
                content.put_text(recording, query, role="user", limit=self.settings.result_limit)

    def note(self, recording: Recording, facts: Mapping[str, bool | str]) -> None:
        """Keep further facts, clean already, that must be on the span of an open call."""
        recording.late = {**recording.late, **facts}

    def forget_output(self, recording: Recording) -> None:
        """Have the next thing said of a call's output or answer take the place of what was said before."""
        recording.content.pop(semconv.OUTPUT_MESSAGES, None)

    def open_count(self) -> int:
        """Return how many calls are open."""
        return len(self._calls)

    def sweep(self, now: float | None = None) -> None:
        """End every call of a run in which nothing has happened for ``settings.idle_seconds`` as abandoned."""
        with guard("tracing.sweep"):
            self._sweep(self._clock() if now is None else now)

    def shutdown(self) -> None:
        """End all open calls as abandoned, inner ones first: their own end was never seen."""
        for recording in reversed(self._calls.all()):
            with guard("tracing.shutdown"):
                self._close(recording, "abandoned")

    def forget(self) -> None:
        """Drop all open calls without ending them: after a fork they are the parent process's to end."""
        self._calls.drop_all()

    # --- opening ---------------------------------------------------------------------------------

    def _joined(self, key: Hashable, kind: Kind, door: Hashable, twin: Recording | None) -> Recording | None:
        """Return the open call that this start reports again; a repeated start ends the first as abandoned."""
        known, joined = self._calls.reported_before(key, kind, door, twin)
        if known is not None and not joined:
            self._close(known, "abandoned")
        return known if joined else None

    def _begin(
        self,
        key: Hashable,
        door: Hashable,
        kind: Kind,
        name: str,
        enclosing: Recording | None,
        base: Context,
        identity: Identity,
        attributes: Mapping[str, Any],
    ) -> Recording:
        if enclosing is None:
            started = self._spans.start(identity[0], base, attributes, self.settings.sample_rate)
        elif enclosing.dropped:
            started = (enclosing.span, True, enclosing.attach_span)
        else:
            started = self._spans.start(identity[0], base, attributes, 1.0)
        span, dropped, attach_span = started
        recording = Recording(key, door, kind, name, span, base, enclosing, identity[2], attributes)
        if dropped or not span.is_recording():
            recording.live = False
            recording.attach_span = attach_span
            # The tools of an agent that a sampler left out are left out too, whatever that sampler would say of them.
            recording.dropped = dropped or kind == "agent"
        return recording

    def _take(
        self, recording: Recording, arguments: Any, given: Any, query: str | None, attributes: Mapping[str, Any] | None
    ) -> None:
        settings = self.settings
        if recording.capture:
            if arguments is not UNSET:
                content.put_arguments(recording, arguments, settings.arguments_limit)
            if query is not None:
                content.without_listed(recording, given)
                if recording.kind == "retrieval":
                    recording.content[semconv.RETRIEVAL_QUERY] = content.text(recording, query)
                else:
                    content.put_text(recording, query, role="user", limit=settings.result_limit)
            elif given is not UNSET:
                content.put_input(recording, given, settings.result_limit)
        if attributes:
            recording.content.update(content.safe_attributes(recording, attributes))

    def _more(self, recording: Recording, arguments: Any, call_id: str | None) -> None:
        """Add what a further door knows of the same call."""
        if not recording.live:
            return
        if call_id is not None and semconv.TOOL_CALL_ID not in recording.essential:
            recording.late = {**recording.late, semconv.TOOL_CALL_ID: call_id}
        missing = semconv.TOOL_CALL_ARGUMENTS not in recording.content or "arguments" in recording.raw
        if recording.capture and missing and arguments is not UNSET and not isinstance(arguments, str):
            recording.raw = tuple(what for what in recording.raw if what != "arguments")
            content.put_arguments(recording, arguments, self.settings.arguments_limit)

    # --- closing ---------------------------------------------------------------------------------

    def _close(self, recording: Recording, outcome: Outcome) -> None:
        if self._calls.remove(recording, outcome, self._clock()) and recording.live:
            recording.outcome = outcome
            ending.end_span(recording)
            recording.live = False

    def _sweep(self, now: float) -> None:
        idle = self.settings.idle_seconds
        self._next_sweep = now + max(idle / 16, 1.0)
        self._abandon(r for r in self._calls.all() if now - r.root.touched >= idle)

    def _evict(self) -> None:
        opened = self._calls.all()
        count = max(len(opened) - self.settings.max_open_runs, len(opened) // _EVICTED_AT_ONCE, 1)
        self._abandon(heapq.nsmallest(count, opened, key=lambda r: r.root.touched))

    def _abandon(self, recordings: Iterable[Recording]) -> None:
        for recording in list(recordings)[::-1]:
            self._close(recording, "abandoned")


def fault(place: str, error: Exception) -> None:
    """Count a fault as ``guard`` does, for code that runs at every call and cannot afford a context manager."""
    HEALTH.fault(place, error)
    if HEALTH.raise_faults:
        raise error


_RECORDER: Final = Recorder(at_exit=True)

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_RECORDER.forget)


def get_recorder() -> Recorder:
    """Return the recorder of this process."""
    return _RECORDER
