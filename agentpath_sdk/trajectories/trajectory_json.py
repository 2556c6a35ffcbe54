"""A trajectory as one JSON object, and back: the lines of ``read --json`` and the plain record shape."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any, Final, get_args

from agentpath_sdk.trajectories.decoding import decode_arguments, plain
from agentpath_sdk.trajectories.model import (
    ArgumentsState,
    CallRequest,
    Completeness,
    GoalWord,
    Outcome,
    ResultState,
    StepKind,
    StopReason,
    ToolCall,
    ToolError,
    Trajectory,
    Usage,
)
from agentpath_sdk.trajectories.shapes import as_list, as_object

__all__ = [
    "is_record_json",
    "is_trajectory_json",
    "record_to_trajectory",
    "trajectory_from_json",
    "trajectory_to_json",
    "trajectory_to_record",
]

_RUN_KEYS: Final = ("actual", "agent_trajectory")
_ANSWER_KEYS: Final = ("final_answer", "predicted_answer", "answer")
# Always written; what is not among them is written where it says something.
_STEP_KEYS: Final = frozenset(
    {
        "tool",
        "arguments",
        "result",
        "outcome",
        "error",
        "call_id",
        "agent",
        "parallel_group",
        "start_unix_nano",
        "end_unix_nano",
    }
)
_WORDS: Final[Mapping[str, frozenset[str]]] = {
    "outcome": frozenset(get_args(Outcome)),
    "arguments_state": frozenset(get_args(ArgumentsState)),
    "result_state": frozenset(get_args(ResultState)),
    "kind": frozenset(get_args(StepKind)),
    "seen_in": frozenset(("span", "messages")),
    "completeness": frozenset(get_args(Completeness)),
    "stop_reason": frozenset(get_args(StopReason)),
}


# --- writing --------------------------------------------------------------------------------------------------------


def trajectory_to_json(trajectory: Trajectory) -> dict[str, Any]:
    """Return ``trajectory`` as ``read --json`` prints it. ``trajectory_from_json`` gives it back, events excepted:
    they hold the models' whole chat histories and stay in the spans."""
    t = trajectory
    line: dict[str, Any] = {
        "trace_id": t.trace_id,
        "span_id": t.span_id,
        "agent": t.agent,
        "query": t.query,
        "final_answer": t.final_answer,
        "conversation_id": t.conversation_id,
        "completeness": t.completeness,
        "stop_reason": t.stop_reason,
        "steps": [_step_to_json(step) for step in t.steps],
    }
    more: dict[str, Any] = {
        "parent_span_id": t.parent_span_id,
        "gold_path_id": t.gold_path_id,
        "incomplete_reasons": list(t.incomplete_reasons),
        "goal": None if t.goal is None else asdict(t.goal),
        "requested": [_request_to_json(request) for request in t.requested],
        "usage": {key: count for key, count in asdict(t.usage).items() if count is not None},
        "start_unix_nano": t.start_unix_nano,
        "end_unix_nano": t.end_unix_nano,
        "revision": t.revision if t.revision != 1 else None,
        "late": t.late or None,
        "attributes": plain(t.attributes),
    }
    return line | {key: value for key, value in more.items() if value not in (None, [], {})}


def _step_to_json(step: ToolCall) -> dict[str, Any]:
    line: dict[str, Any] = {}
    for declared in fields(ToolCall):
        value = getattr(step, declared.name)
        if declared.name in _STEP_KEYS or value != declared.default:
            line[declared.name] = plain(value) if declared.name != "error" else _error_to_json(value)
    return line


def _error_to_json(error: ToolError | None) -> dict[str, Any] | None:
    return None if error is None else {"type": error.type, "message": error.message}


def _request_to_json(request: CallRequest) -> dict[str, Any]:
    return {
        "tool": request.tool,
        "arguments": plain(request.arguments),
        "call_id": request.call_id,
        "fate": request.fate,
    }


def trajectory_to_record(trajectory: Trajectory) -> dict[str, Any]:
    """Return ``trajectory`` in the plain record shape: ``query``, ``agent_trajectory`` and, where known, the answer
    and whether the goal was reached."""
    record: dict[str, Any] = {
        "query": trajectory.query,
        "agent_trajectory": [_record_step(step) for step in trajectory.steps],
    }
    if trajectory.final_answer is not None:
        record["final_answer"] = trajectory.final_answer
    if trajectory.goal is not None:
        record["success"] = trajectory.goal.success
    return record


def _record_step(step: ToolCall) -> dict[str, Any]:
    line: dict[str, Any] = {"tool": step.tool}
    if step.arguments is not None:
        line["arguments"] = plain(step.arguments)
    elif step.raw_arguments is not None:
        line["arguments"] = step.raw_arguments
    if step.outcome != "ok":
        line["outcome"] = step.outcome
    return line


# --- reading --------------------------------------------------------------------------------------------------------


def is_trajectory_json(document: Mapping[str, Any]) -> bool:
    """Return whether ``document`` is a line of ``read --json``."""
    return "steps" in document and "completeness" in document


def trajectory_from_json(document: Mapping[str, Any]) -> Trajectory:
    """Return the trajectory of one line of ``read --json``.

    Raises:
        ValueError: something in it is not what such a line holds; the message names the place.
    """
    goal, usage = as_object(document.get("goal")), as_object(document.get("usage")) or {}
    return Trajectory(
        steps=tuple(_steps(document.get("steps"), "steps")),
        agent=_text(document, "agent"),
        query=_text(document, "query"),
        final_answer=_text(document, "final_answer"),
        requested=tuple(_request(item, f"requested[{n}]") for n, item in _numbered(document.get("requested"))),
        conversation_id=_text(document, "conversation_id"),
        trace_id=_text(document, "trace_id"),
        span_id=_text(document, "span_id"),
        parent_span_id=_text(document, "parent_span_id"),
        gold_path_id=_text(document, "gold_path_id"),
        completeness=_word(document, "completeness", "complete", ""),
        incomplete_reasons=tuple(str(reason) for reason in as_list(document.get("incomplete_reasons")) or ()),
        stop_reason=_word(document, "stop_reason", "unknown", ""),
        goal=None if goal is None else _goal(goal),
        usage=Usage(input_tokens=_whole(usage, "input_tokens"), output_tokens=_whole(usage, "output_tokens")),
        start_unix_nano=_whole(document, "start_unix_nano"),
        end_unix_nano=_whole(document, "end_unix_nano"),
        revision=_whole(document, "revision") or 1,
        late=document.get("late") is True,
        attributes=as_object(document.get("attributes")) or {},
    )


def is_record_json(document: Mapping[str, Any]) -> bool:
    """Return whether ``document`` is a plain record that holds a run."""
    return any(as_list(document.get(key)) is not None for key in _RUN_KEYS)


def record_to_trajectory(document: Mapping[str, Any]) -> Trajectory:
    """Return the run of a plain record: ``query``, ``agent_trajectory`` or ``actual``, ``success``, an answer.

    Raises:
        ValueError: something in it is not what such a record holds; the message names the place.
    """
    key = next(key for key in reversed(_RUN_KEYS) if as_list(document.get(key)) is not None)
    success = document.get("success")
    identity = next((document[name] for name in ("id", "trace_id") if document.get(name) is not None), None)
    return Trajectory(
        steps=tuple(_steps(document[key], key)),
        agent=_text(document, "agent"),
        query=_text(document, "query"),
        final_answer=next((found for name in _ANSWER_KEYS if (found := _text(document, name)) is not None), None),
        conversation_id=_text(document, "conversation_id"),
        gold_path_id=_text(document, "gold_path_id"),
        stop_reason="finished",
        goal=GoalWord(success=success, source="record") if isinstance(success, bool) else None,
        attributes={} if identity is None else {"record.id": identity},
    )


def _steps(value: Any, place: str) -> list[ToolCall]:
    if as_list(value) is None:
        raise ValueError(f"{place}: found {type(value).__name__}, expected a list of steps")
    return [_step(item, f"{place}[{n}]") for n, item in _numbered(value)]


def _numbered(value: Any) -> Sequence[tuple[int, Any]]:
    return tuple(enumerate(as_list(value) or ()))


def _step(value: Any, place: str) -> ToolCall:
    step = as_object(value)
    if step is None or not isinstance(step.get("tool"), str):
        raise ValueError(f"{place}: a step is an object with a text 'tool', found {_shown(value)}")
    arguments = _arguments(step)
    return ToolCall(
        tool=step["tool"],
        **arguments,
        result=step.get("result"),
        result_state=_word(step, "result_state", "known", place),
        outcome=_outcome(step),
        error=_error(step.get("error")),
        call_id=_text(step, "call_id"),
        agent=_text(step, "agent"),
        kind=_word(step, "kind", "tool", place),
        span_id=_text(step, "span_id"),
        parallel_group=_whole(step, "parallel_group"),
        attempt=_whole(step, "attempt") or 1,
        partial_items=_whole(step, "partial_items"),
        seen_in=_word(step, "seen_in", "span", place),
        start_unix_nano=_whole(step, "start_unix_nano"),
        end_unix_nano=_whole(step, "end_unix_nano"),
    )


def _arguments(step: Mapping[str, Any]) -> dict[str, Any]:
    """Return the three argument fields; a record may give JSON text, and leaves unknown ones out."""
    if "arguments_state" in step:
        return {
            "arguments": None,
            "arguments_state": _word(step, "arguments_state", "known", "step"),
            "raw_arguments": _text(step, "raw_arguments"),
        }
    found = decode_arguments(step.get("arguments"))
    return {"arguments": found.values, "arguments_state": found.state, "raw_arguments": found.raw}


def _outcome(step: Mapping[str, Any]) -> Outcome:
    said: Outcome | None = step.get("outcome")
    if said in _WORDS["outcome"]:
        return said
    # Recorded data uses words of its own ("found", "not_found"): the call came back, whatever it brought.
    return "error" if step.get("error") else "ok"


def _error(value: Any) -> ToolError | None:
    if (said := as_object(value)) is not None:
        return ToolError(type=_text(said, "type"), message=_text(said, "message"))
    return ToolError(message=value[:500]) if isinstance(value, str) and value else None


def _request(value: Any, place: str) -> CallRequest:
    request = as_object(value)
    if request is None or not isinstance(request.get("tool"), str):
        raise ValueError(f"{place}: a request is an object with a text 'tool', found {_shown(value)}")
    return CallRequest(
        tool=request["tool"],
        arguments=as_object(request.get("arguments")),
        call_id=_text(request, "call_id"),
        fate=request.get("fate") or "unknown",
    )


def _goal(goal: Mapping[str, Any]) -> GoalWord:
    return GoalWord(
        success=goal.get("success") is True, reason=_text(goal, "reason"), source=_text(goal, "source") or "app"
    )


def _text(holder: Mapping[str, Any], key: str) -> str | None:
    value = holder.get(key)
    return None if value is None else (value if isinstance(value, str) else str(value))


def _whole(holder: Mapping[str, Any], key: str) -> int | None:
    value = holder.get(key)
    if value is None:
        return None
    try:
        return int(value)
    except (TypeError, ValueError):
        raise ValueError(f"{key!r} is {_shown(value)}, expected a whole number") from None


def _word(holder: Mapping[str, Any], key: str, default: str, place: str) -> Any:
    value = holder.get(key, default)
    if value not in _WORDS[key]:
        where = f"{place}: " if place else ""
        raise ValueError(f"{where}{key!r} is {_shown(value)}, expected one of {', '.join(sorted(_WORDS[key]))}")
    return value


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
