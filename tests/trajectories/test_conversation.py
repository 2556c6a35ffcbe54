"""Runs of one conversation as one trajectory."""

from __future__ import annotations

from itertools import permutations

import pytest

from agentpath_sdk import semconv
from agentpath_sdk.trajectories.conversation import conversations, join_conversation, resumes
from agentpath_sdk.trajectories.model import Trajectory
from agentpath_sdk.trajectories.reconstruct import reconstruct
from agentpath_sdk.trajectories.span_record import SpanRecord

from .build import agent, asks, model, says, span_id, tool

TALK = {semconv.CONVERSATION_ID: "t1"}
PAUSED = {semconv.STEP_OUTCOME: "interrupted"}


def until_the_pause() -> list[SpanRecord]:
    in_first = {"trace": "first", "parent": "A1"}
    return [
        agent("A1", trace="first", start=0, end=5, query="refund 7", attributes={**TALK, **PAUSED}),
        model("m1", asks("lookup", {"order": 7}, "c1"), start=1, **in_first),
        tool("l", "lookup", {"order": 7}, "found", "c1", start=2, **in_first),
        model("m2", asks("refund", {"order": 7, "amount": 20}, "c2"), start=3, **in_first),
        tool("r1", "refund", {"order": 7, "amount": 20}, None, "c2", start=4, attributes=PAUSED, **in_first),
    ]


def after_the_approval() -> list[SpanRecord]:
    in_second = {"trace": "second", "parent": "A2"}
    return [
        agent("A2", trace="second", start=60, end=70, query="yes", answer="done", attributes=TALK),
        tool("r2", "refund", {"order": 7, "amount": 20}, "paid", "c2", start=61, **in_second),
        model("m3", says("done"), start=63, **in_second),
    ]


def one(spans: list[SpanRecord]) -> Trajectory:
    (trajectory,) = reconstruct(spans)
    return trajectory


def test_a_pause_is_pending_and_no_error() -> None:
    run = one(until_the_pause())
    assert run.stop_reason == "pending"
    assert [(s.tool, s.outcome, s.error) for s in run.steps] == [
        ("lookup", "ok", None),
        ("refund", "interrupted", None),
    ]
    assert [request.fate for request in run.requested] == ["executed", "pending"]


def test_a_resumed_run_joins_the_paused_one_with_the_repeated_call_once() -> None:
    paused, resumed = one(until_the_pause()), one(after_the_approval())
    assert resumes(resumed, paused)
    assert not resumes(paused, resumed)
    whole = join_conversation([paused, resumed])
    assert [(s.tool, s.outcome, s.result, s.attempt) for s in whole.steps] == [
        ("lookup", "ok", "found", 1),
        ("refund", "ok", "paid", 1),
    ]
    assert (whole.query, whole.final_answer, whole.stop_reason) == ("refund 7", "done", "finished")
    assert (whole.conversation_id, whole.span_id) == ("t1", span_id("A2"))
    assert [request.fate for request in whole.requested] == ["executed", "executed"]
    assert [(e.kind, e.step) for e in whole.events] == [
        ("model", None),
        ("tool", 0),
        ("model", None),
        ("tool", 1),
        ("model", None),
    ]


def test_runs_join_the_same_whatever_order_they_come_in() -> None:
    third = one(
        [agent("A3", trace="third", start=90, attributes=TALK), tool("t", "note", {}, trace="third", parent="A3")]
    )
    runs = [one(until_the_pause()), one(after_the_approval()), third]
    assert len({repr(join_conversation(order)) for order in permutations(runs)}) == 1


def test_a_call_refused_after_the_pause_stays_interrupted() -> None:
    said_no = one([agent("A2", trace="second", start=60, answer="ok, not paid", attributes=TALK)])
    whole = join_conversation([one(until_the_pause()), said_no])
    assert [(s.tool, s.outcome) for s in whole.steps] == [("lookup", "ok"), ("refund", "interrupted")]
    assert whole.stop_reason == "finished"


def test_parallel_groups_of_different_turns_stay_apart() -> None:
    def turn(n: int) -> Trajectory:
        calls = [
            tool(f"t{n}{k}", k, {}, trace=f"turn{n}", parent=f"A{n}", start=n * 10 + 1, end=n * 10 + 2) for k in "ab"
        ]
        return one([agent(f"A{n}", trace=f"turn{n}", start=n * 10, end=n * 10 + 5, attributes=TALK), *calls])

    assert [s.parallel_group for s in join_conversation([turn(0), turn(1)]).steps] == [1, 1, 2, 2]


def test_a_conversation_is_as_complete_as_its_least_complete_run() -> None:
    lost = one([agent("A2", trace="second", start=60, calls=2, attributes=TALK)])
    whole = join_conversation([one(until_the_pause()), lost])
    assert (whole.completeness, whole.incomplete_reasons) == ("known_incomplete", ("0 of 2 calls were seen",))


def test_conversations_are_told_apart_by_id_and_agent() -> None:
    other = one([agent("B", trace="other", agent_name="billing", attributes=TALK)])
    lonely = [one([agent(f"L{n}", trace=f"l{n}")]) for n in (1, 2)]
    found = conversations([one(until_the_pause()), other, *lonely, one(after_the_approval())])
    assert [(t.agent, len(t.steps)) for t in found] == [("planner", 2), ("billing", 0), ("planner", 0), ("planner", 0)]


def test_nothing_cannot_be_joined() -> None:
    with pytest.raises(ValueError, match="no trajectory"):
        join_conversation([])
