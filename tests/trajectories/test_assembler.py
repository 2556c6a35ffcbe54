"""When a live run is complete, what comes late, and what is never kept for ever."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable
from typing import Any

import pytest

from agentpath_sdk import semconv
from agentpath_sdk.settings import OnlineSettings
from agentpath_sdk.trajectories.assembler import AssembledRun, Assembler
from agentpath_sdk.trajectories.span_record import SpanRecord

from .build import agent, asks, messages, model, says, span, span_id, tool, trace_id, user


class Hands:
    """An assembler, its clock and its counters."""

    def __init__(self, **settings: Any) -> None:
        self.now = 0.0
        self.counts: Counter[str] = Counter()
        self.assembler = Assembler(OnlineSettings(**settings), lambda: self.now, count=self._count)

    def _count(self, name: str, amount: int) -> None:
        self.counts[name] += amount

    def at(self, seconds: float, *spans: SpanRecord) -> list[AssembledRun]:
        """Move the clock, hand the spans over and return what is due."""
        self.now = seconds
        for record in spans:
            self.assembler.add(record)
        return self.assembler.due()


def told(runs: Iterable[AssembledRun]) -> list[tuple[str | None, list[str], int, bool, str]]:
    return [
        (r.trajectory.agent, [s.tool for s in r.trajectory.steps], r.revision, r.late, r.trajectory.completeness)
        for r in runs
    ]


def t(number: int, **more: Any) -> SpanRecord:
    return tool(f"t{number}", f"t{number}", {}, start=number, **{"parent": "A", **more})


ROOT = agent("A", end=9)


def test_a_run_is_complete_when_its_agent_has_ended_and_the_quiet_time_is_over() -> None:
    hands = Hands()
    assert hands.at(0, t(1), ROOT) == []
    assert hands.at(3, t(2)) == []
    assert hands.at(7.9) == []
    assert told(hands.at(8)) == [("planner", ["t1", "t2"], 1, False, "complete")]
    assert hands.at(20) == []


def test_a_late_span_makes_the_next_revision_of_the_same_run() -> None:
    hands = Hands()
    hands.at(0, t(1), ROOT)
    (first,) = hands.at(8)
    assert hands.at(30, t(3)) == []
    (second,) = hands.at(35)
    assert told([second]) == [("planner", ["t1", "t3"], 2, True, "complete")]
    assert (second.trajectory.revision, second.trajectory.late) == (2, True)
    assert [(r.trajectory.trace_id, r.trajectory.span_id) for r in (first, second)] == [
        (trace_id("one"), span_id("A"))
    ] * 2


def test_a_run_that_counts_its_calls_is_complete_with_the_last_of_them() -> None:
    hands = Hands()
    assert hands.at(0, t(1), agent("A", end=9, calls=2)) == []
    (run,) = hands.at(0.5, t(2))
    assert (told([run]), run.cause) == ([("planner", ["t1", "t2"], 1, False, "complete")], "counted")
    assert hands.at(20) == []


def test_a_counted_call_that_never_comes_makes_the_run_known_incomplete_and_its_arrival_mends_it() -> None:
    hands = Hands()
    assert hands.at(0, t(1), agent("A", end=9, calls=2)) == []
    assert told(hands.at(5)) == [("planner", ["t1"], 1, False, "known_incomplete")]
    assert told(hands.at(60, t(2))) == [("planner", ["t1", "t2"], 2, True, "complete")]


def test_a_run_without_its_agents_span_is_presumed_incomplete_after_the_quiet_time() -> None:
    hands = Hands()
    assert hands.at(0, t(1)) == []
    assert hands.at(3, t(2)) == []
    (run,) = hands.at(8)
    assert told([run]) == [(None, ["t1", "t2"], 1, False, "presumed_incomplete")]
    assert run.trajectory.incomplete_reasons == ("root missing",)
    assert run.trajectory.span_id == span_id("A")


def test_the_agents_span_coming_later_mends_the_same_run() -> None:
    hands = Hands()
    hands.at(0, t(1))
    (early,) = hands.at(5)
    assert hands.at(60, t(2), ROOT) == []
    (whole,) = hands.at(65)
    assert told([whole]) == [("planner", ["t1", "t2"], 2, True, "complete")]
    assert whole.trajectory.span_id == early.trajectory.span_id


def test_a_pause_of_an_agent_known_to_run_gives_no_verdict() -> None:
    hands = Hands()
    hands.assembler.note_started(trace_id("one"), span_id("A"))
    assert hands.at(0, t(1)) == []
    assert hands.at(100) == []
    assert hands.at(200, t(2), ROOT) == []
    assert told(hands.at(205)) == [("planner", ["t1", "t2"], 1, False, "complete")]


def test_a_flush_closes_what_has_ended_as_possibly_incomplete() -> None:
    hands = Hands()
    hands.at(0, t(1), ROOT)
    hands.now = 1
    (run,) = hands.assembler.flush()
    assert (told([run]), run.cause) == ([("planner", ["t1"], 1, False, "presumed_incomplete")], "flushed")
    assert run.trajectory.incomplete_reasons == ("possibly incomplete: flushed before the quiet time",)
    assert hands.assembler.flush() == []


def test_a_run_that_stays_quiet_after_a_flush_turns_out_complete() -> None:
    hands = Hands()
    hands.at(0, t(1), ROOT)
    hands.assembler.flush()
    assert told(hands.at(5)) == [("planner", ["t1"], 2, False, "complete")]
    assert hands.at(50) == []


def test_a_flush_does_not_doubt_a_run_whose_count_fits() -> None:
    hands = Hands()
    for record in (t(1), agent("A", end=9, calls=1)):
        hands.assembler.add(record)
    assert told(hands.assembler.flush()) == [("planner", ["t1"], 1, False, "complete")]
    assert hands.at(50) == []


def test_a_flush_leaves_agents_that_still_run_alone_unless_it_is_the_last() -> None:
    hands = Hands()
    hands.assembler.note_started(trace_id("one"), span_id("A"))
    hands.at(0, t(1))
    assert hands.assembler.flush() == []
    assert told(hands.assembler.flush(final=True)) == [(None, ["t1"], 1, False, "presumed_incomplete")]


def test_above_the_cap_the_oldest_traces_are_closed_early_and_counted() -> None:
    hands = Hands(max_open_traces=1_000)
    for n in range(10_000):
        hands.assembler.add(tool(f"t{n}", "t", {}, parent=f"A{n}", trace=f"trace{n}"))
    assert hands.assembler.open_traces == 1_000
    closed = hands.assembler.due()
    assert len(closed) == 9_000
    assert hands.counts["trajectories.closed_over_cap"] == 9_000
    assert {(r.cause, r.trajectory.completeness) for r in closed} == {("cap", "presumed_incomplete")}
    assert closed[0].trajectory.trace_id == trace_id("trace0")
    assert len(hands.at(5)) == 1_000


def test_lost_spans_spoil_the_runs_of_their_trace_and_no_other() -> None:
    hands = Hands()
    hands.assembler.note_dropped(trace_id("before"))
    spans = [agent(f"A{k}", trace=k, end=9, calls=1) for k in ("before", "during", "not")]
    calls = [tool(f"t{k}", "t", {}, trace=k, parent=f"A{k}") for k in ("before", "during", "not")]
    for record in calls:
        hands.assembler.add(record)
    hands.assembler.note_dropped(trace_id("during"))
    found = {r.trajectory.trace_id: r.trajectory.completeness for r in [*hands.at(0, *spans), *hands.at(5)]}
    assert found == {
        trace_id("before"): "known_incomplete",
        trace_id("during"): "known_incomplete",
        trace_id("not"): "complete",
    }


def test_losses_nobody_can_name_spoil_every_open_trace() -> None:
    hands = Hands()
    hands.at(0, t(1))
    hands.assembler.note_all_dropped()
    assert told(hands.at(1, ROOT) + hands.at(6)) == [("planner", ["t1"], 1, False, "known_incomplete")]


def test_two_agents_one_after_the_other_in_one_request_are_complete_each_in_its_time() -> None:
    hands = Hands()
    first = agent("A", parent="request", agent_name="first", end=2)
    second = agent("B", parent="request", agent_name="second", start=10, end=12)
    assert hands.at(0, t(1), first) == []
    assert told(hands.at(5)) == [("first", ["t1"], 1, False, "complete")]
    assert hands.at(10, t(2, parent="B"), second) == []
    assert hands.at(12, span("request", kind="server", end=12)) == []
    assert told(hands.at(15)) == [("second", ["t2"], 1, False, "complete")]


def test_a_nested_agent_has_its_verdict_while_the_outer_one_goes_on() -> None:
    hands = Hands()
    hands.assembler.note_started(trace_id("one"), span_id("A"))
    inner = agent("B", parent="ask", agent_name="inner", calls=1, start=1, end=2)
    assert told(hands.at(0, t(2, parent="B"), inner)) == []
    ask = tool("ask", "ask_inner", {}, parent="A", start=1, end=3)
    assert told(hands.at(0.1, ask)) == []
    assert told(hands.at(5.1)) == [("inner", ["t2"], 1, False, "complete")]
    assert told(hands.at(60, agent("A", agent_name="outer", calls=1, end=60))) == [
        ("outer", ["ask_inner"], 1, False, "complete")
    ]


def test_a_run_seen_twice_waits_for_its_outer_span_and_gives_one_verdict() -> None:
    hands = Hands()
    for key in ("A", "B"):
        hands.assembler.note_started(trace_id("one"), span_id(key))
    inner = agent("B", parent="A", agent_name="graph", query="why?", calls=1, start=1, end=2)
    assert hands.at(0, t(1, parent="B"), inner) == []
    assert hands.at(30) == []
    outer = agent("A", agent_name="support", query="why?", calls=0, end=31)
    assert told(hands.at(31, outer)) == [("support", ["t1"], 1, False, "complete")]
    assert hands.at(60) == []


def test_a_late_call_of_a_run_seen_twice_revises_the_one_run() -> None:
    hands = Hands()
    inner = agent("B", parent="A", agent_name="graph", query="why?", start=1, end=2)
    hands.at(0, inner, agent("A", agent_name="support", query="why?", end=9))
    assert told(hands.at(5)) == [("support", [], 1, False, "complete")]
    hands.at(20, t(1, parent="B"))
    assert told(hands.at(25)) == [("support", ["t1"], 2, True, "complete")]


def test_an_agent_in_a_web_request_is_judged_at_once_by_its_count_though_the_request_goes_on() -> None:
    hands = Hands()
    hands.assembler.note_started(trace_id("one"), span_id("A"))
    assert len(hands.at(0, t(1), agent("A", parent="request", calls=1, end=9))) == 1


def test_a_call_that_is_a_root_is_counted_and_gives_no_run() -> None:
    hands = Hands()
    hands.at(0, tool("stray", "t", {}))
    assert hands.at(5) == []
    assert hands.counts["trajectories.unattached_call"] == 1
    assert hands.assembler.open_traces == 0


def test_an_application_without_agents_gives_its_root_as_a_run() -> None:
    hands = Hands()
    hands.at(0, t(1, parent="job"), span("job", end=9))
    assert told(hands.at(5)) == [("job", ["t1"], 1, False, "complete")]


def test_spans_in_between_need_not_be_kept_whole_to_keep_the_tree() -> None:
    hands = Hands()
    hands.at(0, t(1, parent="node"), span("node", {"huge": "x" * 10_000}, parent="chain"))
    hands.at(0, span("chain", {"huge": "x" * 10_000}, parent="A"), agent("A", end=9, calls=1))
    assert "huge" not in repr(hands.assembler._settled[trace_id("one")])
    assert hands.assembler._settled[trace_id("one")].emitted[span_id("A")] == (1, 1)


def test_long_chat_histories_are_not_kept_but_the_query_is() -> None:
    hands = Hands()
    history = messages(*(user("x" * 1_000) for _ in range(100)), user("how hot?"))
    turn = model("m", asks("t1", {}, "c1"), given=history, parent="A", start=0.5)
    last = model("m2", says("-63"), given=history, parent="A", start=5)
    (run,) = hands.at(0, turn, t(1), last, agent("A", end=9, calls=1))
    assert (run.trajectory.query, run.trajectory.final_answer) == ("how hot?", "-63")
    assert len(repr(run.trajectory.events)) < 3_000


def test_state_is_freed_when_a_trace_was_idle_for_too_long_and_later_spans_revive_no_half_run() -> None:
    hands = Hands(trace_ttl_seconds=900)
    hands.at(0, t(1), ROOT)
    assert len(hands.at(5)) == 1
    assert hands.assembler.retained_traces == 1
    hands.at(905)
    assert (hands.assembler.open_traces, hands.assembler.retained_traces) == (0, 0)
    hands.at(1_000, t(2))
    assert hands.at(1_010) == []
    assert hands.counts["trajectories.span_after_release"] == 1


def test_a_new_agent_in_a_trace_that_was_freed_is_a_new_run() -> None:
    hands = Hands(trace_ttl_seconds=900)
    hands.at(0, t(1), ROOT)
    hands.at(5)
    hands.at(905)
    hands.at(1_000, t(2, parent="B"), agent("B", parent="session", agent_name="next"))
    assert told(hands.at(1_005)) == [("next", ["t2"], 1, False, "complete")]


def test_memory_does_not_grow_with_the_number_of_runs() -> None:
    hands = Hands(max_retained_runs=50, max_open_traces=200)
    sizes = []
    for n in range(3_000):
        trace = {"trace": f"trace{n}", "parent": f"A{n}"}
        hands.now = n * 0.1
        for k in range(3):
            hands.assembler.add(tool(f"{n}.{k}", "t", {"k": k}, start=k, **trace))
        hands.assembler.add(agent(f"A{n}", trace=f"trace{n}", calls=3, end=9))
        hands.assembler.due()
        if n % 1_000 == 999:
            sizes.append(held(hands.assembler))
    assert sizes[1] == pytest.approx(sizes[2], rel=0.05)
    assert hands.assembler.retained_traces == 50


def held(assembler: Assembler) -> int:
    """Return how many entries the assembler's own containers hold."""
    values = vars(assembler).values()
    return sum(len(value) for value in values if hasattr(value, "__len__")) + sys.getsizeof(assembler._runs) // 1_000


def test_a_trace_that_never_ends_lets_judged_runs_go() -> None:
    hands = Hands(max_spans_per_trace=100)
    for n in range(500):
        key = f"A{n}"
        run = hands.at(n, t(n, parent=key), agent(key, parent="session", calls=1), span(f"s{n}", parent=key))
        run += hands.at(n + 0.5)
    trace = hands.assembler._open.get(trace_id("one")) or hands.assembler._settled[trace_id("one")]
    assert len(trace) <= 200
    assert hands.counts["trajectories.span_over_limit"] == 0
    assert not trace.dropped


def test_a_run_with_more_spans_than_the_limit_is_known_to_be_incomplete() -> None:
    hands = Hands(max_spans_per_trace=10)
    hands.at(0, *(t(n) for n in range(30)))
    (run,) = hands.at(1, ROOT) + hands.at(6)
    assert (run.trajectory.agent, run.trajectory.completeness) == ("planner", "known_incomplete")
    assert hands.counts["trajectories.span_over_limit"] == 20


def test_the_same_spans_in_any_order_of_arrival_end_in_the_same_trajectory() -> None:
    spans = [t(1), t(2, parent="t1"), span("mid", parent="A"), t(3, parent="mid"), model("m", parent="A"), ROOT]
    seen = set()
    for turn in range(len(spans)):
        hands = Hands()
        hands.at(0, *spans[turn:], *spans[:turn])
        (run,) = hands.at(5)
        seen.add(repr(run.trajectory))
    assert len(seen) == 1


def test_the_waiting_time_until_something_is_due_is_told() -> None:
    hands = Hands()
    assert hands.assembler.wait_seconds() is None
    hands.at(0, t(1))
    hands.at(2, ROOT)
    assert hands.assembler.wait_seconds() == 3
    hands.at(8)
    assert hands.assembler.wait_seconds() is None


def test_a_workflow_around_agents_is_no_run_of_its_own() -> None:
    hands = Hands()
    workflow = span("W", {semconv.OPERATION_NAME: "invoke_workflow"}, end=9)
    hands.at(0, t(1), agent("A", parent="W"), workflow)
    assert told(hands.at(5)) == [("planner", ["t1"], 1, False, "complete")]
    assert hands.assembler.open_traces == 0
