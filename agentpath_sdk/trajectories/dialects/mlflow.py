"""MLflow: ``mlflow.spanType`` and friends, each value JSON-encoded (a text is inside quotes), other attributes bare."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from agentpath_sdk.trajectories.dialects import messages
from agentpath_sdk.trajectories.dialects.argument_shapes import from_python_call
from agentpath_sdk.trajectories.dialects.contents import answer_in, loaded, query_in
from agentpath_sdk.trajectories.dialects.dialect import Answer, Dialect, Request, Role
from agentpath_sdk.trajectories.dialects.langchain_metadata import UNNAMED, agent_in, conversation_in, is_agent_run
from agentpath_sdk.trajectories.dialects.results import call_id_in, error_in, result_in
from agentpath_sdk.trajectories.shapes import as_object
from agentpath_sdk.trajectories.span_record import SpanRecord

__all__ = ["MLFLOW"]

_TYPE: Final = "mlflow.spanType"
_INPUT: Final = "mlflow.spanInputs"
_OUTPUT: Final = "mlflow.spanOutputs"
_METADATA: Final = "metadata"
_TYPES: Final[Mapping[str, Role]] = {
    "TOOL": "tool",
    "CHAT_MODEL": "model",
    "LLM": "model",
    "AGENT": "agent",
    "CHAIN": "chain",
    "WORKFLOW": "chain",
    "RETRIEVER": "retrieval",
    "UNKNOWN": "function",
    "PARSER": "none",
    "EMBEDDING": "none",
    "RERANKER": "none",
    "MEMORY": "none",
    "EVALUATOR": "none",
}


def _role(span: SpanRecord) -> Role | None:
    role: Role = _TYPES.get(str(loaded(span.attributes.get(_TYPE, ""))), "unsaid")
    return "agent" if role == "chain" and is_agent_run(span.attributes.get(_METADATA), _name(span)) else role


def _name(span: SpanRecord) -> str:
    # Spans of one name under one parent are numbered: get_weather_1, get_weather_2.
    said = loaded(span.attributes.get("mlflow.spanFunctionName"))
    return said if isinstance(said, str) and said and span.name.startswith(said) else span.name


def _agent_name(span: SpanRecord) -> str | None:
    if (named := agent_in(span.attributes.get(_METADATA))) is not None:
        return named
    kind = loaded(span.attributes.get(_TYPE))
    if kind not in ("AGENT", "CHAIN", "WORKFLOW") or _name(span) in UNNAMED:
        return None
    return _name(span).removesuffix(".forward").removesuffix(".aforward")


def _tool_name(span: SpanRecord) -> str:
    said = loaded(span.attributes.get("name"))
    # DSPy's tools are called "Tool.search" there, and "search" in an attribute.
    return said if isinstance(said, str) and said and span.name.endswith(f".{said}") else _name(span)


def _call_id(span: SpanRecord) -> str | None:
    said = loaded(span.attributes.get("tool_call_id"))
    return str(said) if said else call_id_in(span.attributes.get(_OUTPUT))


def _arguments(span: SpanRecord) -> Any:
    return from_python_call(span.attributes.get(_INPUT))


def _result(span: SpanRecord) -> Any:
    said = span.attributes.get(_OUTPUT)
    return None if said is None else result_in(said)


def _returned_error(span: SpanRecord) -> str | None:
    return error_in(span.attributes.get(_OUTPUT))


def _requests(span: SpanRecord) -> tuple[Request, ...] | None:
    return messages.requests(span.attributes.get(_OUTPUT)) or None


def _answered(span: SpanRecord) -> tuple[Answer, ...] | None:
    return messages.answered(span.attributes.get(_INPUT)) or None


def _transcript(span: SpanRecord) -> tuple[messages.Message, ...] | None:
    return messages.transcript(span.attributes.get(_OUTPUT)) or None


def _query(span: SpanRecord) -> str | None:
    return query_in(span.attributes.get(_INPUT))


def _final_answer(span: SpanRecord) -> str | None:
    return answer_in(span.attributes.get(_OUTPUT))


def _conversation(span: SpanRecord) -> str | None:
    said = loaded(span.attributes.get("mlflow.trace.session"))
    return said if isinstance(said, str) else conversation_in(span.attributes.get(_METADATA))


def _decoded(name: str) -> Any:
    def read(span: SpanRecord) -> Any:
        return loaded(span.attributes.get(name))

    return read


def _usage(name: str) -> Any:
    def read(span: SpanRecord) -> int | None:
        said = (as_object(loaded(span.attributes.get("mlflow.chat.tokenUsage"))) or {}).get(name)
        return said if isinstance(said, int) else None

    return read


def _without_history(span: SpanRecord) -> dict[str, Any] | None:
    given = span.attributes.get(_INPUT)
    return None if given is None else {_INPUT: messages.abridged(given)}


MLFLOW: Final = Dialect(
    name="mlflow",
    role=_role,
    marks=frozenset({_TYPE}),
    agent_name=_agent_name,
    tool_name=_tool_name,
    call_id=_call_id,
    arguments=_arguments,
    result=_result,
    returned_error=_returned_error,
    conversation_id=_conversation,
    query=_query,
    final_answer=_final_answer,
    transcript=_transcript,
    model_name=_decoded("mlflow.llm.model"),
    input=_decoded(_INPUT),
    output=_decoded(_OUTPUT),
    requests=_requests,
    answered=_answered,
    input_tokens=_usage("input_tokens"),
    output_tokens=_usage("output_tokens"),
    without_history=_without_history,
)
