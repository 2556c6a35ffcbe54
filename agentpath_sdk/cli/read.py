"""`agentpath read`: trajectories from spans or records."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import islice
from typing import Final

from agentpath_sdk.cli.console import note, out, write_json
from agentpath_sdk.cli.inputs import Inputs
from agentpath_sdk.cli.tables import trajectories_table
from agentpath_sdk.trajectories.trajectory_json import trajectory_to_json, trajectory_to_record

__all__ = ["read_files"]

MOST_ROWS: Final = 200


def read_files(files: Sequence[str], *, as_json: bool, as_record: bool) -> int:
    """Print the trajectories of ``files``; return 2 when one could not be read."""
    as_lines = as_json or as_record
    inputs = Inputs(files, quiet=as_lines and sys.stdout.isatty())
    if as_lines:
        to_json = trajectory_to_record if as_record else trajectory_to_json
        for item in inputs:
            write_json(to_json(item.trajectory))
    else:
        _print_table(inputs)
    return 2 if inputs.bad else 0


def _print_table(inputs: Inputs) -> None:
    trajectories = (item.trajectory for item in inputs)
    shown = list(islice(trajectories, MOST_ROWS))
    more = sum(1 for _ in trajectories)
    if shown:
        out().print(trajectories_table(shown))
    if more:
        note(f"and {more} more; --json writes them all", style="dim")
