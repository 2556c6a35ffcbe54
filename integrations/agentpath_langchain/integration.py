"""How the decorators find LangChain (entry point ``agentpath_integrations``); importing this imports no LangChain."""

from __future__ import annotations

from collections.abc import Hashable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Final

from agentpath_langchain.outcomes import classify
from agentpath_langchain.switch import SWITCH

if TYPE_CHECKING:
    from agentpath_sdk.tracing.options import CallOptions
    from agentpath_sdk.tracing.recording import Outcome, StopReason

__all__ = ["INTEGRATION", "LangChainIntegration"]


class LangChainIntegration:
    """LangChain and LangGraph, as ``agentpath_sdk.tracing.frameworks.Integration``."""

    name: Final = "langchain"
    module: Final = "langchain_core"

    def activate(self) -> AbstractContextManager[None]:
        """Have every LangChain call in the current context reported."""
        return SWITCH.on()

    def wrap_agent(self, obj: Any, options: CallOptions) -> Any | None:
        """Return a traced stand-in for a graph or any other Runnable, else None."""
        from agentpath_langchain.stand_ins import traced_agent

        return traced_agent(obj, options)

    def wrap_tool(self, obj: Any, options: CallOptions) -> Any | None:
        """Return a traced copy of a LangChain tool, else None."""
        from agentpath_langchain.stand_ins import traced_tool

        return traced_tool(obj, options)

    def current_key(self) -> Hashable | None:
        """Return the key of the recorded LangChain call that the running code is inside of, else None."""
        from agentpath_langchain.runs import enclosing_key

        return enclosing_key()

    def classify_error(self, error: BaseException) -> tuple[Outcome, StopReason | None] | None:
        """Return what an exception of LangChain or LangGraph means, None for any other."""
        return classify(error)


INTEGRATION: Final = LangChainIntegration()
