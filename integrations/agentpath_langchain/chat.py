"""A LangChain chat model as the plain callable the SDK takes wherever it needs a model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from agentpath_langchain.messages import text_of

__all__ = ["Message", "chat_model"]

Message: TypeAlias = Mapping[str, Any]
"""``{"role": "system" | "user" | "assistant", "content": text}``."""


def chat_model(runnable: Any) -> Callable[[Sequence[Message]], str]:
    """Return ``runnable`` (a chat model, or any Runnable from messages to a message or text) as ``messages -> text``.

    Its calls are an evaluator's, not the agent's: no telemetry is recorded for them.

    Raises:
        TypeError: ``runnable`` has no ``invoke``.
    """
    if not callable(getattr(runnable, "invoke", None)):
        raise TypeError(f"chat_model() needs a LangChain Runnable, got {type(runnable).__name__!r}")

    def answer(messages: Sequence[Message]) -> str:
        from opentelemetry.instrumentation.utils import suppress_instrumentation

        with suppress_instrumentation():
            found = runnable.invoke([dict(message) for message in messages])
        return text_of(found)

    return answer
