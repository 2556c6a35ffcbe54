"""The hot path: ended spans go from the user's thread into a bounded queue, or are known to be lost."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from opentelemetry.attributes import BoundedAttributes
from opentelemetry.sdk.trace import ReadableSpan

from agentpath_sdk import semconv
from agentpath_sdk._guard import HEALTH
from agentpath_sdk.online.forks import reset_after_fork

if TYPE_CHECKING:
    from agentpath_sdk.online.worker import Worker

__all__ = ["RUN_OPERATIONS", "VOCABULARY", "Intake", "attributes_of"]

VOCABULARY: Final = (semconv.OPERATION_NAME, semconv.STEP_PHASE)
"""A span with one of these attributes speaks of agents, models or tools: one key per span vocabulary."""

RUN_OPERATIONS: Final = frozenset({semconv.OP_INVOKE_AGENT, "invoke_workflow"})
"""GenAI operations whose span is a run of its own."""

_KEY, *_FURTHER_KEYS = VOCABULARY
_PLAIN_KEPT: Final = 2_048
_HEAVY: Final = 8_192
"""Characters from which a plain span is not kept aside as it is: all of the process's spans may be as large."""
_SHORT: Final = 256
_LOSSES_KEPT: Final = 65_536


class Intake:
    """A bounded queue of ended spans that may belong to an agent's run.

    ``started`` and ``offer`` run on the user's threads: no lock, no loop, no copy. A plain span (no agent
    vocabulary) matters only as a link between an agent and its tools: it is queued when an agent's span
    was seen to start in its trace; else the latest few thousand are kept aside for an agent's span that
    turns up later, as happens behind a batch exporter; large ones without their long values. When the
    queue is full the span is dropped, and its trace is reported by ``losses``, so that it is never scored
    as if it were whole.

    For the reader: ``drain`` first, then ``starts`` and ``losses``. Whatever happened before a drained
    span ended is then certain to be known.
    """

    def __init__(self, *, capacity: int, traces: int, worker: Worker) -> None:
        self._capacity = capacity
        self._traces_kept = max(traces, 1)
        self._worker = worker
        self._closed = False
        self._reset()
        reset_after_fork(self)

    def _reset(self) -> None:
        self._queue: deque[ReadableSpan] = deque()
        self._losses: deque[int] = deque()
        self._overwhelmed = False
        self._starts: deque[tuple[int, int]] = deque(maxlen=self._traces_kept)
        self._plain: deque[ReadableSpan] = deque(maxlen=_PLAIN_KEPT)
        self._unannounced: deque[int] = deque(maxlen=self._traces_kept)
        # Two generations instead of one bounded table: forgetting the old needs no iteration, hence no lock.
        self._traces: set[int] = set()
        self._older_traces: set[int] = set()

    def after_fork(self) -> None:
        """Start empty: what was queued is the parent's."""
        self._reset()

    def __len__(self) -> int:
        return len(self._queue)

    def close(self) -> None:
        """Take no more spans."""
        self._closed = True

    def started(self, span: ReadableSpan) -> None:
        """Note that ``span``'s trace holds an agent, if ``span`` says so already."""
        attributes, context = attributes_of(span), span.context
        if context is None or not context.trace_flags.sampled or not _speaks(attributes):
            return
        self._note_trace(context.trace_id)
        if attributes.get(_KEY) in RUN_OPERATIONS:
            self._starts.append((context.trace_id, context.span_id))

    def offer(self, span: ReadableSpan) -> bool:
        """Queue an ended span if it may belong to an agent's run; return whether it was queued."""
        # Written out, not called: this much runs for every span of the process.
        raw: Any = span
        try:
            attributes: Mapping[str, Any] = raw._attributes._dict  # see attributes_of
        except AttributeError:
            attributes = span.attributes or {}
        context = span.context
        if context is None or self._closed:
            return False
        trace_id = context.trace_id
        known = trace_id in self._traces or trace_id in self._older_traces
        if _KEY not in attributes and attributes.keys().isdisjoint(_FURTHER_KEYS):
            if not known:
                if span.parent is not None:
                    self._plain.append(_slim(span, attributes) if _is_heavy(raw, attributes) else span)
                return False
        elif attributes.get(_KEY) == semconv.OP_EVALUATION:
            return False
        if not context.trace_flags.sampled:
            return False
        if not known:
            self._note_trace(trace_id)
            self._unannounced.append(trace_id)
        if len(self._queue) >= self._capacity:
            self._lose(trace_id)
            return False
        self._queue.append(span)
        if self._worker.idle:
            self._worker.wake()
        return True

    def drain(self) -> Iterator[ReadableSpan]:
        """Yield what is queued now, each span once; links of late-discovered agents come first."""
        yield from self._adopted()
        for _ in range(len(self._queue)):
            yield self._queue.popleft()

    def starts(self) -> list[tuple[int, int]]:
        """Return trace id and span id of the agents' spans that have started since the last call."""
        return [self._starts.popleft() for _ in range(len(self._starts))]

    def losses(self) -> tuple[list[int], bool]:
        """Return the traces that lost spans since the last call, and whether there were too many to name."""
        lost = [self._losses.popleft() for _ in range(len(self._losses))]
        overwhelmed, self._overwhelmed = self._overwhelmed, False
        return lost, overwhelmed

    def pending(self) -> bool:
        """Return whether anything waits for the worker."""
        return bool(self._queue or self._losses)

    def _note_trace(self, trace_id: int) -> None:
        if len(self._traces) >= self._traces_kept:
            self._older_traces, self._traces = self._traces, set()
        self._traces.add(trace_id)

    def _lose(self, trace_id: int) -> None:
        HEALTH.count("online.dropped_spans")
        if len(self._losses) < _LOSSES_KEPT:
            self._losses.append(trace_id)
        else:
            self._overwhelmed = True
        if self._worker.idle:
            self._worker.wake()

    def _adopted(self) -> Iterator[ReadableSpan]:
        if not self._unannounced:
            return
        wanted = {self._unannounced.popleft() for _ in range(len(self._unannounced))}
        for _ in range(len(self._plain)):
            span = self._plain.popleft()
            if span.context is not None and span.context.trace_id in wanted:
                yield span
            else:
                self._plain.append(span)


def attributes_of(span: ReadableSpan) -> Mapping[str, Any]:
    """Return the attributes for reading, without the two wrappers that make each look-up ten times as slow."""
    raw: Any = span
    try:
        stored: Mapping[str, Any] = raw._attributes._dict
        return stored
    except AttributeError:
        return span.attributes or {}


def _speaks(attributes: Mapping[str, Any]) -> bool:
    return _KEY in attributes or not attributes.keys().isdisjoint(_FURTHER_KEYS)


def _is_heavy(span: Any, attributes: Mapping[str, Any]) -> bool:
    # Exact types, for speed: this runs for most spans of the process. The SDK stores no others.
    weight = 0
    for value in attributes.values():
        kind = value.__class__
        if kind is str:
            weight += len(value)
        elif kind is tuple or kind is bytes:
            weight += _SHORT * len(value)
    return weight > _HEAVY or bool(getattr(span, "_events", ()))


def _slim(span: ReadableSpan, attributes: Mapping[str, Any]) -> ReadableSpan:
    """Return the span with its place and its short values only; what is left out counts as dropped."""
    kept = {name: value for name, value in attributes.items() if not _is_long(value)}
    slim = BoundedAttributes(attributes=kept)
    slim.dropped = span.dropped_attributes + len(attributes) - len(kept)
    return ReadableSpan(
        name=span.name,
        context=span.context,
        parent=span.parent,
        resource=span.resource,
        attributes=slim,
        kind=span.kind,
        status=span.status,
        start_time=span.start_time,
        end_time=span.end_time,
        instrumentation_scope=span.instrumentation_scope,
    )


def _is_long(value: object) -> bool:
    return isinstance(value, tuple) or (isinstance(value, str | bytes) and len(value) > _SHORT)
