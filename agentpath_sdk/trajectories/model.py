"""A trajectory and its steps: plain frozen values, without any OpenTelemetry type."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

__all__ = [
    "ArgumentsState",
    "CallRequest",
    "Completeness",
    "Event",
    "GoalWord",
    "Json",
    "Outcome",
    "ResultState",
    "StepKind",
    "StopReason",
    "ToolCall",
    "ToolError",
    "Trajectory",
    "Usage",
]

Json: TypeAlias = Any
"""A JSON value: None, bool, int, float, str, list of Json, dict of str to Json."""

Outcome: TypeAlias = Literal["ok", "error", "cancelled", "interrupted", "abandoned", "unknown"]
"""How one call ended. ``interrupted`` = paused for approval; ``abandoned`` = its end was never seen."""

ArgumentsState: TypeAlias = Literal["known", "truncated", "not_captured", "redacted", "unparsed"]
"""Whether ``arguments`` may be compared. ``unparsed`` = text that is no object (kept raw; a comparison
is a mismatch with a reason, it is not "not evaluated"); truncated, not captured and redacted are unknown."""

ResultState: TypeAlias = Literal["known", "truncated", "not_captured", "redacted"]
"""Whether ``result`` is what the call gave back; ``truncated`` = cut to a size limit."""

StepKind: TypeAlias = Literal["tool", "retrieval", "agent", "handoff"]

StopReason: TypeAlias = Literal["finished", "limit", "error", "cancelled", "pending", "unknown"]
"""Why the run stopped. ``limit`` = step, time or token limit; ``pending`` = paused, to be resumed."""

Completeness: TypeAlias = Literal["complete", "presumed_incomplete", "known_incomplete"]
"""``known_incomplete`` (spans dropped, call count does not fit, unsampled parts) is never scored;
``presumed_incomplete`` (root missing, early flush, cap reached) is scored and kept out of histograms."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolError:
    """What went wrong in a call; ``message`` has at most 500 characters and is None with content capture off."""

    type: str | None = None
    message: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Usage:
    """Tokens of the model calls inside a run, as the spans report them; None = not reported."""

    input_tokens: int | None = None
    output_tokens: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolCall:
    """One executed step of a trajectory."""

    tool: str
    arguments: Mapping[str, Json] | None = None
    """Decoded arguments by name; None unless ``arguments_state`` is ``known``."""
    arguments_state: ArgumentsState = "known"
    raw_arguments: str | None = None
    """The text as recorded, where it could not be decoded to an object."""
    result: Json = None
    result_state: ResultState = "known"
    outcome: Outcome = "ok"
    error: ToolError | None = None
    call_id: str | None = None
    agent: str | None = None
    """Name of the agent that made the call."""
    kind: StepKind = "tool"
    span_id: str | None = None
    parallel_group: int | None = None
    """Equal number = asked for by one model answer, or overlapping in time; None = alone."""
    attempt: int = 1
    """1 for the first try; each retry of the same call is a step of its own with the next number."""
    partial_items: int | None = None
    """Items handed out by a stream whose reader left early."""
    seen_in: Literal["span", "messages"] = "span"
    """``messages`` = no span of the call's own: chat messages, or a span of several calls, tell of it."""
    start_unix_nano: int | None = None
    end_unix_nano: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class CallRequest:
    """A call the model asked for, and what became of it."""

    tool: str
    arguments: Mapping[str, Json] | None = None
    call_id: str | None = None
    fate: Literal["executed", "refused", "invalid", "pending", "unknown"] = "unknown"


@dataclass(frozen=True, kw_only=True, slots=True)
class Event:
    """A model turn, a phase or a tool call, in order of start: the raw material of step values."""

    kind: Literal["model", "phase", "tool"]
    name: str
    span_id: str | None = None
    step: int | None = None
    """Index into ``Trajectory.steps`` for a tool call."""
    input: Json = None
    """As recorded: JSON text or a structured value; decoding long chat histories is left to who needs them."""
    output: Json = None
    start_unix_nano: int | None = None
    end_unix_nano: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class GoalWord:
    """Somebody's word on whether the goal was reached."""

    success: bool
    reason: str | None = None
    source: str = "app"


@dataclass(frozen=True, kw_only=True, slots=True)
class Trajectory:
    """The ordered tool calls one agent executed between a query and a final answer."""

    steps: tuple[ToolCall, ...] = ()
    agent: str | None = None
    query: str | None = None
    final_answer: str | None = None
    requested: tuple[CallRequest, ...] = ()
    events: tuple[Event, ...] = ()
    conversation_id: str | None = None
    trace_id: str | None = None
    span_id: str | None = None
    """The agent's own span (32 and 16 lower-case hex digits, as everywhere)."""
    parent_span_id: str | None = None
    gold_path_id: str | None = None
    """What the application asked for with ``agentpath.request.gold_path``."""
    completeness: Completeness = "complete"
    incomplete_reasons: tuple[str, ...] = ()
    stop_reason: StopReason = "unknown"
    goal: GoalWord | None = None
    usage: Usage = field(default_factory=Usage)
    start_unix_nano: int | None = None
    end_unix_nano: int | None = None
    revision: int = 1
    late: bool = False
    """True when spans that came after the first verdict made this revision."""
    attributes: Mapping[str, Json] = field(default_factory=dict[str, Any])
    """Resource and run attributes worth keeping: ``service.name``, ``deployment.environment.name``, user tags."""

    @property
    def outcome(self) -> GoalWord | None:
        """The recorded outcome, as ``record_outcome`` or the spans told it."""
        return self.goal

    @property
    def duration_seconds(self) -> float | None:
        """Wall time of the run in seconds, or None where a time is missing."""
        if self.start_unix_nano is None or self.end_unix_nano is None:
            return None
        return (self.end_unix_nano - self.start_unix_nano) / 1e9
