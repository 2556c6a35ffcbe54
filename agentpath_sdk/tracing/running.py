"""Running a traced function of any kind: its own protocol kept, the call current only while its code runs."""

from __future__ import annotations

import asyncio
import types
import weakref
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator, Mapping
from typing import Any, Final, TypeAlias

from opentelemetry import context as context_api
from opentelemetry.context import Context

from agentpath_sdk._plain import kind_of
from agentpath_sdk.tracing.calls import Call, Plan
from agentpath_sdk.tracing.recorder import get_recorder

__all__ = ["Runner", "runner_for"]

_RECORDER: Final = get_recorder()
_DEFERRED: Final = frozenset({types.CoroutineType, types.GeneratorType, types.AsyncGeneratorType})

Runner: TypeAlias = Callable[[Plan, Callable[..., Any], Any, tuple[Any, ...], dict[str, Any]], Any]


def _run_function(
    plan: Plan, wrapped: Callable[..., Any], instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    if plan.once_per_instance and _is_inside(instance):
        return wrapped(*args, **kwargs)
    call = Call(plan)
    call.open(instance, args, kwargs)
    try:
        call.enter()
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


def runner_for(code_flags: int) -> Runner:
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
    try:
        call.enter()
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
        try:
            call.resume()
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
        try:
            call.resume()
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
