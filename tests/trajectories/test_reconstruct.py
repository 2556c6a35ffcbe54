"""From spans to steps: what is a step, whose it is, how it ended."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from itertools import pairwise

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentpath_sdk import semconv
from agentpath_sdk.trajectories.model import Trajectory
from agentpath_sdk.trajectories.reconstruct import reconstruct, reconstruct_trace
from agentpath_sdk.trajectories.span_record import SpanRecord
from agentpath_sdk.trajectories.trajectory_json import trajectory_to_json

from .build import agent, asks, assistant, exception, messages, model, says, span, span_id, tool, trace_id, user


def one(spans: list[SpanRecord]) -> Trajectory:
    (trajectory,) = reconstruct(spans)
    return trajectory


def in_bytes(trajectories: tuple[Trajectory, ...]) -> bytes:
    events = [repr(t.events) for t in trajectories]
    return orjson.dumps([*map(trajectory_to_json, trajectories), events], option=orjson.OPT_SORT_KEYS)


def tools_of(trajectory: Trajectory) -> list[str]:
    return [step.tool for step in trajectory.steps]


# --- whose step is it -----------------------------------------------------------------------------------------------


def test_overlapping_calls_are_siblings_in_order_of_start() -> None:
    run = one(
        [
            agent("A", start=0, end=10),
            tool("b", "b", parent="A", start=1.2, end=2),
            tool("c", "c", parent="A", start=1.3, end=3),
            tool("a", "a", parent="A", start=1.1, end=4),
        ]
    )
    assert tools_of(run) == ["a", "b", "c"]
    assert [step.parallel_group for step in run.steps] == [1, 1, 1]


def test_two_runs_in_one_trace_keep_their_calls_apart() -> None:
    spans = [span("request", kind="server", end=10)]
    for name in ("A", "B"):
        spans.append(agent(name, parent="request", agent_name=name, start=0, end=9))
        spans += [tool(f"{name}{n}", f"t{n}", parent=name, start=n, end=n + 1.5) for n in (1, 2, 3)]
    found = reconstruct(spans)
    assert {t.agent: tools_of(t) for t in found} == {"A": ["t1", "t2", "t3"], "B": ["t1", "t2", "t3"]}
    assert all(t.completeness == "complete" for t in found)


def test_a_call_that_is_a_root_is_nobodys_step() -> None:
    told = reconstruct_trace([tool("stray", "search", {"q": 1})])
    assert told.trajectories == ()
    assert [step.tool for step in told.unattached] == ["search"]


def test_a_call_outside_every_agent_of_its_trace_is_nobodys_step() -> None:
    told = reconstruct_trace(
        [
            span("request", kind="server"),
            agent("A", parent="request"),
            tool("in", "search", parent="A"),
            tool("out", "log", parent="request"),
        ]
    )
    assert [tools_of(t) for t in told.trajectories] == [["search"]]
    assert [step.tool for step in told.unattached] == ["log"]


def test_a_call_served_for_another_process_is_nobodys_step() -> None:
    told = reconstruct_trace([tool("served", "search", parent="elsewhere", parent_remote=True)])
    assert (told.trajectories, len(told.unattached)) == ((), 1)


def test_an_application_without_agent_spans_gives_one_run_named_after_its_root() -> None:
    run = one(
        [
            span("job", end=9),
            model("m", asks("search", {"q": 1}, "c1"), parent="job", start=1),
            tool("t", "search", {"q": 1}, call_id="c1", parent="job", start=2),
        ]
    )
    assert (run.agent, run.span_id, run.completeness) == ("job", span_id("job"), "complete")
    assert (tools_of(run), [event.kind for event in run.events]) == (["search"], ["model", "tool"])


def test_calls_whose_agent_is_missing_are_a_run_that_is_presumed_incomplete() -> None:
    run = one([tool("a", "a", parent="A", start=1), tool("b", "b", parent="A", start=2)])
    assert (run.span_id, run.trace_id, tools_of(run)) == (span_id("A"), trace_id("one"), ["a", "b"])
    assert (run.completeness, run.incomplete_reasons) == ("presumed_incomplete", ("root missing",))


def test_a_missing_span_in_the_middle_keeps_its_calls_in_the_run_and_is_told() -> None:
    run = one([agent("A", end=9), tool("t", "t", parent="lost", start=1)])
    assert (tools_of(run), run.completeness) == (["t"], "presumed_incomplete")
    assert run.incomplete_reasons == ("a parent span is missing",)


def test_a_missing_span_in_the_middle_does_no_harm_when_the_call_count_fits() -> None:
    run = one([agent("A", end=9, calls=1), tool("t", "t", parent="lost", start=1)])
    assert (tools_of(run), run.completeness) == (["t"], "complete")


def test_siblings_of_an_agent_do_not_become_its_steps_while_their_common_parent_is_missing() -> None:
    found = reconstruct(
        [
            agent("B", agent_name="inner", parent="A", start=1, end=9),
            tool("b", "b", parent="B", start=2),
            tool("a", "a", parent="A", start=3, attributes={semconv.AGENT_NAME: "outer"}),
        ]
    )
    assert {t.agent: tools_of(t) for t in found} == {"inner": ["b"], "outer": ["a"]}


def test_a_tool_called_by_a_tool_is_a_step_after_it() -> None:
    run = one(
        [agent("A", end=9), tool("o", "outer", parent="A", start=1, end=4), tool("i", "inner", parent="o", start=2)]
    )
    assert (tools_of(run), [step.parallel_group for step in run.steps]) == (["outer", "inner"], [None, None])


def test_an_agent_of_ours_called_directly_is_a_step_under_its_own_name() -> None:
    outer, inner = reconstruct(
        [
            agent("A", agent_name="lead", calls=1, start=0, end=9),
            tool("t", "plan", {}, parent="A", start=1),
            agent("B", agent_name="billing", query="pay", answer="paid", calls=1, parent="A", start=3, end=6),
            tool("u", "refund", {}, parent="B", start=4),
        ]
    )
    assert [(s.tool, s.kind, s.arguments, s.result) for s in outer.steps] == [
        ("plan", "tool", {}, None),
        ("billing", "agent", {"query": "pay"}, "paid"),
    ]
    assert tools_of(inner) == ["refund"]


def test_a_nested_agent_of_another_vocabulary_is_an_event_and_no_step() -> None:
    outer, inner = reconstruct(
        [
            agent("A", agent_name="graph", scope="other", start=0, end=9),
            tool("t", "plan", {}, parent="A", scope="other", start=1),
            agent("B", agent_name="member", scope="other", parent="A", start=3, end=6),
            tool("u", "refund", {}, parent="B", scope="other", start=4),
        ]
    )
    assert tools_of(outer) == ["plan"]
    assert [(event.kind, event.name) for event in outer.events] == [("tool", "plan"), ("phase", "member")]
    assert tools_of(inner) == ["refund"]


def test_plumbing_that_is_called_an_agent_makes_no_trajectory() -> None:
    run = one(
        [
            agent("A", agent_name="executor", scope="other", end=9),
            agent("P", agent_name="RunnableAssign", scope="other", parent="A", start=1),
            tool("t", "t", parent="A", scope="other", start=3),
        ]
    )
    assert (run.agent, tools_of(run)) == ("executor", ["t"])


@pytest.mark.parametrize("inner_scope", ["agentpath_sdk", "other"])
def test_a_run_that_decorator_and_framework_both_saw_is_one_run(inner_scope: str) -> None:
    run = one(
        [
            agent("A", agent_name="support", query="why?", calls=0, start=0, end=9),
            agent(
                "B", agent_name="LangGraph", query="why?", answer="so", scope=inner_scope, parent="A", start=1, end=8
            ),
            tool("t", "search", {}, parent="B", scope=inner_scope, start=2),
        ]
    )
    assert (run.agent, run.span_id, tools_of(run)) == ("support", span_id("A"), ["search"])
    assert (run.query, run.final_answer) == ("why?", "so")


def test_an_agent_around_one_other_with_another_question_is_a_run_of_its_own() -> None:
    found = reconstruct(
        [
            agent("A", agent_name="lead", query="refund order 7", answer="done", start=0, end=9),
            agent("B", agent_name="billing", query="pay 20", answer="paid", parent="A", start=1, end=8),
            tool("t", "pay", {}, parent="B", start=2),
        ]
    )
    assert [(t.agent, tools_of(t)) for t in found] == [("lead", ["billing"]), ("billing", ["pay"])]


# --- pairing and order ----------------------------------------------------------------------------------------------


def paired_by_id() -> list[SpanRecord]:
    return [
        agent("A", end=20),
        model("m1", asks("search", {"q": "a"}, "c1"), asks("search", {"q": "b"}, "c2"), parent="A", start=1, end=2),
        span("user message", parent="A", start=2.5, end=2.6),
        tool("t2", "search", {"q": "b"}, "B", "c2", parent="A", start=3, end=4),
        tool("t1", "search", {"q": "a"}, "A", "c1", parent="A", start=3, end=5),
        model("m2", asks("open", {"id": "x"}, "c3"), parent="A", start=6, end=7),
        tool("t3", "open", {"id": "x"}, None, "c3", parent="A", start=8, end=9, status="error"),
        model("title", says("A title"), parent="A", start=9, attributes={semconv.STEP_PHASE: "utility"}),
    ]


def test_results_go_to_calls_by_id_in_the_order_the_model_asked_whatever_order_spans_come_in() -> None:
    seen: set[bytes] = set()
    for seed in range(20):
        spans = paired_by_id()
        random.Random(seed).shuffle(spans)
        found = reconstruct(spans)
        seen.add(in_bytes(found))
        (run,) = found
        assert [(s.call_id, s.result, s.outcome) for s in run.steps] == [
            ("c1", "A", "ok"),
            ("c2", "B", "ok"),
            ("c3", None, "error"),
        ]
        assert [event.name for event in run.events] == ["m1", "search", "search", "m2", "open"]
        assert [request.fate for request in run.requested] == ["executed"] * 3
    assert len(seen) == 1


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_the_same_spans_in_any_order_give_the_same_bytes(data: st.DataObject) -> None:
    spans = random_trace(random.Random(data.draw(st.integers(0, 10_000))))
    shuffled = data.draw(st.permutations(spans))
    assert in_bytes(reconstruct(shuffled)) == in_bytes(reconstruct(spans))


def random_trace(rng: random.Random) -> list[SpanRecord]:
    """Return spans with coarse times, nesting, twins, repeated ids and missing parents."""
    keys = [f"k{n}" for n in range(rng.randint(2, 14))]
    spans: list[SpanRecord] = []
    for n, key in enumerate(keys):
        parent = rng.choice([*keys[:n], "missing", None]) if n else None
        start = rng.randint(0, 4)
        times = {"start": start, "end": start + rng.randint(0, 3), "parent": parent}
        scope = rng.choice(["agentpath_sdk", "other", None])
        match rng.randint(0, 5):
            case 0:
                spans.append(agent(key, agent_name=rng.choice(["x", "y", None]), scope=scope, **times))
            case 1:
                spans.append(model(key, asks("a", {"n": n % 2}, rng.choice([None, "c1", "c2"])), scope=scope, **times))
            case 2:
                spans.append(span(key, scope=scope, **times))
            case _:
                call_id = rng.choice([None, None, "c1", "c2"])
                status = rng.choice(["unset", "error"])
                name = rng.choice(["a", "b"])
                spans.append(tool(key, name, {"n": n % 2}, n, call_id, scope=scope, status=status, **times))
    return spans


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_every_call_is_a_step_of_at_most_one_trajectory_and_steps_are_ordered(seed: int) -> None:
    told = reconstruct_trace(random_trace(random.Random(seed)))
    ids = [s.span_id for t in told.trajectories for s in t.steps if s.kind != "agent"]
    ids += [s.span_id for s in told.unattached]
    assert len(ids) == len(set(ids))
    for trajectory in told.trajectories:
        starts = [step.start_unix_nano or 0 for step in trajectory.steps]
        assert all(a <= b for a, b in pairwise(starts))


def test_a_broken_exporter_that_sends_circles_hangs_nothing() -> None:
    told = reconstruct_trace([agent("A", parent="B"), tool("B", "b", parent="A"), tool("C", "c", parent="C")])
    assert len(told.trajectories) + len(told.unattached) > 0


def test_a_span_sent_twice_counts_once() -> None:
    spans = [agent("A", end=9), tool("t", "t", {"a": 1}, parent="A", start=1)]
    fuller = replace(spans[1], attributes={**spans[1].attributes, semconv.TOOL_CALL_RESULT: '"r"'})
    assert [s.result for s in one([*spans, fuller, spans[1]]).steps] == ["r"]


# --- one call seen twice, tried twice -------------------------------------------------------------------------------


def test_a_call_seen_by_decorator_and_handler_is_one_step() -> None:
    run = one(
        [
            agent("A", end=9),
            tool("h", "search", {"q": 1}, call_id="c1", parent="A", start=1, end=4),
            tool("d", "search", {"q": 1}, "found", parent="h", start=2, end=3, scope="other"),
        ]
    )
    assert [(s.tool, s.call_id, s.result, s.span_id) for s in run.steps] == [("search", "c1", "found", span_id("h"))]


def test_one_identity_is_one_call_wherever_its_spans_hang() -> None:
    same = {semconv.STEP_IDENTITY: "call-1"}
    run = one(
        [
            agent("A", end=9),
            tool("x", "search", {"q": 1}, parent="A", start=1, end=2, attributes=same),
            tool("y", "search", {"q": 1}, parent="A", start=1.5, end=3, attributes=same),
        ]
    )
    assert len(run.steps) == 1


def test_two_instrumentations_side_by_side_see_one_call() -> None:
    run = one(
        [
            agent("A", end=9),
            tool("x", "search", {"q": 1}, parent="A", start=1, end=4, scope="one"),
            tool("y", "search", {"q": 1}, parent="A", start=1.5, end=3, scope="two"),
        ]
    )
    assert len(run.steps) == 1


def test_equal_parallel_calls_of_one_instrumentation_are_two_steps() -> None:
    run = one([agent("A", end=9), *(tool(k, "stock", {"sku": 1}, parent="A", start=1, end=4) for k in "xy")])
    assert len(run.steps) == 2


def test_a_tool_that_calls_itself_with_other_arguments_is_several_steps() -> None:
    run = one(
        [
            agent("A", end=9),
            tool("f2", "fib", {"n": 2}, parent="A", start=1, end=5),
            tool("f1", "fib", {"n": 1}, parent="f2", start=2, end=3),
        ]
    )
    assert [s.arguments for s in run.steps] == [{"n": 2}, {"n": 1}]


def test_an_error_that_only_the_inner_span_saw_is_the_calls_outcome() -> None:
    run = one(
        [
            agent("A", end=9),
            tool("o", "pay", {"n": 1}, parent="A", start=1, end=4, scope="outer"),
            tool("i", "pay", {"n": 1}, parent="o", start=2, end=3, scope="inner", status="error"),
        ]
    )
    assert [s.outcome for s in run.steps] == ["error"]


def test_a_call_repeated_after_an_error_is_the_next_attempt() -> None:
    failed = {"status": "error", "parent": "A"}
    run = one(
        [
            agent("A", end=20),
            tool("1", "pay", {"n": 1}, start=1, **failed),
            tool("2", "pay", {"n": 1}, start=3, **failed),
            tool("3", "pay", {"n": 1}, start=5, parent="A"),
            tool("4", "pay", {"n": 1}, start=7, parent="A"),
        ]
    )
    assert [s.attempt for s in run.steps] == [1, 2, 3, 1]


def test_a_call_paused_and_run_again_in_one_trace_is_one_step() -> None:
    run = one(
        [
            agent("A", end=20),
            tool("1", "refund", {"n": 1}, start=1, parent="A", attributes={semconv.STEP_OUTCOME: "interrupted"}),
            tool("2", "refund", {"n": 1}, "ok", start=3, parent="A"),
        ]
    )
    assert [(s.outcome, s.attempt) for s in run.steps] == [("ok", 1)]


# --- how it ended ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("more", "outcome"),
    [
        ({}, "ok"),
        ({"status": "error"}, "error"),
        ({"attributes": {semconv.ERROR_TYPE: "h.StockError"}}, "error"),
        ({"attributes": {semconv.STEP_OUTCOME: "cancelled"}}, "cancelled"),
        ({"status": "error", "attributes": {semconv.ERROR_TYPE: "asyncio.exceptions.CancelledError"}}, "cancelled"),
        ({"status": "error", "attributes": {semconv.ERROR_TYPE: "KeyboardInterrupt"}}, "cancelled"),
        ({"status": "error", "attributes": {semconv.ERROR_TYPE: "langgraph.errors.GraphInterrupt"}}, "interrupted"),
        ({"status": "error", "attributes": {semconv.ERROR_TYPE: "shop.errors.GraphInterrupt"}}, "error"),
        ({"attributes": {semconv.STEP_OUTCOME: "abandoned"}}, "abandoned"),
        ({"status": "error", "events": exception("ValueError", "bad id")}, "error"),
    ],
)
def test_the_outcome_of_a_call(more: dict[str, object], outcome: str) -> None:
    run = one([agent("A", end=9), tool("t", "t", {}, parent="A", start=1, **more)])
    assert run.steps[0].outcome == outcome


def test_a_hand_over_is_no_error_and_a_step_of_its_own_kind() -> None:
    hand_over = {semconv.ERROR_TYPE: "langgraph.errors.ParentCommand"}
    run = one([agent("A", end=9), tool("t", "to_billing", {}, parent="A", status="error", attributes=hand_over)])
    assert [(s.kind, s.outcome, s.error) for s in run.steps] == [("handoff", "ok", None)]


@pytest.mark.parametrize(
    ("result", "message"),
    [
        ({"type": "tool", "content": "404 not found", "tool_call_id": "c1", "status": "error"}, "404 not found"),
        ({"isError": True, "content": [{"type": "text", "text": "no such row"}]}, "no such row"),
        ({"error": None, "rows": 3}, None),
        ("No error was found", None),
        ({"status": "error", "order": 7}, None),
    ],
)
def test_an_error_that_was_returned_counts_where_it_is_flagged_and_only_there(
    result: object, message: str | None
) -> None:
    run = one([agent("A", end=9), tool("t", "t", {}, result, parent="A", status="ok")])
    step = run.steps[0]
    assert (step.outcome, step.error.message if step.error else None) == ("error" if message else "ok", message)


def test_an_error_message_has_at_most_500_characters() -> None:
    run = one([agent("A", end=9), tool("t", "t", {}, parent="A", status="error", events=exception("E", "x" * 5_000))])
    error = run.steps[0].error
    assert error is not None
    assert (error.type, len(error.message or "")) == ("E", 500)


def test_a_cancelled_run_shows_the_cancelled_step_and_stops_as_cancelled() -> None:
    gone = {semconv.STEP_OUTCOME: "cancelled", semconv.ERROR_TYPE: "CancelledError"}
    run = one([agent("A", end=9, attributes=gone), tool("t", "wait", {}, parent="A", attributes=gone)])
    assert (run.stop_reason, run.steps[0].outcome) == ("cancelled", "cancelled")
    assert run.steps[0].error is not None
    assert run.steps[0].error.type == "CancelledError"


@pytest.mark.parametrize(
    ("more", "stopped"),
    [
        ({}, "finished"),
        ({"attributes": {semconv.RUN_STOP_REASON: "limit"}}, "limit"),
        ({"attributes": {semconv.ERROR_TYPE: "GraphRecursionError"}, "status": "error"}, "limit"),
        ({"status": "error"}, "error"),
        ({"attributes": {semconv.STEP_OUTCOME: "interrupted"}}, "pending"),
    ],
)
def test_why_a_run_stopped(more: dict[str, object], stopped: str) -> None:
    assert one([agent("A", end=9, **more), tool("t", "t", {}, parent="A")]).stop_reason == stopped


# --- arguments ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given_arguments", "arguments", "state"),
    [
        ({"a": 1, "ы": [True, None]}, {"a": 1, "ы": [True, None]}, "known"),
        ('{"a": "\\u0439"}', {"a": "й"}, "known"),
        ('"{\\"a\\": 1}"', {"a": 1}, "known"),
        ("{'q': \"it's\", 'flag': True, 'n': None}", {"q": "it's", "flag": True, "n": None}, "known"),
        ("", {}, "known"),
        ("null", {}, "known"),
        (None, None, "not_captured"),
        ("__REDACTED__", None, "redacted"),
        ('"[redaction failed]"', None, "redacted"),
        ("[1, 2]", None, "unparsed"),
        ("42", None, "unparsed"),
        ("Москва", None, "unparsed"),
        ('{"a": 1}}', None, "unparsed"),
        ('{"a": "long te', None, "truncated"),
        ('{"a": [1, {"b": 2', None, "truncated"),
        ("{'a': __import__('os').system('true')}", None, "unparsed"),
        ("[" * 100_000, None, "truncated"),
    ],
)
def test_what_is_known_of_arguments(given_arguments: object, arguments: object, state: str) -> None:
    step = one([agent("A", end=9), tool("t", "t", given_arguments, parent="A")]).steps[0]
    assert (step.arguments, step.arguments_state) == (arguments, state)
    assert (step.raw_arguments is not None) == (state in ("redacted", "unparsed", "truncated"))


def test_structured_arguments_are_taken_as_they_are() -> None:
    structured = {semconv.TOOL_CALL_ARGUMENTS: {"ids": (1, 2), "data": b"\xff\x00"}}
    step = one([agent("A", end=9), tool("t", "t", parent="A", attributes=structured)]).steps[0]
    assert step.arguments == {"ids": [1, 2], "data": "/wA="}


def test_arguments_shortened_by_our_own_limit_are_flagged_though_valid_json() -> None:
    cut = {semconv.CONTENT_TRUNCATED: ("arguments",)}
    step = one([agent("A", end=9), tool("t", "t", {"id": 42, "text": "😀…"}, parent="A", attributes=cut)]).steps[0]
    assert (step.arguments, step.arguments_state) == (None, "truncated")


def test_arguments_kept_raw_by_the_writer_are_no_object() -> None:
    raw = {semconv.CONTENT_RAW: ("arguments",)}
    step = one([agent("A", end=9), tool("t", "t", '{"a": 1', parent="A", attributes=raw)]).steps[0]
    assert (step.arguments_state, step.raw_arguments) == ("unparsed", '{"a": 1')


@pytest.mark.parametrize(("limit", "state"), [(14, "truncated"), (200, "unparsed")])
def test_broken_arguments_count_as_cut_only_at_the_providers_own_limit(limit: int, state: str) -> None:
    step = one([agent("A", end=9), tool("t", "t", '{"a": "long te', parent="A", attribute_limit=limit)]).steps[0]
    assert step.arguments_state == state


def test_a_result_that_was_hidden_is_told_from_one_that_is_text() -> None:
    calls = [
        tool(k, k, {}, result, parent="A") for k, result in (("a", "__REDACTED__"), ("b", '"text"'), ("c", "null"))
    ]
    steps = {step.tool: (step.result, step.result_state) for step in one([agent("A", end=9), *calls]).steps}
    assert steps == {"a": (None, "redacted"), "b": ("text", "known"), "c": (None, "known")}


def test_with_capture_off_nothing_of_the_content_is_known() -> None:
    off = {semconv.CONTENT_CAPTURE: "off"}
    run = one([agent("A", end=9), tool("t", "t", parent="A", attributes=off, status="error")])
    step = run.steps[0]
    assert (step.arguments_state, step.result_state, step.outcome) == ("not_captured", "not_captured", "error")


def test_arguments_missing_on_the_call_are_taken_from_the_request_with_its_id() -> None:
    spans = [
        agent("A", end=9),
        model("m", asks("search", {"q": "a"}, "c1"), asks("search", {"q": "b"}), parent="A", start=1, end=2),
        tool("t", "search", call_id="c1", parent="A", start=3, end=4),
        tool("u", "search", parent="A", start=5, end=6),
    ]
    assert [s.arguments for s in one(spans).steps] == [{"q": "a"}, None]


# --- what the run is about ------------------------------------------------------------------------------------------


def test_the_run_carries_what_the_application_said() -> None:
    said = {
        semconv.REQUEST_GOLD_PATH: "mars",
        semconv.CONVERSATION_ID: "t1",
        semconv.RUN_GOAL_SUCCESS: False,
        semconv.RUN_GOAL_REASON: "wrong unit",
        semconv.RUN_GOAL_SOURCE: "judge",
        "customer.tier": "gold",
        "gen_ai.request.temperature": 0.0,
    }
    spans = [
        agent(
            "A", query="How hot?", answer="-63", attributes=said, resource={"service.name": "shop", "host.name": "h"}
        ),
        tool("t", "t", parent="A"),
    ]
    run = one(spans)
    assert (run.query, run.final_answer, run.gold_path_id, run.conversation_id) == ("How hot?", "-63", "mars", "t1")
    assert run.goal is not None
    assert (run.goal.success, run.goal.reason, run.goal.source) == (False, "wrong unit", "judge")
    assert run.outcome is run.goal
    assert run.attributes == {"service.name": "shop", "customer.tier": "gold"}


def test_query_and_answer_come_from_the_models_where_the_agent_does_not_say_them() -> None:
    history = messages(user("earlier"), assistant("yes"), user("How hot?"))
    spans = [
        agent("A", end=9),
        model("m1", asks("look", {}, "c1"), given=history, parent="A", start=1),
        tool("t", "look", {}, call_id="c1", parent="A", start=3),
        model("m2", says("-63"), given=history, parent="A", start=5),
    ]
    assert (one(spans).query, one(spans).final_answer) == ("How hot?", "-63")
    assert one(spans[:-1]).final_answer is None


def test_tokens_are_summed_over_the_model_turns() -> None:
    def used(n: int) -> dict[str, object]:
        return {semconv.USAGE_INPUT_TOKENS: n, semconv.USAGE_OUTPUT_TOKENS: 1}

    spans = [agent("A", end=9), *(model(f"m{n}", parent="A", start=n, attributes=used(n)) for n in (1, 2))]
    assert (one(spans).usage.input_tokens, one(spans).usage.output_tokens) == (3, 2)
    assert one(spans[:1]).usage.input_tokens is None


def test_a_retrieval_is_a_step_with_its_query_as_argument() -> None:
    retrieval = {
        semconv.OPERATION_NAME: semconv.OP_RETRIEVAL,
        semconv.TOOL_NAME: "planets",
        semconv.RETRIEVAL_QUERY: "Mars",
        semconv.RETRIEVAL_DOCUMENTS: json.dumps([{"id": "d1"}]),
    }
    step = one([agent("A", end=9), span("r", retrieval, parent="A")]).steps[0]
    assert (step.tool, step.kind, step.arguments, step.result) == (
        "planets",
        "retrieval",
        {"query": "Mars"},
        [{"id": "d1"}],
    )


def test_everything_below_a_utility_phase_is_left_out_but_counts_as_seen() -> None:
    run = one(
        [
            agent("A", calls=2, end=9),
            tool("t", "t", parent="A", start=1),
            span("title", {semconv.STEP_PHASE: "utility"}, parent="A", start=3),
            tool("u", "summarise", parent="title", start=3),
        ]
    )
    assert (tools_of(run), run.completeness) == (["t"], "complete")


def test_requests_tell_what_became_of_them() -> None:
    offered = {"gen_ai.tool.definitions": json.dumps([{"name": "pay"}, {"name": "search"}])}
    answered = messages({"role": "tool", "parts": [{"type": "tool_call_response", "id": "c2", "response": "no"}]})
    calls = (asks("search", {}, "c1"), asks("pay", {}, "c2"), asks("fly", {}, "c3"), asks("search", {}, "c4"))
    run = one(
        [
            agent("A", calls=1, end=9),
            model("m1", *calls, parent="A", start=1, attributes=offered),
            tool("t", "search", {}, call_id="c1", parent="A", start=3),
            model("m2", says("sorry"), given=answered, parent="A", start=5),
        ]
    )
    assert {r.call_id: r.fate for r in run.requested} == {
        "c1": "executed",
        "c2": "refused",
        "c3": "invalid",
        "c4": "unknown",
    }


def test_a_call_waiting_for_approval_is_pending() -> None:
    run = one(
        [
            agent("A", end=9, attributes={semconv.RUN_STOP_REASON: "pending"}),
            model("m", asks("refund", {}, "c1"), asks("mail", {}, "c2"), parent="A", start=1),
            tool(
                "t", "refund", {}, call_id="c1", parent="A", start=3, attributes={semconv.STEP_OUTCOME: "interrupted"}
            ),
        ]
    )
    assert [r.fate for r in run.requested] == ["pending", "pending"]


# --- completeness ---------------------------------------------------------------------------------------------------


def test_fewer_calls_than_the_agent_counted_is_known_to_be_incomplete() -> None:
    run = one([agent("A", calls=3, end=9), tool("t", "t", parent="A")])
    assert (run.completeness, run.incomplete_reasons) == ("known_incomplete", ("1 of 3 calls were seen",))


def test_another_instrumentations_spans_do_not_fill_up_our_own_count() -> None:
    run = one([agent("A", calls=1, end=9), tool("t", "t", parent="A", scope="other")])
    assert run.completeness == "known_incomplete"


def test_a_trace_that_lost_spans_is_known_to_be_incomplete() -> None:
    spans = [agent("A", calls=1, end=9), tool("t", "t", parent="A")]
    (run,) = reconstruct(spans, dropped={trace_id("one")})
    assert (run.completeness, run.incomplete_reasons) == ("known_incomplete", ("spans were dropped",))


def test_a_call_whose_agent_a_sampler_left_out_is_known_to_be_incomplete() -> None:
    run = one([tool("t", "t", parent="A", parent_sampled=False)])
    assert run.completeness == "known_incomplete"
    assert "parts of the trace were not sampled" in run.incomplete_reasons


def test_a_sampler_that_decides_per_span_never_gives_a_run_that_looks_whole() -> None:
    """Agent, tool, nested tool; every subset of them that a sampler may leave."""
    whole = [
        agent("A", calls=2, end=9),
        tool("t", "t", parent="A", start=1, end=5),
        tool("n", "n", parent="t", start=2),
    ]
    for kept in range(1, 8):
        spans = [s for bit, s in enumerate(whole) if kept & (1 << bit)]
        ids = {s.span_id for s in spans}
        spans = [replace(s, parent_sampled=s.parent_span_id in ids if s.parent_span_id else None) for s in spans]
        for trajectory in reconstruct(spans):
            assert (trajectory.completeness == "complete") == (kept == 7)
            assert trajectory.completeness != "presumed_incomplete"
