"""The process's pipeline, for doors that were made before it or know nothing of it."""

from __future__ import annotations

from agentpath_sdk.online.pipeline import Pipeline

__all__ = ["current_pipeline", "use_pipeline"]

_current: Pipeline | None = None


def current_pipeline() -> Pipeline | None:
    """Return the pipeline that ``configure()`` made, or None before and after."""
    return _current


def use_pipeline(pipeline: Pipeline | None) -> None:
    """Make ``pipeline`` the process's own; None = there is none any more."""
    global _current
    _current = pipeline
