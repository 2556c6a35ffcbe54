"""What makes `agentpath score` exit with 1: means below `--fail-under` or below a gold path's own thresholds."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from agentpath_sdk.cli.run import ScoredRun
from agentpath_sdk.errors import ConfigurationError

__all__ = ["Gate", "Tally", "missed", "parse_gates"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Gate:
    """The least mean a metric must have, over all runs or over the runs of one gold path."""

    metric: str
    least: float
    gold_path_id: str | None = None


def parse_gates(texts: Iterable[str], known: Collection[str]) -> list[Gate]:
    """Return the gates of `--fail-under METRIC=V` options.

    Raises:
        ConfigurationError: no `=`, an unknown metric, or a value outside 0..1.
    """
    return [_parse(text, known) for text in texts]


def _parse(text: str, known: Collection[str]) -> Gate:
    metric, equals, value = (part.strip() for part in text.partition("="))
    if not equals:
        raise ConfigurationError(f"--fail-under {text!r}: expected METRIC=V, for example tool_accuracy=0.8")
    if metric not in known:
        raise ConfigurationError(
            f"--fail-under {text!r}: unknown metric {metric!r}; known are {', '.join(sorted(known))}"
        )
    try:
        least = float(value)
    except ValueError:
        least = math.nan
    if not 0 <= least <= 1:
        raise ConfigurationError(f"--fail-under {text!r}: {value!r} is no number from 0 to 1")
    return Gate(metric=metric, least=least)


@dataclass(slots=True)
class Tally:
    """Running sums per gold path and metric: enough for every gate, however many runs there are."""

    runs: int = 0
    runs_of: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))
    gates: dict[tuple[str, str], Gate] = field(default_factory=dict[tuple[str, str], Gate])
    """Thresholds of the gold paths seen so far."""
    _sums: defaultdict[tuple[str | None, str], list[float]] = field(
        default_factory=lambda: defaultdict(lambda: [0.0, 0])
    )

    def add(self, run: ScoredRun) -> None:
        """Count ``run``."""
        self.runs += 1
        gold = run.gold_path
        if gold is not None:
            self.runs_of[gold.id] += 1
            for metric, least in gold.thresholds.items():
                self.gates[gold.id, metric] = Gate(metric=metric, least=least, gold_path_id=gold.id)
        for metric, value in metric_values(run).items():
            for scope in {None, gold.id if gold else None}:
                total = self._sums[scope, metric]
                total[0] += value
                total[1] += 1

    def mean(self, gate: Gate) -> tuple[float | None, int, int]:
        """Return the mean (None when nothing was evaluated), over how many runs, and of how many."""
        total, count = self._sums.get((gate.gold_path_id, gate.metric), (0.0, 0))
        of = self.runs if gate.gold_path_id is None else self.runs_of[gate.gold_path_id]
        return (total / count if count else None), int(count), of


def metric_values(run: ScoredRun) -> Mapping[str, float]:
    """Return a run's evaluated metrics, the one called ``score`` among them."""
    if run.score.value is None:
        return run.score.metrics
    return {**run.score.metrics, "score": run.score.value}


def missed(tally: Tally, gates: Iterable[Gate]) -> Iterator[str]:
    """Yield one line per gate that is not met; a metric nobody could evaluate does not meet it."""
    for gate in (*gates, *tally.gates.values()):
        mean, count, of = tally.mean(gate)
        where = f" on gold path {gate.gold_path_id!r}" if gate.gold_path_id is not None else ""
        if mean is None:
            yield f"{gate.metric}{where} was evaluated in none of {of} runs; wanted at least {gate.least:g}"
        # The sum of many floats is off in its last digits; 0.8 must not miss 0.8.
        elif mean < gate.least and not math.isclose(mean, gate.least, abs_tol=1e-9):
            yield f"{gate.metric}{where} = {mean:.3f} (mean of {count} of {of} runs) is below {gate.least:g}"
