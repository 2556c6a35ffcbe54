"""Stand-ins for Runnables and tools: used like the originals, and traced however they are called."""

from __future__ import annotations

import functools
import types
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, cast

import wrapt
from langchain_core.runnables import Runnable, RunnableConfig, RunnableSequence
from langchain_core.runnables.base import RunnableSerializable
from langchain_core.runnables.config import get_config_list
from langchain_core.tools import BaseTool

from agentpath_langchain.agent_runs import AgentRun, aiterate, iterate
from agentpath_langchain.handler import AgentPathCallbackHandler
from agentpath_langchain.switch import SWITCH
from agentpath_langchain.tool_options import METADATA_KEY, ToolOptions
from agentpath_sdk.tracing.options import CallOptions

__all__ = ["TracedRunnable", "traced_agent", "traced_tool"]

_DERIVING: Final = frozenset(
    {
        "assign", "bind", "configurable_alternatives", "configurable_fields", "copy", "map", "model_copy", "pick",
        "pipe", "with_alisteners", "with_config", "with_fallbacks", "with_listeners", "with_retry", "with_types",
    }
)  # fmt: skip
"""Methods that return a Runnable made from this one: made from the stand-in, or made a stand-in too."""
_ON_STAND_IN: Final = frozenset({"abatch_as_completed", "as_tool", "batch_as_completed"})
"""Methods whose general form calls ``invoke``, which then is the stand-in's."""


_RUNNABLE: Final[Any] = Runnable

if TYPE_CHECKING:

    class _Proxy:
        """What is used of wrapt's proxy, whose own types are unknown to checkers in some versions."""

        __wrapped__: Any

        def __init__(self, wrapped: Any) -> None: ...
        def __getattr__(self, name: str) -> Any: ...

else:
    _Proxy = wrapt.ObjectProxy


class TracedRunnable(_Proxy):
    """A Runnable whose every run is one agent run: invoke, ainvoke, stream, astream, batch, abatch and their kin."""

    def __init__(self, wrapped: Any, options: CallOptions) -> None:
        super().__init__(wrapped)
        self._self_options = options

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002 - LangChain's word
        """Run once."""
        run = self._self_run(config).open(input, kwargs)
        try:
            with run:
                result = self.__wrapped__.invoke(input, run.config, **kwargs)
        except BaseException as error:
            run.fail(error)
            raise
        run.finish(result)
        return result

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002 - same
        """Run once."""
        run = self._self_run(config).open(input, kwargs)
        try:
            with run:
                result = await self.__wrapped__.ainvoke(input, run.config, **kwargs)
        except BaseException as error:
            run.fail(error)
            raise
        run.finish(result)
        return result

    def stream(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Iterator[Any]:  # noqa: A002 - same
        """Run once, item by item."""
        run = self._self_run(config)
        return iterate(run, input, kwargs, lambda: self.__wrapped__.stream(input, run.config, **kwargs))

    def astream(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> AsyncIterator[Any]:  # noqa: A002 - same
        """Run once, item by item."""
        run = self._self_run(config)
        return aiterate(run, input, kwargs, lambda: self.__wrapped__.astream(input, run.config, **kwargs))

    def astream_events(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002 - same
        """Run once, event by event."""
        run = self._self_run(config)
        if kwargs.get("version", "v2") not in ("v1", "v2"):
            # Newer versions return an object that drives the run; the run is recorded from its events.
            return self.__wrapped__.astream_events(input, _heard(run.config), **kwargs)
        return aiterate(run, input, kwargs, lambda: self.__wrapped__.astream_events(input, run.config, **kwargs))

    def transform(self, input: Iterator[Any], config: RunnableConfig | None = None, **kwargs: Any) -> Iterator[Any]:  # noqa: A002 - same
        """Run once on a stream, as a step of a streamed sequence."""
        first = next(input, None)
        run = self._self_run(config)

        def items() -> Iterator[Any]:
            if first is not None:
                yield first
            yield from input

        return iterate(run, first, kwargs, lambda: self.__wrapped__.transform(items(), run.config, **kwargs))

    async def atransform(
        self,
        input: AsyncIterator[Any],  # noqa: A002 - same
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[Any]:
        """Run once on a stream, as a step of a streamed sequence."""
        first = await anext(input, None)
        run = self._self_run(config)

        async def items() -> AsyncIterator[Any]:
            if first is not None:
                yield first
            async for item in input:
                yield item

        made = aiterate(run, first, kwargs, lambda: self.__wrapped__.atransform(items(), run.config, **kwargs))
        async for item in made:
            yield item

    def batch(
        self,
        inputs: Sequence[Any],
        config: RunnableConfig | list[RunnableConfig] | None = None,
        *,
        return_exceptions: bool = False,
        **kwargs: Any,
    ) -> list[Any]:
        """Run once per input."""
        if _class_of(self).batch is _RUNNABLE.batch:
            one_by_one: list[Any] = _RUNNABLE.batch(
                self, list(inputs), config, return_exceptions=return_exceptions, **kwargs
            )
            return one_by_one
        runs, configs = self._self_opened(inputs, config, kwargs)
        try:
            with SWITCH.on():
                results = self.__wrapped__.batch(inputs, configs, return_exceptions=return_exceptions, **kwargs)
        except BaseException as error:
            _fail_all(runs, error)
            raise
        return _finish_all(runs, results)

    async def abatch(
        self,
        inputs: Sequence[Any],
        config: RunnableConfig | list[RunnableConfig] | None = None,
        *,
        return_exceptions: bool = False,
        **kwargs: Any,
    ) -> list[Any]:
        """Run once per input."""
        if _class_of(self).abatch is _RUNNABLE.abatch:
            one_by_one: list[Any] = await _RUNNABLE.abatch(
                self, list(inputs), config, return_exceptions=return_exceptions, **kwargs
            )
            return one_by_one
        runs, configs = self._self_opened(inputs, config, kwargs)
        try:
            with SWITCH.on():
                results = await self.__wrapped__.abatch(inputs, configs, return_exceptions=return_exceptions, **kwargs)
        except BaseException as error:
            _fail_all(runs, error)
            raise
        return _finish_all(runs, results)

    def __or__(self, other: Any) -> Any:
        return _RUNNABLE.__or__(self, other)

    def __ror__(self, other: Any) -> Any:
        return _RUNNABLE.__ror__(self, other)

    def __getattr__(self, name: str) -> Any:
        found = super().__getattr__(name)
        if name in _ON_STAND_IN:
            return _of_stand_in(name, self)
        if name not in _DERIVING or not callable(found):
            return found
        general: Any = getattr(_RUNNABLE, name, None)
        if general is not None and getattr(_class_of(self), name, None) is general:
            return _of_stand_in(name, self)
        return functools.partial(_derived, found, self._self_options)

    def __copy__(self) -> TracedRunnable:
        return self

    def __deepcopy__(self, memo: Any) -> TracedRunnable:
        return self

    def __reduce_ex__(self, protocol: Any) -> Any:
        return traced_agent, (self.__wrapped__, self._self_options)

    def _self_run(self, config: RunnableConfig | None) -> AgentRun:
        return AgentRun(self.__wrapped__, self._self_options, config)

    def _self_opened(self, inputs: Sequence[Any], config: Any, kwargs: Any) -> tuple[list[AgentRun], Any]:
        configs = get_config_list(config, len(inputs))
        runs = [self._self_run(one).open(given, kwargs) for one, given in zip(configs, inputs, strict=True)]
        return runs, [run.config for run in runs]


class _TracedSequence(TracedRunnable):
    """A stand-in that does not pass for a RunnableSequence: LangChain takes those apart when it joins them."""

    if not TYPE_CHECKING:  # checkers know no class that changes what isinstance says of it

        @property
        def __class__(self) -> Any:
            return RunnableSerializable


def traced_agent(obj: Any, options: CallOptions) -> Any | None:
    """Return a traced stand-in for a Runnable (a LangGraph graph is one), None for anything else."""
    if isinstance(obj, TracedRunnable):
        obj = obj.__wrapped__
    if not _is_runnable(obj):
        return None
    wrapped: Any = obj
    kind = _TracedSequence if isinstance(wrapped, RunnableSequence) else TracedRunnable
    return kind(wrapped, options)


def traced_tool(obj: Any, options: CallOptions) -> Any | None:
    """Return a copy of a LangChain tool that is recorded wherever it is called, None for anything else.

    The copy has the handler among its own callbacks; function, schema and description are the original's.
    """
    if not isinstance(obj, BaseTool):
        return None
    own = obj.callbacks
    held = ToolOptions(options)
    handler = AgentPathCallbackHandler()
    # Goes wherever the tool's callbacks go, so that copies of the tool keep the options too.
    handler.tool_options = held
    if own is None or isinstance(own, list):
        callbacks: Any = [*(own or []), handler]
    else:
        callbacks = own.copy()
        callbacks.add_handler(handler, inherit=False)
    return obj.model_copy(update={"callbacks": callbacks, "metadata": {**(obj.metadata or {}), METADATA_KEY: held.id}})


def _class_of(stand_in: TracedRunnable) -> Any:
    return stand_in.__wrapped__.__class__


def _of_stand_in(name: str, stand_in: TracedRunnable) -> Any:
    """Return Runnable's general method, bound to the stand-in."""
    return types.MethodType(getattr(_RUNNABLE, name), stand_in)


def _is_runnable(obj: Any) -> bool:
    return isinstance(obj, Runnable) and not isinstance(obj, type)


def _derived(method: Any, options: CallOptions, *args: Any, **kwargs: Any) -> Any:
    made = method(*args, **kwargs)
    stand_in = traced_agent(made, options)
    return made if stand_in is None else stand_in


def _heard(config: RunnableConfig | None) -> RunnableConfig:
    made = cast(RunnableConfig, dict(config or {}))
    callbacks: Any = made.get("callbacks")
    if callbacks is None or isinstance(callbacks, list):
        made["callbacks"] = [*(cast("list[Any]", callbacks) or []), SWITCH.shared()]
    return made


def _finish_all(runs: Sequence[AgentRun], results: list[Any]) -> list[Any]:
    for run, result in zip(runs, results, strict=False):
        if isinstance(result, BaseException):
            run.fail(result)
        else:
            run.finish(result)
    return results


def _fail_all(runs: Sequence[AgentRun], error: BaseException) -> None:
    for run in runs:
        if run.is_settled():
            run.finish()
        else:
            run.fail(error)
