"""`agentpath gold synth`: templates with lists of values become gold paths, and the queries to run the agent with."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import orjson

from agentpath_sdk.cli.console import note, write_json
from agentpath_sdk.cli.writing import check_free, today, write_file, write_gold
from agentpath_sdk.errors import FileFormatError
from agentpath_sdk.gold.authoring.synthesising import Synthetic, synthesise
from agentpath_sdk.gold.dumping import path_entry

__all__ = ["synthesise_files"]


def synthesise_files(
    files: Sequence[Path],
    *,
    output: Path | None,
    queries: Path | None,
    sample: int | None,
    seed: int,
    force: bool,
    as_json: bool,
) -> int:
    """Write the paths and the queries; return 2 when a template is bad."""
    check_free((output, queries), force=force)
    made: list[Synthetic] = []
    bad = 0
    for file in files:
        try:
            made.extend(synthesise(file, sample=sample, seed=seed, date=today()))
        except FileFormatError as error:
            bad += 1
            note(str(error), style="red")
    twice = _first_twice(one.path.id for one in made)
    if twice is not None:
        raise FileFormatError(f"id {twice!r} comes from two templates", file=str(files[-1]), hint="give them ids")
    if made and as_json:
        for one in made:
            write_json({**path_entry(one.path), "values": dict(one.values)})
    if made and (output is not None or not as_json):
        write_gold([one.path for one in made], output, (f"Made from {', '.join(file.name for file in files)}.",))
    if made and queries is not None:
        write_file(queries, "".join(_query_lines(made)))
    note(f"{len(made)} gold path{'s' * (len(made) != 1)} made", style="dim")
    return 2 if bad else 0


def _query_lines(made: Iterable[Synthetic]) -> Iterable[str]:
    """Yield one JSON object a query: what to ask the agent, and the path that its run belongs to."""
    for one in made:
        for query in one.path.queries:
            line = {"gold_path_id": one.path.id, "query": query, "values": dict(one.values)}
            yield orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE).decode()


def _first_twice(ids: Iterable[str]) -> str | None:
    seen: set[str] = set()
    for name in ids:
        if name in seen:
            return name
        seen.add(name)
    return None
