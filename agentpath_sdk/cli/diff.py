"""The step diff: gold beside run, one line a step, with the reason for every lost point."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from agentpath_sdk.cli.console import plain
from agentpath_sdk.cli.run import ScoredRun
from agentpath_sdk.gold.model import ArgumentMatcher, CallStep, GoldPath
from agentpath_sdk.scoring.score import StepMatch
from agentpath_sdk.scoring.ways import is_linear, plain_calls
from agentpath_sdk.trajectories.model import ToolCall

__all__ = ["step_diff"]

_NARROW: Final = 90
_LONGEST_VALUE: Final = 60


class _Mark(NamedTuple):
    sign: str
    word: str
    style: str


_MARKS: Final[Mapping[str, _Mark]] = MappingProxyType(
    {
        "match": _Mark("=", "match", "green"),
        "wrong_arguments": _Mark("~", "wrong arguments", "yellow"),
        "wrong_tool": _Mark("x", "wrong tool", "red"),
        "missing": _Mark("-", "missing", "red"),
        "extra": _Mark("+", "extra", "magenta"),
        "misplaced": _Mark("%", "misplaced", "cyan"),
        "failed": _Mark("!", "failed", "red"),
        "unknown": _Mark("?", "arguments unknown", "dim"),
    }
)


def step_diff(run: ScoredRun, console: Console) -> RenderableType:
    """Return the diff for ``console``'s width: two columns, or stacked lines below 90 columns."""
    lines = run.score.alignment.lines
    if not lines:
        return Text("no steps to compare", style="dim")
    return _stacked(run, lines) if console.width < _NARROW else _side_by_side(run, lines)


def _side_by_side(run: ScoredRun, lines: tuple[StepMatch, ...]) -> Table:
    table = Table(box=None, expand=True, pad_edge=False, padding=(0, 1))
    table.add_column("", width=1)
    table.add_column("gold", ratio=5, overflow="fold")
    table.add_column("run", ratio=5, overflow="fold")
    table.add_column("", ratio=4, overflow="fold")
    for line in lines:
        mark = _MARKS[line.kind]
        verdict = Text(mark.word, style=mark.style)
        for reason in _reasons(line):
            verdict.append("\n" + reason, style="not bold dim" if line.kind == "match" else "default")
        table.add_row(Text(mark.sign, mark.style), _gold(run, line), _ran(run, line), verdict)
    return table


def _stacked(run: ScoredRun, lines: tuple[StepMatch, ...]) -> Group:
    return Group(*(part for line in lines for part in _stacked_line(run, line)))


def _stacked_line(run: ScoredRun, line: StepMatch) -> Iterator[Text]:
    mark = _MARKS[line.kind]
    yield Text(f"{mark.sign} {mark.word}", style=mark.style)
    if line.gold is not None:
        yield Text("    gold  ").append_text(_gold(run, line))
    if line.run is not None or line.kind == "match":
        yield Text("    run   ").append_text(_ran(run, line))
    for reason in _reasons(line):
        yield Text("    " + reason, style="dim")


def _reasons(line: StepMatch) -> list[str]:
    return [f"{plain(name)}: {plain(reason)}" for name, reason in line.reasons.items()]


def _gold(run: ScoredRun, line: StepMatch) -> Text:
    if line.gold is None or run.gold_path is None:
        return Text("")
    return _numbered(line.gold, _gold_text(run.gold_path, line), _MARKS[line.kind])


def _gold_text(path: GoldPath, line: StepMatch) -> str:
    # Of a path with groups or alternatives the line counts the sequence that was chosen, not the written steps.
    if line.gold is None or not is_linear(path):
        return f"{plain(line.gold_tool or '')}(...)"
    return gold_step_text(plain_calls(path)[line.gold])


def _ran(run: ScoredRun, line: StepMatch) -> Text:
    if line.run is None:
        return Text(f"(answer) {_value(run.trajectory.final_answer)}", "green") if line.kind == "match" else Text("")
    return _numbered(line.run, call_text(run.trajectory.steps[line.run]), _MARKS[line.kind])


def _numbered(index: int, text: str, mark: _Mark) -> Text:
    return Text(f"{index + 1} ", style="dim").append(text, style=f"not dim {mark.style}")


def gold_step_text(step: CallStep) -> str:
    """Return an expected call as ``tool(argument=value)``; arguments that are not checked as ``...``."""
    if step.arguments is None:
        return f"{plain(step.tool)}(...)"
    return _call(step.tool, {name: _expected(matcher) for name, matcher in step.arguments.items()})


def _expected(matcher: ArgumentMatcher) -> str:
    value = _value(matcher.expected)
    return value if matcher.name == "exact" else f"<{matcher.name}> {value}"


def call_text(step: ToolCall) -> str:
    """Return an executed call as ``tool(argument=value)``, with its outcome unless ok."""
    if step.arguments is not None:
        text = _call(step.tool, {name: _value(value) for name, value in step.arguments.items()})
    else:
        text = f"{plain(step.tool)}(<{step.arguments_state}>)"
    return text if step.outcome in {"ok", "unknown"} else f"{text} [{step.outcome}]"


def _call(tool: str, arguments: Mapping[str, str]) -> str:
    return f"{plain(tool)}({', '.join(f'{plain(name)}={value}' for name, value in arguments.items())})"


def _value(value: Any) -> str:
    return plain(json.dumps(value, ensure_ascii=False, default=str), _LONGEST_VALUE)
