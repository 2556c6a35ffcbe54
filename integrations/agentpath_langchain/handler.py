"""The callback handler: LangChain's events become calls of the recorder, by run id and without attaching a context."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final, TypeVar
from uuid import UUID

from opentelemetry import context as context_api

from agentpath_langchain import models, pauses
from agentpath_langchain.arguments import arguments_of, traced_function_in_call
from agentpath_langchain.lifecycle import graph_aware
from agentpath_langchain.messages import genai_messages
from agentpath_langchain.outcomes import Meaning, meaning_of, reported_error, stopped_by_limit
from agentpath_langchain.placing import agent_name, is_agent, is_graph_node, parent_of, place_of
from agentpath_langchain.results import call_id_of, documents_of, messages_in, result_of
from agentpath_langchain.run_facts import adopt_conversation, is_placeholder, is_state, late_query, plain_input
from agentpath_langchain.runs import Link, runs_of
from agentpath_langchain.states import answer_of, conversation_of, query_of
from agentpath_langchain.tool_options import METADATA_KEY, ToolOptions, options_named
from agentpath_sdk import semconv
from agentpath_sdk._guard import guard
from agentpath_sdk.errors import MissingExtraError
from agentpath_sdk.tracing.binding import TRACED_TOOLS
from agentpath_sdk.tracing.recorder import UNSET, Recorder, Recording, fault, get_recorder

try:
    from langchain_core.callbacks import BaseCallbackHandler
except ImportError as missing:
    raise MissingExtraError("langchain-core", "langchain") from missing

__all__ = ["AgentPathCallbackHandler"]

_T = TypeVar("_T")
_U = TypeVar("_U")
_SUPPRESS: Final[str] = getattr(context_api, "_SUPPRESS_INSTRUMENTATION_KEY", "suppress_instrumentation")
_NO_METADATA: Final[Mapping[str, Any]] = {}
_NO_NAMES: Final[frozenset[str]] = frozenset()


class AgentPathCallbackHandler(BaseCallbackHandler):
    """Pass it as ``config={"callbacks": [AgentPathCallbackHandler()]}``.

    Good for sync and async code, for any number of runs at once and for as long as the process lives: it keeps nothing,
    open calls are the recorder's.

    Inside ``@trace_agent`` it is not needed (and does no harm: one call is one step however many handlers see it).
    """

    run_inline = True
    """In async code too: the events only fill in a span, and order is kept."""

    def __new__(cls, *args: Any, **kwargs: Any) -> AgentPathCallbackHandler:
        """Return a handler that LangGraph also tells of pauses which no node raises, once LangGraph is imported."""
        return super().__new__(graph_aware(cls))

    def __init__(self, *, recorder: Recorder | None = None) -> None:
        super().__init__()
        self._recorder = recorder or get_recorder()
        self._runs = runs_of(self._recorder)
        self.tool_options: ToolOptions | None = None
        """Held for the traced tool that this handler was made for."""

    def __copy__(self) -> AgentPathCallbackHandler:
        return self

    def __deepcopy__(self, memo: Any) -> AgentPathCallbackHandler:
        # Objects that hold callbacks get copied; the handler is the door's identity and stays one.
        return self

    def __reduce__(self) -> tuple[type[AgentPathCallbackHandler], tuple[()]]:
        return AgentPathCallbackHandler, ()

    @property
    def ignore_retry(self) -> bool:
        """Retries show as calls of their own."""
        return True

    @property
    def ignore_custom_event(self) -> bool:
        """Custom events are the application's."""
        return True

    # --- tools -----------------------------------------------------------------------------------

    def on_tool_start(
        self,
        serialized: dict[str, Any] | None,
        input_str: str,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        tags: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        inputs: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """Open a tool call."""
        # Runs at every tool call, so without a context manager and with a short way for what is common.
        try:
            context = context_api.get_current()
            if context.get(_SUPPRESS):
                return
            told = serialized or _NO_METADATA
            call_id = kwargs.get("tool_call_id")
            options = options_named(metadata) if metadata and METADATA_KEY in metadata else None
            try:
                arguments: Any = arguments_of(input_str, inputs, from_tool="color" in kwargs, call_id=call_id)
            except Exception as error:
                # The call is recorded whatever it was given.
                arguments = UNSET
                fault("langchain.arguments", error)
            self._recorder.start(
                run_id,
                door=self,
                kind="tool",
                name=(options and options.name) or told.get("name") or kwargs.get("name") or "tool",
                parent=parent_of(parent_run_id, self._runs, context),
                arguments=arguments,
                call_id=call_id,
                description=(options and options.description) or told.get("description"),
                capture=options.capture if options is not None else None,
                redact=options.redact if options is not None else _NO_NAMES,
                keep=options.keep if options is not None else _NO_NAMES,
                function=traced_function_in_call() if TRACED_TOOLS and "color" in kwargs else None,
            )
        except Exception as error:
            fault("langchain.tool_start", error)

    def on_tool_end(self, output: Any, *, run_id: UUID, **kwargs: Any) -> None:
        """Close a tool call; an error it reports by a flag is an error."""
        try:
            if type(output) is str and output[:1] != "{":
                self._recorder.end(run_id, door=self, result=output)
            else:
                self._end_tool(run_id, output)
        except Exception as error:
            self._end_bare(run_id)
            fault("langchain.tool_end", error)

    def _end_tool(self, run_id: UUID, output: Any) -> None:
        recording = self._recorder.get(run_id)
        if recording is None:
            return
        message = next(filter(None, map(reported_error, messages_in(output) or [output])), None)
        self._recorder.end(
            run_id,
            door=self,
            result=result_of(output),
            outcome="ok" if message is None else "error",
            error_message=message,
            error_type=None if message is None else "tool_error",
            attributes=_missing_call_id(recording, call_id_of(output)),
        )

    def on_tool_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        """Close a tool call that an exception left."""
        with guard("langchain.tool_error"):
            self._end_with(run_id, error)

    # --- retrievers ------------------------------------------------------------------------------

    def on_retriever_start(
        self,
        serialized: dict[str, Any] | None,
        query: str,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        tags: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """Open a retrieval."""
        with guard("langchain.retriever_start"):
            context = context_api.get_current()
            if context.get(_SUPPRESS):
                return
            path: Any = (serialized or _NO_METADATA).get("id")
            self._recorder.start(
                run_id,
                door=self,
                kind="retrieval",
                name=kwargs.get("name") or (path[-1] if path else "retriever"),
                parent=parent_of(parent_run_id, self._runs, context),
                arguments={"query": query},
                query=query,
            )

    def on_retriever_end(self, documents: Sequence[Any], *, run_id: UUID, **kwargs: Any) -> None:
        """Close a retrieval."""
        with guard("langchain.retriever_end"), self._surely_ending(run_id):
            if self._recorder.get(run_id) is not None:
                self._recorder.end(run_id, door=self, result=documents_of(documents))

    def on_retriever_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        """Close a retrieval that an exception left."""
        with guard("langchain.retriever_error"):
            self._end_with(run_id, error)

    # --- models ----------------------------------------------------------------------------------

    def on_chat_model_start(
        self,
        serialized: dict[str, Any],
        messages: list[list[Any]],
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        tags: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """Open a chat model call."""
        with guard("langchain.model_start"):
            self._model_start(
                serialized, [m for batch in messages for m in batch], run_id, parent_run_id, metadata, kwargs
            )

    def on_llm_start(
        self,
        serialized: dict[str, Any],
        prompts: list[str],
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        tags: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """Open a completion model call."""
        with guard("langchain.model_start"):
            self._model_start(serialized, prompts, run_id, parent_run_id, metadata, kwargs)

    def on_llm_end(self, response: Any, *, run_id: UUID, **kwargs: Any) -> None:
        """Close a model call."""
        with guard("langchain.model_end"), self._surely_ending(run_id):
            recording = self._recorder.get(run_id)
            if recording is not None:
                output = models.output_of(response) if recording.live and recording.capture else UNSET
                self._recorder.end(run_id, door=self, output=output, attributes=models.response_attributes(response))

    def on_llm_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        """Close a model call that an exception left, with what was received of its answer."""
        with guard("langchain.model_error"), self._surely_ending(run_id, error):
            response = kwargs.get("response")
            output = models.output_of(response) if response is not None and response.generations else UNSET
            self._end_with(run_id, error, output=output or UNSET)

    def _model_start(
        self,
        serialized: Mapping[str, Any] | None,
        messages: Sequence[Any],
        run_id: UUID,
        parent_run_id: UUID | None,
        metadata: Mapping[str, Any] | None,
        kwargs: Mapping[str, Any],
    ) -> None:
        context = context_api.get_current()
        if context.get(_SUPPRESS):
            return
        known = metadata or _NO_METADATA
        self._recorder.start(
            run_id,
            door=self,
            kind="model",
            name=models.model_name(serialized, known, kwargs.get("invocation_params") or _NO_METADATA),
            parent=parent_of(parent_run_id, self._runs, context),
            input=_found(genai_messages, messages, UNSET) if self._recorder.settings.capture_content else UNSET,
            attributes=models.request_attributes(known),
        )

    # --- chains: agents, and what lies between --------------------------------------------------

    def on_chain_start(
        self,
        serialized: dict[str, Any] | None,
        inputs: Any,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        tags: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """Open an agent run, or remember which call a plain chain run is part of."""
        with guard("langchain.chain_start"):
            known = self._runs.get(run_id)
            context = context_api.get_current()
            if context.get(_SUPPRESS) or (known is not None and not known.owns):
                return
            facts = metadata or _NO_METADATA
            name = kwargs.get("name") or _class_name(serialized)
            self._settle(parent_run_id, is_graph_node(tags))
            place = place_of(parent_run_id, self._recorder, self._runs, context)
            agent = place.around.agent if place.around is not None else None
            is_ours = agent is not None and isinstance(agent.door, AgentPathCallbackHandler)
            # A stand-in has opened the run under this very id.
            is_open = self._recorder.get(run_id) is not None
            verdict = is_open or is_agent(place, name, tags, facts, is_ours)
            top = None if place.link is None else place.link.top or place.link
            if verdict:
                link = Link(run_id, top=top, owns=True, agent=facts.get("lc_agent_name"))
                self._open_agent(run_id, place.parent, agent_name(place, name, facts), inputs, facts, kwargs)
            else:
                assert place.around is not None
                link = Link(place.around.key, top=top, agent=facts.get("lc_agent_name"))
                link.waiting = (name, inputs, facts) if verdict is None else None
                adopt_conversation(self._recorder, place.around, facts)
            self._runs.put(run_id, link)

    def on_chain_end(self, outputs: Any, *, run_id: UUID, **kwargs: Any) -> None:
        """Close an agent run, or forget a plain chain run."""
        with guard("langchain.chain_end"), self._surely_ending(run_id):
            link = self._runs.pop(run_id)
            recording = self._recorder.get(link.owner) if link is not None else None
            if link is None or recording is None or not (link.owns or link.top is None):
                return
            answer = _found(answer_of, outputs, None)
            limited = stopped_by_limit(answer)
            if not link.owns:
                pauses.settle(self._recorder, recording, link, "limit" if limited else None)
                return
            late_query(self._recorder, recording, kwargs.get("inputs"))
            pauses.remember(recording, link.paused)
            self._recorder.end(
                run_id,
                door=self,
                answer=answer,
                output=UNSET if answer is not None or is_state(outputs) else outputs,
                outcome="interrupted" if link.paused else "ok",
                stop_reason="pending" if link.paused else "limit" if limited else None,
            )

    def on_chain_error(
        self, error: BaseException, *, run_id: UUID, parent_run_id: UUID | None = None, **kwargs: Any
    ) -> None:
        """Close an agent run that an exception left, or forget a plain chain run."""
        with guard("langchain.chain_error"), self._surely_ending(run_id, error):
            link = self._runs.pop(run_id)
            if link is None:
                return
            meaning = meaning_of(error)
            above = self._runs.get(parent_run_id)
            if meaning.stop_reason == "pending" and above is not None:
                # A graph takes its node's pause in silence and ends well.
                above.paused = True
            recording = self._recorder.get(link.owner)
            if recording is None:
                return
            if not link.owns:
                link.paused = link.paused or meaning.stop_reason == "pending"
                pauses.settle(self._recorder, recording, link, "limit" if meaning.stop_reason == "limit" else None)
                return
            pauses.remember(recording, meaning.stop_reason == "pending")
            self._end_with(run_id, error, meaning)

    def on_interrupt(self, event: Any) -> None:
        """Note a pause that no node raised, such as ``interrupt_before``."""
        with guard("langchain.interrupt"):
            link = self._runs.get(getattr(event, "run_id", None))
            if link is not None:
                link.paused = True

    def _settle(self, run_id: UUID | None, is_node: bool) -> None:
        """Decide on a run that waits to be known as a graph, now that its first child has come."""
        link = self._runs.get(run_id)
        if link is None or link.waiting is None or run_id is None:
            return
        with self._runs.lock:
            waiting = link.take_waiting()
            if waiting is not None and is_node:
                self._open_agent(run_id, link.owner, *waiting, _NO_METADATA)
                link.owner, link.owns = run_id, True

    def _open_agent(
        self,
        run_id: UUID,
        parent: Any,
        name: str,
        inputs: Any,
        metadata: Mapping[str, Any],
        kwargs: Mapping[str, Any],
    ) -> None:
        # A streamed run is started with a placeholder and tells its input at its end.
        deferred = bool(kwargs.get("defers_inputs")) or is_placeholder(inputs)
        query = None if deferred else _found(query_of, inputs, None)
        recording = self._recorder.start(
            run_id,
            door=self,
            kind="agent",
            name=name,
            parent=parent,
            query=query,
            input=UNSET if deferred or query is not None else _found(plain_input, inputs, UNSET),
            conversation_id=conversation_of(metadata),
        )
        if recording is not None:
            pauses.link_to_paused(recording)

    # --- ends ------------------------------------------------------------------------------------

    @contextmanager
    def _surely_ending(self, run_id: UUID, error: BaseException | None = None) -> Generator[None]:
        """End the call bare of content where reading what it gave back failed."""
        try:
            yield
        except Exception:
            self._end_bare(run_id, error)
            raise

    def _end_bare(self, run_id: UUID, error: BaseException | None = None) -> None:
        if error is None:
            self._recorder.end(run_id, door=self)
        else:
            self._end_with(run_id, error)

    def _end_with(
        self, run_id: UUID, error: BaseException, meaning: Meaning | None = None, *, output: Any = UNSET
    ) -> None:
        outcome, stop_reason = meaning or meaning_of(error)
        self._recorder.end(
            run_id,
            door=self,
            output=output,
            outcome=outcome,
            # A pause or a hand-over is no exception of the call's, however it is told.
            error=error if outcome in ("error", "cancelled") else None,
            stop_reason=stop_reason,
        )


def _found(read: Callable[[Any], _T], value: Any, otherwise: _U) -> _T | _U:
    """Return what ``read`` finds in a value of the application's; what raises is counted and costs this fact only."""
    try:
        return read(value)
    except Exception as error:
        fault(f"langchain.{read.__name__}", error)
        return otherwise


def _class_name(serialized: Mapping[str, Any] | None) -> str:
    path: Any = (serialized or _NO_METADATA).get("id")
    return str(path[-1]) if path else str((serialized or _NO_METADATA).get("name") or "chain")


def _missing_call_id(recording: Recording, call_id: str | None) -> dict[str, Any] | None:
    if call_id is None or semconv.TOOL_CALL_ID in recording.essential:
        return None
    return {semconv.TOOL_CALL_ID: call_id}
