"""A chat model behind HTTP: the protocol, and what happens when the endpoint does not keep to it."""

from __future__ import annotations

import logging
import socket
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from agentpath_sdk.errors import AgentPathError, ConfigurationError, MissingExtraError
from agentpath_sdk.gold.authoring import chat_endpoint
from agentpath_sdk.gold.authoring.chat import Message
from agentpath_sdk.gold.authoring.chat_endpoint import ChatEndpoint

pytest.importorskip("httpx")
pytest.importorskip("tenacity")

MESSAGES = (Message(role="system", content="Be brief."), Message(role="user", content="Привет, secret-query"))
StartEndpoint = Callable[..., Any]


def model_at(stub: Any, **more: Any) -> ChatEndpoint:
    return ChatEndpoint(base_url=stub.base_url, model="m-1", **{"wait_seconds": 0.0, **more})


def test_a_request_is_a_chat_completion_and_its_text_comes_back(endpoint: StartEndpoint) -> None:
    stub = endpoint("Здравствуйте")
    assert model_at(stub, api_key="sk-1")(MESSAGES) == "Здравствуйте"
    assert stub.paths == ["/v1/chat/completions"]
    assert stub.keys == ["Bearer sk-1"]
    assert stub.requests == [
        {
            "model": "m-1",
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "Привет, secret-query"},
            ],
            "temperature": 0.0,
        }
    ]


def test_without_a_key_none_is_sent_and_temperature_can_be_left_out(endpoint: StartEndpoint) -> None:
    stub = endpoint("x")
    model_at(stub, temperature=None)(MESSAGES)
    assert stub.keys == [None]
    assert "temperature" not in stub.requests[0]


@pytest.mark.parametrize(
    ("content", "text"),
    [(None, ""), ([{"type": "text", "text": "a"}, {"type": "image"}, {"type": "text", "text": "b"}], "ab"), ("", "")],
)
def test_odd_content_is_text_all_the_same(endpoint: StartEndpoint, content: Any, text: str) -> None:
    assert model_at(endpoint({"content": content}))(MESSAGES) == text


@pytest.mark.parametrize("status", [429, 500, 502, 503])
def test_a_failure_that_may_pass_is_tried_again(endpoint: StartEndpoint, status: int) -> None:
    stub = endpoint({"status": status, "raw": b'{"error": {"message": "busy"}}'}, {"status": status, "raw": b""}, "ok")
    assert model_at(stub)(MESSAGES) == "ok"
    assert len(stub.requests) == 3


def test_after_the_last_attempt_the_endpoint_s_own_words_are_given(endpoint: StartEndpoint) -> None:
    stub = endpoint({"status": 429, "raw": b'{"error": {"message": "Rate limit\\nreached for sk-1"}}'})
    with pytest.raises(AgentPathError, match=r"127\.0\.0\.1:\d+: status 429: Rate limit reached for \[key\] \(after 2"):
        model_at(stub, attempts=2, api_key="sk-1")(MESSAGES)
    assert len(stub.requests) == 2


def test_the_wait_that_the_endpoint_asks_for_is_kept(endpoint: StartEndpoint) -> None:
    stub = endpoint({"status": 429, "raw": b"{}", "headers": {"Retry-After": "0.2"}}, "ok")
    begun = time.monotonic()
    assert model_at(stub)(MESSAGES) == "ok"
    assert time.monotonic() - begun >= 0.2


@pytest.mark.parametrize("asked", ["-1", "nan", "inf", "Wed, 21 Oct 2037 07:28:00 GMT", "soon"])
def test_a_wait_that_cannot_be_kept_is_not(endpoint: StartEndpoint, asked: str) -> None:
    stub = endpoint({"status": 503, "raw": b"{}", "headers": {"Retry-After": asked}}, "ok")
    assert model_at(stub)(MESSAGES) == "ok"


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (
            {"status": 401, "raw": b'{"error": {"message": "Incorrect API key provided: sk-1"}}'},
            "key is missing or is not",
        ),
        ({"status": 404, "raw": b"<html>"}, "status 404; is the base URL right"),
        ({"status": 400, "raw": b'{"error": "no such model"}'}, "status 400: no such model"),
        ({"status": 302, "raw": b"", "headers": {"Location": "http://127.0.0.1:1/"}}, "status 302; is the base URL"),
        ({"raw": b"<html>hello</html>"}, "no chat completion"),
        ({"raw": b'{"choices": []}'}, "no chat completion"),
        ({"raw": b'{"choices": [{"message": "x"}]}'}, "no chat completion"),
        ({"raw": b"[" * 100_000}, "no chat completion"),
    ],
)
def test_a_failure_that_stays_is_not_tried_again(endpoint: StartEndpoint, answer: dict[str, Any], words: str) -> None:
    stub = endpoint(answer)
    with pytest.raises(AgentPathError, match=words) as caught:
        model_at(stub, api_key="sk-1")(MESSAGES)
    assert len(stub.requests) == 1
    assert "sk-1" not in str(caught.value)


def test_a_slow_endpoint_is_given_up_on(endpoint: StartEndpoint) -> None:
    stub = endpoint({"content": "late", "wait": threading.Event()})
    with pytest.raises(AgentPathError, match=r"no answer within 0\.2 seconds \(after 2 attempts\)"):
        model_at(stub, timeout_seconds=0.2, attempts=2)(MESSAGES)


def test_an_answer_that_never_ends_is_given_up_on(endpoint: StartEndpoint) -> None:
    """Every read is answered in time; the whole is not."""
    stub = endpoint({"content": "x" * 10_000, "drip": True})
    begun = time.monotonic()
    with pytest.raises(AgentPathError, match="did not end in time"):
        model_at(stub, timeout_seconds=0.3, attempts=1)(MESSAGES)
    assert time.monotonic() - begun < 5


def test_an_answer_without_end_is_not_kept(endpoint: StartEndpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chat_endpoint, "_MAX_ANSWER", 1_000)
    with pytest.raises(AgentPathError, match="larger than"):
        model_at(endpoint("x" * 5_000))(MESSAGES)


def test_an_endpoint_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        model = ChatEndpoint(base_url=f"http://127.0.0.1:{port}", model="m", attempts=2, wait_seconds=0.0)
        with pytest.raises(AgentPathError, match=f"127.0.0.1:{port}: cannot be reached"):
            model(MESSAGES)


@pytest.mark.parametrize("address", ["", "localhost:8000", "ftp://x/v1", "https://", "https://me:pw@host/v1"])
def test_an_address_that_is_none_is_refused_at_once(address: str) -> None:
    with pytest.raises(ConfigurationError):
        ChatEndpoint(base_url=address, model="m")


def test_neither_key_nor_messages_are_logged_or_shown(
    endpoint: StartEndpoint, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    """A retry writes nothing at all: standard output may be a gold file."""
    caplog.set_level(logging.DEBUG)
    stub = endpoint({"status": 500, "raw": b""}, "ok")
    model = model_at(stub, api_key="sk-secret")
    model(MESSAGES)
    assert "sk-secret" not in repr(model)
    assert "sk-secret" not in caplog.text
    assert "secret-query" not in caplog.text
    assert capfd.readouterr() == ("", "")


def test_a_key_that_is_no_header_is_not_shown(endpoint: StartEndpoint) -> None:
    for key in ("sk-1\nX: y", "ключ"):
        with pytest.raises(AgentPathError) as caught:
            model_at(endpoint("x"), api_key=key)(MESSAGES)
        assert key not in str(caught.value)


def test_a_missing_library_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    with pytest.raises(MissingExtraError, match=r"agentpath-sdk\[http\]"):
        ChatEndpoint(base_url="http://localhost/v1", model="m")
