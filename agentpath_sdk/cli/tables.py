"""The tables of the command: trajectories, scored runs, metric means with their hints, the headline."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from rich.table import Table
from rich.text import Text

from agentpath_sdk.cli.console import plain
from agentpath_sdk.cli.run import ScoredRun
from agentpath_sdk.scoring.summary import Summary
from agentpath_sdk.trajectories.model import Trajectory

__all__ = ["COLUMNS", "WIDE", "kind_words", "label_text", "runs_table", "score_text", "trajectories_table"]

COLUMNS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "tool_accuracy": "TA",
        "argument_accuracy": "AA",
        "step_order_accuracy": "SOA",
        "path_efficiency": "PE",
    }
)
"""Metric -> its short heading, in the order of the tables."""

WIDE: Final = 100
"""Columns from which on a terminal shows everything."""

_LEGEND: Final = ", ".join(f"{short} {metric.replace('_', ' ')}" for metric, short in COLUMNS.items())
_LABEL_STYLES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "solid": "green",
        "good_path": "green",
        "lucky": "yellow",
        "unlucky": "cyan",
        "failed": "red",
        "bad_path": "red",
        "not_evaluated": "dim",
    }
)


def trajectories_table(trajectories: Iterable[Trajectory]) -> Table:
    """Return one row a trajectory: who, what was asked, which tools were called, how it ended."""
    table = _table()
    table.add_column("trace", no_wrap=True)
    table.add_column("agent", overflow="fold")
    table.add_column("query", ratio=3, overflow="ellipsis", no_wrap=True)
    table.add_column("steps", ratio=4, overflow="fold")
    table.add_column("stopped", no_wrap=True)
    for trajectory in trajectories:
        table.add_row(
            (trajectory.trace_id or "-")[:8],
            plain(trajectory.agent or "-"),
            plain(trajectory.query or "-", 200),
            _steps_text(trajectory),
            _ending(trajectory),
        )
    return table


def _table() -> Table:
    return Table(box=None, expand=True, pad_edge=False, header_style="bold")


def _steps_text(trajectory: Trajectory) -> Text:
    if not trajectory.steps:
        return Text("no tool calls", style="dim")
    text = Text()
    for index, step in enumerate(trajectory.steps):
        text.append(" > " if index else "", style="dim")
        text.append(plain(step.tool), style="" if step.outcome in {"ok", "unknown"} else "red")
    return text


def _ending(trajectory: Trajectory) -> Text:
    text = Text(trajectory.stop_reason, style="" if trajectory.stop_reason == "finished" else "yellow")
    if trajectory.completeness != "complete":
        text.append(f"\n{trajectory.completeness.replace('_', ' ')}", style="yellow")
    return text


def runs_table(runs: Sequence[ScoredRun], summary: Summary | None = None, *, width: int = WIDE) -> Table:
    """Return one row a scored run: query, goal, score, label, the path metrics, where it first diverged.

    With ``summary`` a last row has the means over all its scores; below a ``width`` of 100 the metrics are left out.
    """
    metrics: Mapping[str, str] = COLUMNS if width >= WIDE else {}
    table = _table()
    if metrics:
        table.caption = Text(_LEGEND, style="dim", justify="left")
        table.caption_justify = "left"
    table.add_column("query", ratio=4, overflow="ellipsis", no_wrap=True)
    table.add_column("goal", no_wrap=True)
    table.add_column("score", justify="right", no_wrap=True)
    table.add_column("label", no_wrap=True)
    for heading in metrics.values():
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("first divergence", ratio=3, overflow="fold")
    for run in runs:
        table.add_row(*_cells(run, metrics))
    if summary is not None and summary.evaluated > 1:
        table.add_row(*_means(summary, metrics), style="bold")
    return table


def _cells(run: ScoredRun, metrics: Iterable[str]) -> Iterator[Text]:
    yield Text(plain(run.trajectory.query or run.trajectory.trace_id or "-", 200))
    yield _goal_text(run.score.goal.success)
    yield score_text(run.score.value)
    yield label_text(run.score.label)
    for metric in metrics:
        yield score_text(run.score.metrics.get(metric))
    yield _divergence(run)


def _means(summary: Summary, metrics: Iterable[str]) -> Iterator[Text]:
    means = {name: found.mean for name, found in summary.metrics.items()}
    yield Text(f"mean of {summary.evaluated}")
    yield Text(f"{means['goal_success']:.0%}" if "goal_success" in means else "")
    yield score_text(means.get("composite"))
    yield Text("")
    for metric in metrics:
        yield score_text(means.get(metric))


def _goal_text(success: bool | None) -> Text:
    if success is None:
        return Text("-", style="dim")
    return Text("yes", style="green") if success else Text("no", style="red")


def score_text(value: float | None) -> Text:
    """Return a score with three digits, or a dash where there is none."""
    return Text("-", style="dim") if value is None else Text(f"{value:.3f}")


def label_text(label: str) -> Text:
    """Return a label in words and in its colour."""
    return Text(label.replace("_", " "), style=_LABEL_STYLES.get(label, ""))


def _divergence(run: ScoredRun) -> Text:
    if run.score.not_evaluated is not None:
        return Text(plain(run.score.not_evaluated), style="dim")
    return Text(kind_words(run.score.alignment.first_divergence_kind or ""))


def kind_words(kind: str) -> str:
    """Return a kind of divergence in words: ``wrong arguments search(query)``."""
    word, _, tool = kind.partition(" ")
    return f"{word.replace('_', ' ')} {plain(tool, 60)}".strip()
