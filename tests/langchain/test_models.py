"""Model calls, retrievals, and the shapes of messages and states."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

import pytest

pytest.importorskip("langchain_core", reason="needs the extra langchain")

from langchain_core.documents import Document
from langchain_core.language_models.fake import FakeListLLM
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, LLMResult
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda
from pydantic import BaseModel

from agentpath_langchain import AgentPathCallbackHandler
from agentpath_langchain.messages import genai_messages, text_of
from agentpath_langchain.outcomes import stopped_by_limit
from agentpath_langchain.states import answer_of, conversation_of, query_of


class Library(BaseRetriever):
    """A retriever over one document."""

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        if query == "fail":
            raise ValueError("index is gone")
        return [Document("Mars is cold", metadata={"page": 7})]


def _messages(span: Any, attribute: str) -> Any:
    return json.loads(span.attributes[attribute])


def test_a_chat_call_tells_model_messages_usage_and_reason(spans: Any) -> None:
    handler = AgentPathCallbackHandler()
    run = uuid4()
    answer = AIMessage(
        "cold",
        usage_metadata={"input_tokens": 12, "output_tokens": 3, "total_tokens": 15},
        response_metadata={"finish_reason": "stop", "model_name": "m-1-2026"},
    )
    asked = [SystemMessage("Be short."), HumanMessage("how warm?")]
    handler.on_chat_model_start({}, [asked], run_id=run, metadata={"ls_model_name": "m-1", "ls_provider": "acme"})
    handler.on_llm_end(LLMResult(generations=[[ChatGeneration(message=answer)]]), run_id=run)
    span = spans.one("chat m-1")
    told = dict(span.attributes)
    assert told["gen_ai.request.model"] == "m-1"
    assert told["gen_ai.response.model"] == "m-1-2026"
    assert told["gen_ai.provider.name"] == "acme"
    assert (told["gen_ai.usage.input_tokens"], told["gen_ai.usage.output_tokens"]) == (12, 3)
    assert told["gen_ai.response.finish_reasons"] == ("stop",)
    assert [m["role"] for m in _messages(span, "gen_ai.input.messages")] == ["system", "user"]
    assert _messages(span, "gen_ai.output.messages") == [
        {"role": "assistant", "parts": [{"type": "text", "content": "cold"}], "finish_reason": "stop"}
    ]


def test_usage_that_only_the_provider_reports_is_taken_and_missing_usage_is_missing(spans: Any) -> None:
    handler = AgentPathCallbackHandler()
    for told in ({"token_usage": {"prompt_tokens": 5, "completion_tokens": 2}, "model_name": "m"}, {}):
        run = uuid4()
        handler.on_chat_model_start({"name": "m"}, [[HumanMessage("x")]], run_id=run)
        result = LLMResult(generations=[[ChatGeneration(message=AIMessage("y"))]], llm_output=told)
        handler.on_llm_end(result, run_id=run)
    first, second = spans.all()
    assert first.attributes["gen_ai.usage.input_tokens"] == 5
    assert "gen_ai.usage.input_tokens" not in second.attributes


def test_a_streamed_model_call_has_its_whole_answer(spans: Any) -> None:
    model = GenericFakeChatModel(messages=iter([AIMessage("very cold"), AIMessage("so cold")]))
    config: Any = {"callbacks": [AgentPathCallbackHandler()]}
    assert "".join(str(c.content) for c in model.stream("?", config)) == "very cold"

    async def read() -> str:
        return "".join([str(c.content) async for c in model.astream("?", config)])

    assert asyncio.run(read()) == "so cold"
    answers = [_messages(s, "gen_ai.output.messages")[0]["parts"][0]["content"] for s in spans.all()]
    assert answers == ["very cold", "so cold"]


def test_a_completion_model_is_recorded_too(spans: Any) -> None:
    FakeListLLM(responses=["cold"]).invoke("how warm?", {"callbacks": [AgentPathCallbackHandler()]})
    (span,) = spans.all()
    assert _messages(span, "gen_ai.input.messages")[0]["parts"][0]["content"] == "how warm?"
    assert _messages(span, "gen_ai.output.messages")[0]["parts"][0]["content"] == "cold"


def test_a_failing_model_call_is_an_error_with_what_it_had_said(spans: Any) -> None:
    handler = AgentPathCallbackHandler()
    run = uuid4()
    handler.on_chat_model_start({"name": "m"}, [[HumanMessage("x")]], run_id=run)
    partial = LLMResult(generations=[[ChatGeneration(message=AIMessage("so far"))]])
    handler.on_llm_error(TimeoutError("too slow"), run_id=run, response=partial)
    (span,) = spans.all()
    assert (spans.outcome(span), span.status.description) == ("error", "too slow")
    assert _messages(span, "gen_ai.output.messages")[0]["parts"][0]["content"] == "so far"


def test_a_retrieval_is_a_step_with_query_and_documents(spans: Any) -> None:
    config: Any = {"callbacks": [AgentPathCallbackHandler()]}
    Library().invoke("Mars", config)
    asyncio.run(Library().ainvoke("Mars", config))
    with pytest.raises(ValueError, match="index is gone"):
        Library().invoke("fail", config)
    first, second, third = spans.all()
    assert first.name == second.name == "retrieval Library"
    assert spans.arguments(first) == {"query": "Mars"}
    assert first.attributes["gen_ai.retrieval.query.text"] == "Mars"
    assert json.loads(first.attributes["gen_ai.tool.call.result"])[0]["content"] == "Mars is cold"
    assert spans.outcome(third) == "error"


def test_messages_in_genai_form() -> None:
    call = {"name": "search", "args": {"q": "x"}, "id": "c1"}
    broken = {"name": "search", "args": '{"q": ', "id": "c2", "error": "no JSON", "type": "invalid_tool_call"}
    picture = {"type": "image", "mime_type": "image/png", "base64": "A" * 99}
    thoughts = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "look"}]
    said = [
        HumanMessage([{"type": "text", "text": "what is this?"}, picture]),
        AIMessage([*thoughts, {"type": "tool_use", "id": "c1"}], tool_calls=[call], invalid_tool_calls=[broken]),
        ToolMessage("found", tool_call_id="c1"),
    ]
    assert genai_messages(said) == [
        {
            "role": "user",
            "parts": [{"type": "text", "content": "what is this?"}, {"type": "image", "mime_type": "image/png"}],
        },
        {
            "role": "assistant",
            "parts": [
                {"type": "reasoning", "content": "hm"},
                {"type": "text", "content": "look"},
                {"type": "tool_call", "id": "c1", "name": "search", "arguments": {"q": "x"}},
                {"type": "tool_call", "id": "c2", "name": "search", "arguments": '{"q": '},
            ],
        },
        {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": "found"}]},
    ]
    assert text_of(said[1]) == "look"


class PydanticState(BaseModel):
    messages: list[Any]


@dataclass
class DataState:
    question: str


@pytest.mark.parametrize(
    ("given", "query"),
    [
        ("how warm?", "how warm?"),
        (HumanMessage("how warm?"), "how warm?"),
        ([SystemMessage("s"), HumanMessage("how warm?")], "how warm?"),
        ([{"role": "user", "content": "how warm?"}], "how warm?"),
        ({"messages": "how warm?"}, "how warm?"),
        ({"messages": [("user", "how warm?")]}, "how warm?"),
        ({"messages": ("user", "how warm?")}, "how warm?"),
        ({"messages": [HumanMessage("old"), AIMessage("a"), HumanMessage("how warm?")]}, "how warm?"),
        ({"messages": [HumanMessage([{"type": "text", "text": "how warm?"}])]}, "how warm?"),
        ({"input": "how warm?", "language": "en"}, "how warm?"),
        ({"question": "how warm?"}, "how warm?"),
        ({"whatever": "how warm?"}, "how warm?"),
        ({"a": "one", "b": "two"}, None),
        (PydanticState(messages=[HumanMessage("how warm?")]), "how warm?"),
        (DataState("how warm?"), "how warm?"),
        (None, None),
        (7, None),
        ([], None),
    ],
)
def test_the_question_is_found_in_the_usual_inputs(given: Any, query: str | None) -> None:
    assert query_of(given) == query


@pytest.mark.parametrize(
    ("given", "answer"),
    [
        ("cold", "cold"),
        (AIMessage("cold"), "cold"),
        ({"messages": [HumanMessage("q"), AIMessage("cold")]}, "cold"),
        ({"messages": [AIMessage([{"type": "text", "text": "co"}, {"type": "text", "text": "ld"}])]}, "cold"),
        ({"messages": [AIMessage("let me see", tool_calls=[{"name": "t", "args": {}, "id": "1"}])]}, None),
        ({"messages": [AIMessage("old"), HumanMessage("new question")]}, None),
        ({"messages": [ToolMessage("direct", tool_call_id="1")]}, "direct"),
        ({"output": "cold"}, "cold"),
        ({"answer": AIMessage("cold")}, "cold"),
        ({"messages": [AIMessage("")], "structured_response": DataState("x")}, '{"question":"x"}'),
        ({"messages": [AIMessage("")], "structured_response": {"t": -65}}, '{"t":-65}'),
        ({"n": 1}, None),
        (None, None),
    ],
)
def test_the_answer_is_found_in_the_usual_outputs(given: Any, answer: str | None) -> None:
    assert answer_of(given) == answer


def test_the_conversation_is_found_under_its_usual_names() -> None:
    thread = UUID("12345678-1234-5678-1234-567812345678")
    assert conversation_of({"thread_id": "t", "session_id": "s"}) == "t"
    assert conversation_of({"session_id": 7}) == "7"
    assert conversation_of({"thread_id": thread}) == str(thread)
    assert conversation_of({"conversation_id": "", "user": "u"}) is None
    assert conversation_of(None) is None


def test_texts_that_mean_a_limit() -> None:
    assert stopped_by_limit("Agent stopped due to iteration limit or time limit.")
    assert stopped_by_limit("Model call limits exceeded: run limit (1/1)")
    assert stopped_by_limit("'search' tool call limit reached: run limit exceeded (2/1 calls).")
    assert not stopped_by_limit("The speed limit was exceeded.")
    assert not stopped_by_limit("x" * 1000 + " call limit reached: ")
    assert not stopped_by_limit(None)


def test_a_streamed_sequence_has_its_question_although_it_is_told_at_the_end(spans: Any) -> None:
    chain = RunnableLambda(str.strip) | RunnableLambda(str.upper)
    assert "".join(chain.stream(" how warm? ", {"callbacks": [AgentPathCallbackHandler()]})) == "HOW WARM?"
    (run,) = spans.agents()
    assert _messages(run, "gen_ai.input.messages")[0]["parts"][0]["content"] == " how warm? "
    assert _messages(run, "gen_ai.output.messages")[0]["parts"][0]["content"] == "HOW WARM?"
