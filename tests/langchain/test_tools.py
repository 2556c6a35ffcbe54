"""Tool calls as the callback handler records them."""

from __future__ import annotations

import asyncio
import json
from typing import Annotated, Any
from uuid import uuid4

import pytest

pytest.importorskip("langchain_core", reason="needs the extra langchain")

from langchain_core.callbacks import BaseCallbackHandler, CallbackManager
from langchain_core.messages import ToolMessage
from langchain_core.tools import InjectedToolArg, InjectedToolCallId, StructuredTool, Tool, ToolException, tool
from opentelemetry.trace import StatusCode

from agentpath_langchain import AgentPathCallbackHandler
from agentpath_langchain.arguments import decode_text, without_injected


@tool
def probe(q: str, flag: bool, n: int | None, ids: list[int], f: float) -> str:
    """Take values of every type."""
    return "ok"


@tool
def echo(text: str) -> str:
    """Return the text."""
    return text


def test_arguments_keep_structure_and_types(spans: Any) -> None:
    """Quotes, booleans, null, lists and floats arrive as they were given."""
    given = {"q": 'it\'s "x"', "flag": True, "n": None, "ids": [1, 2], "f": 1.0}
    probe.invoke(given, {"callbacks": [AgentPathCallbackHandler()]})
    found = spans.arguments(spans.one("execute_tool probe"))
    assert found == given
    assert {k: type(v) for k, v in found.items()} == {k: type(v) for k, v in given.items()}


def test_async_call_of_a_tool_is_recorded_the_same(spans: Any) -> None:
    asyncio.run(echo.ainvoke({"text": "x"}, {"callbacks": [AgentPathCallbackHandler()]}))
    span = spans.one("execute_tool echo")
    assert spans.arguments(span) == {"text": "x"}
    assert json.loads(span.attributes["gen_ai.tool.call.result"]) == "x"


@pytest.mark.parametrize("run", [lambda t, x, c: t.invoke(x, c), lambda t, x, c: asyncio.run(t.ainvoke(x, c))])
def test_plain_string_goes_under_the_only_parameter(spans: Any, run: Any) -> None:
    """Even when the string looks like something else: the tool got a string."""
    for text in ("Mars", "42", '{"a": 1}', "{broken"):
        run(echo, text, {"callbacks": [AgentPathCallbackHandler()]})
        assert spans.arguments(spans.one("execute_tool echo")) == {"text": text}
        assert "agentpath.content.raw" not in spans.one("execute_tool echo").attributes
        spans.clear()


def test_plain_string_to_a_single_input_tool_uses_its_functions_parameter(spans: Any) -> None:
    def look(place: str) -> str:
        return place

    Tool("look", look, "Look.").invoke("here", {"callbacks": [AgentPathCallbackHandler()]})
    assert spans.arguments(spans.one("execute_tool look")) == {"place": "here"}


def test_plain_string_to_a_tool_without_one_parameter_is_called_input(spans: Any) -> None:
    Tool("look", lambda *a: "x", "Look.").invoke("here", {"callbacks": [AgentPathCallbackHandler()]})
    assert spans.arguments(spans.one("execute_tool look")) == {"input": "here"}


def test_injected_arguments_are_absent(spans: Any) -> None:
    @tool
    def save(
        text: str, state: Annotated[dict[str, Any], InjectedToolArg], tool_call_id: Annotated[str, InjectedToolCallId]
    ) -> str:
        """Save."""
        return text

    call = {"type": "tool_call", "name": "save", "id": "c9", "args": {"text": "x", "state": {"messages": []}}}
    save.invoke(call, {"callbacks": [AgentPathCallbackHandler()]})
    span = spans.one("execute_tool save")
    assert spans.arguments(span) == {"text": "x"}
    assert span.attributes["gen_ai.tool.call.id"] == "c9"


def test_injected_values_are_told_from_ordinary_arguments_of_the_same_name() -> None:
    """Where no annotation says so (schemas of plain JSON), the value decides, not the name alone."""
    manager = CallbackManager([])
    injected = {
        "config": {"configurable": {"thread_id": "t"}, "callbacks": None},
        "callbacks": manager,
        "run_manager": manager,
        "tool_call_id": "c1",
        "state": {"messages": [ToolMessage("x", tool_call_id="c0")]},
    }
    ordinary = {"state": "CA", "config": {"depth": 2}, "runtime": "python", "store": 7}
    assert without_injected({"q": 1, **injected}, "c1") == {"q": 1}
    assert without_injected({"q": 1, **ordinary}, "c1") == {"q": 1, **ordinary}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("""{'q': "it's", 'flag': True, 'n': None}""", {"q": "it's", "flag": True, "n": None}),
        ("""{"q": "it's", "flag": true, "n": null}""", {"q": "it's", "flag": True, "n": None}),
        ("what is Mars", {"input": "what is Mars"}),
        ("""{'q': "it's""", """{'q': "it's"""),
        ("[1, 2]", "[1, 2]"),
        ("[1, 2", "[1, 2"),
        ("3.5", "3.5"),
        ("true", "true"),
        ("{'q': __import__('os').getcwd()}", "{'q': __import__('os').getcwd()}"),
        ("(" * 5000, {"input": "(" * 5000}),
        ("{1: 2}", "{1: 2}"),
    ],
)
def test_text_form_of_arguments_is_decoded_without_running_code(text: str, expected: Any) -> None:
    assert decode_text(text) == expected


def test_text_that_is_no_object_is_kept_raw_with_a_flag(spans: Any) -> None:
    handler = AgentPathCallbackHandler()
    for text in ("""{'q': "it's""", "[1, 2]", "7"):
        run = uuid4()
        handler.on_tool_start({"name": "t"}, text, run_id=run)
        handler.on_tool_end("ok", run_id=run)
        (span,) = spans.tools()
        assert span.attributes["gen_ai.tool.call.arguments"] == text
        assert span.attributes["agentpath.content.raw"] == ("arguments",)
        spans.clear()


def _returned(value: Any) -> StructuredTool:
    def act() -> Any:
        return value

    return StructuredTool.from_function(act, name="act", description="Act.")


@pytest.mark.parametrize("as_call", [True, False])
@pytest.mark.parametrize(
    ("value", "message"),
    [
        (ToolMessage("404 not found", tool_call_id="c1", status="error"), "404 not found"),
        ({"isError": True, "content": [{"type": "text", "text": "no such row"}]}, "no such row"),
        ({"error": None, "rows": 3}, None),
        ("No error was found", None),
        ({"isError": False, "content": []}, None),
    ],
)
def test_a_returned_error_counts_when_a_flag_says_so(
    spans: Any, value: Any, message: str | None, as_call: bool
) -> None:
    given: Any = {"type": "tool_call", "name": "act", "id": "c1", "args": {}} if as_call else {}
    _returned(value).invoke(given, {"callbacks": [AgentPathCallbackHandler()]})
    span = spans.one("execute_tool act")
    if message is None:
        assert (spans.outcome(span), span.status.status_code) == ("ok", StatusCode.UNSET)
    else:
        assert (spans.outcome(span), span.status.status_code) == ("error", StatusCode.ERROR)
        assert message in span.status.description
        assert len(span.attributes["agentpath.step.error_message"]) <= 500


def test_a_raised_error_is_recorded_and_still_raised(spans: Any) -> None:
    @tool
    def pick(number: int) -> str:
        """Pick."""
        raise ValueError("bad id " + "x" * 900)

    with pytest.raises(ValueError, match="bad id"):
        pick.invoke({"number": 1}, {"callbacks": [AgentPathCallbackHandler()]})
    span = spans.one("execute_tool pick")
    assert (spans.outcome(span), span.attributes["error.type"]) == ("error", "ValueError")
    assert span.status.description.startswith("bad id")
    assert len(span.status.description) <= 500


def test_an_error_that_langchain_turns_into_a_message_is_an_error(spans: Any) -> None:
    def act() -> str:
        raise ToolException("quota is used up")

    made = StructuredTool.from_function(act, name="act", description="Act.", handle_tool_error=True)
    made.invoke(
        {"type": "tool_call", "name": "act", "id": "c1", "args": {}}, {"callbacks": [AgentPathCallbackHandler()]}
    )
    span = spans.one("execute_tool act")
    assert (spans.outcome(span), span.status.description) == ("error", "quota is used up")


@pytest.mark.parametrize("error", [KeyboardInterrupt, asyncio.CancelledError])
def test_a_cancelled_tool_is_cancelled_not_failed(spans: Any, error: type[BaseException]) -> None:
    @tool
    def wait() -> str:
        """Wait."""
        raise error

    with pytest.raises(error):
        wait.invoke({}, {"callbacks": [AgentPathCallbackHandler()]})
    span = spans.one("execute_tool wait")
    assert (spans.outcome(span), span.status.status_code) == ("cancelled", StatusCode.UNSET)
    assert span.attributes["error.type"].endswith(error.__name__)


def test_two_handlers_make_one_step(spans: Any) -> None:
    echo.invoke({"text": "x"}, {"callbacks": [AgentPathCallbackHandler(), AgentPathCallbackHandler()]})
    assert spans.names() == ["execute_tool echo"]


def test_unknown_ends_are_ignored_unknown_parents_give_roots_and_a_repeated_start_abandons_the_first(
    spans: Any,
) -> None:
    handler = AgentPathCallbackHandler()
    run = uuid4()
    handler.on_tool_end("x", run_id=uuid4())
    handler.on_tool_error(ValueError("x"), run_id=uuid4())
    handler.on_chain_end({}, run_id=uuid4())
    handler.on_chain_error(ValueError("x"), run_id=uuid4(), parent_run_id=uuid4())
    handler.on_llm_error(ValueError("x"), run_id=uuid4())
    handler.on_retriever_end([], run_id=uuid4())
    assert spans.all() == []
    handler.on_tool_start({"name": "t"}, "a", run_id=run, parent_run_id=uuid4())
    handler.on_tool_start({"name": "t"}, "b", run_id=run)
    handler.on_tool_end("done", run_id=run)
    first, second = spans.tools()
    assert first.parent is None
    assert (spans.outcome(first), spans.outcome(second)) == ("abandoned", "ok")


def test_events_without_any_detail_raise_nothing(spans: Any) -> None:
    handler = AgentPathCallbackHandler()
    run = uuid4()
    handler.on_tool_start(None, "", run_id=run)
    handler.on_tool_end(object(), run_id=run)
    assert spans.names() == ["execute_tool tool"]


def test_the_handler_keeps_its_place_beside_handlers_that_fail(spans: Any) -> None:
    class Broken(BaseCallbackHandler):
        def on_tool_start(self, *args: Any, **kwargs: Any) -> Any:
            raise RuntimeError("theirs")

    assert echo.invoke({"text": "x"}, {"callbacks": [Broken(), AgentPathCallbackHandler()]}) == "x"
    assert spans.names() == ["execute_tool echo"]
