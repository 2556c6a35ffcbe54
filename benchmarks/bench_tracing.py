"""What a traced tool call costs beside a bare OpenTelemetry span with the same attributes."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from harness import Row, median_seconds, ratio
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider

from agentpath_sdk import redaction, semconv
from agentpath_sdk._encode import encode
from agentpath_sdk.tracing import trace_agent, trace_tool, use_tracer_provider

__all__ = ["rows"]

CALLS = 400
ARGUMENTS: dict[str, Any] = {
    "query": "average temperature on the surface of Mars in winter and at night",
    "limit": 10,
    "language": "en",
    "filters": {"source": "encyclopedia", "year": 2024, "peer_reviewed": True},
    "note": "prefer measured values",
}
RESULT: dict[str, Any] = {
    "hits": [
        {"id": 100 + n, "title": f"Document number {n}", "score": 0.5 + n / 100, "text": "minus 63 degrees, " * 2}
        for n in range(9)
    ]
}


def _bare(provider: TracerProvider) -> Callable[[], object]:
    """Return the same calls with spans made by hand, content encoded with the standard library."""
    tracer = provider.get_tracer("bare")

    def search(**arguments: Any) -> dict[str, Any]:
        attributes = {
            semconv.OPERATION_NAME: "execute_tool",
            semconv.TOOL_NAME: "search",
            semconv.AGENT_NAME: "bot",
            semconv.TOOL_CALL_ARGUMENTS: json.dumps(arguments),
        }
        with tracer.start_as_current_span("execute_tool search", attributes=attributes) as span:
            result = RESULT
            span.set_attribute(semconv.TOOL_CALL_RESULT, json.dumps(result))
            span.set_attribute(semconv.STEP_OUTCOME, "ok")
            return result

    def agent() -> None:
        with tracer.start_as_current_span("invoke_agent bot"):
            for _ in range(CALLS):
                search(**ARGUMENTS)

    return agent


def _traced() -> Callable[[], object]:
    @trace_tool
    def search(query: str, limit: int, language: str, filters: dict[str, Any], note: str) -> dict[str, Any]:
        return RESULT

    @trace_agent(name="bot")
    def agent() -> None:
        for _ in range(CALLS):
            search(**ARGUMENTS)

    return agent


def rows() -> list[Row]:
    """Return the table's lines on the write side."""
    provider = TracerProvider()
    provider.add_span_processor(SpanProcessor())
    use_tracer_provider(provider)
    try:
        ours, bare = _traced(), _bare(provider)
        sizes = f"arguments {len(json.dumps(ARGUMENTS))} B, result {len(json.dumps(RESULT))} B"
        return [
            Row(
                name="traced tool call / bare span with json", value=ratio(ours, bare), unit="x", goal=1.15, note=sizes
            ),
            Row(name="traced tool call", value=median_seconds(ours, calls=CALLS) * 1e6, unit="us"),
            Row(name="bare span with json", value=median_seconds(bare, calls=CALLS) * 1e6, unit="us"),
            Row(name="encode and redact 1 kB / json.dumps", value=_encoding(), unit="x"),
        ]
    finally:
        use_tracer_provider(None)


def _encoding() -> float:
    def ours() -> None:
        for _ in range(CALLS):
            encode(RESULT, 16_384, suspect=redaction.suspicious, redact=redaction.redact)

    def theirs() -> None:
        for _ in range(CALLS):
            json.dumps(RESULT)

    return ratio(ours, theirs)
