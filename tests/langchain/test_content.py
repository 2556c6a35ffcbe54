"""Secrets, content capture and odd values on the way through LangChain."""

from __future__ import annotations

import json
import threading
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

pytest.importorskip("langchain_core", reason="needs the extra langchain")

from langchain_core.runnables import RunnableLambda
from langchain_core.tools import tool
from pydantic import SecretStr

from agentpath_langchain import AgentPathCallbackHandler

SECRETS = ("sk-test-111", "sk-test-222", "tok-333", "pw-444", "AIza-555")


@tool
def fetch(api_key: str, headers: dict[str, str], password: SecretStr, url: str, author: str, session_count: int) -> str:
    """Fetch a page."""
    raise ValueError(f"call with {api_key} failed")


GIVEN: dict[str, Any] = {
    "api_key": "sk-test-222",
    "headers": {"Authorization": "Bearer tok-333"},
    "password": "pw-444",
    "url": "https://x.test/?key=AIza-555",
    "author": "Ann",
    "session_count": 3,
}


def _everything(spans: Any) -> str:
    return "\n".join(
        json.dumps(
            [dict(s.attributes), s.status.description, [[e.name, dict(e.attributes)] for e in s.events]], default=str
        )
        for s in spans.all()
    )


def _run(handler: Any) -> None:
    chain = RunnableLambda(lambda q: fetch.invoke(GIVEN), name="agent")
    with pytest.raises(ValueError, match="call with sk-test-222 failed"):
        chain.invoke("go", {"callbacks": [handler]})


def test_no_secret_reaches_a_span_and_the_rest_is_readable(spans: Any) -> None:
    _run(AgentPathCallbackHandler())
    told = _everything(spans)
    for secret in SECRETS:
        assert secret not in told
    found = spans.arguments(spans.one("execute_tool fetch"))
    assert (found["author"], found["session_count"]) == ("Ann", 3)


def test_with_capture_off_only_names_outcomes_and_error_types_remain(recorder_with: Any) -> None:
    recorder, spans = recorder_with(capture_content=False)
    _run(AgentPathCallbackHandler(recorder=recorder))
    told = _everything(spans)
    for text in (*SECRETS, "Ann", "go", "failed"):
        assert f'"{text}' not in told
    span = spans.one("execute_tool fetch")
    assert (spans.outcome(span), span.attributes["error.type"]) == ("error", "ValueError")
    assert span.attributes["agentpath.content.capture"] == "off"


def test_odd_values_are_recorded_without_changing_them(spans: Any) -> None:
    def numbers() -> Any:
        yield 1

    loop: dict[str, Any] = {}
    loop["self"] = loop
    values = [
        loop,
        threading.Lock(),
        numbers(),
        datetime(2026, 1, 2, tzinfo=UTC),
        Decimal("1.10"),
        b"\xff\x00",
        {1, 2},
        "😀" * 50_000,
    ]

    @tool
    def same(value: Any) -> Any:
        """Return the value."""
        return value

    for value in values:
        assert same.invoke({"value": value}, {"callbacks": [AgentPathCallbackHandler()]}) is value
    assert len(spans.tools()) == len(values)
    for span in spans.tools():
        assert spans.outcome(span) == "ok"
        text = span.attributes["gen_ai.tool.call.arguments"]
        json.loads(text, parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))
        assert len(text) <= 16_384
