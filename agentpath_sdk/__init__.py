"""agentpath-sdk: path-level evaluation of live LLM agents on OpenTelemetry.

Names are loaded on first use, so that importing one room (or the pytest plug-in) does not load the others.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from agentpath_sdk.configuration import configure, flush, shutdown
    from agentpath_sdk.gold.model import GoldPath
    from agentpath_sdk.gold.registry import GoldPathRegistry
    from agentpath_sdk.scoring.score import PathScore
    from agentpath_sdk.scoring.scorer import score_path
    from agentpath_sdk.tracing.context import use_conversation
    from agentpath_sdk.tracing.decorators import trace_agent, trace_step, trace_tool
    from agentpath_sdk.tracing.outcomes import current_run, record_outcome
    from agentpath_sdk.trajectories.files import read_trajectories
    from agentpath_sdk.trajectories.model import ToolCall, Trajectory

__all__ = [
    "GoldPath",
    "GoldPathRegistry",
    "PathScore",
    "ToolCall",
    "Trajectory",
    "configure",
    "current_run",
    "flush",
    "read_trajectories",
    "record_outcome",
    "score_path",
    "shutdown",
    "trace_agent",
    "trace_step",
    "trace_tool",
    "use_conversation",
]

_HOMES: Final = {
    "GoldPath": "gold.model",
    "GoldPathRegistry": "gold.registry",
    "PathScore": "scoring.score",
    "ToolCall": "trajectories.model",
    "Trajectory": "trajectories.model",
    "configure": "configuration",
    "current_run": "tracing.outcomes",
    "flush": "configuration",
    "read_trajectories": "trajectories.files",
    "record_outcome": "tracing.outcomes",
    "score_path": "scoring.scorer",
    "shutdown": "configuration",
    "trace_agent": "tracing.decorators",
    "trace_step": "tracing.decorators",
    "trace_tool": "tracing.decorators",
    "use_conversation": "tracing.context",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
