"""The end of the process: what is open is exported with a true outcome, before the provider shuts down."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import threading, time
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from agentpath_sdk.tracing import trace_agent, trace_tool

class Printer(SpanExporter):
    def export(self, spans):
        for span in spans:
            print(span.name, span.attributes["agentpath.step.outcome"], flush=True)
        return SpanExportResult.SUCCESS

provider = TracerProvider()
provider.add_span_processor(BatchSpanProcessor(Printer(), schedule_delay_millis=60_000))
trace.set_tracer_provider(provider)

@trace_tool
def numbers():
    yield 1
    yield 2

started = threading.Event()

@trace_tool
def wait():
    started.set()
    time.sleep(60)

@trace_agent
def agent(question):
    threading.Thread(target=wait, daemon=True).start()
    started.wait()
    reading = numbers()
    next(reading)
    return reading

kept = agent("q")
"""


@pytest.mark.slow
def test_open_calls_are_exported_as_abandoned_when_the_process_exits() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=60, check=False)
    assert done.stderr == ""
    assert sorted(done.stdout.splitlines()) == [
        "execute_tool numbers abandoned",
        "execute_tool wait abandoned",
        "invoke_agent agent abandoned",
    ]
