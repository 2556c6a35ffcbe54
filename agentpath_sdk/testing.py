"""Test kit for agents: see the trajectories and scores of what ran, with fixed ids and a clock in your hand.

pytest loads this module in every project where the SDK is installed: it imports nothing heavy until a
fixture or ``capture()`` is used.

>>> def test_the_agent_looks_before_it_leaps(captured_trajectories):
...     run_my_agent()
...     assert captured_trajectories.steps() == ["lookup", "refund"]
"""

from __future__ import annotations

__all__ = ["ManualClock"]


class ManualClock:
    """A clock that stands still until ``advance``."""

    def __init__(self, *, unix_nano: int = 1_700_000_000_000_000_000) -> None:
        self._seconds = 0.0
        self._unix_nano = unix_nano

    def monotonic(self) -> float:
        """Return the seconds advanced so far."""
        return self._seconds

    def unix_nano(self) -> int:
        """Return the start plus what was advanced."""
        return self._unix_nano + round(self._seconds * 1e9)

    def advance(self, seconds: float) -> None:
        """Let ``seconds`` pass."""
        self._seconds += seconds
