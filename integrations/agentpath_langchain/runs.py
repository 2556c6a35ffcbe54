"""Which recorded call a LangChain run belongs to.

Only agents, tools, models and retrievers become spans. Every chain run in between (a graph's node, a sequence, a
lambda) leaves a small link to the recorded call around it, so that ids lead to the true parent whatever thread an
event comes from. A link goes when its chain run ends, at the latest with the outermost chain run; links of runs whose
end is never seen go once the recorder has given up on the call they lead to.
"""

from __future__ import annotations

import os
import sys
import threading
import weakref
from collections.abc import Hashable, Mapping
from typing import Any, Final
from uuid import UUID

from agentpath_sdk.tracing.recorder import Recorder, Recording, get_recorder

__all__ = ["Link", "Runs", "enclosing_key", "enclosing_run_id", "runs_of"]

_CONFIG_MODULE: Final = "langchain_core.runnables.config"


class Link:
    """One open chain run. Never holds a recording, so that it keeps nothing alive."""

    __slots__ = ("agent", "members", "owner", "owns", "paused", "top", "waiting")

    def __init__(self, owner: Hashable, *, top: Link | None, owns: bool = False, agent: str | None = None) -> None:
        self.owner = owner
        """Key of the recorded call around this run: its own id if ``owns``."""
        self.owns = owns
        self.agent = agent
        """LangChain's name of the agent this run is part of."""
        self.paused = False
        """True once a pause for approval has come up to this run."""
        self.waiting: tuple[str, Any, Mapping[str, Any]] | None = None
        """Name, inputs and metadata of a run inside a tool that is an agent if it turns out to be a graph."""
        self.top = top
        """Link of the outermost chain run; None for that one itself."""
        self.members: set[UUID] = set()
        """Open runs below; kept on the outermost link only."""

    def take_waiting(self) -> tuple[str, Any, Mapping[str, Any]] | None:
        """Return and forget what waits."""
        waiting, self.waiting = self.waiting, None
        return waiting


class Runs:
    """The links of one recorder. Process-wide like the recorder itself: several handlers see the same runs."""

    def __init__(self, recorder: Recorder) -> None:
        # Weak, because the table of all runs must not keep a recorder alive that nobody uses any more.
        self._recorder = weakref.ref(recorder)
        self._limit = recorder.settings.max_open_runs * 4
        self._links: dict[UUID, Link] = {}
        self.lock = threading.RLock()
        """Held while a waiting run becomes an agent."""

    def __len__(self) -> int:
        return len(self._links)

    def get(self, run_id: UUID | None) -> Link | None:
        """Return the link of an open chain run."""
        return None if run_id is None else self._links.get(run_id)

    def put(self, run_id: UUID, link: Link) -> None:
        """Remember an open chain run."""
        if link.top is None:
            self._drop_stale()
        else:
            link.top.members.add(run_id)
        self._links[run_id] = link

    def pop(self, run_id: UUID) -> Link | None:
        """Forget an ended chain run, and with the outermost one all that were left open below it."""
        link = self._links.pop(run_id, None)
        if link is None:
            return None
        if link.top is not None:
            link.top.members.discard(run_id)
        while link.members:
            self._links.pop(link.members.pop(), None)
        return link

    def forget(self) -> None:
        """Drop everything: after a fork the open runs are the parent process's, and the lock may be held for ever."""
        self.lock = threading.RLock()
        self._links = {}

    def owner(self, run_id: UUID) -> Recording | None:
        """Return the open recorded call that ``run_id`` is, or is inside of; None for an unknown run."""
        found = self._get(run_id)
        if found is None:
            link = self._links.get(run_id)
            found = self._get(link.owner) if link is not None else None
        return found

    def _get(self, key: Hashable) -> Recording | None:
        recorder = self._recorder()
        return None if recorder is None else recorder.get(key)

    def _drop_stale(self) -> None:
        """Drop the links of runs the recorder has given up. Those are the oldest: one look tells if there are any."""
        oldest = next(iter(self._links.values()), None)
        if oldest is not None and self._get(oldest.owner) is None:
            for run_id, link in list(self._links.items()):
                if self._get(link.owner) is None:
                    self.pop(run_id)
        while len(self._links) >= self._limit:
            self.pop(next(iter(self._links)))


_RUNS: Final[weakref.WeakKeyDictionary[Recorder, Runs]] = weakref.WeakKeyDictionary()


def runs_of(recorder: Recorder) -> Runs:
    """Return the links that go with ``recorder``."""
    found = _RUNS.get(recorder)
    return _RUNS.setdefault(recorder, Runs(recorder)) if found is None else found


def enclosing_run_id() -> UUID | None:
    """Return the id of the LangChain run that the running code is inside of, else None."""
    module = sys.modules.get(_CONFIG_MODULE)
    if module is None:
        return None
    config: Mapping[str, Any] | None = module.var_child_runnable_config.get()
    found = getattr(config.get("callbacks"), "parent_run_id", None) if config else None
    return found if isinstance(found, UUID) else None


def enclosing_key() -> Hashable | None:
    """Return the key of the recorded LangChain call that the running code is inside of, else None."""
    run_id = enclosing_run_id()
    if run_id is None:
        return None
    found = runs_of(get_recorder()).owner(run_id)
    return None if found is None else found.key


def _after_fork() -> None:
    for runs in list(_RUNS.values()):
        runs.forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
