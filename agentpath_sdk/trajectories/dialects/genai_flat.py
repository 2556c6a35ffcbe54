"""Older GenAI: messages spread over ``gen_ai.prompt.N.*`` and ``gen_ai.completion.N.*``, ``llm.request.*``."""

from __future__ import annotations

from typing import Any, Final

from agentpath_sdk.trajectories.dialects import messages
from agentpath_sdk.trajectories.dialects.contents import answer_in, query_in
from agentpath_sdk.trajectories.dialects.dialect import Answer, Dialect, Request, Role, attribute
from agentpath_sdk.trajectories.dialects.flat import gathered
from agentpath_sdk.trajectories.span_record import SpanRecord

__all__ = ["GENAI_FLAT"]

_KIND: Final = "llm.request.type"
_PROMPT: Final = "gen_ai.prompt"
_COMPLETION: Final = "gen_ai.completion"
_MODEL_KINDS: Final = frozenset({"chat", "completion"})


def _role(span: SpanRecord) -> Role | None:
    kind = span.attributes.get(_KIND)
    if kind is not None:
        return "model" if str(kind) in _MODEL_KINDS else "none"
    return "model" if f"{_COMPLETION}.0.role" in span.attributes else "unsaid"


def _given(span: SpanRecord) -> Any:
    return gathered(span.attributes, _PROMPT) or None


def _said(span: SpanRecord) -> Any:
    return gathered(span.attributes, _COMPLETION) or None


def _requests(span: SpanRecord) -> tuple[Request, ...] | None:
    return messages.requests(_said(span)) or None


def _answered(span: SpanRecord) -> tuple[Answer, ...] | None:
    return messages.answered(_given(span)) or None


def _query(span: SpanRecord) -> str | None:
    return query_in(_given(span))


def _final_answer(span: SpanRecord) -> str | None:
    return answer_in(_said(span))


def _tools_offered(span: SpanRecord) -> frozenset[str] | None:
    names = (found.get("name") for found in gathered(span.attributes, "llm.request.functions") if found)
    return frozenset(str(name) for name in names if name) or None


def _without_history(span: SpanRecord) -> dict[str, Any] | None:
    given = gathered(span.attributes, _PROMPT)
    if not given:
        return None
    gone: dict[str, Any] = {name: None for name in span.attributes if name.startswith(f"{_PROMPT}.")}
    kept: dict[str, Any] = {}
    for number, message in enumerate(messages.abridged(given)):
        kept |= {f"{_PROMPT}.{number}.{key}": value for key, value in message.items()}
    return gone | kept


GENAI_FLAT: Final = Dialect(
    name="genai_flat",
    role=_role,
    marks=frozenset({_KIND, f"{_PROMPT}.0.role", f"{_PROMPT}.0.content", f"{_COMPLETION}.0.role"}),
    query=_query,
    final_answer=_final_answer,
    model_name=attribute("gen_ai.request.model", "gen_ai.response.model"),
    input=_given,
    output=_said,
    requests=_requests,
    answered=_answered,
    tools_offered=_tools_offered,
    input_tokens=attribute("gen_ai.usage.prompt_tokens", "llm.usage.prompt_tokens"),
    output_tokens=attribute("gen_ai.usage.completion_tokens", "llm.usage.completion_tokens"),
    finish_reason=attribute(f"{_COMPLETION}.0.finish_reason"),
    without_history=_without_history,
)
