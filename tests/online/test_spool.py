"""One queue per destination: bounded, retried, and no destination harms another."""

from __future__ import annotations

import threading

import pytest

from agentpath_sdk._guard import HEALTH
from agentpath_sdk.online.record import ExportResult, ScoreRecord
from agentpath_sdk.online.spool import Spool
from agentpath_sdk.testing import ManualClock

from .fakes import RecordingExporter, score_record


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


def spool_for(exporter: object, clock: ManualClock, **given: object) -> Spool:
    return Spool(exporter, name="test", clock=clock, background=False, **given)  # type: ignore[arg-type] # fakes


def test_records_are_sent_in_order_in_bounded_batches(clock: ManualClock) -> None:
    exporter = RecordingExporter()
    spool = spool_for(exporter, clock, batch_size=2)
    records = [score_record(f"{n:016x}") for n in range(1, 6)]
    for record in records:
        spool.offer(record)
    spool.step()
    assert [len(batch) for batch in exporter.batches] == [2, 2, 1]
    assert exporter.records == records


def test_a_failing_destination_is_tried_again_later_and_later(clock: ManualClock) -> None:
    tries: list[float] = []

    def fail(records: tuple[ScoreRecord, ...]) -> ExportResult:
        tries.append(clock.monotonic())
        return ExportResult(retry=records)

    spool = spool_for(RecordingExporter(fail), clock)
    spool.offer(score_record())
    for _ in range(4):
        wait = spool.step()
        clock.advance(wait)
    assert tries == [0.0, 1.0, 3.0, 7.0]
    assert spool.state().failures == 4
    assert spool.state().queued == 1


def test_the_destination_says_when_to_come_back(clock: ManualClock) -> None:
    spool = spool_for(RecordingExporter(lambda r: ExportResult(retry=r, retry_after_seconds=42.0)), clock)
    spool.offer(score_record())
    assert spool.step() == pytest.approx(42.0)


def test_an_exporter_that_raises_loses_nothing_and_is_counted(clock: ManualClock) -> None:
    down = True

    def answer(records: tuple[ScoreRecord, ...]) -> ExportResult:
        if down:
            raise ConnectionError("refused")
        return ExportResult(exported=len(records))

    exporter = RecordingExporter(answer)
    spool = spool_for(exporter, clock)
    spool.offer(score_record())
    before = HEALTH.counts().get("fault.spool.test", 0)
    spool.step()
    assert HEALTH.counts()["fault.spool.test"] == before + 1
    down = False
    assert spool.flush(1.0)
    assert exporter.records == [score_record()]


@pytest.mark.parametrize(
    "answer",
    [None, True, 5, ExportResult(retry=("x",)), ExportResult(retry=5), ExportResult(retry_after_seconds="soon")],  # type: ignore[arg-type]
    ids=repr,
)
def test_an_answer_that_is_none_is_counted_and_nothing_is_sent_twice(clock: ManualClock, answer: object) -> None:
    """The commonest mistake in an exporter of one's own is to return nothing."""
    got: list[ScoreRecord] = []

    class Exporter(RecordingExporter):
        def export(self, records: tuple[ScoreRecord, ...]) -> ExportResult:
            got.extend(records)
            return answer  # type: ignore[return-value] # the mistake

    exporter = Exporter()
    spool = spool_for(exporter, clock)
    records = [score_record(f"{n:016x}") for n in (1, 2)]
    before = HEALTH.counts().get("fault.spool.test", 0)
    for record in records:
        spool.offer(record)
        spool.step()
    assert HEALTH.counts()["fault.spool.test"] == before + 2
    assert got == records
    assert spool.shutdown(1.0)
    assert exporter.closed


@pytest.mark.parametrize("wait", [float("inf"), 1e300])
def test_a_destination_cannot_put_a_record_off_for_ever(clock: ManualClock, wait: float) -> None:
    spool = spool_for(
        RecordingExporter(lambda r: ExportResult(retry=r, retry_after_seconds=wait)), clock, give_up_seconds=60.0
    )
    spool.offer(score_record())
    assert spool.step() == pytest.approx(60.0)


def test_only_the_part_that_failed_is_sent_again(clock: ManualClock) -> None:
    first, second = score_record("1" * 16), score_record("2" * 16)
    refuse = [second.id]
    exporter = RecordingExporter(
        lambda records: ExportResult(retry=tuple(record for record in records if record.id in refuse))
    )
    spool = spool_for(exporter, clock)
    spool.offer(first)
    spool.offer(second)
    spool.step()
    refuse.clear()
    clock.advance(60)
    spool.step()
    assert exporter.records == [first, second]


def test_a_record_nobody_takes_is_given_up_in_the_end(clock: ManualClock) -> None:
    spool = spool_for(RecordingExporter(lambda r: ExportResult(retry=r)), clock, give_up_seconds=600)
    spool.offer(score_record())
    spool.step()
    clock.advance(601)
    spool.step()
    assert len(spool) == 0
    assert spool.state().dropped == 1


def test_a_full_queue_drops_the_oldest_and_says_so(clock: ManualClock) -> None:
    exporter = RecordingExporter()
    spool = spool_for(exporter, clock, capacity=3)
    for n in range(1, 6):
        spool.offer(score_record(f"{n:016x}"))
    assert spool.state().dropped == 2
    spool.step()
    assert [record.span_id[-1] for record in exporter.records] == ["3", "4", "5"]


def test_of_two_revisions_only_the_better_one_is_sent(clock: ManualClock) -> None:
    exporter = RecordingExporter()
    spool = spool_for(exporter, clock)
    spool.offer(score_record())
    spool.offer(score_record(revision=2))
    spool.offer(score_record(revision=3, completeness="presumed_incomplete"))
    spool.step()
    assert [(record.revision, record.completeness) for record in exporter.records] == [(2, "complete")]


def test_a_newer_revision_that_came_during_a_failed_try_is_not_overwritten(clock: ManualClock) -> None:
    spool: Spool

    def answer(records: tuple[ScoreRecord, ...]) -> ExportResult:
        if records[0].revision == 1:
            spool.offer(score_record(revision=2))
            return ExportResult(retry=records)
        return ExportResult(exported=1)

    exporter = RecordingExporter(answer)
    spool = spool_for(exporter, clock)
    spool.offer(score_record())
    spool.step()
    clock.advance(2)
    spool.step()
    assert [record.revision for record in exporter.records] == [2]


def test_flush_does_not_wait_for_the_back_off(clock: ManualClock) -> None:
    down = [True]
    exporter = RecordingExporter(lambda r: ExportResult(retry=r, retry_after_seconds=900) if down else ExportResult())
    spool = spool_for(exporter, clock)
    spool.offer(score_record())
    assert not spool.flush(1.0)
    down.clear()
    assert spool.flush(1.0)


def test_shutdown_counts_what_could_not_be_sent_and_closes_the_exporter(clock: ManualClock) -> None:
    exporter = RecordingExporter(lambda r: ExportResult(retry=r))
    spool = spool_for(exporter, clock)
    spool.offer(score_record())
    assert not spool.shutdown(1.0)
    assert spool.state().dropped == 1
    assert exporter.closed


def test_an_exporter_that_ends_the_program_is_closed_and_what_it_left_is_counted() -> None:
    def leave(records: tuple[ScoreRecord, ...]) -> ExportResult:
        raise SystemExit(3)

    exporter = RecordingExporter(leave)
    spool = Spool(exporter, name="leaving")
    spool.offer(score_record())
    assert spool.shutdown(5.0) is False
    assert exporter.closed
    assert spool.state().dropped == 1


def test_flush_and_shutdown_return_in_time_though_the_destination_hangs() -> None:
    release = threading.Event()

    def hang(records: tuple[ScoreRecord, ...]) -> ExportResult:
        release.wait(5)
        return ExportResult(exported=len(records))

    spool = Spool(RecordingExporter(hang), name="hang")
    try:
        spool.offer(score_record())
        assert not spool.flush(0.1)
        assert not spool.shutdown(0.1)
    finally:
        release.set()


def test_a_hanging_destination_does_not_hold_up_another() -> None:
    release = threading.Event()
    hanging = Spool(RecordingExporter(lambda r: (release.wait(5), ExportResult())[1]), name="slow")
    exporter = RecordingExporter()
    healthy = Spool(exporter, name="healthy")
    try:
        for spool in (hanging, healthy):
            spool.offer(score_record())
        assert healthy.flush(2.0)
        assert exporter.records == [score_record()]
    finally:
        release.set()
        hanging.shutdown(0.5)
        healthy.shutdown(0.5)
