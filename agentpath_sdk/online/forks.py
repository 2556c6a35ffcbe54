"""A forked child starts clean: what has threads, locks or queues registers here once."""

from __future__ import annotations

import os
from typing import Final, Protocol
from weakref import WeakSet

from agentpath_sdk._guard import guard

__all__ = ["Forkable", "reset_after_fork"]


class Forkable(Protocol):
    """Something that must not carry its parent's state into a forked child."""

    def after_fork(self) -> None:
        """Replace locks, threads and queues; called in the child only."""
        ...


_LIVE: Final[WeakSet[Forkable]] = WeakSet()


def reset_after_fork(thing: Forkable) -> None:
    """Have ``thing.after_fork()`` called in every forked child for as long as ``thing`` lives."""
    _LIVE.add(thing)


def _reset_all() -> None:
    for thing in list(_LIVE):
        with guard("online.fork"):
            thing.after_fork()


# One hook for all: a hook cannot be taken back, so one per object would leak the objects.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_reset_all)
