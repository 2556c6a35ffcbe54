"""A forked child starts clean, and however a process ends, somebody is told: what cares registers here once."""

from __future__ import annotations

import atexit
import os
import sys
from collections.abc import Callable
from typing import Any, Final, Protocol
from weakref import WeakSet

from agentpath_sdk._guard import guard

__all__ = ["Forkable", "at_process_end", "ends_without_exit", "reset_after_fork"]


class Forkable(Protocol):
    """Something that must not carry its parent's state into a forked child."""

    def after_fork(self) -> None:
        """Replace locks, threads and queues; called in the child only."""
        ...


_LIVE: Final[WeakSet[Forkable]] = WeakSet()


def reset_after_fork(thing: Forkable) -> None:
    """Have ``thing.after_fork()`` called in every forked child for as long as ``thing`` lives."""
    _LIVE.add(thing)


def at_process_end(act: Callable[[], object]) -> None:
    """Have ``act`` called at the end of this process and of each process forked from it; perhaps more than once."""
    _ends.append(act)
    atexit.register(act)
    _arm(None)


def ends_without_exit() -> bool:
    """Return whether this is a child of ``multiprocessing``: it ends without the interpreter's exit functions."""
    process: Any = sys.modules.get("multiprocessing.process")
    return process is not None and process.parent_process() is not None


_ends: Final[list[Callable[[], object]]] = []


def _arm(_: object) -> None:
    util: Any = sys.modules.get("multiprocessing.util")
    if util is not None and ends_without_exit():
        for act in _ends:
            util.Finalize(None, act, exitpriority=0)


def _reset_all() -> None:
    for thing in list(_LIVE):
        with guard("online.fork"):
            thing.after_fork()
    util: Any = sys.modules.get("multiprocessing.util")
    if util is not None:
        # Not at once: a child of multiprocessing first forgets what its parent wanted done at the end.
        with guard("online.fork"):
            util.register_after_fork(_arm, _arm)


# One hook for all: a hook cannot be taken back, so one per object would leak the objects.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_reset_all)
