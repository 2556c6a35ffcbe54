"""The console script without its extra, its help, and how fast it starts."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any, TypeAlias

import pytest

import agentpath_sdk.cli

Command: TypeAlias = Callable[..., Any]


@pytest.mark.parametrize("missing", ["typer", "rich"])
def test_without_the_extra_one_line_names_it(
    missing: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(agentpath_sdk.cli, "find_spec", lambda name: None if name == missing else object())
    with pytest.raises(SystemExit) as end:
        agentpath_sdk.cli.main()
    assert end.value.code == 2
    [line] = capsys.readouterr().err.splitlines()
    assert "agentpath-sdk[cli]" in line
    assert missing in line


def test_help_names_every_command(agentpath: Command) -> None:
    outcome = agentpath("--help")
    assert outcome.code == 0
    for command in ("demo", "read", "score", "gold", "doctor"):
        assert command in outcome.out


def test_the_version_is_told(agentpath: Command) -> None:
    assert agentpath("--version").out.startswith("agentpath-sdk ")


def test_help_loads_neither_the_scorer_nor_a_framework() -> None:
    """So that it is there at once."""
    pytest.importorskip("typer")
    code = (
        "import sys\n"
        "from agentpath_sdk.cli.app import run\n"
        "run(['--help'])\n"
        "heavy = {'langchain_core', 'opentelemetry', 'rapidfuzz', 'pydantic', 'agentpath_sdk.scoring'}\n"
        "sys.exit(', '.join(heavy & set(sys.modules)) or 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
