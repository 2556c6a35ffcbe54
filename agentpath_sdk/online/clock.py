"""Time as a value that tests can hold still."""

from __future__ import annotations

import time
from typing import Final, Protocol

__all__ = ["SYSTEM_CLOCK", "Clock", "SystemClock"]


class Clock(Protocol):
    """Two readings: seconds that never jump, for waits; nanoseconds since the epoch, for records."""

    def monotonic(self) -> float:
        """Return seconds from an arbitrary start."""
        ...

    def unix_nano(self) -> int:
        """Return nanoseconds since 1970."""
        ...


class SystemClock:
    """The machine's clock."""

    def monotonic(self) -> float:
        """Return ``time.monotonic()``."""
        return time.monotonic()

    def unix_nano(self) -> int:
        """Return ``time.time_ns()``."""
        return time.time_ns()


SYSTEM_CLOCK: Final = SystemClock()
