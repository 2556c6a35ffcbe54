"""Runs built by hand, an acceptor of gold expressions, and a chat endpoint on the loopback interface."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from agentpath_sdk.gold.model import AnyOrder, CallStep, OneOf, OptionalStep, Repeat, Step
from agentpath_sdk.gold.model import Sequence as InSequence
from agentpath_sdk.trajectories.model import GoalWord, ToolCall, Trajectory

DATA = Path(__file__).parent.parent / "data" / "authoring"

Accepts: TypeAlias = Callable[[Sequence[Step], Sequence[ToolCall]], bool]
MakeRun: TypeAlias = Callable[..., Trajectory]


@pytest.fixture
def data() -> Path:
    """The folder of samples."""
    return DATA


@pytest.fixture
def make_run() -> MakeRun:
    """Build a run from tools, or pairs of tool and arguments; ``success`` None = no recorded outcome."""

    def build(*steps: Any, query: str | None = "do it", success: bool | None = True, **more: Any) -> Trajectory:
        return Trajectory(
            query=query,
            steps=tuple(map(_call, steps)),
            goal=None if success is None else GoalWord(success=success),
            stop_reason="finished",
            **more,
        )

    return build


def _call(step: Any) -> ToolCall:
    if isinstance(step, ToolCall):
        return step
    tool, arguments = (step, {}) if isinstance(step, str) else step
    return ToolCall(tool=tool, arguments=arguments)


@pytest.fixture
def accepts() -> Accepts:
    """Whether an expression takes a run, by trying every way: slow, simple, and independent of the scoring."""
    return lambda steps, calls: len(calls) in _ends(InSequence(steps=tuple(steps)), tuple(calls), 0)


def _ends(step: Step, calls: tuple[ToolCall, ...], at: int) -> set[int]:
    """Return the places at which the run may be after the step, being at ``at`` before it."""
    match step:
        case CallStep():
            return {at + 1} if at < len(calls) and _fits(step, calls[at]) else set()
        case InSequence():
            places = {at}
            for inner in step.steps:
                places = {end for place in places for end in _ends(inner, calls, place)}
            return places
        case OptionalStep():
            return {at} | _ends(step.step, calls, at)
        case OneOf():
            return {end for branch in step.branches for end in _ends(branch, calls, at)}
        case Repeat():
            return _repeated(step, calls, at)
        case AnyOrder():
            return _in_any_order(step.steps, calls, at)


def _repeated(step: Repeat, calls: tuple[ToolCall, ...], at: int) -> set[int]:
    places, found = {at}, set[int]()
    for times in range((step.most or len(calls)) + 1):
        if times >= step.least:
            found |= places
        places = {end for place in places for end in _ends(step.step, calls, place)}
    return found


def _in_any_order(members: tuple[Step, ...], calls: tuple[ToolCall, ...], at: int) -> set[int]:
    states = {(frozenset(range(len(members))), at)}
    for _ in members:
        states = {
            (left - {member}, end)
            for left, place in states
            for member in left
            for end in _ends(members[member], calls, place)
        }
    return {place for _, place in states}


def _fits(step: CallStep, call: ToolCall) -> bool:
    if step.tool != call.tool:
        return False
    if step.arguments is None:
        return True
    given = call.arguments or {}
    wanted = {name: matcher for name, matcher in step.arguments.items() if matcher.name != "ignore"}
    return set(given) <= set(step.arguments) and all(
        name in given and matcher(given[name]).passed for name, matcher in wanted.items()
    )


# --- the endpoint ----------------------------------------------------------------------------------------------------


@dataclass
class Answer:
    """What the endpoint does with one request."""

    content: Any = None
    """Text of the model's message."""
    status: int = 200
    raw: bytes | None = None
    """Body, instead of a completion."""
    headers: dict[str, str] = field(default_factory=dict)
    wait: threading.Event | None = None
    """The answer comes when this is set."""
    drip: bool = False
    """The body comes a byte at a time, until the client leaves."""


@dataclass
class Endpoint:
    """A chat-completions endpoint that answers as told, in turn; the last answer is repeated."""

    answers: list[Answer]
    requests: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    port: int = 0

    @property
    def base_url(self) -> str:
        """What a user would give."""
        return f"http://127.0.0.1:{self.port}/v1"

    def next_answer(self) -> Answer:
        """Return what comes next."""
        return self.answers[min(len(self.requests), len(self.answers)) - 1]


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Endpoint]]:
    """Start endpoints; each is given its answers: texts of the model, or the fields of an ``Answer``."""
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    servers: list[ThreadingHTTPServer] = []
    held: list[threading.Event] = []

    def start(*answers: str | dict[str, Any]) -> Endpoint:
        told = Endpoint([Answer(**one) if isinstance(one, dict) else Answer(content=one) for one in answers])
        held.extend(one.wait for one in told.answers if one.wait is not None)
        server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(told))
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        servers.append(server)
        told.port = server.server_address[1]
        return told

    yield start
    for event in held:
        event.set()
    for server in servers:
        server.shutdown()
        server.server_close()


def _handler(told: Endpoint) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers.get("Content-Length", 0))
            told.paths.append(self.path)
            told.keys.append(self.headers.get("Authorization"))
            told.requests.append(json.loads(self.rfile.read(length)))
            answer = told.next_answer()
            if answer.wait is not None:
                answer.wait.wait(10)
            self._send(answer)

        def _send(self, answer: Answer) -> None:
            body = answer.raw if answer.raw is not None else json.dumps(_completion(answer.content)).encode()
            try:
                self.send_response(answer.status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                for name, value in answer.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                for at in range(len(body)) if answer.drip else ():
                    self.wfile.write(body[at : at + 1])
                    self.wfile.flush()
                    threading.Event().wait(0.02)
                if not answer.drip:
                    self.wfile.write(body)
            except OSError:
                pass  # the client gave up, as it should

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class names it so
            pass

    return Handler


def _completion(content: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": content}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "stub",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
    }
