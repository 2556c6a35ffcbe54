"""What extra and repeated steps cost: time from the spans, tokens from the run's usage, money by given prices."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from agentpath_sdk.scoring.habits import find_loops, repeats, retries
from agentpath_sdk.scoring.score import PathScore
from agentpath_sdk.trajectories.model import Event, ToolCall, Trajectory

__all__ = ["Losses", "Prices", "find_losses", "lost_steps"]

_MILLION: Final = 1_000_000
_NANOS: Final = 1e9

_Span: TypeAlias = tuple[int, int]


@dataclass(frozen=True, kw_only=True, slots=True)
class Prices:
    """What the model costs, per million tokens, in one currency."""

    input_per_million: float
    output_per_million: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Losses:
    """What a run lost in steps that brought nothing; None = not known, with the reason in ``unknown``."""

    steps: tuple[int, ...] = ()
    """Indexes of the lost steps, ascending."""
    seconds: float | None = None
    """Time in which nothing but lost steps, and model turns that asked for nothing else, ran."""
    share_of_time: float | None = None
    """0..1, of the run's own duration."""
    input_tokens: int | None = None
    """Estimated: the run's tokens, by the share of text that went into the lost turns (of turns, without text)."""
    output_tokens: int | None = None
    money: float | None = None
    """In the currency of the prices."""
    unknown: Mapping[str, str] = field(default_factory=dict[str, str])
    """Field -> why it is None."""


def lost_steps(trajectory: Trajectory, score: PathScore | None = None) -> tuple[int, ...]:
    """Return the steps that brought nothing, ascending.

    With an evaluated score those that the gold path has no place for; without one the repeated ones: in a loop, again
    with the same arguments, or tried before the try that counts.
    """
    if score is not None and score.value is not None:
        return tuple(
            sorted({line.run for line in score.alignment.lines if line.kind == "extra" and line.run is not None})
        )
    found = {at for loop in find_loops(trajectory) for at in loop.again}
    found |= {at for at, _ in repeats(trajectory)}
    found |= {at for chain in retries(trajectory) for at in chain[:-1]}
    return tuple(sorted(found))


def find_losses(trajectory: Trajectory, score: PathScore | None = None, *, prices: Prices | None = None) -> Losses:
    """Return what the lost steps of a run cost; all zero where there are none.

    Args:
        trajectory: the run; durations come from its steps and model turns, tokens from its usage.
        score: of the run, whose alignment says which steps were extra.
        prices: of the run's model; left out, money is not known.
    """
    steps = lost_steps(trajectory, score)
    if not steps:
        return _nothing(prices)
    turns = [event for event in trajectory.events if event.kind == "model"]
    lost_turns = _lost_turns(trajectory, set(steps)) if turns else []
    unknown: dict[str, str] = {}
    seconds = _seconds(trajectory, steps, lost_turns, unknown)
    inputs = _tokens("input_tokens", trajectory.usage.input_tokens, turns, lost_turns, unknown)
    outputs = _tokens("output_tokens", trajectory.usage.output_tokens, turns, lost_turns, unknown)
    whole = trajectory.duration_seconds
    return Losses(
        steps=steps,
        seconds=seconds,
        share_of_time=min(1.0, seconds / whole) if seconds is not None and whole else None,
        input_tokens=inputs,
        output_tokens=outputs,
        money=_money(inputs, outputs, prices, unknown),
        unknown=unknown,
    )


def _nothing(prices: Prices | None) -> Losses:
    money, unknown = (0.0, dict[str, str]()) if prices is not None else (None, {"money": "no prices are given"})
    return Losses(seconds=0.0, share_of_time=0.0, input_tokens=0, output_tokens=0, money=money, unknown=unknown)


# --- which turns ------------------------------------------------------------------------------------------------------


def _lost_turns(trajectory: Trajectory, lost: Collection[int]) -> list[Event]:
    """Return the model turns after which only lost steps came, until the next turn."""
    found: list[Event] = []
    turn: Event | None = None
    after: list[int] = []
    for event in trajectory.events:
        if event.kind == "model":
            found += _if_all_lost(turn, after, lost)
            turn, after = event, []
        elif event.kind == "tool" and event.step is not None:
            after.append(event.step)
    return found + _if_all_lost(turn, after, lost)


def _if_all_lost(turn: Event | None, after: Sequence[int], lost: Collection[int]) -> list[Event]:
    # A turn that asked for nothing gave the answer.
    return [turn] if turn is not None and after and all(step in lost for step in after) else []


# --- time -------------------------------------------------------------------------------------------------------------


def _seconds(
    trajectory: Trajectory, steps: Collection[int], lost_turns: Collection[Event], unknown: dict[str, str]
) -> float | None:
    """Return the time in which nothing but lost steps and turns ran."""
    lost = [span for at in steps if (span := _span(trajectory.steps[at])) is not None]
    if len(lost) < len(steps):
        unknown["seconds"] = f"{len(steps) - len(lost)} of {len(steps)} lost steps have no times"
        return None
    lost += [span for turn in lost_turns if (span := _span(turn)) is not None]
    given = {id(turn) for turn in lost_turns}
    useful = [span for at, call in enumerate(trajectory.steps) if at not in steps and (span := _span(call)) is not None]
    turns = [event for event in trajectory.events if event.kind == "model" and id(event) not in given]
    useful += [span for turn in turns if (span := _span(turn)) is not None]
    return (_length(useful + lost) - _length(useful)) / _NANOS


def _span(timed: ToolCall | Event) -> _Span | None:
    if timed.start_unix_nano is None or timed.end_unix_nano is None:
        return None
    return timed.start_unix_nano, max(timed.start_unix_nano, timed.end_unix_nano)


def _length(spans: Iterable[_Span]) -> int:
    return sum(end - start for start, end in _united(spans))


def _united(spans: Iterable[_Span]) -> Iterator[_Span]:
    """Yield the spans with those that overlap made one."""
    current: _Span | None = None
    for start, end in sorted(spans):
        if current is not None and start <= current[1]:
            current = (current[0], max(current[1], end))
            continue
        if current is not None:
            yield current
        current = (start, end)
    if current is not None:
        yield current


# --- tokens and money -------------------------------------------------------------------------------------------------


def _tokens(
    name: str, whole: int | None, turns: Sequence[Event], lost: Sequence[Event], unknown: dict[str, str]
) -> int | None:
    if whole is None:
        unknown[name] = "the spans tell no tokens"
        return None
    if not turns:
        unknown[name] = "no model turn was recorded"
        return None
    sizes = {id(turn): _size(turn, name) for turn in turns}
    total = sum(sizes.values())
    if 0 in sizes.values() or not total:
        return round(whole * len(lost) / len(turns))
    return round(whole * sum(sizes[id(turn)] for turn in lost) / total)


def _size(turn: Event, name: str) -> int:
    content = turn.input if name == "input_tokens" else turn.output
    return 0 if content is None else len(content if isinstance(content, str) else str(content))


def _money(inputs: int | None, outputs: int | None, prices: Prices | None, unknown: dict[str, str]) -> float | None:
    if prices is None:
        unknown["money"] = "no prices are given"
        return None
    if inputs is None or outputs is None:
        unknown["money"] = unknown.get("input_tokens") or unknown.get("output_tokens") or "tokens are not known"
        return None
    return (inputs * prices.input_per_million + outputs * prices.output_per_million) / _MILLION
