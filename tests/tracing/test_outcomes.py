"""Run references and outcomes: told inside, later, or from another process."""

from __future__ import annotations

from typing import Any

import pytest

from agentpath_sdk import semconv
from agentpath_sdk._guard import HEALTH
from agentpath_sdk.errors import ConfigurationError
from agentpath_sdk.tracing import RunRef, current_run, record_outcome, trace_agent, trace_tool
from agentpath_sdk.tracing.outcomes import RecordedOutcome, subscribe


@pytest.fixture
def heard() -> Any:
    outcomes: list[RecordedOutcome] = []
    stop = subscribe(outcomes.append)
    yield outcomes
    stop()


def test_the_current_run_is_the_innermost_agent(spans: Any) -> None:
    seen: list[RunRef | None] = []

    @trace_tool
    def tool() -> None:
        seen.append(current_run())

    @trace_agent
    def inner(question: str) -> None:
        tool()

    @trace_agent
    def outer(question: str) -> None:
        inner(question)
        tool()

    assert current_run() is None
    outer("q")
    assert [run.agent for run in seen if run] == ["inner", "outer"]
    span = spans.one("invoke_agent outer")
    assert seen[1] == RunRef(
        trace_id=f"{span.context.trace_id:032x}", span_id=f"{span.context.span_id:016x}", agent="outer"
    )


def test_a_reference_survives_as_text() -> None:
    for agent in ("bot", "planner: nr 7 / übermut", None):
        ref = RunRef(trace_id="0af7" * 8, span_id="b7ad" * 4, agent=agent)
        assert RunRef.from_str(str(ref)) == ref
        assert " " not in str(ref)


@pytest.mark.parametrize("text", ["", "bot", "agentpath-run:1:2:bot", "00-" + "a" * 32 + "-" + "b" * 16 + "-01"])
def test_what_is_no_reference_is_refused_in_words(text: str) -> None:
    with pytest.raises(ConfigurationError, match="no run reference"):
        RunRef.from_str(text)


def test_an_outcome_of_an_open_run_goes_on_its_span_and_the_last_word_counts(spans: Any, heard: Any) -> None:
    @trace_tool
    def check() -> None:
        record_outcome(True, reason="all done", source="test")

    @trace_agent
    def agent(question: str) -> None:
        record_outcome(False, reason="not yet")
        check()

    agent("q")
    attributes = spans.one("agent").attributes
    assert attributes[semconv.RUN_GOAL_SUCCESS] is True
    assert attributes[semconv.RUN_GOAL_REASON] == "all done"
    assert attributes[semconv.RUN_GOAL_SOURCE] == "test"
    assert heard == []


def test_an_outcome_told_later_or_elsewhere_reaches_the_listeners(spans: Any, heard: Any) -> None:
    @trace_agent
    def agent(question: str) -> RunRef | None:
        return current_run()

    run = agent("q")
    record_outcome(True, run=run, source="user")
    record_outcome(False, run=str(run), reason="refund of sk-test-111 failed")
    assert [(o.run, o.success, o.source) for o in heard] == [(run, True, "user"), (run, False, "app")]
    assert "sk-test-111" not in (heard[1].reason or "")
    assert heard[0].recorded_unix_nano > 0


def test_an_open_run_can_be_named_from_outside_of_it(spans: Any, heard: Any) -> None:
    @trace_agent
    def inner(question: str) -> None: ...

    @trace_agent
    def outer(question: str) -> None:
        mine = current_run()

        @trace_agent
        def nested(question: str) -> None:
            record_outcome(True, run=mine)

        nested("q")

    outer("q")
    assert spans.one("outer").attributes[semconv.RUN_GOAL_SUCCESS] is True
    assert semconv.RUN_GOAL_SUCCESS not in spans.one("nested").attributes
    assert heard == []


def test_outcomes_that_reach_nothing_are_counted_and_raise_nothing(spans: Any) -> None:
    HEALTH.raise_faults = False
    record_outcome(True)
    record_outcome(True, run=RunRef(trace_id="a" * 32, span_id="b" * 16))
    record_outcome(True, run="rubbish")
    counts = HEALTH.counts()
    assert counts["outcome.no_run"] == 1
    assert counts["outcome.unheard"] == 1
    assert counts["fault.tracing.record_outcome"] == 1


def test_a_listener_that_raises_stops_no_other(spans: Any, heard: Any) -> None:
    HEALTH.raise_faults = False

    def broken(outcome: RecordedOutcome) -> None:
        raise OSError

    stop = subscribe(broken)
    record_outcome(True, run=RunRef(trace_id="a" * 32, span_id="b" * 16))
    stop()
    assert len(heard) == 1
    assert HEALTH.counts()["fault.outcome.listener"] == 1
