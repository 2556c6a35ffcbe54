"""The files a command was given: their runs, one line on stderr per bad file, a progress bar when it takes long."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Final, Self

from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from agentpath_sdk.cli.console import err, note
from agentpath_sdk.errors import AgentPathError
from agentpath_sdk.trajectories.files import ReadItem, read_items

__all__ = ["Inputs"]

_SHOW_AFTER_SECONDS: Final = 2.0


@dataclass(slots=True)
class Inputs:
    """The runs of ``files``; afterwards ``bad`` says how many files could not be read."""

    files: Sequence[str]
    quiet: bool = False
    """True = no progress bar, because stdout shares the terminal with it."""
    bad: int = 0
    read: int = 0

    def __iter__(self) -> Iterator[ReadItem]:
        """Yield the runs; what is wrong with a file goes to stderr, the others are still read."""
        with _Bar("reading", shown=not self.quiet) as bar:
            for item in read_items(self.files, on_error=self.report, on_note=_remark):
                self.read += 1
                bar.advance(self.read)
                yield item
        if not self.read and not self.bad:
            note("0 trajectories", style="dim")

    def report(self, error: AgentPathError) -> None:
        """Count a bad file and say in one line what is wrong with it."""
        self.bad += 1
        note(str(error), style="red")


def _remark(text: str) -> None:
    note(text, style="dim")


class _Bar:
    """A progress bar on stderr that appears after two seconds, and only on a terminal."""

    def __init__(self, what: str, *, shown: bool) -> None:
        console = err()
        self._shown = shown and console.is_terminal
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.completed:.0f} runs"),
            TimeElapsedColumn(),
            console=console,
            transient=True,
        )
        self._task = self._progress.add_task(what, total=None)
        self._timer = threading.Timer(_SHOW_AFTER_SECONDS, self._progress.start)
        self._timer.daemon = True

    def __enter__(self) -> Self:
        if self._shown:
            self._timer.start()
        return self

    def advance(self, count: int) -> None:
        self._progress.update(self._task, completed=count)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._shown:
            self._timer.cancel()
            self._progress.stop()
