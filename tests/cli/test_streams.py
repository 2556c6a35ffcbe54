"""Standard streams that are full or closed, and values JSON is awkward about: one line at most, never a traceback."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("typer")
pytest.importorskip("rich")

from agentpath_sdk.trajectories.otlp_write import to_otlp_json
from agentpath_sdk.trajectories.span_record import SpanRecord

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs a POSIX shell")

RECORD: dict[str, Any] = {
    "query": "q",
    "agent_trajectory": [{"tool": "search", "arguments": {}}],
    "gold_trajectory": [{"tool": "search", "arguments": {}}],
}


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    file = tmp_path / "runs.json"
    file.write_text(json.dumps(RECORD))
    return file


def shell(line: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Run ``line`` with ``$A`` as the command and the arguments as ``$1``, ``$2``..."""
    command = f"{sys.executable} -c 'from agentpath_sdk.cli import main; main()'"
    done = subprocess.run(
        ["/bin/sh", "-c", line.replace("$A", command), "sh", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr
    return done


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
@pytest.mark.parametrize("what", ["score", "read --json", "doctor"])
def test_a_full_disk_behind_stdout_is_one_line_and_exit_code_2(runs: Path, what: str) -> None:
    file = "" if what == "doctor" else '"$1"'
    done = shell(f"$A {what} {file} > /dev/full", runs)
    assert done.returncode == 2
    assert done.stderr.splitlines() == ["agentpath: cannot write: No space left on device"]


@pytest.mark.parametrize("closed", [">&- 2>&-", "2>&-"])
def test_closed_standard_streams_do_no_harm(runs: Path, closed: str) -> None:
    done = shell(f'$A score "$1" --json {closed}', runs)
    assert done.returncode == 0
    assert (">&-" in closed.replace("2>&-", "")) == (done.stdout == "")


def test_a_closed_standard_input_is_an_empty_one() -> None:
    done = shell("$A read - <&-")
    assert done.returncode == 0
    assert "empty" in done.stderr


def span(span_id: int, parent: int | None, **attributes: Any) -> SpanRecord:
    return SpanRecord(
        trace_id=f"{1:032x}",
        span_id=f"{span_id:016x}",
        parent_span_id=None if parent is None else f"{parent:016x}",
        name="span",
        start_unix_nano=1,
        end_unix_nano=2,
        attributes={name.replace("__", "."): value for name, value in attributes.items()},
    )


@pytest.mark.parametrize("shape", ["--json", "--format=record"])
def test_lines_are_written_whatever_the_spans_of_a_run_hold(tmp_path: Path, shape: str) -> None:
    run = [
        span(1, None, gen_ai__operation__name="invoke_agent", gen_ai__usage__input_tokens=10**40),
        span(
            2,
            1,
            gen_ai__operation__name="execute_tool",
            gen_ai__tool__name="search",
            gen_ai__tool__call__arguments='{"a": "\\ud800"}',
        ),
    ]
    (tmp_path / "spans.json").write_text(json.dumps(to_otlp_json(run)))
    done = shell(f'$A read "$1" {shape}', tmp_path / "spans.json")
    line = json.loads(done.stdout)
    steps = line["steps"] if shape == "--json" else line["agent_trajectory"]
    assert steps[0]["arguments"] == {"a": "\ufffd"}
