"""A file of lines that several processes append to."""

from __future__ import annotations

import os
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from agentpath_sdk.errors import ConfigurationError

try:
    import fcntl
except ImportError:  # Windows: a single O_APPEND write per batch must do
    fcntl = None  # type: ignore[assignment]

__all__ = ["LineFile"]

_FILE_MODE: Final = 0o600
_REOPEN_TRIES: Final = 10
_LOCK_SECONDS: Final = 5.0
_LOCK_POLL_SECONDS: Final = 0.002


class LineFile:
    """Appends whole lines: never part of one, never two processes' lines mixed.

    The file is opened for each batch, so a rotated, deleted or moved file is noticed, and a forked child
    shares nothing with its parent. Nothing is forced to disk unless ``fsync`` is true: after a crash of
    the machine (not of the process) the last batches may be missing. With ``max_bytes`` the file is
    renamed to ``NAME.1`` (``.1`` to ``.2`` and so on, ``keep`` files in all) before it would grow beyond.
    """

    def __init__(
        self, path: str | os.PathLike[str], *, max_bytes: int | None = None, keep: int = 3, fsync: bool = False
    ) -> None:
        if max_bytes is not None and max_bytes <= 0:
            raise ConfigurationError(f"max_bytes={max_bytes!r}: give a positive number of bytes, or None for no limit")
        if keep < 1:
            raise ConfigurationError(f"keep={keep!r}: at least 1 rotated file is kept")
        if not isinstance(path, str | os.PathLike):  # pyright: ignore[reportUnnecessaryIsInstance] - people pass anything
            raise ConfigurationError(f"cannot write to {path!r}: give the path of a file")
        self.path = Path(path)
        self._max_bytes = max_bytes
        self._keep = keep
        self._fsync = fsync
        self._check_writable()

    def append(self, lines: Sequence[bytes]) -> None:
        """Append ``lines`` (without line ends), all or none.

        Raises:
            OSError: the disk is full, the folder is gone, ...; the file is as it was.
        """
        data = b"".join(line + b"\n" for line in lines)
        if not data:
            return
        with self._locked(len(data)) as descriptor:
            before = os.fstat(descriptor).st_size
            if before and _last_byte(descriptor, before) != b"\n":
                data = b"\n" + data  # someone died in the middle of a line: do not spoil ours with it
            try:
                _write_all(descriptor, data)
                if self._fsync:
                    os.fsync(descriptor)
            except OSError:
                os.ftruncate(descriptor, before)
                raise

    def _check_writable(self) -> None:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            os.close(self._open())
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise ConfigurationError(f"cannot write to {str(self.path)!r}: {reason}") from None

    def _open(self) -> int:
        return os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), _FILE_MODE)

    @contextmanager
    def _locked(self, size: int) -> Generator[int]:
        for _ in range(_REOPEN_TRIES):
            descriptor = self._open()
            try:
                _lock(descriptor)
                if not self._is_current(descriptor):
                    continue  # rotated by another process between opening and locking
                if self._is_full(descriptor, size):
                    self._rotate()
                    continue
                yield descriptor
                return
            finally:
                _unlock(descriptor)
                os.close(descriptor)
        raise OSError(f"{self.path} kept being replaced")

    def _is_current(self, descriptor: int) -> bool:
        try:
            return os.path.samestat(os.fstat(descriptor), os.stat(self.path))
        except FileNotFoundError:
            return False

    def _is_full(self, descriptor: int, size: int) -> bool:
        if self._max_bytes is None:
            return False
        present = os.fstat(descriptor).st_size
        return present > 0 and present + size > self._max_bytes

    def _rotate(self) -> None:
        for number in range(self._keep - 1, 0, -1):
            older = self._numbered(number)
            if older.exists():
                older.replace(self._numbered(number + 1))
        self.path.replace(self._numbered(1))

    def _numbered(self, number: int) -> Path:
        return self.path.with_name(f"{self.path.name}.{number}")


def _lock(descriptor: int) -> None:
    """Lock the file against other processes; a lock that is not to be had is an error, never a hang."""
    if fcntl is None:
        return
    deadline = time.monotonic() + _LOCK_SECONDS
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() >= deadline:
                raise
            time.sleep(_LOCK_POLL_SECONDS)


def _unlock(descriptor: int) -> None:
    # Closing is not enough: a child forked in between holds the same lock through its copy of the descriptor.
    if fcntl is not None:
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_UN)


def _last_byte(descriptor: int, size: int) -> bytes:
    os.lseek(descriptor, size - 1, os.SEEK_SET)
    return os.read(descriptor, 1)


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
