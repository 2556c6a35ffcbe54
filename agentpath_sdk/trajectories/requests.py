"""What the models of a run asked for, and which call answers which request: by call id, never by place in a list."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from agentpath_sdk.trajectories.calls import Call
from agentpath_sdk.trajectories.decoding import Arguments, decode_arguments, load_json
from agentpath_sdk.trajectories.dialects.argument_shapes import POSITIONAL
from agentpath_sdk.trajectories.dialects.dialect import Fact, Request
from agentpath_sdk.trajectories.model import CallRequest, StopReason
from agentpath_sdk.trajectories.tree import Node, enclosing

__all__ = ["Asked", "asked_by", "fates", "model_turns", "pair", "turn_fact"]


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


def turn_fact(turn: Node, fact: Fact) -> Any:
    """Return ``fact`` of a model turn, as its span says it or a model span inside it, of the same turn, does."""
    said = turn.read(fact)
    if said is not None:
        return said
    inner = (turn_fact(child, fact) for child in turn.children if child.role == "model")
    return next((found for found in inner if found is not None), None)


def _requests(turn: Node) -> Sequence[Request]:
    said: Sequence[Request] | None = turn_fact(turn, "requests")
    return said or ()


def pair(asked: Sequence[Asked], calls: Sequence[Call]) -> None:
    """Tell each call which request it answers: by call id; without one, the first open request made before it for
    the same tool with equal arguments, then for the same tool with arguments unknown on either side.

    A call whose own span lacks usable arguments takes those of the request with its id, or of a request that fits
    what its span does tell (a bare value, positional values).
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
    for call in calls:
        if call.kind == "handoff" and call.asked is None:
            _pair_handoff(asked, call)


def _pair_handoff(asked: Sequence[Asked], call: Call) -> None:
    """Give a hand-off whose span knows no tool the one request that the model had made and nothing answers."""
    before = [(i, r) for i, r in enumerate(asked) if r.asked_at <= call.start]
    unmet = [(i, r) for i, r in before if r.call is None and r.answer == before[-1][1].answer]
    if len(unmet) == 1:
        call.tool = unmet[0][1].tool
        _tie(call, *unmet[0])


def _tie(call: Call, index: int, request: Asked) -> None:
    call.asked, call.answer = index, request.answer
    # A call tried again has the id of its first attempt, which stays the request's call.
    request.call = request.call or call
    if request.arguments.values is not None and call.tool == request.tool and _tells_more(request, call):
        call.arguments = request.arguments
    call.call_id = call.call_id or request.call_id


def _tells_more(request: Asked, call: Call) -> bool:
    """Return whether the request has usable arguments where the call's own span has none, or fewer."""
    asked, said = request.arguments.values or {}, call.arguments
    if said.state in ("not_captured", "truncated"):
        return call.call_id is not None and call.call_id == request.call_id
    return _tells(asked, said.raw) if said.state == "unparsed" else said.values is not None and _fuller(asked, call)


def _tells(asked: Mapping[str, Any], raw: str | None) -> bool:
    """Return whether ``raw`` is the bare value of a call asked for with one argument."""
    if len(asked) != 1 or raw is None:
        return False
    (value,) = asked.values()
    return bool(value == raw or load_json(raw) == value)


def _fuller(asked: Mapping[str, Any], call: Call) -> bool:
    """Return whether a request tells more than the span: the names of positional values, or arguments the vocabulary
    is known to leave out."""
    said = call.arguments.values or {}
    if POSITIONAL in said:
        named = {key: value for key, value in said.items() if key != POSITIONAL}
        rest = [value for key, value in asked.items() if key not in named]
        return rest == list(said[POSITIONAL]) and all(asked.get(key) == value for key, value in named.items())
    return len(said) < len(asked) and bool(call.first("lossy")) and all(asked.get(k) == v for k, v in said.items())


def _fits(request: Asked, call: Call, *, exactly: bool) -> bool:
    if request.tool != call.tool or request.asked_at > call.start:
        return False
    if request.call_id is not None and call.call_id is not None:
        return False
    asked, said = request.arguments.values, call.arguments.values
    if asked is not None and said is None and _tells(asked, call.arguments.raw):
        return exactly
    known = asked is not None and said is not None
    if known and (POSITIONAL in (said or {}) or call.first("lossy")):
        return not exactly and _fuller(asked or {}, call)
    return known == exactly and (not exactly or asked == said)


def fates(
    asked: Sequence[Asked], turns: Sequence[Node], *, stopped: StopReason, all_calls_seen: bool
) -> tuple[CallRequest, ...]:
    """Return the requested view: each request with what became of it."""
    # Reading a long chat history costs; it is needed only where a request has no call.
    unmet = turns if any(request.call is None for request in asked) else ()
    later = {answer.call_id for turn in unmet for answer in turn_fact(turn, "answered") or ()}
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
