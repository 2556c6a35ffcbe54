"""`agentpath demo`: live runs of every label, recorded runs beside their outcomes, files that can be used further."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("typer")
pytest.importorskip("langchain_core")

MAIN = [sys.executable, "-c", "from agentpath_sdk.cli import main; main()"]


def agentpath(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own, since the demonstration sets the process's tracer provider."""
    env = {key: value for key, value in os.environ.items() if not key.startswith(("OTEL_", "AGENTPATH_"))}
    return subprocess.run(
        [*MAIN, *arguments],
        cwd=folder,
        env={**env, **environment},
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=100,
    )


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The folder of one demonstration, and what it printed."""
    folder = tmp_path_factory.mktemp("demo")
    done = agentpath(folder, "demo")
    assert done.returncode == 0, done.stderr
    return folder, done.stdout


@pytest.fixture(scope="module")
def lines(shown: tuple[Path, str]) -> list[dict[str, Any]]:
    """The scores of the live runs, computed again from the files that the demonstration left."""
    done = agentpath(shown[0], "score", "demo-output/spans.jsonl", "--gold", "demo-output/gold.yaml", "--json")
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_the_live_runs_have_every_label(lines: list[dict[str, Any]]) -> None:
    """At least six questions, each with a goal check, Mars in Russian and English among them."""
    labels = {line["gold_path_id"]: line["label"] for line in lines}
    assert labels == {
        "mars-temperature-ru": "lucky",
        "mars-temperature-en": "solid",
        "jupiter-distance": "solid",
        "jupiter-earth-diameter": "solid",
        "venus-year": "lucky",
        "sunlight-to-mars": "lucky",
        "weight-on-the-moon": "unlucky",
        "neptune-earth-gravity": "failed",
    }
    assert {line["goal"]["source"] for line in lines} == {"answer"}


def test_scores_written_live_equal_those_computed_from_the_spans(
    shown: tuple[Path, str], lines: list[dict[str, Any]]
) -> None:
    """The pipeline and the command are one scorer over one trajectory."""
    file = shown[0] / "demo-output" / "scores.jsonl"
    live = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    for key in ("score", "label", "tool_accuracy", "argument_accuracy", "step_order_accuracy", "path_efficiency"):
        assert {run["trace_id"]: run[key] for run in live} == {run["trace_id"]: run[key] for run in lines}
    assert {run["completeness"] for run in live} == {"complete"}


def test_the_score_is_on_the_root_of_the_trace_that_is_shown(shown: tuple[Path, str]) -> None:
    out = shown[1]
    assert "invoke_agent planet-agent" in out
    assert "agentpath.score.value = 0.725  failed" in out
    assert "execute_tool retrieval" in out


def test_the_diff_of_a_bad_run_says_why(shown: tuple[Path, str]) -> None:
    assert "wrong arguments" in shown[1]
    assert 'gold expects "Earth" in it' in " ".join(shown[1].split())


def test_twenty_recorded_runs_stand_beside_their_outcomes(shown: tuple[Path, str]) -> None:
    folder, out = shown
    done = agentpath(folder, "score", "demo-output/recorded_runs.jsonl.gz", "--json")
    runs = [json.loads(line) for line in done.stdout.splitlines()]
    assert Counter((run["agent"], run["goal_success"]) for run in runs) == {
        ("tau-bench-airline", 1.0): 5,
        ("tau-bench-airline", 0.0): 5,
        ("hotpotqa-react", 1.0): 5,
        ("hotpotqa-react", 0.0): 5,
    }
    assert {run["goal"]["source"] for run in runs} == {"record"}
    assert "MIT" in out
    assert "CC BY-SA 4.0" in out


def test_every_command_it_proposes_works(shown: tuple[Path, str]) -> None:
    folder, out = shown
    proposed = [line.split("#")[0].split() for line in out.splitlines() if "  # " in line]
    assert len(proposed) == 3
    for _command, *arguments in proposed:
        done = agentpath(folder, *(argument.strip("'") for argument in arguments))
        assert done.returncode == 0, done.stderr


def test_a_second_demonstration_starts_afresh(shown: tuple[Path, str]) -> None:
    """And its JSON form has the same runs: eight live, twenty recorded."""
    done = agentpath(shown[0], "demo", "--json")
    assert len(done.stdout.splitlines()) == 28
    assert len((shown[0] / "demo-output" / "scores.jsonl").read_text(encoding="utf-8").splitlines()) == 8


def test_everything_stays_in_its_folder(tmp_path: Path) -> None:
    home = tmp_path / "home"
    work = tmp_path / "work"
    home.mkdir()
    work.mkdir()
    assert agentpath(work, "demo", HOME=str(home)).returncode == 0
    assert list(home.rglob("*")) == []
    assert [file.name for file in work.iterdir()] == ["demo-output"]


def test_where_tracing_is_switched_off_it_says_so(tmp_path: Path) -> None:
    done = agentpath(tmp_path, "demo", OTEL_SDK_DISABLED="true")
    assert done.returncode == 2
    assert "agentpath doctor" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    blocker = tmp_path / "file"
    blocker.touch()
    done = agentpath(tmp_path, "demo", "--output", str(blocker / "demo"))
    assert done.returncode == 2
    assert str(blocker) in done.stderr
    assert "Traceback" not in done.stderr
