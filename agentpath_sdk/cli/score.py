"""`agentpath score`: runs against gold paths, as a report or as JSON lines, with gates."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from agentpath_sdk.cli.console import note, plain, write_json
from agentpath_sdk.cli.gates import Tally, missed, parse_gates
from agentpath_sdk.cli.gold import report_problems
from agentpath_sdk.cli.golds import Golds
from agentpath_sdk.cli.inputs import Inputs
from agentpath_sdk.cli.run import ScoredRun
from agentpath_sdk.errors import FileFormatError
from agentpath_sdk.scoring.score import METRICS, Mode
from agentpath_sdk.trajectories.files import ReadItem

__all__ = ["score_files"]


def score_files(
    files: Sequence[str], *, gold: Sequence[Path], mode: Mode, fail_under: Sequence[str], diffs: int, as_json: bool
) -> int:
    """Print the verdicts on the runs of ``files``.

    Returns 2 when a file is bad, else 1 when a gate is missed, else 0: low scores alone fail nothing.
    """
    gates = parse_gates(fail_under, (*METRICS, "score"))
    golds = Golds.load(gold)
    report_problems(golds.read)
    if gold and golds.read.problems and not golds.read.paths:
        return 2
    inputs = Inputs(files, quiet=as_json and sys.stdout.isatty())
    tally = Tally()
    runs = _tallied(_scored(inputs, golds, mode), tally)
    if as_json:
        for run in runs:
            write_json(run.to_json())
    else:
        from agentpath_sdk.cli.report import print_report

        print_report(runs, diffs=diffs)
    if golds.none_given and tally.runs > sum(tally.runs_of.values()):
        note("no gold path was given: name a file or folder by --gold, or in AGENTPATH_GOLD", style="dim")
    failures = list(missed(tally, gates))
    for line in failures:
        note(line, style="red")
    if inputs.bad or golds.read.problems:
        return 2
    return 1 if failures else 0


def _scored(inputs: Inputs, golds: Golds, mode: Mode) -> Iterator[ScoredRun]:
    """Yield the verdicts; a file with a record whose own gold path is malformed is reported once."""
    reported: set[str | None] = set()
    for item in inputs:
        try:
            yield golds.score(item, mode)
        except FileFormatError as error:
            if item.file not in reported:
                reported.add(item.file)
                inputs.report(_in_record(error, item))


def _in_record(error: FileFormatError, item: ReadItem) -> FileFormatError:
    name = item.trajectory.attributes.get("record.id") or item.trajectory.query
    place = f"record {plain(name, 60)!r}, {error.place}" if name else error.place
    return FileFormatError(error.problem, file=error.file, place=place, hint=error.hint)


def _tallied(runs: Iterator[ScoredRun], tally: Tally) -> Iterator[ScoredRun]:
    for run in runs:
        tally.add(run)
        yield run
