"""The score of one run: numbers, label, and the reason for each lost point."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from agentpath_sdk.gold.model import Severity
from agentpath_sdk.settings import METRICS
from agentpath_sdk.trajectories.model import Completeness

__all__ = [
    "METRICS",
    "SCORER_VERSION",
    "Alignment",
    "Finding",
    "Goal",
    "Label",
    "LineKind",
    "Mode",
    "PathScore",
    "Rendered",
    "StepMatch",
    "lazy_score",
]

# Part of every record: scores of different versions are not comparable. Raise on any change of a formula.
SCORER_VERSION: Final = "1"

Mode: TypeAlias = Literal["aligned", "positional", "soft", "aligned_soft"]
Label: TypeAlias = Literal["solid", "lucky", "unlucky", "failed", "good_path", "bad_path", "not_evaluated"]
LineKind: TypeAlias = Literal["match", "wrong_arguments", "wrong_tool", "missing", "extra", "misplaced", "failed"]
"""``failed`` = the right tool ended with an error where the gold says it must succeed. A ``match`` whose arguments
did not pass is one whose arguments are not known; its reason says why."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """Something worth a person's look: ``extra_step``, ``wrong_arguments``, ``missing_step``, ``loop``, ..."""

    kind: str
    message: str
    """In words, with step number, tool, expected and actual (redacted where needed)."""
    step: int | None = None
    """Index into the run's steps."""
    gold_step: int | None = None
    """Index into the gold's realised steps."""
    tool: str | None = None
    severity: Severity | None = None
    """Of the path rule that was broken; None for all other findings."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StepMatch:
    """One line of the step diff: gold beside run; either side may be None.

    Every gold index and every run index occurs on one line at most. A ``match`` whose ``run`` is None is the gold's
    terminal step, met by the run's final answer and not by a step.
    """

    gold: int | None
    run: int | None
    kind: LineKind
    similarity: float = 0.0
    arguments_passed: bool = False
    reasons: Mapping[str, str] = field(default_factory=dict[str, str])
    """Argument name -> why it failed, in words."""
    gold_tool: str | None = None
    run_tool: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Alignment:
    """How the run lies against the gold; every metric, the step diff and the reasons come from it."""

    lines: tuple[StepMatch, ...] = ()
    first_divergence: str | None = None
    """In words; None when the run follows the gold."""
    first_divergence_kind: str | None = None
    """The same without any value, such as ``wrong_arguments calculator(x)``: equal for equal troubles of many runs."""
    alternative: int | None = None
    """Which of the gold path's alternatives the run was compared with: 1 = its steps, 2 = the first alternative to
    them, and so on; None where there is only one."""
    expansion: tuple[str, ...] | None = None
    """The tools of the way that the run was compared with, which the gold indices count; None where there is only
    one way."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Goal:
    """Whether the goal was reached; ``success`` None = unknown."""

    success: bool | None = None
    source: str | None = None
    """``app`` or whoever said it; ``answer`` = the gold path's answer check."""
    reason: str | None = None


Rendered: TypeAlias = tuple[tuple[Finding, ...], Alignment]


class _Unrendered:
    """Slot for a function, and its arguments, that renders findings and alignment once they are asked for."""

    __slots__ = ("_source",)

    if TYPE_CHECKING:
        _source: tuple[Any, ...] | None


@dataclass(frozen=True, kw_only=True, slots=True)
class PathScore(_Unrendered):
    """Result of scoring one trajectory against one gold path (or against none: findings only).

    Findings and alignment of a score made by the scorer are rendered when first read, compared, copied or pickled.
    """

    value: float | None
    """The score in 0..1; None when not evaluated."""
    name: str
    """Which metric ``value`` is: ``composite`` or ``effect_score``."""
    label: Label
    metrics: Mapping[str, float]
    """Metric -> value in 0..1; a metric that is not evaluated is absent here and named in ``metric_reasons``."""
    metric_reasons: Mapping[str, str] = field(default_factory=dict[str, str])
    goal: Goal = field(default_factory=Goal)
    findings: tuple[Finding, ...] = ()
    alignment: Alignment = field(default_factory=Alignment)
    not_evaluated: str | None = None
    """Reason why there is no score, else None."""
    mode: Mode = "aligned"
    gold_path_id: str | None = None
    gold_path_version: str | None = None
    completeness: Completeness = "complete"
    """Of the trajectory; what is presumed incomplete is scored, and kept out of histograms and alerts."""
    scorer_version: str = SCORER_VERSION

    def __getattr__(self, name: str) -> Any:
        # Reached only for a slot that holds nothing: what ``lazy_score`` has left for later.
        if name in _LATER:
            source = self._source
            if source is not None:
                _fill_in(self, source)
                if name in _RENDERED:
                    _render(self, source)
            return object.__getattribute__(self, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def to_json(self) -> dict[str, Any]:
        """Return the score as one JSON object: metrics first, each a number or ``{"not_evaluated": reason}``."""
        line: dict[str, Any] = {}
        for metric in dict.fromkeys((*METRICS, *self.metrics, *self.metric_reasons)):
            if metric in self.metrics:
                line[metric] = self.metrics[metric]
            elif metric in self.metric_reasons:
                line[metric] = {"not_evaluated": self.metric_reasons[metric]}
        line["score"] = {"not_evaluated": self.not_evaluated} if self.value is None else self.value
        line |= {"score_name": self.name, "label": self.label}
        if self.not_evaluated is not None:
            line["not_evaluated"] = self.not_evaluated
        line |= {
            "goal": _as_json(self.goal),
            "gold_path_id": self.gold_path_id,
            "gold_path_version": self.gold_path_version,
            "mode": self.mode,
            "completeness": self.completeness,
            "findings": [_as_json(finding) for finding in self.findings],
            "alignment": {
                "first_divergence": self.alignment.first_divergence,
                "first_divergence_kind": self.alignment.first_divergence_kind,
                "alternative": self.alignment.alternative,
                "expansion": None if self.alignment.expansion is None else list(self.alignment.expansion),
                "lines": [_as_json(match) for match in self.alignment.lines],
            },
            "scorer_version": self.scorer_version,
        }
        return line


def _as_json(value: Finding | StepMatch | Goal) -> dict[str, Any]:
    found: dict[str, Any] = {name: getattr(value, name) for name in value.__dataclass_fields__}
    if isinstance(value, StepMatch):
        found["reasons"] = dict(value.reasons)
    return found


_RENDERED: Final = frozenset({"findings", "alignment"})
_PLAIN: Final = ("name", "mode", "gold_path_id", "gold_path_version", "completeness", "not_evaluated")
_LATER: Final = _RENDERED | {*_PLAIN, "scorer_version"}


def _fill_in(score: PathScore, source: tuple[Any, ...]) -> None:
    for name, value in zip(_PLAIN, source[0], strict=True):
        object.__setattr__(score, name, value)
    object.__setattr__(score, "scorer_version", SCORER_VERSION)


def _render(score: PathScore, source: tuple[Any, ...]) -> None:
    _, render, *inputs = source
    findings, alignment = render(*inputs)
    # Two threads may both render: they set equal values, and the inputs are let go of last.
    object.__setattr__(score, "findings", findings)
    object.__setattr__(score, "alignment", alignment)
    object.__setattr__(score, "_source", None)


def _setter(name: str) -> Callable[[PathScore, Any], None]:
    setter: Callable[[PathScore, Any], None] = getattr(PathScore, name).__set__
    return setter


_new = object.__new__
_set_value = _setter("value")
_set_label = _setter("label")
_set_metrics = _setter("metrics")
_set_metric_reasons = _setter("metric_reasons")
_set_goal = _setter("goal")
_set_source = _setter("_source")


def lazy_score(
    value: float | None,
    label: Label,
    metrics: Mapping[str, float],
    metric_reasons: Mapping[str, str],
    goal: Goal,
    source: tuple[Any, ...],
) -> PathScore:
    """Return a score whose findings and alignment are made when asked for.

    ``source`` is the tuple of the score's name, mode, gold path id and version, completeness and why it is not
    evaluated; a function that returns ``Rendered`` and does not raise; and the function's arguments. Written slot by
    slot: the constructor of a frozen dataclass costs more than all metrics of a run together.
    """
    score = _new(PathScore)
    _set_value(score, value)
    _set_label(score, label)
    _set_metrics(score, metrics)
    _set_metric_reasons(score, metric_reasons)
    _set_goal(score, goal)
    _set_source(score, source)
    return score
