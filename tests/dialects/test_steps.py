"""One step per call that truly happened: no more for twins and pseudo tools, no less for calls without a span."""

from __future__ import annotations

import pytest

from agentpath_sdk.trajectories.reconstruct import reconstruct

from .build import LANGCHAIN, as_json, event, oi_agent, oi_model, oi_tool, only_run, only_step, span

INVOKE = {"gen_ai.operation.name": "invoke_agent"}
EXECUTE = {"gen_ai.operation.name": "execute_tool"}


def genai_tool(key: str, tool: str, **more: object) -> object:
    attributes = {**EXECUTE, "gen_ai.tool.name": tool, **more.pop("attributes", {})}  # type: ignore[dict-item]  # by hand
    return span(key, attributes, **more)  # type: ignore[arg-type]  # as given


def test_parallel_calls_of_one_tool_with_nested_twins_stay_apart() -> None:
    """AutoGen under OpenInference: arguments on the outer span, call id and error on the inner."""
    spans = [oi_agent()]
    for number, city in enumerate(("Москва", "Тверь")):
        outer = f"outer{number}"
        spans.append(oi_tool(outer, {"city": city}, tool="weather", at=1 + number / 10, lasts=1))
        spans.append(
            span(
                f"inner{number}",
                {**EXECUTE, "gen_ai.tool.name": "weather", "gen_ai.tool.call.id": f"c{number}"},
                parent=outer,
                at=1.2 + number / 10,
                lasts=0.5,
                scope="autogen-core",
                status="error" if number else "unset",
            )
        )
    steps = only_run(*spans).steps
    assert [(s.arguments, s.call_id, s.outcome) for s in steps] == [
        ({"city": "Москва"}, "c0", "ok"),
        ({"city": "Тверь"}, "c1", "error"),
    ]


def test_two_instrumentations_side_by_side_see_one_call() -> None:
    agent = span("a", {**INVOKE, "gen_ai.agent.name": "helper"}, lasts=9, scope="one")
    mine = span("t1", {**EXECUTE, "gen_ai.tool.name": "search", "gen_ai.tool.call.arguments": '{"q": 1}'},
                parent="a", at=1, lasts=2, scope="one")  # fmt: skip
    other = oi_tool("t2", {"q": 1}, tool="search", parent="a", at=1.5, scope="two")
    assert len(only_run(agent, mine, other).steps) == 1


@pytest.mark.parametrize(
    ("scope", "tool"),
    [
        ("openinference.instrumentation.dspy", "finish"),
        ("openinference.instrumentation.smolagents", "final_answer"),
    ],
)
def test_a_frameworks_way_to_say_done_is_no_step_and_a_tool_of_that_name_elsewhere_is(scope: str, tool: str) -> None:
    calls = (oi_tool("search", {"q": 1}, at=1), oi_tool(tool, {}, at=3, scope=scope))
    assert [s.tool for s in only_run(oi_agent(scope=scope), *calls).steps] == ["search"]
    calls = (oi_tool("search", {"q": 1}, at=1), oi_tool(tool, {}, at=3, scope="app"))
    assert [s.tool for s in only_run(oi_agent(scope="app"), *calls).steps] == ["search", tool]


def test_merged_and_middleware_spans_are_no_steps() -> None:
    agent = span("a", {**INVOKE, "gen_ai.agent.name": "helper"}, lasts=9, scope="gcp.vertex.agent")
    call = span("t", {**EXECUTE, "gen_ai.tool.name": "search"}, parent="a", at=1, scope="gcp.vertex.agent")
    merged = span("m", {**EXECUTE, "gen_ai.tool.name": "(merged tools)"}, parent="a", at=3, scope="gcp.vertex.agent")
    wrapped = span("retry.wrap_tool_call", {"langsmith.span.kind": "chain"}, parent="a", at=4)
    assert [s.tool for s in only_run(agent, call, merged, wrapped).steps] == ["search"]


def test_a_handoff_under_any_name_is_a_step_of_its_own_kind() -> None:
    """The OpenAI Agents SDK names no tool for it; the one request that nothing answers does."""
    scope = "openinference.instrumentation.openai_agents"
    agent = oi_agent("triage", scope=scope)
    asked = oi_model("m", ("escalate", {}, "c9"), parent="triage", at=1, scope=scope)
    over = {"openinference.span.kind": "TOOL", "input.value": "triage", "output.value": "billing"}
    step = only_step(agent, asked, span("handoff to billing", over, parent="triage", at=3, scope=scope))
    assert (step.tool, step.kind, step.call_id, step.outcome) == ("escalate", "handoff", "c9", "ok")


def test_a_transfer_to_an_agent_of_the_trace_is_a_handoff_and_to_a_bank_account_a_tool() -> None:
    first, second = oi_agent("triage", trace="x"), oi_agent("billing", trace="x", at=50)
    calls = (
        oi_tool("transfer_to_billing", {}, parent="triage", trace="x", at=1),
        oi_tool("transfer_to_account", {"sum": 1}, parent="triage", trace="x", at=3),
    )
    run = next(t for t in reconstruct([first, second, *calls]) if t.agent == "triage")
    assert [s.kind for s in run.steps] == ["handoff", "tool"]


def test_langgraphs_command_to_the_graph_above_is_no_error() -> None:
    """Only the text of the exception is left of it in some instrumentations."""
    text = "Command(graph='__parent__', update={'messages': []}, goto='billing')"
    tool = {"mlflow.spanType": '"TOOL"', "mlflow.spanInputs": "{}"}
    left = event("exception", **{"exception.message": text})
    over = span("move", tool, parent="helper", at=1, status="error", status_message=text, events=(left,))
    step = only_step(oi_agent(), over)
    assert (step.kind, step.outcome, step.error) == ("handoff", "ok", None)


def test_a_users_own_exception_of_that_name_is_an_error() -> None:
    left = event("exception", **{"exception.type": "app.ParentCommand", "exception.message": "no"})
    step = only_step(oi_agent(), oi_tool("move", {}, at=1, status="error", events=(left,)))
    assert step.outcome == "error"
    assert step.error is not None
    assert (step.error.type, step.error.message) == ("app.ParentCommand", "no")


@pytest.mark.parametrize(
    "output",
    [
        {"type": "tool", "data": {"content": "404 not found", "tool_call_id": "c", "status": "error"}},
        {"output": {"lc": 1, "kwargs": {"content": "404 not found", "tool_call_id": "c", "status": "error"}}},
        {"content": "404 not found", "tool_call_id": "c", "status": "error", "type": "tool"},
        {"blocks": [{"text": "404 not found"}], "tool_name": "t", "is_error": True},
        {"tool_name": "t", "tool_id": "c", "tool_output": {"blocks": [{"text": "404 not found"}], "is_error": True}},
        "status='failure' result=None error='404 not found' images=None",
        {"content": [{"type": "text", "text": "404 not found"}], "isError": True},
    ],
)
def test_an_error_that_was_returned_is_an_error_with_its_text(output: object) -> None:
    given = output if isinstance(output, str) else as_json(output)
    step = only_step(oi_agent(), oi_tool("t", {}, attributes={"output.value": given}))
    assert step.outcome == "error"
    assert step.error is not None
    assert step.error.message == "404 not found"


@pytest.mark.parametrize("output", ['{"error": null, "rows": 3}', "No error was found", '{"status": "error free"}'])
def test_a_result_that_only_talks_of_errors_is_none(output: str) -> None:
    assert only_step(oi_agent(), oi_tool("t", {}, attributes={"output.value": output})).outcome == "ok"


def test_an_invoker_of_several_calls_is_one_step_each_and_a_sub_agent_inside_belongs_to_its_call() -> None:
    def result(tool: str, call_id: str, said: str) -> dict[str, object]:
        origin = {"tool_name": tool, "arguments": {"q": call_id}, "id": call_id}
        return {"role": "tool", "content": [{"tool_call_result": {"result": said, "origin": origin, "error": False}}]}

    component = {"haystack.component.type": "ToolInvoker", "haystack.component.name": "tool_invoker"}
    output = as_json({"tool_messages": [result("search", "c1", "found"), result("ask", "c2", "the answer")]})
    inner_output = as_json({"messages": [{"role": "assistant", "content": [{"text": "the answer"}]}]})
    spans = (
        span("haystack.agent.run", {"haystack.agent.max_steps": 9}, lasts=9),
        span("i", {**component, "haystack.component.output": output}, name="haystack.component.run",
             parent="haystack.agent.run", at=1, lasts=5),
        span("inner", {"haystack.agent.output": inner_output}, name="haystack.agent.run", parent="i", at=2),
        span("t", {"haystack.tool.name": "look"}, name="haystack.agent.step.tool", parent="inner", at=2.1, lasts=0.1),
    )  # fmt: skip
    outer, inner = reconstruct(spans)
    assert [(s.tool, s.kind, s.arguments, s.seen_in) for s in outer.steps] == [
        ("search", "tool", {"q": "c1"}, "messages"),
        ("ask", "agent", {"q": "c2"}, "messages"),
    ]
    assert [s.tool for s in inner.steps] == ["look"]


def test_a_traced_function_is_a_step_only_where_a_model_asked_for_it() -> None:
    def function(key: str, **more: object) -> object:
        attributes = {"logfire.msg_template": key, "logfire.span_type": "span", "logfire.json_schema": "{}"}
        return span(key, attributes, scope="logfire", **more)  # type: ignore[arg-type]  # as given

    run = only_run(
        function("helper", lasts=9),
        oi_model("m", ("search", {}, "c1"), at=1),
        function("search", parent="helper", at=3),
        function("connect_to_database", parent="helper", at=5),
    )
    assert (run.agent, [s.tool for s in run.steps]) == ("helper", ["search"])


def test_which_agent_ran_a_tool_is_told_by_the_call_before_what_is_around_it() -> None:
    """LangChain's metadata names the agent even where its span is missing; a constant names nobody."""
    named = oi_tool("a", {}, attributes={"metadata": as_json({"lc_agent_name": "billing"})}, scope=LANGCHAIN, at=1)
    constant = span("b", {**EXECUTE, "gen_ai.tool.name": "b", "gen_ai.agent.name": "OpenAI Agent"},
                    parent="helper", at=3)  # fmt: skip
    assert [s.agent for s in only_run(oi_agent(scope=LANGCHAIN), named, constant).steps] == ["billing", "helper"]


def test_a_coworker_without_a_span_has_its_own_trajectory_all_the_same() -> None:
    scope = "openinference.instrumentation.crewai"
    given = {"task": "refund A-17", "context": "", "coworker": "billing"}
    agent = span("s", {"openinference.span.kind": "AGENT", "graph.node.id": "boss"}, lasts=99, scope=scope)
    delegate = oi_tool("d", given, tool="Delegate work to coworker", parent="s", at=1, lasts=9, scope=scope)
    outer, inner = reconstruct([agent, delegate, oi_tool("refund", {"id": 1}, parent="d", at=3, scope=scope)])
    assert [(s.tool, s.kind) for s in outer.steps] == [("delegate_work_to_coworker", "agent")]
    assert (inner.agent, inner.query, [s.tool for s in inner.steps]) == ("billing", "refund A-17", ["refund"])
