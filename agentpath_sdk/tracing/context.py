"""Taking the run along: to conversations, threads, executors, event loops and other processes."""

from __future__ import annotations

import contextvars
import functools
import threading
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from contextvars import Token
from types import TracebackType
from typing import Any, Final, ParamSpec, Self, TypeVar

from opentelemetry import baggage
from opentelemetry import context as context_api
from opentelemetry.baggage.propagation import W3CBaggagePropagator
from opentelemetry.context import Context
from opentelemetry.propagators.composite import CompositePropagator
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from agentpath_sdk import semconv
from agentpath_sdk._guard import guard
from agentpath_sdk.errors import ConfigurationError
from agentpath_sdk.tracing.attaching import attach, detach
from agentpath_sdk.tracing.conversation import conversation_in, with_conversation
from agentpath_sdk.tracing.recorder import get_recorder

__all__ = ["TracingExecutor", "extract", "inject", "propagate", "traced_thread", "use_conversation", "use_gold_path"]

_P = ParamSpec("_P")
_R = TypeVar("_R")

# W3C headers whatever the application's own propagator is: both ends are ours.
_PROPAGATOR: Final = CompositePropagator([TraceContextTextMapPropagator(), W3CBaggagePropagator()])


class _Attached:
    """Attaches a context for the length of a block."""

    def __init__(self, make: Callable[[], Context]) -> None:
        self._make = make
        self._tokens: list[Token[Context]] = []

    def __enter__(self) -> Self:
        with guard("tracing.context"):
            self._tokens.append(attach(self._make()))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._tokens:
            detach(self._tokens.pop())


class use_conversation(_Attached):  # noqa: N801 - reads as a statement: ``with use_conversation("t1"):``
    """Runs begun inside the block belong to conversation ``conversation_id``: several turns, one conversation.

    Reaches tasks by itself, threads through ``propagate`` and ``TracingExecutor``, other processes through ``inject``.
    A run inside another one keeps that one's conversation.
    """

    def __init__(self, conversation_id: str) -> None:
        if not conversation_id:
            raise ConfigurationError("use_conversation needs the id of a conversation, a text that is not empty")
        super().__init__(lambda: with_conversation(conversation_id))


class use_gold_path(_Attached):  # noqa: N801 - reads as a statement, like ``use_conversation``
    """Runs begun inside the block are scored against gold path ``gold_path_id``; kept as OpenTelemetry baggage."""

    def __init__(self, gold_path_id: str) -> None:
        if not gold_path_id:
            raise ConfigurationError("use_gold_path needs the id of a gold path, a text that is not empty")
        super().__init__(lambda: baggage.set_baggage(semconv.REQUEST_GOLD_PATH, gold_path_id))


def propagate(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Return ``function`` bound to the context of this moment, for a thread, an executor or another loop.

    It may be called many times and from many threads at once; context variables it sets stay inside each call.
    """
    context = contextvars.copy_context()

    @functools.wraps(function)
    def inside(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        # A Context runs one call at a time, so each call gets its own copy.
        return context.copy().run(function, *args, **kwargs)

    return inside


def traced_thread(
    target: Callable[..., object],
    args: tuple[Any, ...] = (),
    kwargs: Mapping[str, Any] | None = None,
    *,
    name: str | None = None,
    daemon: bool | None = None,
) -> threading.Thread:
    """Return a thread, not yet started, whose calls belong to the run of this moment."""
    return threading.Thread(target=propagate(target), args=args, kwargs=dict(kwargs or {}), name=name, daemon=daemon)


class TracingExecutor(Executor):
    """An executor around another one, whose calls belong to the run that submits them; processes included."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor
        self._other_process = isinstance(executor, ProcessPoolExecutor)

    def submit(self, fn: Callable[_P, _R], /, *args: _P.args, **kwargs: _P.kwargs) -> Future[_R]:
        """Submit ``fn`` with the context of this moment."""
        return self._executor.submit(self._carrying(fn), *args, **kwargs)

    def map(
        self, fn: Callable[..., _R], *iterables: Any, timeout: float | None = None, chunksize: int = 1
    ) -> Iterator[_R]:
        """Map ``fn`` with the context of this moment."""
        return self._executor.map(self._carrying(fn), *iterables, timeout=timeout, chunksize=chunksize)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Shut the inner executor down."""
        self._executor.shutdown(wait=wait, cancel_futures=cancel_futures)

    def _carrying(self, fn: Callable[..., _R]) -> Callable[..., _R]:
        return functools.partial(_run_remote, inject(), fn) if self._other_process else propagate(fn)


def _run_remote(carrier: Mapping[str, str], fn: Callable[..., _R], /, *args: Any, **kwargs: Any) -> _R:
    with extract(carrier):
        return fn(*args, **kwargs)


def inject(carrier: MutableMapping[str, str] | None = None) -> MutableMapping[str, str]:
    """Return ``carrier`` (a new dict by default) with the headers by which another process of the application
    continues this run: W3C trace context, and as baggage the conversation, the gold path and the agent's name."""
    carrier = {} if carrier is None else carrier
    with guard("tracing.inject"):
        context = context_api.get_current()
        enclosing = get_recorder().enclosing()
        if enclosing is not None and enclosing.attach_span:
            context = enclosing.over(context) if context is not enclosing.context else context
        conversation = (enclosing.conversation_id if enclosing is not None else None) or conversation_in(context)
        if conversation is not None:
            context = baggage.set_baggage(semconv.CONVERSATION_ID, conversation, context)
        if enclosing is not None and enclosing.agent is not None:
            context = baggage.set_baggage(semconv.AGENT_NAME, enclosing.agent.name, context)
        _PROPAGATOR.inject(carrier, context)
    return carrier


class extract(_Attached):  # noqa: N801 - reads as a statement: ``with extract(request.headers):``
    """Continue, inside the block, the run that ``inject`` wrote into ``carrier`` (headers; any case of letters)."""

    def __init__(self, carrier: Mapping[str, str]) -> None:
        super().__init__(lambda: _continued(carrier))


def _continued(carrier: Mapping[str, str]) -> Context:
    lowered = {str(name).lower(): value for name, value in carrier.items()}
    return _PROPAGATOR.extract(lowered, context_api.get_current())
