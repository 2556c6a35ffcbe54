"""Agents as people have them: functions, classes, objects with tools, frameworks' objects."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest
from opentelemetry.trace import StatusCode

from agentpath_sdk import semconv
from agentpath_sdk._guard import HEALTH
from agentpath_sdk.errors import ConfigurationError
from agentpath_sdk.tracing import trace_agent, trace_step, trace_tool
from agentpath_sdk.tracing.frameworks import INTEGRATIONS
from agentpath_sdk.tracing.options import CallOptions


def text_of(span: Any, attribute: str) -> str | None:
    messages = json.loads(span.attributes.get(attribute, "null"))
    return messages and messages[-1]["parts"][0]["content"]


def query(spans: Any) -> str | None:
    return text_of(spans.of("invoke_agent")[-1], semconv.INPUT_MESSAGES)


def answer(spans: Any) -> str | None:
    return text_of(spans.of("invoke_agent")[-1], semconv.OUTPUT_MESSAGES)


@dataclass
class Request:
    text: str
    user: str = "ann"


class Answer(SimpleNamespace):
    @property
    def shown(self) -> str:
        return "by property"


HISTORY = [
    {"role": "system", "content": "be nice"},
    {"role": "user", "content": "old"},
    {"role": "assistant", "content": "reply"},
    {"role": "user", "content": [{"type": "text", "text": "why?"}]},
]


@pytest.mark.parametrize(
    ("pick", "args", "kwargs"),
    [
        (None, ("why?",), {}),
        (None, (), {"question": "why?", "context": "because"}),
        (None, (), {"context": "because", "query": "why?"}),
        (None, (), {"messages": HISTORY}),
        (None, ({"messages": HISTORY},), {}),
        (None, (), {"input": {"question": "why?"}}),
        (None, ([("system", "x"), ("human", "why?")],), {}),
        (None, (7, "why?"), {}),
        ("context", (), {"question": "no", "context": "why?"}),
        ("first.text", (Request("why?"),), {}),
        ("first.items.1.q", ({"items": [0, {"q": "why?"}]},), {}),
        (lambda *args, **kwargs: kwargs["a"] + kwargs["b"], (), {"a": "wh", "b": "y?"}),
    ],
)
def test_the_query_is_found(spans: Any, pick: Any, args: Any, kwargs: Any) -> None:
    @trace_agent(query=pick)
    def agent(first: Any = None, *rest: Any, **more: Any) -> None: ...

    agent(*args, **kwargs)
    assert query(spans) == "why?"


@pytest.mark.parametrize(
    ("pick", "result"),
    [
        (None, "42"),
        (None, {"output": "42"}),
        (None, {"answer": "42", "text": "no"}),
        (None, {"messages": [{"role": "user", "content": "?"}, {"role": "assistant", "content": "42"}]}),
        (None, SimpleNamespace(content="42")),
        (None, [{"role": "assistant", "content": [{"type": "text", "text": "42"}]}]),
        (None, 42),
        ("0.content", [{"content": "42"}]),
        ("inner.value", SimpleNamespace(inner={"value": "42"})),
        (lambda result: result[1], ("no", "42")),
    ],
)
def test_the_answer_is_found(spans: Any, pick: Any, result: Any) -> None:
    @trace_agent(answer=pick)
    def agent(question: str) -> Any:
        return result

    assert agent("q") is result
    assert answer(spans) == "42"


def test_a_property_is_read_only_where_the_user_names_it(spans: Any) -> None:
    trace_agent(answer="shown")(lambda question: Answer())("q")
    assert answer(spans) == "by property"


def test_a_result_without_text_is_kept_as_it_is(spans: Any) -> None:
    trace_agent(lambda question: {"rows": [1]}, name="a")("q")
    assert answer(spans) == {"rows": [1]}


def test_a_class_is_traced_by_its_entry_methods_as_one_run(spans: Any) -> None:
    @trace_agent
    class Planner:
        def __init__(self, n: int) -> None:
            self.n = n

        def __call__(self, question: str) -> str:
            return self.forward(question)

        def forward(self, question: str) -> str:
            return question * self.n

        async def arun(self, question: str) -> str:
            return question

        def stream(self, question: str) -> Iterator[str]:
            yield from self.forward(question)

        def other(self) -> str:
            return "not a run"

    planner = Planner(2)
    assert (planner("a"), planner.forward("b"), planner.other()) == ("aa", "bb", "not a run")
    assert "".join(planner.stream("c")) == "cc"
    assert spans.names() == ["invoke_agent Planner"] * 3
    assert type(planner) is Planner


def test_an_agent_that_calls_itself_through_a_tool_is_a_nested_run(spans: Any) -> None:
    @trace_agent
    class Recursive:
        def run(self, question: str) -> str:
            return self.ask(question[1:]) if question else "end"

        @trace_tool
        def ask(self, question: str) -> str:
            return self.run(question)

    assert Recursive().run("ab") == "end"
    assert [n.split(" ")[0] for n in spans.names()] == ["invoke_agent", "execute_tool"] * 2 + ["invoke_agent"]


def test_a_method_is_named_after_its_class_where_its_own_name_says_nothing(spans: Any) -> None:
    class Helper:
        @trace_agent
        def run(self, question: str) -> str:
            return question

        @trace_agent
        def help(self, question: str) -> str:
            return question

    Helper().run("q")
    Helper().help("q")
    assert spans.names() == ["invoke_agent Helper", "invoke_agent help"]


class Toolbox:
    """An agent object with tools."""

    def __init__(self, tools: Any) -> None:
        self.tools = tools
        self.history: list[str] = []

    def run(self, question: str) -> Any:
        self.history.append(question)
        tools = self.tools.values() if isinstance(self.tools, dict) else self.tools
        return [tool(question) if callable(tool) else tool.run(question) for tool in tools]


class Upper:
    name = "upper"

    def run(self, text: str) -> str:
        return text.upper()


def lower(text: str) -> str:
    return text.lower()


@pytest.mark.parametrize("make", [list, tuple, lambda tools: {t.__class__.__name__ + str(i): t for i, t in tools}])
def test_an_object_with_tools_is_traced_with_its_tools(spans: Any, make: Any) -> None:
    given = make([lower, Upper()]) if make in (list, tuple) else {"down": lower, "up": Upper()}
    agent = trace_agent(Toolbox(given), name="box")
    assert agent.run("Ab") == ["ab", "AB"]
    assert isinstance(agent, Toolbox)
    assert agent.history == ["Ab"]
    run = spans.one("invoke_agent box")
    assert [spans.parent(s) for s in spans.of("execute_tool")] == [run, run]
    expected = ["down", "up"] if isinstance(given, dict) else ["lower", "upper"]
    assert [s.attributes[semconv.TOOL_NAME] for s in spans.of("execute_tool")] == expected
    assert query(spans) == "Ab"


def test_an_object_with_tools_is_copied_and_pickled_as_a_traced_one(spans: Any) -> None:
    agent = trace_agent(Toolbox([Upper()]), name="box")
    other = copy.deepcopy(agent)
    assert other.run("a") == ["A"]
    assert (other.history, agent.history) == (["a"], [])
    assert spans.names() == ["invoke_agent box", "execute_tool upper"]
    assert not callable(agent)


def test_tools_traced_already_are_left_as_they_are(spans: Any) -> None:
    agent = trace_agent(Toolbox([trace_tool(lower, name="mine"), "a built-in tool's name"]), name="box")
    agent.tools.pop()
    agent.run("Q")
    assert spans.names() == ["invoke_agent box", "execute_tool mine"]


def test_a_tool_object_is_traced_by_the_method_agents_call(spans: Any) -> None:
    tool = trace_tool(Upper())
    assert (tool.run("a"), tool.name, isinstance(tool, Upper)) == ("A", "upper", True)
    assert spans.arguments("upper") == {"text": "a"}


def test_what_is_no_agent_is_refused_with_what_would_be(spans: Any) -> None:
    with pytest.raises(ConfigurationError, match="LangGraph graph"):
        trace_agent(SimpleNamespace(tools=[]))

    class Frozen(Toolbox):
        __slots__ = ()
        tools = property(lambda self: (lower,))  # type: ignore[assignment]  # read-only on purpose

        def __init__(self) -> None: ...

    with pytest.raises(ConfigurationError, match="apply trace_tool to each of them"):
        trace_agent(Frozen())


def test_errors_of_a_run_reach_caller_and_span(spans: Any) -> None:
    @trace_agent
    def agent(question: str) -> None:
        raise LookupError("lost")

    with pytest.raises(LookupError, match="lost"):
        agent("q")
    span = spans.one("agent")
    assert span.status.status_code is StatusCode.ERROR
    assert span.attributes[semconv.RUN_STOP_REASON] == "error"


class Pause(Exception):
    pass


class LookAlike(Exception):
    pass


LookAlike.__name__ = LookAlike.__qualname__ = "Pause"


class Framework:
    """An integration of a framework that reports by key."""

    name = "framework"
    module = "json"

    def __init__(self) -> None:
        self.active = 0
        self.entered = 0
        self.key: Any = None
        self.wrapped: list[Any] = []

    @contextmanager
    def activate(self) -> Iterator[None]:
        self.entered += 1
        self.active += 1
        try:
            yield
        finally:
            self.active -= 1

    def wrap_agent(self, obj: Any, options: CallOptions) -> Any:
        self.wrapped.append(options)
        return "stand-in" if isinstance(obj, SimpleNamespace) else None

    def wrap_tool(self, obj: Any, options: CallOptions) -> Any:
        return "tool stand-in" if isinstance(obj, SimpleNamespace) else None

    def current_key(self) -> Any:
        return self.key

    def classify_error(self, error: BaseException) -> Any:
        return ("interrupted", "pending") if isinstance(error, Pause) else None


@pytest.fixture
def framework() -> Framework:
    integration = Framework()
    INTEGRATIONS.replace((integration,))
    return integration


async def test_frameworks_are_active_exactly_while_a_run_is(spans: Any, framework: Framework) -> None:
    @trace_agent
    def agent(question: str) -> int:
        return framework.active

    @trace_agent
    async def later(question: str) -> int:
        return framework.active

    @trace_agent
    def stream(question: str) -> Iterator[int]:
        yield framework.active
        yield framework.active

    assert (agent("q"), await later("q")) == (1, 1)
    reading = stream("q")
    assert next(reading) == 1
    assert framework.active == 0, "not while the reader has the item"
    assert list(reading) == [1]
    assert framework.active == 0


def test_frameworks_are_asked_first_for_their_own_objects(framework: Framework) -> None:
    assert trace_agent(SimpleNamespace(tools=[1], run=print), name="n", gold_path="g") == "stand-in"
    assert framework.wrapped == [CallOptions(name="n", gold_path="g")]
    assert trace_tool(SimpleNamespace(run=print)) == "tool stand-in"


def test_a_framework_that_is_not_imported_is_not_asked(framework: Framework) -> None:
    framework.module = "never_imported_anywhere"
    with pytest.raises(ConfigurationError):
        trace_agent(SimpleNamespace())
    assert framework.wrapped == []


def test_a_decorated_tool_inside_a_frameworks_call_finds_it_by_key(spans: Any, framework: Framework) -> None:
    from agentpath_sdk.tracing.recorder import get_recorder

    @trace_tool
    def helper() -> None: ...

    recorder = get_recorder()
    recorder.start("run", door="handler", kind="tool", name="search")
    framework.key = "run"
    helper()
    recorder.end("run", door="handler")
    assert spans.parent(spans.one("helper")) is spans.one("search")


def test_a_frameworks_pause_is_no_error_and_a_look_alike_is(spans: Any, framework: Framework) -> None:
    @trace_tool
    def refund(error: type[Exception]) -> None:
        raise error

    with pytest.raises(Pause):
        refund(Pause)
    with pytest.raises(LookAlike):
        refund(LookAlike)
    paused, failed = spans.all()
    assert paused.attributes[semconv.STEP_OUTCOME] == "interrupted"
    assert paused.status.status_code is StatusCode.UNSET
    assert failed.attributes[semconv.STEP_OUTCOME] == "error"


def test_a_broken_integration_is_counted_and_the_rest_goes_on(spans: Any, framework: Framework) -> None:
    HEALTH.raise_faults = False
    framework.activate = None  # type: ignore[assignment, method-assign]  # broken on purpose
    assert trace_agent(lambda question: "fine", name="a")("q") == "fine"
    assert HEALTH.counts() == {"fault.integration.framework": 1}


def test_phases_mark_steps_that_are_no_tool_calls(spans: Any) -> None:
    @trace_step(phase="plan")
    def plan(goal: str) -> list[str]:
        return [goal]

    @trace_agent
    def agent(question: str) -> None:
        plan(question)
        with trace_step(phase="audit") as step, trace_step(phase="inner"):
            step.output({"fine": True})
        with pytest.raises(ValueError, match="x"), trace_step(phase="broken"):
            raise ValueError("x")

    agent("q")
    run = spans.one("invoke_agent agent")
    planned, audit, inner, broken = (spans.one(n) for n in ("plan", "audit", "inner", "broken"))
    assert json.loads(planned.attributes[semconv.STEP_INPUT]) == {"goal": "q"}
    assert json.loads(planned.attributes[semconv.STEP_OUTPUT]) == ["q"]
    assert planned.attributes[semconv.STEP_PHASE] == "plan"
    assert spans.parent(audit) is run
    assert spans.parent(inner) is audit
    assert json.loads(inner.attributes[semconv.STEP_OUTPUT]) == {"fine": True}
    assert broken.attributes[semconv.STEP_OUTCOME] == "error"
    assert run.attributes[semconv.RUN_CALLS] == 0


async def test_phases_around_async_blocks_and_in_parallel(spans: Any) -> None:
    import asyncio

    shared = trace_step(phase="shared")

    async def one(n: int) -> None:
        async with shared as step:
            await asyncio.sleep(0)
            step.output(n)

    await asyncio.gather(*(one(n) for n in range(3)))
    assert sorted(s.attributes[semconv.STEP_OUTPUT] for s in spans.all()) == ["0", "1", "2"]
    assert all(s.parent is None for s in spans.all())
