"""Frozen settings; an argument wins over the environment, the environment over the default."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Any, Final, TypeVar

from agentpath_sdk.errors import ConfigurationError

__all__ = [
    "EFFECT_WEIGHTS",
    "METRICS",
    "WEIGHT_PROFILES",
    "OnlineSettings",
    "ScoringSettings",
    "Settings",
    "TracingSettings",
    "from_environment",
    "resolve",
]

_ENV_PREFIX: Final = "AGENTPATH_"
_TRUE: Final = frozenset({"1", "true", "yes", "on"})
_FALSE: Final = frozenset({"0", "false", "no", "off"})
_SHARES: Final = frozenset({"sample_rate", "good_path", "position_credit"})

METRICS: Final = (
    "tool_accuracy",
    "argument_accuracy",
    "argument_similarity",
    "step_order_accuracy",
    "path_efficiency",
    "precision",
    "recall",
    "f1",
    "graded_recall",
    "write_f1",
    "way_efficiency",
    "composite",
    "effect_score",
    "rules_passed",
    "goal_success",
    "answer_exact",
    "answer_f1",
)
"""Every metric a score may hold, in the order it is written."""

WEIGHT_PROFILES: Final[Mapping[str, Mapping[str, float]]] = MappingProxyType(
    {
        # The source document's weights.
        "balanced": MappingProxyType(
            {"tool_accuracy": 0.3, "argument_accuracy": 0.3, "step_order_accuracy": 0.2, "path_efficiency": 0.2}
        ),
        "accuracy": MappingProxyType(
            {"tool_accuracy": 0.4, "argument_accuracy": 0.4, "step_order_accuracy": 0.1, "path_efficiency": 0.1}
        ),
        "efficiency": MappingProxyType(
            {"tool_accuracy": 0.2, "argument_accuracy": 0.2, "step_order_accuracy": 0.2, "path_efficiency": 0.4}
        ),
    }
)

EFFECT_WEIGHTS: Final[Mapping[str, float]] = MappingProxyType(
    {"write_f1": 0.5, "graded_recall": 0.35, "way_efficiency": 0.15}
)
"""Half of ``effect_score`` from what was changed, half from the way there."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TracingSettings:
    """What the write side records."""

    capture_content: bool = True
    """False keeps names, outcomes, times and exception types only."""
    arguments_limit: int = 16_384
    """Characters of one encoded arguments attribute."""
    result_limit: int = 16_384
    """Characters of one encoded result, input or output attribute."""
    max_open_runs: int = 10_000
    """Spans held open by the recorder and each handler; the oldest are ended as abandoned."""
    idle_seconds: float = 3_600.0
    """An open span with no event for this long is ended as abandoned."""
    sample_rate: float = 1.0
    """Share of agent runs that are traced, decided once per run from the trace id."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ScoringSettings:
    """How a trajectory is judged when its gold path does not say otherwise."""

    weights: Mapping[str, float] = field(default_factory=lambda: WEIGHT_PROFILES["balanced"])
    """Weight per metric in the composite; renormalised over the parts that apply."""
    effect_weights: Mapping[str, float] = field(default_factory=lambda: EFFECT_WEIGHTS)
    """The same in ``effect_score``, the score of gold paths that say which tools write."""
    good_path: float = 0.8
    """A score of at least this is a good path."""
    position_credit: float = 0.5
    """Credit of a right tool at a wrong place, in the soft modes."""
    damerau: bool = False
    """True counts a swap of neighbours as one edit in step order accuracy."""
    terminal_tools: frozenset[str] = frozenset({"response", "finish", "final_answer", "answer", "respond"})
    """Gold steps of these names mean the run's final answer."""
    score_cache: int = 4_096
    """Comparisons of a run with a gold path that are kept, for runs that do the same again; 0 = none."""


@dataclass(frozen=True, kw_only=True, slots=True)
class OnlineSettings:
    """The pipeline from ended spans to score records."""

    quiet_seconds: float = 5.0
    """A run is complete when its root has ended and no span has come for this long."""
    trace_ttl_seconds: float = 900.0
    """State of a trace is freed this long after its last span."""
    max_open_traces: int = 10_000
    max_spans_per_trace: int = 5_000
    queue_size: int = 16_384
    """Ended spans waiting for the worker; more are dropped and counted per trace."""
    record_queue_size: int = 8_192
    """Score records waiting for each score exporter."""
    give_up_seconds: float = 900.0
    """A record that a score exporter could not send for this long is dropped and counted."""
    hold_seconds: float = 20.0
    """An agent span held back for its score attributes is forwarded without them after this long."""
    max_held_spans: int = 2_048
    max_retained_runs: int = 1_000
    """Scored runs kept at hand, so that an outcome told later can be joined and scored again."""
    reload_seconds: float = 5.0
    """How often the worker looks whether gold files have changed; 0 = never."""
    max_label_sets: int = 500
    """Combinations of agent and gold path in the metrics; runs beyond count under ``_other``."""
    shutdown_seconds: float = 5.0
    """Longest time that process exit waits for scores to be sent."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Settings:
    """All settings of a process."""

    tracing: TracingSettings
    scoring: ScoringSettings
    online: OnlineSettings


_T = TypeVar("_T")


def resolve(given: Mapping[str, Any], environ: Mapping[str, str] | None = None) -> Settings:
    """Return all settings: each of ``given`` goes to the part that has it; ``weights`` may name a profile.

    Raises:
        ConfigurationError: an unknown name, or a value of the wrong type or out of range.
    """
    values = dict(given)
    weights = values.get("weights", (os.environ if environ is None else environ).get(_ENV_PREFIX + "WEIGHTS"))
    if weights is not None:
        values["weights"] = _weights(weights)
    if "effect_weights" in values:
        values["effect_weights"] = _weights(values["effect_weights"])
    known = {field.name for kind in (TracingSettings, ScoringSettings, OnlineSettings) for field in fields(kind)}
    if unknown := sorted(set(values) - known):
        raise ConfigurationError(f"there is no setting {unknown[0]!r}; there are {', '.join(sorted(known))}")
    return Settings(
        tracing=_part(TracingSettings, values, environ),
        scoring=_part(ScoringSettings, values, environ),
        online=_part(OnlineSettings, values, environ),
    )


def from_environment(kind: type[_T], environ: Mapping[str, str] | None = None, **given: Any) -> _T:
    """Return a settings value: ``given`` wins over ``AGENTPATH_<FIELD>``, that over the default.

    Raises:
        ConfigurationError: an unknown name was given, or an environment value does not parse.
    """
    env = os.environ if environ is None else environ
    known = {f.name: f for f in fields(kind)}  # type: ignore[arg-type]
    unknown = set(given) - set(known)
    if unknown:
        raise ConfigurationError(f"unknown setting {sorted(unknown)!r}; known are {sorted(known)!r}")
    values: dict[str, Any] = {}
    for name, declared in known.items():
        if name in given:
            values[name] = given[name]
        elif (text := env.get(_ENV_PREFIX + name.upper())) is not None:
            values[name] = _parse(name, str(declared.type), text)
    return kind(**values)


def _parse(name: str, kind: str, text: str) -> Any:
    try:
        if kind == "bool":
            return _parse_bool(text)
        if kind == "int":
            return int(text)
        if kind == "float":
            return float(text)
    except ValueError:
        raise ConfigurationError(f"{_ENV_PREFIX}{name.upper()}={text!r} is not a {kind}") from None
    raise ConfigurationError(f"{_ENV_PREFIX}{name.upper()} cannot be set from the environment; pass it to configure()")


def _parse_bool(text: str) -> bool:
    word = text.strip().lower()
    if word in _TRUE:
        return True
    if word in _FALSE:
        return False
    raise ValueError(text)


def _part(kind: type[_T], values: Mapping[str, Any], environ: Mapping[str, str] | None) -> _T:
    declared = fields(kind)  # type: ignore[arg-type]  # a dataclass, which no type variable can say
    names = {field.name for field in declared}
    part = from_environment(kind, environ, **{name: value for name, value in values.items() if name in names})
    for one in declared:
        _check(one.name, str(one.type), getattr(part, one.name))
    return part


def _check(name: str, kind: str, value: Any) -> None:
    if kind == "bool" and not isinstance(value, bool):
        raise ConfigurationError(f"{name}={value!r}: give True or False")
    if kind not in ("int", "float"):
        return
    if isinstance(value, bool) or not isinstance(value, int if kind == "int" else int | float):
        raise ConfigurationError(f"{name}={value!r}: give a number ({kind})")
    if name in _SHARES and not 0 <= value <= 1:
        raise ConfigurationError(f"{name}={value!r}: give a number from 0 to 1")
    if not 0 <= value < float("inf"):
        raise ConfigurationError(f"{name}={value!r}: give a finite number, at least 0")


def _weights(given: str | Mapping[str, float]) -> Mapping[str, float]:
    if not isinstance(given, str):
        for metric, weight in given.items():
            _check(f"weights[{metric!r}]", "float", weight)
        return given
    if given not in WEIGHT_PROFILES:
        raise ConfigurationError(f"weights={given!r} is no profile; there are {', '.join(sorted(WEIGHT_PROFILES))}")
    return WEIGHT_PROFILES[given]
