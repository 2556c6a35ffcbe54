"""Gold paths from the files of other tools: which format a file has is found out, or said."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, cast

from agentpath_sdk.errors import FileFormatError
from agentpath_sdk.gold.authoring.adk_format import adk_conversations, is_adk
from agentpath_sdk.gold.authoring.benchmark_formats import (
    bfcl_conversations,
    is_bfcl,
    is_bfcl_question,
    is_traject,
    traject_conversations,
)
from agentpath_sdk.gold.authoring.grouping import any_order_groups
from agentpath_sdk.gold.authoring.imported import Conversation, Format, Turn, Unfit, identity
from agentpath_sdk.gold.authoring.message_format import is_messages, message_conversations
from agentpath_sdk.gold.documents import Document, read_documents
from agentpath_sdk.gold.expression import MAX_ANY_ORDER, MAX_STATES, states
from agentpath_sdk.gold.model import AnswerCheck, GoldPath, Provenance, Status, Step
from agentpath_sdk.gold.query_text import normalise
from agentpath_sdk.gold.wording import is_list

__all__ = ["FORMATS", "Conversations", "ImportOptions", "Imported", "import_gold"]

FORMATS: Final[tuple[Format, ...]] = ("adk", "messages", "traject", "bfcl")

Conversations: TypeAlias = Literal["turns", "whole"]
"""``turns``: each turn of a conversation is a run of the agent, with a path of its own; ``whole``: all are one run."""

_NAMES: Final[Mapping[Format, str]] = {
    "adk": "ADK eval set",
    "messages": "messages",
    "traject": "TRAJECT-Bench",
    "bfcl": "BFCL",
}
_MAX_QUERY: Final = 100_000


@dataclass(frozen=True, kw_only=True, slots=True)
class ImportOptions:
    """What becomes of the cases of a file."""

    agent: str | None = None
    """For cases that name none."""
    conversations: Conversations = "turns"
    answers: bool = False
    """Keep reference answers as expected answers: compared word by word, so that another wording misses the goal."""
    status: Status = "approved"
    author: str | None = None
    date: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Imported:
    """The paths of files, what is worth knowing about them, and what could not be read."""

    paths: tuple[GoldPath, ...] = ()
    formats: Mapping[str, Format] = field(default_factory=dict[str, Format])
    """File -> its format."""
    notes: tuple[str, ...] = ()
    problems: tuple[FileFormatError, ...] = ()
    """The paths of a file with a problem are left out, all of them."""


def import_gold(
    *sources: str | os.PathLike[str], kind: Format | None = None, options: ImportOptions | None = None
) -> Imported:
    """Return the paths of the cases in files; raises nothing for bad files, they are in ``problems``.

    Args:
        sources: JSON, JSON Lines or YAML files. BFCL's answers and questions lie in two files: give both.
        kind: of all files; None = found out for each.
        options: what becomes of the cases.
    """
    importing = _Importing(options or ImportOptions(), kind)
    files = [(str(Path(source)), importing.documents(Path(source))) for source in sources]
    for file, documents in files:
        importing.note_questions(file, documents)
    paths: list[GoldPath] = []
    for file, documents in files:
        paths.extend(importing.file(file, documents))
    return Imported(
        paths=tuple(paths),
        formats=importing.formats,
        notes=tuple(dict.fromkeys([*importing.notes, *_doubts(paths)])),
        problems=tuple(importing.problems),
    )


class _Importing:
    def __init__(self, options: ImportOptions, kind: Format | None) -> None:
        self.options = options
        self.kind: Format | None = kind
        self.formats: dict[str, Format] = {}
        self.notes: list[str] = []
        self.problems: list[FileFormatError] = []
        self._questions: dict[str, Any] = {}
        self._question_files: set[str] = set()
        self._taken: Counter[str] = Counter()

    def documents(self, file: Path) -> list[Document]:
        problems: list[FileFormatError] = []
        documents = read_documents(file, problems.append)
        self.problems += problems
        return [] if problems else documents

    def note_questions(self, file: str, documents: Sequence[Document]) -> None:
        for document in documents:
            for record in document.value if is_list(document.value) else [document.value]:
                if is_bfcl_question(record):
                    told = cast("dict[str, Any]", record)
                    self._questions[str(told["id"])] = told["question"]
                    self._question_files.add(file)

    def file(self, file: str, documents: Sequence[Document]) -> list[GoldPath]:
        """Return the paths of one file; a file with a problem gives none."""
        paths: list[GoldPath] = []
        taken = self._taken.copy()
        try:
            for document in documents:
                paths.extend(self._document(document, file))
        except FileFormatError as error:
            self.problems.append(error)
            self._taken = taken
            return []
        if documents and not paths and file not in self._question_files:
            self.notes.append(f"{file}: no cases in it")
        return paths

    def _document(self, document: Document, file: str) -> Iterator[GoldPath]:
        value = document.value
        if file in self._question_files and is_bfcl_question(value[0] if is_list(value) and value else value):
            return
        kind = self.kind or _format_of(value)
        place = f"line {document.line}"
        if kind is None:
            hint = f"known are {', '.join(_NAMES.values())}; gold files need no import"
            raise FileFormatError("is of no known format", file=file, place=place, hint=hint)
        self.formats[file] = kind
        try:
            for number, case in enumerate(self._conversations(kind, value)):
                yield from self._paths(case, kind, file, number)
        except Unfit as unfit:
            where = f"{place}, {unfit.place}" if unfit.place else place
            raise FileFormatError(f"{unfit.problem} ({_NAMES[kind]})", file=file, place=where) from None

    def _conversations(self, kind: Format, value: Any) -> Iterator[Conversation]:
        match kind:
            case "adk":
                return adk_conversations(value)
            case "messages":
                return message_conversations(value)
            case "traject":
                return traject_conversations(value)
            case "bfcl":
                return bfcl_conversations(value, self._questions)

    # --- paths -------------------------------------------------------------------------------------------------------

    def _paths(self, case: Conversation, kind: Format, file: str, number: int) -> Iterator[GoldPath]:
        if case.missing_query:
            self.notes.append(f"{file}: queries are not in it: give the file of the questions too")
        turns = [_joined(case.turns)] if self.options.conversations == "whole" and case.turns else list(case.turns)
        base = case.id or identity(_stem(file), number + 1 if number else None)
        for at, turn in enumerate(turns):
            name = identity(base, f"turn-{at + 1}" if len(turns) > 1 else None)
            yield self._path(case, turn, self._unique(name), kind, file)

    def _path(self, case: Conversation, turn: Turn, name: str, kind: Format, file: str) -> GoldPath:
        agent = self.options.agent or case.agent
        self.notes += [f"{file}: {note}" for note in turn.notes]
        usable = turn.query is not None and bool(normalise(turn.query)) and len(turn.query) <= _MAX_QUERY
        if not usable:
            self.notes.append(f"{file}: {name} has no query and is a draft: as it stands it would apply to every run")
        if turn.answer is not None and not self.options.answers:
            self.notes.append(f"{file}: reference answers were left out; they can be kept as expected answers")
        if any(len(group) > MAX_ANY_ORDER for group in turn.groups):
            text = f"has more than {MAX_ANY_ORDER} calls in any order: they were split into groups one after another"
            self.notes.append(f"{file}: {name} {text}")
        keep_answer = self.options.answers and turn.answer is not None
        return GoldPath(
            id=name,
            description=case.description,
            agent=agent,
            queries=(turn.query,) if usable and turn.query is not None else (),
            steps=_steps(turn, name),
            status=self.options.status if usable else "draft",
            tags=tuple(dict.fromkeys(case.tags)),
            answer=AnswerCheck(expected=turn.answer) if keep_answer else None,
            provenance=Provenance(
                reference=f"{_NAMES[kind]} {Path(file).name}", author=self.options.author, date=self.options.date
            ),
        )

    def _unique(self, name: str) -> str:
        self._taken[name] += 1
        return name if self._taken[name] == 1 else self._unique(f"{name}-{self._taken[name]}")


def _format_of(value: Any) -> Format | None:
    if is_traject(value):
        return "traject"
    if is_bfcl(value):
        return "bfcl"
    if is_adk(value):
        return "adk"
    return "messages" if is_messages(value) else None


def _joined(turns: Sequence[Turn]) -> Turn:
    """Return the turns as one run, found by its first query."""
    return Turn(
        query=turns[0].query,
        groups=tuple(group for turn in turns for group in turn.groups),
        answer=turns[-1].answer,
        notes=tuple(note for turn in turns for note in turn.notes),
    )


def _steps(turn: Turn, name: str) -> tuple[Step, ...]:
    steps = tuple(step for group in turn.groups for step in any_order_groups(group))
    if sum(map(states, steps)) > MAX_STATES:
        raise Unfit(name, f"has {sum(map(len, turn.groups))} calls, more than a gold path can hold")
    return steps


def _stem(file: str) -> str:
    name = Path(file).name
    return name.split(".")[0] or name


def _doubts(paths: Sequence[GoldPath]) -> Iterator[str]:
    """Yield a note where queries cannot tell cases apart."""
    by_query: dict[tuple[str | None, str], list[GoldPath]] = {}
    for path in paths:
        for query in path.queries:
            by_query.setdefault((path.agent, normalise(query)), []).append(path)
    for (_, _), found in by_query.items():
        if len({repr(path.steps) for path in found}) > 1:
            names = ", ".join(path.id for path in found[:4]) + (", ..." if len(found) > 4 else "")
            yield f"one query, different steps: {names}; the better one counts, unless runs name their path"
