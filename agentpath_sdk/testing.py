"""Test kit for agents: see the trajectories and scores of what ran, with fixed ids and a clock in your hand.

pytest loads this module in every project where the SDK is installed; it imports nothing heavy until the
fixture or ``capture()`` is used.

>>> def test_the_agent_looks_up_before_it_refunds(captured_trajectories):
...     run_my_agent("refund order 7")
...     assert captured_trajectories.tools() == ["lookup", "refund"]

>>> def test_the_agent_keeps_to_the_gold_path():
...     with capture(gold="gold/refund.yaml") as captured:
...         run_my_agent("refund order 7")
...     assert captured.score().value == 1.0
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, Final, TypeVar

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
    from opentelemetry.sdk.trace.id_generator import IdGenerator

    from agentpath_sdk.configuration import Gold
    from agentpath_sdk.gold.model import GoldPath
    from agentpath_sdk.online.pipeline import Pipeline
    from agentpath_sdk.online.record import ScoreRecord
    from agentpath_sdk.scoring.score import Mode, PathScore
    from agentpath_sdk.settings import Settings
    from agentpath_sdk.trajectories.model import Trajectory
else:
    IdGenerator = object

__all__ = ["Captured", "FixedIdGenerator", "ManualClock", "capture"]

_T = TypeVar("_T")

_FIRST_TRACE: Final = 0x0AF70000000000000000000000000000
_FIRST_SPAN: Final = 0xB7AD000000000000


class ManualClock:
    """A clock that stands still until ``advance``."""

    def __init__(self, *, unix_nano: int = 1_700_000_000_000_000_000) -> None:
        self._seconds = 0.0
        self._unix_nano = unix_nano

    def monotonic(self) -> float:
        """Return the seconds advanced so far."""
        return self._seconds

    def unix_nano(self) -> int:
        """Return the start plus what was advanced."""
        return self._unix_nano + round(self._seconds * 1e9)

    def advance(self, seconds: float) -> None:
        """Let ``seconds`` pass."""
        self._seconds += seconds


class FixedIdGenerator(IdGenerator):
    """Trace and span ids that count up from the same start in every run; for ``TracerProvider(id_generator=...)``."""

    def __init__(self) -> None:
        self._traces = 0
        self._spans = 0

    def generate_trace_id(self) -> int:
        """Return the next trace id."""
        self._traces += 1
        return _FIRST_TRACE + self._traces

    def generate_span_id(self) -> int:
        """Return the next span id."""
        self._spans += 1
        return _FIRST_SPAN + self._spans

    def is_trace_id_random(self) -> bool:
        """Return False, as the SDK asks of ids that are not random."""
        return False


class Captured:
    """What agents did inside a ``capture()`` block. Ask at any moment: no verdict needs waiting for."""

    def __init__(
        self,
        provider: TracerProvider,
        clock: ManualClock,
        *,
        spans: Callable[[], tuple[ReadableSpan, ...]],
        trajectories: list[Trajectory],
        records: list[ScoreRecord],
        step: Callable[[], object],
        quiet_seconds: float,
    ) -> None:
        self.provider = provider
        """The tracer provider of the block, for instrumentations that want one."""
        self.clock = clock
        """The pipeline's clock."""
        self._spans = spans
        self._trajectories = trajectories
        self._records = records
        self._step = step
        self._quiet_seconds = quiet_seconds

    @property
    def spans(self) -> tuple[ReadableSpan, ...]:
        """All ended spans, in order of their end."""
        return self._spans()

    @property
    def trajectories(self) -> tuple[Trajectory, ...]:
        """The latest revision of each agent run, in order of start."""
        self.settle()
        latest = {(run.trace_id, run.span_id): run for run in self._trajectories}
        return tuple(sorted(latest.values(), key=lambda run: run.start_unix_nano or 0))

    @property
    def records(self) -> tuple[ScoreRecord, ...]:
        """The latest revision of each score record, in order of the runs' start."""
        self.settle()
        latest = {record.id: record for record in self._records}
        return tuple(sorted(latest.values(), key=lambda record: record.root_start_unix_nano or 0))

    def trajectory(self, agent: str | None = None) -> Trajectory:
        """Return the only run (of ``agent``).

        Raises:
            AssertionError: there is none, or more than one.
        """
        return _only([run for run in self.trajectories if agent in (None, run.agent)], "agent runs", agent)

    def tools(self, agent: str | None = None) -> list[str]:
        """Return the tools that the only run (of ``agent``) executed, in order."""
        return [step.tool for step in self.trajectory(agent).steps]

    def score(self, agent: str | None = None) -> PathScore:
        """Return the score of the only run (of ``agent``).

        Raises:
            AssertionError: there is none, or more than one.
        """
        return _only([record for record in self.records if agent in (None, record.agent)], "scores", agent).score

    def settle(self) -> None:
        """Let the quiet time of everything that has ended pass."""
        self._step()
        self.clock.advance(self._quiet_seconds)
        self._step()


@contextmanager
def capture(
    *, gold: Gold = (), mode: Mode = "aligned", raise_faults: bool = True, **settings: Any
) -> Generator[Captured]:
    """Trace and score the agents of the block in memory: no threads, no network, no waiting, ids that count up.

    Whatever the application has configured is left alone and takes part again after the block.

    Args:
        gold: as in ``configure``: files, folders or gold paths.
        mode: as in ``configure``.
        raise_faults: raise faults inside the SDK, which are counted and survived elsewhere.
        settings: as in ``configure``.

    Raises:
        ConfigurationError: a setting is wrong.
        FileFormatError: a gold file cannot be read.
    """
    from agentpath_sdk._guard import HEALTH
    from agentpath_sdk.configuration import listen_for_outcomes, trace_with
    from agentpath_sdk.settings import resolve

    parts = resolve(settings)
    captured, pipeline = _captured(gold, mode, parts)
    with ExitStack() as stack:
        stack.callback(pipeline.shutdown, 1.0)
        stack.callback(trace_with(parts.tracing, captured.provider))
        stack.callback(listen_for_outcomes(pipeline))
        stack.callback(setattr, HEALTH, "raise_faults", HEALTH.raise_faults)
        HEALTH.raise_faults = raise_faults
        yield captured
        captured.settle()


def _captured(gold: Gold, mode: Mode, parts: Settings) -> tuple[Captured, Pipeline]:
    """Return the pipeline that production uses, without a thread, joined to a provider of its own."""
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    from agentpath_sdk.configuration import registry_of
    from agentpath_sdk.online.pipeline import Pipeline
    from agentpath_sdk.online.processor import AgentPathSpanProcessor
    from agentpath_sdk.scoring.scorer import score_best

    trajectories: list[Trajectory] = []
    records: list[ScoreRecord] = []

    def score(trajectory: Trajectory, paths: Sequence[GoldPath]) -> PathScore:
        trajectories.append(trajectory)
        return score_best(trajectory, paths, mode=mode, settings=parts.scoring)

    clock, exporter = ManualClock(), InMemorySpanExporter()
    provider = TracerProvider(id_generator=FixedIdGenerator(), shutdown_on_exit=False)
    pipeline = Pipeline(
        registry_of(gold, parts.online).look_up,
        score,
        settings=parts.online,
        emitters=[records.append],
        clock=clock,
        background=False,
    )
    provider.add_span_processor(AgentPathSpanProcessor(pipeline))
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    captured = Captured(
        provider,
        clock,
        spans=exporter.get_finished_spans,
        trajectories=trajectories,
        records=records,
        step=pipeline.step,
        quiet_seconds=parts.online.quiet_seconds,
    )
    return captured, pipeline


def _only(found: list[_T], what: str, agent: str | None) -> _T:
    of = f" of {agent!r}" if agent is not None else ""
    assert len(found) == 1, f"expected exactly one of the {what}{of}, there are {len(found)}"
    return found[0]


if "pytest" in sys.modules:  # loaded as a plug-in; other users of this module need no pytest
    import pytest

    def pytest_configure(config: pytest.Config) -> None:
        """Make the marker known."""
        config.addinivalue_line("markers", "agentpath(**options): options of capture() for captured_trajectories")

    @pytest.fixture
    def captured_trajectories(request: pytest.FixtureRequest) -> Iterator[Captured]:
        """What agents did during the test; ``@pytest.mark.agentpath(gold="gold/")`` gives options of ``capture``."""
        marker = request.node.get_closest_marker("agentpath")
        options: dict[str, Any] = {} if marker is None else dict(marker.kwargs)
        if marker is not None and marker.args:
            from agentpath_sdk.errors import ConfigurationError

            raise ConfigurationError("pytest.mark.agentpath takes options by name, e.g. agentpath(gold='gold/')")
        with capture(**options) as captured:
            yield captured
