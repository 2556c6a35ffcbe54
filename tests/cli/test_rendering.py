"""What people see: tables, diffs and trees, on wide and narrow terminals, with and without colour."""

from __future__ import annotations

import io
from typing import Any

import pytest

pytest.importorskip("rich")
pytest.importorskip("typer")

from rich.console import Console

from agentpath_sdk import semconv
from agentpath_sdk.cli.console import plain
from agentpath_sdk.cli.diff import step_diff
from agentpath_sdk.cli.run import ScoredRun
from agentpath_sdk.cli.tables import runs_table, trajectories_table
from agentpath_sdk.cli.tree import trace_trees
from agentpath_sdk.gold.matchers import Exact, Regex
from agentpath_sdk.gold.model import CallStep, GoldPath
from agentpath_sdk.scoring.score import Alignment, PathScore, StepMatch
from agentpath_sdk.trajectories.model import ToolCall, Trajectory
from agentpath_sdk.trajectories.span_record import SpanRecord


def console(width: int = 140, **options: Any) -> Console:
    return Console(file=io.StringIO(), width=width, markup=False, emoji=False, highlight=False, **options)


def text_of(renderable: Any, width: int = 140, **options: Any) -> str:
    screen = console(width, **options)
    screen.print(renderable)
    assert isinstance(screen.file, io.StringIO)
    return screen.file.getvalue()


def a_run() -> ScoredRun:
    gold = GoldPath(
        id="mars",
        steps=(
            CallStep(tool="retrieval", arguments={"query": Exact(expected="Mars")}),
            CallStep(tool="calculator", arguments={"expression": Regex(expected=r"\d+ - 273")}),
            CallStep(tool="response"),
        ),
    )
    steps = (
        ToolCall(tool="retrieval", arguments={"query": "Mars"}),
        ToolCall(tool="retrieval", arguments={"query": "[red]Mars[/red] :smile: \x1b[31m"}),
        ToolCall(tool="calculator", arguments={"expression": "1"}, outcome="error"),
    )
    lines = (
        StepMatch(gold=0, run=0, kind="match", similarity=1.0, arguments_passed=True),
        StepMatch(gold=None, run=1, kind="extra"),
        StepMatch(gold=1, run=2, kind="wrong_arguments", reasons={"expression": "expected 210, got 1"}),
        StepMatch(gold=2, run=None, kind="match", arguments_passed=True),
    )
    score = PathScore(
        value=0.675,
        name="composite",
        label="lucky",
        metrics={"tool_accuracy": 0.75},
        alignment=Alignment(lines=lines, first_divergence="extra step 2 retrieval"),
    )
    trajectory = Trajectory(steps=steps, query="How warm is Mars?", final_answer="-63 °C", trace_id="ab" * 16)
    return ScoredRun(trajectory=trajectory, score=score, gold_path=gold, gold_match="text")


@pytest.mark.parametrize("width", [60, 140])
def test_the_diff_shows_both_sides_the_verdict_and_the_reason(width: int) -> None:
    """At any width each line has gold, run, a word for the verdict (not only a colour) and the reason."""
    shown = " ".join(text_of(step_diff(a_run(), console(width)), width).split())
    for part in ("extra", "wrong arguments", "expected 210, got 1", "[error]", "-63 °C", "<regex>"):
        assert part in shown


def test_the_diff_fits_a_narrow_terminal() -> None:
    """No line of the stacked form is wider than the terminal."""
    assert all(len(line) <= 60 for line in text_of(step_diff(a_run(), console(60)), 60).splitlines())


def test_data_of_people_reaches_the_terminal_as_text_only() -> None:
    """Markup, emoji codes and escape sequences in an argument are shown, not obeyed."""
    shown = text_of(step_diff(a_run(), console(60)), 60)
    assert "\x1b" not in shown
    joined = "".join(part.strip() for part in shown.splitlines())
    assert "[red]Mars[/red] :smile:" in joined
    assert "\\u001b[31m" in joined


def test_plain_keeps_scripts_and_cuts_to_the_limit() -> None:
    assert plain("Марс\n \t 火星") == "Марс 火星"
    assert plain("abcdef", 4) == "abc…"
    assert plain("a\u202eb\ud800") == "a\\u202eb\\ud800"


def test_a_run_without_a_score_shows_the_reason_and_no_zero() -> None:
    """Not evaluated is a dash and a reason."""
    score = PathScore(value=None, name="composite", label="not_evaluated", metrics={}, not_evaluated="no gold path")
    shown = text_of(runs_table([ScoredRun(trajectory=Trajectory(query="q"), score=score)]))
    assert "no gold path" in shown
    assert "0.0" not in shown


def test_colour_is_absent_without_a_terminal_and_with_no_color(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "\x1b[3" in text_of(runs_table([a_run()]), force_terminal=True, color_system="truecolor")
    assert "\x1b" not in text_of(runs_table([a_run()]))
    monkeypatch.setenv("NO_COLOR", "1")
    shown = text_of(runs_table([a_run()]), force_terminal=True)
    assert not any(f"\x1b[3{digit}m" in shown for digit in range(8))


def test_trajectories_show_tools_in_order_and_how_the_run_ended() -> None:
    shown = text_of(trajectories_table([a_run().trajectory, Trajectory(completeness="known_incomplete")]))
    assert "retrieval > retrieval > calculator" in shown
    assert "no tool calls" in shown
    assert "known incomplete" in shown


def span(name: str, span_id: str, parent: str | None = None, start: int = 0, **attributes: Any) -> SpanRecord:
    return SpanRecord(
        trace_id="1" * 32,
        span_id=span_id,
        parent_span_id=parent,
        name=name,
        start_unix_nano=start,
        end_unix_nano=start + 2_000_000,
        attributes=attributes,
    )


def test_the_tree_has_the_score_on_its_root_and_children_in_order_of_start() -> None:
    root = span(
        "invoke_agent a",
        "r" * 16,
        **{semconv.SCORE_VALUE: 0.675, semconv.SCORE_LABEL: "lucky", semconv.RUN_FIRST_DIVERGENCE: "extra step 2"},
    )
    trees = trace_trees([span("second", "b" * 16, "r" * 16, 2), root, span("first", "a" * 16, "r" * 16, 1)])
    shown = text_of(trees[0])
    assert len(trees) == 1
    assert "agentpath.score.value = 0.675" in shown
    assert "extra step 2" in shown
    assert shown.index("first  ") < shown.index("second")


def test_spans_that_are_each_others_parents_do_not_hang_the_tree() -> None:
    """A cycle has no root, so nothing is shown; an unknown parent makes a root."""
    assert trace_trees([span("a", "a" * 16, "b" * 16), span("b", "b" * 16, "a" * 16)]) == []
    assert len(trace_trees([span("a", "a" * 16, "f" * 16)])) == 1
