"""Runs torn into several traces are one again, by ids and by what was asked for; never by a guess between two."""

from __future__ import annotations

from agentpath_sdk import semconv
from agentpath_sdk.trajectories.model import Trajectory
from agentpath_sdk.trajectories.reconstruct import reconstruct
from agentpath_sdk.trajectories.span_record import SpanRecord

from .build import as_json, oi_agent, oi_model, oi_tool, span


def tools_of(runs: tuple[Trajectory, ...]) -> list[tuple[str | None, list[str]]]:
    return [(run.agent, [step.tool for step in run.steps]) for run in runs]


def asking(tool: str, arguments: object, call_id: str = "c1") -> list[SpanRecord]:
    return [oi_agent(), oi_model("m", (tool, arguments, call_id), at=1)]


def loose(tool: str, given: object, **more: object) -> SpanRecord:
    return oi_tool(f"loose {tool}", given, tool=tool, parent=None, trace=f"its own {given}", at=3, **more)  # type: ignore[arg-type]  # as given


def test_a_call_in_another_thread_comes_home_to_the_run_that_asked_for_it() -> None:
    runs = reconstruct([*asking("weather", {"city": "Тверь"}), loose("weather", {"city": "Тверь"})])
    assert tools_of(runs) == [("helper", ["weather"])]
    assert runs[0].steps[0].call_id == "c1"


def test_a_call_comes_home_by_its_id_whatever_its_arguments_are() -> None:
    call = loose("weather", "__REDACTED__", attributes={"tool_call.id": "c1"})
    assert tools_of(reconstruct([*asking("weather", {"city": "Тверь"}), call])) == [("helper", ["weather"])]


def test_a_call_that_nobody_asked_for_stays_alone() -> None:
    runs = reconstruct([*asking("weather", {"city": "Тверь"}), loose("weather", {"city": "Москва"})])
    assert tools_of(runs) == [("helper", []), (None, ["weather"])]
    assert runs[1].completeness == "presumed_incomplete"


def test_of_two_runs_that_asked_for_the_same_neither_gets_the_call() -> None:
    both = [
        record
        for name in ("one", "two")
        for record in (
            oi_agent(name, trace=name),
            oi_model(f"m{name}", ("weather", {"city": "Тверь"}, f"c{name}"), parent=name, trace=name, at=1),
        )
    ]
    runs = reconstruct([*both, loose("weather", {"city": "Тверь"})])
    assert sorted(tools_of(runs), key=str) == [("one", []), ("two", []), (None, ["weather"])]


def test_of_two_such_runs_the_one_of_the_same_conversation_gets_the_call() -> None:
    both = [
        record
        for name in ("one", "two")
        for record in (
            span(name, {"openinference.span.kind": "AGENT", "agent.name": name, "session.id": name},
                 lasts=100, trace=name),
            oi_model(f"m{name}", ("weather", {"city": "Тверь"}, f"c{name}"), parent=name, trace=name, at=1),
        )
    ]  # fmt: skip
    runs = reconstruct([*both, loose("weather", {"city": "Тверь"}, attributes={"session.id": "two"})])
    assert sorted(tools_of(runs), key=str) == [("one", []), ("two", ["weather"])]


def test_where_no_model_is_seen_the_only_run_under_way_gets_the_call() -> None:
    """Agno under OpenLLMetry, streamed: each tool's span is a trace of its own."""
    scope = "opentelemetry.instrumentation.agno"
    call = span("t", {"traceloop.span.kind": "tool", "gen_ai.tool.name": "weather"}, trace="two", at=3, scope=scope)
    assert tools_of(reconstruct([oi_agent(scope=scope), call])) == [("helper", ["weather"])]
    assert tools_of(reconstruct([oi_agent(scope="another"), call])) == [("helper", []), (None, ["weather"])]


def test_calls_of_our_own_recorder_are_never_taken_home_by_time() -> None:
    agent = span("a", {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "a", semconv.RUN_CALLS: 0},
                 lasts=9, scope=semconv.SCOPE_NAME)  # fmt: skip
    tool = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "t"}
    assert tools_of(reconstruct([agent, span("t", tool, trace="two", at=3, scope=semconv.SCOPE_NAME)])) == [("a", [])]


def chat(key: str, given: list[object], said: dict[str, object], at: float) -> SpanRecord:
    attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.input.messages": as_json(given),
        "gen_ai.output.messages": as_json([said]),
    }
    return span(key, attributes, trace=key, at=at)


def text(role: str, content: str) -> dict[str, object]:
    return {"role": role, "parts": [{"type": "text", "content": content}]}


ASKED = {"role": "assistant", "parts": [{"type": "tool_call", "id": "c1", "name": "search", "arguments": {"q": 1}}]}
ANSWERED = {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": "found"}]}


def test_model_calls_alone_tell_the_calls_in_between_and_mark_them_so() -> None:
    user = text("user", "find it")
    (run,) = reconstruct([
        chat("one", [user], ASKED, 0),
        chat("two", [user, ASKED, ANSWERED], text("assistant", "here"), 5),
    ])  # fmt: skip
    (step,) = run.steps
    assert (step.tool, step.arguments, step.result, step.seen_in) == ("search", {"q": 1}, "found", "messages")
    assert (run.query, run.final_answer, run.completeness) == ("find it", "here", "presumed_incomplete")


def test_a_new_question_in_the_same_chat_starts_a_run_of_its_own() -> None:
    user, done = text("user", "find it"), text("assistant", "here")
    more = {"role": "assistant", "parts": [{"type": "tool_call", "id": "c2", "name": "search", "arguments": {"q": 2}}]}
    history = [user, ASKED, ANSWERED, done, text("user", "and another")]
    answered = {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c2", "response": "two"}]}
    runs = reconstruct([
        chat("one", [user], ASKED, 0),
        chat("two", [user, ASKED, ANSWERED], done, 5),
        chat("three", history, more, 10),
        chat("four", [*history, more, answered], done, 15),
    ])  # fmt: skip
    assert [[step.arguments for step in run.steps] for run in runs] == [[{"q": 1}], [{"q": 2}]]
    assert runs[1].query == "and another"


def test_a_request_that_nothing_answers_is_no_step() -> None:
    (run,) = reconstruct([chat("one", [text("user", "find it")], ASKED, 0)])
    assert (run.steps, [request.fate for request in run.requested]) == ((), ["unknown"])
