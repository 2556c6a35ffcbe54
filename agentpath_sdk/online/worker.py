"""One lazy daemon thread that calls a function again and again; survives forks and its own death."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Final

from agentpath_sdk._guard import HEALTH
from agentpath_sdk.online.forks import reset_after_fork

__all__ = ["Worker"]

_DEEP_SLEEP_SECONDS: Final = 1.0
"""A wait of at least this long is ended by ``wake``; shorter ones simply end."""

_LONGEST_WAIT_SECONDS: Final = 86_400.0
"""The platform refuses to wait for infinity."""


class Worker:
    """Calls ``turn`` on a thread of its own, started by the first ``wake``.

    ``turn`` does all the work that is due and returns the seconds until it wants to be called again.
    Whatever it raises is counted and the thread goes on; if the thread is lost all the same, the next
    ``wake`` starts another one and ``worker.<name>.restarted`` counts it.
    """

    def __init__(
        self, turn: Callable[[], float], *, name: str, pending: Callable[[], bool], background: bool = True
    ) -> None:
        self._turn = turn
        self._name = name
        self._pending = pending
        self._background = background
        self._started_before = False
        self._stopping = False
        self.idle = True
        """True while only ``wake`` can bring the worker back; read without a lock on the hot path."""
        self._reset()
        reset_after_fork(self)

    def _reset(self) -> None:
        # Condition's lock is re-entrant: a signal handler or finaliser may end a span while we hold it.
        self._condition = threading.Condition()
        self._turn_lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._asked = 0
        self._answered = 0
        self.idle = True

    def after_fork(self) -> None:
        """Forget the parent's thread; the child starts its own on its first ``wake``."""
        self._started_before = False
        self._reset()

    def wake(self) -> None:
        """Start the thread if there is none, else end its sleep. Never blocks for long, never raises."""
        if self._stopping or not self._background:
            return
        with self._condition:
            self.idle = False
            if self._ensure_thread():
                self._condition.notify_all()

    def run_now(self, timeout: float) -> bool:
        """Return whether one whole turn, begun after this call, was done within ``timeout`` seconds.

        Without a thread (``background=False``, or at interpreter exit, when none can be started) the
        turn runs on the calling thread.
        """
        timeout = min(timeout, _LONGEST_WAIT_SECONDS)
        if threading.current_thread() is self._thread:
            return False  # asked from inside a turn: waiting would be for ever
        with self._condition:
            threaded = self._background and not self._stopping and self._ensure_thread()
            if threaded:
                self._asked += 1
                ticket = self._asked
                self._condition.notify_all()
                self._condition.wait_for(lambda: self._answered >= ticket or self._thread is None, timeout)
                if self._answered >= ticket:
                    return True
                if self._thread is not None:
                    return False
        return self._run_turn(timeout) is not None

    def stop(self, timeout: float) -> bool:
        """End the thread after its present turn; return whether it ended within ``timeout`` seconds."""
        thread = self._thread
        with self._condition:
            self._stopping = True
            self._condition.notify_all()
        if thread is None or thread is threading.current_thread():
            return True
        thread.join(min(timeout, _LONGEST_WAIT_SECONDS))
        return not thread.is_alive()

    def _ensure_thread(self) -> bool:
        if self._thread is not None and self._thread.is_alive():
            return True
        thread = threading.Thread(target=self._loop, name=f"agentpath-{self._name}", daemon=True)
        self._thread = thread
        try:
            thread.start()
        except RuntimeError as error:  # no threads: interpreter exit, or the platform's limit
            HEALTH.fault(f"worker.{self._name}.start", error)
            self._thread = None
            self.idle = True
            return False
        if self._started_before:
            HEALTH.count(f"worker.{self._name}.restarted")
        self._started_before = True
        return True

    def _loop(self) -> None:
        try:
            while not self._stopping:
                asked = self._asked
                seconds = self._run_turn(None)
                self._answer(asked)
                self._sleep(_DEEP_SLEEP_SECONDS / 2 if seconds is None else seconds)
        finally:
            with self._condition:
                if self._thread is threading.current_thread():
                    self._thread = None
                    self.idle = True
                self._condition.notify_all()

    def _run_turn(self, timeout: float | None) -> float | None:
        """Return what the turn returned, or None if it failed or could not begin."""
        if not self._turn_lock.acquire(timeout=-1 if timeout is None else max(timeout, 0.0)):
            return None
        try:
            return self._turn()
        except BaseException as error:
            # Even SystemExit: a scorer's sys.exit() must end neither scoring nor, inline, the application.
            HEALTH.fault(f"worker.{self._name}", error)
            if HEALTH.raise_faults and threading.current_thread() is not self._thread:
                raise
            if isinstance(error, KeyboardInterrupt) and threading.current_thread() is not self._thread:
                raise
            return None
        finally:
            self._turn_lock.release()

    def _answer(self, asked: int) -> None:
        with self._condition:
            self._answered = max(self._answered, asked)
            self._condition.notify_all()

    def _sleep(self, seconds: float) -> None:
        with self._condition:
            if self._asked > self._answered or self._stopping or seconds <= 0:
                return
            self.idle = seconds >= _DEEP_SLEEP_SECONDS
            # Between the turn and this line work may have come whose giver saw idle still False.
            if not (self.idle and self._pending()):
                self._condition.wait(min(seconds, _LONGEST_WAIT_SECONDS))
            self.idle = False
