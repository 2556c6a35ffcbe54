"""What `agentpath demo` shows, in order: live runs, a trace, a step diff, recorded runs, files, what to do next."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.console import Console
from rich.rule import Rule
from rich.text import Text

from agentpath_sdk.cli.console import out, plain, write_json
from agentpath_sdk.cli.demo.live import AGENT, Place, ask_everything, prepare
from agentpath_sdk.cli.golds import Golds
from agentpath_sdk.cli.report import Report, print_diff, worst_first
from agentpath_sdk.cli.run import ScoredRun
from agentpath_sdk.cli.tree import trace_trees
from agentpath_sdk.trajectories.files import read_items, read_spans

__all__ = ["demonstrate"]


def demonstrate(folder: Path, *, as_json: bool) -> int:
    """Run the demonstration in ``folder`` and return 0.

    Raises:
        AgentPathError: LangChain is missing, the folder cannot be written, or tracing is switched off.
    """
    place = prepare(folder)
    console = out()
    if as_json:
        ask_everything(place, lambda _question, _answer: None)
        for run in (*_live_runs(place), *_recorded_runs(place)):
            write_json(run.to_json())
        return 0
    _show_live(place, console)
    _show_recorded(place, console)
    _show_files(place, console)
    return 0


def _live_runs(place: Place) -> list[ScoredRun]:
    golds = Golds.load([place.gold])
    return [golds.score(item, "aligned") for item in read_items(place.spans)]


def _recorded_runs(place: Place) -> list[ScoredRun]:
    golds = Golds()
    return [golds.score(item, "aligned") for item in read_items(place.recorded)]
