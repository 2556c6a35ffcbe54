"""`agentpath calibrate`: fit the score's weights and the good-path threshold to runs with known outcomes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from rich.table import Table

from agentpath_sdk.cli.console import note, out, plain, write_json
from agentpath_sdk.cli.gold import report_problems
from agentpath_sdk.cli.golds import Golds
from agentpath_sdk.cli.inputs import Inputs
from agentpath_sdk.cli.run import ScoredRun
from agentpath_sdk.errors import ConfigurationError, FileFormatError
from agentpath_sdk.gold.query_text import normalise
from agentpath_sdk.scoring.calibration import Calibration, Example, calibrate
from agentpath_sdk.scoring.calibration_auc import Area
from agentpath_sdk.scoring.calibration_file import write_calibration
from agentpath_sdk.scoring.calibration_parts import parts_of
from agentpath_sdk.settings import ScoringSettings
from agentpath_sdk.trajectories.files import ReadItem

__all__ = ["calibrate_files"]

_NO_TASK: Final = "no task: neither the record, nor a gold path, nor a query names one"


def calibrate_files(
    files: Sequence[str], *, gold: Sequence[Path], output: Path, task_key: str, force: bool, as_json: bool
) -> int:
    """Write the settings file fitted to the runs of ``files``; return 2 when a file is bad, else 0.

    Raises:
        ConfigurationError: too few tasks or outcomes and not forced; the file cannot be written.
    """
    golds = Golds.load(gold)
    report_problems(golds.read)
    inputs = Inputs(files)
    gathered = _Gathered()
    for item in inputs:
        try:
            gathered.add(golds.score(item, "aligned"), _task_of_record(item, task_key), golds.settings)
        except FileFormatError as error:
            inputs.report(error)
    for reason, count in gathered.skipped.most_common():
        note(f"{count} runs left out: {plain(reason)}", style="dim")
    name, examples = gathered.chosen()
    defaults, candidates = parts_of(name, golds.settings)
    result = calibrate(
        examples,
        defaults=defaults,
        good_path=golds.settings.good_path,
        name=name,
        candidates=candidates,
        force=force,
    )
    _write(result, output)
    if as_json:
        write_json(_as_json(result, output))
    else:
        _print(result, output)
    return 2 if inputs.bad or golds.read.problems else 0


@dataclass(slots=True)
class _Gathered:
    """Examples by the score they have, and why other runs are none."""

    examples: dict[str, list[Example]] = field(default_factory=dict[str, list[Example]])
    skipped: Counter[str] = field(default_factory=Counter[str])

    def add(self, run: ScoredRun, task: str | None, settings: ScoringSettings) -> None:
        task = task or _task_of_gold(run) or normalise(run.trajectory.query or "") or None
        why = _unusable(run, task, settings)
        if why is not None or task is None:
            self.skipped[why or _NO_TASK] += 1
            return
        found = Example(task=task, metrics=dict(run.score.metrics), success=run.score.goal.success is True)
        self.examples.setdefault(run.score.name, []).append(found)

    def chosen(self) -> tuple[str, list[Example]]:
        """Return the score that most runs have, and these runs."""
        if not self.examples:
            raise ConfigurationError(
                "no run has both a score and a known outcome; records say it with `success`, applications with "
                "record_outcome, gold paths with an `answer`"
            )
        name = max(self.examples, key=lambda one: len(self.examples[one]))
        for other, others in self.examples.items():
            if other != name:
                note(f"{len(others)} runs left out: their score is {other}, not {name}", style="dim")
        return name, self.examples[name]


def _unusable(run: ScoredRun, task: str | None, settings: ScoringSettings) -> str | None:
    if run.score.value is None:
        return run.score.not_evaluated or "not evaluated"
    if run.score.goal.success is None:
        return "nobody knows whether the goal was reached"
    if task is None:
        return _NO_TASK
    lacking = [name for name in parts_of(run.score.name, settings)[1] if name not in run.score.metrics]
    return f"{lacking[0]} is not evaluated" if lacking else None


def _task_of_record(item: ReadItem, key: str) -> str | None:
    found = (item.record or {}).get(key, item.trajectory.attributes.get(key))
    return None if found is None else str(found)


def _task_of_gold(run: ScoredRun) -> str | None:
    """Return the gold path's id where it stands for one task.

    A path for all of an agent's runs does not, and a record's own is named after the record: its query tells.
    """
    return None if run.gold_path is None or run.gold_match in ("agent", "record") else run.gold_path.id


def _write(result: Calibration, output: Path) -> None:
    try:
        write_calibration(result, output)
    except OSError as error:
        raise ConfigurationError(f"{output}: cannot be written: {error.strerror or error}") from None


def _as_json(result: Calibration, output: Path) -> dict[str, Any]:
    return {
        "score": result.name,
        "weights": dict(result.fitted.weights),
        "good_path": result.fitted.good_path,
        "kept_defaults": result.kept_defaults,
        "runs": result.runs,
        "tasks": result.tasks,
        "reached": result.reached,
        "trust": result.trust,
        "auc": {
            "default": _area_json(result.default),
            "fitted": _area_json(result.apparent),
            "optimism": result.optimism,
            "corrected": result.corrected,
            "held_out": _area_json(result.held_out),
            "gain": _area_json(result.gain),
            "within_tasks": result.within,
            "within_pairs": result.within_pairs,
            "task_only": result.task_only,
            "metrics": {name: _area_json(one) for name, one in result.metrics.items()},
        },
        "reached_at_threshold": result.reached_at_threshold,
        "failed_below_threshold": result.failed_below_threshold,
        "forced": result.forced,
        "file": str(output),
    }


def _area_json(one: Area) -> dict[str, float | None]:
    return {"value": one.value, "low": one.low, "high": one.high}


def _print(result: Calibration, output: Path) -> None:
    console = out()
    failed = result.runs - result.reached
    console.print(f"{result.runs} runs of {result.tasks} tasks: {result.reached} reached their goal, {failed} did not")
    if result.forced is not None:
        note(f"forced: {result.forced}", style="yellow")
    console.print(_areas_table(result))
    console.print(_weights_table(result.fitted.weights))
    if result.kept_defaults:
        console.print("Fitted weights rank no better than the defaults on tasks held out: the defaults are kept.")
    console.print(
        f"good_path {result.fitted.good_path:g}: {result.reached_at_threshold:.0%} of the runs that reached their goal "
        f"are at or above it, {result.failed_below_threshold:.0%} of the others below (on these runs)"
    )
    console.print("A calibrated score ranks runs; it is no probability.", style="dim")
    console.print(f"written to {plain(output)}")


def _areas_table(result: Calibration) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in (f"{result.name}, area under the ROC curve", "AUC", "95 % by task"):
        table.add_column(heading)
    for words, one in _rows(result):
        interval = "" if one.low is None or one.high is None else f"{one.low:.3f} to {one.high:.3f}"
        table.add_row(words, "-" if one.value is None else f"{one.value:.3f}", interval)
    return table


def _rows(result: Calibration) -> Iterator[tuple[str, Area]]:
    yield "default weights", result.default
    yield "fitted weights, on the runs they were fitted to", result.apparent
    yield "fitted weights, corrected for optimism", Area(value=result.corrected)
    yield "fitted weights, on tasks held out", result.held_out
    yield "  more than the defaults by", result.gain
    yield f"within tasks ({result.within_pairs} pairs of runs)", Area(value=result.within)
    yield "knowing only the task", Area(value=result.task_only)
    for name, one in sorted(result.metrics.items(), key=lambda pair: -(pair[1].value or 0.0)):
        yield f"{name} alone", one


def _weights_table(weights: Mapping[str, float]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("weight")
    table.add_column("", justify="right")
    for name, weight in sorted(weights.items(), key=lambda pair: -pair[1]):
        table.add_row(name, f"{weight:.4f}")
    return table
