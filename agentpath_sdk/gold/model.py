"""A gold path: the registered description of the right way to get from a query to its answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias

__all__ = ["AnswerCheck", "ArgumentMatcher", "CallStep", "Comparison", "GoldPath", "Provenance", "Status"]

Status: TypeAlias = Literal["draft", "approved", "retired"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Comparison:
    """Outcome of one comparison: strict verdict, graded similarity in 0..1, and why it failed, in words."""

    passed: bool
    similarity: float
    reason: str | None = None


class ArgumentMatcher(Protocol):
    """Compares one expected argument with the value the run gave. Pure, total, never raises."""

    @property
    def name(self) -> str:
        """The matcher's word in a gold file (``exact``, ``ignore``, ``number``, ...)."""
        ...

    @property
    def expected(self) -> Any:
        """The value written in the gold file, for diffs and reasons."""
        ...

    def __call__(self, actual: Any) -> Comparison:
        """Return how ``actual`` compares."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class CallStep:
    """One expected tool call."""

    tool: str
    arguments: Mapping[str, ArgumentMatcher] | None = None
    """Matcher per argument name; None = arguments not checked; empty = none expected."""
    extra_arguments: Literal["forbid", "allow"] = "forbid"
    """``allow`` is subset mode: keys the gold does not name are ignored."""
    tool_defaults: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The tool's known default values: an actual argument equal to its default counts as not given,
    an expected argument equal to its default counts as given."""
    must_succeed: bool = False
    """True = an error outcome there is no match."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Provenance:
    """Where a gold path came from."""

    kind: Literal["manual", "generated", "promoted", "synthetic"] = "manual"
    reference: str | None = None
    author: str | None = None
    date: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class AnswerCheck:
    """The expected final answer and how it is compared."""

    expected: Any
    matcher: Literal["exact", "normalised", "number", "regex", "contains"] = "normalised"
    abs_tolerance: float = 0.0
    rel_tolerance: float = 0.0


@dataclass(frozen=True, kw_only=True, slots=True)
class GoldPath:
    """One registered way to do a task. Immutable; safe to share between threads."""

    id: str
    steps: tuple[CallStep, ...] = ()
    description: str | None = None
    """One line for people."""
    version: str = "1"
    agent: str | None = None
    """Agent name or glob; None = any agent."""
    queries: tuple[str, ...] = ()
    status: Status = "approved"
    provenance: Provenance = field(default_factory=Provenance)
    tags: tuple[str, ...] = ()
    answer: AnswerCheck | None = None
    weights: Mapping[str, float] | None = None
    """Weights of the composite for this path; None = the settings'."""
    good_path: float | None = None
    """Threshold of a good path for this path; None = the settings'."""
    thresholds: Mapping[str, float] = field(default_factory=dict[str, float])
    """Metric -> least value; the command line exits with 1 below it."""
    min_steps: int | None = None
    source: str | None = None
    """File it was read from."""
