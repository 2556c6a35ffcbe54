"""Do path scores tell runs that reached their goal from runs that did not?

For published runs with known outcomes: the area under the ROC curve (AUC) of the default score, of each metric and of
each peer's metric, with intervals that resample whole tasks, over pairs of runs of one task, beside what knowing only
the task or only the number of steps gives, and the default score's lead over the best peer on the same draws.

Usage: python benchmarks/outcomes.py [--all] [--folder FOLDER] [--resamples N]
Prints the tables and writes bench-output/outcomes.json; exit code 1 where a goal is missed.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any, Final

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from outcomes_data import DATA, Judged, airline, fireact, hotpotqa  # noqa: E402 - the folder of this file comes first
from outcomes_peers import peer_values  # noqa: E402 - the same

from agentpath_sdk.scoring.calibration_auc import (  # noqa: E402 - the same
    Area,
    Outcomes,
    Resamples,
    areas,
    difference,
    task_only,
    within_tasks,
)
from agentpath_sdk.scoring.score import METRICS  # noqa: E402 - the same
from agentpath_sdk.scoring.scorer import score_path  # noqa: E402 - the same

__all__ = ["Goal", "Line", "Report", "main", "report"]

SCORE: Final = "score"
FEWER_STEPS: Final = "fewer steps"
_OUTCOME: Final = frozenset({"goal_success", "answer_exact", "answer_f1"})
_SHOWN_PEERS: Final = 10
_AIRLINE: Final = "tau-bench airline, effects declared"
_HOTPOTQA: Final = "HotpotQA, ReAct, first trials; the tools read, and each call is charged"
_FIREACT: Final = "FireAct, runs of {} by gold from the others' successes"


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """One value and how it ranks the runs."""

    name: str
    kind: str
    """``score``, ``metric``, ``baseline`` or ``peer``."""
    area: Area
    within: float | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Goal:
    """What is to be reached, and whether it was."""

    words: str
    met: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Report:
    """Everything about one set of runs."""

    title: str
    runs: int
    tasks: int
    reached: int
    score_name: str
    lines: Sequence[Line]
    within_pairs: int
    task_only: float | None
    left_out: int = 0
    """Runs that could not be evaluated."""
    best_peer: str | None = None
    lead: Area | None = None
    """AUC of the score - AUC of the best peer."""
    goals: Sequence[Goal] = field(default=())

    def area_of(self, name: str) -> Area:
        """Return the area of the line ``name``."""
        return next(line.area for line in self.lines if line.name == name)


def report(title: str, runs: Sequence[Judged], *, peers: bool, resamples: int) -> Report:
    """Return the figures for ``runs``; runs whose score is not evaluated are left out, and counted."""
    scores = [score_path(run.trajectory, run.gold) for run in runs]
    kept = [at for at, score in enumerate(scores) if score.value is not None]
    used = [runs[at] for at in kept]
    values: dict[str, list[float]] = {SCORE: [scores[at].value or 0.0 for at in kept]}
    kinds = {SCORE: SCORE}
    for metric in METRICS:
        if metric not in _OUTCOME and all(metric in scores[at].metrics for at in kept):
            values[metric] = [scores[at].metrics[metric] for at in kept]
            kinds[metric] = "metric"
    values[FEWER_STEPS] = [-float(len(run.actual)) for run in used]
    kinds[FEWER_STEPS] = "baseline"
    if peers:
        of_peers = peer_values(used)
        values |= of_peers
        kinds |= dict.fromkeys(of_peers, "peer")
    outcomes = Outcomes(success=[run.success for run in used], task=[run.task for run in used])
    draws = Resamples(outcomes, count=resamples)
    found = areas(values, draws)
    best = max(
        (name for name in values if kinds[name] == "peer"), key=lambda name: found[name].value or 0, default=None
    )
    return Report(
        title=title,
        runs=len(used),
        tasks=len(outcomes.tasks),
        reached=sum(outcomes.success),
        score_name=scores[kept[0]].name,
        lines=[
            Line(name=name, kind=kinds[name], area=found[name], within=within_tasks(series, outcomes)[0])
            for name, series in values.items()
        ],
        within_pairs=within_tasks(values[SCORE], outcomes)[1],
        task_only=task_only(outcomes),
        left_out=len(runs) - len(used),
        best_peer=best,
        lead=None if best is None else difference(values[SCORE], values[best], draws),
    )


# --- goals ------------------------------------------------------------------------------------------------------------


def _airline_goals(found: Report) -> Iterator[Goal]:
    yield _at_least(found.area_of(SCORE).value, 0.95, "AUC of the score")
    lead = found.lead
    if lead is not None and lead.low is not None:
        yield Goal(words=f"leads every peer; the interval of the lead begins at {lead.low:+.4f}", met=lead.low > 0)


def _hotpotqa_goals(found: Report) -> Iterator[Goal]:
    yield _at_least(found.area_of(SCORE).value, 0.77, "AUC of the score")
    if found.lead is not None:
        yield _at_least(found.lead.value, 0.0, "lead over the best peer")


def _at_least(value: float | None, least: float, words: str) -> Goal:
    shown = "unknown" if value is None else f"{value:.3f}"
    return Goal(words=f"{words} {shown}, wanted at least {least:g}", met=value is not None and value >= least)


# --- output -----------------------------------------------------------------------------------------------------------


def _print(found: Report, goals: Sequence[Goal], *, everything: bool) -> None:
    failed = found.runs - found.reached
    print(f"\n## {found.title}\n")
    left_out = f"; {found.left_out} not evaluated" if found.left_out else ""
    print(f"{found.runs} runs of {found.tasks} tasks: {found.reached} reached the goal, {failed} did not{left_out}.\n")
    print(f"| value | AUC | 95 %, by task | within tasks ({found.within_pairs} pairs) |\n|---|---|---|---|")
    for line in _chosen(found, everything=everything):
        name = f"**score** ({found.score_name})" if line.name == SCORE else f"`{line.name}`"
        print(f"| {name} | {_number(line.area.value)} | {_interval(line.area)} | {_number(line.within)} |")
    print(f"| knowing only the task | {_number(found.task_only)} | | |")
    if found.lead is not None:
        print(f"\nLead over the best peer, `{found.best_peer}`: {_number(found.lead.value)} ({_interval(found.lead)}).")
    for goal in goals:
        print(f"\n{_verdict(goal)}")


def _chosen(found: Report, *, everything: bool) -> Iterator[Line]:
    yield from (line for line in found.lines if line.kind != "peer")
    peers = sorted((line for line in found.lines if line.kind == "peer"), key=lambda line: -(line.area.value or 0))
    yield from peers if everything else peers[:_SHOWN_PEERS]


def _verdict(goal: Goal) -> str:
    return f"{'met' if goal.met else 'MISSED'}: {goal.words}"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def _interval(area: Area) -> str:
    return "" if area.low is None or area.high is None else f"{area.low:.3f} to {area.high:.3f}"


def _mean_goal(rotations: Mapping[str, Report]) -> Goal:
    mean = fmean(found.area_of(SCORE).value or 0.0 for found in rotations.values())
    fewer = fmean(found.area_of(FEWER_STEPS).value or 0.0 for found in rotations.values())
    words = (
        f"mean AUC of the score over {len(rotations)} rotations {mean:.3f} (fewer steps {fewer:.3f}), wanted above 0.65"
    )
    return Goal(words=words, met=mean > 0.65)


def main(arguments: Sequence[str]) -> int:
    """Print the tables; return 1 where a goal is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--all", action="store_true", help="show all peers' metrics, not the ten best")
    parser.add_argument("--folder", type=Path, default=DATA, help="where the runs are; more of them may lie elsewhere")
    parser.add_argument("--resamples", type=int, default=2_000, help="draws of tasks for the intervals")
    given = parser.parse_args(arguments)
    reports: dict[str, Report] = {}
    goals: dict[str, list[Goal]] = {}
    for name, title, runs, checks in (
        ("airline", _AIRLINE, airline(given.folder), _airline_goals),
        ("hotpotqa", _HOTPOTQA, hotpotqa(given.folder), _hotpotqa_goals),
    ):
        reports[name] = report(title, runs, peers=True, resamples=given.resamples)
        goals[name] = list(checks(reports[name]))
        _print(reports[name], goals[name], everything=given.all)
    rotations = {
        system: report(_FIREACT.format(system), runs, peers=False, resamples=given.resamples)
        for system, runs in fireact(given.folder).items()
    }
    for system, found in rotations.items():
        _print(found, (), everything=given.all)
        reports[f"fireact {system}"] = found
    goals["fireact"] = [_mean_goal(rotations)]
    print(f"\n{_verdict(goals['fireact'][0])}")
    _write(reports, goals)
    return 0 if all(goal.met for some in goals.values() for goal in some) else 1


def _write(reports: Mapping[str, Report], goals: Mapping[str, Sequence[Goal]]) -> None:
    out = HERE.parent / "bench-output" / "outcomes.json"
    out.parent.mkdir(exist_ok=True)
    content: dict[str, Any] = {name: asdict(found) for name, found in reports.items()}
    content["goals"] = {name: [asdict(goal) for goal in some] for name, some in goals.items()}
    out.write_text(json.dumps(content, indent=2), encoding="utf-8")
    print(f"\nalso in {out.relative_to(HERE.parent)}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
