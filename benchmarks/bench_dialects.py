"""Rebuilding runs from the spans of each vocabulary, and what a span that speaks none costs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from harness import Row, median_seconds, ratio

from agentpath_sdk.trajectories.dialects import spoken
from agentpath_sdk.trajectories.files import read_spans
from agentpath_sdk.trajectories.one_trace import reconstruct_trace
from agentpath_sdk.trajectories.span_record import SpanRecord

DATA: Final = Path(__file__).resolve().parents[1] / "tests" / "data" / "spans"
# Vocabulary -> a recorded run of ordinary size.
CASES: Final = {
    "GenAI": "pydantic-ai__builtin__single",
    "GenAI in span events": "strands__builtin__subagent",
    "OpenInference": "openai-loop__openinference__single",
    "OpenInference, LangChain": "langchain__openinference__single",
    "Traceloop": "openai-loop__openllmetry__single",
    "Traceloop, flat messages": "openai-loop__openllmetry-old__single",
    "Traceloop, LangChain": "langchain__openllmetry__single",
    "Langfuse": "langchain__langfuse__single",
    "LangSmith": "langchain__langsmith-otel__single",
    "MLflow": "langchain__mlflow__subagent",
    "Logfire": "openai-agents__logfire__single",
    "Google ADK, older": "google-adk__builtin-v1__single",
    "Haystack": "haystack__builtin__single",
    "MCP": "mcp__builtin__single",
    "OpenLIT": "langchain__openlit__single",
}
_WEB: Final = SpanRecord(
    trace_id="1" * 32,
    span_id="2" * 16,
    name="GET /orders",
    attributes={f"http.request.header.{number}": "x" for number in range(14)},
)
_LOOKS: Final = 20_000


def _traces(case: str) -> list[list[SpanRecord]]:
    traces: dict[str, list[SpanRecord]] = {}
    for record in read_spans(DATA / f"{case}.jsonl.gz"):
        traces.setdefault(record.trace_id, []).append(record)
    return list(traces.values())


def _rebuilt(traces: Sequence[Sequence[SpanRecord]]) -> Callable[[], None]:
    def work() -> None:
        for trace in traces:
            reconstruct_trace(trace)

    return work


def _looked_at() -> None:
    for _ in range(_LOOKS):
        spoken(_WEB)


def _counted() -> None:
    attributes = _WEB.attributes
    for _ in range(_LOOKS):
        sum(1 for _name in attributes)


def rows() -> list[Row]:
    """Return spans per second of each vocabulary, and the cost of a span that speaks none."""
    found: list[Row] = []
    for vocabulary, case in CASES.items():
        traces = _traces(case)
        spans = sum(map(len, traces))
        seconds = median_seconds(_rebuilt(traces), calls=spans)
        found.append(
            Row(name=f"rebuild, {vocabulary}", value=1 / seconds, unit="spans/s", note=f"{spans} spans, {case}")
        )
    cost = median_seconds(_looked_at, calls=_LOOKS)
    found.append(
        Row(name="look at a span of no vocabulary", value=cost * 1e6, unit="µs", goal=2.0, note="14 attributes")
    )
    found.append(
        Row(name="look at it / count its attributes", value=ratio(_looked_at, _counted), unit="x", note="same run")
    )
    return found


if __name__ == "__main__":
    for row in rows():
        sys.stdout.write(f"{row.name:45} {row.value:12,.1f} {row.unit:8} {row.note}\n")
