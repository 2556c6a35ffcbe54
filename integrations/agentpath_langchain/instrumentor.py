"""Switches tracing of LangChain on for a whole process."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from agentpath_langchain.switch import SWITCH
from agentpath_sdk.errors import MissingExtraError

try:
    from opentelemetry.instrumentation.instrumentor import (  # type: ignore[attr-defined]  # re-exported without py.typed
        BaseInstrumentor,
    )
except ImportError as missing:
    raise MissingExtraError("opentelemetry-instrumentation", "langchain") from missing

__all__ = ["AgentPathLangChainInstrumentor"]


class AgentPathLangChainInstrumentor(BaseInstrumentor):  # type: ignore[misc]  # untyped base class
    """``AgentPathLangChainInstrumentor().instrument()``: every LangChain and LangGraph run of the process is traced,
    decorated or not. LangChain need not be imported yet. Entry point ``agentpath_langchain`` of
    ``opentelemetry_instrumentor``, so ``opentelemetry-instrument`` switches it on by itself."""

    def instrumentation_dependencies(self) -> Collection[str]:
        """Return the versions of LangChain this is written for."""
        return ("langchain-core >= 1.0",)

    def _instrument(self, **kwargs: Any) -> None:
        SWITCH.hook()
        SWITCH.everywhere = True

    def _uninstrument(self, **kwargs: Any) -> None:
        SWITCH.everywhere = False
