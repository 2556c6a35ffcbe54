"""Every block of the page on authoring runs, in order, in one folder, and prints what the page says."""

from __future__ import annotations

import json
import re
import runpy
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

for library in ("typer", "rich", "httpx", "tenacity", "simpleeval"):
    pytest.importorskip(library)

PAGE = Path(__file__).resolve().parents[2] / "docs" / "authoring.md"
FENCE = re.compile(r"^```(\w+)[ ]?([^\n]*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
DRAFT = json.dumps({"steps": [{"search": {"query": "Mars"}}, {"calculator": {"expression": "1"}}, "response"]})


def test_a_reader_who_copies_the_blocks_in_order_gets_what_the_page_shows(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    endpoint: Callable[..., Any],
) -> None:
    monkeypatch.chdir(tmp_path)
    stub = endpoint(DRAFT)
    for language, name, body in FENCE.findall(PAGE.read_text(encoding="utf-8")):
        if language == "console":
            _run(body.replace("http://127.0.0.1:8000/v1", stub.base_url), capfd)
        else:
            (tmp_path / name).write_text(body, encoding="utf-8")
        if language == "python":
            runpy.run_path(name)
    assert len(stub.requests) == 1
    mined, expected = (yaml.safe_load(Path(name).read_text()) for name in ("mined.yaml", "mined.expected.yaml"))
    assert mined["steps"] == expected["steps"]


def _run(block: str, capfd: pytest.CaptureFixture[str]) -> None:
    from agentpath_sdk.cli.app import run

    command, *expected = [line for line in block.splitlines() if line.strip()]
    program, *arguments = shlex.split(command.removeprefix("$ "))
    assert program == "agentpath"
    code = run(arguments)
    written = capfd.readouterr()
    assert code == 0, written.err
    assert written.err.splitlines() == expected
