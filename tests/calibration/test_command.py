"""`agentpath calibrate`: fits, writes a settings file, refuses too little, says what it left out."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from agentpath_sdk.scoring.calibration_file import read_calibration

Record: TypeAlias = dict[str, Any]


@dataclass(frozen=True)
class Outcome:
    """What the command did."""

    code: int
    out: str
    err: str


@pytest.fixture
def calibrate(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Callable[..., Outcome]:
    """Run ``agentpath calibrate`` on records, writing to ``c.yaml``."""
    pytest.importorskip("typer", reason="extra cli")
    pytest.importorskip("rich", reason="extra cli")
    monkeypatch.delenv("AGENTPATH_GOLD", raising=False)
    from agentpath_sdk.cli.app import run

    def command(records: Iterable[Record], *options: str) -> Outcome:
        file = tmp_path / "runs.jsonl"
        file.write_text("".join(f"{json.dumps(record)}\n" for record in records), encoding="utf-8")
        code = run(["calibrate", str(file), "--output", str(tmp_path / "c.yaml"), *options])
        out, err = capfd.readouterr()
        assert "Traceback" not in out + err
        return Outcome(code, out, err)

    return command


def records(tasks: int, *, runs_each: int = 2) -> list[Record]:
    """Return runs whose arguments tell their outcome, most of the time, and whose tools never do."""
    generator = random.Random(2)
    found: list[Record] = []
    for task in range(tasks):
        gold = [{"tool": tool, "arguments": {"q": f"{tool} {task}"}} for tool in ("search", "open", "read")]
        for trial in range(runs_each):
            success = generator.random() < 0.5
            right = generator.random() < (0.85 if success else 0.15)
            actual = [dict(step) for step in gold]
            if not right:
                actual[generator.randrange(3)]["arguments"] = {"q": "something else"}
            if generator.random() < 0.5:
                actual.append({"tool": "search", "arguments": {"q": "more"}})
            found.append(
                {
                    "id": f"{task}-{trial}",
                    "task_id": task,
                    "query": f"question {task}",
                    "gold_trajectory": gold,
                    "agent_trajectory": actual,
                    "success": success,
                }
            )
    return found


def test_it_writes_a_settings_file_and_says_how_good_it_is(calibrate: Callable[..., Outcome], tmp_path: Path) -> None:
    outcome = calibrate(records(60))
    assert outcome.code == 0
    assert "120 runs of 60 tasks" in outcome.out
    for words in ("corrected for optimism", "on tasks held out", "knowing only the task", "it is no probability"):
        assert words in outcome.out
    found = read_calibration(tmp_path / "c.yaml")
    assert found.weights is not None
    assert found.good_path is not None
    by_arguments = sum(found.weights.get(name, 0) for name in ("argument_accuracy", "argument_similarity", "recall"))
    assert by_arguments > 0.3


def test_as_json_it_is_one_object(calibrate: Callable[..., Outcome], tmp_path: Path) -> None:
    line = json.loads(calibrate(records(60), "--json").out)
    assert line["score"] == "composite"
    assert line["file"] == str(tmp_path / "c.yaml")
    assert line["auc"]["held_out"]["low"] < line["auc"]["held_out"]["value"] < line["auc"]["held_out"]["high"]
    assert line["weights"] == read_calibration(tmp_path / "c.yaml").weights


def test_too_few_tasks_are_refused_in_one_line_and_nothing_is_written(
    calibrate: Callable[..., Outcome], tmp_path: Path
) -> None:
    outcome = calibrate(records(49))
    assert outcome.code == 2
    assert outcome.err.splitlines()[-1].startswith("agentpath: 49 tasks with known outcomes; calibration wants 50")
    assert not (tmp_path / "c.yaml").exists()


def test_forced_it_fits_to_few_and_says_so(calibrate: Callable[..., Outcome], tmp_path: Path) -> None:
    outcome = calibrate(records(30), "--force")
    assert outcome.code == 0
    assert "forced: 30 tasks" in outcome.err
    assert "forced: 30 tasks" in (tmp_path / "c.yaml").read_text(encoding="utf-8")


def test_runs_of_unknown_outcome_or_without_gold_are_left_out_and_counted(
    calibrate: Callable[..., Outcome],
) -> None:
    given = records(62)
    unknown = [{key: value for key, value in record.items() if key != "success"} for record in given[:2]]
    bare = [{key: value for key, value in record.items() if key != "gold_trajectory"} for record in given[2:4]]
    outcome = calibrate([*unknown, *bare, *given[4:]])
    assert outcome.code == 0
    assert "2 runs left out: nobody knows whether the goal was reached" in outcome.err
    assert "2 runs left out: no gold path" in outcome.err
    assert "120 runs of 60 tasks" in outcome.out


def test_runs_of_one_gold_path_are_one_task_where_nothing_else_is_said(calibrate: Callable[..., Outcome]) -> None:
    given = [{key: value for key, value in record.items() if key != "task_id"} for record in records(60)]
    assert "120 runs of 60 tasks" in calibrate(given).out


def test_another_key_may_name_the_task(calibrate: Callable[..., Outcome]) -> None:
    given = [record | {"group": record["task_id"] % 7} for record in records(60)]
    outcome = calibrate(given, "--task", "group")
    assert outcome.code == 2
    assert "7 tasks with known outcomes" in outcome.err


def test_without_any_usable_run_it_says_where_outcomes_come_from(calibrate: Callable[..., Outcome]) -> None:
    outcome = calibrate([{"query": "q", "agent_trajectory": [{"tool": "a"}]}])
    assert outcome.code == 2
    assert "no run has both a score and a known outcome" in outcome.err


def test_a_folder_that_is_not_there_is_said(calibrate: Callable[..., Outcome], tmp_path: Path) -> None:
    outcome = calibrate(records(60), "--output", str(tmp_path / "none" / "c.yaml"))
    assert outcome.code == 2
    assert "cannot be written: No such file or directory" in outcome.err
