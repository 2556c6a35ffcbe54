"""``configure()``: one call that joins the application's OpenTelemetry and starts scoring its agents."""

from __future__ import annotations

import contextlib
import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, Self, TypeAlias, get_args

from opentelemetry import metrics, trace
from opentelemetry._logs import LoggerProvider, get_logger_provider
from opentelemetry.metrics import MeterProvider
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from opentelemetry.trace import TracerProvider

from agentpath_sdk import redaction
from agentpath_sdk._guard import HEALTH, guard
from agentpath_sdk.errors import AgentPathError
from agentpath_sdk.gold.model import GoldPath
from agentpath_sdk.gold.reloading import ReloadingRegistry
from agentpath_sdk.online import arguments, joining
from agentpath_sdk.online.calling import ScoreSink, as_exporters
from agentpath_sdk.online.current import use_pipeline
from agentpath_sdk.online.emit import Emitter, EvaluateSpans, LogEvents, Metrics, observe_health
from agentpath_sdk.online.forks import at_process_end, ends_without_exit
from agentpath_sdk.online.pipeline import Pipeline, PipelineState
from agentpath_sdk.online.record import ScoreExporter, ScoreRecord
from agentpath_sdk.scoring.score import Mode
from agentpath_sdk.scoring.scorer import score_best
from agentpath_sdk.settings import OnlineSettings, Settings, TracingSettings, resolve
from agentpath_sdk.tracing import outcomes
from agentpath_sdk.tracing.frameworks import INTEGRATIONS
from agentpath_sdk.tracing.recorder import get_recorder
from agentpath_sdk.trajectories.model import GoalWord

__all__ = ["AgentPathSpanExporter", "Gold", "Handle", "configure", "flush", "shutdown"]

Gold: TypeAlias = "str | os.PathLike[str] | GoldPath | Iterable[str | os.PathLike[str] | GoldPath]"
"""A file, a folder, a gold path, or several of these."""

_GOLD_VARIABLE: Final = "AGENTPATH_GOLD"
"""Files and folders of gold paths, separated like PATH."""

_LONGEST_SECONDS: Final = 86_400.0

_logger = logging.getLogger("agentpath_sdk")
_lock = threading.RLock()
_handle: Handle | None = None
_traced_with: TracerProvider | None = None
_health_observed: Final[list[object]] = []


class Handle:
    """What ``configure()`` started. As a context manager it shuts down at the end of the block."""

    def __init__(
        self,
        pipeline: Pipeline,
        registry: ReloadingRegistry,
        *,
        providers: Sequence[object] = (),
        undo: Sequence[Callable[[], object]] = (),
    ) -> None:
        self.pipeline = pipeline
        self.registry = registry
        self._providers = tuple(providers)
        self._undo = tuple(undo)
        self._closed = False

    def flush(self, timeout: float = 30.0) -> bool:
        """Score the runs that have ended and send everything; return whether all was sent in ``timeout`` seconds.

        Runs whose quiet time is not over are scored as presumed incomplete, unless they are known to be
        whole (as runs traced by this SDK are). The application's trace, log and metric providers are
        flushed too, since scores leave through them.
        """
        sent = False
        with guard("configure.flush"):
            deadline = time.monotonic() + timeout
            sent = self.pipeline.flush(timeout)
            for provider in self._providers:
                sent = _flush_provider(provider, max(deadline - time.monotonic(), 0.0)) and sent
        return sent

    def shutdown(self, timeout: float | None = None) -> bool:
        """Score and send everything, then stop; the application's providers go on.

        Returns whether all was sent within ``timeout`` seconds (default: the setting ``shutdown_seconds``).
        """
        if self._closed:
            return True
        self._closed = True
        sent = False
        with guard("configure.shutdown"):
            sent = self.pipeline.shutdown(timeout)
        for undo in self._undo:
            with guard("configure.shutdown"):
                undo()
        _forget(self)
        return sent

    def reload(self) -> bool:
        """Read the gold files again if they have changed; return whether other paths are in use now.

        (The worker does this by itself every ``reload_seconds``.)
        """
        return self.registry.reload_if_changed(now=True)

    def health(self) -> PipelineState:
        """Return what is queued, open and held, how each destination does, and all health counters."""
        return self.pipeline.state()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()


def configure(
    *,
    gold: Gold | None = None,
    score_exporters: Sequence[ScoreSink] = (),
    tracer_provider: TracerProvider | None = None,
    logger_provider: LoggerProvider | None = None,
    meter_provider: MeterProvider | None = None,
    forward_to: SpanProcessor | SpanExporter | None = None,
    evaluate_span: bool | None = None,
    mode: Mode = "aligned",
    redact: Sequence[redaction.Rule] = (),
    weights: str | Mapping[str, float] | None = None,
    **settings: Any,
) -> Handle:
    """Score this process's agents against gold paths from now on.

    Joins the application's own tracer provider and never replaces it: call this after that provider is
    set. Where none is set, an SDK provider without exporters is made and set. Calling again replaces
    what the last call started.

    Args:
        gold: files, folders or gold paths; default: the environment's ``AGENTPATH_GOLD``. Changed files
            are picked up while running.
        score_exporters: places that get each score record, each through a queue and a thread of its own; a plain
            callable is given one record at a time (``print`` will do).
        tracer_provider: join this provider instead of the global one; agents traced by this SDK then use it too.
        logger_provider: where the evaluation log events go, instead of the global one.
        meter_provider: where the metrics go, instead of the global one.
        forward_to: the application's span processor, or exporter (then batched), not yet added to the
            provider: it is added here, and gets each agent's span with the score as attributes.
        evaluate_span: whether each score also becomes an ``evaluate`` span below its agent's span.
            Default: yes, unless scores reach traces another way (``forward_to``, ``AgentPathExporter``,
            or a score exporter that says ``scores_on_traces = True``).
        mode: how steps are compared (``aligned``, ``positional``, ``soft``, ``aligned_soft``).
        redact: further redaction rules, see ``agentpath_sdk.redaction.add_rule``.
        weights: the composite's weights, or the name of a profile (balanced, accuracy, efficiency).
        settings: any field of ``TracingSettings`` (``capture_content``, ``sample_rate``, ...),
            ``ScoringSettings`` or ``OnlineSettings``; default: the environment's ``AGENTPATH_<FIELD>``.

    Returns:
        A handle to flush, watch and stop it.

    Raises:
        ConfigurationError: a setting is wrong, or the provider takes no span processors.
        FileFormatError: a gold file cannot be read; nothing has been changed then.
    """
    parts = resolve(settings if weights is None else {**settings, "weights": weights})
    arguments.check_word("mode", mode, get_args(Mode))
    arguments.check_word("evaluate_span", evaluate_span, (True, False, None))
    arguments.check_provider("logger_provider", logger_provider, "get_logger")
    arguments.check_provider("meter_provider", meter_provider, "get_meter")
    rules = arguments.rules(redact)
    exporters = as_exporters(score_exporters)
    registry = registry_of(gold, parts.online)
    provider = joining.provider_of(tracer_provider)
    joining.check_target(provider, forward_to)
    with _lock:
        if _handle is not None:
            _handle.shutdown()
        removers = [redaction.add_rule(rule) for rule in rules]
        pipeline = _pipeline(
            registry,
            parts,
            mode=mode,
            score_exporters=exporters,
            evaluate=_evaluate_emitter(provider, evaluate_span, exporters),
            logs=LogEvents(logger_provider),
            numbers=Metrics(meter_provider, max_label_sets=parts.online.max_label_sets),
        )
        trace_as_before = trace_with(parts.tracing, tracer_provider)
        joining.join(provider, pipeline, forward_to)
        _observe_health(meter_provider)
        undo = (
            *removers,
            trace_as_before,
            listen_for_outcomes(pipeline),
            lambda: joining.detach_all(provider),
        )
        providers = (provider, logger_provider or get_logger_provider(), meter_provider or metrics.get_meter_provider())
        return _remember(Handle(pipeline, registry, providers=providers, undo=undo))


def flush(timeout: float = 30.0) -> bool:
    """As ``Handle.flush`` for the process's handle; True when nothing is configured."""
    handle = _handle
    return True if handle is None else handle.flush(timeout)


def shutdown(timeout: float | None = None) -> bool:
    """As ``Handle.shutdown`` for the process's handle; True when nothing is configured."""
    handle = _handle
    return True if handle is None else handle.shutdown(timeout)


class AgentPathSpanExporter(SpanExporter):
    """For ``OTEL_TRACES_EXPORTER=otlp,agentpath`` and ``opentelemetry-instrument``: scoring without a line of code.

    Takes its settings from the environment (``AGENTPATH_GOLD`` and ``AGENTPATH_<SETTING>``), or uses what the
    application has configured itself. It exports nothing: scores leave as log events, metrics and ``evaluate``
    spans. It joins the tracer provider that is set by then, and is fed by its own exports otherwise.

    A wrong setting or gold file is logged as an error and not raised: raising here would switch off all of
    the application's tracing.
    """

    def __init__(self) -> None:
        self._handle: Handle | None = None
        try:
            with _lock:
                self._handle = _handle or (_detached() if joining.sdk_provider() is None else configure())
        except Exception as error:
            HEALTH.count("configure.failed")
            _complain(f"agentpath: agents are not scored: {_words(error)}")

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Take the spans that a processor of ours has not taken already."""
        with guard("online.export"):
            if (pipeline := self._pipeline()) is not None:
                for span in spans:
                    pipeline.offer_exported(span)
        return SpanExportResult.SUCCESS

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Return whether all scores of ended runs were sent in time."""
        with guard("online.force_flush"):
            pipeline = self._pipeline()
            return pipeline is None or pipeline.flush(timeout_millis / 1e3)
        return False

    def shutdown(self) -> None:
        """Score and send what there is, within the setting ``shutdown_seconds``."""
        with guard("online.shutdown"):
            if (pipeline := self._pipeline()) is not None:
                pipeline.flush(pipeline.settings.shutdown_seconds)

    def _pipeline(self) -> Pipeline | None:
        # The application may have configured again since.
        handle = _handle or self._handle
        return None if handle is None else handle.pipeline


def _words(error: Exception) -> str:
    # A message of somebody else's error may hold anything.
    return str(error) if isinstance(error, AgentPathError) else type(error).__name__


def _complain(text: str) -> None:
    """Log an error of set-up; on stderr where nothing has been set up to show logs, as is so before the application."""
    _logger.error("%s", text)
    if not logging.getLogger().handlers and sys.stderr is not None:
        with contextlib.suppress(OSError, ValueError):
            print(text, file=sys.stderr)  # noqa: T201 - a library's last resort, as logging's own


# --- parts of configure() ---------------------------------------------------------------------------------------------


def registry_of(gold: Gold | None, settings: OnlineSettings) -> ReloadingRegistry:
    """Return the registry of ``gold``; None = what the environment names.

    Raises:
        ConfigurationError: something in it is no file, folder or gold path.
        FileFormatError: a file cannot be read.
    """
    if gold is None:
        gold = [path for path in os.environ.get(_GOLD_VARIABLE, "").split(os.pathsep) if path]
    return ReloadingRegistry(*arguments.gold_sources(gold), check_seconds=settings.reload_seconds)


def _pipeline(
    registry: ReloadingRegistry,
    parts: Settings,
    *,
    mode: Mode,
    score_exporters: Sequence[ScoreExporter],
    evaluate: Callable[[Callable[[], Pipeline]], Emitter] | None,
    logs: LogEvents,
    numbers: Metrics,
) -> Pipeline:
    made: list[Pipeline] = []
    emitters: list[Emitter] = [logs, numbers]
    if evaluate is not None:
        emitters.append(evaluate(lambda: made[0]))
    pipeline = Pipeline(
        registry.look_up,
        lambda trajectory, paths: score_best(trajectory, paths, mode=mode, settings=parts.scoring),
        settings=parts.online,
        emitters=emitters,
        score_exporters=score_exporters,
        goal_sink=logs.goal,
        housekeeping=registry.reload_if_changed,
        on_first_span=_flush_at_exit,
    )
    made.append(pipeline)
    return pipeline


def _evaluate_emitter(
    provider: TracerProvider, wanted: bool | None, score_exporters: Sequence[ScoreExporter]
) -> Callable[[Callable[[], Pipeline]], Emitter] | None:
    """Return a maker of the emitter; whether anybody puts scores on spans shows only while running."""
    if wanted is False or (wanted is None and any(getattr(e, "scores_on_traces", False) for e in score_exporters)):
        return None
    spans = EvaluateSpans(provider)

    def make(pipeline: Callable[[], Pipeline]) -> Emitter:
        def emit(record: ScoreRecord) -> None:
            if wanted or not pipeline().puts_scores_on_spans:
                spans(record)

        return emit

    return make


def _detached() -> Handle:
    """Return a handle whose pipeline is joined to no provider: somebody's exports feed it."""
    parts = resolve({})
    registry = registry_of(None, parts.online)
    evaluate = _evaluate_emitter(trace.get_tracer_provider(), None, ())
    pipeline = _pipeline(
        registry, parts, mode="aligned", score_exporters=(), evaluate=evaluate, logs=LogEvents(), numbers=Metrics()
    )
    undo = [trace_with(parts.tracing, None), listen_for_outcomes(pipeline)]
    _observe_health(None)
    return _remember(Handle(pipeline, registry, undo=undo))


def trace_with(settings: TracingSettings, provider: TracerProvider | None) -> Callable[[], None]:
    """Have the decorators and handlers trace so; return a function that puts everything back."""
    global _traced_with
    # Now, at set-up: a fork while another thread imports leaves the child waiting for that import for ever.
    INTEGRATIONS.all()
    recorder = get_recorder()
    settings_before, provider_before = recorder.settings, _traced_with
    recorder.settings = settings
    recorder.use_provider(provider)
    _traced_with = provider

    def back() -> None:
        global _traced_with
        recorder.settings = settings_before
        recorder.use_provider(provider_before)
        _traced_with = provider_before

    return back


def listen_for_outcomes(pipeline: Pipeline) -> Callable[[], None]:
    """Hand outcomes told of ended runs to ``pipeline``; return a function that stops it."""

    def hear(outcome: outcomes.RecordedOutcome) -> None:
        goal = GoalWord(success=outcome.success, reason=outcome.reason, source=outcome.source)
        pipeline.record_outcome(outcome.run.trace_id, outcome.run.span_id, goal)

    return outcomes.subscribe(hear)


def _observe_health(provider: MeterProvider | None) -> None:
    # An observable counter cannot be taken back: once per meter provider, or it would be counted twice.
    key = provider if provider is not None else metrics.get_meter_provider()
    if not any(key is seen for seen in _health_observed):
        _health_observed.append(key)
        observe_health(provider)


def _remember(handle: Handle) -> Handle:
    global _handle
    _handle = handle
    use_pipeline(handle.pipeline)
    return handle


def _forget(handle: Handle) -> None:
    global _handle
    with _lock:
        if _handle is handle:
            _handle = None
            use_pipeline(None)


def _flush_provider(provider: object, seconds: float) -> bool:
    force_flush = getattr(provider, "force_flush", None)
    if force_flush is None:
        return True
    with guard("configure.flush"):
        return force_flush(int(min(seconds, _LONGEST_SECONDS) * 1e3)) is not False
    return False


_exit_registered = False


def _flush_at_exit() -> None:
    """Register the exit hook, at the first span: hooks run last in, first out, and by then the providers that
    scores leave through have registered theirs."""
    global _exit_registered
    if not _exit_registered:
        _exit_registered = True
        at_process_end(_exit)


def _exit() -> None:
    # Calls that are still open end now, and their runs are judged as what they are.
    get_recorder().shutdown()
    handle = _handle
    if handle is not None and ends_without_exit():
        # The providers' own exit functions will not be called either.
        handle.flush(handle.pipeline.settings.shutdown_seconds)
    shutdown()


def _after_fork() -> None:
    global _lock
    _lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
