"""Spans that come late, never, or in too great a number."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from agentpath_sdk._guard import HEALTH

from .conftest import Bench


def test_a_verdict_comes_after_the_quiet_time_and_a_late_span_revises_it(bench: Bench) -> None:
    root = bench.agent()
    bench.tool("t1", root)
    root.end()
    assert bench.pass_time(0) == []
    bench.clock.advance(3)
    bench.tool("t2", root)
    assert bench.pass_time(0) == []
    assert bench.pass_time(4.9) == []
    (first,) = bench.pass_time(0.1)
    assert (first.score.value, first.revision, first.late, first.completeness) == (1.0, 1, False, "complete")
    bench.clock.advance(22)
    bench.tool("t3", root)
    assert bench.pass_time(0) == []
    (second,) = bench.pass_time(5)
    assert (second.id, second.revision, second.late, second.steps) == (first.id, 2, True, 3)
    assert [record.revision for record in bench.exporter.records] == [1, 2]
    assert bench.pass_time(60) == []


def test_calls_without_a_root_are_judged_after_the_quiet_time_and_say_so(bench: Bench) -> None:
    root = bench.agent()
    # The root's process is another one: nothing here knows that an agent is still running.
    bench.pipeline.after_fork()
    bench.pipeline._intake.after_fork()
    bench.tool("t1", root)
    bench.tool("t2", root)
    assert bench.pass_time(0) == []
    (record,) = bench.pass_time(5)
    assert record.completeness == "presumed_incomplete"
    assert "root missing" in record.incomplete_reasons


def test_an_agent_still_at_work_is_not_taken_for_a_missing_root(bench: Bench) -> None:
    root = bench.agent()
    bench.tool("t1", root)
    assert bench.pass_time(0) == []
    assert bench.pass_time(60) == []
    assert bench.pipeline.flush(1.0)
    assert bench.emitted == []
    bench.tool("t2", root)
    root.end()
    bench.pass_time(0)
    (record,) = bench.pass_time(5)
    assert (record.completeness, record.score.value) == ("complete", 1.0)


def test_an_early_flush_gives_a_verdict_marked_as_possibly_incomplete(bench: Bench) -> None:
    bench.run("t1", "t2")
    bench.clock.advance(1)
    assert bench.pipeline.flush(1.0)
    (record,) = bench.emitted
    assert record.completeness == "presumed_incomplete"
    assert "possibly incomplete" in record.incomplete_reasons[0]
    assert bench.exporter.records == [record]


def test_shutdown_gives_out_what_is_still_open(bench: Bench) -> None:
    root = bench.agent()
    bench.tool("t1", root)
    assert bench.pipeline.shutdown(1.0)
    (record,) = bench.emitted
    assert record.completeness == "presumed_incomplete"
    assert bench.exporter.closed


def test_beyond_the_cap_the_oldest_traces_are_closed_early_and_counted(make_bench: Callable[..., Bench]) -> None:
    bench = make_bench(max_open_traces=100, max_retained_runs=50)
    for _ in range(1_000):
        bench.run("t1", "t2")
        bench.pipeline.step()
    assert bench.pipeline.state().open_traces <= 100
    assert len(bench.emitted) == 900
    assert {record.completeness for record in bench.emitted} == {"presumed_incomplete"}
    assert sum(amount for name, amount in HEALTH.counts().items() if "cap" in name) == 900


def test_a_less_complete_revision_never_takes_the_place_of_a_complete_one(bench: Bench) -> None:
    root = bench.run("t1", "t2")
    bench.pass_time(0)
    (first,) = bench.pass_time(5)
    bench.tool("t3", root)
    bench.pipeline.flush(1.0)
    assert bench.emitted == [first]
    assert HEALTH.counts()["online.less_complete_revision"] == 1


def test_our_own_runs_are_judged_at_once_when_all_their_calls_have_come(bench: Bench) -> None:
    bench.scope = "agentpath_sdk"
    root = bench.agent(**{"agentpath.run.calls": 2})
    bench.tool("t1", root)
    bench.tool("t2", root)
    root.end()
    (record,) = bench.pass_time(0)
    assert (record.completeness, record.score.value) == ("complete", 1.0)


@pytest.mark.parametrize("seconds", [0.0, 1.0])
def test_time_alone_decides_nothing_without_spans(bench: Bench, seconds: float) -> None:
    assert bench.pass_time(seconds) == []
