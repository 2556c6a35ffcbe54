"""Every block of the README and of the guides runs.

A fence ``python NAME.py`` or ``yaml NAME.yaml`` is a file; a fence ``console`` holds commands after ``$`` and,
below each, lines that must occur in its output. Blocks of one page share one folder and run in order.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("guide-*.md"))]
_FENCE = re.compile(r"^```(\w+)[ ]?([^\n]*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
# Written, compared or run by another test, or nothing to run.
_PROSE = {"text", "mermaid"}


def _commands(block: str) -> list[tuple[str, list[str]]]:
    found: list[tuple[str, list[str]]] = []
    for line in block.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        elif line.strip() and found:
            found[-1][1].append(line.strip())
    return found


def _run(command: str, folder: Path) -> str:
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "COLUMNS": "110",
        "NO_COLOR": "1",
    }
    done = subprocess.run(
        ["bash", "-euc", command], cwd=folder, env=environment, capture_output=True, text=True, timeout=110, check=False
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr


def _make_targets() -> set[str]:
    return set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))


def _check_command(command: str, expected: list[str], folder: Path) -> None:
    if command.startswith("make "):
        # These run this very suite, or install into the clone: the target must exist.
        assert command.split()[1] in _make_targets()
        return
    if command.startswith(("git clone", "pip install")):
        return
    output = " ".join(_run(command, folder).split())
    for line in expected:
        assert " ".join(line.split()) in output, f"{command!r} did not print {line!r}:\n{output}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_block_of_the_page_runs(page: Path, tmp_path: Path) -> None:
    """A reader who copies the blocks in order gets what the page shows."""
    pytest.importorskip("typer", reason="needs the extra cli")
    pytest.importorskip("langchain_core", reason="needs the extra langchain")
    for language, name, body in _FENCE.findall(page.read_text(encoding="utf-8")):
        if language in _PROSE:
            continue
        if language == "console":
            for command, expected in _commands(body):
                _check_command(command, expected, tmp_path)
            continue
        assert name, f"a {language} block of {page.name} has no file name"
        target = tmp_path / name.strip()
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(body, encoding="utf-8")
