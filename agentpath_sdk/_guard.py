"""Nothing of ours raises into user code: faults are counted, logged once a minute, and read back here."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections import Counter
from functools import cache
from types import TracebackType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from structlog.stdlib import BoundLogger

__all__ = ["HEALTH", "Health", "guard"]

_LOG_EVERY_SECONDS: Final = 60.0

# structlog over the stdlib logger, as libraries should: silent until the application configures logging.
logging.getLogger("agentpath_sdk").addHandler(logging.NullHandler())


@cache
def _logger() -> BoundLogger:
    # Loaded with the first thing worth saying; a healthy process never pays for it.
    import structlog

    logger: BoundLogger = structlog.wrap_logger(
        logging.getLogger("agentpath_sdk"),
        processors=[structlog.stdlib.filter_by_level, structlog.stdlib.render_to_log_kwargs],
        wrapper_class=structlog.stdlib.BoundLogger,
    )
    return logger


class Health:
    """Counters of everything that went wrong or was dropped, by a dotted name of low cardinality."""

    def __init__(self) -> None:
        # Re-entrant: a signal handler or finaliser may end a span while its own thread counts.
        self._lock = threading.RLock()
        self._counts: Counter[str] = Counter()
        self._logged_at: dict[str, float] = {}
        self.raise_faults = False
        """Set by ``agentpath_sdk.testing`` so that a fault fails a test instead of being counted only."""

    def count(self, name: str, amount: int = 1) -> None:
        """Add ``amount`` to the counter ``name``."""
        with self._lock:
            self._counts[name] += amount

    def fault(self, place: str, error: BaseException) -> None:
        """Count a fault at ``place`` and log it, with its type only, at most once a minute."""
        self.count(f"fault.{place}")
        if self._may_log(place):
            # Never the message or the traceback: either may hold the user's data.
            _logger().warning(
                f"agentpath: {place} failed with {type(error).__name__}; the agent is not affected",
                place=place,
                error_type=type(error).__name__,
            )

    def note(self, place: str, text: str) -> None:
        """Log ``text`` at most once a minute for ``place``; ``text`` must hold no user data."""
        if self._may_log(place):
            _logger().warning(f"agentpath: {place}: {text}", place=place)

    def counts(self) -> dict[str, int]:
        """Return a copy of all counters."""
        with self._lock:
            return dict(self._counts)

    def reset(self) -> None:
        """Forget everything; for tests and for a forked child."""
        self._lock = threading.RLock()
        self._counts.clear()
        self._logged_at.clear()

    def _may_log(self, place: str) -> bool:
        now = time.monotonic()
        with self._lock:
            last = self._logged_at.get(place)
            if last is not None and now - last < _LOG_EVERY_SECONDS:
                return False
            self._logged_at[place] = now
            return True


HEALTH: Final = Health()

if hasattr(os, "register_at_fork"):
    # A lock held by another thread at the moment of the fork would stay held in the child for ever.
    os.register_at_fork(after_in_child=HEALTH.reset)


class guard:  # noqa: N801 - reads as a statement: ``with guard("online.on_end"):``
    """Context manager that swallows any ``Exception`` of our own code and counts it under ``place``.

    ``KeyboardInterrupt``, ``SystemExit`` and ``CancelledError`` pass: they are the user's.
    """

    __slots__ = ("_place",)

    def __init__(self, place: str) -> None:
        self._place = place

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool:
        if error is None or not isinstance(error, Exception):
            return False
        HEALTH.fault(self._place, error)
        return not HEALTH.raise_faults
