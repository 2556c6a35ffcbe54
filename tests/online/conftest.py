"""A provider, a clock in the hand, and a pipeline that runs when told."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from opentelemetry.context import Context
from opentelemetry.sdk.trace import Span, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import set_span_in_context

from agentpath_sdk import semconv
from agentpath_sdk._guard import HEALTH
from agentpath_sdk.gold.model import CallStep, GoldPath
from agentpath_sdk.gold.registry import LookUp
from agentpath_sdk.online.pipeline import Pipeline
from agentpath_sdk.online.processor import AgentPathSpanProcessor
from agentpath_sdk.online.record import ScoreRecord
from agentpath_sdk.scoring.score import PathScore
from agentpath_sdk.settings import OnlineSettings
from agentpath_sdk.testing import ManualClock
from agentpath_sdk.trajectories.model import Trajectory

from .fakes import RecordingExporter

GOLD = GoldPath(id="t1-t2", version="2", agent="planner", steps=(CallStep(tool="t1"), CallStep(tool="t2")))


def find(trajectory: Trajectory) -> LookUp:
    """Return the one gold path, for the one agent that has it."""
    if trajectory.agent == "planner":
        return LookUp(paths=(GOLD,), how="agent", confidence=1.0)
    return LookUp(reason="no gold path applies to this agent")


def share_of_gold(trajectory: Trajectory, paths: Sequence[GoldPath]) -> PathScore:
    """Return the share of gold tools that were used; enough of a scorer to see that the pipeline works."""
    gold = paths[0] if paths else None
    reason = "no gold path" if gold is None else None
    if trajectory.completeness == "known_incomplete":
        reason = f"incomplete: {'; '.join(trajectory.incomplete_reasons)}"
    if trajectory.stop_reason == "cancelled":
        reason = "cancelled"
    if gold is None or reason is not None:
        return PathScore(value=None, name="composite", label="not_evaluated", metrics={}, not_evaluated=reason)
    wanted, used = [step.tool for step in gold.steps], [step.tool for step in trajectory.steps]
    value = sum(tool in used for tool in wanted) / max(len(wanted), len(used))
    success = None if trajectory.goal is None else trajectory.goal.success
    label = ("good_path" if value >= 0.8 else "bad_path") if success is None else ("solid" if success else "unlucky")
    return PathScore(
        value=value,
        name="composite",
        label=label,
        metrics={"composite": value},
        gold_path_id=gold.id,
        gold_path_version=gold.version,
    )


@dataclass
class Bench:
    """All that a pipeline test needs."""

    clock: ManualClock
    exporter: RecordingExporter
    pipeline: Pipeline
    provider: TracerProvider
    exported: InMemorySpanExporter
    emitted: list[ScoreRecord] = field(default_factory=list)
    scope: str = "somebody.else"

    def start(self, name: str, operation: str | None, parent: Span | None = None, **attributes: Any) -> Any:
        context = Context() if parent is None else set_span_in_context(parent, Context())
        kinds = {"invoke_agent": semconv.AGENT_NAME, "execute_tool": semconv.TOOL_NAME}
        given = {} if operation is None else {semconv.OPERATION_NAME: operation, kinds.get(operation, "x"): name}
        tracer = self.provider.get_tracer(self.scope)
        return tracer.start_span(f"{operation} {name}", context=context, attributes={**given, **attributes})

    def agent(self, name: str = "planner", parent: Span | None = None, **attributes: Any) -> Any:
        return self.start(name, "invoke_agent", parent, **attributes)

    def tool(self, name: str, parent: Span | None) -> Any:
        span = self.start(name, "execute_tool", parent, **{semconv.TOOL_CALL_ARGUMENTS: "{}"})
        span.end()
        return span

    def run(self, *tools: str, **attributes: Any) -> Any:
        root = self.agent(**attributes)
        for tool in tools:
            self.tool(tool, root)
        root.end()
        return root

    def pass_time(self, seconds: float) -> list[ScoreRecord]:
        """Let time pass and the worker work; return what it emitted."""
        self.clock.advance(seconds)
        before = len(self.emitted)
        self.pipeline.step()
        return self.emitted[before:]


@pytest.fixture
def make_bench() -> Iterator[Callable[..., Bench]]:
    """Return a maker of benches; keywords are settings, or the pipeline's own parts."""
    made: list[Bench] = []

    def make(
        *,
        score: Any = share_of_gold,
        look_up: Any = find,
        emitters: Any = (),
        background: bool = False,
        sampler: Any = None,
        attach: bool = True,
        **settings: Any,
    ) -> Bench:
        clock, exporter, emitted = ManualClock(), RecordingExporter(), []
        pipeline = Pipeline(
            look_up,
            score,
            settings=OnlineSettings(**settings),
            emitters=[emitted.append, *emitters],
            score_exporters=[exporter],
            clock=clock,
            background=background,
        )
        provider, exported = TracerProvider(shutdown_on_exit=False, sampler=sampler), InMemorySpanExporter()
        if attach:
            provider.add_span_processor(AgentPathSpanProcessor(pipeline))
            provider.add_span_processor(SimpleSpanProcessor(exported))
        bench = Bench(clock, exporter, pipeline, provider, exported, emitted)
        made.append(bench)
        return bench

    yield make
    for bench in made:
        bench.pipeline.shutdown(1.0)


@pytest.fixture
def bench(make_bench: Callable[..., Bench]) -> Bench:
    return make_bench()


@pytest.fixture(autouse=True)
def _clean_health() -> Iterator[None]:
    HEALTH.reset()
    yield
    HEALTH.reset()
