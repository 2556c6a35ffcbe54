"""Spans of many traces in any order, given back trace by trace: in memory while small, else in a temporary file."""

from __future__ import annotations

import pickle
import sqlite3
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import fields
from operator import attrgetter
from pathlib import Path
from types import TracebackType
from typing import Any, Final

from agentpath_sdk.trajectories.shapes import as_object
from agentpath_sdk.trajectories.span_record import SpanRecord

__all__ = ["SpanSpool"]

_MEMORY_LIMIT: Final = 16 * 1024 * 1024
_BATCH: Final = 2_000
_LARGEST: Final = 2**63 - 1
# The values alone pickle in a third of the time that the dataclass takes.
_FIELDS: Final = tuple(field.name for field in fields(SpanRecord))
_values: Final = attrgetter(*_FIELDS)


class SpanSpool:
    """Groups spans by trace. What it gives back does not depend on where they were kept, or on their order.

    ``add`` belongs to a file; ``discard`` takes back a file that proved bad. Above 16 MB of input (as ``add`` is told)
    spans go to a temporary SQLite file, which is deleted on exit.
    """

    def __init__(self, *, memory_limit: int = _MEMORY_LIMIT) -> None:
        self._memory_limit = memory_limit
        self._size = 0
        self._held: list[tuple[int, SpanRecord]] = []
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._file: sqlite3.Connection | None = None

    def __enter__(self) -> SpanSpool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._file is not None:
            self._file.close()
        if self._folder is not None:
            self._folder.cleanup()

    def add(self, file: int, records: Iterable[SpanRecord], *, size: int) -> int:
        """Keep ``records``, which took ``size`` bytes in the file numbered ``file``; return how many they are."""
        before = len(self._held)
        self._held.extend((file, record) for record in records)
        count = len(self._held) - before
        self._size += size
        if self._size > self._memory_limit or (self._file is not None and len(self._held) >= _BATCH):
            self._write()
        return count

    def discard(self, file: int) -> None:
        """Forget the spans of ``file``."""
        self._held = [pair for pair in self._held if pair[0] != file]
        if self._file is not None:
            self._file.execute("DELETE FROM spans WHERE file = ?", (file,))

    def traces(self) -> Iterator[list[SpanRecord]]:
        """Yield the spans of each trace, traces by their first start and then by id."""
        if self._file is None:
            yield from self._traces_held()
            return
        self._write()
        self._file.execute("CREATE INDEX IF NOT EXISTS by_trace ON spans (trace, start)")
        order = self._file.execute("SELECT trace FROM spans GROUP BY trace ORDER BY MIN(start), trace")
        for (trace,) in order:
            rows = self._file.execute("SELECT span FROM spans WHERE trace = ?", (trace,))
            # Our own file of this very process: nobody else wrote it.
            yield [SpanRecord(**dict(zip(_FIELDS, pickle.loads(span), strict=True))) for (span,) in rows]

    def _traces_held(self) -> Iterator[list[SpanRecord]]:
        traces: dict[str, list[SpanRecord]] = {}
        for _, record in self._held:
            traces.setdefault(record.trace_id, []).append(record)
        yield from sorted(traces.values(), key=lambda spans: (min(map(_start, spans)), spans[0].trace_id))

    def _write(self) -> None:
        file = self._file or self._open_file()
        file.executemany(
            "INSERT INTO spans VALUES (?, ?, ?, ?)",
            [(number, r.trace_id, _start(r), pickle.dumps(_plain(r), protocol=5)) for number, r in self._held],
        )
        self._held.clear()
        self._size = 0

    def _open_file(self) -> sqlite3.Connection:
        self._folder = tempfile.TemporaryDirectory(prefix="agentpath-")
        file = sqlite3.connect(Path(self._folder.name) / "spans.sqlite", isolation_level=None)
        for statement in ("PRAGMA journal_mode = OFF", "PRAGMA synchronous = OFF", "BEGIN"):
            file.execute(statement)
        file.execute("CREATE TABLE spans (file INTEGER, trace TEXT, start INTEGER, span BLOB)")
        self._file = file
        return file


def _plain(record: SpanRecord) -> tuple[Any, ...]:
    """Return the record's fields; mappings as dicts, for those of a live span hold a lock."""
    values: tuple[Any, ...] = _values(record)
    return tuple(value if (known := as_object(value)) is None else dict(known) for value in values)


def _start(record: SpanRecord) -> int:
    return min(record.start_unix_nano, _LARGEST)
