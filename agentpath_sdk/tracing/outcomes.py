"""Which run is this, and did it reach its goal: said while the run is open, or hours later from anywhere."""

from __future__ import annotations

import time
import urllib.parse
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Self

from opentelemetry import trace as trace_api

from agentpath_sdk import redaction, semconv
from agentpath_sdk._guard import HEALTH, guard
from agentpath_sdk.errors import ConfigurationError
from agentpath_sdk.tracing.identity import label
from agentpath_sdk.tracing.recorder import Recording, get_recorder

__all__ = ["RecordedOutcome", "RunRef", "current_run", "record_outcome", "subscribe"]

_PREFIX: Final = "agentpath-run"
_REASON_LIMIT: Final = 500


@dataclass(frozen=True, kw_only=True, slots=True)
class RunRef:
    """Names one agent run in any process. Keep ``str(ref)`` beside your own record of the task."""

    trace_id: str
    """32 lower-case hex digits."""
    span_id: str
    """16 lower-case hex digits: the agent's own span."""
    agent: str | None = None

    def to_str(self) -> str:
        """Return one printable word that ``from_str`` reads."""
        return f"{_PREFIX}:{self.trace_id}:{self.span_id}:{urllib.parse.quote(self.agent or '', safe='')}"

    __str__ = to_str

    @classmethod
    def from_str(cls, text: str) -> Self:
        """Return the reference that ``to_str`` wrote.

        Raises:
            ConfigurationError: ``text`` is no such reference.
        """
        parts = text.strip().split(":")
        if len(parts) != 4 or parts[0] != _PREFIX or not (_is_hex(parts[1], 32) and _is_hex(parts[2], 16)):
            raise ConfigurationError(
                f"{text!r} is no run reference; expected '{_PREFIX}:<32 hex>:<16 hex>:<agent>' as RunRef.to_str() gives"
            )
        return cls(trace_id=parts[1], span_id=parts[2], agent=urllib.parse.unquote(parts[3]) or None)


@dataclass(frozen=True, kw_only=True, slots=True)
class RecordedOutcome:
    """Somebody's word on a run that has ended, or runs in another process."""

    run: RunRef
    success: bool
    reason: str | None = None
    source: str = "app"
    recorded_unix_nano: int = 0


Listener = Callable[[RecordedOutcome], None]
_listeners: list[Listener] = []


def subscribe(listener: Listener) -> Callable[[], None]:
    """Call ``listener`` with every outcome told of a run that is not open here; return a function that stops it.

    It is called on the thread that tells the outcome and must not block."""
    _listeners.append(listener)

    def stop() -> None:
        if listener in _listeners:
            _listeners.remove(listener)

    return stop


def current_run() -> RunRef | None:
    """Return the innermost agent run that the running code belongs to, None outside of any or when it is not traced."""
    with guard("tracing.current_run"):
        agent = _current_agent()
        return None if agent is None or agent.dropped else _reference(agent)
    return None


def record_outcome(
    success: bool, *, run: RunRef | str | None = None, reason: str | None = None, source: str = "app"
) -> None:
    """Say whether a run reached its goal: of the current run, or of ``run`` (a RunRef or its text), open or ended,
    from this process or another. The last word counts. Never raises; an outcome that reaches nothing is counted.

    Args:
        success: whether the goal was reached.
        run: which run; None = the current one.
        reason: why, in words; redacted, at most 500 characters.
        source: who says so ("app", "user", "judge", "test", ...).
    """
    with guard("tracing.record_outcome"):
        reference = RunRef.from_str(run) if isinstance(run, str) else run
        recorder = get_recorder()
        agent = (
            _current_agent()
            if reference is None
            else recorder.find_span(int(reference.trace_id, 16), int(reference.span_id, 16))
        )
        clean = None if reason is None else redaction.redact_text(reason)[:_REASON_LIMIT]
        if agent is not None and agent.live:
            _say(agent, bool(success), clean, source)
        elif reference is not None or (agent is not None and not agent.dropped):
            named = reference or _reference(agent)  # type: ignore[arg-type]  # agent is given where reference is not
            _tell(RecordedOutcome(
                run=named, success=bool(success), reason=clean, source=source, recorded_unix_nano=time.time_ns()
            ))  # fmt: skip
        elif agent is None:
            HEALTH.count("outcome.no_run")


def _say(agent: Recording, success: bool, reason: str | None, source: str) -> None:
    told: dict[str, bool | str] = {semconv.RUN_GOAL_SUCCESS: success, semconv.RUN_GOAL_SOURCE: label(source)}
    if reason is not None:
        told[semconv.RUN_GOAL_REASON] = reason
    get_recorder().note(agent, told)
    agent.span.set_attributes(told)


def _tell(outcome: RecordedOutcome) -> None:
    if not _listeners:
        HEALTH.count("outcome.unheard")
    for listener in tuple(_listeners):
        with guard("outcome.listener"):
            listener(outcome)


def _current_agent() -> Recording | None:
    enclosing = get_recorder().enclosing()
    return None if enclosing is None else enclosing.agent


def _reference(agent: Recording) -> RunRef:
    context = agent.span.get_span_context()
    return RunRef(
        trace_id=trace_api.format_trace_id(context.trace_id),
        span_id=trace_api.format_span_id(context.span_id),
        agent=agent.name,
    )


def _is_hex(text: str, length: int) -> bool:
    return len(text) == length and all(c in "0123456789abcdef" for c in text)
