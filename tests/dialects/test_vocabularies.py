"""Each vocabulary says the same run in its own words; several may be spoken at once; others can be registered."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from importlib.metadata import EntryPoint
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentpath_sdk._guard import HEALTH
from agentpath_sdk.trajectories import dialects
from agentpath_sdk.trajectories.dialects import BUILT_IN, marks, spoken
from agentpath_sdk.trajectories.dialects.dialect import Dialect, Fact, read
from agentpath_sdk.trajectories.files import read_trajectories
from agentpath_sdk.trajectories.model import Trajectory
from agentpath_sdk.trajectories.span_record import SpanEvent, SpanRecord
from agentpath_sdk.trajectories.trajectory_json import trajectory_to_json

from .build import as_json, event, only_run, span

Q, A, CALL, ARGS, RESULT, THREAD = "find it", "here it is", "c1", {"q": "мир", "n": [1, None]}, "found", "t-1"
OPENAI_ASKED = [{"id": CALL, "type": "function", "function": {"name": "search", "arguments": as_json(ARGS)}}]
OPENAI_GIVEN = [{"role": "system", "content": "be kind"}, {"role": "user", "content": Q}]


def flat(prefix: str, messages: list[dict[str, Any]]) -> dict[str, Any]:
    """Return messages spread over attributes, as older conventions do."""
    found: dict[str, Any] = {}
    for number, message in enumerate(messages):
        for key, value in message.items():
            if key == "tool_calls":
                for index, call in enumerate(value):
                    found |= {f"{prefix}.{number}.tool_calls.{index}.{k}": v for k, v in call.items()}
            else:
                found[f"{prefix}.{number}.{key}"] = value
    return found


def genai_parts(role: str, *parts: dict[str, Any]) -> dict[str, Any]:
    return {"role": role, "parts": list(parts)}


GENAI = (
    {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "helper", "gen_ai.conversation.id": THREAD},
    {
        "gen_ai.operation.name": "chat",
        "gen_ai.input.messages": [genai_parts("user", {"type": "text", "content": Q})],
        "gen_ai.output.messages": [
            genai_parts("assistant", {"type": "tool_call", "id": CALL, "name": "search", "arguments": ARGS})
        ],
    },
    {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "search",
        "gen_ai.tool.call.id": CALL,
        "gen_ai.tool.call.arguments": ARGS,
        "gen_ai.tool.call.result": RESULT,
    },
    {
        "gen_ai.operation.name": "chat",
        "gen_ai.input.messages": [genai_parts("user", {"type": "text", "content": Q})],
        "gen_ai.output.messages": [genai_parts("assistant", {"type": "text", "content": A})],
    },
)
# vocabulary -> attributes of the agent, of the model that asks, of the tool, of the model that answers
SAID: dict[str, tuple[dict[str, Any], ...]] = {
    "GenAI with structured values": GENAI,
    "GenAI with JSON text": tuple(
        {k: v if isinstance(v, str) else as_json(v) for k, v in attributes.items()} for attributes in GENAI
    ),
    "Traceloop with flat messages": (
        {"traceloop.span.kind": "agent", "traceloop.entity.name": "helper",
         "traceloop.association.properties.session_id": THREAD},
        {"llm.request.type": "chat", **flat("gen_ai.prompt", OPENAI_GIVEN), "gen_ai.system": "OpenAI",
         **flat("gen_ai.completion", [{"role": "assistant", "tool_calls": [
             {"id": CALL, "name": "search", "arguments": as_json(ARGS)}]}])},
        {"traceloop.span.kind": "tool", "traceloop.entity.name": "search",
         "traceloop.entity.input": as_json({"args": [], "kwargs": ARGS}), "traceloop.entity.output": as_json(RESULT)},
        {"llm.request.type": "chat", **flat("gen_ai.prompt", OPENAI_GIVEN),
         **flat("gen_ai.completion", [{"role": "assistant", "content": A}])},
    ),
    "Langfuse": (
        {"langfuse.observation.type": "agent", "session.id": THREAD},
        {"langfuse.observation.type": "generation", "langfuse.observation.input": as_json(OPENAI_GIVEN),
         "langfuse.observation.output": as_json({"role": "assistant", "tool_calls": OPENAI_ASKED})},
        {"langfuse.observation.type": "tool", "langfuse.observation.input": as_json(ARGS),
         "langfuse.observation.metadata.tool_call_id": as_json(CALL), "langfuse.observation.output": RESULT},
        {"langfuse.observation.type": "generation", "langfuse.observation.input": as_json(OPENAI_GIVEN),
         "langfuse.observation.output": as_json({"role": "assistant", "content": A})},
    ),
    "LangSmith": (
        {"langsmith.span.kind": "chain", "gen_ai.operation.name": "chain", "langsmith.metadata.thread_id": THREAD,
         "langsmith.metadata.lc_agent_name": "helper", "langsmith.metadata.ls_integration": "langchain_create_agent"},
        {"langsmith.span.kind": "llm", "gen_ai.operation.name": "chat",
         "gen_ai.prompt": as_json({"messages": OPENAI_GIVEN}),
         "gen_ai.completion": as_json({"choices": [{"message": {"role": "assistant", "tool_calls": OPENAI_ASKED}}]})},
        {"langsmith.span.kind": "tool", "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "search",
         "gen_ai.tool.call.id": CALL, "gen_ai.prompt": as_json(ARGS), "gen_ai.completion": as_json({"output": RESULT})},
        {"langsmith.span.kind": "llm", "gen_ai.operation.name": "chat",
         "gen_ai.prompt": as_json({"messages": OPENAI_GIVEN}),
         "gen_ai.completion": as_json({"choices": [{"message": {"role": "assistant", "content": A}}]})},
    ),
    "MLflow, each value encoded twice": (
        {"mlflow.spanType": '"AGENT"', "metadata": as_json({"thread_id": THREAD})},
        {"mlflow.spanType": '"CHAT_MODEL"', "mlflow.spanInputs": as_json(as_json({"messages": OPENAI_GIVEN})),
         "mlflow.spanOutputs": as_json({"choices": [{"message": {"role": "assistant", "tool_calls": OPENAI_ASKED}}]})},
        {"mlflow.spanType": '"TOOL"', "mlflow.spanInputs": as_json(as_json(ARGS)), "tool_call_id": as_json(CALL),
         "mlflow.spanOutputs": as_json(RESULT), "name": '"search"'},
        {"mlflow.spanType": '"CHAT_MODEL"', "mlflow.spanInputs": as_json({"messages": OPENAI_GIVEN}),
         "mlflow.spanOutputs": as_json({"choices": [{"message": {"role": "assistant", "content": A}}]})},
    ),
    "Vercel AI SDK": (
        {"ai.operationId": "ai.generateText", "ai.telemetry.functionId": "helper",
         "ai.telemetry.metadata.sessionId": THREAD, "ai.prompt": as_json({"prompt": Q}), "ai.response.text": A},
        {"ai.operationId": "ai.generateText.doGenerate", "ai.prompt.messages": as_json(
            [{"role": "user", "content": [{"type": "text", "text": Q}]}]),
         "ai.response.toolCalls": as_json([{"toolCallId": CALL, "toolName": "search", "args": as_json(ARGS)}])},
        {"ai.operationId": "ai.toolCall", "ai.toolCall.name": "search", "ai.toolCall.id": CALL,
         "ai.toolCall.args": as_json(ARGS), "ai.toolCall.result": as_json(RESULT)},
        {"ai.operationId": "ai.generateText.doGenerate", "ai.response.text": A, "ai.prompt.messages": as_json(
            [{"role": "tool", "content": [{"type": "tool-result", "toolCallId": CALL, "result": RESULT}]}])},
    ),
    "OpenInference": (
        {"openinference.span.kind": "AGENT", "session.id": THREAD, "input.value": Q, "output.value": A},
        {"openinference.span.kind": "LLM", "llm.input_messages.0.message.role": "user",
         "llm.input_messages.0.message.content": Q,
         "llm.output_messages.0.message.role": "assistant",
         "llm.output_messages.0.message.tool_calls.0.tool_call.id": CALL,
         "llm.output_messages.0.message.tool_calls.0.tool_call.function.name": "search",
         "llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments": as_json(ARGS)},
        {"openinference.span.kind": "TOOL", "tool.name": "search", "input.value": as_json(ARGS),
         "tool_call.id": CALL, "output.value": RESULT},
        {"openinference.span.kind": "LLM", "llm.output_messages.0.message.role": "assistant",
         "llm.output_messages.0.message.content": A},
    ),
    "Google ADK, older": (
        {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "helper",
         "gcp.vertex.agent.session_id": THREAD},
        {"gcp.vertex.agent.event_id": "e1", "gcp.vertex.agent.llm_request": as_json(
            {"model": "m", "contents": [{"role": "user", "parts": [{"text": Q}]}]}),
         "gcp.vertex.agent.llm_response": as_json({"content": {"role": "model", "parts": [
             {"function_call": {"id": CALL, "name": "search", "args": ARGS}}]}})},
        {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "search", "gen_ai.tool.call.id": CALL,
         "gcp.vertex.agent.tool_call_args": as_json(ARGS),
         "gcp.vertex.agent.tool_response": as_json({"result": RESULT})},
        {"gcp.vertex.agent.event_id": "e2", "gcp.vertex.agent.llm_request": as_json({"contents": []}),
         "gcp.vertex.agent.llm_response": as_json({"content": {"role": "model", "parts": [{"text": A}]}})},
    ),
}  # fmt: skip


def run_of(agent: dict[str, Any], asks: dict[str, Any], tool: dict[str, Any], answers: dict[str, Any]) -> Trajectory:
    older = "gcp.vertex.agent.event_id" in asks
    return only_run(
        span("helper", agent, lasts=9, name="invoke_agent helper" if "gen_ai.agent.name" in agent else "helper"),
        span("m1", asks, parent="helper", at=1, name="call_llm" if older else "chat"),
        span("t", tool, parent="helper", at=3, name="search"),
        span("m2", answers, parent="helper", at=5, name="call_llm" if older else "chat"),
    )


@pytest.mark.parametrize("vocabulary", SAID)
def test_every_vocabulary_tells_the_same_run(vocabulary: str) -> None:
    run = run_of(*SAID[vocabulary])
    (step,) = run.steps
    assert (run.agent, run.query, run.final_answer, run.conversation_id) == ("helper", Q, A, THREAD)
    assert (step.tool, step.arguments, step.result, step.call_id) == ("search", ARGS, RESULT, CALL)
    assert [(r.tool, r.arguments, r.call_id, r.fate) for r in run.requested] == [("search", ARGS, CALL, "executed")]


def test_content_in_span_events_tells_it_too() -> None:
    parts = genai_parts("assistant", {"type": "tool_call", "id": CALL, "name": "search", "arguments": ARGS})
    asks = (
        event("gen_ai.user.message", content=as_json([{"text": Q}])),
        event("gen_ai.choice", message=as_json([{"toolUse": {"toolUseId": CALL, "name": "search", "input": ARGS}}])),
    )
    details = event("gen_ai.client.inference.operation.details", **{"gen_ai.output.messages": as_json([parts])})
    for events in (asks, (*asks[:1], details)):
        run = only_run(
            span("helper", GENAI[0], lasts=9),
            span("m", {"gen_ai.operation.name": "chat"}, parent="helper", at=1, events=events),
            span("t", {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "search"}, parent="helper", at=3),
        )
        assert run.query == Q
        assert [(r.tool, r.arguments, r.call_id) for r in run.requested] == [("search", ARGS, CALL)]


def test_a_span_that_speaks_two_vocabularies_says_each_fact_once_by_precedence() -> None:
    both = {**GENAI[2], "openinference.span.kind": "CHAIN", "tool.name": "other", "input.value": "{}",
            "output.value": "other", "session.id": "s"}  # fmt: skip
    run = only_run(span("helper", GENAI[0], lasts=9), span("t", both, parent="helper", at=1))
    assert [(s.tool, s.arguments, s.result) for s in run.steps] == [("search", ARGS, RESULT)]
    role, speakers = spoken(span("t", both))
    assert (role, [d.name for d in speakers]) == ("tool", ["genai", "openinference", "otel"])


def test_structured_values_are_read_from_a_file() -> None:
    """In OTLP, content may be a list of key-value lists instead of JSON text."""
    from agentpath_sdk.trajectories.otlp import from_otlp_json
    from agentpath_sdk.trajectories.otlp_write import to_otlp_json

    spans = [span("helper", GENAI[0], lasts=9), span("t", GENAI[2], parent="helper", at=1)]
    (run,) = read_trajectories(from_otlp_json(to_otlp_json(spans)))
    assert run.steps[0].arguments == ARGS


# --- other people's vocabularies ------------------------------------------------------------------------------------


def _mine(span: SpanRecord) -> Any:
    return "tool" if span.attributes.get("acme.kind") == "action" else None


ACME = Dialect(
    name="acme",
    role=_mine,
    marks=frozenset({"acme.kind"}),
    tool_name=lambda span: span.attributes.get("acme.action"),
    arguments=lambda span: span.attributes.get("acme.given"),
)
NO_DIALECT = {"name": "acme"}


def _failing(_span: SpanRecord) -> Any:
    raise RuntimeError("a bug")


FAILING = Dialect(name="failing", role=lambda span: "unsaid", marks=frozenset({"acme.kind"}), tool_name=_failing)


@pytest.fixture
def no_faults() -> None:
    """Here faults are what is tested."""


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Return a function that registers what this module calls by the given names."""

    def forget() -> None:
        for cached in (dialects.active, dialects.marks, dialects._known):
            cached.cache_clear()

    def register(*names: str) -> None:
        entries = [EntryPoint(n, f"{__name__}:{n}", "agentpath_dialects") for n in names]
        found = {name: globals().get(name) for name in names}
        monkeypatch.setattr(dialects, "entry_points", lambda group: entries)
        monkeypatch.setattr(EntryPoint, "load", lambda self: _load(found, self.name))
        forget()

    yield register
    monkeypatch.undo()
    forget()


def _load(found: dict[str, Any], name: str) -> Any:
    if found[name] is None:
        raise ImportError(name)
    return found[name]


def test_a_vocabulary_of_another_package_is_spoken(registered: Callable[..., None]) -> None:
    registered("ACME")
    action = {"acme.kind": "action", "acme.action": "pay", "acme.given": '{"sum": 7}'}
    run = only_run(span("helper", GENAI[0], lasts=9), span("t", action, parent="helper", at=1))
    assert [(s.tool, s.arguments) for s in run.steps] == [("pay", {"sum": 7})]
    assert "acme.kind" in marks()


@pytest.mark.usefixtures("no_faults")
def test_one_that_cannot_be_loaded_or_is_none_is_counted_and_the_rest_go_on(registered: Callable[..., None]) -> None:
    before = HEALTH.counts().get("fault.dialects.load", 0)
    registered("MISSING", "NO_DIALECT", "ACME")
    assert spoken(span("t", {"acme.kind": "action"}))[0] == "tool"
    assert HEALTH.counts()["fault.dialects.load"] == before + 2


@pytest.mark.usefixtures("no_faults")
def test_one_that_fails_on_a_span_says_nothing_and_is_counted(registered: Callable[..., None]) -> None:
    registered("FAILING", "ACME")
    before = HEALTH.counts().get("fault.dialects.failing", 0)
    action = {"acme.kind": "action", "acme.action": "pay"}
    run = only_run(span("helper", GENAI[0], lasts=9), span("t", action, parent="helper", at=1))
    assert [s.tool for s in run.steps] == ["pay"]
    assert HEALTH.counts()["fault.dialects.failing"] > before


# --- nothing a span holds makes a vocabulary fail ---------------------------------------------------------------------

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30)
    | st.sampled_from(["agent", "tool", "chain", "[", "{}", '{"messages":[{"role":"user"}]}', "content='x' a=<b>",
                       "ChatMessage(role=<R.X: 'user'>, blocks=[1])", '{"args":1,"kwargs":[]}',
                       "ResponseFunctionToolCall("]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(["role", "content", "parts", "tool_calls", "type", "name", "id", "data", "kwargs", "output"]),
        inner, max_size=4),
    max_leaves=12,
)  # fmt: skip
NAMES = sorted(
    {
        *marks(), "tool.name", "tool.parameters", "metadata", "llm.output_messages.0.message.role",
        "llm.output_messages.x.message", "gen_ai.completion.0.tool_calls.0", "logfire.json_schema", "crew_tasks",
        "gen_ai.tool.call.arguments", "gen_ai.tool.call.result", "langfuse.observation.output", "mlflow.spanOutputs",
        "traceloop.entity.output", "ai.response.toolCalls", "haystack.component.type", "gcp.vertex.agent.llm_response",
    }
)  # fmt: skip
SCOPES = (
    None, "logfire", "logfire.openai_agents", "openlit.instrumentation.langgraph", "strands.telemetry.tracer",
    "openinference.instrumentation.crewai", "openinference.instrumentation.haystack", "gcp.vertex.agent",
)  # fmt: skip
EVENTS = st.tuples(st.sampled_from(["gen_ai.choice", "gen_ai.tool.message", "exception"]), VALUES)


@given(
    attributes=st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=8),
    scope=st.sampled_from(SCOPES),
    name=st.sampled_from(["", "x", "invoke_agent ", "handoff to ", "haystack.component.run", "execute_tool x"]),
    events=st.lists(EVENTS, max_size=2),
)
def test_no_attribute_value_makes_a_vocabulary_fail(
    attributes: dict[str, Any], scope: str | None, name: str, events: list[tuple[str, Any]]
) -> None:
    record = span(
        "t", attributes, scope=scope, name=name,
        events=tuple(SpanEvent(name=n, attributes={"content": v, "message": v}) for n, v in events),
    )  # fmt: skip
    before = HEALTH.counts()
    _, speakers = spoken(record)
    facts: tuple[Fact, ...] = Fact.__args__  # type: ignore[attr-defined]  # the members of the Literal
    for fact in facts:
        read(speakers, fact, record)
    assert HEALTH.counts() == before


def test_every_vocabulary_has_a_name_of_its_own() -> None:
    assert len({dialect.name for dialect in BUILT_IN}) == len(BUILT_IN)


@given(
    found=st.lists(
        st.tuples(st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=6), st.sampled_from(SCOPES),
                  st.integers(-1, 4), st.sampled_from(["one", "two"]), EVENTS),
        min_size=1, max_size=5,
    )
)  # fmt: skip
def test_no_spans_make_reading_fail(found: list[tuple[dict[str, Any], str | None, int, str, Any]]) -> None:
    """Whatever spans say, under whatever parents, they give trajectories that can be written as JSON lines."""
    spans = [
        span(f"s{n}", attributes, scope=scope, parent=None if parent < 0 else f"s{parent}", trace=trace, at=n,
             events=(SpanEvent(name=said, attributes={"content": value, "message": value}),))
        for n, (attributes, scope, parent, trace, (said, value)) in enumerate(found)
    ]  # fmt: skip
    for run in read_trajectories(spans):
        orjson.dumps(jsonable(trajectory_to_json(run)))


def jsonable(value: Any) -> Any:
    """Return ``value`` with whole numbers that no JSON library of ours writes made texts."""
    return json.loads(json.dumps(value, default=str), parse_int=str)
