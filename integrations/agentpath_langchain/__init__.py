"""LangChain and LangGraph report their tool calls, model calls and agent runs to the recorder.

Inside ``@trace_agent`` nothing of this is needed: LangChain is picked up by itself. The handler is for code that passes
callbacks, the instrumentor for ``opentelemetry-instrument`` and for applications without any decorator.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from agentpath_langchain.chat import chat_model
    from agentpath_langchain.handler import AgentPathCallbackHandler
    from agentpath_langchain.instrumentor import AgentPathLangChainInstrumentor

__all__ = ["AgentPathCallbackHandler", "AgentPathLangChainInstrumentor", "chat_model"]


_HOMES: Final = {
    "AgentPathCallbackHandler": "handler",
    "AgentPathLangChainInstrumentor": "instrumentor",
    "chat_model": "chat",
}


def __getattr__(name: str) -> Any:
    # Looked up on first use, so that importing this package does not import LangChain.
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{home}"), name)


def __dir__() -> list[str]:
    return [*globals(), *__all__]
