"""The callback handler: LangChain's events become calls of the recorder, by run id and without attaching a context."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, cast
from uuid import UUID

from opentelemetry import context as context_api

from agentpath_langchain import models, pauses
from agentpath_langchain.arguments import arguments_of
from agentpath_langchain.messages import genai_messages
from agentpath_langchain.outcomes import Meaning, meaning_of, reported_error, stopped_by_limit
from agentpath_langchain.placing import Place, agent_name, is_agent, is_graph_node, place_of
from agentpath_langchain.results import call_id_of, documents_of, messages_in, result_of
from agentpath_langchain.runs import Link, runs_of
from agentpath_langchain.states import answer_of, conversation_of, query_of
from agentpath_langchain.tool_options import ToolOptions, options_named
from agentpath_sdk import semconv
from agentpath_sdk._guard import guard
from agentpath_sdk.errors import MissingExtraError
from agentpath_sdk.tracing import content
from agentpath_sdk.tracing.options import CallOptions
from agentpath_sdk.tracing.recording import STEP_KINDS
from agentpath_sdk.tracing.recorder import UNSET, Recorder, Recording, get_recorder

try:
    from langchain_core.callbacks import BaseCallbackHandler
except ImportError as missing:
    raise MissingExtraError("langchain-core", "langchain") from missing

__all__ = ["AgentPathCallbackHandler"]

_SUPPRESS: Final[str] = getattr(context_api, "_SUPPRESS_INSTRUMENTATION_KEY", "suppress_instrumentation")
_NO_METADATA: Final[Mapping[str, Any]] = {}
_NO_OPTIONS: Final = CallOptions()


class AgentPathCallbackHandler(BaseCallbackHandler):
    """Pass it as ``config={"callbacks": [AgentPathCallbackHandler()]}``; good for sync and async, for any number of runs
    at once and for as long as the process lives, since it keeps nothing: open calls are the recorder's.

    Inside ``@trace_agent`` it is not needed (and does no harm: one call is one step however many handlers see it).
    """

    run_inline = True
    """In async code too: the events only fill in a span, and order is kept."""

    def __new__(cls, *, recorder: Recorder | None = None) -> AgentPathCallbackHandler:
        """Return a handler that LangGraph also tells of pauses which no node raises, once LangGraph is imported."""
        return super().__new__(_graph_aware(cls))

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
        with guard("langchain.tool_start"):
            if _suppressed():
                return
            told = serialized or _NO_METADATA
            options = options_named(metadata) or _NO_OPTIONS
            call_id = kwargs.get("tool_call_id")
            self._recorder.start(
                run_id,
                door=self,
                kind="tool",
                name=options.name or told.get("name") or kwargs.get("name") or "tool",
                parent=place_of(parent_run_id, self._recorder, self._runs).parent,
                arguments=arguments_of(input_str, inputs, from_tool="color" in kwargs, call_id=call_id),
                call_id=call_id,
                description=options.description or told.get("description"),
                capture=options.capture,
                redact=options.redact,
                keep=options.keep,
            )

    def on_tool_end(self, output: Any, *, run_id: UUID, **kwargs: Any) -> None:
        """Close a tool call; an error it reports by a flag is an error."""
        with guard("langchain.tool_end"):
            recording = self._recorder.get(run_id)
            if recording is None:
                return
            message = next(filter(None, map(reported_error, messages_in(output) or [output])), None)
            call_id = call_id_of(output)
            self._recorder.end(
                run_id,
                door=self,
                result=result_of(output),
                outcome="ok" if message is None else "error",
                error_message=message,
                error_type=None if message is None else "tool_error",
                attributes=_missing_call_id(recording, call_id),
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
            if _suppressed():
                return
            path: Any = (serialized or _NO_METADATA).get("id")
            self._recorder.start(
                run_id,
                door=self,
                kind="retrieval",
                name=kwargs.get("name") or (path[-1] if path else "retriever"),
                parent=place_of(parent_run_id, self._recorder, self._runs).parent,
                arguments={"query": query},
                query=query,
            )

    def on_retriever_end(self, documents: Sequence[Any], *, run_id: UUID, **kwargs: Any) -> None:
        """Close a retrieval."""
        with guard("langchain.retriever_end"):
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
        with guard("langchain.model_end"):
            recording = self._recorder.get(run_id)
            if recording is not None:
                output = models.output_of(response) if recording.live and recording.capture else UNSET
                self._recorder.end(run_id, door=self, output=output, attributes=models.response_attributes(response))

    def on_llm_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        """Close a model call that an exception left, with what was received of its answer."""
        with guard("langchain.model_error"):
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
        if _suppressed():
            return
        known = metadata or _NO_METADATA
        self._recorder.start(
            run_id,
            door=self,
            kind="model",
            name=models.model_name(serialized, known, kwargs.get("invocation_params") or _NO_METADATA),
            parent=place_of(parent_run_id, self._recorder, self._runs).parent,
            input=genai_messages(messages) if self._recorder.settings.capture_content else UNSET,
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
            if _suppressed() or (known is not None and not known.owns):
                return
            facts = metadata or _NO_METADATA
            name = kwargs.get("name") or _class_name(serialized)
            self._settle(parent_run_id, is_graph_node(tags))
            place = place_of(parent_run_id, self._recorder, self._runs)
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
                _adopt_conversation(place.around, facts)
            self._runs.put(run_id, link)

    def on_chain_end(self, outputs: Any, *, run_id: UUID, **kwargs: Any) -> None:
        """Close an agent run, or forget a plain chain run."""
        with guard("langchain.chain_end"):
            link = self._runs.pop(run_id)
            if link is None:
                return
            answer = answer_of(outputs)
            recording = self._recorder.get(link.owner)
            if recording is None:
                return
            limited = stopped_by_limit(answer)
            if not link.owns:
                pauses.settle(self._recorder, recording, link, "limit" if limited else None)
                return
            _late_query(self._recorder, recording, kwargs.get("inputs"))
            pauses.remember(recording, link.paused)
            self._recorder.end(
                run_id,
                door=self,
                answer=answer,
                output=UNSET if answer is not None or _is_state(outputs) else outputs,
                outcome="interrupted" if link.paused else "ok",
                stop_reason="pending" if link.paused else "limit" if limited else None,
            )

    def on_chain_error(
        self, error: BaseException, *, run_id: UUID, parent_run_id: UUID | None = None, **kwargs: Any
    ) -> None:
        """Close an agent run that an exception left, or forget a plain chain run."""
        with guard("langchain.chain_error"):
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
            waiting, link.waiting = link.waiting, None
            if waiting is not None and is_node:
                name, inputs, metadata = waiting
                self._open_agent(run_id, link.owner, name, inputs, metadata, _NO_METADATA)
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
        deferred = bool(kwargs.get("defers_inputs")) or _is_placeholder(inputs)
        query = None if deferred else query_of(inputs)
        recording = self._recorder.start(
            run_id,
            door=self,
            kind="agent",
            name=name,
            parent=parent,
            query=query,
            input=UNSET if deferred or query is not None else _plain_input(inputs),
            conversation_id=conversation_of(metadata),
        )
        if recording is not None:
            pauses.link_to_paused(recording)

    # --- ends ------------------------------------------------------------------------------------

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


def _graph_aware(cls: type[AgentPathCallbackHandler]) -> type[AgentPathCallbackHandler]:
    """Return ``cls`` as a subclass of LangGraph's lifecycle handler, which is what LangGraph asks for."""
    lifecycle = getattr(sys.modules.get("langgraph.callbacks"), "GraphCallbackHandler", None)
    if not isinstance(lifecycle, type) or issubclass(cls, lifecycle):
        return cls
    return _combined(cls, lifecycle)


@lru_cache(maxsize=8)
def _combined(cls: type[AgentPathCallbackHandler], lifecycle: type[Any]) -> type[AgentPathCallbackHandler]:
    return type(cls.__name__, (cls, lifecycle), {"__module__": cls.__module__, "__doc__": cls.__doc__})


def _suppressed() -> bool:
    return bool(context_api.get_current().get(_SUPPRESS))


def _class_name(serialized: Mapping[str, Any] | None) -> str:
    path: Any = (serialized or _NO_METADATA).get("id")
    return str(path[-1]) if path else str((serialized or _NO_METADATA).get("name") or "chain")


def _missing_call_id(recording: Recording, call_id: str | None) -> dict[str, Any] | None:
    if call_id is None or semconv.TOOL_CALL_ID in recording.essential:
        return None
    return {semconv.TOOL_CALL_ID: call_id}


def _adopt_conversation(recording: Recording, metadata: Mapping[str, Any]) -> None:
    """Give an agent the conversation that a LangChain run inside it is called with."""
    agent = recording.agent
    if agent is None or agent.conversation_id is not None or not agent.live or recording.kind in STEP_KINDS:
        return
    found = conversation_of(metadata)
    if found is not None:
        agent.conversation_id = found
        agent.late = {**agent.late, semconv.CONVERSATION_ID: found}
        pauses.link_to_paused(agent)


def _late_query(recorder: Recorder, recording: Recording, inputs: Any) -> None:
    """Keep the question of a streamed run, whose input is told at its end."""
    if inputs is None or not recording.capture or semconv.INPUT_MESSAGES in recording.content:
        return
    query = query_of(inputs)
    if query is not None:
        content.put_text(recording, query, role="user", limit=recorder.settings.result_limit)


def _plain_input(inputs: Any) -> Any:
    """Return what a run was started with when that is no question: the answer a paused graph is resumed with."""
    resume = getattr(inputs, "resume", None)
    return {"resume": resume} if resume is not None else inputs


def _is_placeholder(inputs: Any) -> bool:
    if not isinstance(inputs, dict) or len(cast("dict[str, Any]", inputs)) != 1:
        return False
    return isinstance(text := cast("dict[str, Any]", inputs).get("input"), str) and not text


def _is_state(outputs: Any) -> bool:
    """Return whether outputs are a conversation's whole state, which the inner calls already show."""
    return isinstance(outputs, dict) and "messages" in cast("dict[str, Any]", outputs)
