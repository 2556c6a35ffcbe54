"""OpenInference: ``openinference.span.kind``, ``input.value``, ``output.value``, flat ``llm.*_messages``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from agentpath_sdk.trajectories.dialects import messages
from agentpath_sdk.trajectories.dialects.argument_shapes import from_python_call, parameter_names
from agentpath_sdk.trajectories.dialects.contents import answer_in, loaded, query_in
from agentpath_sdk.trajectories.dialects.dialect import Answer, Dialect, Request, Role, attribute
from agentpath_sdk.trajectories.dialects.flat import gathered
from agentpath_sdk.trajectories.dialects.framework_tools import FrameworkTool, framework_tool, target_agent
from agentpath_sdk.trajectories.dialects.langchain_metadata import UNNAMED, agent_in, conversation_in
from agentpath_sdk.trajectories.dialects.results import call_id_in, error_in, result_in
from agentpath_sdk.trajectories.shapes import as_list, as_object
from agentpath_sdk.trajectories.span_record import SpanRecord

__all__ = ["OPENINFERENCE"]

_KIND: Final = "openinference.span.kind"
_INPUT: Final = "input.value"
_OUTPUT: Final = "output.value"
_TOOL_NAME: Final = "tool.name"
_PARAMETERS: Final = "tool.parameters"
_GIVEN: Final = "llm.input_messages"
_SAID: Final = "llm.output_messages"
_KINDS: Final[Mapping[str, Role]] = {
    "TOOL": "tool",
    "LLM": "model",
    "AGENT": "agent",
    "CHAIN": "chain",
    "RETRIEVER": "retrieval",
    "PROMPT": "none",
    "EMBEDDING": "none",
    "RERANKER": "none",
    "GUARDRAIL": "none",
    "EVALUATOR": "none",
}
_HAYSTACK: Final[Mapping[str, Role]] = {"Agent": "agent", "ToolInvoker": "invoker"}
_SCOPE: Final = "openinference.instrumentation."
_HANDOFF: Final = "handoff to "
# Endings of span names that are methods, not part of an agent's name.
_METHODS: Final = (
    ".on_messages_stream", ".on_messages", ".run_stream", ".arun_stream", ".arun", ".run", ".kickoff",
    "._execute_core", ".aforward", ".forward", ".acall", ".__call__",
)  # fmt: skip
_CLASSES: Final = frozenset(
    {"ToolCallingAgent", "CodeAgent", "MultiStepAgent", "Agent", "Pipeline", "Crew", "Workflow"}
)
_NO_AGENT_NAMES: Final = frozenset({"llama_index", "haystack"})


def _library(span: SpanRecord) -> str:
    """Return the library that the instrumentation is for: ``langchain``; empty for spans of an application's own."""
    scope = span.scope or ""
    return scope[len(_SCOPE) :].partition(".")[0] if scope.startswith(_SCOPE) else ""


def _role(span: SpanRecord) -> Role | None:
    kind = span.attributes.get(_KIND)
    if kind is None:
        return "unsaid"
    role: Role = _KINDS.get(str(kind).upper(), "unsaid")
    library = _library(span)
    if role == "agent":
        return _agent_role(span, library)
    if role == "tool" and span.name.startswith(_HANDOFF) and _TOOL_NAME not in span.attributes:
        return "handoff"
    if library == "haystack" and role == "chain":
        return _haystack_role(span)
    if role == "model" and span.name.endswith("._prepare_chat_with_tools"):
        return "none"  # what LlamaIndex does before it calls the model
    return role


def _agent_role(span: SpanRecord, library: str) -> Role:
    # LangChain's instrumentation calls whatever has "agent" in its name an agent, a tool too.
    if _TOOL_NAME in span.attributes:
        return "tool"
    # The trace of the OpenAI Agents SDK around the agents.
    return "workflow" if library == "openai_agents" and "agent.name" not in span.attributes else "agent"


def _haystack_role(span: SpanRecord) -> Role:
    component = span.name.partition(".")[0]
    return _HAYSTACK.get(component, "chain")


# --- names ----------------------------------------------------------------------------------------------------------


def _agent_name(span: SpanRecord) -> str | None:
    attributes = span.attributes
    for name in ("agent.name", "tool.agent_role"):
        if attributes.get(name):
            return str(attributes[name])
    if (named := agent_in(attributes.get("metadata"))) is not None:
        return named
    if attributes.get(_KIND) == "AGENT" and attributes.get("graph.node.id") and _library(span) == "crewai":
        return str(attributes["graph.node.id"])
    if attributes.get(_KIND) not in ("AGENT", "CHAIN") or _TOOL_NAME in attributes:
        return None
    return _from_span_name(span)


def _from_span_name(span: SpanRecord) -> str | None:
    if _library(span) in _NO_AGENT_NAMES:
        return None
    name = span.name
    for method in _METHODS:
        name = name.removesuffix(method)
    return None if not name or name in UNNAMED or name in _CLASSES else name


def _tool_name(span: SpanRecord) -> str | None:
    if (named := span.attributes.get(_TOOL_NAME)) is not None:
        # CrewAI shows its own tools by a title; models call them by a name.
        own = _library(span) == "crewai" and framework_tool(span, str(named)) is not None
        return str(named).lower().replace(" ", "_") if own else str(named)
    if span.name.startswith(_HANDOFF):
        return f"transfer_to_{span.name[len(_HANDOFF) :]}"
    name = span.name
    for method in _METHODS:
        name = name.removesuffix(method)
    return name


def _framework_tool(span: SpanRecord) -> FrameworkTool | None:
    return framework_tool(span, _tool_name(span))


def _target(span: SpanRecord) -> str | None:
    if span.name.startswith(_HANDOFF):
        return span.name[len(_HANDOFF) :]
    return target_agent(span.attributes.get(_INPUT))


# --- calls ----------------------------------------------------------------------------------------------------------


def _arguments(span: SpanRecord) -> Any:
    attributes = span.attributes
    if span.name.startswith(_HANDOFF) and _TOOL_NAME not in attributes:
        return None  # input and output are the agents' names
    given = attributes.get(_INPUT)
    names = parameter_names(attributes.get(_PARAMETERS))
    if given is None:
        return _without_input(span, names)
    if "kwargs" in names or "args" in names:
        return given  # the tool's own parameters are called so
    return from_python_call(given, names)


def _without_input(span: SpanRecord, names: tuple[str, ...]) -> Any:
    parameters = as_object(loaded(span.attributes.get(_PARAMETERS)))
    if parameters is not None and not names and parameters:
        return parameters  # here ``tool.parameters`` are the arguments, not their schema
    # LangChain's instrumentation leaves out the input of a call without arguments.
    return {} if _library(span) == "langchain" else None


def _call_id(span: SpanRecord) -> str | None:
    for name in ("tool_call.id", "tool.call_id", "tool.id"):
        if span.attributes.get(name):
            return str(span.attributes[name])
    return call_id_in(span.attributes.get(_OUTPUT)) if span.attributes.get(_KIND) == "TOOL" else None


def _result(span: SpanRecord) -> Any:
    said = span.attributes.get(_OUTPUT)
    return None if said is None else result_in(said)


def _returned_error(span: SpanRecord) -> str | None:
    return error_in(span.attributes.get(_OUTPUT))


def _executed(span: SpanRecord) -> tuple[Answer, ...] | None:
    return messages.answered(span.attributes.get(_OUTPUT)) or None


# --- models and runs ------------------------------------------------------------------------------------------------


def _said(span: SpanRecord) -> Any:
    return gathered(span.attributes, _SAID) or span.attributes.get(_OUTPUT)


def _given(span: SpanRecord) -> Any:
    return gathered(span.attributes, _GIVEN) or span.attributes.get(_INPUT)


def _requests(span: SpanRecord) -> tuple[Request, ...] | None:
    flat = gathered(span.attributes, _SAID)
    if flat:
        # No arguments at all are left out.
        return tuple(r if r.arguments is not None else _no_arguments(r) for r in messages.requests(flat)) or None
    return messages.requests(span.attributes.get(_OUTPUT)) or None


def _no_arguments(request: Request) -> Request:
    return Request(tool=request.tool, arguments={}, call_id=request.call_id)


def _answered(span: SpanRecord) -> tuple[Answer, ...] | None:
    return messages.answered(_given(span)) or None


def _transcript(span: SpanRecord) -> tuple[messages.Message, ...] | None:
    return messages.transcript(span.attributes.get(_OUTPUT)) or None


def _query(span: SpanRecord) -> str | None:
    if span.attributes.get(_KIND) == "LLM":
        return query_in(_given(span))
    if _library(span) == "crewai" and (tasks := as_list(loaded(span.attributes.get("crew_tasks")))):
        return query_in((as_object(tasks[0]) or {}).get("description"))
    if (described := span.attributes.get("task_description")) is not None:
        return query_in(described)
    if _library(span) == "llama_index":
        return None  # a workflow's input is its settings
    return query_in(span.attributes.get(_INPUT))


def _final_answer(span: SpanRecord) -> str | None:
    if span.attributes.get(_KIND) == "LLM":
        return answer_in(_said(span))
    # A workflow's output is a repr, cut.
    return None if _library(span) in ("llama_index", "autogen_agentchat") else answer_in(span.attributes.get(_OUTPUT))


def _conversation(span: SpanRecord) -> str | None:
    said = span.attributes.get("session.id")
    return str(said) if said is not None else conversation_in(span.attributes.get("metadata"))


def _tools_offered(span: SpanRecord) -> frozenset[str] | None:
    schemas = (as_object(loaded(_schema(one))) for one in gathered(span.attributes, "llm.tools"))
    names = ((as_object(found.get("function")) or found).get("name") for found in schemas if found is not None)
    return frozenset(str(name) for name in names if name) or None


def _schema(tool: Any) -> Any:
    return (as_object((as_object(tool) or {}).get("tool")) or {}).get("json_schema")


def _tokens(name: str) -> Any:
    def read(span: SpanRecord) -> int | None:
        said = span.attributes.get(name)
        return int(said) if isinstance(said, int | float) and said >= 0 else None

    return read


def _without_history(span: SpanRecord) -> dict[str, Any] | None:
    given = gathered(span.attributes, _GIVEN)
    gone: dict[str, Any] = {name: None for name in span.attributes if name.startswith(_GIVEN)}
    if given and _INPUT in span.attributes:
        gone[_INPUT] = None
    if not given:
        return None
    return gone | {_INPUT: messages.abridged(given)}


OPENINFERENCE: Final = Dialect(
    name="openinference",
    role=_role,
    marks=frozenset({_KIND, _INPUT, _OUTPUT, "session.id", "llm.model_name"}),
    agent_name=_agent_name,
    tool_name=_tool_name,
    call_id=_call_id,
    arguments=_arguments,
    result=_result,
    returned_error=_returned_error,
    framework_tool=_framework_tool,
    target=_target,
    executed=_executed,
    conversation_id=_conversation,
    query=_query,
    final_answer=_final_answer,
    transcript=_transcript,
    model_name=attribute("llm.model_name"),
    input=_given,
    output=_said,
    requests=_requests,
    answered=_answered,
    tools_offered=_tools_offered,
    input_tokens=_tokens("llm.token_count.prompt"),
    output_tokens=_tokens("llm.token_count.completion"),
    finish_reason=attribute("llm.finish_reason"),
    without_history=_without_history,
)
