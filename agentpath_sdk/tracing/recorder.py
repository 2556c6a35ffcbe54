"""The one seam through which decorators and callback handlers turn calls into spans.

Nothing is attached to a context here: calls are paired by key, so that start and end may come from different threads.
One call reported by several doors (a decorator and a handler, two handlers) is one span: the door that reported it
first ends it; what the others say at their ends is added to it.
"""

from __future__ import annotations

import heapq
import os
import threading
import time
from collections.abc import Callable, Hashable, Iterable, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final

from opentelemetry import baggage
from opentelemetry import context as context_api
from opentelemetry import trace as trace_api
from opentelemetry.context import Context
from opentelemetry.trace import TracerProvider

from agentpath_sdk import semconv
from agentpath_sdk._guard import HEALTH, guard
from agentpath_sdk.settings import TracingSettings
from agentpath_sdk.tracing import content, ending
from agentpath_sdk.tracing.conversation import conversation_in
from agentpath_sdk.tracing.frameworks import innermost_key
from agentpath_sdk.tracing.recording import (
    RECORDING_KEY,
    STEP_KINDS,
    UNSET,
    Kind,
    Outcome,
    Recording,
    StopReason,
    Unset,
)
from agentpath_sdk.tracing.spans import SpanSource

__all__ = ["UNSET", "Kind", "Outcome", "Recorder", "Recording", "StopReason", "Unset", "fault", "get_recorder"]

_ROOT: Final = Context()
_OPERATIONS: Final[Mapping[Kind, str]] = {
    "agent": semconv.OP_INVOKE_AGENT,
    "tool": semconv.OP_EXECUTE_TOOL,
    "model": semconv.OP_CHAT,
    "retrieval": semconv.OP_RETRIEVAL,
    "phase": "",
}
_NAME_ATTRIBUTES: Final[Mapping[Kind, str]] = {
    "agent": semconv.AGENT_NAME,
    "tool": semconv.TOOL_NAME,
    "model": semconv.REQUEST_MODEL,
    "retrieval": semconv.TOOL_NAME,
    "phase": semconv.STEP_PHASE,
}
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
        self._lock = threading.RLock()
        self._by_key: dict[Hashable, Recording] = {}
        self._open: dict[int, Recording] = {}
        """By span id; by identity where the span has none (no provider, run left out)."""
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
        ambient: Context | None = None,
    ) -> Recording | None:
        """Open a call; None only when our own code failed.

        ``parent`` is the key of the enclosing call; one that is not open makes a root. Without it the ambient context
        (or ``ambient``) is taken, unless ``inherit`` is False. ``arguments`` is a mapping by name, or text that is no
        object (kept raw and flagged); ``input`` GenAI messages or any value. A key that is open already: from another
        door it is the same call (joined), from the same door the first is ended as abandoned.
        """
        try:
            now = self._clock()
            if now >= self._next_sweep:
                self._sweep(now)
            context = context_api.get_current() if ambient is None else ambient
            enclosing, candidates = self._enclosing(parent, context, inherit)
            if key in self._by_key or _twin(kind, name, door, candidates) is not None:
                known = self._known(key, kind, name, door, candidates)
                if known is not None:
                    self._more(known, arguments, call_id)
                    return known
            base = self._base(parent, enclosing, context, inherit)
            essential, conversation_id = _identity(kind, name, enclosing, base, conversation_id)
            extra = call_id is not None or description is not None or kind == "agent"
            if extra:
                essential = _more_identity(essential, call_id, description, gold_path, kind, enclosing, base)
            recording = self._begin(key, door, kind, name, enclosing, base, now, conversation_id, essential)
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
        try:
            recording = self._by_key.get(key)
            if recording is None or door not in recording.doors:
                return
            first = door == recording.door
            if recording.live:
                ending.take_outcome(recording, outcome, error, error_message, error_type, stop_reason, result, first)
                ending.take_content(recording, result, answer, output, partial_items, self.settings.result_limit)
                if attributes:
                    recording.content.update(content.safe_attributes(recording, attributes))
                outcome = recording.outcome
            if first:
                self._close(recording, outcome)
            elif key != recording.key:
                self._by_key.pop(key, None)
        except Exception as error:
            fault("tracing.end", error)

    def get(self, key: Hashable) -> Recording | None:
        """Return the open call known under ``key``, else None."""
        return self._by_key.get(key)

    def find_span(self, trace_id: int, span_id: int) -> Recording | None:
        """Return the open call with this span, else None."""
        found = self._open.get(span_id)
        return found if found is not None and found.trace_id == trace_id else None

    def enclosing(self, parent: Hashable | None = None) -> Recording | None:
        """Return the call that a call started here and now would be inside of, else None."""
        with guard("tracing.enclosing"):
            return self._enclosing(parent, context_api.get_current(), True)[0]
        return None

    def note_stop_reason(self, recording: Recording, stop_reason: StopReason) -> None:
        """Say why an open agent run is about to stop, where its own end will not know."""
        recording.stop_reason = stop_reason

    def open_count(self) -> int:
        """Return how many calls are open."""
        return len(self._open)

    def sweep(self, now: float | None = None) -> None:
        """End every call of a run in which nothing has happened for ``settings.idle_seconds`` as abandoned."""
        with guard("tracing.sweep"):
            self._sweep(self._clock() if now is None else now)

    def shutdown(self) -> None:
        """End all open calls as abandoned, inner ones first: their own end was never seen."""
        for recording in reversed(list(self._open.values())):
            with guard("tracing.shutdown"):
                self._close(recording, "abandoned")

    def forget(self) -> None:
        """Drop all open calls without ending them: after a fork they are the parent process's to end."""
        for recording in list(self._open.values()):
            recording.live, recording.ended = False, True
        self._lock = threading.RLock()
        self._by_key, self._open = {}, {}

    # --- where a call belongs --------------------------------------------------------------------

    def _enclosing(
        self, parent: Hashable | None, context: Context, inherit: bool
    ) -> tuple[Recording | None, tuple[Recording, ...]]:
        """Return the enclosing call, and the calls that this one may be a second report of."""
        if parent is None:
            if not inherit:
                return None, ()
            innermost = self._innermost(context)
            return innermost, () if innermost is None else (innermost,)
        given = self._by_key.get(parent)
        if given is None:
            return None, ()
        # A decorated stand-in of a framework's tool opens between the framework's parent and the framework's report.
        innermost = self._innermost(context)
        between = innermost is not None and innermost is not given and innermost.is_below(given)
        return given, (given, innermost) if between and innermost is not None else (given,)

    def _innermost(self, context: Context) -> Recording | None:
        """Return the innermost of the ambient context's call and the frameworks' current calls."""
        found = self._ambient(context)
        for key in innermost_key():
            other = self._by_key.get(key)
            if other is not None and (found is None or other.is_below(found)):
                found = other
        return found

    def _ambient(self, context: Context) -> Recording | None:
        noted: Recording | None = context.get(RECORDING_KEY)  # type: ignore[assignment]  # only recordings are put there
        if noted is not None and (noted.is_current_in(context) or noted.dropped):
            return noted
        here = trace_api.get_current_span(context).get_span_context()
        if not here.is_valid:
            return None
        # Below spans of other instrumentations the noted call still encloses, unless a new trace was begun.
        return self._open.get(here.span_id, noted if noted is not None and here.trace_id == noted.trace_id else None)

    def _base(self, parent: Hashable | None, enclosing: Recording | None, context: Context, inherit: bool) -> Context:
        if parent is not None:
            return _ROOT if enclosing is None else enclosing.context
        if not inherit:
            return _ROOT
        if enclosing is not None and context.get(RECORDING_KEY) is not enclosing and enclosing.live:
            # Found through a framework: its span never was in a context, so it is put there now.
            here = trace_api.get_current_span(context).get_span_context()
            known = self._open.get(here.span_id)
            if known is not enclosing:
                return trace_api.set_span_in_context(enclosing.span, context)
        return context

    # --- opening ---------------------------------------------------------------------------------

    def _known(
        self, key: Hashable, kind: Kind, name: str, door: Hashable, candidates: tuple[Recording, ...]
    ) -> Recording | None:
        """Return the open call that this start reports again, joined; a repeated start ends the first as abandoned."""
        with self._lock:
            known = self._by_key.get(key) or _twin(kind, name, door, candidates)
            if known is None:
                return None
            if door not in known.doors:
                known.doors = (*known.doors, door)
                if key != known.key:
                    known.aliases = (*known.aliases, key)
                    self._by_key[key] = known
                return known
        self._close(known, "abandoned")
        return None

    def _begin(
        self,
        key: Hashable,
        door: Hashable,
        kind: Kind,
        name: str,
        enclosing: Recording | None,
        base: Context,
        now: float,
        conversation_id: str | None,
        essential: Mapping[str, Any],
    ) -> Recording:
        span_name = _span_name(kind, name)
        if enclosing is None:
            started = self._spans.start(span_name, base, essential, rate=self.settings.sample_rate, run=None)
        else:
            run = (enclosing.span, True, enclosing.attach_span) if enclosing.dropped else None
            started = self._spans.start(span_name, base, essential, rate=1.0, run=run)
        span, dropped, attach_span = started
        recording = Recording(key, door, kind, name, span, base, enclosing, conversation_id, essential)
        if dropped or not span.is_recording():
            recording.live = False
            recording.attach_span = attach_span
            # The tools of an agent that a sampler left out are left out too, whatever that sampler would say of them.
            recording.dropped = dropped or kind == "agent"
        self._register(recording, now)
        return recording

    def _register(self, recording: Recording, now: float) -> None:
        span_id = recording.span.get_span_context().span_id if not recording.dropped else 0
        recording.open_id = span_id or -id(recording)
        with self._lock:
            recording.root.touched = now
            self._by_key[recording.key] = recording
            self._open[recording.open_id] = recording
            above = recording.parent
            if above is not None and recording.kind in STEP_KINDS:
                above.has_tool_child = True
                if recording.agent is not None:
                    recording.agent.calls += 1
        if len(self._open) > self.settings.max_open_runs:
            self._evict()

    def _take(
        self, recording: Recording, arguments: Any, given: Any, query: str | None, attributes: Mapping[str, Any] | None
    ) -> None:
        settings = self.settings
        if recording.capture:
            if arguments is not UNSET:
                content.put_arguments(recording, arguments, settings.arguments_limit)
            if query is not None:
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
        with self._lock:
            if recording.ended:
                return
            recording.ended = True
            for key in (recording.key, *recording.aliases):
                if self._by_key.get(key) is recording:
                    del self._by_key[key]
            self._open.pop(recording.open_id, None)
            recording.forget_cycles()
            recording.root.touched = self._clock()
            if recording.agent is not None and recording.kind in STEP_KINDS:
                recording.agent.last_call_interrupted = outcome == "interrupted"
        if recording.live:
            recording.outcome = outcome
            ending.end_span(recording)
            recording.live = False

    def _sweep(self, now: float) -> None:
        idle = self.settings.idle_seconds
        self._next_sweep = now + max(idle / 16, 1.0)
        self._abandon(r for r in list(self._open.values()) if now - r.root.touched >= idle)

    def _evict(self) -> None:
        opened = list(self._open.values())
        count = max(len(opened) - self.settings.max_open_runs, len(opened) // _EVICTED_AT_ONCE, 1)
        self._abandon(heapq.nsmallest(count, opened, key=lambda r: r.root.touched))

    def _abandon(self, recordings: Iterable[Recording]) -> None:
        for recording in list(recordings)[::-1]:
            self._close(recording, "abandoned")


def _twin(kind: Kind, name: str, door: Hashable, candidates: tuple[Recording, ...]) -> Recording | None:
    """Return the open tool call that this start is a second report of: same name, another door, nothing inside yet."""
    if kind not in STEP_KINDS:
        return None
    for one in candidates:
        fits = one.kind in STEP_KINDS and one.name == name and not one.has_tool_child and not one.ended
        if fits and door not in one.doors:
            return one
    return None


def _identity(
    kind: Kind, name: str, enclosing: Recording | None, base: Context, conversation_id: str | None
) -> tuple[Mapping[str, Any], str | None]:
    """Return the attributes that say what is called, by which agent, in which conversation; and that conversation."""
    agent: str | None = None
    if enclosing is not None:
        if conversation_id is None:
            conversation_id = enclosing.conversation_id
        agent = enclosing.agent.name if enclosing.agent is not None else None
    else:
        # The agent may run in another process, which said its name when it called.
        remote = baggage.get_baggage(semconv.AGENT_NAME, base)
        agent = remote if isinstance(remote, str) else None
    if conversation_id is None:
        conversation_id = conversation_in(base)
    return _constants(kind, name, agent if kind != "agent" else None, conversation_id), conversation_id


@lru_cache(maxsize=1_024)
def _constants(kind: Kind, name: str, agent: str | None, conversation_id: str | None) -> Mapping[str, Any]:
    operation = _OPERATIONS[kind]
    attributes = {semconv.OPERATION_NAME: operation} if operation else {}
    attributes[_NAME_ATTRIBUTES[kind]] = name
    if agent is not None:
        attributes[semconv.AGENT_NAME] = agent
    if conversation_id is not None:
        attributes[semconv.CONVERSATION_ID] = conversation_id
    return MappingProxyType(attributes)


@lru_cache(maxsize=1_024)
def _span_name(kind: Kind, name: str) -> str:
    operation = _OPERATIONS[kind]
    return semconv.span_name(operation, name) if operation else name


def _more_identity(
    essential: Mapping[str, Any],
    call_id: str | None,
    description: str | None,
    gold_path: str | None,
    kind: Kind,
    enclosing: Recording | None,
    base: Context,
) -> Mapping[str, Any]:
    more: dict[str, Any] = {}
    if call_id is not None:
        more[semconv.TOOL_CALL_ID] = call_id
    if description is not None:
        more[semconv.TOOL_DESCRIPTION] = description
    if kind == "agent":
        if gold_path is None and (enclosing is None or enclosing.agent is None):
            # Baggage speaks of the run as a whole, so nested agents do not take it for theirs.
            found = baggage.get_baggage(semconv.REQUEST_GOLD_PATH, base)
            gold_path = found if isinstance(found, str) else None
        if gold_path is not None:
            more[semconv.REQUEST_GOLD_PATH] = gold_path
    return {**essential, **more} if more else essential


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
