"""Every adapter by the name of its metric."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import as_agentevals
import as_cloud
import as_deepeval
import as_lightspeed
import as_others
import as_pydantic_evals
import as_ragas
import as_toolscore
from cases import NOT_EMPTY, Adapter

__all__ = ["ADAPTERS", "DEFECTS"]

ADAPTERS: Final[Mapping[str, Adapter]] = {
    **as_agentevals.ADAPTERS,
    **as_cloud.ADAPTERS,
    **as_deepeval.ADAPTERS,
    **as_lightspeed.ADAPTERS,
    **as_others.ADAPTERS,
    **as_pydantic_evals.ADAPTERS,
    **as_ragas.ADAPTERS,
    **as_toolscore.ADAPTERS,
}

DEFECTS: Final = frozenset(
    {
        NOT_EMPTY,
        as_agentevals.GREEDY,
        as_agentevals.SWAPPED,
        as_cloud.COUNTS,
        as_cloud.ONE_SET,
        as_deepeval.BY_VALUE,
        as_deepeval.GREEDY,
        as_lightspeed.FIRST_FIT,
        as_lightspeed.UNORDERED,
        as_others.NO_ARGUMENTS,
        as_others.REPEATS,
        as_ragas.LENGTHS,
        as_ragas.SORTED,
        as_toolscore.FIRST_FIT,
    }
)
"""The names in docs/presets.md, which has a counterexample for each."""
