"""One agent run of a traced Runnable: opened under the run id LangChain will use, so that its events add to it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import ExitStack
from contextvars import Token
from typing import Any, Final, Self, cast
from uuid import UUID, uuid4

from langchain_core.callbacks import BaseCallbackManager
from langchain_core.language_models import BaseLanguageModel
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import var_child_runnable_config
from langchain_core.tools import BaseTool
from opentelemetry import context as context_api
from opentelemetry.context import Context

from agentpath_langchain.handler import AgentPathCallbackHandler
from agentpath_langchain.outcomes import meaning_of
from agentpath_langchain.runs import runs_of
from agentpath_langchain.states import answer_of, conversation_of, query_of
from agentpath_langchain.switch import SWITCH
from agentpath_sdk._guard import guard
from agentpath_sdk.tracing.attaching import attach, detach
from agentpath_sdk.tracing.frameworks import activate_all
from agentpath_sdk.tracing.options import CallOptions
from agentpath_sdk.tracing.picking import pick_answer, pick_query
from agentpath_sdk.tracing.recorder import UNSET, Recording, get_recorder

__all__ = ["AgentRun", "aiterate", "iterate"]

_DOOR: Final = "agentpath_langchain.stand_in"
_END: Final = object()


class AgentRun:
    """``with run:`` makes it current for the code inside, once or (between a stream's items) many times."""

    __slots__ = ("_config", "_options", "_stack", "_token", "count", "recording", "run_id", "target")

    def __init__(self, target: Any, options: CallOptions, config: RunnableConfig | None) -> None:
        self.target = target
        self._options = options
        self._config = config
        self._stack: ExitStack | None = None
        self._token: Token[Context] | None = None
        given: Any = (config or {}).get("run_id")
        self.run_id: UUID = given if isinstance(given, UUID) else uuid4()
        self.recording: Recording | None = None
        self.count = 0
        """Items handed out, of a stream."""

    def open(self, given: Any, kwargs: Mapping[str, Any]) -> Self:
        """Start the run."""
        with guard("langchain.open"):
            options = self._options
            arguments = {"input": given, "config": self._config, **kwargs}
            query = query_of(given) if options.query is None else None
            if options.query is not None:
                query = pick_query(options.query, arguments, (given,), kwargs, options.hides)
            self.recording = get_recorder().start(
                self.run_id, door=_DOOR, kind="agent", name=options.name or _name_of(self.target),
                gold_path=options.gold_path, query=query, input=given,
                conversation_id=_conversation(self._config), capture=options.capture, redact=options.redact,
                keep=options.keep,
            )  # fmt: skip
        return self

    @property
    def config(self) -> RunnableConfig | None:
        """The config to call the Runnable with: under our run id, and heard by us."""
        made = cast(RunnableConfig, dict(self._config or {}))
        if not isinstance(self.target, BaseLanguageModel | BaseTool | BaseRetriever):
            # Those would report themselves under this id, and not as an agent.
            made["run_id"] = self.run_id
        _be_heard(made)
        return made

    def __enter__(self) -> Self:
        if self.recording is not None:
            with guard("langchain.enter"):
                self._token = attach(self.recording.over(context_api.get_current()))
                self._stack = activate_all()
        return self

    def __exit__(self, *raised: object) -> None:
        stack, token = self._stack, self._token
        self._stack = self._token = None
        if stack is not None:
            with guard("langchain.leave"):
                stack.close()
        if token is not None:
            detach(token)

    def finish(self, result: Any = UNSET, *, partial: bool = False) -> None:
        """End a run that returned, or whose stream was read to its end or left by its reader."""
        if self.recording is None:
            return
        picked = None
        with guard("langchain.finish"):
            if result is not UNSET:
                picked = self._answer(result)
        get_recorder().end(
            self.run_id,
            door=_DOOR,
            answer=picked,
            output=UNSET if picked is not None or result is None else result,
            partial_items=self.count if partial else None,
        )

    def fail(self, error: BaseException) -> None:
        """End a run that raised."""
        outcome, stop_reason = meaning_of(error)  # total
        get_recorder().end(
            self.run_id,
            door=_DOOR,
            outcome=outcome,
            error=error if outcome in ("error", "cancelled") else None,
            stop_reason=stop_reason,
            partial_items=self.count or None,
        )

    def is_settled(self) -> bool:
        """Return whether LangChain has reported this run's start and end."""
        recording = self.recording
        if recording is None or recording.ended:
            return True
        return len(recording.doors) > 1 and runs_of(get_recorder()).get(self.run_id) is None

    def _answer(self, result: Any) -> str | None:
        pick = self._options.answer
        if pick is None:
            return answer_of(result)
        if self.recording is not None:
            # What the events took for the answer gives way to what the user says it is.
            get_recorder().forget_output(self.recording)
        return pick_answer(pick, result)


def iterate(run: AgentRun, given: Any, kwargs: Mapping[str, Any], make: Callable[[], Iterator[Any]]) -> Iterator[Any]:
    """Yield what ``make()`` yields, as one run; nothing is opened before the first item is asked for."""
    run.open(given, kwargs)
    iterator: Any = None
    try:
        with run:
            iterator = iter(make())
        while True:
            with run:
                item = next(iterator, _END)
            if item is _END:
                break
            run.count += 1
            yield item
    except GeneratorExit:
        try:
            with run:
                _close(iterator)
        except BaseException as error:
            run.fail(error)
            raise
        run.finish(partial=True)
        raise
    except BaseException as error:
        run.fail(error)
        raise
    run.finish()


async def aiterate(
    run: AgentRun, given: Any, kwargs: Mapping[str, Any], make: Callable[[], AsyncIterator[Any]]
) -> AsyncIterator[Any]:
    """The same for an async stream."""
    run.open(given, kwargs)
    iterator: Any = None
    try:
        with run:
            iterator = aiter(make())
        while True:
            with run:
                item = await anext(iterator, _END)
            if item is _END:
                break
            run.count += 1
            yield item
    except GeneratorExit:
        try:
            with run:
                await _aclose(iterator)
        except BaseException as error:
            run.fail(error)
            raise
        run.finish(partial=True)
        raise
    except BaseException as error:
        run.fail(error)
        raise
    run.finish()


def _close(iterator: Any) -> None:
    close = getattr(iterator, "close", None)
    if close is not None:
        close()


async def _aclose(iterator: Any) -> None:
    close = getattr(iterator, "aclose", None)
    if close is not None:
        await close()


def _name_of(target: Any) -> str:
    name = getattr(target, "name", None)
    return name if isinstance(name, str) and name else str(target.get_name())


def _conversation(config: RunnableConfig | None) -> str | None:
    known: Any = config or var_child_runnable_config.get() or {}
    return conversation_of(known.get("metadata")) or conversation_of(known.get("configurable"))


def _be_heard(config: RunnableConfig) -> None:
    """Put the handler into a callback manager that is passed on as it is, without asking for further handlers."""
    callbacks: Any = config.get("callbacks")
    if callbacks is None:
        callbacks = (var_child_runnable_config.get() or {}).get("callbacks")
    if isinstance(callbacks, BaseCallbackManager) and not any(
        isinstance(handler, AgentPathCallbackHandler) for handler in callbacks.handlers
    ):
        made = callbacks.copy()
        made.add_handler(SWITCH.shared(), inherit=True)
        config["callbacks"] = made
