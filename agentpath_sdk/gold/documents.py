"""People's files become plain values, with the line of every part at hand for error messages.

YAML is read by the JSON-like core schema of YAML 1.2: ``no`` and ``2024-05-01`` are texts. Nothing is constructed but
plain values, and size, nesting and the number of values are bounded before memory is.
"""

from __future__ import annotations

import json
import re
import stat
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, Final, TypeAlias

import yaml

from agentpath_sdk.errors import FileFormatError
from agentpath_sdk.gold.yaml_core import MAX_DEPTH, Loader, Loc, node_at, plain_value

__all__ = ["Document", "Loc", "place_of", "read_documents"]

Report: TypeAlias = Callable[[FileFormatError], None]

_MB: Final = 1_048_576
_MAX_YAML: Final = 16 * _MB
_MAX_JSON: Final = 64 * _MB
_MAX_LINE: Final = 4 * _MB
_PLAIN_KEY: Final = re.compile(r"[\w$-]{1,100}")
_LINES: Final = frozenset({".jsonl", ".ndjson"})
_YAML: Final = frozenset({".yaml", ".yml"})
_HINTS: Final = (
    ("mapping values are not allowed", "put a text that holds ': ' in quotes"),
    ("alias", "put a text that starts with * in quotes"),
    ("anchor", "put a text that starts with & in quotes"),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Document:
    """One document of a file: its value, and where its parts stand."""

    value: Any
    line: int
    """Where it starts."""
    node: Callable[[], yaml.Node | None]
    """Its YAML node for line numbers, made when first asked for; None where only the first line is known."""

    def line_of(self, loc: Loc) -> int:
        """Return the line of the part at ``loc``, or of the nearest part around it."""
        root = self.node()
        return self.line if root is None else self.line + node_at(root, loc)


def place_of(loc: Loc) -> str:
    """Return a place inside a document as people write it: ``steps[2].search.query``, odd keys in quotes."""
    text = ""
    for part in loc:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            key = part if _PLAIN_KEY.fullmatch(part) else repr(part)
            text += f".{key}" if text else key
    return text


def read_documents(path: Path, report: Report) -> list[Document]:
    """Return the documents of a file; everything that is wrong with its form goes to ``report``."""
    try:
        return list(_documents(path, report))
    except FileFormatError as error:
        report(error)
    except OSError as error:
        report(FileFormatError(f"cannot be read: {error.strerror or error}", file=str(path)))
    return []


def _documents(path: Path, report: Report) -> Iterator[Document]:
    suffix = path.suffix.lower()
    if suffix in _LINES:
        _check_regular(path)
        return _json_lines(path, report)
    text = _read_text(path, _MAX_YAML if suffix in _YAML else _MAX_JSON)
    if suffix not in _YAML and (suffix == ".json" or text.lstrip()[:1] in ("{", "[")):
        return _json_documents(path, text, report)
    return _yaml_documents(path, text, report)


# --- bytes ---------------------------------------------------------------------------------------


def _check_regular(path: Path) -> int:
    """Return the size; a pipe or a device is refused, since reading it may never end."""
    try:
        status = path.stat()
    except FileNotFoundError:
        raise FileFormatError("does not exist", file=str(path)) from None
    if not stat.S_ISREG(status.st_mode):
        raise FileFormatError("is no regular file", file=str(path))
    return status.st_size


def _read_text(path: Path, limit: int) -> str:
    size = _check_regular(path)
    if size > limit:
        problem = f"is {size / _MB:.0f} MB large; a {path.suffix or 'gold'} file may have {limit // _MB} MB"
        raise FileFormatError(problem, file=str(path), hint="JSON Lines files (.jsonl) may be larger")
    with path.open("rb") as file:
        # The file may have grown since it was measured.
        return _decoded(file.read(limit), path)


def _decoded(data: bytes, path: Path, place: str = "") -> str:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise FileFormatError("is UTF-16 text", file=str(path), place=place, hint="save it as UTF-8")
    if (at := data.find(b"\0")) >= 0:
        problem = f"is a binary file (byte 0 at offset {at}); expected YAML, JSON or JSON Lines"
        raise FileFormatError(problem, file=str(path), place=place)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        problem = f"is no UTF-8 text (byte 0x{data[error.start]:02x} at offset {error.start})"
        raise FileFormatError(problem, file=str(path), place=place, hint="save it as UTF-8") from None


# --- JSON ----------------------------------------------------------------------------------------


def _json_lines(path: Path, report: Report) -> Iterator[Document]:
    with path.open("rb") as file:
        for number, line in enumerate(iter(lambda: file.readline(_MAX_LINE + 1), b""), 1):
            if len(line) > _MAX_LINE:
                # What follows is still the same line: there is no next one to go on with.
                problem = f"is longer than {_MAX_LINE // _MB} MB; expected one JSON object a line"
                raise FileFormatError(problem, file=str(path), place=f"line {number}")
            try:
                text = _decoded(line, path, f"line {number}").strip()
                if text:
                    yield _json_value(path, text, number, _first_line_only)
            except FileFormatError as error:
                if "binary" in error.problem or "UTF-16" in error.problem:
                    raise
                report(error)


def _first_line_only() -> None:
    return None


def _json_documents(path: Path, text: str, report: Report) -> Iterator[Document]:
    """Yield the values of a JSON text; several may follow each other, as in JSON Lines or pretty-printed records."""
    decoder = json.JSONDecoder()
    at = _next_value(text, 0)
    while at < len(text):
        line = text.count("\n", 0, at) + 1
        try:
            _, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            # Decoded once more, by the function that words what is wrong.
            end = len(text)
        try:
            yield _json_value(path, text[at:end], line, cache(partial(_json_node, text[at:end])))
        except FileFormatError as error:
            report(error)
            return
        at = _next_value(text, end)


def _next_value(text: str, at: int) -> int:
    found = re.compile(r"\S").search(text, at)
    return found.start() if found else len(text)


def _json_value(path: Path, text: str, line: int, node: Callable[[], yaml.Node | None]) -> Document:
    def wrong(problem: str, at_line: int = line, column: int | None = None) -> FileFormatError:
        place = f"line {at_line}" + ("" if column is None else f", column {column}")
        return FileFormatError(problem, file=str(path), place=place)

    repeated: list[str] = []

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        mapping = dict(pairs)
        if len(mapping) != len(pairs):
            repeated.append(Counter(key for key, _ in pairs).most_common(1)[0][0])
        return mapping

    def no_number(word: str) -> Any:
        raise wrong(f"{word} is no JSON number")

    try:
        value = json.loads(text, object_pairs_hook=unique, parse_constant=no_number)
    except json.JSONDecodeError as error:
        problem = f"is no valid JSON: {error.msg[:1].lower()}{error.msg[1:]}"
        raise wrong(problem, line + error.lineno - 1, error.colno) from None
    except FileFormatError:
        raise
    except ValueError:
        raise wrong("holds a number of thousands of digits") from None
    except RecursionError:
        raise wrong(f"is nested deeper than {MAX_DEPTH} levels") from None
    if repeated:
        raise wrong(f"key {repeated[0]!r} is given twice in one object", line + _line_of_repeated(node()))
    if _too_deep(value):
        raise wrong(f"is nested deeper than {MAX_DEPTH} levels")
    return Document(value=value, line=line, node=node)


def _json_node(text: str) -> yaml.Node | None:
    """Return the node tree of a JSON text, for line numbers only: JSON is nearly YAML, but for tabs."""
    try:
        return yaml.compose(text.replace("\t", " "), Loader=Loader)
    except (yaml.YAMLError, RecursionError):
        return None


def _line_of_repeated(root: yaml.Node | None) -> int:
    """Return the line (from 0) of the first key that its mapping has twice."""
    wrong = () if root is None else plain_value(root)[1]
    return next((line - 1 for line, problem, _ in wrong if "given twice" in problem), 0)


def _too_deep(value: Any) -> bool:
    level: list[Any] = [value]
    for _ in range(MAX_DEPTH):
        if not level:
            return False
        level = [inner for outer in level for inner in _inside(outer)]
    return bool(level)


def _inside(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        yield from value.values()
    elif isinstance(value, list):
        yield from value


# --- YAML ----------------------------------------------------------------------------------------


def _yaml_documents(path: Path, text: str, report: Report) -> Iterator[Document]:
    try:
        for node in yaml.compose_all(text, Loader=Loader):
            value, wrong = plain_value(node)
            for line, problem, hint in wrong:
                report(FileFormatError(problem, file=str(path), place=f"line {line}", hint=hint))
            if not wrong:
                yield Document(value=value, line=1, node=partial(_itself, node))
    except yaml.MarkedYAMLError as error:
        raise _syntax_error(path, text, error) from None
    except yaml.reader.ReaderError as error:
        place = f"line {text.count(chr(10), 0, error.position) + 1}"
        problem = f"is no valid YAML: {error.reason} (character {error.character:#06x})"
        raise FileFormatError(problem, file=str(path), place=place) from None
    except RecursionError:
        raise FileFormatError(f"is nested deeper than {MAX_DEPTH} levels", file=str(path)) from None


def _itself(node: yaml.Node) -> yaml.Node:
    return node


def _syntax_error(path: Path, text: str, error: yaml.MarkedYAMLError) -> FileFormatError:
    mark = error.problem_mark or error.context_mark
    place = "" if mark is None else f"line {mark.line + 1}, column {mark.column + 1}"
    words = ", ".join(str(part) for part in (error.context, error.problem) if part)
    hint = next((hint for part, hint in _HINTS if part in words), "")
    if mark is not None and "cannot start any token" in words:
        sign = text.splitlines()[mark.line][mark.column : mark.column + 1]
        hint = "indent with blanks, not with tabs" if sign == "\t" else f"put a text that starts with {sign} in quotes"
    return FileFormatError(f"is no valid YAML: {words}", file=str(path), place=place, hint=hint)
