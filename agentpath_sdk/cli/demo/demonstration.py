"""What `agentpath demo` shows, in order: live runs, a trace, a step diff, recorded runs, files, what to do next."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.rule import Rule
from rich.text import Text

from agentpath_sdk.cli.console import out, plain, write_json
from agentpath_sdk.cli.demo.live import AGENT, Place, ask_everything, prepare
from agentpath_sdk.cli.golds import Golds
from agentpath_sdk.cli.report import print_diff, print_summary, worst
from agentpath_sdk.cli.run import ScoredRun
from agentpath_sdk.cli.tables import runs_table
from agentpath_sdk.cli.tree import trace_trees
from agentpath_sdk.scoring.summary import summarise
from agentpath_sdk.trajectories.files import read_items, read_spans

__all__ = ["demonstrate"]

_REMARKS: Final = {
    "hotpotqa-react": "The gold is one way to look the facts up, and every step of it leads to the answer.",
    "tau-bench-airline": (
        "The gold holds mostly the changes to the data base, and none where none is due. Every look-up before them "
        "counts as an extra step here, so a low score says little: a path score is as good as its gold path."
    ),
}


def demonstrate(folder: Path, *, as_json: bool) -> int:
    """Run the demonstration in ``folder`` and return 0.

    Raises:
        AgentPathError: LangChain is missing, the folder cannot be written, or tracing is switched off.
    """
    place = prepare(folder)
    if as_json:
        ask_everything(place, lambda _question, _answer: None)
        for run in (*_live_runs(place), *_recorded_runs(place)):
            write_json(run.to_json())
        return 0
    console = out()
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


def _show_live(place: Place, console: Console) -> None:
    _title(console, "A live LangChain agent, traced by one decorator and scored while it runs")
    _say(
        console,
        f"{AGENT} looks facts up (full-text search), computes (a calculator) and answers. Its chat model plays a "
        "script, so that no key is needed; tools, callbacks, spans, look-up and scores are the real ones.",
    )
    console.print()
    ask_everything(place, lambda question, answer: _told(console, question, answer))
    runs = _live_runs(place)
    bad = worst(runs)
    if bad is not None:
        console.print(Text("\nThe trace of the worst run, with the score on its root:", style="bold"))
        spans = [span for span in read_spans(place.spans) if span.trace_id == bad.trajectory.trace_id]
        for tree in trace_trees(spans):
            console.print(tree)
        console.print(Text("\nThe same run beside its gold path:", style="bold"), end="")
        print_diff(bad, console)
    _conclude(runs, console)


def _told(console: Console, question: str, answer: str) -> None:
    console.print(Text("  ? ", style="cyan").append(plain(question), "default"))
    console.print(Text("    ").append(plain(answer), style="dim"))


def _show_recorded(place: Place, console: Console) -> None:
    _title(console, "Twenty recorded runs of other agents, beside their known outcomes")
    _say(
        console,
        "Ten of GPT-4o on tau-bench airline tasks (MIT), ten of a ReAct agent on HotpotQA questions (runs MIT, "
        "questions CC BY-SA 4.0); five successes and five failures each, first in file order. Whether a run reached "
        "its goal is what its authors recorded, no judgement of ours.",
    )
    runs = _recorded_runs(place)
    for agent, remark in _REMARKS.items():
        of_agent = [run for run in runs if run.trajectory.agent == agent]
        console.print(Text(f"\n{agent}", style="bold"), end="")
        _conclude(of_agent, console)
        console.print(Text(f"  {_by_outcome(of_agent)}", style="dim"))
        _say(console, f"  {remark}")


def _by_outcome(runs: Iterable[ScoredRun]) -> str:
    values: dict[bool, list[float]] = {True: [], False: []}
    for run in runs:
        if run.score.value is not None and run.score.goal.success is not None:
            values[run.score.goal.success].append(run.score.value)
    words = {True: "reached their goal", False: "missed it"}
    return "mean score: " + ", ".join(
        f"{sum(scores) / len(scores):.3f} of the {len(scores)} that {words[success]}"
        for success, scores in values.items()
        if scores
    )


def _conclude(runs: Sequence[ScoredRun], console: Console) -> None:
    summary = summarise(run.score for run in runs)
    console.print()
    console.print(runs_table(runs, summary, width=console.width))
    console.print()
    print_summary(summary, console)


def _show_files(place: Place, console: Console) -> None:
    _title(console, "Where everything lies")
    for file, what in (
        (place.spans, "spans of the live runs (OTLP/JSON), the score on each agent's span"),
        (place.scores, "score records of the live runs"),
        (place.gold, "their gold paths, to read and to change"),
        (place.recorded, "the recorded runs, each with its gold path"),
    ):
        console.print(Text(f"  {plain(_short(file))}  ", style="bold").append(what, "not bold dim"), soft_wrap=True)
    command = _command()
    console.print(Text("\nNext", style="bold"))
    for line, what in (
        (f"score {_short(place.spans)} --gold {_short(place.gold)}", "change a gold path, score again"),
        (f"score {_short(place.recorded)} --diff 5", "see why the recorded runs lost points"),
        (f"gold show {_short(place.gold)} --id 'mars*'", "read a gold path in words"),
    ):
        console.print(Text(f"  {command} {line}").append(f"   # {what}", "dim"), soft_wrap=True)


def _title(console: Console, text: str) -> None:
    console.print()
    console.print(Rule(Text(text, style="bold"), align="left", style="dim"))


def _say(console: Console, text: str) -> None:
    console.print(Text(text, style="dim"))


def _short(file: Path) -> str:
    """Return the path from the working folder where that is shorter."""
    relative = os.path.relpath(file)
    return min(relative, str(file.resolve()), key=len)


def _command() -> str:
    """Return how the command can be called from here: as ``agentpath`` where it is on PATH, else by its path."""
    if shutil.which("agentpath"):
        return "agentpath"
    called = Path(sys.argv[0])
    return _short(called) if called.name == "agentpath" else "agentpath"
