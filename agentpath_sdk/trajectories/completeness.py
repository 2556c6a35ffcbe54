"""Whether a run's calls were all seen, with the reasons where they were not."""

from __future__ import annotations

from typing import Final

from agentpath_sdk import semconv
from agentpath_sdk.trajectories.model import Completeness
from agentpath_sdk.trajectories.run import Run
from agentpath_sdk.trajectories.tree import CALLS, Node, top

__all__ = [
    "DROPPED",
    "PARENT_MISSING",
    "ROOT_MISSING",
    "UNSAMPLED",
    "calls_expected",
    "calls_seen",
    "completeness",
    "own_spans",
]

ROOT_MISSING: Final = "root missing"
PARENT_MISSING: Final = "a parent span is missing"
DROPPED: Final = "spans were dropped"
UNSAMPLED: Final = "parts of the trace were not sampled"


def own_spans(run: Run) -> list[Node]:
    """Return the agent's own spans: more than one where several instrumentations saw the run."""
    return [node for node in (run.node, *run.absorbed) if node is not None]


def calls_expected(run: Run) -> int | None:
    """Return the number of calls our own recorder started in ``run``, or None when no span says it."""
    counts = [count for node in own_spans(run) if (count := node.read("run_calls")) is not None]
    return sum(counts) if counts else None


def calls_seen(run: Run) -> int:
    """Return the number of call spans of ``run`` that our own recorder may have made."""
    return sum(1 for n in run.members if n.role in CALLS and n.record.scope in (None, semconv.SCOPE_NAME))


def completeness(run: Run, *, dropped: bool) -> tuple[Completeness, tuple[str, ...]]:
    """Return how complete ``run`` is and why it is not; what is known weighs more than what is presumed."""
    expected, seen = calls_expected(run), calls_seen(run)
    known = [DROPPED] if dropped else []
    if expected is not None and seen < expected:
        known.append(f"{seen} of {expected} calls were seen")
    if _unsampled(run):
        known.append(UNSAMPLED)
    presumed = [ROOT_MISSING] if run.node is None else []
    if run.adopted and expected is None:
        presumed.append(PARENT_MISSING)
    if known:
        return "known_incomplete", (*known, *presumed)
    return ("presumed_incomplete", tuple(presumed)) if presumed else ("complete", ())


def _unsampled(run: Run) -> bool:
    """Return whether a missing parent inside or above the run's calls was left out by a sampler."""
    tops = {id(found): found for found in map(top, run.members)}
    above = top(run.node) if run.node is not None else None
    return any(n is not above and n.parent_missing and n.record.parent_sampled is False for n in tops.values())
