"""The process's pipeline, for doors that were made before it or know nothing of it."""

from __future__ import annotations

from typing import Final, Protocol
from weakref import WeakSet

from agentpath_sdk.online.pipeline import Pipeline

__all__ = ["Follower", "current_pipeline", "follow_pipeline", "use_pipeline"]


class Follower(Protocol):
    """Wants to know of every pipeline from its first moment: a verdict may come before the first span does."""

    def use(self, pipeline: Pipeline | None) -> None:
        """Use ``pipeline`` from now on."""
        ...


_current: Pipeline | None = None
_followers: Final[WeakSet[Follower]] = WeakSet()


def current_pipeline() -> Pipeline | None:
    """Return the pipeline that ``configure()`` made, or None before and after."""
    return _current


def use_pipeline(pipeline: Pipeline | None) -> None:
    """Make ``pipeline`` the process's own; None = there is none any more."""
    global _current
    _current = pipeline
    for follower in list(_followers):
        follower.use(pipeline)


def follow_pipeline(follower: Follower) -> None:
    """Tell ``follower`` which pipeline is the process's, now and whenever that changes."""
    _followers.add(follower)
    follower.use(_current)
