"""`agentpath gold promote`: recorded runs that reached their goal become gold paths, with a page to review."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agentpath_sdk.cli.console import note, write_json
from agentpath_sdk.cli.gold import report_problems
from agentpath_sdk.cli.inputs import Inputs
from agentpath_sdk.cli.writing import check_free, today, write_file, write_gold
from agentpath_sdk.errors import ConfigurationError
from agentpath_sdk.gold.answers import read_answer
from agentpath_sdk.gold.authoring.promoting import GroupBy, Known, Promotion, Promotions, promote
from agentpath_sdk.gold.authoring.reviewing import review_page
from agentpath_sdk.gold.dumping import path_entry
from agentpath_sdk.gold.files import GoldRead, read_gold
from agentpath_sdk.gold.model import AnswerCheck, GoldPath
from agentpath_sdk.gold.registry import GoldPathRegistry
from agentpath_sdk.gold.schema import Problem
from agentpath_sdk.scoring.goal import judge_goal
from agentpath_sdk.trajectories.model import Trajectory

__all__ = ["PromoteOptions", "promote_files"]

_HEADING = (
    "Promoted from recorded runs that reached their goal. They may not be the shortest way: look at optional steps",
    "and at arguments that are not checked ($ignore), then set 'status: approved'.",
)


@dataclass(frozen=True, kw_only=True, slots=True)
class PromoteOptions:
    """What was said on the command line."""

    gold: Sequence[Path] = ()
    """Gold files whose expected answers tell whether a goal was reached; drafts too."""
    answer: str | None = None
    query: str | None = None
    agent: str | None = None
    by: GroupBy = "query"
    least_runs: int = 1
    approve: bool = False
    author: str | None = None
    output: Path | None = None
    review: Path | None = None
    force: bool = False
    as_json: bool = False


def promote_files(files: Sequence[str], options: PromoteOptions) -> int:
    """Write the paths and the page; return 2 when a file is bad or no run reached its goal."""
    review = options.review or (None if options.output is None else _review_beside(options.output))
    check_free((options.output, review), force=options.force)
    goals = _Goals.load(options)
    inputs = Inputs(files)
    promotions = promote(
        (item.trajectory for item in inputs),
        reached=goals.reached,
        known=goals.known,
        by=options.by,
        query=options.query,
        agent=options.agent,
        least_runs=options.least_runs,
        status="approved" if options.approve else "draft",
        author=options.author,
        date=today(),
    )
    if promotions.paths:
        _write(promotions, review, options)
    _report(promotions, review)
    return 2 if inputs.bad or goals.read.problems or not promotions.paths else 0


def _review_beside(output: Path) -> Path:
    return output.with_name(f"{output.stem}.review.md")


def _write(promotions: Promotions, review: Path | None, options: PromoteOptions) -> None:
    if options.as_json:
        for promotion in promotions.paths:
            write_json(_line(promotion))
    if options.output is not None or not options.as_json:
        write_gold([promotion.path for promotion in promotions.paths], options.output, _HEADING)
    if review is not None:
        write_file(review, review_page(promotions))


def _line(promotion: Promotion) -> dict[str, Any]:
    merged = promotion.merged
    support = {
        "runs": merged.runs,
        "missed": promotion.missed,
        "unknown": promotion.unknown,
        "references": list(promotion.references),
        "steps": [{"tool": step.tool, "role": step.role, "seen": step.seen, "of": step.of} for step in merged.evidence],
    }
    return {**path_entry(promotion.path), "status": promotion.path.status, "support": support}


def _report(promotions: Promotions, review: Path | None) -> None:
    for reason, count in promotions.skipped.items():
        note(f"{count} run{'s' * (count != 1)} not used: {reason}", style="dim")
    if not promotions.paths:
        text = "no run reached its goal, as far as is known: nothing to promote"
        note(f"{text} (record outcomes, or give expected answers with --gold or --answer)", style="red")
        return
    runs = sum(promotion.merged.runs for promotion in promotions.paths)
    written = f"{len(promotions.paths)} gold path{'s' * (len(promotions.paths) != 1)} from {runs} runs"
    note(f"{written}; they may not be the shortest" + (f": see {review}" if review is not None else ""))


@dataclass(frozen=True, kw_only=True, slots=True)
class _Goals:
    """Who tells whether a run reached its goal: the recorded outcome, else an expected answer."""

    read: GoldRead = field(default_factory=GoldRead)
    registry: GoldPathRegistry | None = None
    answer: AnswerCheck | None = None

    @classmethod
    def load(cls, options: PromoteOptions) -> _Goals:
        read = read_gold(*options.gold) if options.gold else GoldRead()
        report_problems(read)
        registry = GoldPathRegistry(read.paths, statuses=("approved", "draft")) if read.paths else None
        return cls(read=read, registry=registry, answer=_answer(options.answer))

    def reached(self, trajectory: Trajectory) -> bool | None:
        """Return what was recorded, else whether the answer is as expected; None = nobody knows."""
        path = self._path(trajectory)
        if self.answer is not None:
            path = GoldPath(id="answer", answer=self.answer)
        return judge_goal(trajectory, path).success

    def known(self, trajectory: Trajectory) -> Known:
        """Return what the gold files say of the run's task."""
        path = self._path(trajectory)
        if path is None:
            return Known(answer=self.answer)
        # A template's answer holds the values of this run.
        return Known(answer=self.answer or path.answer, effects=path.effects, extras=path.extras)

    def _path(self, trajectory: Trajectory) -> GoldPath | None:
        return None if self.registry is None else self.registry.look_up(trajectory).path


def _answer(text: str | None) -> AnswerCheck | None:
    """Return the check of an answer given as text, as a number, or as a matcher in JSON.

    Raises:
        ConfigurationError: it is a matcher that cannot be read.
    """
    if text is None:
        return None
    problems: list[Problem] = []
    check = read_answer(_json_or_text(text), (), problems)
    if check is None:
        problem = problems[0]
        raise ConfigurationError(f"--answer: {problem.text}" + (f" ({problem.hint})" if problem.hint else ""))
    return check


def _json_or_text(text: str) -> Any:
    try:
        value: Any = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return text if value is None or isinstance(value, str | bool) else value
