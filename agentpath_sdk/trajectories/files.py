"""Spans and trajectories from files, folders and iterables, in whatever form they are in."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any, Final, TypeAlias, cast

from agentpath_sdk.errors import FileFormatError, MissingExtraError
from agentpath_sdk.trajectories.console_span import from_console_json, is_console_json
from agentpath_sdk.trajectories.documents import STDIN, Document, documents
from agentpath_sdk.trajectories.model import Trajectory
from agentpath_sdk.trajectories.otlp import from_otlp_json, from_otlp_protobuf, is_otlp_json
from agentpath_sdk.trajectories.shapes import as_list, as_object
from agentpath_sdk.trajectories.span_record import SpanRecord, from_sdk
from agentpath_sdk.trajectories.span_spool import SpanSpool
from agentpath_sdk.trajectories.torn import rejoined
from agentpath_sdk.trajectories.trajectory_json import (
    is_record_json,
    is_trajectory_json,
    record_to_trajectory,
    trajectory_from_json,
)

__all__ = ["OnError", "OnNote", "ReadItem", "Source", "read_items", "read_spans", "read_trajectories"]

Source: TypeAlias = "str | os.PathLike[str] | Iterable[str | os.PathLike[str]] | Iterable[SpanRecord] | Iterable[Any]"
"""A file, a folder, ``-`` for standard input, several of them, or spans (records, or ended spans of the SDK)."""

OnError: TypeAlias = Callable[[FileFormatError], None]
"""Receives what is wrong with one file; the others are still read. Left out, the first bad file raises."""

OnNote: TypeAlias = Callable[[str], None]
"""Receives what is worth knowing and no error: an empty file, calls outside every agent run."""

_BATCH: Final = 500
# Bytes an ended span takes, roughly; only where its size in a file is not known.
_SPAN_SIZE: Final = 2_048
# Files that lie beside data and are none.
_OTHER_KINDS: Final = frozenset(
    {".md", ".rst", ".txt", ".yaml", ".yml", ".toml", ".ini", ".cfg", ".py", ".sh", ".html", ".css", ".csv", ".lock"}
)


@dataclass(frozen=True, kw_only=True, slots=True)
class ReadItem:
    """One trajectory, and where it came from."""

    trajectory: Trajectory
    record: Mapping[str, Any] | None = None
    """The whole object of a plain record, with its gold path if it has one."""
    file: str | None = None
    """None where the spans of the run may lie in several files."""


def read_trajectories(
    source: Source, *, on_error: OnError | None = None, on_note: OnNote | None = None
) -> Iterator[Trajectory]:
    """Yield the trajectories of ``source``: a file, a folder, several, or an iterable of spans.

    Read are OTLP JSON (a document, JSON Lines, arrays), OTLP protobuf (extra ``otlp``), spans as the console exporter
    prints them, lines of ``agentpath read --json``, and records with ``query`` and ``agent_trajectory`` (or
    ``actual``); ``.gz`` of all of these. Lines and records come first, as they are read; then the runs that spans
    tell of, by start of their trace, whatever files and order the spans lie in. Memory stays bounded for any size.

    Raises:
        FileFormatError: a file is none of these (unless ``on_error`` takes it). No span of such a file is used.
    """
    return (item.trajectory for item in read_items(source, on_error=on_error, on_note=on_note))


def read_items(source: Source, *, on_error: OnError | None = None, on_note: OnNote | None = None) -> Iterator[ReadItem]:
    """Yield what ``read_trajectories`` does, each with its source."""
    paths, spans = _sorted_out(source)
    note = on_note if on_note is not None else _ignore
    with SpanSpool() as spool:
        while batch := list(islice(spans, _BATCH)):
            spool.add(-1, batch, size=len(batch) * _SPAN_SIZE)
        for number, path in enumerate(_files(paths, note)):
            try:
                yield from _read_file(path, number, spool, note)
            except FileFormatError as error:
                spool.discard(number)
                if on_error is None:
                    raise
                on_error(error)
        strays = 0
        for told in rejoined(spool.traces()):
            strays += len(told.unattached)
            yield from (ReadItem(trajectory=trajectory) for trajectory in told.trajectories)
    if strays:
        note(f"{strays} tool calls outside every agent run were left out")


def read_spans(
    source: Source, *, on_error: OnError | None = None, on_note: OnNote | None = None
) -> Iterator[SpanRecord]:
    """Yield the spans of ``source`` in the order they lie there; trajectories and records are passed over.

    Raises:
        FileFormatError: as ``read_trajectories``; the spans before the bad place have been given out.
    """
    paths, spans = _sorted_out(source)
    yield from spans
    for path in _files(paths, on_note if on_note is not None else _ignore):
        try:
            for document in documents(path):
                yield from (found for found in _contents(document, path) if isinstance(found, SpanRecord))
        except FileFormatError as error:
            if on_error is None:
                raise
            on_error(error)


def _ignore(_text: str) -> None:
    return


# --- sources --------------------------------------------------------------------------------------------------------


def _sorted_out(source: Source) -> tuple[list[str], Iterator[SpanRecord]]:
    """Return the paths of a source, or its spans."""
    if isinstance(source, str | os.PathLike):
        return [os.fspath(source)], iter(())
    items = iter(cast("Iterable[Any]", source))
    first = next(items, None)
    if isinstance(first, str | os.PathLike):
        return [os.fspath(path) for path in chain((cast("str | os.PathLike[str]", first),), items)], iter(())
    given: Iterable[Any] = () if first is None else chain((first,), items)
    return [], (span if isinstance(span, SpanRecord) else from_sdk(span) for span in given)


def _files(paths: Iterable[str], note: OnNote) -> Iterator[str]:
    for path in paths:
        if path == STDIN or not os.path.isdir(path):
            yield path
            continue
        found = sorted(str(file) for file in Path(path).rglob("*") if _is_data(file, Path(path)))
        if not found:
            note(f"{path}: no files")
        yield from found


def _is_data(file: Path, folder: Path) -> bool:
    hidden = any(part.startswith(".") for part in file.relative_to(folder).parts)
    return not hidden and file.is_file() and file.suffix.lower() not in _OTHER_KINDS


# --- one file -------------------------------------------------------------------------------------------------------


def _read_file(path: str, number: int, spool: SpanSpool, note: OnNote) -> Iterator[ReadItem]:
    found_any = False
    for document in documents(path):
        spans: list[SpanRecord] = []
        for found in _contents(document, path):
            found_any = True
            if isinstance(found, SpanRecord):
                spans.append(found)
            elif found is not None:
                yield found
        spool.add(number, spans, size=document.size)
    if not found_any:
        note(f"{path}: empty: no spans, trajectories or records")


def _contents(document: Document, path: str) -> Iterator[SpanRecord | ReadItem | None]:
    """Yield what a document holds; None for something known that is no run (a line of scores)."""
    try:
        yield from _unpacked(document.value, path)
    except MissingExtraError as error:
        raise FileFormatError(f"this is OTLP protobuf: {error}", file=path) from error
    except ValueError as error:
        raise FileFormatError(str(error), file=path, place=document.place) from None


def _unpacked(value: Any, path: str) -> Iterator[SpanRecord | ReadItem | None]:
    if isinstance(value, bytes):
        yield from from_otlp_protobuf(value)
        return
    if (items := as_list(value)) is not None:
        for number, item in enumerate(items):
            if as_object(item) is None:
                raise ValueError(f"item {number + 1} of the list is {type(item).__name__}, expected an object")
            yield from _unpacked(item, path)
        return
    document = as_object(value)
    if document is None:
        raise ValueError(f"found {type(value).__name__}, expected an object or a list of objects")
    yield from _of_object(document, path)


def _of_object(document: Mapping[str, Any], path: str) -> Iterator[SpanRecord | ReadItem | None]:
    if is_otlp_json(document):
        yield from from_otlp_json(document)
    elif is_trajectory_json(document):
        yield ReadItem(trajectory=trajectory_from_json(document), file=path)
    elif is_record_json(document):
        yield ReadItem(trajectory=record_to_trajectory(document), record=document, file=path)
    elif is_console_json(document):
        yield from_console_json(document)
    elif "score_name" in document:
        yield None
    else:
        raise ValueError(_stranger(document))


def _stranger(document: Mapping[str, Any]) -> str:
    keys = ", ".join(sorted(map(repr, document))[:6]) or "no keys"
    if "gold_trajectory" in document or "gold" in document:
        return f"a record without a run: found {keys}, expected 'agent_trajectory' or 'actual' too"
    if as_list(document.get("data")) is not None:
        return "this looks like a Jaeger export; export the trace as OTLP JSON instead"
    return f"no span, trajectory or record: found an object with {keys}, expected 'resourceSpans', 'steps' or 'actual'"
