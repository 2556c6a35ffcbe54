"""Published runs with known outcomes, and the gold paths they are scored against.

The answer that a run gives is no part of its path: the argument of ``finish`` is taken out of runs and gold alike, and
no run has a final answer, else a score could read the outcome off.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias

from agentpath_sdk.gold.authoring.promoting import Known, promote
from agentpath_sdk.gold.matchers import Exact
from agentpath_sdk.gold.model import AnyOrder, CallStep, Effect, Extra, GoldPath
from agentpath_sdk.gold.model import Step as GoldStep
from agentpath_sdk.gold.query_text import normalise
from agentpath_sdk.trajectories.model import Trajectory
from agentpath_sdk.trajectories.trajectory_json import record_to_trajectory

__all__ = ["Judged", "airline", "fireact", "hotpotqa"]

Record: TypeAlias = Mapping[str, Any]
Step: TypeAlias = Mapping[str, Any]

DATA: Final = Path(__file__).parent / "data"
_ANSWER: Final = "finish"

# The tools of tau-bench's airline; handing over to a person changes no data.
_AIRLINE_EFFECTS: Final[Mapping[str, Effect]] = {
    "book_reservation": "write",
    "calculate": "read",
    "cancel_reservation": "write",
    "get_reservation_details": "read",
    "get_user_details": "read",
    "list_all_airports": "read",
    "search_direct_flight": "read",
    "search_onestop_flight": "read",
    "send_certificate": "write",
    "think": "read",
    "transfer_to_human_agents": "read",
    "update_reservation_baggages": "write",
    "update_reservation_flights": "write",
    "update_reservation_passengers": "write",
}
# Where nothing but looking up is done, a look-up too many is all that can be wasted: it is charged.
_SEARCH_TOOLS: Final = ("search", "lookup", "click", "reflect")
_SEARCH_EFFECTS: Final[Mapping[str, Effect]] = dict.fromkeys(_SEARCH_TOOLS, "read")
_SEARCH_EXTRAS: Final[Mapping[str, Extra]] = dict.fromkeys(_SEARCH_TOOLS, "charged")


@dataclass(frozen=True, kw_only=True, slots=True)
class Judged:
    """One run, its gold path, and what became of it."""

    task: str
    success: bool
    trajectory: Trajectory
    gold: GoldPath
    reference: Sequence[Step]
    """The gold as a plain list of calls, for metrics that know no more; empty for mined gold."""
    actual: Sequence[Step]


def airline(folder: Path = DATA) -> list[Judged]:
    """Return tau-bench's airline runs, with what each tool does declared."""
    return [_airline_run(record) for record in _records(folder, "tau_airline_gpt4o")]


def hotpotqa(folder: Path = DATA) -> list[Judged]:
    """Return the first trials of the ReAct agent; its tools only read."""
    return [_hotpotqa_run(record) for record in _records(folder, "hotpotqa_react")]


def fireact(folder: Path = DATA) -> dict[str, list[Judged]]:
    """Return for each of three systems its runs on questions for which the others' successes give a gold path."""
    records = list(_records(folder, "hotpotqa_fireact"))
    systems = sorted({record["system"] for record in records})
    return {system: _rotation(records, system) for system in systems}


def _records(folder: Path, name: str) -> Iterator[Record]:
    with gzip.open(folder / f"{name}.jsonl.gz", "rt", encoding="utf-8") as file:
        yield from (json.loads(line) for line in file if line.strip())


def _airline_run(record: Record) -> Judged:
    actual = [{**step, "status": "error" if step["error"] else "ok"} for step in record["actual"]]
    return Judged(
        task=str(record["task_id"]),
        success=record["success"],
        trajectory=_trajectory(record, actual),
        gold=GoldPath(
            id=f"airline-{record['task_id']}",
            steps=tuple(map(_call, record["gold"])),
            effects=_AIRLINE_EFFECTS,
        ),
        reference=record["gold"],
        actual=actual,
    )


def _hotpotqa_run(record: Record) -> Judged:
    reference, actual = _without_answers(record["gold"]), _without_answers(record["actual"])
    return Judged(
        task=str(record["task_id"]),
        success=record["success"],
        trajectory=_trajectory(record, actual),
        gold=GoldPath(
            id=f"hotpotqa-{record['task_id']}",
            steps=_hotpotqa_steps(reference, in_order=record["gold_order"] == "in_order"),
            effects=_SEARCH_EFFECTS,
            extras=_SEARCH_EXTRAS,
        ),
        reference=reference,
        actual=actual,
    )


def _hotpotqa_steps(reference: Iterable[Step], *, in_order: bool) -> tuple[GoldStep, ...]:
    searches = tuple(_call(step) for step in reference if step["tool"] != _ANSWER)
    answer = CallStep(tool=_ANSWER)
    return (*searches, answer) if in_order or len(searches) < 2 else (AnyOrder(steps=searches), answer)


def _rotation(records: Sequence[Record], held_out: str) -> list[Judged]:
    others = [
        _trajectory(record, _without_answers(record["actual"])) for record in records if record["system"] != held_out
    ]
    about = Known(effects=_SEARCH_EFFECTS, extras=_SEARCH_EXTRAS)
    mined = promote(others, known=lambda _: about, status="approved")
    golds = {normalise(query): one.path for one in mined.paths for query in one.path.queries}
    return [
        Judged(
            task=str(record["task_id"]),
            success=record["success"],
            trajectory=_trajectory(record, actual),
            gold=gold,
            reference=(),
            actual=actual,
        )
        for record in records
        if record["system"] == held_out and (gold := golds.get(normalise(record["query"]))) is not None
        for actual in (_without_answers(record["actual"]),)
    ]


def _without_answer(record: Record) -> Trajectory:
    return _trajectory(record, _without_answers(record["actual"]))


def _trajectory(record: Record, actual: Sequence[Step]) -> Trajectory:
    kept = {"query": record["query"], "actual": actual, "success": record["success"], "id": record["id"]}
    return record_to_trajectory(kept)


def _without_answers(steps: Iterable[Step]) -> list[Step]:
    return [{**step, "arguments": {}} if step["tool"] == _ANSWER else step for step in steps]


def _call(step: Step) -> CallStep:
    return CallStep(
        tool=step["tool"],
        arguments={name: Exact(expected=value) for name, value in step["arguments"].items()},
    )
