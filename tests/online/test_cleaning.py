"""What other libraries' spans and the words of a score may hold does not leave."""

from __future__ import annotations

from typing import Any

from agentpath_sdk import redaction, semconv
from agentpath_sdk.online.cleaning import clean_score, clean_span
from agentpath_sdk.scoring.score import Alignment, Finding, Goal, StepMatch
from agentpath_sdk.trajectories.span_record import SpanEvent, SpanRecord

from .fakes import SPAN, TRACE, path_score

SECRET = "sk-test-4f9a8b7c6d5e4f3a2b1c"


def tool_span(scope: str | None = "somebody.else", **attributes: Any) -> SpanRecord:
    return SpanRecord(
        trace_id=TRACE,
        span_id=SPAN,
        name="execute_tool call",
        scope=scope,
        attributes={semconv.OPERATION_NAME: "execute_tool", semconv.TOOL_NAME: "call", **attributes},
        events=(SpanEvent(name="exception", attributes={"exception.message": f"call with {SECRET} failed"}),),
        status="error",
        status_message=f"ValueError: call with {SECRET} failed",
    )


def test_secrets_leave_another_librarys_span_and_its_json_stays_json() -> None:
    arguments = f'{{"api_key": "plain-words", "author": "Ann", "note": "{SECRET}", "n": 3}}'
    span = clean_span(tool_span(**{semconv.TOOL_CALL_ARGUMENTS: arguments, "http.headers": ["a", SECRET]}))
    assert SECRET not in repr(span)
    assert "plain-words" not in repr(span)
    assert '"author":"Ann"' in span.attributes[semconv.TOOL_CALL_ARGUMENTS]
    assert span.attributes[semconv.TOOL_NAME] == "call"


def test_a_span_without_secrets_is_unchanged() -> None:
    arguments = {semconv.TOOL_CALL_ARGUMENTS: '{"author": "Ann",   "session_count": 3}'}
    span = tool_span(**arguments)
    assert clean_span(span).attributes == span.attributes


def test_our_own_spans_were_clean_when_written() -> None:
    span = tool_span(semconv.SCOPE_NAME)
    assert clean_span(span) is span


def test_a_redaction_rule_that_raises_leaves_names_and_ids_only() -> None:
    def broken(_name: str | None, _value: Any) -> Any:
        raise ValueError(SECRET)

    remove = redaction.add_rule(broken)
    try:
        span = clean_span(tool_span(**{semconv.TOOL_CALL_ARGUMENTS: f'{{"note": "{SECRET}"}}'}))
    finally:
        remove()
    assert SECRET not in repr(span)
    assert span.attributes == {
        semconv.OPERATION_NAME: "execute_tool",
        semconv.TOOL_NAME: "call",
        semconv.CONTENT_CAPTURE: "off",
    }


def test_no_word_of_a_score_holds_a_secret() -> None:
    words = f"expected 'Ann', got {SECRET}"
    score = clean_score(
        path_score(
            findings=(Finding(kind="wrong_arguments", message=words),),
            alignment=Alignment(
                first_divergence=words,
                lines=(StepMatch(gold=0, run=0, kind="wrong_arguments", reasons={"author": words}),),
            ),
            goal=Goal(success=False, reason=words),
            metric_reasons={"argument_accuracy": words},
            not_evaluated=words,
        )
    )
    assert SECRET not in repr(score)
    assert "expected 'Ann'" in (score.alignment.first_divergence or "")
