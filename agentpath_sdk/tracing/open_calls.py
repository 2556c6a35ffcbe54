"""The calls that are open, and where a new one belongs among them."""

from __future__ import annotations

import threading
from collections.abc import Hashable
from typing import Final

from opentelemetry import trace as trace_api
from opentelemetry.context import Context

from agentpath_sdk.tracing.frameworks import current_keys
from agentpath_sdk.tracing.recording import RECORDING_KEY, STEP_KINDS, Kind, Outcome, Recording

__all__ = ["OpenCalls", "Place"]

_ROOT: Final = Context()

Place = tuple[Recording | None, Recording | None, Context]
"""The enclosing call; a call that may be this very one, reported by another door; the context to start in."""


class OpenCalls:
    """Open calls by key and by span. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._by_key: dict[Hashable, Recording] = {}
        self._by_span: dict[int, Recording] = {}
        """By span id; by identity where the span has none (no provider, run left out)."""

    def __len__(self) -> int:
        return len(self._by_span)

    def all(self) -> list[Recording]:
        """Return the open calls, oldest first."""
        return list(self._by_span.values())

    def get(self, key: Hashable) -> Recording | None:
        """Return the call known under ``key``, else None."""
        return self._by_key.get(key)

    def with_span(self, trace_id: int, span_id: int) -> Recording | None:
        """Return the call with this span, else None."""
        found = self._by_span.get(span_id)
        return found if found is not None and found.trace_id == trace_id else None

    def add(self, recording: Recording, now: float) -> None:
        """Take in a call that has begun."""
        span_id = 0 if recording.dropped else recording.span.get_span_context().span_id
        recording.open_id = span_id or -id(recording)
        with self._lock:
            recording.root.touched = now
            self._by_key[recording.key] = recording
            self._by_span[recording.open_id] = recording
            above = recording.parent
            if above is not None and recording.kind in STEP_KINDS:
                above.has_tool_child = True
                if recording.agent is not None:
                    recording.agent.calls += 1

    def remove(self, recording: Recording, outcome: Outcome, now: float) -> bool:
        """Let go of a call that ends; False when it has ended before."""
        with self._lock:
            if recording.ended:
                return False
            recording.ended = True
            if self._by_key.get(recording.key) is recording:
                del self._by_key[recording.key]
            for alias in recording.aliases:
                self.forget_alias(alias, recording)
            self._by_span.pop(recording.open_id, None)
            recording.root.touched = now
            if recording.agent is not None and recording.kind in STEP_KINDS:
                recording.agent.last_call_interrupted = outcome == "interrupted"
            recording.forget_cycles()
        return True

    def forget_alias(self, key: Hashable, recording: Recording) -> None:
        """Let go of a further key of a call that is still open."""
        if self._by_key.get(key) is recording:
            del self._by_key[key]

    def drop_all(self) -> None:
        """Forget everything without ending it."""
        for recording in self.all():
            recording.live, recording.ended = False, True
        # A lock that another thread held at the moment of a fork would stay held.
        self._lock = threading.RLock()
        self._by_key, self._by_span = {}, {}

    def reported_before(
        self, key: Hashable, kind: Kind, door: Hashable, twin: Recording | None
    ) -> tuple[Recording | None, bool]:
        """Return the open call that a start reports again, and whether it was joined (else it is a repeated start)."""
        with self._lock:
            known = self._by_key.get(key)
            if known is None:
                if twin is None or not _is_twin(twin, kind, door):
                    return None, False
                known = twin
            if known.failed_door is not None and known.failed_door == door:
                known.try_again()
            elif door in known.doors:
                return known, False
            else:
                known.doors = (*known.doors, door)
            if key != known.key:
                known.aliases = (*known.aliases, key)
                self._by_key[key] = known
            return known, True

    # --- where a call belongs --------------------------------------------------------------------

    def place(
        self, parent: Hashable | None, context: Context, inherit: bool, kind: Kind, name: str, function: object
    ) -> Place:
        """Return where a call that starts in ``context`` belongs. Ids are trusted before the context."""
        if parent is not None:
            return self._place_below(parent, context, kind, name, function)
        if not inherit:
            return None, None, _ROOT
        enclosing = self.innermost(context)
        if enclosing is None:
            return None, None, context
        at_hand = context.get(RECORDING_KEY) is enclosing or not enclosing.live
        base = context if at_hand else self._with_span_of(enclosing, context)
        return enclosing, enclosing if enclosing.is_same_call(name, function) else None, base

    def innermost(self, context: Context) -> Recording | None:
        """Return the innermost of the context's call and the frameworks' current calls."""
        noted: Recording | None = context.get(RECORDING_KEY)  # type: ignore[assignment]  # only recordings are put there
        found = noted if noted is not None and noted.is_current_in(context) else self._ambient(context, noted)
        for key in current_keys():
            other = self._by_key.get(key)
            if other is not None and (found is None or other.is_below(found)):
                found = other
        return found

    def _place_below(self, parent: Hashable, context: Context, kind: Kind, name: str, function: object) -> Place:
        given = self._by_key.get(parent)
        if given is None:
            return None, None, _ROOT
        if kind not in STEP_KINDS or given.is_same_call(name, function):
            return given, given, given.context
        # A decorated stand-in of a framework's tool opens between the framework's parent and the framework's report.
        # It has attached its context, so that no framework need be asked.
        noted: Recording | None = context.get(RECORDING_KEY)  # type: ignore[assignment]  # only recordings are put there
        between = (
            noted is not None
            and noted is not given
            and not noted.ended
            and noted.is_same_call(name, function)
            and noted.is_below(given)
        )
        return given, noted if between else None, given.context

    def _ambient(self, context: Context, noted: Recording | None) -> Recording | None:
        if noted is not None and noted.dropped:
            return noted
        here = trace_api.get_current_span(context).get_span_context()
        if not here.is_valid:
            return None
        # Below spans of other instrumentations the noted call still encloses, unless a new trace was begun.
        same_trace = noted is not None and here.trace_id == noted.trace_id
        return self._by_span.get(here.span_id, noted if same_trace else None)

    def _with_span_of(self, enclosing: Recording, context: Context) -> Context:
        """Return ``context`` with the span of a call found through a framework, which never attached it."""
        here = trace_api.get_current_span(context).get_span_context()
        if self._by_span.get(here.span_id) is enclosing:
            return context
        return trace_api.set_span_in_context(enclosing.span, context)


def _is_twin(one: Recording, kind: Kind, door: Hashable) -> bool:
    """Return whether a start inside what may be the same call is a second report of it: from another door, with
    nothing inside yet; or another attempt, from a door whose last one failed."""
    if kind not in STEP_KINDS or one.kind not in STEP_KINDS or one.ended:
        return False
    if one.failed_door is not None and one.failed_door == door:
        return True
    return not one.has_tool_child and door not in one.doors
