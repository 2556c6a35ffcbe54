"""A gold path: the registered description of the right way to get from a query to its answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias

__all__ = [
    "AnswerCheck",
    "AnyOrder",
    "ArgumentMatcher",
    "CallStep",
    "Comparison",
    "Effect",
    "Extra",
    "GoldPath",
    "OneOf",
    "OptionalStep",
    "PathRule",
    "Provenance",
    "Repeat",
    "RuleKind",
    "Sequence",
    "Severity",
    "Status",
    "Step",
]

Status: TypeAlias = Literal["draft", "approved", "retired"]

Effect: TypeAlias = Literal["read", "write"]
"""What a tool does to the world. A tool of unknown effect is charged in full."""

Extra: TypeAlias = Literal["free", "charged"]
"""Whether a call of a tool beyond the gold path's costs something."""


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
    result: ArgumentMatcher | None = None
    """Matcher on what the call returned; None = not checked."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Sequence:
    """Steps one after another, as one step of something else."""

    steps: tuple[Step, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class OptionalStep:
    """A step a run may leave out at no cost."""

    step: Step


@dataclass(frozen=True, kw_only=True, slots=True)
class Repeat:
    """A step that is taken ``least`` to ``most`` times; ``most`` None = any number."""

    step: Step
    least: int = 1
    most: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class AnyOrder:
    """Members that may run in any order, each once; ``parallel`` asks that they were one parallel group."""

    steps: tuple[Step, ...]
    parallel: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class OneOf:
    """Alternative branches, of which one is taken."""

    branches: tuple[Step, ...]


Step: TypeAlias = "CallStep | Sequence | OptionalStep | Repeat | AnyOrder | OneOf"
"""One node of the gold expression."""


RuleKind: TypeAlias = Literal[
    "requires", "never", "never_before", "never_after", "allowed", "at_most", "at_least", "same_value", "result"
]
Severity: TypeAlias = Literal["info", "warning", "critical"]


@dataclass(frozen=True, kw_only=True, slots=True)
class PathRule:
    """A rule on every run of an agent, gold path or not (a constraint in the sense of Declare)."""

    kind: RuleKind
    tools: tuple[str, ...]
    """Names or globs of the tools the rule speaks of: (tool, the one it needs before) for requires, (tool, other) for
    never_before and never_after, all that are allowed, one per argument for same_value, else the one."""
    agent: str | None = None
    count: int | None = None
    """For at_most and at_least."""
    arguments: tuple[str, ...] = ()
    """For same_value: one argument name (or dotted path; ``$result`` starts inside the result) per tool."""
    result: ArgumentMatcher | None = None
    """For result: what each call of the tool must return."""
    severity: Severity = "warning"
    name: str | None = None
    source: str | None = None


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
    matcher: Literal["exact", "normalised", "number", "regex", "contains", "f1", "semantic"] = "normalised"
    abs_tolerance: float = 0.0
    rel_tolerance: float = 0.0
    unit: str | None = None
    """Of a number: the answer must name this unit, or one that converts to it (extra ``units``)."""
    threshold: float | None = None
    """Of f1 and semantic: share of words in common, or nearness of meaning, from which on it passes."""


@dataclass(frozen=True, kw_only=True, slots=True)
class GoldPath:
    """One registered way to do a task. Immutable; safe to share between threads."""

    id: str
    steps: tuple[Step, ...] = ()
    alternatives: tuple[tuple[Step, ...], ...] = ()
    """Further whole ways to do the task, beside ``steps``; the best-scoring one counts."""
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
    """Steps of the shortest right way; None = computed from the expression."""
    effects: Mapping[str, Effect] = field(default_factory=dict[str, Effect])
    """Tool -> effect; where any is declared, the score is ``effect_score``."""
    extras: Mapping[str, Extra] = field(default_factory=dict[str, Extra])
    """Tool -> whether its extra calls are free in every metric, or charged even where they only read; a tool that is
    not here is charged, but for ``effect_score``, which does not charge extra reads."""
    templates: tuple[str, ...] = ()
    """Queries with slots, ``weather in {city}``, braces meant as they stand doubled; a slot's value can be used in
    arguments, results and the answer."""
    slots: Mapping[str, str] = field(default_factory=dict[str, str])
    """Values of the slots, filled by the look-up for one run: a bound copy of the path, whose matchers expect them."""
    candidates: tuple[str, ...] = ()
    """Candidate answers for step-value replay."""
    source: str | None = None
    """File it was read from."""
