"""The test kit that users get."""

from __future__ import annotations

import subprocess
import sys

import pytest
from opentelemetry.sdk.trace import TracerProvider

from agentpath_sdk._guard import HEALTH, guard
from agentpath_sdk.errors import ConfigurationError
from agentpath_sdk.gold.model import CallStep, GoldPath
from agentpath_sdk.testing import Captured, FixedIdGenerator, ManualClock, capture
from agentpath_sdk.tracing.decorators import trace_agent, trace_tool
from agentpath_sdk.tracing.outcomes import current_run, record_outcome

GOLD = GoldPath(id="refund", agent="clerk", steps=(CallStep(tool="lookup"), CallStep(tool="refund")))


@trace_tool
def lookup(order: int) -> int:
    return order


@trace_tool
def refund(order: int) -> str:
    return f"refunded {order}"


@trace_agent(name="clerk")
def clerk(query: str) -> tuple[str, str]:
    return refund(lookup(7)), str(current_run())


def test_the_fixture_shows_what_the_agent_did(captured_trajectories: Captured) -> None:
    clerk("refund order 7")
    assert captured_trajectories.tools() == ["lookup", "refund"]
    assert captured_trajectories.trajectory("clerk").query == "refund order 7"
    assert captured_trajectories.score().not_evaluated is not None


@pytest.mark.agentpath(gold=GOLD)
def test_the_marker_gives_the_fixture_a_gold_path(captured_trajectories: Captured) -> None:
    clerk("refund order 7")
    assert captured_trajectories.score().value == 1.0


def test_outcomes_told_later_and_several_runs_are_seen() -> None:
    with capture(gold=GOLD) as captured:
        runs = [clerk(f"refund order {number}")[1] for number in range(3)]
        assert [record.score.label for record in captured.records] == ["good_path"] * 3
        record_outcome(False, run=runs[1])
        assert [record.score.label for record in captured.records] == ["good_path", "unlucky", "good_path"]
        with pytest.raises(AssertionError, match="exactly one of the agent runs, there are 3"):
            captured.trajectory()


def test_ids_count_up_the_same_way_every_time() -> None:
    def ids() -> list[tuple[str | None, str | None]]:
        with capture() as captured:
            clerk("q")
            return [(run.trace_id, run.span_id) for run in captured.trajectories]

    assert ids() == ids()
    provider = TracerProvider(id_generator=FixedIdGenerator(), shutdown_on_exit=False)
    first = provider.get_tracer("t").start_span("a").get_span_context()
    assert (f"{first.trace_id:032x}", f"{first.span_id:016x}") == (
        "0af70000000000000000000000000001",
        "b7ad000000000001",
    )


def test_faults_that_production_survives_fail_a_test() -> None:
    with capture(), pytest.raises(ZeroDivisionError), guard("somewhere"):
        _ = 1 / 0
    assert not HEALTH.raise_faults
    with capture(raise_faults=False), guard("somewhere"):
        _ = 1 / 0


def test_what_was_there_before_is_there_afterwards() -> None:
    with capture() as outer:
        with capture() as inner:
            clerk("q")
        clerk("q")
        assert len(inner.trajectories) == 1
        assert len(outer.trajectories) == 1
    assert clerk("q")[0] == "refunded 7"


def test_settings_reach_tracing_and_wrong_ones_are_refused() -> None:
    with capture(capture_content=False) as captured:
        clerk("q")
        assert captured.trajectory().steps[0].arguments_state == "not_captured"
    with pytest.raises(ConfigurationError, match="captur_content"), capture(captur_content=False):
        pass


def test_a_clock_in_the_hand() -> None:
    clock = ManualClock(unix_nano=5)
    clock.advance(1.5)
    assert (clock.monotonic(), clock.unix_nano()) == (1.5, 1_500_000_005)


def test_loading_the_plug_in_loads_nothing_heavy() -> None:
    code = (
        "import sys, pytest, agentpath_sdk.testing\n"
        "heavy = [m for m in sys.modules if m.startswith(('opentelemetry', 'pydantic', 'yaml', 'rapidfuzz'))]\n"
        "rooms = [m for m in sys.modules if m.startswith('agentpath_sdk.') and m != 'agentpath_sdk.testing']\n"
        "print(heavy, rooms)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[] []"


@pytest.mark.agentpath("gold/")
def test_options_of_the_marker_without_a_name_are_refused(request: pytest.FixtureRequest) -> None:
    """They would be passed over, and the test would prove nothing."""
    with pytest.raises(ConfigurationError, match="by name"):
        request.getfixturevalue("captured_trajectories")
