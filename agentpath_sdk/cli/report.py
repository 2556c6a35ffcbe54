"""The report of `agentpath score`: table, means, step diffs of the worst runs, headline, hints."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Final

from rich.console import Console
from rich.rule import Rule
from rich.text import Text

from agentpath_sdk.cli.console import note, out, plain
from agentpath_sdk.cli.diff import step_diff
from agentpath_sdk.cli.run import ScoredRun
from agentpath_sdk.cli.tables import kind_words, label_text, runs_table, score_text
from agentpath_sdk.scoring.score import Label, PathScore
from agentpath_sdk.scoring.summary import Hint, Summary, summarise

__all__ = ["print_diff", "print_report", "print_summary", "worst"]

_MOST_ROWS: Final = 200
_ORDER: Final[tuple[Label, ...]] = ("solid", "lucky", "unlucky", "failed", "good_path", "bad_path")
# The runs whose step diff says most come first.
_RANKS: Final = {"failed": 0, "bad_path": 0, "lucky": 1, "unlucky": 2, "good_path": 3, "solid": 3}


def print_report(runs: Iterable[ScoredRun], *, diffs: int) -> None:
    """Print the report; of the runs beyond the table's rows only the numbers are kept."""
    seen = _Seen(diffs)
    summary = summarise(_compact(run.score) for run in seen.watch(runs))
    if not seen.rows:
        return
    console = out()
    console.print(runs_table(seen.rows, summary, width=console.width))
    if seen.more:
        note(f"and {seen.more} more; --json writes them all", style="dim")
    for run in seen.worst():
        print_diff(run, console)
    console.print()
    print_summary(summary, console)


def _compact(score: PathScore) -> PathScore:
    """Return the score without its findings and lines, and so without the run they were made from."""
    kept = replace(score.alignment, lines=())
    return replace(score, findings=(), alignment=kept)


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
    """Print the headline in one line, then what could not be evaluated, then the hints."""
    # A terminal folds between words; in a pipe a line stays a line.
    one_line = not console.is_terminal
    console.print(_headline(summary), soft_wrap=one_line)
    for reason, number in summary.not_evaluated.items():
        console.print(Text(f"  not evaluated: {number} ({plain(reason)})", style="dim"), soft_wrap=one_line)
    # A hint describes an aggregate; one run has its reasons instead.
    for hint in (hint for hint in summary.hints if hint.n > 1):
        console.print(Text(f"  {_hint_words(hint)}", style="yellow"), soft_wrap=one_line)


def _headline(summary: Summary) -> Text:
    line = Text(f"{summary.n} run{'s' * (summary.n != 1)}", style="bold")
    for label in _ORDER:
        if label in summary.labels:
            line.append("  ").append(f"{summary.labels[label].share:.0%} ").append_text(label_text(label))
    most = summary.first_divergence
    if most is not None:
        line.append("  most frequent first divergence: ", style="not bold")
        line.append(f"{kind_words(most.kind)} ({most.count} of {summary.evaluated})", style="not bold")
    return line


def _hint_words(hint: Hint) -> str:
    metric = hint.metric.replace("_", " ")
    if hint.metric == "goal_success":
        metric = "good path, goal missed"
    return (
        f"hint: {metric} {hint.value:.2f} (n {hint.n}, 95 % {hint.low:.2f} to {hint.high:.2f}): "
        f"{hint.says}; {hint.remedy}"
    )
