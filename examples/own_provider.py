"""Joining an application that has its own OpenTelemetry provider: scores travel on its spans, to its backend."""

import sys
from pathlib import Path

from opentelemetry import trace
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, ConsoleSpanExporter

from agentpath_sdk import configure, trace_agent, trace_tool


@trace_tool
def lookup(order: int) -> dict[str, object]:
    return {"item": "lamp", "price": 20.0}


@trace_tool
def refund(order: int, amount: float) -> str:
    return f"refunded {amount:.2f}"


@trace_agent(name="support", query="message")
def support(message: str) -> str:
    order = lookup(order=7)
    return f"We have {refund(order=7, amount=order['price'])}."


def one_line(span: ReadableSpan) -> str:
    """Return what a backend would show of a span: its name, and the score where there is one."""
    attributes = span.attributes or {}
    score = attributes.get("agentpath.score.value")
    return f"{span.name}" + ("" if score is None else f"  score {score}  {attributes['agentpath.score.label']}") + "\n"


if __name__ == "__main__":
    # What the application has anyway: its provider, and its exporter (here the console instead of OTLP).
    provider = TracerProvider(resource=Resource.create({"service.name": "support-service"}))
    trace.set_tracer_provider(provider)
    exporter = ConsoleSpanExporter(out=sys.stdout, formatter=one_line)

    # The exporter goes through agentpath instead of provider.add_span_processor(...), so that each agent's span
    # waits for its score. Everything else passes straight through.
    gold = Path(__file__).parent / "gold" / "refund.yaml"
    handle = configure(gold=gold, forward_to=BatchSpanProcessor(exporter))

    with trace.get_tracer("app").start_as_current_span("POST /support"):
        support("My lamp from order 7 arrived broken, I want my money back.")

    handle.shutdown()
    provider.shutdown()
