"""What a file of spans or trajectories holds, document by document, in bounded memory and with line numbers."""

from __future__ import annotations

import gzip
import io
import os
import re
import struct
import sys
import zlib
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, BinaryIO, Final, NoReturn, TypeAlias, cast

import orjson

from agentpath_sdk.errors import FileFormatError

__all__ = ["DOCUMENT_LIMIT", "STDIN", "Document", "documents"]

DOCUMENT_LIMIT: Final = 64 * 1024 * 1024
"""Bytes of one JSON document or one protobuf message; a line of JSON Lines is one document."""

STDIN: Final = "-"
_PEEK: Final = 4_096
_BUFFER: Final = 65_536
_GZIP: Final = b"\x1f\x8b"
_UTF8_MARK: Final = b"\xef\xbb\xbf"
_UTF16_MARKS: Final = (b"\xff\xfe", b"\xfe\xff")
_CONTROL: Final = re.compile(rb"[\x00-\x08\x0e-\x1f]")
# Complete strings count for nothing; a quote left over is a string that its line does not close.
_TOKENS: Final = re.compile(rb'"(?:[^"\\]|\\.)*+"|["{}\[\]]')
_CUT: Final = "unexpected end of data"
_RESOURCE_SPANS_TAG: Final = 0x0A
_READABLE: Final = "OTLP JSON (one document or JSON Lines), OTLP protobuf, `agentpath read --json` lines, or records"


_Stream: TypeAlias = "io.BufferedReader[io.RawIOBase]"


@dataclass(frozen=True, slots=True)
class Document:
    """A JSON value, or bytes of an OTLP protobuf message, and where it begins."""

    value: Any
    place: str
    size: int


def documents(path: str) -> Iterator[Document]:
    """Yield the documents of a file, ``.gz`` or not (``-`` is standard input); none for an empty file.

    Raises:
        FileFormatError: the file cannot be opened or holds something else; the message says where.
    """
    with _opened(path) as stream:
        try:
            head = stream.peek(_PEEK)[:_PEEK]
            if head.startswith(_UTF16_MARKS):
                _fail(path, "byte 1", "UTF-16 text", "save it as UTF-8")
            _check_text(path, head)
            yield from _framed(path, stream, head) if _is_binary(head) else _json(path, stream)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            _fail(path, "", f"broken gzip data ({error})", "the file looks truncated; export it again")
        except OSError as error:
            _fail(path, "", f"cannot be read: {error.strerror or error}", "")


@contextmanager
def _opened(path: str) -> Generator[_Stream]:
    if path == STDIN:
        yield _unzipped(cast("_Stream", sys.stdin.buffer))
        return
    try:
        raw = open(path, "rb")  # noqa: SIM115 - closed by ``with`` below
    except OSError as error:
        _fail(path, "", f"cannot be opened: {(error.strerror or str(error)).lower()}", "check the path")
    with raw:
        yield _unzipped(cast("_Stream", raw))


def _unzipped(stream: _Stream) -> _Stream:
    if stream.peek(2)[:2] != _GZIP:
        return stream
    return io.BufferedReader(cast("io.RawIOBase", gzip.GzipFile(fileobj=stream)), _BUFFER)


def _fail(path: str, place: str, problem: str, hint: str) -> NoReturn:
    raise FileFormatError(problem, file=os.fspath(path), place=place, hint=hint) from None


def _is_binary(head: bytes) -> bool:
    return _CONTROL.search(head) is not None


def _check_text(path: str, head: bytes) -> None:
    if _is_binary(head):
        return
    try:
        head.decode("utf-8")
    except UnicodeDecodeError as error:
        if error.start < len(head) - 3:  # else only the last character is cut by the look ahead
            _fail(path, f"byte {error.start + 1}", "text that is not UTF-8", "save it as UTF-8")


# --- JSON -----------------------------------------------------------------------------------------------------------


def _json(path: str, stream: BinaryIO) -> Iterator[Document]:
    lines = _Lines(path, stream)
    for number, line in lines:
        if line.strip():
            yield _document(path, lines, number, line)


def _document(path: str, lines: _Lines, first: int, line: bytes) -> Document:
    try:
        return Document(orjson.loads(line), f"line {first}", len(line))
    except orjson.JSONDecodeError as error:
        if error.msg != _CUT or not _open_brackets(line):
            _fail_json(path, f"line {first}, column {error.colno}", line, error)
    text = lines.rest_of_document(line)
    try:
        return Document(orjson.loads(text), f"line {first}", len(text))
    except orjson.JSONDecodeError as error:
        cut = error.msg == _CUT and lines.number > first
        place = f"lines {first}-{lines.number}" if cut else f"line {first + error.lineno - 1}, column {error.colno}"
        _fail_json(path, place, text, error)


def _open_brackets(line: bytes) -> int | None:
    """Return how many brackets ``line`` leaves open; None = it ends inside a text, which JSON cannot."""
    depth = 0
    for match in _TOKENS.finditer(line):
        token = match.group()
        if token == b'"':
            return None
        depth += 1 if token in (b"{", b"[") else -1 if token in (b"}", b"]") else 0
    return depth


class _Lines:
    """Numbered lines of a stream, each and any document of several within the limit."""

    def __init__(self, path: str, stream: BinaryIO) -> None:
        self._path = path
        self._stream = stream
        self.number = 0

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        while line := self._next():
            yield self.number, line

    def _next(self) -> bytes:
        line = self._stream.readline(DOCUMENT_LIMIT + 1)
        self.number += 1 if line else 0
        if len(line) > DOCUMENT_LIMIT:
            self._too_long(self.number, f"line of more than {DOCUMENT_LIMIT >> 20} MiB")
        return line.removeprefix(_UTF8_MARK) if self.number == 1 else line

    def rest_of_document(self, line: bytes) -> bytes:
        """Return the document that ``line`` begins: all lines until its brackets are closed."""
        first, parts, size = self.number, [line], len(line)
        depth = _open_brackets(line)
        while depth and (line := self._next()):
            parts.append(line)
            size += len(line)
            if size > DOCUMENT_LIMIT:
                self._too_long(first, f"JSON document of more than {DOCUMENT_LIMIT >> 20} MiB")
            change = _open_brackets(line)
            depth = None if change is None else depth + change
        return b"".join(parts)

    def _too_long(self, number: int, what: str) -> NoReturn:
        _fail(self._path, f"line {number}", what, "write JSON Lines: one smaller object a line")


def _fail_json(path: str, place: str, text: bytes, error: orjson.JSONDecodeError) -> NoReturn:
    if error.msg == _CUT:
        _fail(path, place, "the JSON ends in the middle of a document", "the file looks truncated; export it again")
    start = text.lstrip()[:1]
    if start not in (b"{", b"["):
        found = text.strip()[:30].decode("utf-8", "replace")
        _fail(path, place, f"found {found!r}, expected JSON", f"readable are {_READABLE}")
    if "after document" in error.msg:
        _fail(path, place, "more than one JSON value on one line", "write one a line")
    _fail(path, place, f"not valid JSON: {error.msg}", "")


# --- protobuf -------------------------------------------------------------------------------------------------------


def _framed(path: str, stream: BinaryIO, head: bytes) -> Iterator[Document]:
    """Yield the parts of a protobuf file: a bare ``TracesData`` in pieces of one ``ResourceSpans`` each, or whole
    messages behind a length of four bytes, as the collector's file exporter writes them."""
    offset = 0
    read = _read_field if head[0] == _RESOURCE_SPANS_TAG else _read_prefixed
    while piece := read(path, stream, offset):
        yield Document(piece, f"byte {offset + 1}", len(piece))
        offset += len(piece) + (0 if read is _read_field else 4)


def _read_field(path: str, stream: BinaryIO, offset: int) -> bytes:
    tag = stream.read(1)
    if not tag:
        return b""
    if tag[0] != _RESOURCE_SPANS_TAG:
        _not_otlp(path, offset)
    header, length = bytearray(tag), 0
    for shift in range(0, 35, 7):
        byte = stream.read(1)
        if not byte:
            _cut_message(path, offset)
        header += byte
        length |= (byte[0] & 0x7F) << shift
        if byte[0] < 0x80:
            break
    return bytes(header) + _payload(path, stream, offset, length)


def _read_prefixed(path: str, stream: BinaryIO, offset: int) -> bytes:
    prefix = stream.read(4)
    if not prefix:
        return b""
    if len(prefix) < 4:
        _not_otlp(path, offset)
    return _payload(path, stream, offset, struct.unpack(">I", prefix)[0])


def _payload(path: str, stream: BinaryIO, offset: int, length: int) -> bytes:
    if not 0 < length <= DOCUMENT_LIMIT:
        _not_otlp(path, offset)
    data = stream.read(length)
    if len(data) < length:
        _cut_message(path, offset)
    return data


def _not_otlp(path: str, offset: int) -> NoReturn:
    _fail(path, f"byte {offset + 1}", "binary data that is no OTLP protobuf", f"readable are {_READABLE}")


def _cut_message(path: str, offset: int) -> NoReturn:
    problem = "binary data that is no OTLP protobuf, or one that was cut"
    _fail(path, f"byte {offset + 1}", problem, f"export it again; readable are {_READABLE}")
