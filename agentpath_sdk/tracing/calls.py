"""One traced invocation of a function of any kind: opened, entered, left, ended."""

from __future__ import annotations

import asyncio
import types
import weakref
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator, Mapping
from contextlib import ExitStack
from contextvars import Token
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from opentelemetry import context as context_api
from opentelemetry.context import Context

from agentpath_sdk._guard import guard
from agentpath_sdk._plain import kind_of, to_plain
from agentpath_sdk.tracing.attaching import attach, detach
from agentpath_sdk.tracing.binding import Binder
from agentpath_sdk.tracing.frameworks import activate_all
from agentpath_sdk.tracing.options import CallOptions
from agentpath_sdk.tracing.picking import pick_answer, pick_query
from agentpath_sdk.tracing.recorder import UNSET, Recording, fault, get_recorder

__all__ = ["DOOR", "Call", "CallKind", "Plan", "run"]

CallKind: TypeAlias = Literal["agent", "tool", "phase"]

DOOR: Final = "decorator"
_RECORDER: Final = get_recorder()
_MAX_ITEMS: Final = 10_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """What is known of a traced callable before it is called."""

    kind: CallKind
    name: str
    options: CallOptions
    binder: Binder
    named_by_instance: bool = False
    """True for a method such as ``run``: the run is called after the class."""
    once_per_instance: bool = False
    """True for one of several entry methods that may call each other."""


class Call:
    """One invocation. Also its own key for the recorder."""

    # Defaults are class attributes: a call is opened on the user's time, and only streams need most of these.
    recording: Recording | None = None
    count = 0
    _token: Token[Context] | None = None
    _stack: ExitStack | None = None
    _items: tuple[Any, ...] | list[Any] = ()
    _room = 0

    def __init__(self, plan: Plan) -> None:
        self._plan = plan

    def open(
        self, instance: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], ambient: Context | None = None
    ) -> None:
        """Start the span; whatever goes wrong, the call itself goes on."""
        plan, options = self._plan, self._plan.options
        try:
            arguments = plan.binder.bind(args, kwargs, bound=instance is not None)
            if plan.kind == "tool":
                self.recording = _RECORDER.start(
                    self, door=DOOR, kind="tool", name=plan.name, arguments=arguments, description=options.description,
                    capture=options.capture, redact=options.redact, keep=options.keep, ambient=ambient,
                )  # fmt: skip
            elif plan.kind == "agent":
                self._open_agent(instance, arguments, args, kwargs, ambient)
            else:
                self.recording = _RECORDER.start(
                    self, door=DOOR, kind="phase", name=plan.name, input=arguments if arguments else UNSET,
                    capture=options.capture, redact=options.redact, keep=options.keep, ambient=ambient,
                )  # fmt: skip
        except Exception as error:
            fault("tracing.open", error)

    def _open_agent(
        self,
        instance: Any,
        arguments: Mapping[str, Any],
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
        ambient: Context | None,
    ) -> None:
        plan, options = self._plan, self._plan.options
        name = plan.name
        if plan.named_by_instance and instance is not None:
            name = (instance if isinstance(instance, type) else type(instance)).__name__
        self.recording = _RECORDER.start(
            self, door=DOOR, kind="agent", name=name, gold_path=options.gold_path,
            query=pick_query(options.query, arguments, args, kwargs), input=arguments if arguments else UNSET,
            capture=options.capture, redact=options.redact, keep=options.keep, ambient=ambient,
        )  # fmt: skip
        if self.recording is not None and instance is not None:
            self.recording.subject = id(instance)

    def enter(self) -> None:
        """Make this call the current one for the code about to run."""
        recording = self.recording
        if recording is None:
            return
        try:
            # A call that another door opened first may have begun in another thread's context.
            own = recording.key is self
            self._token = attach(recording.context if own else recording.over(context_api.get_current()))
            if self._plan.kind == "agent":
                self._stack = activate_all()
        except Exception as error:
            fault("tracing.enter", error)

    def resume(self) -> None:
        """Make this call current again, over the context that its reader has now."""
        recording = self.recording
        if recording is None:
            return
        try:
            self._token = attach(recording.over(context_api.get_current()))
            if self._plan.kind == "agent":
                self._stack = activate_all()
        except Exception as error:
            fault("tracing.enter", error)

    def leave(self) -> None:
        """Undo ``enter`` or ``resume``."""
        stack, token = self._stack, self._token
        self._stack = self._token = None
        if stack is not None:
            with guard("tracing.leave"):
                stack.close()
        if token is not None:
            detach(token)

    def take_item(self, item: Any) -> None:
        """Keep a snapshot of an item that a stream handed out, as long as there is room."""
        self.count += 1
        recording = self.recording
        if recording is None or not recording.live or not recording.capture or len(self._items) >= _MAX_ITEMS:
            return
        with guard("tracing.item"):
            limit = _RECORDER.settings.result_limit * 2
            if self._room > limit:
                return
            plain = item if type(item) is str else to_plain(item, limit)[0]
            if not isinstance(self._items, list):
                self._items = []
            self._items.append(plain)
            self._room += len(plain) if isinstance(plain, str) else 64

    def finish(self, result: Any, *, partial_items: int | None = None) -> None:
        """End the span of a call that returned."""
        if self.recording is None:
            return
        kind = self._plan.kind
        if kind == "tool":
            _RECORDER.end(self, door=DOOR, result=result, partial_items=partial_items)
        elif kind == "agent":
            with guard("tracing.finish"):
                answer = pick_answer(self._plan.options.answer, result) if self.recording.live else None
                output = UNSET if result is None else result
                _RECORDER.end(self, door=DOOR, answer=answer, output=output, partial_items=partial_items)
        else:
            output = UNSET if result is None else result
            _RECORDER.end(self, door=DOOR, output=output, partial_items=partial_items)

    def finish_stream(self, *, returned: Any = None, partial: bool = False) -> None:
        """End the span of a stream: read to its end, or left by its reader."""
        items = list(self._items)
        result: Any = items
        if items and all(isinstance(item, str) for item in items):
            result = "".join(items)
        elif not items and returned is not None:
            result = returned
        elif self._plan.kind == "agent" and items and self._plan.options.answer is None:
            # A stream of states or events: the last one that has an answer is the answer.
            result = next((i for i in reversed(items) if pick_answer(None, i) is not None), items)
        if self.recording is not None and self.recording.capture and len(items) < self.count:
            what = "result" if self._plan.kind == "tool" else "output"
            self.recording.truncated = (*self.recording.truncated, what)
        self.finish(result, partial_items=self.count if partial else None)

    def fail(self, error: BaseException) -> None:
        """End the span of a call that raised."""
        if self.recording is not None:
            partial = self.count if self.count else None
            _RECORDER.end(self, door=DOOR, error=error, partial_items=partial)


Runner: TypeAlias = Callable[[Plan, Callable[..., Any], Any, tuple[Any, ...], dict[str, Any]], Any]


def _run_function(
    plan: Plan, wrapped: Callable[..., Any], instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    if plan.once_per_instance and _is_inside(instance):
        return wrapped(*args, **kwargs)
    call = Call(plan)
    call.open(instance, args, kwargs)
    call.enter()
    try:
        result = wrapped(*args, **kwargs)
    except BaseException as error:
        call.leave()
        call.fail(error)
        raise
    call.leave()
    if type(result) in _DEFERRED:
        return _hand_over(call, result)
    call.finish(result)
    return result


def _run_coroutine(
    plan: Plan, wrapped: Callable[..., Any], instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    coroutine = wrapped(*args, **kwargs)
    if plan.once_per_instance and _is_inside(instance):
        return coroutine
    return _named(_await(coroutine, lambda: _opened(Call(plan), instance, args, kwargs)), wrapped)


def _run_generator(
    plan: Plan, wrapped: Callable[..., Any], instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    generator = wrapped(*args, **kwargs)
    if plan.once_per_instance and _is_inside(instance):
        return generator
    called_in = context_api.get_current()
    return _named(_iterate(generator, lambda: _opened(Call(plan), instance, args, kwargs, called_in)), wrapped)


def _run_async_generator(
    plan: Plan, wrapped: Callable[..., Any], instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    generator = wrapped(*args, **kwargs)
    if plan.once_per_instance and _is_inside(instance):
        return generator
    called_in = context_api.get_current()
    return _named(_aiterate(generator, lambda: _opened(Call(plan), instance, args, kwargs, called_in)), wrapped)


def run(code_flags: int) -> Runner:
    """Return what runs a function whose code has these flags."""
    if code_flags & 0x200:  # inspect.CO_ASYNC_GENERATOR
        return _run_async_generator
    if code_flags & 0x80:  # inspect.CO_COROUTINE
        return _run_coroutine
    if code_flags & 0x20 and not code_flags & 0x100:  # inspect.CO_GENERATOR, not CO_ITERABLE_COROUTINE
        return _run_generator
    return _run_function


def _opened(
    call: Call, instance: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], called_in: Context | None = None
) -> Call:
    """Open ``call`` inside the call that is current now, else inside the one that was current when it was made."""
    ambient = None
    if called_in is not None and _RECORDER.enclosing() is None:
        ambient = called_in
    call.open(instance, args, kwargs, ambient)
    return call


def _is_inside(instance: Any) -> bool:
    """Return whether an entry method of ``instance`` is the innermost call already."""
    if instance is None:
        return False
    enclosing = _RECORDER.enclosing()
    return enclosing is not None and enclosing.subject == id(instance) and not enclosing.ended


def _hand_over(call: Call, result: Any) -> Any:
    """Return a stand-in for what a plain function returned to be run later; the call ends with it.

    One that is never started ends the call when it is collected.
    """
    driver: Any
    kind = kind_of(result)
    if kind is types.CoroutineType:
        driver = _await(result, lambda: call)
    elif kind is types.GeneratorType:
        driver = _iterate(result, lambda: call)
    else:
        driver = _aiterate(result, lambda: call)
    weakref.finalize(driver, _end_unread, call).atexit = False
    return _named(driver, result)


def _end_unread(call: Call) -> None:
    if call.recording is not None and not call.recording.ended:
        call.finish_stream(partial=True)


def _named(driver: Any, wrapped: Any) -> Any:
    for attribute in ("__name__", "__qualname__"):
        name = getattr(wrapped, attribute, None)
        if isinstance(name, str):
            setattr(driver, attribute, name)
    return driver


async def _await(coroutine: Coroutine[Any, Any, Any], opened: Callable[[], Call]) -> Any:
    call = opened()
    call.enter()
    try:
        result = await coroutine
    except BaseException as error:
        call.leave()
        call.fail(error)
        raise
    call.leave()
    call.finish(result)
    return result


def _iterate(generator: Generator[Any, Any, Any], opened: Callable[[], Call]) -> Generator[Any, Any, Any]:
    """Drive ``generator`` through the whole protocol, the call being current only while its body runs."""
    call = opened()
    step: Callable[[Any], Any] = generator.send
    given: Any = None
    while True:
        call.resume()
        try:
            item = step(given)
        except StopIteration as stop:
            call.leave()
            call.finish_stream(returned=stop.value)
            return stop.value
        except BaseException as error:
            call.leave()
            call.fail(error)
            raise
        call.leave()
        call.take_item(item)
        try:
            given = yield item
            step = generator.send
        except GeneratorExit:
            return _close(generator, call)
        except BaseException as error:
            step, given = generator.throw, error


def _close(generator: Generator[Any, Any, Any], call: Call) -> Any:
    call.resume()
    try:
        close: Callable[[], Any] = generator.close
        returned = close()  # a value since Python 3.13
    except BaseException as error:
        call.leave()
        call.fail(error)
        raise
    call.leave()
    call.finish_stream(partial=True)
    return returned


async def _aiterate(generator: AsyncGenerator[Any, Any], opened: Callable[[], Call]) -> AsyncGenerator[Any, Any]:
    """The same for an async generator."""
    call = opened()
    step: Callable[[Any], Any] = generator.asend
    given: Any = None
    while True:
        call.resume()
        try:
            item = await step(given)
        except StopAsyncIteration:
            call.leave()
            call.finish_stream()
            return
        except BaseException as error:
            call.leave()
            if error is given and isinstance(error, asyncio.CancelledError):
                # The loop was closed while it finalised a stream that its reader had left.
                call.finish_stream(partial=True)
            else:
                call.fail(error)
            raise
        call.leave()
        call.take_item(item)
        try:
            given = yield item
            step = generator.asend
        except GeneratorExit:
            await _aclose(generator, call)
            raise
        except BaseException as error:
            step, given = generator.athrow, error


async def _aclose(generator: AsyncGenerator[Any, Any], call: Call) -> None:
    call.resume()
    try:
        await generator.aclose()
    except BaseException as error:
        call.leave()
        call.fail(error)
        raise
    call.leave()
    call.finish_stream(partial=True)


_DEFERRED: Final = frozenset({types.CoroutineType, types.GeneratorType, types.AsyncGeneratorType})
