"""`agentpath gold import`: gold paths from the files of other tools."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from agentpath_sdk.cli.console import note, write_json
from agentpath_sdk.cli.writing import check_free, write_gold
from agentpath_sdk.gold.authoring.imported import Format
from agentpath_sdk.gold.authoring.importing import ImportOptions, import_gold
from agentpath_sdk.gold.dumping import path_entry

__all__ = ["import_files"]


def import_files(
    files: Sequence[Path],
    options: ImportOptions,
    *,
    kind: Format | None,
    output: Path | None,
    force: bool,
    as_json: bool,
) -> int:
    """Write the paths of all files; return 2 when one could not be read."""
    check_free((output,), force=force)
    read = import_gold(*files, kind=kind, options=options)
    for problem in read.problems:
        note(str(problem), style="red")
    for text in read.notes:
        note(text, style="dim")
    if read.paths and as_json:
        for path in read.paths:
            write_json({**path_entry(path), "status": path.status})
    if read.paths and (output is not None or not as_json):
        write_gold(read.paths, output, (f"Imported from {', '.join(file.name for file in files)}.",))
    kinds = ", ".join(sorted(set(read.formats.values()))) or "nothing"
    note(f"{len(read.paths)} gold path{'s' * (len(read.paths) != 1)} from {kinds}", style="dim")
    return 2 if read.problems else 0
