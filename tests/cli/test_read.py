"""`agentpath read`: trajectories for programs and for people."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

pytest.importorskip("typer")
pytest.importorskip("rich")

Command: TypeAlias = Callable[..., Any]

EXAMPLE = Path(__file__).parents[1] / "data" / "runs" / "path_example.json"
MAIN = [sys.executable, "-c", "from agentpath_sdk.cli import main; main()"]


def test_a_json_line_holds_the_fields_of_a_trajectory_and_its_steps(agentpath: Command) -> None:
    [line] = agentpath("read", EXAMPLE, "--json").lines
    fields = "trace_id span_id agent query final_answer conversation_id completeness stop_reason steps"
    step_fields = "tool arguments result outcome error call_id agent parallel_group start_unix_nano end_unix_nano"
    assert set(fields.split()) <= set(line)
    assert set(step_fields.split()) <= set(line["steps"][0])
    assert line["query"] == "Какая средняя температура на Марсе в °C?"


def test_the_record_form_is_written_without_asking_for_json(agentpath: Command) -> None:
    [line] = agentpath("read", EXAMPLE, "--format", "record").lines
    assert [step["tool"] for step in line["agent_trajectory"]] == [
        "retrieval",
        "retrieval",
        "calculator",
        "response",
    ]


def test_without_json_a_table_is_shown(agentpath: Command) -> None:
    outcome = agentpath("read", EXAMPLE)
    assert outcome.code == 0
    assert "retrieval > retrieval > calculator > response" in outcome.out


def test_a_table_of_very_many_runs_is_cut_and_says_so(agentpath: Command, tmp_path: Path) -> None:
    file = tmp_path / "runs.jsonl"
    file.write_text((json.dumps({"query": "q", "agent_trajectory": []}) + "\n") * 250)
    outcome = agentpath("read", file)
    assert len(outcome.out.splitlines()) == 201
    assert "and 50 more" in outcome.err


def test_standard_input_is_read(tmp_path: Path) -> None:
    done = subprocess.run([*MAIN, "read", "-", "--json"], input=EXAMPLE.read_bytes(), capture_output=True, timeout=60)
    assert done.returncode == 0
    assert len(json.loads(done.stdout)["steps"]) == 4


@pytest.mark.parametrize("locale", ["C", "POSIX"])
def test_json_is_utf8_whatever_the_locale(locale: str) -> None:
    env = {"LC_ALL": locale, "PYTHONIOENCODING": "ascii", "PATH": ""}
    done = subprocess.run([*MAIN, "read", str(EXAMPLE), "--json"], env=env, capture_output=True, timeout=60)
    assert json.loads(done.stdout.decode("utf-8"))["query"].startswith("Какая")
    table = subprocess.run([*MAIN, "read", str(EXAMPLE)], env=env, capture_output=True, timeout=60)
    assert table.returncode == 0
    assert b"Traceback" not in table.stderr


def test_a_reader_that_leaves_early_is_no_trouble(tmp_path: Path) -> None:
    """As in ``agentpath read ... --json | head -1``."""
    file = tmp_path / "runs.jsonl"
    file.write_text((json.dumps({"query": "q" * 1_000, "agent_trajectory": []}) + "\n") * 2_000)
    with subprocess.Popen(
        [*MAIN, "read", str(file), "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""


def test_nothing_of_the_progress_bar_reaches_a_pipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = subprocess.run([*MAIN, "read", str(EXAMPLE), "--json"], capture_output=True, timeout=60)
    assert done.stderr == b""
