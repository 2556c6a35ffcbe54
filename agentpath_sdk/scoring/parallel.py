"""Whether calls that are to be made together were."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from agentpath_sdk.scoring.alignment import Pair
from agentpath_sdk.scoring.executed import Run
from agentpath_sdk.scoring.reasons import clean, shortened, well_formed
from agentpath_sdk.scoring.score import Finding

__all__ = ["not_together"]


def not_together(run: Run, pairs: Sequence[Pair]) -> Iterator[Finding]:
    """Yield a finding for each group that asks to be one parallel group, and whose calls in the run are none."""
    at_of = dict(pairs)
    for members in _groups(run):
        made = [at_of[gold] for gold in members if gold in at_of]
        groups = {run.calls[at].parallel_group for at in made}
        if len(made) < 2 or (len(groups) == 1 and None not in groups):
            continue
        tools = ", ".join(shortened(well_formed(run.calls[at].tool), 80) for at in made)
        yield Finding(
            kind="not_parallel",
            message=shortened(clean(f"step {(run.places[made[0]] or 0) + 1}: gold asks for {tools} in parallel")),
            step=run.places[made[0]],
            gold_step=members[0],
            tool=well_formed(run.calls[made[0]].tool),
        )


def _groups(run: Run) -> list[list[int]]:
    """Return the gold steps of each group."""
    groups: list[list[int]] = []
    open_groups: dict[int, list[int]] = {}
    for at, expected in enumerate(run.plan.word):
        if expected.together < 0:
            continue
        if expected.opens or expected.together not in open_groups:
            open_groups[expected.together] = []
            groups.append(open_groups[expected.together])
        open_groups[expected.together].append(at)
    return groups
