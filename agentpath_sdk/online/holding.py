"""Agent spans wait here for their verdict, so that the score can stand on the span itself."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

from opentelemetry.attributes import BoundedAttributes
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.util import BoundedList

from agentpath_sdk._guard import HEALTH, guard
from agentpath_sdk.online.clock import SYSTEM_CLOCK, Clock
from agentpath_sdk.online.forks import reset_after_fork

__all__ = ["Hold", "with_attributes"]

Key: TypeAlias = tuple[str, str]
"""Trace id and span id, in hex."""

Forward: TypeAlias = Callable[[ReadableSpan], None]


@dataclass(frozen=True, slots=True)
class _Held:
    span: ReadableSpan
    forward: Forward
    until: float


class Hold:
    """Holds each span until ``release``, for at most ``seconds`` and at most ``capacity`` spans.

    A span leaves exactly once: whoever takes it out of the table forwards it. On time-out, overflow and
    ``release_all`` it leaves as it came. With ``remember`` a verdict given before its span arrives (a
    batch exporter hands spans over late) is kept for it, for as many spans as may be held.
    """

    def __init__(
        self, *, seconds: float, capacity: int = 2_048, remember: bool = False, clock: Clock = SYSTEM_CLOCK
    ) -> None:
        self._seconds = seconds
        self._remember = remember
        self._capacity = max(capacity, 1)
        self._clock = clock
        self._reset()
        reset_after_fork(self)

    def _reset(self) -> None:
        self._lock = threading.RLock()
        self._held: OrderedDict[Key, _Held] = OrderedDict()
        self._verdicts: OrderedDict[Key, Mapping[str, Any]] = OrderedDict()

    def after_fork(self) -> None:
        """Start empty: the parent forwards what it holds."""
        self._reset()

    def __len__(self) -> int:
        return len(self._held)

    def hold(self, span: ReadableSpan, forward: Forward) -> None:
        """Forward ``span`` once its verdict is there (at once if it is), or when it may wait no longer."""
        key = _key(span)
        overflow: _Held | None = None
        with self._lock:
            verdict = self._verdicts.pop(key, None)
            if verdict is None:
                if len(self._held) >= self._capacity:
                    overflow = self._held.popitem(last=False)[1]
                self._held[key] = _Held(span, forward, self._clock.monotonic() + self._seconds)
        if verdict is not None:
            _forward(forward, with_attributes(span, verdict))
        if overflow is not None:
            HEALTH.count("online.held_overflow")
            _forward(overflow.forward, overflow.span)

    def release(self, trace_id: str, span_id: str, attributes: Mapping[str, Any]) -> None:
        """Forward a copy of the held span with ``attributes`` added."""
        key = (trace_id, span_id)
        with self._lock:
            held = self._held.pop(key, None)
            if held is None and self._remember:
                self._verdicts[key] = attributes
                if len(self._verdicts) > self._capacity:
                    self._verdicts.popitem(last=False)
        if held is not None:
            _forward(held.forward, with_attributes(held.span, attributes))

    def let_go(self, span: ReadableSpan) -> None:
        """Forward ``span`` as it came, if it is still held: there will be no verdict."""
        with self._lock:
            held = self._held.pop(_key(span), None)
        if held is not None:
            _forward(held.forward, held.span)

    def expire(self) -> float | None:
        """Forward what has waited too long; return the seconds until the next span has, None if none waits."""
        now = self._clock.monotonic()
        for held in self._take(lambda held: held.until <= now):
            HEALTH.count("online.held_timeout")
            _forward(held.forward, held.span)
        with self._lock:
            return max(next(iter(self._held.values())).until - now, 0.0) if self._held else None

    def release_all(self) -> None:
        """Forward everything as it came."""
        for held in self._take(lambda _: True):
            _forward(held.forward, held.span)

    def _take(self, wanted: Callable[[_Held], bool]) -> list[_Held]:
        taken: list[_Held] = []
        with self._lock:
            while self._held and wanted(next(iter(self._held.values()))):
                taken.append(self._held.popitem(last=False)[1])
        return taken


def with_attributes(span: ReadableSpan, attributes: Mapping[str, Any]) -> ReadableSpan:
    """Return a copy of ``span`` with ``attributes`` added; the SDK's spans are frozen once they have ended."""
    merged = BoundedAttributes(attributes={**(span.attributes or {}), **attributes})
    merged.dropped = span.dropped_attributes
    return ReadableSpan(
        name=span.name,
        context=span.get_span_context(),
        parent=span.parent,
        resource=span.resource,
        attributes=merged,
        events=_bounded(span.events, span.dropped_events),
        links=_bounded(span.links, span.dropped_links),
        kind=span.kind,
        status=span.status,
        start_time=span.start_time,
        end_time=span.end_time,
        instrumentation_scope=span.instrumentation_scope,
    )


def _bounded(items: Sequence[Any], dropped: int) -> Sequence[Any]:
    """Return ``items`` as the SDK keeps them, so that the number of dropped ones stays with them."""
    kept = cast("Any", BoundedList(None))
    kept.extend(items)
    kept.dropped = dropped
    return cast("Sequence[Any]", kept)


def _key(span: ReadableSpan) -> Key:
    context = span.get_span_context()
    return (f"{context.trace_id:032x}", f"{context.span_id:016x}") if context is not None else ("", "")


def _forward(forward: Forward, span: ReadableSpan) -> None:
    with guard("online.forward"):
        forward(span)
