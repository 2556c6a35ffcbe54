"""Presets on recorded runs: answers, unknown arguments, runs that cannot be judged."""

from __future__ import annotations

from typing import Any

import pytest

from agentpath_sdk.gold.matchers import Exact
from agentpath_sdk.gold.model import CallStep, GoldPath
from agentpath_sdk.scoring.presets import PRESETS, score_preset
from agentpath_sdk.trajectories.model import ToolCall, Trajectory

SEARCH = CallStep(tool="search", arguments={"q": Exact(expected="x")})
GOLD = GoldPath(id="g", steps=(SEARCH, CallStep(tool="calculator")))


def run(*steps: ToolCall, **fields: Any) -> Trajectory:
    return Trajectory(steps=steps, **fields)


def search(q: str = "x", **fields: Any) -> ToolCall:
    return ToolCall(tool="search", arguments={"q": q}, **fields)


CUT = ToolCall(tool="search", arguments_state="truncated", raw_arguments='{"q": "x')
CALCULATOR = ToolCall(tool="calculator", arguments={"expr": "1+1"})


@pytest.mark.parametrize("name", ["exact", "in_order", "any_order", "unordered", "subset", "superset", "f1"])
def test_a_run_that_follows_the_gold_path_has_full_marks(name: str) -> None:
    result = score_preset(run(search(), CALCULATOR), GOLD, name)
    assert (result.value, result.reasons, result.pairs) == (1.0, (), ((0, 0), (1, 1)))


def test_arguments_that_were_cut_leave_the_verdict_open_and_names_alone_do_not() -> None:
    result = score_preset(run(CUT, CALCULATOR), GOLD, "exact")
    assert result.value is None
    assert result.not_evaluated == "step 1, search: arguments truncated"
    assert score_preset(run(CUT, CALCULATOR), GOLD, "exact/ignore").value == 1.0


def test_arguments_that_cannot_change_the_verdict_may_be_unknown() -> None:
    """The calculator is missing whatever the search was for; and another search has what is asked."""
    assert score_preset(run(CUT), GOLD, "exact").value == 0.0
    assert score_preset(run(search(), CUT, CALCULATOR), GOLD, "superset").value == 1.0


def test_arguments_that_are_no_object_are_a_mismatch_with_a_reason() -> None:
    unparsed = ToolCall(tool="search", arguments_state="unparsed", raw_arguments="[1, 2]")
    result = score_preset(run(unparsed, CALCULATOR), GOLD, "exact")
    assert result.value == 0.0
    assert "no object" in result.reasons[0]


def test_a_step_that_must_succeed_is_not_matched_by_a_failure() -> None:
    gold = GoldPath(id="g", steps=(CallStep(tool="pay", must_succeed=True),))
    assert score_preset(run(ToolCall(tool="pay", outcome="ok")), gold, "exact").value == 1.0
    result = score_preset(run(ToolCall(tool="pay", outcome="error")), gold, "exact/ignore")
    assert result.value == 0.0
    assert "error" in result.reasons[0]


@pytest.mark.parametrize("name", sorted(PRESETS))
@pytest.mark.parametrize(
    ("trajectory", "gold", "reason"),
    [
        (run(search()), None, "no gold path"),
        (run(search(), completeness="known_incomplete", incomplete_reasons=("2 spans dropped",)), GOLD, "2 spans"),
        (run(search(), stop_reason="cancelled"), GOLD, "cancelled"),
        (run(search(), stop_reason="pending"), GOLD, "pending"),
    ],
)
def test_what_cannot_be_judged_is_not_evaluated_never_0(
    name: str, trajectory: Trajectory, gold: GoldPath | None, reason: str
) -> None:
    result = score_preset(trajectory, gold, name)
    assert result.value is None
    assert reason in (result.not_evaluated or "")


def test_a_presumed_incomplete_run_is_judged() -> None:
    trajectory = run(search(), CALCULATOR, completeness="presumed_incomplete")
    assert score_preset(trajectory, GOLD, "exact").value == 1.0


def test_a_terminal_gold_step_is_met_by_the_runs_answer_whatever_it_says() -> None:
    gold = GoldPath(id="g", steps=(SEARCH, CallStep(tool="response", arguments={"text": Exact(expected="42")})))
    assert score_preset(run(search(), final_answer="41"), gold, "exact").value == 1.0
    finish = ToolCall(tool="finish", arguments={"answer": "41"})
    assert score_preset(run(search(), finish), gold, "exact").value == 1.0
    assert score_preset(run(search(), stop_reason="finished"), gold, "exact").value == 1.0
    assert score_preset(run(search(), stop_reason="limit"), gold, "exact").value == 0.0


def test_without_a_terminal_gold_step_an_answering_tool_counts_on_neither_side() -> None:
    gold = GoldPath(id="g", steps=(SEARCH,))
    finish = ToolCall(tool="finish", arguments={"answer": "41"})
    assert score_preset(run(search(), finish, final_answer="41"), gold, "exact").value == 1.0
