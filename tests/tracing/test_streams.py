"""Streams: the span covers the reading, wherever and however the reading ends."""

from __future__ import annotations

import asyncio
import gc
import inspect
import itertools
from collections.abc import AsyncGenerator, AsyncIterator, Generator, Iterator
from typing import Any

import pytest
from opentelemetry import trace as trace_api

from agentpath_sdk import semconv
from agentpath_sdk.tracing import trace_agent, trace_tool
from agentpath_sdk.tracing.recorder import get_recorder


@trace_tool
def inner(n: int) -> int:
    return n


@trace_tool
async def numbers_async(n: int) -> AsyncIterator[int]:
    inner(0)
    for number in range(n):
        yield number


@trace_tool
def numbers(n: int) -> Iterator[int]:
    inner(0)
    yield from range(n)


@trace_tool
async def answers() -> AsyncGenerator[str, str]:
    inner(0)
    said = yield "ready"
    while True:
        said = yield f"you said {said}"


async def settle() -> None:
    for _ in range(5):
        gc.collect()
        await asyncio.sleep(0)


async def test_streams_left_early_end_at_once_as_partial_and_never_as_errors(spans: Any) -> None:
    currents: list[Any] = []

    @trace_agent(name="reader")
    async def agent(question: str) -> None:
        here = trace_api.get_current_span()
        read = []
        async for item in numbers_async(5):
            read.append(item)
            if len(read) == 2:
                break
        currents.append(trace_api.get_current_span() is here)
        assert read == [0, 1]
        assert list(itertools.islice(numbers(5), 2)) == [0, 1]
        currents.append(trace_api.get_current_span() is here)
        talk = answers()
        assert await anext(talk) == "ready"
        assert await talk.asend("x") == "you said x"
        await talk.aclose()
        currents.append(trace_api.get_current_span() is here)
        numbers(5)
        await settle()

    await agent("q")
    await settle()
    assert currents == [True, True, True]
    assert get_recorder().open_count() == 0
    for name in ("numbers_async", "numbers", "answers"):
        span = spans.one(name)
        assert span.attributes[semconv.STEP_PARTIAL_ITEMS] == 2
        assert span.attributes[semconv.STEP_OUTCOME] == "ok"
        assert span.status.status_code is trace_api.StatusCode.UNSET
        assert spans.parent(span) is spans.one("reader")
    inside = {spans.parent(s).name.split(" ")[1] for s in spans.all() if s.name.endswith("inner")}
    assert inside == {"numbers_async", "numbers", "answers"}
    assert spans.result("numbers") == [0, 1]


def test_the_loop_closing_over_a_stream_left_early_is_no_cancellation(spans: Any) -> None:
    @trace_agent(name="reader")
    async def agent(question: str) -> None:
        async for _ in numbers_async(5):
            break

    asyncio.run(agent("q"))
    gc.collect()
    assert spans.one("numbers_async").attributes[semconv.STEP_OUTCOME] == "ok"
    assert spans.one("numbers_async").attributes[semconv.STEP_PARTIAL_ITEMS] == 1


def test_a_stream_read_to_its_end_has_all_items_and_no_mark(spans: Any) -> None:
    assert list(numbers(3)) == [0, 1, 2]
    span = spans.one("numbers")
    assert spans.result("numbers") == [0, 1, 2]
    assert semconv.STEP_PARTIAL_ITEMS not in span.attributes
    assert span.start_time <= spans.one("inner").start_time
    assert span.end_time >= spans.one("inner").end_time


def test_text_chunks_are_joined(spans: Any) -> None:
    @trace_agent
    def speak(question: str) -> Iterator[str]:
        yield from ("Hel", "lo")

    assert "".join(speak("hi")) == "Hello"
    assert '"content":"Hello"' in spans.one("speak").attributes[semconv.OUTPUT_MESSAGES]


def test_the_whole_generator_protocol_is_kept(spans: Any) -> None:
    @trace_tool
    def echo() -> Generator[Any, Any, str]:
        try:
            said = yield "first"
            while True:
                try:
                    said = yield ("said", said)
                except KeyError as error:
                    said = yield ("caught", error.args[0])
        finally:
            inner(9)

    talk = echo()
    assert inspect.isgenerator(talk)
    assert (next(talk), talk.send(1), talk.throw(KeyError("k")), talk.send(2)) == (
        "first", ("said", 1), ("caught", "k"), ("said", 2),
    )  # fmt: skip
    with pytest.raises(ZeroDivisionError):
        talk.throw(ZeroDivisionError())
    assert spans.one("echo").attributes[semconv.STEP_OUTCOME] == "error"
    assert spans.parent(spans.one("inner")) is spans.one("echo")


def test_the_return_value_of_a_generator_reaches_its_caller(spans: Any) -> None:
    @trace_tool
    def steps() -> Generator[int, None, str]:
        yield 1
        return "done"

    def outer() -> Generator[int, None, str]:
        return (yield from steps())

    reading = outer()
    assert next(reading) == 1
    with pytest.raises(StopIteration) as stop:
        next(reading)
    assert stop.value.value == "done"


def test_a_generator_that_refuses_to_close_is_reported_as_without_us(spans: Any) -> None:
    @trace_tool
    def stubborn() -> Iterator[int]:
        try:
            yield 1
        except GeneratorExit:
            yield 2

    reading = stubborn()
    next(reading)
    with pytest.raises(RuntimeError, match="ignored GeneratorExit"):
        reading.close()


def test_an_error_in_the_body_reaches_the_reader_and_the_span(spans: Any) -> None:
    @trace_tool
    def broken() -> Iterator[int]:
        yield 1
        raise ValueError("no more")

    with pytest.raises(ValueError, match="no more"):
        list(broken())
    span = spans.one("broken")
    assert (span.attributes[semconv.STEP_OUTCOME], span.attributes[semconv.STEP_PARTIAL_ITEMS]) == ("error", 1)


async def test_an_async_generator_takes_thrown_errors(spans: Any) -> None:
    @trace_tool
    async def patient() -> AsyncGenerator[str, None]:
        while True:
            try:
                yield "item"
            except KeyError:
                yield "caught"

    reading = patient()
    assert await anext(reading) == "item"
    assert await reading.athrow(KeyError("k")) == "caught"
    with pytest.raises(ZeroDivisionError):
        await reading.athrow(ZeroDivisionError())
    assert spans.one("patient").attributes[semconv.STEP_OUTCOME] == "error"


def test_a_stream_read_outside_belongs_to_the_run_that_made_it(spans: Any) -> None:
    @trace_agent
    def agent(question: str) -> Iterator[int]:
        return numbers(2)

    assert list(agent("q")) == [0, 1]
    assert spans.parent(spans.one("numbers")) is spans.one("agent")


def test_what_a_plain_function_hands_out_is_part_of_its_call(spans: Any) -> None:
    async def work() -> str:
        inner(1)
        return "done"

    @trace_tool
    def starts_coroutine() -> Any:
        return work()

    @trace_tool
    def starts_generator() -> Any:
        return (inner(n) for n in range(2))

    assert asyncio.run(starts_coroutine()) == "done"
    assert spans.result("starts_coroutine") == "done"
    assert list(starts_generator()) == [0, 1]
    assert [spans.parent(s).name.split(" ")[1] for s in spans.all() if s.name.endswith("inner")] == [
        "starts_coroutine", "starts_generator", "starts_generator",
    ]  # fmt: skip
    starts_generator()
    gc.collect()
    assert get_recorder().open_count() == 0, "one that is never read ends with its collection"


def test_long_streams_are_kept_within_bounds_and_flagged(spans: Any) -> None:
    @trace_tool
    def long() -> Iterator[str]:
        for _ in range(2_000):
            yield "x" * 100

    assert sum(map(len, long())) == 200_000
    span = spans.one("long")
    assert "result" in span.attributes[semconv.CONTENT_TRUNCATED]
    assert len(span.attributes[semconv.TOOL_CALL_RESULT]) <= 16_384
