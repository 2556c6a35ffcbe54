"""The command, run in this process: exit code, stdout and stderr."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import pytest


@dataclass(frozen=True)
class Outcome:
    """What a command did."""

    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[dict[str, Any]]:
        """The JSON objects it wrote."""
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def errors(self) -> list[str]:
        """The lines it wrote to stderr."""
        return self.err.splitlines()


Command: TypeAlias = Callable[..., Outcome]


@pytest.fixture
def agentpath(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Command:
    """Run ``agentpath`` with the given arguments; whatever it does, a traceback is a failure."""
    pytest.importorskip("typer")
    pytest.importorskip("rich")
    for name in ("AGENTPATH_GOLD", "NO_COLOR", "FORCE_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    from agentpath_sdk.cli.app import run

    def command(*arguments: object) -> Outcome:
        code = run([str(argument) for argument in arguments])
        out, err = capfd.readouterr()
        assert "Traceback" not in out + err
        return Outcome(code, out, err)

    return command
