"""Gold paths from files and folders, all or nothing per file, with every problem of a file at once."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, NamedTuple

from agentpath_sdk.errors import FileFormatError
from agentpath_sdk.gold.building import Built, build_paths
from agentpath_sdk.gold.documents import Document, Loc, place_of, read_documents
from agentpath_sdk.gold.model import GoldPath, PathRule

__all__ = ["SUFFIXES", "GoldRead", "find_files", "load_gold", "load_paths", "parse_path", "parse_rules", "read_gold"]

SUFFIXES: Final = frozenset({".yaml", ".yml", ".json", ".jsonl", ".ndjson"})
"""Endings of the files that are read from a folder; a file named itself may have any."""

_MAX_FILES: Final = 10_000
_MAX_PROBLEMS: Final = 100


@dataclass(frozen=True, kw_only=True, slots=True)
class GoldRead:
    """What was read, and what could not be; paths and rules of a file with a problem are left out, all of them."""

    paths: tuple[GoldPath, ...] = ()
    rules: tuple[PathRule, ...] = ()
    problems: tuple[FileFormatError, ...] = ()
    """Every problem, file by file."""
    notes: tuple[str, ...] = ()
    """What is worth knowing and no error: a file without paths, a record read twice."""
    files: tuple[str, ...] = ()
    """All files, good and bad."""

    @property
    def bad_files(self) -> dict[str, tuple[FileFormatError, ...]]:
        """The problems by file."""
        grouped: dict[str, list[FileFormatError]] = {}
        for problem in self.problems:
            grouped.setdefault(problem.file, []).append(problem)
        return {file: tuple(problems) for file, problems in grouped.items()}

    def one_per_file(self) -> tuple[FileFormatError, ...]:
        """Return the first problem of each bad file, saying how many more it has."""
        return tuple(_first_of(problems) for problems in self.bad_files.values())


class _Placed(NamedTuple):
    """A path, whether its id was derived, and where it stands."""

    path: GoldPath
    derived: bool
    document: Document
    loc: Loc


def read_gold(*sources: str | os.PathLike[str]) -> GoldRead:
    """Return the paths of files and folders; raises nothing for bad files, they are in ``problems``."""
    problems: list[FileFormatError] = []
    files = list(dict.fromkeys(_files_of(sources, problems)))
    notes = [f"{source}: no gold files in this folder" for source in sources if _is_empty_folder(source)]
    reads = _without_duplicates([_read_file(file) for file in files])
    return GoldRead(
        paths=tuple(path for read in reads for path in read.paths),
        rules=tuple(rule for read in reads for rule in read.rules),
        problems=(*problems, *(problem for read in reads for problem in read.problems)),
        notes=(*notes, *(note for read in reads for note in read.notes)),
        files=tuple(str(file) for file in files),
    )


def load_gold(*sources: str | os.PathLike[str]) -> GoldRead:
    """Return what files and folders hold.

    Raises:
        FileFormatError: the first problem of the first bad file, saying how many more there are.
    """
    read = read_gold(*sources)
    if read.problems:
        raise _first_of(read.problems)
    return read


def load_paths(*sources: str | os.PathLike[str]) -> tuple[GoldPath, ...]:
    """Return the paths of files and folders.

    Raises:
        FileFormatError: the first problem of the first bad file, saying how many more there are.
    """
    return load_gold(*sources).paths


def parse_rules(rules: Sequence[Any], *, agent: str | None = None, source: str = "<data>") -> tuple[PathRule, ...]:
    """Return rules from a list of the shape of the files; ``agent`` is for those that name none.

    Raises:
        FileFormatError: the first problem, saying how many more there are; ``source`` stands for the file.
    """
    built = build_paths({"agent": agent, "rules": rules}, source=source)
    if built.problems:
        raise _first_of([_error(one.text, source, place_of(one.loc), one.hint) for one in built.problems])
    return tuple(replace(rule, source=None if source == "<data>" else source) for rule in built.rules)


def parse_path(data: Mapping[str, Any], *, source: str = "<data>") -> GoldPath:
    """Return one gold path from a mapping of the shape of the files, a plain record included.

    Raises:
        FileFormatError: its first problem, saying how many more there are; ``source`` stands for the file.
    """
    built = build_paths(dict(data), source=source)
    problems = [_error(problem.text, source, place_of(problem.loc), problem.hint) for problem in built.problems]
    if not problems and len(built.paths) != 1:
        problems = [_error(f"expected one path, found {len(built.paths)}", source)]
    if problems:
        raise _first_of(problems)
    return replace(built.paths[0][1], source=None if source == "<data>" else source)


def find_files(source: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a file itself, or the gold files inside a folder in order of their names; hidden ones are passed over.

    Raises:
        FileFormatError: the place does not exist, or is a folder of too many files to be meant.
    """
    path = Path(source)
    if not path.is_dir():
        if not path.exists():
            raise FileFormatError("does not exist", file=str(path))
        yield path
        return
    count = 0
    for folder, folders, names in os.walk(path):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if Path(name).suffix.lower() in SUFFIXES and not name.startswith("."):
                count += 1
                if count > _MAX_FILES:
                    raise FileFormatError(f"holds more than {_MAX_FILES} files", file=str(path))
                yield Path(folder, name)


def _files_of(sources: Iterable[str | os.PathLike[str]], problems: list[FileFormatError]) -> Iterator[Path]:
    for source in sources:
        try:
            yield from find_files(source)
        except FileFormatError as error:
            problems.append(error)


def _is_empty_folder(source: str | os.PathLike[str]) -> bool:
    return Path(source).is_dir() and next(find_files(source), None) is None


def _read_file(file: Path) -> GoldRead:
    """Return the paths of one file, or its problems."""
    problems: list[FileFormatError] = []
    documents = read_documents(file, problems.append)
    sole_id = file.stem if len(documents) == 1 else None
    paths: list[_Placed] = []
    rules: list[PathRule] = []
    notes: list[str] = []
    for document in documents:
        built = build_paths(document.value, source=str(file), sole_id=sole_id)
        problems.extend(_located(built, document, file))
        rules.extend(built.rules)
        paths.extend(_Placed(path, path.id in built.derived, document, loc) for loc, path in built.paths)
        notes.extend(f"{file}: {note}" for note in built.notes)
    kept = _with_unique_ids(paths, file, problems, notes)
    if not paths and not rules and not problems:
        notes.append(f"{file}: no gold paths in it")
    return GoldRead(
        paths=() if problems else tuple(kept),
        rules=() if problems else tuple(rules),
        problems=tuple(problems[:_MAX_PROBLEMS]),
        notes=tuple(dict.fromkeys(notes)),
        files=(str(file),),
    )


def _located(built: Built, document: Document, file: Path) -> Iterator[FileFormatError]:
    for problem in dict.fromkeys(built.problems):
        place = f"line {document.line_of(problem.loc)}"
        inner = place_of(problem.loc)
        yield _error(problem.text, str(file), f"{place}, {inner}" if inner else place, problem.hint)


def _with_unique_ids(
    paths: list[_Placed], file: Path, problems: list[FileFormatError], notes: list[str]
) -> Iterable[GoldPath]:
    """Return the paths; a derived id that is taken gets a number, a written one is a problem, a repetition is noted."""
    kept: dict[str, GoldPath] = {}
    seen: set[str] = set()
    count: Counter[str] = Counter()
    for path, derived, document, loc in paths:
        content = repr(path) if derived else ""
        if derived and content in seen:
            notes.append(f"{file}: path {path.id!r} is there twice; read once")
            continue
        seen.add(content)
        count[path.id] += 1
        name = f"{path.id}-{count[path.id]}" if derived and count[path.id] > 1 else path.id
        if name in kept:
            place = f"line {document.line_of((*loc, 'id'))}"
            problems.append(_error(f"id {name!r} is given twice", str(file), place, "ids are unique over all files"))
        kept[name] = path if name == path.id else replace(path, id=name)
    return kept.values()


def _without_duplicates(reads: list[GoldRead]) -> list[GoldRead]:
    """Return the reads; a file with an id that an earlier file has is bad."""
    owner: dict[str, str] = {}
    checked: list[GoldRead] = []
    for read in reads:
        file = read.files[0]
        taken = [path.id for path in read.paths if path.id in owner]
        problems = tuple(
            _error(f"id {name!r} is also in {owner[name]}", file, hint="ids are unique over all files")
            for name in taken[:_MAX_PROBLEMS]
        )
        owner.update({} if taken else dict.fromkeys((path.id for path in read.paths), file))
        checked.append(replace(read, paths=(), rules=(), problems=problems) if taken else read)
    return checked


def _first_of(problems: Iterable[FileFormatError]) -> FileFormatError:
    first, *others = problems
    here = sum(other.file == first.file for other in others)
    files = len({other.file for other in others} - {first.file})
    words = [first.hint] if first.hint else []
    if here:
        words.append(f"and {here} more {'problem' if here == 1 else 'problems'} in this file")
    if files:
        words.append(f"and {files} more bad {'file' if files == 1 else 'files'}")
    return FileFormatError(first.problem, file=first.file, place=first.place, hint="; ".join(words))


def _error(problem: str, file: str, place: str = "", hint: str = "") -> FileFormatError:
    return FileFormatError(problem, file=file, place=place, hint=hint)
