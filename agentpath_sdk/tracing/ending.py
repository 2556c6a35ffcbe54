"""The end of a call: outcome, content and status put on its span, once."""

from __future__ import annotations

import asyncio
import concurrent.futures
from collections.abc import Mapping
from typing import Any, Final

from opentelemetry.trace import StatusCode

from agentpath_sdk import semconv
from agentpath_sdk._guard import HEALTH
from agentpath_sdk._plain import class_name
from agentpath_sdk.tracing import content
from agentpath_sdk.tracing.frameworks import classify_error
from agentpath_sdk.tracing.identity import label
from agentpath_sdk.tracing.recording import STEP_KINDS, UNSET, Outcome, Recording, StopReason
from agentpath_sdk.tracing.results import returned_error

__all__ = ["end_span", "is_cancellation", "outcome_of", "take_content", "take_outcome", "take_success"]

_MEMBERS_SHOWN: Final = 3
_group_members: Final[Any] = vars(BaseExceptionGroup)["exceptions"].__get__
_CANCELLED: Final = (asyncio.CancelledError, concurrent.futures.CancelledError)
_STOP_REASONS: Final[Mapping[Outcome, StopReason | None]] = {
    "ok": "finished",
    "error": "error",
    "cancelled": "cancelled",
    "interrupted": "pending",
    "abandoned": None,
}


def outcome_of(error: BaseException) -> tuple[Outcome, StopReason | None]:
    """Return what an exception that left a call means, frameworks asked first."""
    verdict = classify_error(error)
    if verdict is not None:
        return verdict
    return "cancelled" if is_cancellation(error) else "error", None


def is_cancellation(error: BaseException) -> bool:
    """Return whether an exception is no error of the call: KeyboardInterrupt, SystemExit, GeneratorExit, asyncio's and
    other libraries' cancellations, and groups of nothing else."""
    kind = type(error)  # an object can lie about its class, and ``isinstance`` would ask it
    if issubclass(kind, BaseExceptionGroup):
        return all(map(is_cancellation, _members(error)))
    return issubclass(kind, _CANCELLED) or not issubclass(kind, Exception)


def _members(group: BaseException) -> tuple[BaseException, ...]:
    members: tuple[BaseException, ...] = _group_members(group)
    return members


def take_success(recording: Recording, result: Any) -> None:
    """Take note of a call that returned: a result may still carry an error flag."""
    if recording.kind in STEP_KINDS and result is not UNSET:
        returned = returned_error(result)
        if returned is not None:
            take_outcome(recording, "error", None, returned, "tool_error", None, first=False)


def take_outcome(
    recording: Recording,
    outcome: Outcome,
    error: BaseException | None,
    message: str | None,
    error_type: str | None,
    stop_reason: StopReason | None,
    first: bool,
) -> None:
    """Merge what a door says of the outcome: what is not ok stays, the first door may say it better."""
    if error is not None and outcome == "ok":
        outcome, stopped = outcome_of(error)
        stop_reason = stop_reason or stopped
    if stop_reason is not None:
        recording.stop_reason = stop_reason
    if outcome == "ok" or (recording.outcome != "ok" and not first):
        return
    if recording.outcome == "ok" or outcome in ("interrupted", "cancelled"):
        recording.outcome = outcome
    _take_error(recording, error, message, error_type)


def _take_error(recording: Recording, error: BaseException | None, message: str | None, error_type: str | None) -> None:
    if recording.error_type is None:
        kind = error_type or (class_name(type(error)) if error is not None else None)
        recording.error_type = None if kind is None else label(kind)
    if recording.error_message is None and recording.capture:
        said = message if message is not None else message_of(error)
        if said:
            recording.error_message = content.text(recording, said, content.ERROR_MESSAGE_LIMIT)


def message_of(error: BaseException | None) -> str | None:
    """Return an exception's message, a group's with those of its members; one whose ``str`` raises has none."""
    if error is None:
        return None
    message = _own_message(error)
    if not issubclass(type(error), BaseExceptionGroup):
        return message
    inner = [f"{class_name(type(one))}: {_own_message(one) or ''}" for one in _members(error)[:_MEMBERS_SHOWN]]
    return f"{message}: {'; '.join(inner)}"


def _own_message(error: BaseException) -> str | None:
    try:
        return str.__str__(str(error))
    except Exception:
        return None


def take_content(
    recording: Recording, result: Any, answer: str | None, output: Any, partial_items: int | None, limit: int
) -> None:
    """Keep what a door says of result, answer and output; the first to say it is nearest to the call."""
    if partial_items is not None:
        recording.late = {**recording.late, semconv.STEP_PARTIAL_ITEMS: partial_items}
    if not recording.capture:
        return
    if recording.kind in STEP_KINDS:
        if result is not UNSET and semconv.TOOL_CALL_RESULT not in recording.content:
            content.put_result(recording, result, limit)
        return
    if semconv.OUTPUT_MESSAGES not in recording.content:
        if answer is not None:
            content.put_text(recording, answer, role="assistant", limit=limit)
        elif output is not UNSET:
            content.put_output(recording, output, limit)


def end_span(recording: Recording) -> None:
    """Write everything on the span and end it; a span processor that raises is counted."""
    span, attributes = recording.span, recording.content
    attributes[semconv.STEP_OUTCOME] = recording.outcome
    if recording.kind == "agent" or _has_more_facts(recording):
        attributes.update(_more_facts(recording))
    try:
        span.set_attributes(attributes)
        if getattr(span, "dropped_attributes", 0):
            _set_essential_again(recording)
        if recording.error_type is not None:
            _add_event(recording)
        if recording.outcome == "error":
            span.set_status(StatusCode.ERROR, recording.error_message or recording.error_type)
        span.end()
    except Exception as error:
        HEALTH.fault("tracing.end_span", error)


def _set_essential_again(recording: Recording) -> None:
    """Set last what must be there: the SDK's store drops the oldest when full, so what was set first may be gone."""
    outcome = {semconv.STEP_OUTCOME: recording.outcome}
    recording.span.set_attributes({**recording.essential, **_more_facts(recording), **outcome})


def _has_more_facts(recording: Recording) -> bool:
    return bool(
        recording.late
        or recording.error_type
        or recording.error_message
        or recording.truncated
        or recording.raw
        or not recording.capture
    )


def _more_facts(recording: Recording) -> dict[str, Any]:
    facts = dict(recording.late)
    if recording.error_type is not None:
        facts[semconv.ERROR_TYPE] = recording.error_type
    if recording.error_message is not None:
        facts[semconv.STEP_ERROR_MESSAGE] = recording.error_message
    if recording.truncated:
        facts[semconv.CONTENT_TRUNCATED] = recording.truncated
    if recording.raw:
        facts[semconv.CONTENT_RAW] = recording.raw
    if not recording.capture:
        facts[semconv.CONTENT_CAPTURE] = "off"
    if recording.kind == "agent":
        facts[semconv.RUN_CALLS] = recording.calls
        stop_reason = _stop_reason(recording)
        if stop_reason is not None:
            facts[semconv.RUN_STOP_REASON] = stop_reason
    return facts


def _stop_reason(recording: Recording) -> StopReason | None:
    if recording.stop_reason is not None:
        return recording.stop_reason
    if recording.outcome == "ok":
        if recording.noted_stop_reason is not None:
            return recording.noted_stop_reason
        if recording.last_call_interrupted:
            # The framework swallowed the pause of the last call and handed back its state.
            return "pending"
    return _STOP_REASONS[recording.outcome]


def _add_event(recording: Recording) -> None:
    """Add the exception as backends show it, without the stack: its source lines may hold secrets."""
    attributes = {"exception.type": recording.error_type or ""}
    if recording.error_message is not None:
        attributes["exception.message"] = recording.error_message
    recording.span.add_event("exception", attributes)
