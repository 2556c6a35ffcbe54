"""`agentpath gold`: check, list and show gold-path files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from rich.table import Table
from rich.text import Text

from agentpath_sdk.cli.console import note, out, plain, write_json
from agentpath_sdk.errors import ConfigurationError, FileFormatError
from agentpath_sdk.gold.describing import describe, outline
from agentpath_sdk.gold.dumping import path_entry
from agentpath_sdk.gold.expression import calls_in
from agentpath_sdk.gold.files import GoldRead, read_gold
from agentpath_sdk.gold.linting import LintFinding, lint
from agentpath_sdk.gold.model import GoldPath

__all__ = ["gold_sources", "list_files", "report_problems", "show_files", "validate_files"]


def gold_sources(given: Sequence[Path]) -> list[Path]:
    """Return the gold files and folders meant: those given, else what AGENTPATH_GOLD names.

    Raises:
        ConfigurationError: neither is there.
    """
    if given:
        return list(given)
    named = [Path(part) for part in os.environ.get("AGENTPATH_GOLD", "").split(os.pathsep) if part]
    if not named:
        raise ConfigurationError("no gold-path file is given, and AGENTPATH_GOLD is not set")
    return named


def report_problems(read: GoldRead) -> None:
    """Write one line to stderr per bad file."""
    for problem in read.one_per_file():
        note(str(problem), style="red")


def validate_files(files: Sequence[Path], *, as_json: bool) -> int:
    """Print one line a file, and each problem of a bad one; return 2 when there is a bad one."""
    read = read_gold(*gold_sources(files))
    advice = lint(read.paths, read.rules)
    for file in dict.fromkeys((*read.files, *read.bad_files)):
        verdict = _Verdict(
            file=file,
            paths=sum(path.source == file for path in read.paths),
            problems=read.bad_files.get(file, ()),
            advice=[finding for finding in advice if finding.source == file],
        )
        if as_json:
            write_json(verdict.to_json())
        else:
            _print_verdict(verdict)
    for text in read.notes:
        note(text, style="dim")
    return 2 if read.problems else 0


@dataclass(frozen=True, kw_only=True, slots=True)
class _Verdict:
    file: str
    paths: int
    problems: Sequence[FileFormatError]
    advice: Sequence[LintFinding]

    def to_json(self) -> dict[str, Any]:
        return {
            "file": self.file,
            "valid": not self.problems,
            "paths": self.paths,
            "problems": [{"place": one.place, "problem": one.problem, "hint": one.hint} for one in self.problems],
            "advice": [{"kind": one.kind, "path": one.path_id, "message": one.message} for one in self.advice],
        }


def _print_verdict(verdict: _Verdict) -> None:
    for problem in verdict.problems:
        note(str(problem), style="red")
    if verdict.problems:
        return
    count = f"{verdict.paths} gold path{'s' * (verdict.paths != 1)}"
    out().print(Text("ok  ", style="green").append(f"{plain(verdict.file)}: {count}", "default"), soft_wrap=True)
    for finding in verdict.advice:
        out().print(Text(f"    {plain(finding.path_id)} {plain(finding.message)}", style="yellow"), soft_wrap=True)


def list_files(files: Sequence[Path], *, as_json: bool) -> int:
    """Print one row a gold path; return 2 when a file is bad."""
    read = read_gold(*gold_sources(files))
    report_problems(read)
    if as_json:
        for path in read.paths:
            write_json(_listed(path))
    elif read.paths:
        out().print(_table(read.paths))
    else:
        note("no gold paths", style="dim")
    return 2 if read.problems else 0


def _listed(path: GoldPath) -> dict[str, Any]:
    return {
        "id": path.id,
        "version": path.version,
        "status": path.status,
        "agent": path.agent,
        "queries": list(path.queries),
        "steps": [call.tool for call in calls_in(path.steps)],
        "outline": outline(path),
        "tags": list(path.tags),
        "description": path.description,
        "file": path.source,
    }


def _table(paths: Iterable[GoldPath]) -> Table:
    table = Table(box=None, expand=True, pad_edge=False, header_style="bold")
    table.add_column("id", overflow="fold")
    table.add_column("version", no_wrap=True)
    table.add_column("status", no_wrap=True)
    table.add_column("agent", overflow="fold")
    table.add_column("queries", ratio=3, overflow="ellipsis", no_wrap=True)
    table.add_column("steps", ratio=3, overflow="fold")
    for path in paths:
        first, more = next(iter(path.queries), "any"), len(path.queries) - 1
        table.add_row(
            plain(path.id),
            plain(path.version),
            Text(path.status, style="" if path.status == "approved" else "yellow"),
            plain(path.agent or "any"),
            plain(first, 200) + (f" (+{more})" if more > 0 else ""),
            plain(outline(path)),
        )
    return table


def show_files(files: Sequence[Path], *, ids: Sequence[str], as_json: bool) -> int:
    """Print the gold paths whose id fits one of ``ids`` (all when empty); return 2 for a bad file or an unknown id."""
    read = read_gold(*gold_sources(files))
    report_problems(read)
    for path in _chosen(read.paths, ids):
        if as_json:
            write_json(_shown(path))
        else:
            _print_path(path)
    unknown = [wanted for wanted in ids if not any(fnmatchcase(path.id, wanted) for path in read.paths)]
    for wanted in unknown:
        note(f"no gold path has an id like {wanted!r}; run: agentpath gold list", style="red")
    return 2 if read.problems or unknown else 0


def _chosen(paths: Iterable[GoldPath], ids: Sequence[str]) -> Iterator[GoldPath]:
    return (path for path in paths if not ids or any(fnmatchcase(path.id, wanted) for wanted in ids))


def _shown(path: GoldPath) -> dict[str, Any]:
    return {**path_entry(path), "version": path.version, "status": path.status, "file": path.source}


def _print_path(path: GoldPath) -> None:
    first, *others = describe(path).splitlines()
    console = out()
    console.print(Text(plain(first), style="bold"))
    for line in others:
        # Leading blanks carry the structure; ``plain`` folds them.
        console.print(Text(" " * (len(line) - len(line.lstrip())) + plain(line)))
    console.print()
