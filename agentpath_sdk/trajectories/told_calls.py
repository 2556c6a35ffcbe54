"""Calls that have no span of their own, made into nodes like any other: what one span tells of several calls, and what
chat messages tell of a run without any call span."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any

from agentpath_sdk import semconv
from agentpath_sdk.trajectories.dialects.dialect import Answer, Request
from agentpath_sdk.trajectories.dialects.genai import GENAI
from agentpath_sdk.trajectories.dialects.messages import Message
from agentpath_sdk.trajectories.dialects.otel import OTEL
from agentpath_sdk.trajectories.requests import turn_fact
from agentpath_sdk.trajectories.span_record import SpanRecord
from agentpath_sdk.trajectories.tree import CALLS, Node, add_child, below

__all__ = ["expand_invokers", "from_transcript", "from_turns", "settle_functions"]


def settle_functions(nodes: Iterable[Node]) -> None:
    """Make each traced function a tool where a model asked for one of its name, else a chain."""
    functions = [node for node in nodes if node.role == "function"]
    if not functions:
        return
    asked = {request.tool for node in nodes if node.role == "model" for request in node.read("requests") or ()}
    for node in functions:
        name = node.read("tool_name")
        twin = any(inner.role in CALLS and inner.read("tool_name") == name for inner in below(node))
        if name in asked and not twin:
            node.role = "tool"
        else:
            node.role, node.function = "chain", None if name is None else str(name)


def expand_invokers(nodes: Sequence[Node]) -> tuple[Node, ...]:
    """Return ``nodes`` with a node for each call that an invoker's span tells of, below that span.

    Of invokers inside each other (two instrumentations of one) the innermost tells.
    """
    made: list[Node] = []
    told: set[str] = set()
    for node in sorted((n for n in nodes if n.role == "invoker"), key=lambda n: -n.depth):
        if any(
            inner.record.span_id in told or inner.role in CALLS for inner in below(node, stop=frozenset(("agent",)))
        ):
            continue
        answers: Sequence[Answer] = node.read("executed") or ()
        calls = [(_executed(node, n, answer), answer) for n, answer in enumerate(answers) if answer.request is not None]
        if calls:
            told.add(node.record.span_id)
            _hang(node, calls)
            made += [call for call, _ in calls]
    return tuple(sorted((*nodes, *made), key=lambda n: n.key)) if made else tuple(nodes)


def _hang(node: Node, calls: Sequence[tuple[Node, Answer]]) -> None:
    """Hang the calls below the invoker, and what ran inside it below the call that started it."""
    inner, node.children = node.children, []
    for call, _ in calls:
        add_child(node, call)
    for child in inner:
        add_child(_started_by(child, calls) or node, child)


def _started_by(child: Node, calls: Sequence[tuple[Node, Answer]]) -> Node | None:
    if len(calls) == 1:
        return calls[0][0]
    said = child.read("final_answer")
    return next((call for call, answer in calls if said is not None and answer.content == said), None)


def _executed(node: Node, number: int, answer: Answer) -> Node:
    record = node.record
    assert answer.request is not None
    return _node(
        answer.request,
        answer,
        like=record,
        key=f"{record.span_id}/{number}",
        start=record.start_unix_nano + number,
        end=max(record.end_unix_nano, record.start_unix_nano + number),
    )


# --- from messages --------------------------------------------------------------------------------------------------


def from_turns(turns: Sequence[Node]) -> list[Node]:
    """Return the calls that model spans tell of: asked for in one answer, answered in what a later model was given.

    A call lasts from the end of the turn that asked to the start of the turn that knows the answer.
    """
    open_requests: dict[str, tuple[Node, Request, int]] = {}
    made: list[Node] = []
    for turn in turns:
        for answer in turn_fact(turn, "answered") or ():
            if answer.call_id in open_requests:
                asking, request, number = open_requests.pop(answer.call_id)
                made.append(_between(asking, turn, request, answer, number))
        for number, request in enumerate(turn_fact(turn, "requests") or ()):
            if request.call_id is not None:
                open_requests.setdefault(request.call_id, (turn, request, number))
    return made


def _between(asking: Node, knowing: Node, request: Request, answer: Answer, number: int) -> Node:
    record = asking.record
    start = record.end_unix_nano + number
    return _node(
        request,
        answer,
        like=record,
        key=f"{record.span_id}/{number}",
        start=start,
        end=max(start, knowing.record.start_unix_nano),
    )


def from_transcript(messages: Iterable[Message], own: Node) -> list[Node]:
    """Return the answered calls that the messages of a whole run tell of. Their times are not known: each starts and
    ends with the run's own start, in the order they were asked for."""
    messages = tuple(messages)
    answers = {answer.call_id: answer for message in messages for answer in message.answers}
    made: list[Node] = []
    for request in (request for message in messages for request in message.calls):
        if request.call_id is not None and (answer := answers.pop(request.call_id, None)) is not None:
            number = len(made)
            at = own.record.start_unix_nano + number
            made.append(_node(request, answer, like=own.record, key=f"{own.record.span_id}/{number}", start=at, end=at))
    return made


def _node(request: Request, answer: Answer, *, like: SpanRecord, key: str, start: int, end: int) -> Node:
    attributes: dict[str, Any] = {
        semconv.OPERATION_NAME: semconv.OP_EXECUTE_TOOL,
        semconv.TOOL_NAME: request.tool,
        semconv.TOOL_CALL_ARGUMENTS: request.arguments,
        semconv.TOOL_CALL_RESULT: answer.content,
        semconv.TOOL_CALL_ID: request.call_id or answer.call_id,
        semconv.STEP_OUTCOME: "error" if answer.failed else None,
        semconv.STEP_ERROR_MESSAGE: answer.content if answer.failed else None,
    }
    record = SpanRecord(
        trace_id=like.trace_id,
        span_id=hashlib.blake2b(key.encode(), digest_size=8).hexdigest(),
        name=f"{semconv.OP_EXECUTE_TOOL} {request.tool}",
        parent_span_id=like.span_id,
        start_unix_nano=start,
        end_unix_nano=end,
        attributes={name: value for name, value in attributes.items() if value is not None},
        scope=like.scope,
        resource=like.resource,
        attribute_limit=like.attribute_limit,
    )
    return Node(record=record, role="tool", speakers=(GENAI, OTEL), told=True)
