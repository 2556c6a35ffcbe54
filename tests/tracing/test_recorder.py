"""The recorder: calls by key, whatever thread, order or door they come from."""

from __future__ import annotations

import json
import os
import threading
from typing import Any

import pytest
from opentelemetry import context as context_api
from opentelemetry import trace as trace_api

from agentpath_sdk import semconv
from agentpath_sdk._guard import HEALTH


def outcome(span: Any) -> Any:
    return span.attributes[semconv.STEP_OUTCOME]


def test_a_tool_call_has_everything_a_reader_needs(make_recorder: Any) -> None:
    recorder, spans = make_recorder()
    recorder.start("a", door="d", kind="agent", name="bot", query="why?", conversation_id="t1", gold_path="g")
    recorder.start("t", door="d", kind="tool", name="search", parent="a", arguments={"q": "x"}, call_id="c1")
    recorder.end("t", door="d", result={"rows": 1})
    recorder.end("a", door="d", answer="because")
    tool, agent = spans.one("execute_tool search"), spans.one("invoke_agent bot")
    assert dict(tool.attributes) == {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "search",
        "gen_ai.tool.call.id": "c1",
        "gen_ai.agent.name": "bot",
        "gen_ai.conversation.id": "t1",
        "gen_ai.tool.call.arguments": '{"q":"x"}',
        "gen_ai.tool.call.result": '{"rows":1}',
        "agentpath.step.outcome": "ok",
    }
    assert dict(agent.attributes) == {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "bot",
        "gen_ai.conversation.id": "t1",
        "agentpath.request.gold_path": "g",
        "gen_ai.input.messages": '[{"role":"user","parts":[{"type":"text","content":"why?"}]}]',
        "gen_ai.output.messages": '[{"role":"assistant","parts":[{"type":"text","content":"because"}]}]',
        "agentpath.step.outcome": "ok",
        "agentpath.run.calls": 1,
        "agentpath.run.stop_reason": "finished",
    }
    assert tool.parent.span_id == agent.context.span_id
    assert tool.instrumentation_scope.name == semconv.SCOPE_NAME


def test_starts_and_ends_may_come_from_different_threads_with_empty_contexts(make_recorder: Any) -> None:
    recorder, spans = make_recorder()
    recorder.start("r", door="h", kind="agent", name="bot")

    def elsewhere(work: Any) -> None:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()

    for key in ("t1", "t2"):
        elsewhere(lambda key=key: recorder.start(key, door="h", kind="tool", name=key, parent="r"))
    for key in ("t2", "t1"):
        elsewhere(lambda key=key: recorder.end(key, door="h"))
    recorder.end("r", door="h")
    root = spans.one("bot")
    assert [spans.parent(s) for s in spans.of("execute_tool")] == [root, root]
    assert len({s.context.trace_id for s in spans.all()}) == 1


def test_interleaved_runs_with_one_door_stay_apart(make_recorder: Any) -> None:
    recorder, spans = make_recorder()
    for run in ("R1", "R2"):
        recorder.start(run, door="h", kind="agent", name=run)
    for tool in "abc":
        for run in ("R1", "R2"):
            recorder.start((run, tool), door="h", kind="tool", name=tool, parent=run)
    for tool in "bca":
        for run in ("R2", "R1"):
            recorder.end((run, tool), door="h")
    for run in ("R1", "R2"):
        recorder.end(run, door="h")
    for run in ("R1", "R2"):
        inside = [s for s in spans.of("execute_tool") if spans.parent(s) is spans.one(run)]
        assert [s.name for s in inside] == ["execute_tool a", "execute_tool b", "execute_tool c"]


def test_nothing_is_ever_attached(make_recorder: Any) -> None:
    recorder, _ = make_recorder()
    before = context_api.get_current()
    recorder.start("a", door="h", kind="agent", name="bot")
    assert context_api.get_current() is before
    recorder.end("a", door="h")
    assert context_api.get_current() is before


def test_an_unknown_end_is_ignored_and_an_unknown_parent_gives_a_root(make_recorder: Any) -> None:
    recorder, spans = make_recorder()
    recorder.end("never started", door="h")
    recorder.start("t", door="h", kind="tool", name="t", parent="never seen")
    recorder.end("t", door="h")
    assert spans.one("t").parent is None


def test_an_end_of_a_door_that_never_started_the_call_is_ignored(make_recorder: Any) -> None:
    recorder, spans = make_recorder()
    recorder.start("t", door="h", kind="tool", name="t")
    recorder.end("t", door="other")
    assert spans.all() == []
    recorder.end("t", door="h")
    assert len(spans.all()) == 1


def test_a_repeated_start_ends_the_first_as_abandoned(make_recorder: Any) -> None:
    recorder, spans = make_recorder()
    recorder.start("k", door="h", kind="tool", name="first")
    recorder.start("k", door="h", kind="tool", name="second")
    recorder.end("k", door="h")
    assert outcome(spans.one("first")) == "abandoned"
    assert outcome(spans.one("second")) == "ok"


def test_two_doors_with_one_key_make_one_span_ended_by_the_first(make_recorder: Any) -> None:
    recorder, spans = make_recorder()
    for door in ("h1", "h2"):
        recorder.start("k", door=door, kind="tool", name="t", arguments={"a": 1})
    recorder.end("k", door="h2", result="late one first")
    assert spans.all() == []
    recorder.end("k", door="h1", result="x")
    recorder.end("k", door="h2", result="x")
    assert len(spans.all()) == 1
    assert recorder.open_count() == 0


@pytest.mark.parametrize("explicit_parent", [True, False])
def test_a_tool_reported_by_two_doors_with_different_keys_is_one_step(
    make_recorder: Any, explicit_parent: bool
) -> None:
    """Both orders: the decorator inside the framework's tool, and around it."""
    recorder, spans = make_recorder()
    recorder.start("a", door="h", kind="agent", name="bot")
    outer = recorder.start("outer", door="h", kind="tool", name="t", parent="a", arguments="raw text")
    token = context_api.attach(outer.context)
    parent = "outer" if explicit_parent else None
    joined = recorder.start("inner", door="decorator", kind="tool", name="t", parent=parent, arguments={"q": 1})
    assert joined is outer
    recorder.end("inner", door="decorator", result={"rows": 1})
    context_api.detach(token)
    recorder.end("outer", door="h", result="{'rows': 1}")
    recorder.end("a", door="h")
    assert spans.arguments("t") == {"q": 1}, "the door that knows the structure wins over raw text"
    assert spans.result("t") == {"rows": 1}, "the door nearest to the call wins"
    assert semconv.CONTENT_RAW not in spans.one("t").attributes
    assert spans.one("bot").attributes[semconv.RUN_CALLS] == 1


def test_a_stand_in_between_the_frameworks_parent_and_its_report_is_the_same_call(make_recorder: Any) -> None:
    recorder, spans = make_recorder()
    node = recorder.start("node", door="h", kind="phase", name="tools")
    around = recorder.start("d", door="decorator", kind="tool", name="t", ambient=node.context)
    token = context_api.attach(around.context)
    assert recorder.start("run", door="h", kind="tool", name="t", parent="node", call_id="c9") is around
    context_api.detach(token)
    recorder.end("run", door="h")
    recorder.end("d", door="decorator")
    recorder.end("node", door="h")
    assert spans.one("t").attributes[semconv.TOOL_CALL_ID] == "c9"


def test_recursion_through_one_door_and_retries_inside_a_tool_are_calls_of_their_own(make_recorder: Any) -> None:
    recorder, spans = make_recorder()
    recorder.start("1", door="h", kind="tool", name="t")
    recorder.start("2", door="h", kind="tool", name="t", parent="1")
    recorder.end("2", door="h")
    for key in ("3", "4"):
        recorder.start(key, door="decorator", kind="tool", name="t", parent="1")
        recorder.end(key, door="decorator")
    recorder.end("1", door="h")
    assert len(spans.all()) == 4

    recorder.start("5", door="h", kind="tool", name="u")
    for key in ("6", "7"):
        recorder.start(key, door="decorator", kind="tool", name="u", parent="5")
        recorder.end(key, door="decorator")
    recorder.end("5", door="h")
    assert len(spans.all()) == 6, "the first inner call is the same call, the second a real second one"


def test_what_one_door_knows_as_an_error_no_other_sets_back_to_ok(make_recorder: Any) -> None:
    recorder, spans = make_recorder()
    recorder.start("o", door="h", kind="tool", name="t")
    recorder.start("i", door="decorator", kind="tool", name="t", parent="o")
    recorder.end("i", door="decorator", error=ValueError("bad id"))
    recorder.end("o", door="h", result="Error: bad id")
    span = spans.one("t")
    assert outcome(span) == "error"
    assert span.attributes[semconv.ERROR_TYPE] == "ValueError"
    assert span.status.description == "bad id"


def test_the_first_door_may_say_that_an_error_was_a_pause(make_recorder: Any) -> None:
    recorder, spans = make_recorder()
    recorder.start("o", door="h", kind="tool", name="t")
    recorder.start("i", door="decorator", kind="tool", name="t", parent="o")
    recorder.end("i", door="decorator", error=RuntimeError("pause"))
    recorder.end("o", door="h", outcome="interrupted")
    assert outcome(spans.one("t")) == "interrupted"
    assert spans.one("t").status.status_code is trace_api.StatusCode.UNSET


def test_spans_of_other_instrumentations_between_do_not_hide_the_enclosing_call(make_recorder: Any) -> None:
    recorder, spans = make_recorder()
    agent = recorder.start("a", door="h", kind="agent", name="bot", conversation_id="t1")
    token = context_api.attach(agent.context)
    with spans.provider.get_tracer("other").start_as_current_span("http"):
        recorder.start("t", door="d", kind="tool", name="t")
        recorder.end("t", door="d")
    with spans.provider.get_tracer("other").start_as_current_span("new trace", context=context_api.Context()):
        recorder.start("u", door="d", kind="tool", name="u")
        recorder.end("u", door="d")
    context_api.detach(token)
    recorder.end("a", door="h")
    assert spans.parent(spans.one("t")).name == "http"
    assert spans.one("t").attributes[semconv.AGENT_NAME] == "bot"
    assert semconv.AGENT_NAME not in spans.one("u").attributes, "another trace is another run"
    assert spans.one("bot").attributes[semconv.RUN_CALLS] == 1


def test_inherit_false_makes_a_root(make_recorder: Any) -> None:
    recorder, spans = make_recorder()
    agent = recorder.start("a", door="h", kind="agent", name="bot")
    token = context_api.attach(agent.context)
    recorder.start("t", door="h", kind="tool", name="t", inherit=False)
    recorder.end("t", door="h")
    context_api.detach(token)
    recorder.end("a", door="h")
    assert spans.one("t").parent is None


def test_calls_of_nested_agents_are_counted_where_they_belong(make_recorder: Any) -> None:
    recorder, spans = make_recorder()
    recorder.start("a", door="h", kind="agent", name="outer")
    recorder.start("t", door="h", kind="tool", name="ask", parent="a")
    recorder.start("b", door="h", kind="agent", name="inner", parent="t")
    for key in ("1", "2"):
        recorder.start(key, door="h", kind="tool", name=key, parent="b")
        recorder.end(key, door="h")
    for key in ("b", "t", "a"):
        recorder.end(key, door="h")
    assert spans.one("outer").attributes[semconv.RUN_CALLS] == 1
    assert spans.one("inner").attributes[semconv.RUN_CALLS] == 2
    assert spans.one("1").attributes[semconv.AGENT_NAME] == "inner"


def test_a_retrieval_reads_as_a_step_too(make_recorder: Any) -> None:
    recorder, spans = make_recorder()
    recorder.start("r", door="h", kind="retrieval", name="docs", query="mars", arguments={"query": "mars"})
    recorder.end("r", door="h", result=["d1"])
    span = spans.one("retrieval docs")
    assert span.attributes[semconv.TOOL_NAME] == "docs"
    assert span.attributes[semconv.RETRIEVAL_QUERY] == "mars"
    assert spans.result("docs") == ["d1"]


def test_model_messages_of_any_common_form_become_genai_messages(make_recorder: Any) -> None:
    recorder, spans = make_recorder()
    call = {"id": "c1", "function": {"name": "search", "arguments": '{"q": 1}'}}
    recorder.start("m", door="h", kind="model", name="gpt", input=[{"role": "user", "content": "hi"}])
    recorder.end("m", door="h", output={"role": "ai", "content": None, "tool_calls": [call]})
    span = spans.one("chat gpt")
    assert json.loads(span.attributes[semconv.INPUT_MESSAGES]) == [
        {"role": "user", "parts": [{"type": "text", "content": "hi"}]}
    ]
    assert json.loads(span.attributes[semconv.OUTPUT_MESSAGES]) == [
        {
            "role": "assistant",
            "parts": [{"type": "tool_call", "id": "c1", "name": "search", "arguments": '{"q": 1}'}],
        }
    ]


@pytest.mark.parametrize(
    ("outcome_given", "expected"),
    [("ok", "finished"), ("error", "error"), ("cancelled", "cancelled"), ("interrupted", "pending")],
)
def test_the_stop_reason_follows_the_outcome(make_recorder: Any, outcome_given: Any, expected: str) -> None:
    recorder, spans = make_recorder()
    recorder.start("a", door="h", kind="agent", name="bot")
    recorder.end("a", door="h", outcome=outcome_given)
    assert spans.one("bot").attributes[semconv.RUN_STOP_REASON] == expected


def test_a_stop_reason_said_is_kept_and_a_swallowed_pause_makes_the_run_pending(make_recorder: Any) -> None:
    recorder, spans = make_recorder()
    recorder.start("a", door="h", kind="agent", name="limited")
    recorder.end("a", door="h", stop_reason="limit")
    recorder.start("b", door="h", kind="agent", name="paused")
    recorder.start("t", door="h", kind="tool", name="refund", parent="b")
    recorder.end("t", door="h", outcome="interrupted")
    recorder.end("b", door="h")
    assert spans.one("limited").attributes[semconv.RUN_STOP_REASON] == "limit"
    assert spans.one("paused").attributes[semconv.RUN_STOP_REASON] == "pending"


def test_silent_runs_are_ended_as_abandoned_while_active_ones_stay(make_recorder: Any, clock: Any) -> None:
    recorder, spans = make_recorder(idle_seconds=60.0)
    for run in ("silent", "active"):
        recorder.start(run, door="h", kind="agent", name=run)
        recorder.start(run + ".t", door="h", kind="tool", name=run + ".t", parent=run)
    clock.now += 50
    recorder.start("more", door="h", kind="tool", name="more", parent="active")
    clock.now += 20
    recorder.start("trigger", door="h", kind="tool", name="trigger")
    assert {s.name.split(" ")[1]: outcome(s) for s in spans.all()} == {"silent": "abandoned", "silent.t": "abandoned"}
    assert semconv.RUN_STOP_REASON not in spans.one("silent").attributes
    assert recorder.get("active") is not None


def test_open_calls_are_capped_and_the_longest_silent_go_first(make_recorder: Any, clock: Any) -> None:
    recorder, spans = make_recorder(max_open_runs=10)
    for number in range(25):
        clock.now += 1
        recorder.start(number, door="h", kind="agent", name=f"a{number}")
    assert recorder.open_count() == 10
    assert sorted(spans.names()) == sorted(f"invoke_agent a{n}" for n in range(15))


def test_no_state_is_left_of_ended_runs(make_recorder: Any) -> None:
    recorder, _ = make_recorder()
    for number in range(500):
        recorder.start(("a", number), door="h", kind="agent", name="bot")
        recorder.start(("t", number), door="h", kind="tool", name="t", parent=("a", number))
        recorder.start(("u", number), door="d", kind="tool", name="t", parent=("t", number))
        recorder.end(("u", number), door="d")
        recorder.end(("t", number), door="h")
        recorder.end(("a", number), door="h", error=ValueError("x") if number % 3 else None)
    assert recorder.open_count() == 0
    assert all(recorder.get((kind, n)) is None for kind in "atu" for n in range(500))


def test_shutdown_ends_what_is_open_inner_calls_first(make_recorder: Any) -> None:
    recorder, spans = make_recorder()
    recorder.start("a", door="h", kind="agent", name="bot")
    recorder.start("t", door="h", kind="tool", name="t", parent="a")
    recorder.shutdown()
    assert [(s.name, outcome(s)) for s in spans.exporter.get_finished_spans()] == [
        ("execute_tool t", "abandoned"),
        ("invoke_agent bot", "abandoned"),
    ]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_leaves_the_parents_calls_to_the_parent(spans: Any) -> None:
    from agentpath_sdk.tracing.recorder import get_recorder

    recorder = get_recorder()
    recorder.start("a", door="h", kind="agent", name="bot")
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        recorder.end("a", door="h")
        recorder.start("b", door="h", kind="tool", name="own")
        recorder.end("b", door="h")
        os.write(write, ",".join(spans.names()).encode())
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(read, 1_000) == b"execute_tool own"
    recorder.end("a", door="h")
    assert spans.names() == ["invoke_agent bot"]


def test_many_threads_at_once_lose_and_mix_nothing(make_recorder: Any) -> None:
    recorder, spans = make_recorder()
    recorder.start("a", door="h", kind="agent", name="bot")

    def work(thread: int) -> None:
        for number in range(100):
            recorder.start((thread, number), door="h", kind="tool", name="t", parent="a")
            recorder.end((thread, number), door="h")

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    recorder.end("a", door="h")
    assert spans.one("bot").attributes[semconv.RUN_CALLS] == 800
    assert len(spans.of("execute_tool")) == 800


def test_attributes_of_any_kind_are_made_safe(make_recorder: Any) -> None:
    recorder, spans = make_recorder()
    given = {"n": 1, "s": "key sk-test-111", "l": ["a", "sk-test-222"], "o": {"password": "hunter2"}}
    recorder.start("t", door="h", kind="tool", name="t", attributes=given)
    recorder.end("t", door="h", attributes={"late": "x"})
    attributes = spans.one("t").attributes
    assert (attributes["n"], attributes["late"], attributes["l"][0]) == (1, "x", "a")
    assert not any(secret in spans.text() for secret in ("sk-test", "hunter2"))


def test_suppressed_instrumentation_records_nothing(make_recorder: Any) -> None:
    recorder, spans = make_recorder()
    key = context_api._SUPPRESS_INSTRUMENTATION_KEY
    token = context_api.attach(context_api.set_value(key, True))
    recorder.start("a", door="h", kind="agent", name="bot")
    recorder.end("a", door="h")
    context_api.detach(token)
    assert spans.all() == []


def test_a_provider_set_later_is_used(make_spans: Any) -> None:
    from agentpath_sdk.tracing.recorder import Recorder

    recorder = Recorder()
    recorder.start("before", door="h", kind="tool", name="before")
    recorder.end("before", door="h")
    spans = make_spans()
    recorder.use_provider(spans.provider)
    recorder.start("after", door="h", kind="tool", name="after")
    recorder.end("after", door="h")
    assert spans.names() == ["execute_tool after"]
    assert HEALTH.counts() == {}
