"""`agentpath gold draft`: a model writes the first version of gold paths."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from agentpath_sdk.cli.console import note, write_json
from agentpath_sdk.cli.writing import check_free, today, write_gold
from agentpath_sdk.errors import AgentPathError, ConfigurationError
from agentpath_sdk.gold.authoring.chat_endpoint import ChatEndpoint
from agentpath_sdk.gold.authoring.drafting import Draft, draft_path
from agentpath_sdk.gold.authoring.tool_catalogue import ToolSpec, read_tools
from agentpath_sdk.gold.dumping import path_entry
from agentpath_sdk.gold.model import GoldPath

__all__ = ["DraftOptions", "draft_queries"]

_HEADING = (
    "Drafted by a model and seen by nobody yet. Drafts score no runs: correct them, then set 'status: approved'.",
)


@dataclass(frozen=True, kw_only=True, slots=True)
class DraftOptions:
    """What was said on the command line."""

    tools: Path
    base_url: str
    model: str
    queries_file: Path | None = None
    key_variable: str = "OPENAI_API_KEY"
    agent: str | None = None
    attempts: int = 3
    timeout_seconds: float = 60.0
    author: str | None = None
    output: Path | None = None
    force: bool = False
    as_json: bool = False


def draft_queries(queries: Sequence[str], options: DraftOptions) -> int:
    """Write the drafts; return 2 when a query has none."""
    check_free((options.output,), force=options.force)
    wanted = list(dict.fromkeys([*queries, *_queries_of(options.queries_file)]))
    if not wanted:
        raise ConfigurationError("no query is given; name one, or a file of them with --queries")
    tools = read_tools(options.tools)
    endpoint = ChatEndpoint(
        base_url=options.base_url,
        model=options.model,
        # An endpoint on this machine often asks for none.
        api_key=os.environ.get(options.key_variable, "").strip() or None,
        timeout_seconds=options.timeout_seconds,
    )
    paths, complete = _drafted(wanted, tools, endpoint, options)
    if options.as_json:
        for path in paths:
            write_json({**path_entry(path), "status": path.status})
    if paths and (options.output is not None or not options.as_json):
        write_gold(paths, options.output, _HEADING)
    note(f"{len(paths)} of {len(wanted)} queries drafted with {options.model}; review them before they are approved")
    return 0 if complete else 2


def _queries_of(file: Path | None) -> list[str]:
    if file is None:
        return []
    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "is no UTF-8 text"
        raise ConfigurationError(f"{file}: cannot be read: {why}; expected a query a line") from None
    return [line.strip() for line in text.splitlines() if line.strip()]


def _drafted(
    queries: Sequence[str], tools: Sequence[ToolSpec], endpoint: ChatEndpoint, options: DraftOptions
) -> tuple[list[GoldPath], bool]:
    """Return the drafts there are, and whether each query has one."""
    paths: list[GoldPath] = []
    for query in queries:
        try:
            draft = draft_path(
                query,
                tools,
                endpoint,
                agent=options.agent,
                model_name=options.model,
                attempts=options.attempts,
                author=options.author,
                date=today(),
            )
        except AgentPathError as error:
            # The next query would meet the same endpoint; what has been drafted is not lost.
            note(str(error), style="red")
            return paths, False
        if draft.path is None:
            _refused(draft)
        else:
            paths.append(draft.path)
    return paths, len(paths) == len(queries)


def _refused(draft: Draft) -> None:
    first, *others = draft.problems[-1]
    more = f" (and {len(others)} more)" if others else ""
    note(f"{draft.query!r}: no valid draft in {draft.attempts} answers; the last: {first}{more}", style="red")
