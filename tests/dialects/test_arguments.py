"""Arguments come back as the tool got them, in whatever an instrumentation wraps them."""

from __future__ import annotations

from typing import Any

import pytest

from .build import LANGCHAIN, as_json, event, oi_agent, oi_model, oi_tool, only_step, span

GENAI: dict[str, Any] = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "search"}
TRUE = {"q": 'it\'s "x"', "flag": True, "n": None, "ids": [1, 2], "город": "Тверь"}


def genai_tool(given: Any, scope: str | None = "somebody") -> Any:
    agent = span("a", {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "a"}, lasts=9)
    return only_step(agent, span("t", {**GENAI, "gen_ai.tool.call.arguments": given}, parent="a", scope=scope))


@pytest.mark.parametrize(
    "given",
    [
        pytest.param(as_json(TRUE), id="JSON text"),
        pytest.param(as_json(TRUE).encode("ascii", "backslashreplace").decode(), id="escaped JSON text"),
        pytest.param(as_json(as_json(TRUE)), id="JSON inside a JSON string"),
        pytest.param(repr(TRUE), id="Python literal"),
        pytest.param(TRUE, id="structured value"),
    ],
)
def test_one_structure_from_every_way_to_write_it(given: Any) -> None:
    assert genai_tool(given).arguments == TRUE


def test_a_whole_callback_payload_is_opened() -> None:
    """OpenLLMetry's LangChain handler writes all that its callback was given."""
    payload = {"input_str": repr(TRUE), "tags": ["t"], "metadata": {}, "inputs": TRUE, "kwargs": {"tool_call_id": "c"}}
    assert genai_tool(as_json(payload), scope="opentelemetry.instrumentation.langchain").arguments == TRUE


def test_a_payload_with_only_the_text_form_is_opened() -> None:
    payload = {"input_str": repr(TRUE), "tags": []}
    assert genai_tool(as_json(payload), scope="opentelemetry.instrumentation.langchain").arguments == TRUE


def test_arguments_that_look_like_a_payload_are_left_alone_elsewhere() -> None:
    given = {"inputs": {"a": 1}, "metadata": {}}
    assert genai_tool(as_json(given)).arguments == given


@pytest.mark.parametrize("attribute", ["traceloop.entity.input", "langfuse.observation.input", "mlflow.spanInputs"])
def test_args_and_kwargs_of_a_decorated_function_are_opened(attribute: str) -> None:
    kind = {"traceloop.span.kind": "tool", "langfuse.observation.type": "tool", "mlflow.spanType": '"TOOL"'}
    mark = next(key for key in kind if key.split(".")[0] == attribute.split(".")[0])
    tool = span("t", {mark: kind[mark], attribute: as_json({"args": [], "kwargs": TRUE})}, parent="helper")
    assert only_step(oi_agent(), tool).arguments == TRUE


def test_positional_arguments_get_their_names_from_the_schema() -> None:
    given = {"args": ["A-17", 2], "sanitize_inputs_outputs": False, "kwargs": {"note": "x"}}
    schema = as_json({"sku": {"type": "string"}, "quantity": {"type": "integer"}, "note": {"type": "string"}})
    step = only_step(oi_agent(), oi_tool("reserve", given, attributes={"tool.parameters": schema}))
    assert step.arguments == {"sku": "A-17", "quantity": 2, "note": "x"}


def test_positional_arguments_get_their_names_from_what_the_model_asked_for() -> None:
    asked = oi_model("m", ("reserve", {"sku": "A-17", "quantity": 2}, "c1"), at=1)
    step = only_step(oi_agent(), asked, oi_tool("reserve", {"args": ["A-17", 2], "kwargs": {}}, at=3))
    assert (step.arguments, step.call_id) == ({"sku": "A-17", "quantity": 2}, "c1")


def test_a_tool_with_parameters_called_args_and_kwargs_keeps_them() -> None:
    given = {"args": [1], "kwargs": {"a": 2}}
    schema = as_json({"type": "object", "properties": {"args": {}, "kwargs": {}}})
    assert only_step(oi_agent(), oi_tool("t", given, attributes={"tool.parameters": schema})).arguments == given


def test_parameters_that_are_the_arguments_are_taken_where_there_is_no_input() -> None:
    step = only_step(oi_agent(), oi_tool("t", attributes={"tool.parameters": as_json({"city": "Тверь"})}))
    assert step.arguments == {"city": "Тверь"}


def test_a_bare_value_gets_its_name_from_the_request_with_the_same_id() -> None:
    """OpenInference's LangChain handler records a call with one argument as that value alone."""
    message = {"type": "tool", "data": {"content": "−3", "tool_call_id": "c2", "status": "success"}}
    asked = oi_model("m", ("weather", {"city": "Москва"}, "c1"), ("weather", {"city": "Тверь"}, "c2"), at=1)
    step = only_step(
        oi_agent(scope=LANGCHAIN),
        asked,
        oi_tool("weather", "Тверь", attributes={"output.value": as_json(message)}, at=3, scope=LANGCHAIN),
    )
    assert (step.arguments, step.call_id, step.result) == ({"city": "Тверь"}, "c2", "−3")


def test_a_bare_value_without_id_gets_its_name_from_the_request_with_that_value() -> None:
    asked = oi_model("m", ("weather", {"city": "Москва"}, "c1"), ("weather", {"city": "Тверь"}, "c2"), at=1)
    step = only_step(oi_agent(), asked, oi_tool("weather", "Тверь", at=3))
    assert (step.arguments, step.call_id) == ({"city": "Тверь"}, "c2")


def test_a_bare_number_is_no_other_number() -> None:
    asked = oi_model("m", ("level", {"n": 70}, "c1"), at=1)
    step = only_step(oi_agent(), asked, oi_tool("level", "7", at=3))
    assert (step.arguments, step.arguments_state, step.raw_arguments) == (None, "unparsed", "7")


def test_a_call_without_arguments_has_none_rather_than_unknown_ones() -> None:
    step = only_step(oi_agent(scope=LANGCHAIN), oi_tool("ping", scope=LANGCHAIN))
    assert (step.arguments, step.arguments_state) == ({}, "known")


@pytest.mark.parametrize("given", ["__REDACTED__", '"__REDACTED__"'])
def test_hidden_arguments_are_redacted_even_where_a_request_tells_them(given: str) -> None:
    asked = oi_model("m", ("search", {"q": "a"}, "c1"), at=1)
    step = only_step(oi_agent(), asked, oi_tool("search", given, attributes={"tool_call.id": "c1"}, at=3))
    assert (step.arguments, step.arguments_state) == (None, "redacted")


def test_arguments_cut_in_the_middle_are_told_by_the_request_with_the_same_id() -> None:
    asked = oi_model("m", ("search", {"q": "a" * 50}, "c1"), at=1)
    step = only_step(oi_agent(), asked, oi_tool("search", '{"q": "aaa', attributes={"tool_call.id": "c1"}, at=3))
    assert step.arguments == {"q": "a" * 50}


def test_arguments_cut_in_the_middle_are_truncated_where_nothing_else_tells_them() -> None:
    assert only_step(oi_agent(), oi_tool("search", '{"q": "aaa')).arguments_state == "truncated"


def test_an_argument_that_a_framework_leaves_out_is_told_by_the_request() -> None:
    scope = "agent_framework"
    agent = span("a", {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "a"}, lasts=9, scope=scope)
    said = [{"role": "assistant", "parts": [{"type": "tool_call", "id": "c", "name": "search", "arguments": TRUE}]}]
    chat = {"gen_ai.operation.name": "chat", "gen_ai.output.messages": as_json(said)}
    less = {key: value for key, value in TRUE.items() if key != "ids"}
    tool = {**GENAI, "gen_ai.tool.call.id": "c", "gen_ai.tool.call.arguments": as_json(less)}
    model = span("m", chat, parent="a", at=1, scope=scope)
    assert only_step(agent, model, span("t", tool, parent="a", at=3, scope=scope)).arguments == TRUE
    # Elsewhere the span is believed: it tells what was executed.
    assert only_step(agent, model, span("t", tool, parent="a", at=3, scope="else")).arguments == less


def test_what_a_framework_added_on_its_own_is_no_argument() -> None:
    given = as_json({**TRUE, "instructions_override": None})
    step = genai_tool(given, scope="semantic_kernel.functions.kernel_function")
    assert step.arguments == TRUE
    assert genai_tool(given).arguments == {**TRUE, "instructions_override": None}


def test_arguments_and_result_in_span_events() -> None:
    """Strands writes content as events unless told otherwise."""
    events = (
        event("gen_ai.tool.message", role="tool", content=as_json(TRUE), id="c1"),
        event("gen_ai.choice", message=as_json([{"text": "ok"}]), id="c1"),
    )
    agent = span("a", {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "a"}, lasts=9)
    step = only_step(agent, span("t", GENAI, parent="a", events=events))
    assert (step.arguments, step.result) == (TRUE, "ok")


def test_arguments_that_logfire_spreads_over_attributes() -> None:
    schema = {"type": "object", "properties": {"city": {}, "options": {"type": "object"}, "return": {}}}
    tool = {
        "logfire.msg_template": "weather", "logfire.span_type": "span", "logfire.json_schema": as_json(schema),
        "city": "Тверь", "options": '{"days":2}', "return": "−3", "code.lineno": 7,
    }  # fmt: skip
    asked = oi_model("m", ("weather", {"city": "Тверь", "options": {"days": 2}}, "c1"), at=1)
    step = only_step(oi_agent(), asked, span("weather", tool, parent="helper", at=3, scope="logfire"))
    assert (step.arguments, step.result) == ({"city": "Тверь", "options": {"days": 2}}, "−3")
