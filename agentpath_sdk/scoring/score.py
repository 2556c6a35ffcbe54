"""The score of one run: numbers, label, and the reason for each lost point."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias


__all__ = ["SCORER_VERSION", "Alignment", "Finding", "Goal", "Label", "Mode", "PathScore", "StepMatch"]

# Part of every record: scores of different versions are not comparable. Raise on any change of a formula.
SCORER_VERSION: Final = "1"

Mode: TypeAlias = Literal["aligned", "positional", "soft", "aligned_soft"]
Label: TypeAlias = Literal["solid", "lucky", "unlucky", "failed", "good_path", "bad_path", "not_evaluated"]


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


@dataclass(frozen=True, kw_only=True, slots=True)
class StepMatch:
    """One line of the step diff: gold beside run; either side may be None."""

    gold: int | None
    run: int | None
    kind: Literal["match", "wrong_arguments", "wrong_tool", "missing", "extra", "misplaced", "failed"]
    similarity: float = 0.0
    arguments_passed: bool = False
    reasons: Mapping[str, str] = field(default_factory=dict)
    """Argument name -> why it failed, in words."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Alignment:
    """How the run lies against the gold; every metric, the step diff and the reasons come from it."""

    lines: tuple[StepMatch, ...] = ()
    first_divergence: str | None = None
    """In words; None when the run follows the gold."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Goal:
    """Whether the goal was reached; ``success`` None = unknown."""

    success: bool | None = None
    source: str | None = None
    reason: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class PathScore:
    """Result of scoring one trajectory against one gold path (or against none: findings only)."""

    value: float | None
    """The score in 0..1; None when not evaluated."""
    name: str
    """Which metric ``value`` is: ``composite`` or ``effect_score``."""
    label: Label
    metrics: Mapping[str, float]
    """Metric -> value in 0..1; a metric that is not evaluated is absent here and named in ``metric_reasons``."""
    metric_reasons: Mapping[str, str] = field(default_factory=dict)
    goal: Goal = field(default_factory=Goal)
    findings: tuple[Finding, ...] = ()
    alignment: Alignment = field(default_factory=Alignment)
    not_evaluated: str | None = None
    """Reason why there is no score, else None."""
    mode: Mode = "aligned"
    gold_path_id: str | None = None
    gold_path_version: str | None = None
    scorer_version: str = SCORER_VERSION

    def to_json(self) -> dict[str, Any]:
        """Return the score as one JSON object, metrics as top-level numbers or ``{"not_evaluated": reason}``."""
        raise NotImplementedError
