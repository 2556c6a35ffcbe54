"""Vercel AI SDK: ``ai.operationId``, ``ai.toolCall.*``, ``ai.prompt``, ``ai.response.*``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from agentpath_sdk.trajectories.dialects import messages
from agentpath_sdk.trajectories.dialects.contents import loaded, query_in
from agentpath_sdk.trajectories.dialects.dialect import Answer, Dialect, Request, Role, attribute
from agentpath_sdk.trajectories.shapes import as_list, as_object
from agentpath_sdk.trajectories.span_record import SpanRecord

__all__ = ["VERCEL"]

_OPERATION: Final = "ai.operationId"
_PREFIX: Final = "ai.toolCall."
_METADATA: Final = "ai.telemetry.metadata."
_OPERATIONS: Final[Mapping[str, Role]] = {
    "ai.toolCall": "tool",
    "ai.generateText": "agent",
    "ai.streamText": "agent",
    "ai.generateObject": "chain",
    "ai.streamObject": "chain",
    "ai.generateText.doGenerate": "model",
    "ai.streamText.doStream": "model",
    "ai.generateObject.doGenerate": "model",
    "ai.streamObject.doStream": "model",
    "ai.embed": "none",
    "ai.embedMany": "none",
}
_PROMPTS: Final = ("ai.prompt.messages", "ai.prompt")
_CALLS: Final = ("ai.response.toolCalls", "ai.result.toolCalls")
_given: Final = attribute(*_PROMPTS)
_text: Final = attribute("ai.response.text", "ai.response.object", "ai.result.text", "ai.result.object")


def _role(span: SpanRecord) -> Role | None:
    return _OPERATIONS.get(str(span.attributes.get(_OPERATION, "")), "unsaid")


def _agent_name(span: SpanRecord) -> Any:
    named = _role(span) in ("agent", "chain")
    return span.attributes.get("ai.telemetry.functionId") or span.attributes.get("resource.name") if named else None


def _query(span: SpanRecord) -> str | None:
    return query_in(_given(span))


def _final_answer(span: SpanRecord) -> str | None:
    if _requests(span):
        return None
    said = _text(span)
    return said if isinstance(said, str) and said else None


def _requests(span: SpanRecord) -> tuple[Request, ...] | None:
    listed = next((found for name in _CALLS if (found := as_list(loaded(span.attributes.get(name)))) is not None), ())
    calls = [{**call, "type": "tool-call"} for one in listed if (call := as_object(one)) is not None]
    return messages.requests({"role": "assistant", "content": calls}) or None


def _answered(span: SpanRecord) -> tuple[Answer, ...] | None:
    return messages.answered(_given(span)) or None


def _without_history(span: SpanRecord) -> dict[str, Any] | None:
    name = next((name for name in _PROMPTS if name in span.attributes), None)
    return None if name is None else {name: messages.abridged(span.attributes[name])}


VERCEL: Final = Dialect(
    name="vercel",
    role=_role,
    marks=frozenset({_OPERATION}),
    agent_name=_agent_name,
    tool_name=attribute(_PREFIX + "name"),
    call_id=attribute(_PREFIX + "id"),
    arguments=attribute(_PREFIX + "args", _PREFIX + "input"),
    result=attribute(_PREFIX + "result", _PREFIX + "output"),
    conversation_id=attribute(
        *(_METADATA + name for name in ("sessionId", "session_id", "conversationId", "threadId", "chatId"))
    ),
    query=_query,
    final_answer=_final_answer,
    model_name=attribute("ai.model.id"),
    input=_given,
    output=_text,
    requests=_requests,
    answered=_answered,
    input_tokens=attribute("ai.usage.inputTokens", "ai.usage.promptTokens"),
    output_tokens=attribute("ai.usage.outputTokens", "ai.usage.completionTokens"),
    finish_reason=attribute("ai.response.finishReason"),
    without_history=_without_history,
)
