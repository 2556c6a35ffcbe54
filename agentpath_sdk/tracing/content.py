"""Content on its way to a span: captured or not, redacted, encoded, capped; never unredacted, never raising."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Final, cast

from agentpath_sdk import redaction, semconv
from agentpath_sdk._encode import Encoded, encode
from agentpath_sdk._guard import HEALTH
from agentpath_sdk._plain import kind_of, whole_text
from agentpath_sdk.redaction import FAILED, suspicious
from agentpath_sdk.tracing.messages import as_messages, text_message
from agentpath_sdk.tracing.recording import Recording

__all__ = [
    "ERROR_MESSAGE_LIMIT",
    "put_arguments",
    "put_input",
    "put_output",
    "put_result",
    "put_text",
    "safe_attributes",
    "text",
    "without_listed",
]

ERROR_MESSAGE_LIMIT: Final = 500
_MAX_SECRETS: Final = 64
_SHORTEST_SECRET: Final = 5


def put_arguments(recording: Recording, arguments: Any, limit: int) -> None:
    """Keep a tool call's arguments: a mapping by name, or text that is no object (flagged as raw)."""
    if isinstance(arguments, str):
        clean = text(recording, arguments)
        recording.raw = (*recording.raw, "arguments")
        recording.content[semconv.TOOL_CALL_ARGUMENTS] = clean[:limit]
        if len(clean) > limit:
            recording.truncated = (*recording.truncated, "arguments")
        return
    _put(recording, semconv.TOOL_CALL_ARGUMENTS, "arguments", without_listed(recording, arguments), limit)


def without_listed(recording: Recording, arguments: Any) -> Any:
    """Return arguments by name without the values of those listed in ``redact=``, which are remembered as secrets."""
    if not recording.redact or not isinstance(arguments, Mapping):
        return arguments
    given = cast("Mapping[str, Any]", arguments)
    _learn(recording, [v for k, v in given.items() if k in recording.redact])
    return {k: redaction.MARKER if k in recording.redact else v for k, v in given.items()}


def put_result(recording: Recording, result: Any, limit: int) -> None:
    """Keep a tool call's result, as JSON."""
    _put(recording, semconv.TOOL_CALL_RESULT, "result", result, limit)


def put_input(recording: Recording, value: Any, limit: int) -> None:
    """Keep what went into an agent, a model (as GenAI messages) or a phase (as JSON)."""
    value = without_listed(recording, value)
    if recording.kind == "phase":
        _put(recording, semconv.STEP_INPUT, "input", value, limit)
    else:
        _put(recording, semconv.INPUT_MESSAGES, "input", as_messages(value, role="user"), limit)


def put_output(recording: Recording, value: Any, limit: int) -> None:
    """Keep what came out of an agent, a model (as GenAI messages) or a phase (as JSON)."""
    if recording.kind == "phase":
        _put(recording, semconv.STEP_OUTPUT, "output", value, limit)
    else:
        _put(recording, semconv.OUTPUT_MESSAGES, "output", as_messages(value, role="assistant"), limit)


def put_text(recording: Recording, value: str, *, role: str, limit: int) -> None:
    """Keep one message of plain text: the user's query, the final answer."""
    (put_input if role == "user" else put_output)(recording, [text_message(role, value)], limit)


def text(recording: Recording, value: str, limit: int | None = None) -> str:
    """Return ``value`` redacted (known secrets of the run included) and cut to ``limit`` characters."""
    beginning = value if limit is None else str.__str__(value)[: limit * 8]
    clean = redaction.redact_text(whole_text(beginning))
    for secret in recording.root.secrets:
        clean = clean.replace(secret, redaction.MARKER)
    return clean if limit is None or len(clean) <= limit else clean[: limit - 1] + "…"


def safe_attributes(recording: Recording, attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``attributes`` with every text redacted and every value of a kind a span can hold."""
    return {
        name: redaction.MARKER if _is_secret(recording, name, value) else _safe(recording, value)
        for name, value in attributes.items()
    }


def _is_secret(recording: Recording, name: str, value: Any) -> bool:
    kind = kind_of(value)  # a number is a count, such as that of tokens
    return kind not in (bool, int, float) and name not in recording.keep and redaction.is_secret_name(name)


def _safe(recording: Recording, value: Any) -> Any:
    if isinstance(value, bool | int | float):
        return value
    if isinstance(value, str):
        return text(recording, value)
    if isinstance(value, list | tuple):
        return [_safe(recording, item) for item in cast("list[Any]", value)]
    return _encoded(recording, value, 4_096).text


def _put(recording: Recording, attribute: str, what: str, value: Any, limit: int) -> None:
    text, truncated = _encoded(recording, value, limit)
    recording.content[attribute] = text
    if truncated:
        recording.truncated = (*recording.truncated, what)


def _encoded(recording: Recording, value: Any, limit: int) -> Encoded:
    try:
        known = recording.root.secrets
        if not known:
            encoded = encode(value, limit)
            # What was cut has to be searched before the cut, so that no part of a secret is left at its edge.
            if not encoded.truncated and not suspicious(encoded.text):
                return encoded
        return encode(value, limit, suspect=partial(_holds, known), redact=partial(_redacted, recording))
    except Exception as error:
        HEALTH.fault("tracing.encode", error)
        return Encoded(f'"{FAILED}"', False)


def _holds(known: frozenset[str], text: str) -> bool:
    return suspicious(text) or any(secret in text for secret in known)


def _redacted(recording: Recording, plain: Any) -> Any:
    found: list[Any] = []
    clean = redaction.redact(plain, keep=recording.keep, found=found, known=recording.root.secrets)
    _learn(recording, found)
    return clean


def _learn(recording: Recording, found: list[Any]) -> None:
    """Remember values redacted by name, so that they are also found in this run's messages and results."""
    texts = [value for value in found if isinstance(value, str)]
    words = {word for text in texts for word in (text, *text.split()) if len(word) >= _SHORTEST_SECRET}
    if words:
        root = recording.root
        root.secrets = frozenset(list(root.secrets | words)[:_MAX_SECRETS])
