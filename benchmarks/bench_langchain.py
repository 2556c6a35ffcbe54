"""What the LangChain handler adds to a tool call, beside OpenInference's instrumentation, in one run."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from harness import Row, timed

_CALLS: Final = 200
_ROUNDS: Final = 25
_GOAL: Final = 0.35
_ARGUMENTS: Final = {
    "query": "temperature of Mars " * 6,
    "limit": 10,
    "language": "en",
    "fields": ["a", "b"],
    "exact": True,
}
_RESULT: Final = "The mean temperature is minus sixty-five degrees. " * 20


def rows() -> list[Row]:
    """Return our added time per tool call and its ratio to OpenInference's."""
    try:
        from langchain_core.tools import tool
    except ImportError:
        return [_missing("langchain-core")]

    @tool
    def search(query: str, limit: int, language: str, fields: list[str], exact: bool) -> str:
        """Search."""
        return _RESULT

    bare, ours = _work(search, []), _work(search, [_our_handler()])
    peer = _peer()
    if peer is None:
        added, _ = _added(bare, ours, None)
        return [_added_row(added), _missing("openinference-instrumentation-langchain")]
    theirs = _work(search, [])
    with peer() as switch:
        added, share = _added(bare, ours, lambda: switch(theirs))
    return [
        _added_row(added),
        Row(name="langchain handler / openinference", value=share, unit="x", goal=_GOAL),
    ]


def _added_row(added: float) -> Row:
    return Row(name="langchain handler, added per tool call", value=added * 1e6, unit="us")


def _missing(package: str) -> Row:
    return Row(name="langchain handler / openinference", value=float("nan"), unit="x", note=f"{package} not installed")


def _work(tool: Any, callbacks: list[Any]) -> Callable[[], None]:
    config = {"callbacks": callbacks} if callbacks else None

    def work() -> None:
        for _ in range(_CALLS):
            tool.invoke(_ARGUMENTS, config)

    return work


def _added(
    bare: Callable[[], None], ours: Callable[[], None], theirs: Callable[[], float] | None
) -> tuple[float, float]:
    """Return (our added seconds per call, median of our added time over theirs): all measured in every round."""
    bare(), ours()
    added: list[float] = []
    shares: list[float] = []
    for number in range(_ROUNDS):
        first = timed(bare)
        mine, other = (timed(ours), theirs() if theirs else 0.0) if number % 2 else _swapped(ours, theirs)
        # The machine drifts, so the bare calls are measured before and after.
        base = (first + timed(bare)) / 2
        added.append((mine - base) / _CALLS)
        if theirs:
            shares.append((mine - base) / max(other - base, 1e-9))
    return statistics.median(added), statistics.median(shares) if shares else float("nan")


def _swapped(ours: Callable[[], None], theirs: Callable[[], float] | None) -> tuple[float, float]:
    other = theirs() if theirs else 0.0
    return timed(ours), other


def _provider() -> Any:
    from opentelemetry.sdk.trace import SpanProcessor, TracerProvider

    provider = TracerProvider(shutdown_on_exit=False)
    # Spans are recorded and handed on; where they go is the same for both and no part of the comparison.
    provider.add_span_processor(SpanProcessor())
    return provider


def _our_handler() -> Any:
    from agentpath_langchain import AgentPathCallbackHandler
    from agentpath_sdk.tracing.recorder import Recorder

    return AgentPathCallbackHandler(recorder=Recorder(provider=_provider()))


def _peer() -> Any:
    """Return a context manager that gives a timer of work under OpenInference, None when it is not installed."""
    try:
        from openinference.instrumentation.langchain import LangChainInstrumentor
    except ImportError:
        return None

    @contextmanager
    def peer() -> Iterator[Callable[[Callable[[], None]], float]]:
        instrumentor = LangChainInstrumentor()
        provider = _provider()

        def measure(work: Callable[[], None]) -> float:
            instrumentor.instrument(tracer_provider=provider)
            try:
                return timed(work)
            finally:
                instrumentor.uninstrument()

        yield measure

    return peer


if __name__ == "__main__":
    for row in rows():
        print(row)
