"""Secrets stay inside: searched for in everything that leaves."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from pydantic import BaseModel, SecretStr

from agentpath_sdk import semconv
from agentpath_sdk.settings import TracingSettings
from agentpath_sdk.tracing import configure_tracing, record_outcome, trace_agent, trace_step, trace_tool

SECRETS = ("sk-test-111", "sk-test-222", "tok-333", "pw-444", "AIza-555")


class Login(BaseModel):
    entry: SecretStr


class Client:
    def __init__(self) -> None:
        self.api_key = "sk-test-111"

    @trace_tool
    def call(self, **arguments: Any) -> None:
        raise ValueError("call with sk-test-222 failed")


def call_everything() -> None:
    @trace_agent
    def agent(question: str) -> None:
        Client().call(
            api_key="sk-test-222",
            headers={"Authorization": "Bearer tok-333"},
            login=Login(entry=SecretStr("pw-444")),
            url="https://x.test/?key=AIza-555",
            author="Ann",
            session_count=3,
        )

    with pytest.raises(ValueError, match="call with sk-test-222 failed"):
        agent("use sk-test-111")


def test_no_secret_leaves_and_everything_else_is_readable(spans: Any, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        call_everything()
    for secret in SECRETS:
        assert secret not in spans.text()
        assert secret not in caplog.text
    arguments = spans.arguments("call")
    assert "self" not in arguments
    assert (arguments["author"], arguments["session_count"]) == ("Ann", 3)
    assert spans.one("call").attributes[semconv.STEP_ERROR_MESSAGE] == "call with [redacted] failed"


def test_with_capture_off_only_names_outcomes_times_and_types_remain(spans: Any) -> None:
    configure_tracing(TracingSettings(capture_content=False))
    call_everything()
    text = spans.text()
    for word in (*SECRETS, "Ann", "failed", "x.test"):
        assert word not in text
    assert dict(spans.one("call").attributes) == {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "call",
        "gen_ai.agent.name": "agent",
        "agentpath.step.outcome": "error",
        "error.type": "ValueError",
        "agentpath.content.capture": "off",
    }


def test_a_password_passed_by_name_is_also_found_where_it_comes_back(spans: Any) -> None:
    @trace_tool
    def login(user: str, password: str) -> dict[str, str]:
        if user == "bob":
            raise PermissionError(f"{password!r} is wrong")
        return {"echo": f"{user}:{password}"}

    @trace_agent
    def agent(question: str) -> str:
        login("ann", password="hunter22")
        login("bob", password="hunter22")
        return "never"

    with pytest.raises(PermissionError):
        agent("q")
    assert "hunter22" not in spans.text()


def test_capture_and_redaction_per_tool(spans: Any) -> None:
    @trace_tool(capture=False)
    def silent(x: str) -> str:
        return x

    @trace_tool(redact=["patient"], keep=["token"])
    def partly(patient: str, token: str, x: int) -> str:
        return f"{patient}: {x}"

    silent("private words")
    partly("Ann Smith", token="word", x=1)
    assert "private words" not in spans.text()
    assert spans.one("silent").attributes[semconv.CONTENT_CAPTURE] == "off"
    assert spans.arguments("partly") == {"patient": "[redacted]", "token": "word", "x": 1}
    assert "Ann Smith" not in spans.text(), "also where it comes back"


def test_phases_reasons_and_errors_are_cleaned_too(spans: Any) -> None:
    @trace_agent
    def agent(question: str) -> None:
        with trace_step(phase="audit") as step:
            step.output({"password": "hunter2"})
        record_outcome(False, reason="Authorization: Bearer tok-333")

    agent("q")
    assert "hunter2" not in spans.text()
    assert "tok-333" not in spans.text()


def test_no_stack_trace_is_recorded(spans: Any) -> None:
    @trace_tool
    def tool() -> None:
        raise ValueError("x")  # a source line with a literal, sk-test-999

    with pytest.raises(ValueError, match="x"):
        tool()
    assert "sk-test-999" not in spans.text()
    assert "Traceback" not in spans.text()
