"""The tracer in use, and the start of a span: sampling of whole runs, faults of providers kept away."""

from __future__ import annotations

import atexit
import threading
from collections.abc import Callable, Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Final, TypeAlias

from opentelemetry import context as context_api
from opentelemetry import trace as trace_api
from opentelemetry.context import Context
from opentelemetry.trace import NonRecordingSpan, Span, SpanContext, Tracer, TracerProvider

from agentpath_sdk import semconv
from agentpath_sdk._guard import HEALTH

__all__ = ["SpanSource", "StartedSpan", "keeps"]

# The key other instrumentations set to say "record nothing here"; it has no public name yet.
_SUPPRESS: Final[str] = getattr(context_api, "_SUPPRESS_INSTRUMENTATION_KEY", "suppress_instrumentation")
_LOW_64: Final = (1 << 64) - 1


def _own_version() -> str | None:
    try:
        return version("agentpath-sdk")
    except PackageNotFoundError:  # run from a source tree that was never installed
        return None


_VERSION: Final = _own_version()


def keeps(trace_id: int, rate: float) -> bool:
    """Return whether a run with this trace id is traced: the rule of OpenTelemetry's TraceIdRatioBased sampler,
    so that equal rates in two processes, or in our settings and a sampler, choose the same runs."""
    return (trace_id & _LOW_64) < round(rate * (1 << 64))


StartedSpan: TypeAlias = tuple[Span, bool, bool]
"""A span; whether its run is left out; whether code inside gets it as current span (False: it keeps its own)."""


class _PresetIds:
    """An id generator that hands out a trace id chosen beforehand, once, in the same thread."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self._preset = threading.local()

    def preset(self, trace_id: int | None) -> None:
        self._preset.trace_id = trace_id

    def generate_trace_id(self) -> int:
        chosen: int | None = getattr(self._preset, "trace_id", None)
        if chosen is None:
            return int(self._inner.generate_trace_id())
        self._preset.trace_id = None
        return chosen

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


class SpanSource:
    """Starts spans with the provider that is current at that moment."""

    def __init__(self, provider: TracerProvider | None = None, *, at_exit: Callable[[], None] | None = None) -> None:
        self._given = provider
        self._provider: TracerProvider | None = None
        self._tracer: Tracer | None = None
        self._at_exit = at_exit

    def use(self, provider: TracerProvider | None) -> None:
        """Take spans from ``provider`` from now on; None = the global one."""
        self._given = provider

    def start(self, name: str, context: Context, attributes: Mapping[str, Any], rate: float) -> StartedSpan:
        """Start a span in ``context``; a run begins with a ``rate`` below 1 where it is sampled.

        A provider, sampler or processor that raises costs this span only: a span that records nothing is returned.
        """
        if context.get(_SUPPRESS):
            return _left_out(context)
        try:
            tracer = self._current_tracer()
            if rate < 1.0:
                return self._start_sampled(tracer, name, context, attributes, rate)
            return tracer.start_span(name, context, attributes=attributes), False, True
        except Exception as error:
            HEALTH.fault("tracing.start_span", error)
            return _left_out(context)

    def _start_sampled(
        self, tracer: Tracer, name: str, context: Context, attributes: Mapping[str, Any], rate: float
    ) -> StartedSpan:
        parent = trace_api.get_current_span(context).get_span_context()
        if not parent.is_valid:
            return self._start_root(tracer, name, context, attributes, rate)
        if keeps(parent.trace_id, rate):
            return tracer.start_span(name, context, attributes=attributes), False, True
        return _left_out(context)

    def _start_root(
        self, tracer: Tracer, name: str, context: Context, attributes: Mapping[str, Any], rate: float
    ) -> StartedSpan:
        ids = self._own_ids(tracer)
        if ids is None:
            # A provider that does not let its ids be known beforehand: a span started and never ended would leak there.
            HEALTH.note("tracing.sampling", "this tracer provider does not support sample_rate; all runs are traced")
            return (tracer.start_span(name, context, attributes=attributes), False, True)
        trace_id = ids.generate_trace_id()
        if not keeps(trace_id, rate):
            unsampled = SpanContext(trace_id, ids.generate_span_id(), is_remote=False)
            return (NonRecordingSpan(unsampled), True, True)
        ids.preset(trace_id)
        try:
            return (tracer.start_span(name, context, attributes=attributes), False, True)
        finally:
            ids.preset(None)

    def _current_tracer(self) -> Tracer:
        provider = self._given or trace_api.get_tracer_provider()
        if provider is not self._provider or self._tracer is None:
            self._adopt(provider)
        assert self._tracer is not None
        return self._tracer

    def _adopt(self, provider: TracerProvider) -> None:
        self._tracer, self._provider = provider.get_tracer(semconv.SCOPE_NAME, _VERSION), provider
        if self._at_exit is not None:
            # Exit handlers run last in, first out: ours must come before the provider's own shutdown.
            atexit.unregister(self._at_exit)
            atexit.register(self._at_exit)

    def _own_ids(self, tracer: Tracer) -> _PresetIds | None:
        """Return our id generator in ``tracer``, put there on first use; None where the tracer has none to replace."""
        inner = getattr(tracer, "id_generator", None)
        if inner is not None and not isinstance(inner, _PresetIds):
            inner = _PresetIds(inner)
            tracer.id_generator = inner  # type: ignore[attr-defined]  # an attribute of the SDK's tracer
        return inner


def _left_out(context: Context) -> StartedSpan:
    """Return a run that is not recorded, leaving the code inside under whatever span it already has."""
    span = trace_api.get_current_span(context)
    return (NonRecordingSpan(span.get_span_context()), True, False)
