"""Options of `agentpath gold promote`, `draft`, `synth` and `import`; what they do lies in the modules beside this."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from agentpath_sdk.gold.authoring.imported import Format

__all__ = ["authoring_app"]

authoring_app = typer.Typer()


class By(StrEnum):
    """What makes recorded runs one task."""

    QUERY = "query"
    AGENT = "agent"


class ImportFormat(StrEnum):
    """Whose file it is."""

    AUTO = "auto"
    ADK = "adk"
    MESSAGES = "messages"
    TRAJECT = "traject"
    BFCL = "bfcl"


class Turns(StrEnum):
    """What a conversation of several turns becomes."""

    TURNS = "turns"
    WHOLE = "whole"


Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="Gold file to write; default: standard output.", show_default=False),
]
Force = Annotated[bool, typer.Option("--force", help="Replace files that are there already.")]
Json = Annotated[bool, typer.Option("--json", help="One JSON object a line.")]
Author = Annotated[str | None, typer.Option("--author", help="Who stands behind the paths.", show_default=False)]
Agent = Annotated[str | None, typer.Option("--agent", help="Name of the agent the paths are for.", show_default=False)]


@authoring_app.command("promote")
def promote_(
    files: Annotated[
        list[str], typer.Argument(help="Recorded runs: files or folders; - reads standard input.", show_default=False)
    ],
    gold: Annotated[
        list[Path] | None,
        typer.Option(
            "--gold", help="Gold file whose expected answers tell which runs reached their goal.", show_default=False
        ),
    ] = None,
    answer: Annotated[
        str | None,
        typer.Option("--answer", help="Expected answer: a text, a number, or a matcher as JSON.", show_default=False),
    ] = None,
    query: Annotated[str | None, typer.Option("--query", help="Only runs of this query.", show_default=False)] = None,
    agent: Annotated[
        str | None, typer.Option("--agent", help="Only runs of this agent; a glob.", show_default=False)
    ] = None,
    by: Annotated[By, typer.Option("--by", help="One path a query, or one an agent.")] = By.QUERY,
    least_runs: Annotated[int, typer.Option("--least-runs", min=1, help="Good runs that a task must have.")] = 1,
    approve: Annotated[bool, typer.Option("--approve", help="Approve the paths now, unseen.")] = False,
    author: Author = None,
    output: Output = None,
    review: Annotated[
        Path | None,
        typer.Option("--review", help="Review page; default: beside --output, as NAME.review.md.", show_default=False),
    ] = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Make gold paths from recorded runs that reached their goal; several good runs of a task are merged."""
    from agentpath_sdk.cli.promote import PromoteOptions, promote_files

    options = PromoteOptions(
        gold=gold or (),
        answer=answer,
        query=query,
        agent=agent,
        by=by.value,
        least_runs=least_runs,
        approve=approve,
        author=author,
        output=output,
        review=review,
        force=force,
        as_json=as_json,
    )
    raise typer.Exit(promote_files(files, options))


@authoring_app.command("draft")
def draft_(
    tools: Annotated[
        Path, typer.Option("--tools", help="The agent's tools: JSON or YAML, as for OpenAI, Anthropic or MCP.")
    ],
    base_url: Annotated[str, typer.Option("--base-url", help="Chat-completions endpoint: https://host/v1.")],
    model: Annotated[str, typer.Option("--model", help="Name of the model.")],
    queries: Annotated[list[str] | None, typer.Argument(help="Queries.", show_default=False)] = None,
    queries_file: Annotated[
        Path | None, typer.Option("--queries", help="File with a query a line.", show_default=False)
    ] = None,
    key_variable: Annotated[
        str, typer.Option("--api-key-env", metavar="NAME", help="Environment variable that holds the key.")
    ] = "OPENAI_API_KEY",
    agent: Agent = None,
    attempts: Annotated[int, typer.Option("--attempts", min=1, max=10, help="Answers asked for, per query.")] = 3,
    timeout: Annotated[float, typer.Option("--timeout", min=1, help="Seconds to wait for one answer.")] = 60.0,
    author: Author = None,
    output: Output = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Have a model draft gold paths; drafts score no runs until somebody approves them."""
    from agentpath_sdk.cli.draft import DraftOptions, draft_queries

    options = DraftOptions(
        tools=tools,
        base_url=base_url,
        model=model,
        queries_file=queries_file,
        key_variable=key_variable,
        agent=agent,
        attempts=attempts,
        timeout_seconds=timeout,
        author=author,
        output=output,
        force=force,
        as_json=as_json,
    )
    raise typer.Exit(draft_queries(queries or (), options))


@authoring_app.command("synth")
def synth_(
    files: Annotated[list[Path], typer.Argument(help="Templates with lists of values.", show_default=False)],
    output: Output = None,
    queries: Annotated[
        Path | None,
        typer.Option("--queries", help="File to write the queries to, as JSON Lines.", show_default=False),
    ] = None,
    sample: Annotated[
        int | None,
        typer.Option("--sample", min=1, help="At most so many paths a template, drawn at random.", show_default=False),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="Another number draws another sample.")] = 0,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Fill templates: one gold path for each combination of values."""
    from agentpath_sdk.cli.synth import synthesise_files

    code = synthesise_files(
        files, output=output, queries=queries, sample=sample, seed=seed, force=force, as_json=as_json
    )
    raise typer.Exit(code)


@authoring_app.command("import")
def import_(
    files: Annotated[list[Path], typer.Argument(help="Files of another tool.", show_default=False)],
    shape: Annotated[ImportFormat, typer.Option("--format", help="Whose files they are.")] = ImportFormat.AUTO,
    agent: Agent = None,
    turns: Annotated[
        Turns, typer.Option("--conversations", help="One path a turn, or one a whole conversation.")
    ] = Turns.TURNS,
    answers: Annotated[
        bool, typer.Option("--answers", help="Keep reference answers as expected answers (compared word by word).")
    ] = False,
    draft: Annotated[bool, typer.Option("--draft", help="Import as drafts.")] = False,
    author: Author = None,
    output: Output = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Import gold paths: ADK eval sets, lists of messages, TRAJECT-Bench, BFCL."""
    from agentpath_sdk.cli.import_gold import import_files
    from agentpath_sdk.cli.writing import today
    from agentpath_sdk.gold.authoring.importing import FORMATS, ImportOptions

    options = ImportOptions(
        agent=agent,
        conversations=turns.value,
        answers=answers,
        status="draft" if draft else "approved",
        author=author,
        date=today(),
    )
    kind: Format | None = next((one for one in FORMATS if one == shape.value), None)
    raise typer.Exit(import_files(files, options, kind=kind, output=output, force=force, as_json=as_json))
