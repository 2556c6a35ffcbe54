"""Score records: identity, replacement, JSON."""

from __future__ import annotations

import orjson

from agentpath_sdk.online.record import record_id, record_to_json, replaces

from .fakes import SPAN, TRACE, score_record


def test_the_id_is_a_pure_function_of_trace_and_agent_span() -> None:
    assert record_id(TRACE, SPAN) == record_id(TRACE, SPAN)
    assert len({record_id(TRACE, SPAN), record_id(TRACE, "1" * 16), record_id("2" * 32, SPAN)}) == 3


def test_a_later_revision_replaces_an_earlier_one_unless_it_is_less_complete() -> None:
    whole, later = score_record(), score_record(revision=2)
    partial = score_record(revision=3, completeness="presumed_incomplete")
    assert replaces(later, whole)
    assert not replaces(whole, later)
    assert not replaces(partial, whole)
    assert replaces(whole, score_record(revision=1, completeness="presumed_incomplete"))


def test_a_record_is_one_strict_json_object_with_the_runs_and_the_scores_fields() -> None:
    line = orjson.loads(orjson.dumps(record_to_json(score_record())))
    assert line["score"] == 0.75
    assert line["tool_accuracy"] == 0.75
    assert line["trace_id"] == TRACE
    assert line["revision"] == 1
    unscored = record_to_json(score_record(value=None))
    assert unscored["score"] == {"not_evaluated": "no gold path"}
