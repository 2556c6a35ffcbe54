"""Secrets are taken out of whatever we store or send: other libraries' spans, and the words of a score."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import orjson

from agentpath_sdk import redaction, semconv
from agentpath_sdk.scoring.score import Alignment, Finding, Goal, PathScore, StepMatch
from agentpath_sdk.trajectories.model import GoalWord
from agentpath_sdk.trajectories.span_record import SpanEvent, SpanRecord

__all__ = ["clean_goal", "clean_score", "clean_span", "clean_text"]

_OWN_SCOPES: Final = "agentpath_"
_STRUCTURAL: Final = frozenset(
    {
        semconv.OPERATION_NAME,
        semconv.TOOL_NAME,
        semconv.TOOL_CALL_ID,
        semconv.AGENT_NAME,
        semconv.PROVIDER_NAME,
        semconv.CONVERSATION_ID,
        semconv.REQUEST_MODEL,
        semconv.RESPONSE_MODEL,
        semconv.ERROR_TYPE,
    }
)
"""Names and ids that hold no content; they must survive whatever becomes of the content."""


def clean_text(text: str | None) -> str | None:
    """Return ``text`` without secrets; if that cannot be done, a marker instead of the text."""
    return None if text is None else redaction.redact_text(text)


def clean_span(span: SpanRecord) -> SpanRecord:
    """Return ``span`` without secrets. Our own spans were cleaned before they were written.

    Fails closed: when something in it cannot be cleaned, only names, ids and times are kept, and the span
    is marked as not captured.
    """
    if span.scope is not None and span.scope.startswith(_OWN_SCOPES):
        return span
    try:
        return replace(
            span,
            attributes=_clean_attributes(span.attributes),
            events=tuple(_clean_event(event) for event in span.events),
            status_message=None if span.status_message is None else _clean("status", span.status_message),
        )
    except _NotCleanedError:
        kept = {name: value for name, value in span.attributes.items() if name in _STRUCTURAL}
        kept[semconv.CONTENT_CAPTURE] = "off"
        return replace(span, attributes=kept, events=(), status_message=None)


def clean_goal(goal: GoalWord | None) -> GoalWord | None:
    """Return ``goal`` with a clean reason."""
    return goal if goal is None or goal.reason is None else replace(goal, reason=clean_text(goal.reason))


def clean_score(score: PathScore) -> PathScore:
    """Return ``score`` with every text in it clean: reasons quote values of the run and of the gold path."""
    return replace(
        score,
        metric_reasons={name: clean_text(reason) or "" for name, reason in score.metric_reasons.items()},
        goal=_clean_goal(score.goal),
        findings=tuple(_clean_finding(finding) for finding in score.findings),
        alignment=_clean_alignment(score.alignment),
        not_evaluated=clean_text(score.not_evaluated),
    )


class _NotCleanedError(Exception):
    """A redaction rule failed; it was counted where it happened."""


def _clean_attributes(attributes: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: value if name in _STRUCTURAL or not isinstance(value, str | list | tuple) else _clean(name, value)
        for name, value in attributes.items()
    }


def _clean(name: str, value: Any) -> Any:
    """Return ``value`` clean; JSON text is cleaned by the names inside it, not only by the look of its words."""
    if not isinstance(value, str):
        return [_clean(name, item) for item in value]
    if redaction.is_secret_name(name):
        return redaction.MARKER
    if not redaction.suspicious(value):
        return value
    decoded = _decoded(value)
    cleaned = redaction.redact_text(value) if decoded is None else redaction.redact(decoded)
    if cleaned == redaction.FAILED:
        raise _NotCleanedError
    if decoded is None:
        return cleaned
    return value if cleaned == decoded else orjson.dumps(cleaned, option=orjson.OPT_NON_STR_KEYS).decode()


def _decoded(text: str) -> Any:
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return None


def _clean_event(event: SpanEvent) -> SpanEvent:
    return replace(event, attributes=_clean_attributes(event.attributes))


def _clean_goal(goal: Goal) -> Goal:
    return goal if goal.reason is None else replace(goal, reason=clean_text(goal.reason))


def _clean_finding(finding: Finding) -> Finding:
    return replace(finding, message=clean_text(finding.message) or "")


def _clean_alignment(alignment: Alignment) -> Alignment:
    return replace(
        alignment,
        lines=tuple(_clean_line(line) for line in alignment.lines),
        first_divergence=clean_text(alignment.first_divergence),
    )


def _clean_line(line: StepMatch) -> StepMatch:
    if not line.reasons:
        return line
    return replace(line, reasons={name: clean_text(reason) or "" for name, reason in line.reasons.items()})
