"""The current OpenTelemetry GenAI vocabulary, together with our own ``agentpath.*`` names.

Our own names are one vocabulary with GenAI's: the write side says both on the same spans. Where both say a fact
(an outcome, an error message), ours is the more exact and wins.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from agentpath_sdk import semconv
from agentpath_sdk.trajectories.dialects import messages
from agentpath_sdk.trajectories.dialects.argument_shapes import from_callback, without
from agentpath_sdk.trajectories.dialects.contents import answer_in, loaded, query_in
from agentpath_sdk.trajectories.dialects.dialect import Answer, Dialect, Request, Role, attribute, word
from agentpath_sdk.trajectories.dialects.framework_tools import FrameworkTool, framework_tool, target_agent
from agentpath_sdk.trajectories.dialects.langchain_metadata import UNNAMED
from agentpath_sdk.trajectories.dialects.results import call_id_in, error_in, result_in
from agentpath_sdk.trajectories.model import Outcome, StopReason
from agentpath_sdk.trajectories.shapes import as_list, as_object
from agentpath_sdk.trajectories.span_record import SpanRecord

__all__ = ["CONTROL_FLOW", "GENAI", "HANDOFF_ERRORS", "LIMIT_ERRORS"]

_WORKFLOW: Final = "invoke_workflow"
# Names that say nothing: openai-agents-v2 writes this one on every tool span.
_CONSTANTS: Final = frozenset({"OpenAI Agent"})
_ROLES: Final[Mapping[str, Role]] = {
    semconv.OP_INVOKE_AGENT: "agent",
    _WORKFLOW: "workflow",
    "invoke_swarm": "workflow",
    "invoke_graph": "workflow",
    "agent_handoff": "handoff",
    "handoff": "handoff",
    semconv.OP_EXECUTE_TOOL: "tool",
    semconv.OP_RETRIEVAL: "retrieval",
    semconv.OP_CHAT: "model",
    "generate_content": "model",
    "text_completion": "model",
    "create_agent": "none",
    "embeddings": "none",
    semconv.OP_EVALUATION: "none",
}
_UTILITY: Final = "utility"
_RUN_ID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
# Writes the whole callback payload in the place of the arguments.
_LANGCHAIN_PAYLOADS: Final = "opentelemetry.instrumentation.langchain"
_MARKS: Final = frozenset(
    {
        semconv.OPERATION_NAME,
        semconv.AGENT_NAME,
        semconv.TOOL_NAME,
        semconv.TOOL_CALL_ID,
        semconv.CONVERSATION_ID,
        semconv.INPUT_MESSAGES,
        semconv.OUTPUT_MESSAGES,
        semconv.STEP_PHASE,
    }
)
_OUTCOMES: Final[frozenset[Outcome]] = frozenset(("ok", "error", "cancelled", "interrupted", "abandoned", "unknown"))
_STOP_REASONS: Final[frozenset[StopReason]] = frozenset(
    ("finished", "limit", "error", "cancelled", "pending", "unknown")
)

# Exceptions that steer a run and say nothing about the call. Framework classes only by their full name: a user's own
# class of the same name is an error. Instrumentations write builtin and asyncio classes with and without module.
CONTROL_FLOW: Final[Mapping[str, Outcome]] = {
    "langgraph.errors.GraphInterrupt": "interrupted",
    "langgraph.errors.NodeInterrupt": "interrupted",
    "CancelledError": "cancelled",
    "asyncio.CancelledError": "cancelled",
    "asyncio.exceptions.CancelledError": "cancelled",
    "concurrent.futures._base.CancelledError": "cancelled",
    "KeyboardInterrupt": "cancelled",
    "builtins.KeyboardInterrupt": "cancelled",
}
HANDOFF_ERRORS: Final = frozenset({"langgraph.errors.ParentCommand"})
LIMIT_ERRORS: Final = frozenset(
    {
        "langgraph.errors.GraphRecursionError",
        "GraphRecursionError",
        "agents.exceptions.MaxTurnsExceeded",
        "MaxTurnsExceeded",
        "pydantic_ai.exceptions.UsageLimitExceeded",
        "UsageLimitExceeded",
    }
)


def _role(span: SpanRecord) -> Role | None:
    attributes = span.attributes
    phase = attributes.get(semconv.STEP_PHASE)
    if phase == _UTILITY:
        return "utility"
    role = _ROLES.get(word(span, semconv.OPERATION_NAME))
    if role == "agent" and semconv.AGENT_NAME not in attributes and "openai_agents" in (span.scope or ""):
        return "workflow"  # the trace of the OpenAI Agents SDK around the agents
    return role if role is not None else ("phase" if phase is not None else "unsaid")


def _subject(span: SpanRecord) -> str | None:
    """Return what follows the operation in a span name: ``search`` of ``execute_tool search``."""
    operation = word(span, semconv.OPERATION_NAME)
    if operation and span.name.startswith(operation + " "):
        return span.name[len(operation) + 1 :] or None
    return None


def _agent_name(span: SpanRecord) -> str | None:
    named = span.attributes.get(semconv.AGENT_NAME)
    operation = word(span, semconv.OPERATION_NAME)
    if named is None and operation == semconv.OP_INVOKE_AGENT:
        named = _subject(span)
    if named is None and operation == _WORKFLOW:
        named = span.attributes.get("gen_ai.workflow.name")
    if operation in ("agent_handoff", "handoff"):
        named = span.attributes.get("gen_ai.handoff.from_agent", named)
    named = None if named is None else str(named)
    if named is None or named in UNNAMED or (named in _CONSTANTS and operation != semconv.OP_INVOKE_AGENT):
        return None
    return named


def _tool_name(span: SpanRecord) -> str | None:
    if _ROLES.get(word(span, semconv.OPERATION_NAME)) == "handoff":
        to = _target(span)
        return f"transfer_to_{to}" if to else "handoff"
    name = span.attributes.get(semconv.TOOL_NAME) or span.attributes.get("gen_ai.data_source.id") or _subject(span)
    name = str(name or span.name)
    # Semantic Kernel writes plugin and function; neither has a hyphen of its own.
    return name.partition("-")[2] or name if _is_semantic_kernel(span) else name


def _is_semantic_kernel(span: SpanRecord) -> bool:
    return span.scope is not None and span.scope.startswith("semantic_kernel")


def _arguments(span: SpanRecord) -> Any:
    given = span.attributes.get(semconv.TOOL_CALL_ARGUMENTS)
    if given is None:
        query = span.attributes.get(semconv.RETRIEVAL_QUERY)
        return None if query is None else {"query": query}
    if span.scope == _LANGCHAIN_PAYLOADS:
        return from_callback(given)
    # Semantic Kernel adds this to every call inside an agent that is a tool.
    return without(given, "instructions_override") if _is_semantic_kernel(span) else given


def _result(span: SpanRecord) -> Any:
    said = span.attributes.get(semconv.TOOL_CALL_RESULT)
    if said is None:
        return span.attributes.get(semconv.RETRIEVAL_DOCUMENTS)
    return said if span.scope == semconv.SCOPE_NAME else result_in(said)


def _returned_error(span: SpanRecord) -> str | None:
    said = span.attributes.get(semconv.TOOL_CALL_RESULT)
    return None if said is None or span.scope == semconv.SCOPE_NAME else error_in(said)


def _call_id(span: SpanRecord) -> Any:
    said = span.attributes.get(semconv.TOOL_CALL_ID)
    if said is not None and _RUN_ID.fullmatch(str(said)) and (span.scope or "").startswith("openlit"):
        return None  # LangChain's id of the run, for want of another
    if said is None and semconv.TOOL_CALL_RESULT in span.attributes and span.scope != semconv.SCOPE_NAME:
        return call_id_in(span.attributes[semconv.TOOL_CALL_RESULT])
    return said


def _framework_tool(span: SpanRecord) -> FrameworkTool | None:
    return framework_tool(span, _tool_name(span))


def _target(span: SpanRecord) -> str | None:
    said = span.attributes.get("gen_ai.handoff.to_agent")
    return target_agent(_arguments(span)) if said is None else str(said)


def _lossy(span: SpanRecord) -> bool | None:
    # Microsoft's agent framework leaves out an argument called "options".
    return True if span.scope == "agent_framework" else None


def _error_message(span: SpanRecord) -> str | None:
    said = span.attributes.get(semconv.STEP_ERROR_MESSAGE)
    return None if said is None else str(said)


def _outcome(span: SpanRecord) -> Outcome | None:
    said = word(span, semconv.STEP_OUTCOME)
    return said if said in _OUTCOMES else None


def _stop_reason(span: SpanRecord) -> StopReason | None:
    said = word(span, semconv.RUN_STOP_REASON)
    return said if said in _STOP_REASONS else None


def _content_off(span: SpanRecord) -> bool | None:
    return True if span.attributes.get(semconv.CONTENT_CAPTURE) == "off" else None


def _goal_success(span: SpanRecord) -> bool | None:
    said = span.attributes.get(semconv.RUN_GOAL_SUCCESS)
    return said if isinstance(said, bool) else None


def _run_calls(span: SpanRecord) -> int | None:
    said = span.attributes.get(semconv.RUN_CALLS)
    return said if isinstance(said, int) and not isinstance(said, bool) else None


def _tokens(*names: str) -> Any:
    read = attribute(*names)

    def tokens(span: SpanRecord) -> int | None:
        said = read(span)
        return int(said) if isinstance(said, int | float) and said >= 0 else None

    return tokens


def _finish_reason(span: SpanRecord) -> str | None:
    said = span.attributes.get(semconv.RESPONSE_FINISH_REASONS)
    if isinstance(said, str):
        return said
    words = as_list(said)
    return str(words[-1]) if words else None


def _tools_offered(span: SpanRecord) -> frozenset[str] | None:
    listed = as_list(loaded(span.attributes.get("gen_ai.tool.definitions"))) or ()
    offered = (tool for one in listed if (tool := as_object(one)) is not None)
    names = (tool.get("name") or _function_name(tool.get("function")) for tool in offered)
    return frozenset(str(name) for name in names if name) or None


def _function_name(function: Any) -> Any:
    return (as_object(function) or {}).get("name")


def _query(span: SpanRecord) -> str | None:
    return query_in(span.attributes.get(semconv.INPUT_MESSAGES))


def _final_answer(span: SpanRecord) -> str | None:
    return answer_in(span.attributes.get(semconv.OUTPUT_MESSAGES))


def _requests(span: SpanRecord) -> tuple[Request, ...] | None:
    return messages.requests(span.attributes.get(semconv.OUTPUT_MESSAGES)) or None


def _answered(span: SpanRecord) -> tuple[Answer, ...] | None:
    return messages.answered(span.attributes.get(semconv.INPUT_MESSAGES)) or None


def _transcript(span: SpanRecord) -> tuple[messages.Message, ...] | None:
    return messages.transcript(span.attributes.get(semconv.OUTPUT_MESSAGES)) or None


def _without_history(span: SpanRecord) -> dict[str, Any] | None:
    history = span.attributes.get(semconv.INPUT_MESSAGES)
    if history is None:
        return None
    return {semconv.INPUT_MESSAGES: messages.abridged(history)}


GENAI: Final = Dialect(
    name="genai",
    role=_role,
    marks=_MARKS,
    agent_name=_agent_name,
    tool_name=_tool_name,
    call_id=_call_id,
    arguments=_arguments,
    result=_result,
    outcome=_outcome,
    returned_error=_returned_error,
    lossy=_lossy,
    framework_tool=_framework_tool,
    target=_target,
    error_message=_error_message,
    identity=attribute(semconv.STEP_IDENTITY),
    partial_items=attribute(semconv.STEP_PARTIAL_ITEMS),
    content_off=_content_off,
    truncated=attribute(semconv.CONTENT_TRUNCATED),
    raw=attribute(semconv.CONTENT_RAW),
    conversation_id=attribute(semconv.CONVERSATION_ID),
    query=_query,
    final_answer=_final_answer,
    gold_path=attribute(semconv.REQUEST_GOLD_PATH),
    run_calls=_run_calls,
    stop_reason=_stop_reason,
    goal_success=_goal_success,
    goal_reason=attribute(semconv.RUN_GOAL_REASON),
    goal_source=attribute(semconv.RUN_GOAL_SOURCE),
    model_name=attribute(semconv.REQUEST_MODEL, semconv.RESPONSE_MODEL),
    input=attribute(semconv.INPUT_MESSAGES, semconv.STEP_INPUT),
    output=attribute(semconv.OUTPUT_MESSAGES, semconv.STEP_OUTPUT),
    requests=_requests,
    answered=_answered,
    transcript=_transcript,
    tools_offered=_tools_offered,
    input_tokens=_tokens(semconv.USAGE_INPUT_TOKENS),
    output_tokens=_tokens(semconv.USAGE_OUTPUT_TOKENS),
    finish_reason=_finish_reason,
    phase=attribute(semconv.STEP_PHASE),
    without_history=_without_history,
)
