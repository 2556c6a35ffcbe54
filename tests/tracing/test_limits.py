"""Cut values: valid JSON with a flag, and the facts that matter survive crowded spans."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest
from opentelemetry import trace as trace_api
from opentelemetry.sdk.trace import SpanLimits

from agentpath_sdk import semconv
from agentpath_sdk.settings import TracingSettings
from agentpath_sdk.tracing import configure_tracing, trace_agent, trace_tool, use_conversation, use_tracer_provider


@trace_tool
def note(id: int, city: str, text: str) -> str:  # noqa: A002 - the word people use
    return text


def test_arguments_beyond_the_limit_are_cut_to_valid_json_and_flagged(spans: Any) -> None:
    configure_tracing(TracingSettings(arguments_limit=200))
    note(id=42, city="Санкт-Петербург", text="😀" * 300)
    attributes = spans.one("note").attributes
    text = attributes[semconv.TOOL_CALL_ARGUMENTS]
    value = json.loads(text)
    assert len(text) <= 200
    assert "\\u" not in text
    assert (value["id"], value["city"]) == (42, "Санкт-Петербург")
    assert set(value["text"]) == {"😀", "…"}
    assert attributes[semconv.CONTENT_TRUNCATED] == ("arguments",)


def test_what_fits_is_not_flagged(spans: Any) -> None:
    note(1, "x", "y")
    assert semconv.CONTENT_TRUNCATED not in spans.one("note").attributes


def test_essential_facts_survive_user_code_that_fills_the_span(
    make_spans: Any, caplog: pytest.LogCaptureFixture
) -> None:
    spans = make_spans(span_limits=SpanLimits(max_span_attributes=128))
    use_tracer_provider(spans.provider)

    @trace_tool
    def crowded(n: int) -> str:
        for number in range(200):
            trace_api.get_current_span().set_attribute(f"user.{number}", number)
        return "done"

    @trace_agent(name="bot", gold_path="g1")
    def agent(question: str) -> str:
        for number in range(200):
            trace_api.get_current_span().set_attribute(f"user.{number}", number)
        crowded(1)
        return "answer"

    with caplog.at_level(logging.CRITICAL, logger="opentelemetry"), use_conversation("t1"):
        agent("q")
    tool, run = spans.one("crowded").attributes, spans.one("bot").attributes
    assert tool[semconv.TOOL_NAME] == "crowded"
    assert tool[semconv.AGENT_NAME] == "bot"
    assert tool[semconv.CONVERSATION_ID] == "t1"
    assert tool[semconv.STEP_OUTCOME] == "ok"
    assert tool[semconv.OPERATION_NAME] == "execute_tool"
    assert tool[semconv.TOOL_CALL_ARGUMENTS] == '{"n":1}'
    assert run[semconv.REQUEST_GOLD_PATH] == "g1"
    assert run[semconv.RUN_CALLS] == 1
    assert run[semconv.RUN_STOP_REASON] == "finished"


def test_arguments_are_a_snapshot_of_the_moment_of_the_call(spans: Any) -> None:
    @trace_tool
    def consume(items: list[int]) -> None:
        items.clear()

    consume([1, 2])
    assert spans.arguments("consume") == {"items": [1, 2]}


def test_arguments_of_every_kind_are_returned_as_the_same_object(spans: Any) -> None:
    @trace_tool
    def identity(value: Any) -> Any:
        return value

    loop: dict[str, Any] = {}
    loop["self"] = loop
    for value in (loop, object(), {1, 2}, b"\xff", "a\ud800", iter([1]), {(2, 3): 1}, float("nan"), "x" * 5_000_000):
        spans.exporter.clear()
        assert identity(value) is value
        text = spans.one("identity").attributes[semconv.TOOL_CALL_ARGUMENTS]
        assert isinstance(json.loads(text, parse_constant=pytest.fail), dict)
        assert spans.one("identity").attributes[semconv.STEP_OUTCOME] == "ok"
