"""What a run alone shows, gold path or not: repeated calls, loops, retries, many errors, more steps than usual.

Each is a finding with the steps it rests on. Calls are the same where tool and known arguments are equal; calls whose
arguments are not known are the same as none.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from agentpath_sdk._guard import HEALTH
from agentpath_sdk.scoring.habits_usual import UsualRange
from agentpath_sdk.scoring.pairs import FAILED_OUTCOMES
from agentpath_sdk.scoring.reasons import clean, shortened, well_formed
from agentpath_sdk.scoring.score import Finding
from agentpath_sdk.trajectories.model import ToolCall, Trajectory

__all__ = ["Loop", "find_habits", "find_loops", "repeats", "retries"]

LONGEST_CYCLE: Final = 10
"""Calls in the longest cycle that is looked for."""

_LEAST_ROUNDS_ALONE: Final = 3
_LEAST_ROUNDS: Final = 2
_MANY_ERRORS: Final = 0.25
_LEAST_ERRORS: Final = 2
_MOST_NAMED: Final = 3
_NOTHING: Final[frozenset[int]] = frozenset()


@dataclass(frozen=True, kw_only=True, slots=True)
class Loop:
    """A cycle of equal calls, one round after the other, in which no round brought a result that was new."""

    start: int
    """Index of the first round's first step."""
    period: int
    """Calls in one round."""
    rounds: int
    """Whole rounds, the first one included."""

    @property
    def again(self) -> range:
        """Indexes of the steps after the first round."""
        return range(self.start + self.period, self.start + self.period * self.rounds)


def find_habits(
    trajectory: Trajectory, *, wanted: Collection[int] = _NOTHING, usual: UsualRange | None = None
) -> tuple[Finding, ...]:
    """Return the findings that need no gold path, in order of the steps; never raises.

    Kinds: ``repeated_call`` (the same call again), ``loop`` (its repeated calls are told by it alone), ``retried``,
    ``error_rate`` (a quarter of the calls failed, two at least), ``many_steps``.

    Args:
        trajectory: the run.
        wanted: indexes of steps that a gold path asks for; repeating those is no habit.
        usual: the range of steps that the agent's runs take; left out, nothing is said about the number of steps.
    """
    try:
        return tuple(_habits(trajectory, wanted, usual))
    except Exception as error:
        HEALTH.fault("scoring.habits", error)
        if HEALTH.raise_faults:
            raise
        return ()


def _habits(trajectory: Trajectory, wanted: Collection[int], usual: UsualRange | None) -> Iterator[Finding]:
    steps = trajectory.steps
    keys = [_call_key(call) for call in steps]
    loops = [loop for loop in _loops(steps, keys) if not all(at in wanted for at in loop.again)]
    told = {at for loop in loops for at in loop.again}
    found = [_loop_finding(steps, loop) for loop in loops]
    found += [_repeat_finding(steps, at, before) for at, before in _repeats(steps, keys) if at not in told | {*wanted}]
    found += _retry_findings(steps, keys)
    yield from sorted(found, key=lambda finding: finding.step or 0)
    yield from _error_rate(steps)
    if usual is not None and (many := usual.finding(trajectory)) is not None:
        yield many


# --- the same call again ----------------------------------------------------------------------------------------------


def repeats(trajectory: Trajectory) -> list[tuple[int, int]]:
    """Return (step, the step before that it repeats); a call after one that failed is a retry and no repetition."""
    return list(_repeats(trajectory.steps, [_call_key(call) for call in trajectory.steps]))


def _repeats(steps: Sequence[ToolCall], keys: Sequence[int | None]) -> Iterator[tuple[int, int]]:
    seen: dict[int, int] = {}
    for at, key in enumerate(keys):
        if key is None:
            continue
        before = seen.get(key)
        seen[key] = at
        if before is not None and steps[before].outcome not in FAILED_OUTCOMES:
            yield at, before


def _repeat_finding(steps: Sequence[ToolCall], at: int, before: int) -> Finding:
    call = steps[at]
    return _finding(
        "repeated_call", f"step {at + 1}: {call.tool} repeats step {before + 1}, arguments and all", at, call.tool
    )


def _call_key(call: ToolCall) -> int | None:
    if call.arguments_state != "known":
        return None
    return _hashed((call.tool, call.arguments or {}))


def _hashed(value: object) -> int | None:
    """Return a number that is equal for equal JSON values; None for what is no JSON value."""
    try:
        return hash(json.dumps(value, sort_keys=True))
    except Exception:
        # What is no JSON value cannot be told to be equal.
        return None


# --- loops ------------------------------------------------------------------------------------------------------------


def find_loops(trajectory: Trajectory) -> list[Loop]:
    """Return the loops of a run, ascending, without overlap; of two that start together the one of more steps.

    A single call counts from its third round on, a cycle of several from its second. A round whose results differ
    from the first round's ends the loop; results that were not recorded are taken as nothing new.
    """
    return list(_loops(trajectory.steps, [_call_key(call) for call in trajectory.steps]))


def _loops(steps: Sequence[ToolCall], keys: Sequence[int | None]) -> Iterator[Loop]:
    # Most runs repeat nothing, and need no search.
    if len({key for key in keys if key is not None}) == len(keys):
        return
    results = [_hashed((call.outcome, call.result)) if call.result_state == "known" else None for call in steps]
    at = 0
    while at < len(steps):
        best = max((_loop_at(keys, results, at, period) for period in _periods(keys, at)), key=_size, default=None)
        if best is None or _size(best) == 0:
            at += 1
            continue
        at = best.again.stop
        if any(steps[one].outcome not in FAILED_OUTCOMES for one in best.again):
            # Calls that failed and failed again are told as retries.
            yield best


def _periods(keys: Sequence[int | None], at: int) -> Iterator[int]:
    """Yield the periods that a loop starting here may have."""
    if keys[at] is None:
        return
    for period in range(1, min(LONGEST_CYCLE, (len(keys) - at) // 2) + 1):
        if keys[at + period] == keys[at]:
            yield period


def _loop_at(keys: Sequence[int | None], results: Sequence[int | None], at: int, period: int) -> Loop:
    first = keys[at : at + period]
    rounds = 1
    if None not in first:
        while all(
            keys[at + rounds * period + offset : at + rounds * period + offset + 1] == [first[offset]]
            and not _differ(results[at + offset], results[at + rounds * period + offset])
            for offset in range(period)
        ):
            rounds += 1
    return Loop(start=at, period=period, rounds=rounds)


def _differ(one: int | None, other: int | None) -> bool:
    return one is not None and other is not None and one != other


def _size(loop: Loop) -> int:
    """Return the steps after the first round; 0 where it is no loop."""
    least = _LEAST_ROUNDS_ALONE if loop.period == 1 else _LEAST_ROUNDS
    return len(loop.again) if loop.rounds >= least else 0


def _loop_finding(steps: Sequence[ToolCall], loop: Loop) -> Finding:
    cycle = steps[loop.start : loop.start + loop.period]
    names = " > ".join(shortened(call.tool, 40) for call in cycle[:_MOST_NAMED])
    more = f" > {loop.period - _MOST_NAMED} more" if loop.period > _MOST_NAMED else ""
    seen = all(steps[at].result_state == "known" for at in loop.again)
    news = "nothing new came back" if seen else "no new result is on record"
    message = f"steps {loop.start + 1} to {loop.again.stop}: {names}{more}, {loop.rounds} times the same; {news}"
    return _finding("loop", message, loop.again.start, cycle[0].tool)


# --- retries and errors -----------------------------------------------------------------------------------------------


def retries(trajectory: Trajectory) -> list[tuple[int, ...]]:
    """Return the steps of each call that was tried again after it had failed, the first try included."""
    return _retries(trajectory.steps, [_call_key(call) for call in trajectory.steps])


def _retries(steps: Sequence[ToolCall], keys: Sequence[int | None]) -> list[tuple[int, ...]]:
    chains: list[list[int]] = []
    last: dict[str, list[int]] = {}
    for at, call in enumerate(steps):
        chain = last.get(call.tool)
        if chain is not None and _is_retry(steps, keys, chain[-1], at):
            chain.append(at)
        else:
            last[call.tool] = [at]
            chains.append(last[call.tool])
    return [tuple(chain) for chain in chains if len(chain) > 1]


def _is_retry(steps: Sequence[ToolCall], keys: Sequence[int | None], before: int, at: int) -> bool:
    """Return whether the framework says so, or the same call follows one that failed."""
    if steps[at].attempt > 1:
        return steps[at].attempt == steps[before].attempt + 1
    return steps[before].outcome in FAILED_OUTCOMES and keys[at] is not None and keys[at] == keys[before]


def _retry_findings(steps: Sequence[ToolCall], keys: Sequence[int | None]) -> Iterator[Finding]:
    for chain in _retries(steps, keys):
        tool, last = steps[chain[0]].tool, steps[chain[-1]]
        ended = f"still {last.outcome}" if last.outcome in FAILED_OUTCOMES else "then it succeeded"
        tries = len(chain) - 1
        times = "once" if tries == 1 else f"{tries} times"
        message = f"step {chain[0] + 1}: {shortened(tool, 80)} failed and was tried again {times}, {ended}"
        yield _finding("retried", message, chain[-1], tool)


def _error_rate(steps: Sequence[ToolCall]) -> Iterator[Finding]:
    failed = Counter(call.tool for call in steps if call.outcome in FAILED_OUTCOMES)
    count = failed.total()
    if count < _LEAST_ERRORS or count < _MANY_ERRORS * len(steps):
        return
    named = ", ".join(f"{shortened(tool, 40)} {times}" for tool, times in failed.most_common(_MOST_NAMED))
    message = f"{count} of {len(steps)} calls failed ({count / len(steps):.0%}): {named}"
    yield Finding(kind="error_rate", message=shortened(clean(message), 500))


def _finding(kind: str, message: str, step: int, tool: str) -> Finding:
    return Finding(kind=kind, message=shortened(clean(message)), step=step, tool=well_formed(tool))
