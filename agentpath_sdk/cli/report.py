"""The report of `agentpath score`: table, means, step diffs of the worst runs, headline, hints."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Final

from rich.console import Console
from rich.rule import Rule
from rich.text import Text

from agentpath_sdk.cli.console import note, out, plain
from agentpath_sdk.cli.diff import step_diff
from agentpath_sdk.cli.run import ScoredRun
from agentpath_sdk.cli.tables import label_text, runs_table, score_text
from agentpath_sdk.scoring.summary import Summary, summarise

__all__ = ["print_diff", "print_report", "print_summary", "worst"]

_MOST_ROWS: Final = 200
# The runs whose step diff says most come first.
_RANKS: Final = {"failed": 0, "bad_path": 0, "lucky": 1, "unlucky": 2, "good_path": 3, "solid": 3}


def print_report(runs: Iterable[ScoredRun], *, diffs: int) -> None:
    """Print the report; memory does not grow with the number of runs."""
    seen = _Seen(diffs)
    summary = summarise(run.score for run in seen.watch(runs))
    if not seen.rows:
        return
    console = out()
    console.print(runs_table(seen.rows))
    if seen.more:
        note(f"and {seen.more} more; --json writes them all", style="dim")
    for run in seen.worst():
        print_diff(run, console)
    console.print()
    print_summary(summary, console)


@dataclass(slots=True)
class _Seen:
    """The first rows and the worst runs of all that pass by."""

    diffs: int
    rows: list[ScoredRun] = field(default_factory=list[ScoredRun])
    more: int = 0
    _worst: list[tuple[tuple[int, float], int, ScoredRun]] = field(
        default_factory=list[tuple[tuple[int, float], int, ScoredRun]]
    )
    _order: Iterator[int] = field(default_factory=lambda: count(0, -1))

    def watch(self, runs: Iterable[ScoredRun]) -> Iterator[ScoredRun]:
        for run in runs:
            if len(self.rows) < _MOST_ROWS:
                self.rows.append(run)
            else:
                self.more += 1
            self._keep_if_bad(run)
            yield run

    def _keep_if_bad(self, run: ScoredRun) -> None:
        badness = _badness(run)
        if badness is not None and self.diffs:
            push = heapq.heappush if len(self._worst) < self.diffs else heapq.heappushpop
            push(self._worst, (badness, next(self._order), run))

    def worst(self) -> list[ScoredRun]:
        return [run for _, _, run in sorted(self._worst, reverse=True)]


def _badness(run: ScoredRun) -> tuple[int, float] | None:
    """Return how much a run's diff is worth showing, larger first; None where there is nothing to show."""
    score = run.score
    if score.value is None or not score.alignment.lines or score.alignment.first_divergence is None:
        return None
    return -_RANKS.get(score.label, 0), 1 - score.value


def worst(runs: Iterable[ScoredRun]) -> ScoredRun | None:
    """Return the run whose diff says most, or None where all follow their gold."""
    seen = _Seen(1)
    for _ in seen.watch(runs):
        pass
    return next(iter(seen.worst()), None)


def print_diff(run: ScoredRun, console: Console) -> None:
    """Print one run's step diff under a line that says which run it is."""
    console.print()
    title = Text(plain(run.trajectory.query or run.trajectory.trace_id or "a run", 70))
    title.append("  ").append_text(score_text(run.score.value)).append(" ").append_text(label_text(run.score.label))
    console.print(Rule(title, align="left", style="dim"))
    console.print(step_diff(run, console))
    if run.score.goal.success is False and run.score.goal.reason:
        console.print(Text(f"goal missed: {plain(run.score.goal.reason)}", style="red"))


def print_summary(summary: Summary, console: Console) -> None:
    """Print the headline in one line, then the hints."""
    console.print(Text(summary.headline, style="bold"), soft_wrap=True)
    for hint in summary.hints:
        console.print(Text(f"  {hint}", style="yellow"), soft_wrap=True)
