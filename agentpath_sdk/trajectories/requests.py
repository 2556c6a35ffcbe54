"""What the models of a run asked for, and which call answers which request: by call id, never by place in a list."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from agentpath_sdk.trajectories.calls import Call
from agentpath_sdk.trajectories.decoding import Arguments, decode_arguments
from agentpath_sdk.trajectories.dialects.dialect import Request
from agentpath_sdk.trajectories.model import CallRequest, StopReason
from agentpath_sdk.trajectories.tree import Node, enclosing

__all__ = ["Asked", "asked_by", "fates", "model_turns", "pair"]


@dataclass(slots=True, eq=False)
class Asked:
    """One request, and the model answer it was part of."""

    tool: str
    arguments: Arguments
    call_id: str | None
    answer: int
    asked_at: int
    """Nanoseconds; when the model was called."""
    call: Call | None = None


def model_turns(members: Iterable[Node]) -> list[Node]:
    """Return the model spans among ``members``; one inside another is the same turn seen twice."""
    models = [node for node in members if node.role == "model" and not node.utility]
    return [node for node in models if (outer := enclosing(node, frozenset(("model",)))) is None or outer not in models]


def asked_by(turns: Sequence[Node]) -> list[Asked]:
    """Return the requests of ``turns`` in order; an id asked for twice is one request."""
    found: list[Asked] = []
    seen: set[str] = set()
    for answer, turn in enumerate(turns):
        for request in _requests(turn):
            if request.call_id is not None and request.call_id in seen:
                continue
            seen.update((request.call_id,) if request.call_id else ())
            found.append(
                Asked(
                    tool=request.tool,
                    arguments=decode_arguments(request.arguments),
                    call_id=request.call_id,
                    answer=answer,
                    asked_at=turn.record.start_unix_nano,
                )
            )
    return found


def _requests(turn: Node) -> Sequence[Request]:
    said: Sequence[Request] | None = turn.read("requests")
    if said is not None:
        return said
    return next((found for child in turn.children if child.role == "model" and (found := _requests(child))), ())


def pair(asked: Sequence[Asked], calls: Sequence[Call]) -> None:
    """Tell each call which request it answers: by call id; without one, the first open request made before it for
    the same tool with equal arguments, then for the same tool with arguments unknown on either side.

    A call whose own span lacks usable arguments takes those of the request with its id.
    """
    by_id = {request.call_id: (index, request) for index, request in enumerate(asked) if request.call_id is not None}
    for call in calls:
        if call.call_id is not None and (found := by_id.get(call.call_id)) is not None:
            _tie(call, *found)
    for exactly in (True, False):
        for call in sorted((c for c in calls if c.asked is None), key=lambda c: c.order):
            for index, request in enumerate(asked):
                if request.call is None and _fits(request, call, exactly=exactly):
                    _tie(call, index, request)
                    break


def _tie(call: Call, index: int, request: Asked) -> None:
    call.asked, call.answer = index, request.answer
    # A call tried again has the id of its first attempt, which stays the request's call.
    request.call = request.call or call
    recoverable = call.arguments.state in ("not_captured", "truncated", "unparsed")
    same = call.call_id is not None and call.call_id == request.call_id and call.tool == request.tool
    if recoverable and same and request.arguments.state == "known":
        call.arguments = request.arguments


def _fits(request: Asked, call: Call, *, exactly: bool) -> bool:
    if request.tool != call.tool or request.asked_at > call.start:
        return False
    if request.call_id is not None and call.call_id is not None:
        return False
    known = request.arguments.values is not None and call.arguments.values is not None
    return known == exactly and (not exactly or request.arguments.values == call.arguments.values)


def fates(
    asked: Sequence[Asked], turns: Sequence[Node], *, stopped: StopReason, all_calls_seen: bool
) -> tuple[CallRequest, ...]:
    """Return the requested view: each request with what became of it."""
    # Reading a long chat history costs; it is needed only where a request has no call.
    unmet = turns if any(request.call is None for request in asked) else ()
    later = frozenset[str]().union(*(turn.read("answered") or () for turn in unmet))
    offered = frozenset[str]().union(*(turn.read("tools_offered") or () for turn in unmet))
    return tuple(
        CallRequest(
            tool=request.tool,
            arguments=request.arguments.values,
            call_id=request.call_id,
            fate=_fate(
                request,
                last=request.answer == len(turns) - 1,
                stopped=stopped,
                unknown_tool=bool(offered) and request.tool not in offered,
                refused=all_calls_seen and request.call_id in later,
            ),
        )
        for request in asked
    )


def _fate(
    request: Asked, *, last: bool, stopped: StopReason, unknown_tool: bool, refused: bool
) -> Literal["executed", "refused", "invalid", "pending", "unknown"]:
    if request.call is not None:
        return "pending" if request.call.outcome == "interrupted" else "executed"
    if unknown_tool:
        return "invalid"
    if stopped == "pending" and last:
        return "pending"
    return "refused" if refused else "unknown"
