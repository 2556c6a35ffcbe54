"""Gold files that change while the service runs: a new registry takes the old one's place at once, or not at all."""

from __future__ import annotations

import hashlib
import os
import stat
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from agentpath_sdk._guard import HEALTH
from agentpath_sdk.errors import AgentPathError
from agentpath_sdk.gold.files import find_files
from agentpath_sdk.gold.model import Effect, GoldPath, PathRule, Status
from agentpath_sdk.gold.registry import GoldPathRegistry, LookUp, Source
from agentpath_sdk.trajectories.model import Trajectory

__all__ = ["ReloadingRegistry"]

_BLOCK: Final = 1_048_576
# A file written again within a tick of the file system's clock keeps its time; until this much later its content
# is looked at, not its time.
_SETTLED_NANO: Final = 2_000_000_000

_Stat: TypeAlias = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class _Mark:
    """What a file looked like: its stat, whether that will show the next change, and its content's hash."""

    stat: _Stat
    settled: bool
    digest: str


_Marks: TypeAlias = dict[str, _Mark]


class ReloadingRegistry:
    """A registry that follows its files. It has no thread: whoever uses it calls ``reload_if_changed`` now and then.

    A reload that fails keeps the old paths serving, is counted (``gold.reload_failed``) and logged, and is tried again
    when a file changes. Any thread may call anything.
    """

    def __init__(
        self,
        *sources: Source,
        statuses: Iterable[Status] = ("approved",),
        effects: Mapping[str, Effect] | None = None,
        semantic: bool = False,
        check_seconds: float = 1.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Load all sources; the files are looked at again at most every ``check_seconds`` of ``clock``.

        ``statuses``, ``effects`` and ``semantic`` are those of ``GoldPathRegistry``.

        Raises:
            FileFormatError: a file cannot be read.
            ConfigurationError: an id is there twice, or ``semantic`` is asked for and not installed.
        """
        self._sources = tuple(_kept(source) for source in sources)
        self._statuses = tuple(statuses)
        self._effects: dict[str, Effect] = dict(effects or {})
        self._semantic = semantic
        self._check_seconds = check_seconds
        self._clock = clock
        self._lock = threading.Lock()
        self._process = os.getpid()
        self._problem: AgentPathError | None = None
        self._generation = 1
        # Before loading: a change in between is then seen at the next check.
        self._marks = self._look({})
        self._checked_at = clock()
        self._current = self._load()

    @property
    def current(self) -> GoldPathRegistry:
        """The registry in use: a snapshot that never changes."""
        return self._current

    @property
    def paths(self) -> tuple[GoldPath, ...]:
        """The paths of the registry in use."""
        return self._current.paths

    def rules_for(self, agent: str | None) -> tuple[PathRule, ...]:
        """Return the rules that runs of ``agent`` must keep to, from the registry in use."""
        return self._current.rules_for(agent)

    @property
    def generation(self) -> int:
        """1, and one more for each reload that took effect."""
        return self._generation

    @property
    def problem(self) -> AgentPathError | None:
        """Why the newest files are not in use; None when they are."""
        return self._problem

    def look_up(self, trajectory: Trajectory) -> LookUp:
        """Return the gold path of a run, from the registry in use."""
        return self._current.look_up(trajectory)

    def reload_if_changed(self, *, now: bool = False) -> bool:
        """Return whether a new registry took effect; ``now`` looks at the files before they are due. Never raises."""
        lock = self._own_lock()
        if not lock.acquire(blocking=False):
            # Another thread is at it.
            return False
        try:
            return self._reload_if_due(now)
        except Exception as error:
            HEALTH.fault("gold.reload", error)
            return False
        finally:
            lock.release()

    def _own_lock(self) -> threading.Lock:
        """Return the lock; a forked child takes a new one, since its parent's may have been held at the fork."""
        if self._process != os.getpid():
            self._lock, self._process = threading.Lock(), os.getpid()
        return self._lock

    def _reload_if_due(self, now: bool) -> bool:
        if not now and self._clock() - self._checked_at < self._check_seconds:
            return False
        marks, before = self._look(self._marks), self._marks
        self._marks, self._checked_at = marks, self._clock()
        if _digests(marks) == _digests(before):
            return False
        try:
            self._current = self._load()
        except AgentPathError as error:
            self._problem = error
            HEALTH.count("gold.reload_failed")
            HEALTH.note("gold.reload", "changed gold files cannot be read, the paths from before stay in use")
            return False
        self._problem = None
        self._generation += 1
        HEALTH.count("gold.reloaded")
        return True

    def _load(self) -> GoldPathRegistry:
        return GoldPathRegistry(*self._sources, statuses=self._statuses, effects=self._effects, semantic=self._semantic)

    def _look(self, before: _Marks) -> _Marks:
        """Return the marks of all files; a place that cannot be read has a mark of its own, so that it is a change."""
        marks: _Marks = {}
        for source in self._sources:
            if isinstance(source, str | os.PathLike):
                try:
                    files = list(find_files(source))
                except (AgentPathError, OSError) as error:
                    marks[str(source)] = _unreadable(error)
                else:
                    marks.update((str(file), _mark(file, before.get(str(file)))) for file in files)
        return marks


def _kept(source: Source) -> Source:
    """Return the source in a form that can be read again."""
    return source if isinstance(source, str | os.PathLike | GoldPath | PathRule) else tuple(source)


def _mark(file: Path, before: _Mark | None) -> _Mark:
    try:
        status = file.stat()
        known = (status.st_mtime_ns, status.st_size, status.st_ino)
        if not stat.S_ISREG(status.st_mode):
            # Reading a pipe or a device may never end.
            return _unreadable(OSError())
        if before is not None and before.settled and before.stat == known:
            return before
        return _Mark(known, time.time_ns() - status.st_mtime_ns > _SETTLED_NANO, _digest(file))
    except OSError as error:
        return _unreadable(error)


def _unreadable(error: Exception) -> _Mark:
    return _Mark((0, 0, 0), False, f"unreadable: {type(error).__name__}")


def _digest(file: Path) -> str:
    digest = hashlib.sha256()
    with file.open("rb") as content:
        while block := content.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()


def _digests(marks: _Marks) -> dict[str, str]:
    return {file: mark.digest for file, mark in marks.items()}
