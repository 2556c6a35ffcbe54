"""From ended spans to records: what is judged, what is not, and what faults do not do."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from opentelemetry import context as context_api
from opentelemetry.sdk.trace.sampling import Decision, Sampler, SamplingResult

from agentpath_sdk import semconv
from agentpath_sdk._guard import HEALTH
from agentpath_sdk.gold.model import GoldPath
from agentpath_sdk.gold.registry import LookUp
from agentpath_sdk.online.emit import EvaluateSpans
from agentpath_sdk.online.record import ExportResult, ScoreRecord
from agentpath_sdk.scoring.score import PathScore
from agentpath_sdk.trajectories.model import GoalWord, Trajectory

from .conftest import GOLD, Bench, share_of_gold


def ids(span: Any) -> tuple[str, str]:
    context = span.get_span_context()
    return f"{context.trace_id:032x}", f"{context.span_id:016x}"


def test_a_run_becomes_a_record_with_all_that_sinks_need(bench: Bench) -> None:
    root = bench.run("t1", "other")
    bench.pass_time(0)
    (record,) = bench.pass_time(5)
    assert (record.trace_id, record.span_id) == ids(root)
    assert record.agent == "planner"
    assert record.score.value == 0.5
    assert record.gold_path_match == "agent"
    assert record.steps == 2
    assert record.root_end_unix_nano == root.end_time
    assert record.scored_unix_nano == bench.clock.unix_nano()
    assert len([span_id for span_id in record.step_span_ids if span_id]) == 2


def test_each_agent_of_a_trace_has_a_record_of_its_own(bench: Bench) -> None:
    root = bench.agent()
    call = bench.start("t1", "execute_tool", root)
    inner = bench.agent("researcher", call)
    bench.tool("search", inner)
    for span in (inner, call, root):
        span.end()
    bench.pass_time(0)
    records = {record.agent: record for record in bench.pass_time(5)}
    assert records["planner"].steps == 1
    assert records["researcher"].score.not_evaluated == "no gold path: no gold path applies to this agent"


def test_plain_spans_between_agent_and_tool_keep_the_tool_with_its_agent(bench: Bench) -> None:
    root = bench.agent()
    between = bench.start("plain", None, root)
    bench.tool("t1", between)
    between.end()
    bench.tool("t2", root)
    root.end()
    bench.pass_time(0)
    (record,) = bench.pass_time(5)
    assert (record.score.value, record.completeness) == (1.0, "complete")


def test_plain_spans_of_traces_without_agents_are_not_queued(bench: Bench) -> None:
    root = bench.start("GET /", None)
    bench.start("SELECT", None, root).end()
    root.end()
    assert bench.pipeline.state().queued_spans == 0


def test_a_tool_call_outside_every_agent_is_counted_and_joins_nobodys_trajectory(bench: Bench) -> None:
    bench.tool("t1", None)
    bench.run("t1", "t2")
    bench.pass_time(0)
    (record,) = bench.pass_time(5)
    assert record.steps == 2
    assert any("unattached" in name for name in HEALTH.counts())


def test_evaluation_spans_never_become_trajectories(bench: Bench) -> None:
    root = bench.start("judge", "evaluation")
    bench.start("judge", "evaluation", root).end()
    root.end()
    assert bench.pipeline.state().queued_spans == 0
    assert bench.pass_time(10) == []


def test_our_own_evaluate_spans_do_not_feed_back(make_bench: Callable[..., Bench]) -> None:
    emitters: list[Any] = []
    bench = make_bench(emitters=[lambda record: emitters[0](record)])
    emitters.append(EvaluateSpans(bench.provider))
    bench.run("t1", "t2")
    bench.pass_time(0)
    assert len(bench.pass_time(5)) == 1
    assert [s.name for s in bench.exported.get_finished_spans()][-1] == "evaluate"
    assert bench.pass_time(60) == []


def test_scoring_runs_with_instrumentation_suppressed(make_bench: Callable[..., Bench]) -> None:
    suppressed: list[Any] = []

    def score(trajectory: Trajectory, paths: Sequence[GoldPath]) -> PathScore:
        suppressed.append(context_api.get_value(context_api._SUPPRESS_INSTRUMENTATION_KEY))
        return share_of_gold(trajectory, paths)

    bench = make_bench(score=score)
    bench.run("t1")
    bench.pipeline.flush(1.0)
    assert suppressed == [True]
    assert context_api.get_value(context_api._SUPPRESS_INSTRUMENTATION_KEY) is None


def test_a_full_queue_drops_per_trace_and_never_judges_the_rest_as_whole(make_bench: Callable[..., Bench]) -> None:
    bench = make_bench(queue_size=5)
    whole = bench.run("t1", "t2")
    cut = bench.run("t1", "t2", "t3")
    assert HEALTH.counts()["online.dropped_spans"] == 2
    bench.pass_time(0)
    records = {record.trace_id: record for record in bench.pass_time(5)}
    assert records[ids(whole)[0]].score.value == 1.0
    lossy = records[ids(cut)[0]]
    assert lossy.completeness == "known_incomplete"
    assert lossy.score.value is None
    assert "dropped" in (lossy.score.not_evaluated or "")


def test_a_trace_that_lost_spans_stays_known_incomplete_when_the_rest_comes_later(
    make_bench: Callable[..., Bench],
) -> None:
    bench = make_bench(queue_size=1)
    bench.run()
    root = bench.agent()
    bench.tool("t1", root)
    bench.pass_time(0)
    bench.tool("t2", root)
    bench.pass_time(0)
    root.end()
    bench.pass_time(0)
    records = {record.trace_id: record for record in bench.pass_time(5) + bench.emitted}
    assert records[ids(root)[0]].completeness == "known_incomplete"


def test_a_run_with_known_losses_is_never_a_zero(make_bench: Callable[..., Bench]) -> None:
    bench = make_bench(queue_size=0)
    bench.run("t1", "t2")
    bench.pass_time(0)
    assert [record for record in bench.pass_time(60) if record.score.value is not None] == []


# --- sampling ---------------------------------------------------------------------------------------------------------


class ByName(Sampler):
    """Drops spans by a word in their name, without a look at the parent."""

    def __init__(self, word: str, decision: Decision = Decision.DROP) -> None:
        self.word, self.decision = word, decision

    def should_sample(
        self,
        parent_context: Any,
        trace_id: int,
        name: str,
        kind: Any = None,
        attributes: Any = None,
        links: Any = None,
    ) -> SamplingResult:
        return SamplingResult(self.decision if self.word in name else Decision.RECORD_AND_SAMPLE, attributes)

    def get_description(self) -> str:
        return "by name"


@pytest.mark.parametrize("decision", [Decision.DROP, Decision.RECORD_ONLY])
def test_unsampled_runs_give_no_verdict(make_bench: Callable[..., Bench], decision: Decision) -> None:
    bench = make_bench(sampler=ByName("", decision))
    bench.run("t1", "t2")
    bench.pass_time(0)
    assert bench.pass_time(60) == []


def test_a_call_count_on_the_agent_span_unmasks_calls_that_a_sampler_left_out(
    make_bench: Callable[..., Bench],
) -> None:
    bench = make_bench(sampler=ByName("t2"))
    bench.scope = "agentpath_sdk"
    root = bench.agent(**{semconv.RUN_CALLS: 2})
    bench.tool("t1", root)
    bench.tool("t2", root)
    root.end()
    bench.pass_time(0)
    (record,) = bench.pass_time(5)
    assert record.completeness == "known_incomplete"
    assert record.score.value is None


def test_a_call_below_a_span_that_a_sampler_left_out_is_part_of_a_known_incomplete_run(
    make_bench: Callable[..., Bench],
) -> None:
    bench = make_bench(sampler=ByName("outer"))
    root = bench.agent()
    outer = bench.start("outer", "execute_tool", root)
    bench.tool("t1", outer)
    outer.end()
    root.end()
    bench.pass_time(0)
    records = bench.pass_time(5)
    assert records
    assert all(record.score.value is None for record in records)


# --- outcomes told later ----------------------------------------------------------------------------------------------


def test_an_outcome_told_after_the_verdict_makes_a_revision(bench: Bench) -> None:
    root = bench.run("t1", "t2")
    bench.pass_time(0)
    (first,) = bench.pass_time(5)
    assert first.score.label == "good_path"
    bench.clock.advance(7_200)
    bench.pipeline.record_outcome(*ids(root), GoalWord(success=False, reason="refund bounced"))
    (second,) = bench.pass_time(0)
    assert (second.id, second.revision, second.score.label) == (first.id, 2, "unlucky")
    assert second.goal == GoalWord(success=False, reason="refund bounced")


def test_an_outcome_told_before_the_verdict_is_part_of_the_first(bench: Bench) -> None:
    root = bench.run("t1", "t2")
    bench.pipeline.record_outcome(*ids(root), GoalWord(success=True))
    bench.pass_time(0)
    (record,) = bench.pass_time(5)
    assert (record.revision, record.score.label) == (1, "solid")


def test_late_spans_do_not_undo_an_outcome_and_revisions_go_on_counting(bench: Bench) -> None:
    root = bench.run("t1", "t2")
    bench.pass_time(0)
    bench.pass_time(5)
    bench.pipeline.record_outcome(*ids(root), GoalWord(success=True))
    bench.pass_time(0)
    bench.tool("t3", root)
    bench.pass_time(0)
    (record,) = bench.pass_time(5)
    assert (record.revision, record.late, record.goal) == (3, True, GoalWord(success=True))


def test_an_outcome_of_a_run_nobody_remembers_becomes_an_event_of_its_own(make_bench: Callable[..., Bench]) -> None:
    told: list[Any] = []
    bench = make_bench()
    bench.pipeline._goal_sink = lambda *what: told.append(what)
    bench.pipeline.record_outcome("1" * 32, "2" * 16, GoalWord(success=True))
    bench.pass_time(0)
    assert told == []
    bench.pass_time(11)
    assert [what[:3] for what in told] == [("1" * 32, "2" * 16, GoalWord(success=True))]
    assert HEALTH.counts()["online.outcome_without_run"] == 1


def test_the_gold_path_is_pinned_at_the_first_verdict(make_bench: Callable[..., Bench]) -> None:
    registered: list[LookUp] = [LookUp(paths=(GOLD,), how="agent", confidence=1.0)]
    bench = make_bench(look_up=lambda _trajectory: registered[-1])
    root = bench.run("t1", "t2")
    bench.pass_time(0)
    bench.pass_time(5)
    registered.append(LookUp(reason="gone"))
    bench.pipeline.record_outcome(*ids(root), GoalWord(success=True))
    (record,) = bench.pass_time(0)
    assert record.score.gold_path_id == "t1-t2"


def test_retained_runs_are_bounded(make_bench: Callable[..., Bench]) -> None:
    bench = make_bench(max_retained_runs=3)
    roots = [bench.run("t1", "t2") for _ in range(5)]
    bench.pass_time(0)
    bench.pass_time(5)
    for root in roots:
        bench.pipeline.record_outcome(*ids(root), GoalWord(success=True))
    assert len(bench.pass_time(0)) == 3


# --- faults -----------------------------------------------------------------------------------------------------------


def explode(*_args: Any, **_given: Any) -> Any:
    raise ValueError("secret words")


@pytest.mark.parametrize("error", [ValueError, SystemExit])
def test_a_scorer_that_raises_gives_a_verdict_without_a_score(
    make_bench: Callable[..., Bench], error: type[BaseException], caplog: pytest.LogCaptureFixture
) -> None:
    def score(*_: Any) -> PathScore:
        raise error("secret words")

    bench = make_bench(score=score)
    with caplog.at_level(logging.WARNING, "agentpath_sdk"):
        for _ in range(3):
            bench.run("t1", "t2")
        bench.pass_time(0)
        records = bench.pass_time(5)
    assert {record.score.not_evaluated for record in records} == {f"the scorer failed: {error.__name__}"}
    assert {record.error_type for record in records} == {error.__name__}
    assert HEALTH.counts()["fault.online.scorer"] == 3
    assert len(caplog.records) == 1
    assert "secret words" not in caplog.text


def test_a_look_up_that_raises_leaves_the_run_not_evaluated(make_bench: Callable[..., Bench]) -> None:
    bench = make_bench(look_up=explode)
    bench.run("t1", "t2")
    bench.pass_time(0)
    (record,) = bench.pass_time(5)
    assert record.score.not_evaluated == "no gold path: the look-up failed: ValueError"


def test_an_emitter_that_raises_keeps_the_record_from_no_other_sink(make_bench: Callable[..., Bench]) -> None:
    seen: list[ScoreRecord] = []
    bench = make_bench(emitters=[explode, seen.append])
    bench.run("t1", "t2")
    bench.pass_time(0)
    (record,) = bench.pass_time(5)
    assert seen == [record]
    assert bench.exporter.records == [record]
    assert HEALTH.counts()["fault.online.emit"] == 1


def test_a_score_exporter_that_raises_is_counted_and_the_record_waits(bench: Bench) -> None:
    bench.exporter.answer = explode
    bench.run("t1", "t2")
    bench.pass_time(0)
    bench.pass_time(5)
    (state,) = bench.pipeline.state().destinations
    assert (state.queued, state.failures) == (1, 1)
    bench.exporter.answer = lambda records: ExportResult(exported=len(records))
    bench.pass_time(1)
    assert len(bench.exporter.records) == 1


def test_other_processors_get_their_spans_whatever_happens_in_ours(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("started", "offer", "flush", "shutdown"):
        monkeypatch.setattr(bench.pipeline, name, explode)
    bench.run("t1", "t2")
    assert len(bench.exported.get_finished_spans()) == 3
    assert not bench.provider.force_flush()
    bench.provider.shutdown()
    assert HEALTH.counts()["fault.online.on_end"] == 3
    monkeypatch.undo()


def test_housekeeping_runs_when_it_is_time_and_its_faults_are_counted(make_bench: Callable[..., Bench]) -> None:
    calls: list[float] = []
    bench = make_bench(reload_seconds=5.0)

    def reload() -> None:
        calls.append(bench.clock.monotonic())
        raise OSError

    bench.pipeline._housekeeping = reload
    for _ in range(12):
        bench.pass_time(1)
    assert calls == [5.0, 10.0]
    assert HEALTH.counts()["fault.online.reload"] == 2


def test_after_shutdown_spans_are_let_pass_and_nothing_is_kept(bench: Bench) -> None:
    bench.pipeline.shutdown(1.0)
    bench.run("t1", "t2")
    assert bench.pipeline.state().queued_spans == 0
    assert len(bench.exported.get_finished_spans()) == 3


def test_the_worker_thread_judges_without_being_told(make_bench: Callable[..., Bench]) -> None:
    bench = make_bench(background=True, quiet_seconds=0.0)
    bench.run("t1", "t2")
    assert bench.pipeline.flush(5.0)
    assert [record.score.value for record in bench.exporter.records] == [1.0]
