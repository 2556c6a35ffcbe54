"""What many scores say together: means with intervals, labels, the most frequent first divergence, hints."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import NormalDist, fmean, stdev
from typing import Final, TypeAlias

from agentpath_sdk.scoring.score import METRICS, Label, PathScore

__all__ = ["Frequent", "Hint", "MetricSummary", "Share", "Summary", "summarise"]

Interval: TypeAlias = tuple[float, float]

_Z: Final = NormalDist().inv_cdf(0.975)
_SHARES: Final = frozenset({"goal_success", "answer_exact"})


@dataclass(frozen=True, kw_only=True, slots=True)
class MetricSummary:
    """The mean of one metric over the scores that have it, with a 95 % interval within 0..1."""

    mean: float
    n: int
    low: float
    high: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Share:
    """How many of the evaluated scores have something, and the share with its 95 % interval (Wilson)."""

    count: int
    share: float
    low: float
    high: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Frequent:
    """Something that occurs in several runs, and one example in words."""

    kind: str
    count: int
    example: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Hint:
    """What a low mean suggests about the agent: about these runs together, never about one of them."""

    metric: str
    value: float
    n: int
    low: float
    high: float
    says: str
    remedy: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Summary:
    """Aggregates of many scores. Scores of incomplete traces count as they are; what is not evaluated is no 0."""

    n: int = 0
    """All scores, evaluated or not."""
    evaluated: int = 0
    metrics: Mapping[str, MetricSummary] = field(default_factory=dict[str, MetricSummary])
    labels: Mapping[Label, Share] = field(default_factory=dict[Label, Share])
    """Share of each label that occurs among the evaluated scores."""
    not_evaluated: Mapping[str, int] = field(default_factory=dict[str, int])
    """Reason -> how many, most frequent first."""
    first_divergence: Frequent | None = None
    """The most frequent one; the one met first among equals."""
    hints: tuple[Hint, ...] = ()


def summarise(scores: Iterable[PathScore]) -> Summary:
    """Return the aggregates of ``scores``; renders their reasons."""
    given = list(scores)
    evaluated = [score for score in given if score.value is not None]
    metrics = {name: summary for name in METRICS if (summary := _metric(name, given)) is not None}
    labels: Counter[Label] = Counter(score.label for score in evaluated)
    return Summary(
        n=len(given),
        evaluated=len(evaluated),
        metrics=metrics,
        labels={label: _share(count, len(evaluated)) for label, count in labels.most_common()},
        not_evaluated=dict(Counter(score.not_evaluated or "" for score in given if score.value is None).most_common()),
        first_divergence=_most_frequent(evaluated),
        hints=tuple(_hints(metrics, labels, len(evaluated))),
    )


def _metric(name: str, scores: Sequence[PathScore]) -> MetricSummary | None:
    values = [score.metrics[name] for score in scores if name in score.metrics]
    if not values:
        return None
    low, high = _wilson(sum(values), len(values)) if name in _SHARES else _mean_interval(values)
    return MetricSummary(mean=fmean(values), n=len(values), low=low, high=high)


def _share(count: int, n: int) -> Share:
    low, high = _wilson(count, n)
    return Share(count=count, share=count / n, low=low, high=high)


def _wilson(count: float, n: int) -> Interval:
    """Return the score interval of a share (Wilson 1927): sensible for small numbers, and at 0 and 1."""
    share, square = count / n, _Z * _Z
    centre = (share + square / (2 * n)) / (1 + square / n)
    half = _Z / (1 + square / n) * math.sqrt(share * (1 - share) / n + square / (4 * n * n))
    return max(0.0, min(share, centre - half)), min(1.0, max(share, centre + half))


def _mean_interval(values: Sequence[float]) -> Interval:
    """Return the normal interval of a mean, the quantile widened for few values.

    Where all values are equal they say nothing about their spread: then the interval of a share, the widest there
    is for values in 0..1.
    """
    n, mean = len(values), fmean(values)
    spread = stdev(values) if n > 1 else 0.0
    if spread == 0.0:
        return _wilson(mean * n, n)
    # Student's quantile to the first orders in 1 / degrees of freedom (Cornish and Fisher 1938).
    freedom = n - 1
    quantile = _Z + (_Z**3 + _Z) / (4 * freedom) + (5 * _Z**5 + 16 * _Z**3 + 3 * _Z) / (96 * freedom**2)
    half = quantile * spread / math.sqrt(n)
    return max(0.0, mean - half), min(1.0, mean + half)


def _most_frequent(scores: Sequence[PathScore]) -> Frequent | None:
    kinds: Counter[str] = Counter()
    examples: dict[str, str] = {}
    for score in scores:
        kind, words = score.alignment.first_divergence_kind, score.alignment.first_divergence
        if kind is not None:
            kinds[kind] += 1
            examples.setdefault(kind, words or kind)
    if not kinds:
        return None
    kind, count = kinds.most_common(1)[0]
    return Frequent(kind=kind, count=count, example=examples[kind])


_LOW: Final = (
    ("tool_accuracy", 0.8, "often picks wrong tools", "work on the tool descriptions, the prompt, or fine-tuning"),
    ("step_order_accuracy", 0.7, "plans the order badly", "work on planning"),
    ("path_efficiency", 0.5, "takes more than twice the steps needed", "look for loops and doubtful calls"),
)


def _hints(metrics: Mapping[str, MetricSummary], labels: Mapping[Label, int], evaluated: int) -> Iterable[Hint]:
    for metric, least, says, remedy in _LOW:
        found = metrics.get(metric)
        if found is not None and found.mean < least:
            yield Hint(
                metric=metric, value=found.mean, n=found.n, low=found.low, high=found.high, says=says, remedy=remedy
            )
    if labels.get("unlucky", 0):
        missed = _share(labels["unlucky"], evaluated)
        yield Hint(
            metric="goal_success",
            value=missed.share,
            n=evaluated,
            low=missed.low,
            high=missed.high,
            says="misses the goal on a good path",
            remedy="work on the generation of the answer",
        )
