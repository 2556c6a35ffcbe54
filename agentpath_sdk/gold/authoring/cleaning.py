"""What of a good run is worth repeating: its calls without failures, pure repetitions and the answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from agentpath_sdk.gold.equality import values_equal
from agentpath_sdk.gold.wording import json_text
from agentpath_sdk.trajectories.model import ToolCall, Trajectory

__all__ = ["CleanCall", "CleanRun", "clean_runs"]

_FAILED: Final = frozenset({"error", "cancelled", "interrupted", "abandoned"})


@dataclass(frozen=True, kw_only=True, slots=True)
class CleanCall:
    """One call, and how often it was made in a row with a new result each time (polling)."""

    call: ToolCall
    times: int = 1


@dataclass(frozen=True, kw_only=True, slots=True)
class CleanRun:
    """The calls of one run that count, and what was left out."""

    calls: tuple[CleanCall, ...]
    terminal: str | None = None
    """Name of the pseudo tool with which the run answered."""
    answered: bool = False
    failed: Counter[str] = field(default_factory=Counter[str])
    """Tool -> failed calls left out."""
    repeated: Counter[str] = field(default_factory=Counter[str])
    """Tool -> repetitions left out."""


def clean_runs(runs: Sequence[Trajectory], terminal: Collection[str]) -> list[CleanRun]:
    """Return each run without its failed calls, without repetitions that brought nothing new, and without the answer.

    A repetition brought nothing new when its result is known to be the same; where results are not known, when
    another run did with fewer. Calls made again and again with a new result each time are one call, made some times.
    """
    cleaned = [_clean(run, terminal) for run in runs]
    needed = _needed(cleaned)
    return [_without_unneeded(run, needed) for run in cleaned]


def _clean(run: Trajectory, terminal: Collection[str]) -> CleanRun:
    failed = Counter(step.tool for step in run.steps if step.outcome in _FAILED and step.tool not in terminal)
    good = [step for step in run.steps if step.outcome not in _FAILED and step.tool not in terminal]
    answers = [step.tool for step in run.steps if step.tool in terminal]
    kept: list[CleanCall] = []
    repeated: Counter[str] = Counter()
    for call in good:
        earlier = next((at for at in reversed(range(len(kept))) if _same_call(kept[at].call, call)), None)
        if earlier is not None and _same_result(kept[earlier].call, call):
            repeated[call.tool] += 1
        elif earlier == len(kept) - 1 and earlier is not None and call.result is not None:
            # The newest result is the one that the next call is compared with.
            kept[-1] = CleanCall(call=call, times=kept[-1].times + 1)
        else:
            kept.append(CleanCall(call=call))
    return CleanRun(
        calls=tuple(kept),
        terminal=answers[-1] if answers else None,
        answered=bool(answers) or run.final_answer is not None,
        failed=failed,
        repeated=repeated,
    )


def _same_call(one: ToolCall, other: ToolCall) -> bool:
    known = one.arguments_state == other.arguments_state == "known"
    return known and one.tool == other.tool and values_equal(one.arguments or {}, other.arguments or {})


def _same_result(one: ToolCall, other: ToolCall) -> bool:
    known = one.result_state == other.result_state == "known"
    return known and one.result is not None and values_equal(one.result, other.result)


def _needed(runs: Iterable[CleanRun]) -> dict[str, int]:
    """Return how often each call with unknown results was made in the run that made it least; known from two runs."""
    least: dict[str, int] = {}
    seen: Counter[str] = Counter()
    for run in runs:
        for key, count in Counter(_key(one.call) for one in run.calls if one.call.result is None).items():
            least[key] = min(count, least.get(key, count))
            seen[key] += 1
    return {key: count for key, count in least.items() if seen[key] > 1}


def _without_unneeded(run: CleanRun, needed: dict[str, int]) -> CleanRun:
    count: Counter[str] = Counter()
    kept: list[CleanCall] = []
    repeated = run.repeated.copy()
    for one in run.calls:
        key = _key(one.call)
        count[key] += 1
        if one.call.result is None and count[key] > needed.get(key, count[key]):
            repeated[one.call.tool] += 1
        else:
            kept.append(one)
    return CleanRun(
        calls=tuple(kept), terminal=run.terminal, answered=run.answered, failed=run.failed, repeated=repeated
    )


def _key(call: ToolCall) -> str:
    return json_text([call.tool, call.arguments_state, call.arguments])
