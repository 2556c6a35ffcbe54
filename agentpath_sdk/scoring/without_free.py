"""A run without the extra calls that its gold path declares free."""

from __future__ import annotations

from agentpath_sdk.scoring.executed import Run
from agentpath_sdk.scoring.judge import PAIRS_OF

__all__ = ["without_free_extras"]


def without_free_extras(run: Run) -> tuple[Run, list[int] | None]:
    """Return the run without the calls of free tools that stand for no gold step, and the places of the calls kept.

    The places are None where all are kept. Which calls stand for one, the optimal alignment says, in every mode.
    """
    free = run.plan.table.free
    if not any(call.tool in free for call in run.calls):
        return run, None
    used = {at for _, at in PAIRS_OF["aligned"](run)}
    kept = [at for at, call in enumerate(run.calls) if at in used or call.tool not in free]
    if len(kept) == len(run.calls):
        return run, None
    return run.only(kept), kept
