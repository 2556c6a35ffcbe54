"""Scoring of short runs against a floor: edit distance over the names and dict equality per position."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from harness import Row, median_seconds, ratio
from rapidfuzz.distance import Levenshtein

from agentpath_sdk.gold.matchers import Exact
from agentpath_sdk.gold.model import CallStep, GoldPath
from agentpath_sdk.scoring.scorer import score_path
from agentpath_sdk.trajectories.model import ToolCall, Trajectory

_TOOLS = ("search", "lookup", "calculator", "weather", "book", "refund", "email", "translate")
_CITIES = ("Paris", "Rome", "Oslo", "Lima", "Quito", "Kyiv", "Delhi", "Cairo")
_WORDS = ("average", "temperature", "of", "the", "red", "planet", "in", "winter", "at", "night", "cheap", "flight")
_STEPS = 6
_GOLDS = 50
_RUNS = 2_000

Pair = tuple[GoldPath, Trajectory]


def rows() -> list[Row]:
    """Return the ratios to the floor and the runs per second."""
    pairs = generated(_RUNS)
    plain = [([step.tool for step in gold.steps], [_expected(step) for step in gold.steps]) for gold, _ in pairs]
    runs = [run for _, run in pairs]

    def floor() -> None:
        for (names, arguments), run in zip(plain, runs, strict=True):
            floor_of(names, arguments, run)

    def ours() -> None:
        for gold, run in pairs:
            score_path(run, gold)

    def with_reasons() -> None:
        for gold, run in pairs[:200]:
            score_path(run, gold).to_json()

    return [
        Row(name="score a run, all metrics / floor", value=ratio(ours, floor), unit="x", goal=4.5, note=_NOTE),
        Row(name="score a run, all metrics", value=median_seconds(ours, calls=_RUNS) * 1e6, unit="us"),
        Row(name="floor", value=median_seconds(floor, calls=_RUNS) * 1e6, unit="us"),
        Row(name="score a run and render reasons", value=median_seconds(with_reasons, calls=200) * 1e6, unit="us"),
    ]


_NOTE = (
    "floor = rapidfuzz distance over names + dict equality per position; 6-step gold paths, 5-10 steps a run, no cache"
)


def floor_of(names: Sequence[str], arguments: Sequence[dict[str, Any]], run: Trajectory) -> tuple[int, int]:
    """Return the least anybody must do: edit distance of the names, and equal arguments by position."""
    distance = Levenshtein.distance(names, [step.tool for step in run.steps])
    return distance, sum(one == step.arguments for one, step in zip(arguments, run.steps, strict=False))


def generated(count: int, seed: int = 7) -> list[Pair]:
    """Return gold paths with runs: 40 % equal, 20 % with extra steps, 20 % wrong arguments, 20 % reordered."""
    source = random.Random(seed)
    golds = [_gold(source, number) for number in range(_GOLDS)]
    kinds = ["equal"] * 4 + ["extra"] * 2 + ["wrong"] * 2 + ["reordered"] * 2
    return [_pair(source, source.choice(golds), kinds[number % len(kinds)]) for number in range(count)]


def _gold(source: random.Random, number: int) -> GoldPath:
    steps = tuple(
        CallStep(tool=source.choice(_TOOLS), arguments={k: Exact(expected=v) for k, v in _arguments(source).items()})
        for _ in range(_STEPS)
    )
    return GoldPath(id=f"gold-{number}", steps=steps)


def _arguments(source: random.Random) -> dict[str, Any]:
    return {
        "query": " ".join(source.sample(_WORDS, 5)),
        "city": source.choice(_CITIES),
        "limit": source.randint(0, 20),
    }


def _expected(step: CallStep) -> dict[str, Any]:
    return {name: matcher.expected for name, matcher in (step.arguments or {}).items()}


def _pair(source: random.Random, gold: GoldPath, kind: str) -> Pair:
    # Copies, as arguments come out of decoded spans and are never the gold path's own objects.
    steps = [
        ToolCall(tool=step.tool, arguments={k: _copy(v) for k, v in _expected(step).items()}) for step in gold.steps
    ]
    if kind == "extra":
        for _ in range(source.choice((1, 1, 2, 4))):
            extra = ToolCall(tool=source.choice(_TOOLS), arguments=_arguments(source))
            steps.insert(source.randint(0, len(steps)), extra)
    elif kind == "wrong":
        for at in source.sample(range(len(steps)), source.choice((1, 1, 2))):
            steps[at] = replace(steps[at], arguments={**(steps[at].arguments or {}), **_wrong(source)})
    elif kind == "reordered":
        source.shuffle(steps)
        if source.random() < 0.25:
            steps.pop()
    return gold, Trajectory(steps=tuple(steps), stop_reason="finished", final_answer="done")


def _wrong(source: random.Random) -> dict[str, Any]:
    name = source.choice(("query", "city", "limit"))
    return {name: _arguments(source)[name]}


def _copy(value: Any) -> Any:
    return value[:1] + value[1:] if isinstance(value, str) else value


if __name__ == "__main__":
    for row in rows():
        print(f"{row.name:40} {row.value:8.2f} {row.unit}")
