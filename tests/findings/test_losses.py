"""Time, tokens and money that extra and repeated steps cost."""

from __future__ import annotations

import pytest

from agentpath_sdk.gold.model import CallStep, GoldPath
from agentpath_sdk.scoring.habits_losses import Losses, Prices, find_losses, lost_steps
from agentpath_sdk.scoring.scorer import score_path
from agentpath_sdk.trajectories.model import Event, ToolCall, Trajectory, Usage

SECOND = 1_000_000_000


def call(tool: str, start: float, end: float, x: int = 0) -> ToolCall:
    return ToolCall(tool=tool, arguments={"x": x}, start_unix_nano=int(start * SECOND), end_unix_nano=int(end * SECOND))


def turn(start: float, end: float, text: str | None = None) -> Event:
    return Event(
        kind="model",
        name="m",
        input=text,
        output=text,
        start_unix_nano=int(start * SECOND),
        end_unix_nano=int(end * SECOND),
    )


def did(step: int) -> Event:
    return Event(kind="tool", name="t", step=step)


def run(*steps: ToolCall, events: tuple[Event, ...] = (), usage: Usage | None = None, end: float = 10) -> Trajectory:
    return Trajectory(
        steps=steps,
        events=events,
        usage=usage or Usage(),
        start_unix_nano=0,
        end_unix_nano=int(end * SECOND),
        stop_reason="finished",
    )


def test_without_gold_repeated_steps_are_lost_and_their_time_with_them() -> None:
    losses = find_losses(run(call("a", 0, 1), call("b", 1, 2), call("a", 2, 5)))
    assert losses.steps == (2,)
    assert losses.seconds == pytest.approx(3.0)
    assert losses.share_of_time == pytest.approx(0.3)


def test_with_gold_extra_steps_are_lost_and_repetitions_that_it_wants_are_not() -> None:
    gold = GoldPath(id="g", steps=(CallStep(tool="a"), CallStep(tool="a")))
    trajectory = run(call("a", 0, 1), call("a", 1, 2), call("b", 2, 6))
    assert lost_steps(trajectory) == (1,)
    assert lost_steps(trajectory, score_path(trajectory, gold)) == (2,)


def test_failed_tries_before_the_one_that_counts_are_lost() -> None:
    failed = ToolCall(tool="a", arguments={}, outcome="error")
    assert lost_steps(run(failed, failed, ToolCall(tool="a", arguments={}))) == (0, 1)


def test_time_beside_useful_work_is_not_lost_and_overlaps_count_once() -> None:
    beside = run(call("a", 0, 4), call("b", 4, 10), call("a", 3, 5), call("a", 3, 5))
    assert find_losses(beside).seconds == pytest.approx(0.0)
    together = run(call("a", 0, 1), call("a", 2, 4), call("a", 3, 5))
    assert find_losses(together).seconds == pytest.approx(3.0)


def test_a_turn_that_asked_for_lost_steps_only_is_lost_too() -> None:
    steps = (call("a", 1, 2), call("a", 3, 4), call("b", 5, 6))
    events = (turn(0, 1), did(0), turn(2, 3), did(1), turn(4, 5), did(2), turn(6, 7))
    losses = find_losses(
        run(*steps, events=events, usage=Usage(input_tokens=1000, output_tokens=200)),
        prices=Prices(input_per_million=2.0, output_per_million=10.0),
    )
    assert losses.seconds == pytest.approx(2.0)
    assert (losses.input_tokens, losses.output_tokens) == (250, 50)
    assert losses.money == pytest.approx(250 * 2e-6 + 50 * 10e-6)
    assert losses.unknown == {}


def test_tokens_go_by_the_share_of_text_where_it_is_recorded() -> None:
    steps = (call("a", 1, 2), call("a", 3, 4))
    events = (turn(0, 1, "x" * 10), did(0), turn(2, 3, "x" * 30), did(1), turn(4, 5, "x" * 60))
    losses = find_losses(run(*steps, events=events, usage=Usage(input_tokens=1000, output_tokens=100)))
    assert (losses.input_tokens, losses.output_tokens) == (300, 30)


def test_what_is_not_known_is_none_with_the_reason_and_never_0() -> None:
    bare = Trajectory(steps=(ToolCall(tool="a", arguments={}), ToolCall(tool="a", arguments={})))
    losses = find_losses(bare)
    assert (losses.seconds, losses.input_tokens, losses.money) == (None, None, None)
    assert losses.unknown == {
        "seconds": "1 of 1 lost steps have no times",
        "input_tokens": "the spans tell no tokens",
        "output_tokens": "the spans tell no tokens",
        "money": "no prices are given",
    }


def test_a_run_that_lost_nothing_lost_0() -> None:
    prices = Prices(input_per_million=1, output_per_million=1)
    assert find_losses(run(call("a", 0, 1)), prices=prices) == Losses(
        seconds=0.0, share_of_time=0.0, input_tokens=0, output_tokens=0, money=0.0
    )
