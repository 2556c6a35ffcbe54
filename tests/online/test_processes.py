"""Process exit, forks and automatic configuration, each in a process of its own."""

from __future__ import annotations

import json
import multiprocessing
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

GOLD = "id: two\nagent: planner\nsteps:\n  - tool: t1\n  - tool: t2\n"

AGENT = """
from agentpath_sdk.tracing.decorators import trace_agent, trace_tool

@trace_tool
def t1(x): return x

@trace_tool
def t2(x): return x

@trace_agent(name="planner")
def planner(query): return t2(t1(1))
"""


def run(
    tmp_path: Path, source: str, *options: str, arguments: tuple[str, ...] = (), **environment: str
) -> subprocess.CompletedProcess[str]:
    (tmp_path / "gold.yaml").write_text(GOLD)
    script = tmp_path / "script.py"
    script.write_text(source)
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("OTEL_", "AGENTPATH_"))}
    return subprocess.run(
        [sys.executable, *options, str(script), *arguments],
        cwd=tmp_path,
        env={**clean, **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def scores(tmp_path: Path, name: str = "scores.jsonl") -> list[dict[str, Any]]:
    file = tmp_path / name
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


CONFIGURED = """
from agentpath_jsonl import JsonlScoreExporter
from agentpath_sdk.configuration import configure
handle = configure(gold="gold.yaml", score_exporters=[JsonlScoreExporter("scores.jsonl")])
"""


def test_a_script_that_just_ends_has_its_scores_sent(tmp_path: Path) -> None:
    done = run(tmp_path, CONFIGURED + AGENT + "planner('q')\n")
    assert (done.returncode, done.stderr) == (0, "")
    (line,) = scores(tmp_path)
    assert (line["score"], line["completeness"], line["revision"]) == (1.0, "complete", 1)


def test_a_script_that_dies_of_an_exception_has_its_scores_sent_too(tmp_path: Path) -> None:
    done = run(tmp_path, CONFIGURED + AGENT + "planner('q')\nraise SystemExit(3)\n")
    assert done.returncode == 3
    assert len(scores(tmp_path)) == 1


def test_providers_set_after_configure_still_get_what_is_sent_at_exit(tmp_path: Path) -> None:
    source = """
from opentelemetry._logs import set_logger_provider
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor, ConsoleLogRecordExporter
provider = LoggerProvider()
provider.add_log_record_processor(BatchLogRecordProcessor(ConsoleLogRecordExporter()))
set_logger_provider(provider)
"""
    done = run(tmp_path, CONFIGURED + source + AGENT + "planner('q')\n")
    assert done.stdout.count("gen_ai.evaluation.result") >= 1
    assert done.stderr == ""


def test_an_exporter_that_hangs_holds_process_exit_up_for_the_set_time_only(tmp_path: Path) -> None:
    source = """
import threading
from agentpath_sdk.configuration import configure

class Hanging:
    def export(self, records): threading.Event().wait(50)
    def flush(self, timeout): return True
    def shutdown(self, timeout): pass

configure(gold="gold.yaml", score_exporters=[Hanging()], shutdown_seconds=0.2)
"""
    done = run(tmp_path, source + AGENT + "planner('q')\n")
    assert done.returncode == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_starts_clean_and_neither_loses_nor_repeats_the_parents_runs(tmp_path: Path) -> None:
    source = """
import os, time
for _ in range(20): planner("before")
child = os.fork()
if child == 0:
    for _ in range(3): planner("child")
    handle.flush(10)
    state = handle.health()
    open("child.txt", "w").write(f"{state.queued_spans} {state.open_traces} {state.destinations[0].dropped}")
    os._exit(0)
os.waitpid(child, 0)
for _ in range(5): planner("after")
handle.flush(10)
"""
    done = run(tmp_path, CONFIGURED + AGENT + source)
    assert (done.returncode, done.stderr) == (0, "")
    lines = scores(tmp_path)
    assert len(lines) == len({line["id"] for line in lines}) == 28
    assert {line["score"] for line in lines} == {1.0}
    assert (tmp_path / "child.txt").read_text() == "0 0 0"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_forking_in_the_middle_of_work_hangs_neither_side(tmp_path: Path) -> None:
    source = """
import os, threading
stop = threading.Event()
def work():
    while not stop.is_set(): planner("busy")
threads = [threading.Thread(target=work, daemon=True) for _ in range(3)]
for t in threads: t.start()
for _ in range(10):
    child = os.fork()
    if child == 0:
        planner("child")
        os._exit(0 if handle.flush(20) else 1)
    assert os.waitpid(child, 0)[1] == 0
stop.set()
for t in threads: t.join()
assert handle.flush(20)
"""
    done = run(tmp_path, CONFIGURED + AGENT + source)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("method", ["fork", "spawn"])
@pytest.mark.parametrize("configured", ["before", "in the child"])
def test_a_child_of_multiprocessing_that_just_ends_has_everything_sent(
    tmp_path: Path, method: str, configured: str
) -> None:
    """Such children skip the interpreter's exit functions, ours and OpenTelemetry's."""
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"no {method} here")
    source = """
import multiprocessing, sys
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from agentpath_jsonl import JsonlSpanExporter
from agentpath_sdk.configuration import flush

def set_up():
    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(JsonlSpanExporter("spans.jsonl")))
    trace.set_tracer_provider(provider)
    from agentpath_jsonl import JsonlScoreExporter
    from agentpath_sdk.configuration import configure
    configure(gold="gold.yaml", score_exporters=[JsonlScoreExporter("scores.jsonl")])

def work(set_up_here):
    if set_up_here:
        set_up()
    planner("q")

if __name__ == "__main__":
    method, before = sys.argv[1:]
    if before == "before":
        set_up()
        planner("q")
    context = multiprocessing.get_context(method)
    children = [context.Process(target=work, args=(before != "before" or method != "fork",)) for _ in range(2)]
    for child in children: child.start()
    for child in children: child.join()
    flush(10)
"""
    done = run(tmp_path, AGENT + source, arguments=(method, configured))
    assert (done.returncode, done.stderr) == (0, "")
    runs = 2 + (configured == "before")
    assert len(scores(tmp_path)) == runs
    assert (tmp_path / "spans.jsonl").read_text().count('"invoke_agent planner"') == runs


AUTO = """
from opentelemetry.sdk._configuration import _OTelSDKConfigurator
_OTelSDKConfigurator().configure()
"""


def test_two_words_in_the_environment_are_enough(tmp_path: Path) -> None:
    done = run(
        tmp_path,
        AUTO + AGENT + "planner('q')\n",
        OTEL_TRACES_EXPORTER="console,agentpath",
        OTEL_LOGS_EXPORTER="console",
        AGENTPATH_GOLD="gold.yaml",
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count('"name": "invoke_agent planner"') == 1
    assert done.stdout.count('"name": "evaluate"') == 1
    assert '"agentpath.score.value": 1.0' in done.stdout
    assert done.stdout.count("gen_ai.evaluation.result") == 1
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("logging", ["", "import logging; logging.basicConfig()\n"], ids=["no logging", "logging"])
@pytest.mark.parametrize(
    ("environment", "words"),
    [({"AGENTPATH_GOLD": "bad.yaml"}, "bad.yaml"), ({"AGENTPATH_QUIET_SECONDS": "five"}, "'five' is not a float")],
    ids=["gold", "setting"],
)
def test_a_mistake_in_the_environment_is_said_once_and_tracing_goes_on(
    tmp_path: Path, logging: str, environment: dict[str, str], words: str
) -> None:
    """Also where nothing shows logs yet, as before an application has begun: silence would look like success."""
    (tmp_path / "bad.yaml").write_text("steps: 5\n")
    done = run(
        tmp_path,
        logging + AUTO + AGENT + "planner('q')\n",
        OTEL_TRACES_EXPORTER="console,agentpath",
        **({"AGENTPATH_GOLD": "gold.yaml"} | environment),
    )
    assert done.returncode == 0
    assert done.stdout.count('"name": "invoke_agent planner"') == 1
    assert done.stderr.count(words) == 1
    assert "agents are not scored" in done.stderr
    assert "Traceback" not in done.stderr


def test_an_application_that_configures_itself_as_well_gets_one_score_per_run(tmp_path: Path) -> None:
    done = run(
        tmp_path,
        AUTO + CONFIGURED + AGENT + "planner('q')\n",
        OTEL_TRACES_EXPORTER="console,agentpath",
        AGENTPATH_GOLD="gold.yaml",
    )
    assert done.returncode == 0, done.stderr
    assert len(scores(tmp_path)) == 1
    assert done.stdout.count('"name": "evaluate"') == 1


def test_the_exporter_works_behind_a_provider_that_is_set_afterwards(tmp_path: Path) -> None:
    source = """
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, ConsoleSpanExporter, SimpleSpanProcessor
from agentpath_sdk.configuration import AgentPathSpanExporter
provider = TracerProvider()
provider.add_span_processor(BatchSpanProcessor(AgentPathSpanExporter()))
provider.add_span_processor(SimpleSpanProcessor(ConsoleSpanExporter()))
trace.set_tracer_provider(provider)
"""
    end = "planner('q')\nprovider.force_flush()\nfrom agentpath_sdk.configuration import flush\nassert flush(10)\n"
    done = run(tmp_path, source + AGENT + end, AGENTPATH_GOLD="gold.yaml")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count('"name": "evaluate"') == 1
