"""Joining the application's own tracer provider: once per provider, and never in its place."""

from __future__ import annotations

from typing import Any, Final
from weakref import WeakKeyDictionary

from opentelemetry import trace
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter

from agentpath_sdk.errors import ConfigurationError
from agentpath_sdk.online.pipeline import Pipeline
from agentpath_sdk.online.processor import AgentPathSpanProcessor, ForwardingSpanProcessor

__all__ = ["check_target", "detach_all", "join", "provider_of", "sdk_provider"]

_plain: Final[WeakKeyDictionary[Any, AgentPathSpanProcessor]] = WeakKeyDictionary()
_forwarding: Final[WeakKeyDictionary[Any, list[tuple[object, ForwardingSpanProcessor]]]] = WeakKeyDictionary()
"""By provider: what is forwarded to, and the processor that does. A provider cannot let a processor go, so
configuring again with the same one must find it, or its spans would go out twice."""


def sdk_provider() -> Any | None:
    """Return the global tracer provider if one that takes span processors is set, else None."""
    provider = trace.get_tracer_provider()
    return provider if hasattr(provider, "add_span_processor") else None


def provider_of(given: trace.TracerProvider | None) -> Any:
    """Return ``given``, else the global provider; where none is set yet, an SDK provider is made and set.

    Raises:
        ConfigurationError: the provider takes no span processors.
    """
    if given is None and isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
        trace.set_tracer_provider(TracerProvider())
    provider = trace.get_tracer_provider() if given is None else given
    if not hasattr(provider, "add_span_processor"):
        raise ConfigurationError(
            f"tracer provider {type(provider).__name__!r} takes no span processors; "
            "pass the OpenTelemetry SDK's with configure(tracer_provider=...)"
        )
    return provider


def check_target(provider: Any, target: Any) -> None:
    """Refuse what nothing can be forwarded to, and what gets the provider's spans already.

    Raises:
        ConfigurationError: ``target`` is no span processor or exporter, or was added to ``provider``.
    """
    if target is None:
        return
    kind = type(target).__name__
    if isinstance(target, type) or not (hasattr(target, "on_end") or hasattr(target, "export")):
        raise ConfigurationError(
            f"forward_to: found {target.__name__ if isinstance(target, type) else kind}; "
            "give a span exporter, e.g. OTLPSpanExporter(), or the BatchSpanProcessor around it"
        )
    if any(target is one or target is _exporter_of(one) for one in _processors_of(provider)):
        raise ConfigurationError(
            f"forward_to: this {kind} was added to the tracer provider already, so every span would be sent twice; "
            "leave out add_span_processor(...): configure() adds it"
        )


def _processors_of(provider: Any) -> list[Any]:
    """Return the provider's processors; none where the SDK's inside, which has no public way, looks different."""
    found: Any = getattr(getattr(provider, "_active_span_processor", None), "_span_processors", ())
    return list(found) if hasattr(found, "__iter__") else []


def _exporter_of(processor: Any) -> Any:
    inside = getattr(processor, "_batch_processor", None)
    return getattr(processor, "span_exporter", None) if inside is None else getattr(inside, "_exporter", None)


def join(provider: Any, pipeline: Pipeline, forward_to: SpanProcessor | SpanExporter | None) -> None:
    """Feed ``pipeline`` from ``provider``: beside its processors, or standing before ``forward_to``."""
    detach_all(provider)
    if forward_to is None:
        _join_beside(provider, pipeline)
    else:
        _join_before(provider, pipeline, forward_to)


def detach_all(provider: Any) -> None:
    """Stop feeding anything from ``provider``; what is held is passed on."""
    if (plain := _plain.get(provider)) is not None:
        plain.pipeline = None
    for _, processor in _forwarding.get(provider, ()):
        processor.detach()


def _join_beside(provider: Any, pipeline: Pipeline) -> None:
    plain = _plain.get(provider)
    if plain is not None:
        plain.pipeline = pipeline
        return
    _plain[provider] = processor = AgentPathSpanProcessor(pipeline)
    provider.add_span_processor(processor)
    _move_to_front(provider, processor)


def _join_before(provider: Any, pipeline: Pipeline, forward_to: Any) -> None:
    known = _forwarding.setdefault(provider, [])
    for target, processor in known:
        if target is forward_to:
            processor.attach(pipeline)
            return
    following = forward_to if hasattr(forward_to, "on_end") else BatchSpanProcessor(forward_to)
    processor = ForwardingSpanProcessor(following, pipeline)
    known.append((forward_to, processor))
    provider.add_span_processor(processor)


def _move_to_front(provider: Any, processor: SpanProcessor) -> None:
    """Have the provider flush and shut down ``processor`` before the others: its ``evaluate`` spans go to them.

    The SDK has no public way; where its inside looks different, the order stays and a flush of the provider sends
    those spans with the next batch.
    """
    processors = getattr(provider, "_active_span_processor", None)
    lock, order = getattr(processors, "_lock", None), getattr(processors, "_span_processors", None)
    if processors is not None and lock is not None and isinstance(order, tuple):
        with lock:
            others = (other for other in processors._span_processors if other is not processor)
            processors._span_processors = (processor, *others)
