"""Foreign spans, as they arrive one by one, end in the trajectories that reading them at once gives."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable

import pytest

from agentpath_sdk.settings import OnlineSettings
from agentpath_sdk.trajectories.assembler import Assembler
from agentpath_sdk.trajectories.model import Trajectory
from agentpath_sdk.trajectories.span_record import SpanRecord
from agentpath_sdk.trajectories.trajectory_json import trajectory_to_json

from .real_cases import CASES, PAIRS, TRUTH, pair_of, spans_of, trajectories_of

# A run in one trace, with a span of its own: what is torn over traces is put together when it is read from files.
WHOLE = [
    next(case for case in CASES if pair_of(case) == pair and not case.endswith(("threads", "llmonly")))
    for pair in PAIRS
]
WHOLE = [case for case in WHOLE if TRUTH[case]["traces"] == 1]


def plain(trajectory: Trajectory) -> str:
    line = trajectory_to_json(trajectory)
    return json.dumps({key: value for key, value in line.items() if key not in ("revision", "late")}, sort_keys=True)


def latest(spans: Iterable[SpanRecord], seed: int) -> dict[str, str]:
    """Return the last revision of each run after exports of random size, with quiet times in between."""
    now, chance = 0.0, random.Random(seed)
    assembler = Assembler(OnlineSettings(quiet_seconds=5.0), lambda: now, count=lambda _name, _amount: None)
    found: dict[str, str] = {}
    waiting = list(spans)
    chance.shuffle(waiting)
    while waiting:
        for _ in range(chance.randint(1, 8)):
            if waiting:
                assembler.add(waiting.pop())
        now += chance.choice((0.1, 6.0))
        found |= {run.trajectory.span_id or "": plain(run.trajectory) for run in assembler.due()}
    now += 6.0
    return found | {run.trajectory.span_id or "": plain(run.trajectory) for run in assembler.due()}


@pytest.mark.parametrize("case", WHOLE)
@pytest.mark.parametrize("seed", range(2))
def test_the_last_revision_is_the_trajectory_that_reading_gives(case: str, seed: int) -> None:
    found = latest(spans_of(case), seed)
    for trajectory in trajectories_of(case):
        assert found[trajectory.span_id or ""] == plain(trajectory)
