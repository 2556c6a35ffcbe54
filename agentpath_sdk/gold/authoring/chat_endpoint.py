"""A chat model behind an HTTP endpoint that speaks the chat-completions protocol (extra ``http``)."""

from __future__ import annotations

import json
import math
import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, cast
from urllib.parse import urlsplit

from agentpath_sdk._plain import is_dict
from agentpath_sdk.errors import AgentPathError, ConfigurationError, MissingExtraError
from agentpath_sdk.gold.authoring.chat import Message
from agentpath_sdk.gold.wording import is_list

if TYPE_CHECKING:
    import httpx
    import tenacity

__all__ = ["ChatEndpoint"]

_RETRIED: Final = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
_MAX_ANSWER: Final = 4 * 1_048_576
_MAX_WAIT: Final = 30.0
_SHOWN: Final = 200


class _Transient(Exception):
    """A failure that may be gone at the next attempt."""

    def __init__(self, problem: str, wait: float | None = None) -> None:
        super().__init__(problem)
        self.wait = wait


@dataclass(frozen=True, kw_only=True, slots=True)
class ChatEndpoint:
    """A ``ChatModel`` that posts to ``BASE_URL/chat/completions``.

    Connection failures, time-outs, 429 and server errors are tried again with growing waits, ``Retry-After`` is
    followed up to 30 seconds. Redirects are not followed: they would carry the key to another host.
    """

    base_url: str
    model: str
    api_key: str | None = field(default=None, repr=False)
    timeout_seconds: float = 60.0
    """For one attempt, from the request to the last byte of the answer."""
    attempts: int = 4
    wait_seconds: float = 1.0
    """Before the second attempt; doubled for each further one."""
    temperature: float | None = 0.0
    """None leaves it out, for models that take no temperature."""

    def __post_init__(self) -> None:
        """Check the address.

        Raises:
            ConfigurationError: it is no http or https address.
            MissingExtraError: the extra ``http`` is not installed.
        """
        parts = urlsplit(self.base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ConfigurationError(f"base URL {self.base_url!r} is no address; expected https://host/v1")
        if parts.username or parts.password:
            raise ConfigurationError("the base URL holds a user name or password; give the key apart from it")
        for library in ("httpx", "tenacity"):
            _check_installed(library)

    def __call__(self, messages: Sequence[Message]) -> str:
        """Return the text of the first choice; empty where the model gave none.

        Raises:
            AgentPathError: there is no answer after all attempts, or the endpoint refuses the request.
        """
        import tenacity

        retrying = tenacity.Retrying(
            retry=tenacity.retry_if_exception_type(_Transient),
            stop=tenacity.stop_after_attempt(max(self.attempts, 1)),
            wait=self._wait,
            reraise=True,
        )
        try:
            return self._text(retrying(self._post, messages))
        except _Transient as error:
            tries = f"{self.attempts} attempts" if self.attempts > 1 else "one attempt"
            raise AgentPathError(f"{self._where()}: {error} (after {tries})") from None

    def _wait(self, state: tenacity.RetryCallState) -> float:
        """Return the seconds that the endpoint asked for, else growing ones, spread so that clients do not march."""
        error = state.outcome.exception() if state.outcome is not None else None
        if isinstance(error, _Transient) and error.wait is not None:
            return error.wait
        growing = min(self.wait_seconds * 2.0 ** (state.attempt_number - 1), _MAX_WAIT)
        return growing * random.uniform(0.5, 1.0)

    def _where(self) -> str:
        parts = urlsplit(self.base_url)
        return f"chat endpoint {parts.scheme}://{parts.hostname}" + (f":{parts.port}" if parts.port else "")

    def _post(self, messages: Sequence[Message]) -> bytes:
        import httpx

        body: dict[str, Any] = {
            "model": self.model,
            "messages": [{"role": one.role, "content": one.content} for one in messages],
        }
        if self.temperature is not None:
            body["temperature"] = self.temperature
        headers = {} if self.api_key is None else {"Authorization": f"Bearer {self.api_key}"}
        deadline = time.monotonic() + self.timeout_seconds
        try:
            with (
                httpx.Client(timeout=self.timeout_seconds, follow_redirects=False) as client,
                client.stream("POST", self._url(), json=body, headers=headers) as response,
            ):
                content = _read(response, deadline)
                self._check(response, content)
                return content
        except httpx.TimeoutException:
            raise _Transient(f"no answer within {self.timeout_seconds:g} seconds") from None
        except httpx.TransportError as error:
            raise _Transient(f"cannot be reached ({type(error).__name__})") from None
        except httpx.InvalidURL:
            raise ConfigurationError(f"base URL {self.base_url!r} is no address; expected https://host/v1") from None
        except (httpx.HTTPError, UnicodeEncodeError) as error:
            # A key with a line break or a letter outside ASCII; the exception's text would show it.
            raise AgentPathError(f"{self._where()}: the request failed ({type(error).__name__})") from None

    def _url(self) -> str:
        return f"{self.base_url.rstrip('/')}/chat/completions"

    def _check(self, response: httpx.Response, content: bytes) -> None:
        status = response.status_code
        if status == 200:
            return
        said = self._said(content)
        if status in _RETRIED:
            raise _Transient(f"status {status}{said}", _retry_after(response.headers.get("retry-after")))
        if status in (401, 403):
            # Providers repeat the key in their message.
            raise AgentPathError(f"{self._where()}: status {status}: the key is missing or is not accepted")
        hint = "; is the base URL right? It often ends in /v1" if status in (404, 405) or 300 <= status < 400 else ""
        raise AgentPathError(f"{self._where()}: status {status}{said}{hint}")

    def _said(self, content: bytes) -> str:
        """Return the endpoint's own words on what is wrong, if it has any, on one line."""
        error = _get(_json(content), "error")
        words = error if isinstance(error, str) else _get(error, "message")
        if not isinstance(words, str) or not words.strip():
            return ""
        shown = " ".join(words.split())[:_SHOWN]
        return ": " + (shown.replace(self.api_key, "[key]") if self.api_key else shown)

    def _text(self, content: bytes) -> str:
        choices = _get(_json(content), "choices")
        message = _get(choices[0], "message") if is_list(choices) and choices else None
        if not is_dict(message):
            raise AgentPathError(f"{self._where()}: the answer is no chat completion; is the base URL right?")
        return _content_text(_get(message, "content"))


def _read(response: httpx.Response, deadline: float) -> bytes:
    parts: list[bytes] = []
    size = 0
    for part in response.iter_bytes():
        size += len(part)
        if size > _MAX_ANSWER:
            raise AgentPathError(f"the endpoint's answer is larger than {_MAX_ANSWER // 1_048_576} MB")
        if time.monotonic() > deadline:
            # The library's own limit is for each read: an endpoint that sends a byte a second never meets it.
            raise _Transient("the answer did not end in time")
        parts.append(part)
    return b"".join(parts)


def _retry_after(value: str | None) -> float | None:
    """Return the seconds asked for, up to the bound; None where it is a date or nothing."""
    try:
        seconds = float(value or "")
    except ValueError:
        return None
    return min(seconds, _MAX_WAIT) if math.isfinite(seconds) and seconds >= 0 else None


def _content_text(content: Any) -> str:
    """Return the text of a message: a text, or the text parts of a list of parts."""
    if isinstance(content, str):
        return content
    parts: Sequence[Any] = content if is_list(content) else []
    return "".join(text for part in parts if isinstance(text := _get(part, "text"), str))


def _json(content: bytes) -> Any:
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return None


def _get(value: Any, key: str) -> Any:
    return cast("Mapping[str, Any]", value).get(key) if is_dict(value) else None


def _check_installed(library: str) -> None:
    from importlib.util import find_spec

    if find_spec(library) is None:
        raise MissingExtraError(library, "http")
