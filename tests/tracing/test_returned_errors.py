"""Errors that are returned, not raised."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from opentelemetry.trace import StatusCode
from pydantic import BaseModel

from agentpath_sdk import semconv
from agentpath_sdk.tracing import trace_tool


class CallToolResult(BaseModel):
    content: list[dict[str, Any]]
    isError: bool = False


class ToolMessage(BaseModel):
    content: str
    tool_call_id: str
    status: str = "success"


@dataclasses.dataclass
class Job:
    status: str


BLOCK = [{"type": "text", "text": "404 not found"}]


@pytest.mark.parametrize(
    "result",
    [
        {"isError": True, "content": BLOCK},
        {"is_error": True, "content": "404 not found"},
        CallToolResult(content=BLOCK, isError=True),
        ToolMessage(content="404 not found", tool_call_id="c1", status="error"),
    ],
    ids=["mcp", "anthropic", "mcp object", "tool message"],
)
def test_a_flagged_result_is_an_error_and_still_returned(spans: Any, result: Any) -> None:
    @trace_tool
    def tool() -> Any:
        return result

    assert tool() is result
    span = spans.one("tool")
    assert span.attributes[semconv.STEP_OUTCOME] == "error"
    assert span.attributes[semconv.STEP_ERROR_MESSAGE] == "404 not found"
    assert (span.status.status_code, span.status.description) == (StatusCode.ERROR, "404 not found")


@pytest.mark.parametrize(
    "result",
    [
        {"error": None, "rows": 3},
        {"error": "none", "isError": False},
        "No error was found",
        {"status": "error"},
        Job(status="error"),
        CallToolResult(content=BLOCK),
        ToolMessage(content="fine", tool_call_id="c1"),
        None,
    ],
    ids=repr,
)
def test_words_and_empty_flags_are_no_errors(spans: Any, result: Any) -> None:
    @trace_tool
    def tool() -> Any:
        return result

    tool()
    span = spans.one("tool")
    assert span.attributes[semconv.STEP_OUTCOME] == "ok"
    assert span.status.status_code is StatusCode.UNSET


def test_a_raised_error_reaches_the_caller_unchanged_with_type_and_message(spans: Any) -> None:
    error = ValueError("bad id")

    @trace_tool
    def tool() -> None:
        raise error

    with pytest.raises(ValueError, match="bad id") as raised:
        tool()
    assert raised.value is error
    span = spans.one("tool")
    assert span.attributes[semconv.ERROR_TYPE] == "ValueError"
    assert span.attributes[semconv.STEP_ERROR_MESSAGE] == "bad id"
    (event,) = span.events
    assert dict(event.attributes) == {"exception.type": "ValueError", "exception.message": "bad id"}


def test_a_long_message_is_cut_to_five_hundred_characters(spans: Any) -> None:
    @trace_tool
    def tool() -> None:
        raise ValueError("x" * 10_000)

    with pytest.raises(ValueError):  # noqa: PT011 - the length is the point
        tool()
    assert len(spans.one("tool").attributes[semconv.STEP_ERROR_MESSAGE]) == 500


def test_an_error_whose_text_cannot_be_had_is_still_an_error(spans: Any) -> None:
    class Odd(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    @trace_tool
    def tool() -> None:
        raise Odd

    with pytest.raises(Odd):
        tool()
    assert spans.one("tool").attributes[semconv.STEP_OUTCOME] == "error"
    assert semconv.STEP_ERROR_MESSAGE not in spans.one("tool").attributes
