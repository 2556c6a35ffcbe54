"""Every example runs as it stands, from a folder that is not its own, and shows what it promises."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


def run(folder: Path, *arguments: str) -> str:
    """Return stdout of Python with ``arguments`` in ``folder``, with nothing of this shell's set-up in it."""
    env = {key: value for key, value in os.environ.items() if not key.startswith(("OTEL_", "AGENTPATH_"))}
    command = [sys.executable, *arguments]
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, encoding="utf-8", timeout=60)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout


def test_no_example_is_left_out() -> None:
    known = {"quickstart.py", "langchain_agent.py", "own_provider.py", "in_tests.py"}
    assert {file.name for file in EXAMPLES.glob("*.py")} == known


def test_the_shortest_example_prints_its_score(tmp_path: Path) -> None:
    """Gold of six lines, one decorator, a score of 1 and the label solid."""
    pytest.importorskip("langchain_core")
    gold = (EXAMPLES / "gold" / "mars.yaml").read_text(encoding="utf-8")
    assert len(gold.splitlines()) == 6
    assert run(tmp_path, str(EXAMPLES / "quickstart.py")).splitlines() == [
        "About -63.15 °C.",
        "agent: composite 1.0, solid",
    ]


def test_the_langchain_example_leaves_spans_and_scores_behind(tmp_path: Path) -> None:
    pytest.importorskip("langchain_core")
    run(tmp_path, str(EXAMPLES / "langchain_agent.py"), str(tmp_path))
    [record] = [json.loads(line) for line in (tmp_path / "scores.jsonl").read_text(encoding="utf-8").splitlines()]
    assert (record["score"], record["label"], record["conversation_id"]) == (1.0, "solid", "ticket-4711")
    assert "execute_tool refund" in (tmp_path / "spans.jsonl").read_text(encoding="utf-8")


def test_the_applications_own_spans_and_exporter_stay_and_get_the_score(tmp_path: Path) -> None:
    lines = run(tmp_path, str(EXAMPLES / "own_provider.py")).splitlines()
    assert sorted(lines) == [
        "POST /support",
        "execute_tool lookup",
        "execute_tool refund",
        "invoke_agent support  score 1.0  solid",
    ]


def test_the_example_tests_pass(tmp_path: Path) -> None:
    shown = run(
        tmp_path,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "--rootdir",
        str(tmp_path),
        str(EXAMPLES / "in_tests.py"),
    )
    assert "3 passed" in shown
