"""The benchmark on published runs: answers stay out of the path, and the figures are what the pairs say."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture(scope="module")
def outcomes() -> ModuleType:
    sys.path.insert(0, str(BENCHMARKS))
    return importlib.import_module("outcomes")


@pytest.fixture(scope="module")
def data(outcomes: ModuleType) -> ModuleType:
    return importlib.import_module("outcomes_data")


def test_no_run_and_no_gold_holds_an_answer(data: ModuleType) -> None:
    runs = [*data.hotpotqa(), *(run for some in data.fireact().values() for run in some)]
    assert len(runs) > 300
    for run in runs:
        assert run.trajectory.final_answer is None
        assert all(not step["arguments"] for step in (*run.actual, *run.reference) if step["tool"] == "finish")
        assert all(not step.arguments for step in run.trajectory.steps if step.tool == "finish")


def test_gold_is_mined_from_other_systems_than_the_one_it_scores(data: ModuleType) -> None:
    for system, runs in data.fireact().items():
        for run in runs:
            assert system not in (run.gold.provenance.reference or "")
            assert run.gold.provenance.reference


@pytest.mark.slow
@pytest.mark.xfail(reason="the goals on HotpotQA and FireAct are not reached yet; the benchmark prints by how much")
def test_the_goals_are_reached(outcomes: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    assert outcomes.main(["--resamples", "500"]) == 0
    assert "MISSED" not in capsys.readouterr().out
