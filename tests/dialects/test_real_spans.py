"""Spans of published packages give the calls that truly happened; what spans lack is listed in ``exceptions``."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Sequence
from fnmatch import fnmatch
from pathlib import Path

import pytest

from agentpath_sdk.trajectories.files import read_trajectories
from agentpath_sdk.trajectories.model import Trajectory
from agentpath_sdk.trajectories.otlp_write import to_otlp_json
from agentpath_sdk.trajectories.span_record import SpanRecord
from agentpath_sdk.trajectories.trajectory_json import trajectory_from_json, trajectory_to_json

from .exceptions import EXCEPTIONS, holding, lacking
from .real_cases import CASES, PAIRS, TRUTH, judged, pair_of, path_of, spans_of, steps_of, trajectories_of, verdict_of


@pytest.mark.parametrize("case", holding("steps"))
def test_every_call_is_found_once_in_true_order(case: str) -> None:
    assert [step.tool for step in steps_of(case, trajectories_of(case))] == [s["tool"] for s in TRUTH[case]["steps"]]


@pytest.mark.parametrize("case", holding("arguments"))
def test_arguments_are_the_true_ones(case: str) -> None:
    assert verdict_of(case).arguments == len(TRUTH[case]["steps"])


@pytest.mark.parametrize("case", [case for case in holding("steps") if case not in holding("arguments")])
def test_arguments_that_spans_lack_are_said_to_be_missing(case: str) -> None:
    """A call without arguments may be recognised all the same: that a model asked with none is content too."""
    for step in steps_of(case, trajectories_of(case)):
        assert step.arguments_state in ("not_captured", "redacted") or step.arguments == {}


@pytest.mark.parametrize("case", holding("errors"))
def test_exactly_the_failed_calls_have_an_error(case: str) -> None:
    assert verdict_of(case).errors


@pytest.mark.parametrize("case", holding("agents"))
def test_each_call_knows_its_agent(case: str) -> None:
    assert [s.agent for s in steps_of(case, trajectories_of(case))] == [s["agent"] for s in TRUTH[case]["steps"]]


@pytest.mark.parametrize("case", holding("query"))
def test_the_query_is_that_of_the_first_run(case: str) -> None:
    assert trajectories_of(case)[0].query == TRUTH[case]["query"]


@pytest.mark.parametrize("case", holding("answer"))
def test_the_answer_is_found(case: str) -> None:
    assert verdict_of(case).answer


@pytest.mark.parametrize("case", holding("conversation"))
def test_the_conversation_id_is_found(case: str) -> None:
    assert verdict_of(case).conversation


@pytest.mark.parametrize("case", [case for case in holding("steps") if "crash" in case])
def test_a_run_that_died_of_a_tool_error_stopped_with_an_error(case: str) -> None:
    assert [run.stop_reason for run in trajectories_of(case)] == ["error"]


@pytest.mark.parametrize("case", holding("handoffs"))
def test_calls_of_the_frameworks_own_tools_are_steps_of_their_own_kind(case: str) -> None:
    """A transfer, a delegation, an agent as a tool: one step each, never one of kind ``tool``."""
    assert verdict_of(case).handoffs


@pytest.mark.parametrize("pattern", sorted({pattern for pattern, _, _ in EXCEPTIONS}))
def test_no_exception_is_out_of_date(pattern: str) -> None:
    """Each exception still excuses something that is not found."""
    cases = [case for case in CASES if fnmatch(case, pattern)]
    facts = {fact for p, facts, _ in EXCEPTIONS if p == pattern for fact in facts}
    right = {"arguments": lambda c: verdict_of(c).arguments == verdict_of(c).count}
    for fact in facts:
        check = right.get(fact, lambda c, name=fact: getattr(verdict_of(c), name))
        assert not all(check(case) for case in cases), f"{fact} of {pattern} is found after all"


# --- the same, whatever order and however split ---------------------------------------------------------------------


def in_bytes(trajectories: Iterable[Trajectory]) -> bytes:
    return "\n".join(json.dumps(trajectory_to_json(t), ensure_ascii=False) for t in trajectories).encode()


def shuffled(spans: Sequence[SpanRecord], seed: int) -> list[SpanRecord]:
    copy = list(spans)
    random.Random(seed).shuffle(copy)
    return copy


def assert_same_in_any_order(case: str, orders: range) -> None:
    expected = in_bytes(trajectories_of(case))
    for seed in orders:
        assert in_bytes(read_trajectories(shuffled(spans_of(case), seed))) == expected


ONE_PER_PAIR = [next(case for case in CASES if pair_of(case) == pair) for pair in PAIRS]


@pytest.mark.parametrize("case", ONE_PER_PAIR)
def test_spans_in_random_order_give_the_same_bytes(case: str) -> None:
    assert_same_in_any_order(case, range(3))


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_spans_in_twenty_random_orders_give_the_same_bytes(case: str) -> None:
    assert_same_in_any_order(case, range(20))


@pytest.mark.parametrize("case", ONE_PER_PAIR)
def test_spans_split_over_several_exports_give_the_same_bytes(case: str, tmp_path: Path) -> None:
    """Which spans came in which file, and the order of the files, does not matter."""
    chance = random.Random(case)
    parts: list[list[SpanRecord]] = [[] for _ in range(4)]
    for record in shuffled(spans_of(case), 7):
        chance.choice(parts).append(record)
    for number, part in enumerate(parts):
        (tmp_path / f"{number}.json").write_text(json.dumps(to_otlp_json(part)), encoding="utf-8")
    assert in_bytes(read_trajectories(tmp_path)) == in_bytes(trajectories_of(case))


# --- the command ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", ONE_PER_PAIR)
def test_the_command_reads_the_same(case: str, capsys: pytest.CaptureFixture[str]) -> None:
    """``agentpath read FILE --json`` prints what the library reads."""
    pytest.importorskip("typer")
    from agentpath_sdk.cli.app import run

    assert run(["read", str(path_of(case)), "--json"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert judged(case, map(trajectory_from_json, lines)) == verdict_of(case)


def test_every_pair_is_held_to_the_truth_by_some_case() -> None:
    """The exceptions leave at least the steps of all but one pair."""
    assert {pair_of(case) for case in CASES} - {pair_of(case) for case in holding("steps")} == {"crewai__openllmetry"}
    assert lacking("crewai__openllmetry__single", "steps") is not None
