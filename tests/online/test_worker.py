"""The worker thread: lazy, stubborn, bounded."""

from __future__ import annotations

import threading

from agentpath_sdk._guard import HEALTH
from agentpath_sdk.online.worker import Worker


def test_no_thread_runs_before_there_is_work() -> None:
    def threads() -> int:
        return sum(thread.name == "agentpath-lazy" for thread in threading.enumerate())

    worker = Worker(lambda: 60.0, name="lazy", pending=lambda: False)
    assert threads() == 0
    assert worker.run_now(2.0)
    assert threads() == 1
    assert worker.stop(2.0)
    assert threads() == 0


def test_a_sleeping_worker_is_woken_and_reports_idle() -> None:
    turned = threading.Event()
    worker = Worker(lambda: (turned.set(), 60.0)[1], name="wake", pending=lambda: False)
    assert worker.idle
    worker.wake()
    assert turned.wait(2.0)
    worker.stop(2.0)


def test_work_that_raises_is_counted_and_the_worker_goes_on() -> None:
    turns: list[int] = []

    def turn() -> float:
        turns.append(1)
        if len(turns) < 3:
            raise SystemExit if len(turns) == 1 else ValueError
        return 60.0

    worker = Worker(turn, name="stubborn", pending=lambda: False)
    for _ in range(3):
        worker.run_now(2.0)
    assert len(turns) >= 3
    assert HEALTH.counts()["fault.worker.stubborn"] == 2
    worker.stop(2.0)


def test_a_lost_thread_is_replaced_and_counted() -> None:
    worker = Worker(lambda: 60.0, name="mortal", pending=lambda: False)
    assert worker.run_now(2.0)
    lost = worker._thread
    assert lost is not None
    # What a killed thread leaves behind: a thread object that is no longer alive.
    worker._thread = dead = threading.Thread(target=lambda: None)
    dead.start()
    dead.join()
    assert worker.run_now(2.0)
    assert HEALTH.counts()["worker.mortal.restarted"] == 1
    worker.stop(2.0)


def test_without_a_thread_a_turn_runs_on_the_callers() -> None:
    names: list[str] = []
    worker = Worker(
        lambda: (names.append(threading.current_thread().name), 1.0)[1],
        name="inline",
        pending=lambda: False,
        background=False,
    )
    worker.wake()
    assert names == []
    assert worker.run_now(1.0)
    assert names == [threading.current_thread().name]


def test_asking_from_inside_a_turn_does_not_wait_for_ever() -> None:
    answers: list[bool] = []
    worker: Worker

    def turn() -> float:
        answers.append(worker.run_now(30.0))
        return 60.0

    worker = Worker(turn, name="inside", pending=lambda: False)
    assert worker.run_now(2.0)
    assert set(answers) == {False}
    worker.stop(2.0)


def test_waiting_without_limit_is_possible() -> None:
    """The platform itself refuses to wait for infinity, or for 1e300 seconds."""
    for background in (True, False):
        worker = Worker(lambda: float("inf"), name="patient", pending=lambda: False, background=background)
        assert worker.run_now(float("inf"))
        worker.wake()
        assert worker.run_now(1e300)
        assert worker.stop(1e300)
