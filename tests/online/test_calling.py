"""Plain callables as places where scores go."""

from __future__ import annotations

from typing import Any

import pytest

from agentpath_sdk._guard import HEALTH
from agentpath_sdk.errors import ConfigurationError
from agentpath_sdk.online.calling import as_exporters
from agentpath_sdk.online.record import ScoreRecord

from .fakes import RecordingExporter, score_record


def test_an_exporter_is_taken_as_it_is() -> None:
    exporter = RecordingExporter()
    assert as_exporters([exporter]) == [exporter]


def test_a_callable_gets_each_record_once_even_if_it_raises() -> None:
    seen: list[ScoreRecord] = []

    def call(record: ScoreRecord) -> None:
        seen.append(record)
        raise ValueError

    records = (score_record("1" * 16), score_record("2" * 16))
    result = as_exporters([call])[0].export(records)
    assert (tuple(seen), result.retry) == (records, ())
    assert HEALTH.counts()["fault.score_exporter.callable"] == 2


class HalfAnExporter:
    def export(self, records: Any) -> None:
        return None


@pytest.mark.parametrize("sink", [None, "scores.jsonl", HalfAnExporter()])
def test_anything_else_is_refused_at_set_up(sink: Any) -> None:
    with pytest.raises(ConfigurationError, match="neither a score exporter"):
        as_exporters([sink])
