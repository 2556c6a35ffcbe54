"""Health counters: whoever counts, wherever it is interrupted."""

from __future__ import annotations

import threading
from collections import Counter

from agentpath_sdk._guard import Health


class Interrupted(Counter[str]):
    """A finaliser or signal handler that runs in the middle of counting, on the same thread, and counts too."""

    def __init__(self, health: Health) -> None:
        super().__init__()
        self.health = health

    def __setitem__(self, name: str, value: int) -> None:
        if name == "outer":
            self.health.count("inner")
        super().__setitem__(name, value)


def test_counting_may_be_interrupted_by_counting() -> None:
    health = Health()
    health._counts = Interrupted(health)
    thread = threading.Thread(target=health.count, args=("outer",), daemon=True)
    thread.start()
    thread.join(5.0)
    assert not thread.is_alive()
    assert health.counts() == {"outer": 1, "inner": 1}
