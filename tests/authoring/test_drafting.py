"""A model's draft is checked like a person's file, and given back with what is wrong."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from agentpath_sdk.gold.authoring.chat import ChatModel, Message
from agentpath_sdk.gold.authoring.drafting import Draft, draft_path
from agentpath_sdk.gold.authoring.tool_catalogue import ToolSpec, tools_from
from agentpath_sdk.gold.dumping import path_entry
from agentpath_sdk.gold.registry import GoldPathRegistry

TOOLS = tools_from(
    [
        {
            "name": "search",
            "description": "Searches the web.",
            "inputSchema": {
                "type": "object",
                "properties": {
                    "query": {"type": "string"},
                    "limit": {"type": ["integer", "null"]},
                    "lang": {"enum": ["en", "ru"]},
                },
                "required": ["query"],
            },
            "annotations": {"readOnlyHint": True},
        },
        {"name": "calculator", "parameters": {"expression": {"type": "string"}}},
        "anything",
    ]
)
GOOD = {
    "description": "Look it up, then convert.",
    "steps": [
        {"search": {"query": {"$fuzzy": "temperature on Mars", "threshold": 0.8}}},
        {"optional": {"calculator": {"expression": {"$ignore": True}}}},
        "response",
    ],
}
QUERY = "How warm is {Mars}?"


def scripted(*answers: Any) -> tuple[ChatModel, list[tuple[Message, ...]]]:
    """A model that gives these answers in turn, and what it was sent."""
    sent: list[tuple[Message, ...]] = []

    def model(messages: Sequence[Message]) -> str:
        sent.append(tuple(messages))
        answer = answers[min(len(sent), len(answers)) - 1]
        return answer if isinstance(answer, str) else json.dumps(answer)

    return model, sent


def draft(*answers: Any, tools: Sequence[ToolSpec] = TOOLS, **more: Any) -> Draft:
    model, _ = scripted(*answers)
    return draft_path(QUERY, tools, model, **more)


def test_a_draft_is_a_path_that_scores_nothing_until_asked() -> None:
    found = draft(GOOD, agent="space", model_name="m-1", author="Ann", date="2026-03-01")
    assert found.problems == ()
    path = found.path
    assert path is not None
    assert (path.status, path.agent, path.queries, path.effects) == ("draft", "space", (QUERY,), {"search": "read"})
    assert (path.provenance.kind, path.provenance.reference) == ("generated", "model m-1")
    assert path_entry(path)["steps"] == GOOD["steps"]
    assert GoldPathRegistry(path).find(query=QUERY, agent="space").path is None
    assert GoldPathRegistry(path, statuses=["draft"]).find(query=QUERY, agent="space").path is path


def test_the_model_is_sent_the_query_and_the_tools() -> None:
    model, sent = scripted(GOOD)
    draft_path(QUERY, TOOLS, model)
    [[system, user]] = sent
    assert (system.role, user.role) == ("system", "user")
    told = json.loads(user.content)
    assert told["query"] == QUERY
    assert [tool["name"] for tool in told["tools"]] == ["search", "calculator", "anything"]
    assert told["tools"][0]["parameters"]["required"] == ["query"]


@pytest.mark.parametrize(
    "wrapped",
    [
        "Sure! Here it is:\n```json\n{}\n```\nAnything else?",
        "{}",
        "The path is {} as asked.",
    ],
)
def test_words_around_the_object_do_no_harm(wrapped: str) -> None:
    assert draft(wrapped.replace("{}", json.dumps(GOOD))).path is not None


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ("", "the answer is empty"),
        ("I cannot do that.", "holds no JSON object"),
        (json.dumps(GOOD)[:-20], "is no valid JSON"),
        ('{"steps": [NaN]}', "NaN is no JSON number"),
        ("{" * 50_000, "is no valid JSON"),
        ('{"steps": ' + "[" * 50_000, "nested too deep"),
        ("x" * 200_000, "100000 are read at most"),
        ({"steps": []}, "'steps' is missing or empty"),
        ({"description": "x"}, "'steps' is missing or empty"),
        ({"steps": ["response"], "status": "approved"}, "unknown key 'status'"),
        ({"steps": [{"browse": {}}]}, "there is no tool 'browse'"),
        ({"steps": [{"serch": {"query": "x"}}]}, "did you mean 'search'?"),
        ({"steps": [{"search": {}}]}, "search: the argument 'query' is required"),
        ({"steps": [{"search": {"query": "x", "size": 3}}]}, "search: there is no argument 'size'"),
        ({"steps": [{"search": {"query": 3}}]}, "search.query: expected string, found number 3"),
        ({"steps": [{"search": {"query": "x", "lang": "de"}}]}, "search.lang: expected one of"),
        ({"steps": [{"search": {"query": {"$fuzy": "x"}}}]}, "'$fuzy'"),
        ({"steps": [{"optional": {"browse": {}}}]}, "there is no tool 'browse'"),
        ({"steps": ["search"] * 61}, "61 calls"),
        ({"steps": 3}, "expected a list"),
    ],
)
def test_each_mistake_is_named(answer: Any, words: str) -> None:
    found = draft(answer, attempts=1)
    assert found.path is None
    assert any(words in problem for problem in found.problems[0]), found.problems


def test_null_is_a_value_where_the_schema_has_it_and_unknown_schemas_forbid_nothing() -> None:
    steps = [{"search": {"query": "x", "limit": None}}, {"anything": {"a": 1}}, "response"]
    assert draft({"steps": steps}).path is not None


def test_an_answer_that_was_refused_is_given_back_with_what_is_wrong() -> None:
    model, sent = scripted("no idea", {"steps": [{"browse": {}}]}, GOOD)
    found = draft_path(QUERY, TOOLS, model)
    assert found.path is not None
    assert found.attempts == 3
    assert [len(messages) for messages in sent] == [2, 4, 4]
    assert sent[1][2].content == "no idea"
    assert "holds no JSON object" in sent[1][3].content
    assert "there is no tool 'browse'" in sent[2][3].content


def test_attempts_are_bounded() -> None:
    model, sent = scripted("no")
    found = draft_path(QUERY, TOOLS, model, attempts=4)
    assert (found.path, found.attempts, len(sent)) == (None, 4, 4)


def test_braces_in_queries_and_arguments_mean_nothing() -> None:
    """The query is somebody's text: a slot in it would make the draft a template."""
    path = draft({"steps": [{"search": {"query": "{Mars}"}}]}).path
    assert path is not None
    assert path.templates == ()
    assert path.steps[0].arguments["query"]("{Mars}").passed  # type: ignore[union-attr,index]  # a call with arguments


def test_what_the_model_raises_is_the_caller_s() -> None:
    def broken(_: Sequence[Message]) -> str:
        raise OSError("no network")

    with pytest.raises(OSError, match="no network"):
        draft_path(QUERY, TOOLS, broken)


def test_a_model_over_http_drafts_with_a_retry_of_both_kinds(endpoint: Callable[..., Any]) -> None:
    """One answer is an error of the server, one is cut off in the middle, the third is good."""
    pytest.importorskip("httpx")
    pytest.importorskip("tenacity")
    from agentpath_sdk.gold.authoring.chat_endpoint import ChatEndpoint

    whole = json.dumps(GOOD)
    stub = endpoint({"status": 500, "raw": b""}, whole[: len(whole) // 2], f"```json\n{whole}\n```")
    model = ChatEndpoint(base_url=stub.base_url, model="m", wait_seconds=0.0)
    found = draft_path(QUERY, TOOLS, model)
    assert found.path is not None
    assert found.attempts == 2
    assert len(stub.requests) == 3
    assert [message["role"] for message in stub.requests[2]["messages"]] == ["system", "user", "assistant", "user"]
