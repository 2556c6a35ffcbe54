"""The command line: options and arguments; what they do lies in the modules beside this one."""

from __future__ import annotations

import sqlite3
import sys
import tempfile
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from agentpath_sdk.cli.authoring import authoring_app
from agentpath_sdk.cli.console import abandon_output, note, prepare_streams
from agentpath_sdk.errors import AgentPathError

__all__ = ["app", "run"]

app = typer.Typer(
    name="agentpath",
    no_args_is_help=True,
    add_completion=False,
    # People's files never give a traceback; a fault of ours gives Python's plain one, without their data in it.
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
gold_app = typer.Typer(help="Check, list and show gold-path files.", no_args_is_help=True)
app.add_typer(gold_app, name="gold")
gold_app.add_typer(authoring_app)


class Mode(StrEnum):
    """How gold and run are laid side by side."""

    ALIGNED = "aligned"
    POSITIONAL = "positional"
    SOFT = "soft"
    ALIGNED_SOFT = "aligned_soft"


class Format(StrEnum):
    """What `read` writes."""

    TRAJECTORY = "trajectory"
    RECORD = "record"


Files = Annotated[list[str], typer.Argument(help="Files or folders; - reads standard input.", show_default=False)]
GoldFiles = Annotated[
    list[Path] | None,
    typer.Argument(help="Gold-path files or folders; default: AGENTPATH_GOLD.", show_default=False),
]
Json = Annotated[bool, typer.Option("--json", help="One JSON object a line.")]


def run(arguments: Sequence[str]) -> int:
    """Run the command with ``arguments`` and return its exit code."""
    prepare_streams()
    try:
        code = _exit_code(arguments)
        # What is still buffered would fail after the last chance to say so.
        sys.stdout.flush()
    except AgentPathError as error:
        note(f"agentpath: {error}")
        return 2
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        note(f"agentpath: cannot write: {place}{error.strerror or error}")
        abandon_output()
        return 2
    except sqlite3.Error as error:
        note(f"agentpath: the temporary folder {tempfile.gettempdir()} failed: {error}; name another one by TMPDIR")
        return 2
    return code


def _exit_code(arguments: Sequence[str]) -> int:
    try:
        app(args=list(arguments), prog_name="agentpath")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0


def _say_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"agentpath-sdk {version('agentpath-sdk')}")
        raise typer.Exit()


@app.callback()
def options(
    _version: Annotated[
        bool, typer.Option("--version", callback=_say_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Trace live agents, rebuild the path each run took, score it against gold paths."""


@app.command()
def demo(
    folder: Annotated[Path, typer.Option("--output", help="Where spans and scores are written.")] = Path("demo-output"),
    as_json: Json = False,
) -> None:
    """Run a live LangChain agent and score it and twenty recorded runs. Needs no key and no network."""
    from agentpath_sdk.cli.demo.demonstration import demonstrate

    raise typer.Exit(demonstrate(folder, as_json=as_json))


@app.command()
def read(
    files: Files,
    as_json: Json = False,
    shape: Annotated[
        Format, typer.Option("--format", help="record writes the plain record shape.")
    ] = Format.TRAJECTORY,
) -> None:
    """Rebuild trajectories from spans or records and show them."""
    from agentpath_sdk.cli.read import read_files

    raise typer.Exit(read_files(files, as_json=as_json, as_record=shape is Format.RECORD))


@app.command()
def score(
    files: Files,
    gold: Annotated[
        list[Path] | None,
        typer.Option(
            "--gold",
            help="Gold-path file or folder; may be repeated. Default: the record's own gold path, then AGENTPATH_GOLD.",
        ),
    ] = None,
    mode: Annotated[Mode, typer.Option("--mode", help="How gold and run are laid side by side.")] = Mode.ALIGNED,
    fail_under: Annotated[
        list[str] | None,
        typer.Option(
            "--fail-under", metavar="METRIC=V", help="Exit with 1 when the metric's mean is below V; may be repeated."
        ),
    ] = None,
    diffs: Annotated[int, typer.Option("--diff", min=0, help="Show the step diff of the N worst runs.")] = 3,
    as_json: Json = False,
) -> None:
    """Score runs against gold paths."""
    from agentpath_sdk.cli.score import score_files

    code = score_files(
        files, gold=gold or [], mode=mode.value, fail_under=fail_under or [], diffs=diffs, as_json=as_json
    )
    raise typer.Exit(code)


@app.command()
def calibrate(
    files: Files,
    gold: Annotated[
        list[Path] | None,
        typer.Option("--gold", help="Gold-path file or folder; may be repeated. Default: the record's own gold path."),
    ] = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="Settings file to write.")] = Path("calibration.yaml"),
    task: Annotated[
        str, typer.Option("--task", help="Key of the record that names its task. Default: task_id, then the gold path.")
    ] = "task_id",
    force: Annotated[bool, typer.Option("--force", help="Fit to fewer than 50 tasks, or 20 of an outcome.")] = False,
    as_json: Json = False,
) -> None:
    """Fit weights and threshold of the score to runs with known outcomes."""
    from agentpath_sdk.cli.calibrate import calibrate_files

    code = calibrate_files(files, gold=gold or [], output=output, task_key=task, force=force, as_json=as_json)
    raise typer.Exit(code)


@gold_app.command()
def validate(files: GoldFiles = None, as_json: Json = False) -> None:
    """Check gold-path files: one line for each thing that is wrong."""
    from agentpath_sdk.cli.gold import validate_files

    raise typer.Exit(validate_files(files or [], as_json=as_json))


@gold_app.command("list")
def list_(files: GoldFiles = None, as_json: Json = False) -> None:
    """List gold paths."""
    from agentpath_sdk.cli.gold import list_files

    raise typer.Exit(list_files(files or [], as_json=as_json))


@gold_app.command()
def show(
    files: GoldFiles = None,
    ids: Annotated[list[str] | None, typer.Option("--id", help="Id or glob; may be repeated. Default: all.")] = None,
    as_json: Json = False,
) -> None:
    """Show gold paths step by step."""
    from agentpath_sdk.cli.gold import show_files

    raise typer.Exit(show_files(files or [], ids=ids or [], as_json=as_json))


@app.command()
def doctor(
    counters: Annotated[bool, typer.Option("--counters", help="Also say what each health counter means.")] = False,
    as_json: Json = False,
) -> None:
    """Look at the installation and the environment, and say what to do."""
    from agentpath_sdk.cli.doctor import doctor as examine

    raise typer.Exit(examine(counters=counters, as_json=as_json))
