"""A model call's facts: its name, what it was asked, what it answered, what it cost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

from agentpath_langchain.messages import finish_reason_of, genai_message, usage_of
from agentpath_langchain.shapes import is_list
from agentpath_sdk import semconv

__all__ = ["first_message", "model_name", "output_of", "request_attributes", "response_attributes"]

_NAME_KEYS: Final = ("model", "model_name", "model_id", "deployment_name")


def model_name(serialized: Mapping[str, Any] | None, metadata: Mapping[str, Any], params: Mapping[str, Any]) -> str:
    """Return the model's name as requested, else the name of the class that calls it."""
    named = metadata.get("ls_model_name") or next((params[k] for k in _NAME_KEYS if params.get(k)), None)
    if isinstance(named, str):
        return named
    path: Any = (serialized or {}).get("id")
    return str(path[-1]) if is_list(path) and path else str((serialized or {}).get("name") or "model")


def request_attributes(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return the span attributes known before the answer."""
    provider = metadata.get("ls_provider")
    return {semconv.PROVIDER_NAME: provider} if isinstance(provider, str) else {}


def first_message(response: Any) -> Any:
    """Return the first generation's message, its text for a completion model, None when there is none."""
    for generations in response.generations:
        for generation in generations:
            message = getattr(generation, "message", None)
            return generation.text if message is None else message
    return None


def output_of(response: Any) -> list[dict[str, Any]]:
    """Return every generation as a GenAI output message."""
    return [_output_message(g) for generations in response.generations for g in generations]


def _output_message(generation: Any) -> dict[str, Any]:
    message = getattr(generation, "message", None)
    if message is None:
        made: dict[str, Any] = {"role": "assistant", "parts": [{"type": "text", "content": generation.text}]}
    else:
        made = genai_message(message)
    if "finish_reason" not in made:
        info: Any = generation.generation_info or {}
        told = info.get("finish_reason")
        made["finish_reason"] = told if isinstance(told, str) else "unknown"
    return made


def response_attributes(response: Any) -> dict[str, Any]:
    """Return usage, model name and finish reason as span attributes; what is not reported is left out."""
    message = first_message(response)
    told: Mapping[str, Any] = response.llm_output or {}
    used_input, used_output = usage_of(message, told)
    metadata: Any = getattr(message, "response_metadata", None) or {}
    reason = finish_reason_of(message)
    found = {
        semconv.USAGE_INPUT_TOKENS: used_input,
        semconv.USAGE_OUTPUT_TOKENS: used_output,
        semconv.RESPONSE_MODEL: metadata.get("model_name") or metadata.get("model") or told.get("model_name"),
        semconv.RESPONSE_FINISH_REASONS: [reason] if reason is not None else None,
    }
    return {name: value for name, value in found.items() if value is not None and cast(Any, value) != ""}
