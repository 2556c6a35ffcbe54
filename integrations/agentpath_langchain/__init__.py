"""LangChain and LangGraph report their tool calls, model calls and agent runs to the recorder.

Inside ``@trace_agent`` nothing of this is needed: LangChain is picked up by itself. The handler is for code that passes
callbacks, the instrumentor for ``opentelemetry-instrument`` and for applications without any decorator.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agentpath_langchain.chat import chat_model
    from agentpath_langchain.handler import AgentPathCallbackHandler
    from agentpath_langchain.instrumentor import AgentPathLangChainInstrumentor

__all__ = ["AgentPathCallbackHandler", "AgentPathLangChainInstrumentor", "chat_model"]


def __getattr__(name: str) -> Any:
    # Looked up on first use, so that importing this package does not import LangChain.
    if name == "AgentPathCallbackHandler":
        from agentpath_langchain.handler import AgentPathCallbackHandler as found
    elif name == "AgentPathLangChainInstrumentor":
        from agentpath_langchain.instrumentor import AgentPathLangChainInstrumentor as found
    elif name == "chat_model":
        from agentpath_langchain.chat import chat_model as found
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return found


def __dir__() -> list[str]:
    return [*globals(), *__all__]
