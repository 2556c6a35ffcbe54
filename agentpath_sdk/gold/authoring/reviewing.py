"""What somebody needs to see before approving promoted paths: a page of Markdown, one section a path."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from agentpath_sdk.gold.authoring.generalising import How
from agentpath_sdk.gold.authoring.merging import ArgumentEvidence, Merged, StepEvidence
from agentpath_sdk.gold.authoring.promoting import Promotion, Promotions
from agentpath_sdk.gold.expression import least_calls
from agentpath_sdk.gold.wording import show

__all__ = ["review_page"]

_WORDS: Final[Mapping[How, str]] = {
    "exact": "always the same",
    "folded": "the same but for case and blanks",
    "number": "numbers close together: a tolerance that takes them all",
    "fuzzy": "texts alike: similar ones are taken too",
    "set": "the same items in any order",
    "one_of": "one of the values seen",
    "parts": "compared part by part",
    "type": "too many different values: only their type is checked",
    "free_text": "free text: **not checked**",
    "varies": "too many different values: **not checked**",
    "not_always_given": "not given in every run: **not checked**",
}
_SHOWN_VALUES: Final = 5
_SHOWN_REFERENCES: Final = 20
_MARKUP: Final = re.compile(r"([\\`*_\[\]<>|#])")


def review_page(promotions: Promotions) -> str:
    """Return the page; people's texts in it are escaped, so that none is read as Markdown."""
    return "\n".join(_page(promotions)) + "\n"


def _page(promotions: Promotions) -> Iterator[str]:
    count = len(promotions.paths)
    yield f"# Promoted gold paths to review: {count}"
    yield ""
    yield (
        "These paths were merged from recorded runs that reached their goal. That a run reached its goal does not make "
        "its way the shortest or the safest one: look at each optional step, at each argument that is not checked, "
        "and at steps you would not want to see again. Then set `status: approved`."
    )
    for promotion in promotions.paths:
        yield ""
        yield from _section(promotion)
    if promotions.skipped:
        yield ""
        yield "## Runs that were not used"
        yield ""
        yield from (f"- {_text(reason)}: {_runs(number)}" for reason, number in promotions.skipped.items())


def _section(promotion: Promotion) -> Iterator[str]:
    path, merged = promotion.path, promotion.merged
    yield f"## {_text(path.id)}"
    yield ""
    if path.queries:
        yield f"- query: {_text(path.queries[0])}"
    if path.agent is not None:
        yield f"- agent: {_text(path.agent)}"
    yield f"- status: {path.status}"
    yield f"- merged from {_runs(merged.runs)} that reached the goal{_others(promotion)}"
    yield f"- {_lengths(promotion)}"
    yield f"- runs: {_text(', '.join(promotion.references[:_SHOWN_REFERENCES]))}"
    yield from (f"- **{warning}**" for warning in _warnings(merged))
    yield ""
    yield "| step | tool | needed | seen in | arguments |"
    yield "|---|---|---|---|---|"
    for number, step in enumerate(merged.evidence, 1):
        yield f"| {number} | {_text(step.tool)} | {_role(step)} | {step.seen} of {step.of} runs | {_arguments(step)} |"
    yield from _remarks(merged)


def _others(promotion: Promotion) -> str:
    words = [f"{promotion.missed} missed it"] if promotion.missed else []
    words += [f"of {promotion.unknown} nobody knows"] if promotion.unknown else []
    words += [f"{promotion.left_over} more good ones were not merged"] if promotion.left_over else []
    return f" ({', '.join(words)})" if words else ""


def _lengths(promotion: Promotion) -> str:
    least = sum(map(least_calls, promotion.path.steps))
    shortest, longest = promotion.merged.lengths
    answer = sum(step.role == "answer" for step in promotion.merged.evidence)
    runs = f"{shortest + answer} to {longest + answer}" if shortest < longest else f"{shortest + answer}"
    return f"steps of the shortest way it accepts: {least}; of the runs, failures and repetitions aside: {runs}"


def _warnings(merged: Merged) -> Iterator[str]:
    if merged.runs == 1:
        yield "One run only: nothing tells what in it is needed and what is by chance."
    if not any(step.role == "required" for step in merged.evidence) and merged.evidence:
        yield "No step is in all runs: they went different ways, or were different tasks."
    if merged.split:
        yield "A group of steps in any order was too large for the language and was split: some orders will not pass."


def _role(step: StepEvidence) -> str:
    words = {"required": "required", "optional": "optional", "one_of": "one of several", "answer": "the answer"}
    least, most = step.times
    times = "" if most == 1 else f", {least} to {most} times in a row" if least < most else f", {least} times in a row"
    return words[step.role] + times


def _arguments(step: StepEvidence) -> str:
    if step.role == "answer":
        return "not checked: the answer is judged by itself"
    if step.arguments_unknown:
        return "not recorded whole: **not checked**"
    return "<br>".join(map(_argument, step.arguments)) or "none"


def _argument(argument: ArgumentEvidence) -> str:
    shown = ", ".join(f"{_text(show(value))} ({count})" for value, count in argument.values[:_SHOWN_VALUES])
    more = len(argument.values) - _SHOWN_VALUES
    return f"{_text(argument.name)}: {_WORDS[argument.how]}; seen {shown}" + (f" and {more} more" if more > 0 else "")


def _remarks(merged: Merged) -> Iterator[str]:
    remarks = [f"in any order: {_text(', '.join(group))}" for group in merged.any_order]
    remarks += [f"left out, failed: {_text(_counted(merged.failed))}"] if merged.failed else []
    remarks += [f"left out, repeated to no effect: {_text(_counted(merged.repeated))}"] if merged.repeated else []
    if remarks:
        yield ""
        yield from (f"- {remark}" for remark in remarks)


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{tool} ({count})" for tool, count in counts.items())


def _runs(count: int) -> str:
    return f"{count} run{'s' * (count != 1)}"


def _text(text: str) -> str:
    """Return a text of people's data on one line, without meaning to Markdown."""
    return _MARKUP.sub(r"\\\1", " ".join(text.split()))
