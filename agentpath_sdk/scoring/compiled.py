"""Gold paths made ready for scoring: compiled once per gold path and settings, used for every run."""

from __future__ import annotations

from typing import Final, TypeAlias

from agentpath_sdk.gold.expression import ways
from agentpath_sdk.gold.model import CallStep, GoldPath
from agentpath_sdk.scoring.expansions import Expansions, spell_out
from agentpath_sdk.scoring.plan import Plan, make_plan
from agentpath_sdk.scoring.table import table_of
from agentpath_sdk.scoring.words import Expected, Language
from agentpath_sdk.settings import ScoringSettings

__all__ = ["Compiled", "compiled"]

Compiled: TypeAlias = "Plan | Expansions"
"""The one sequence of calls that a gold path accepts, or all of them."""

# Keyed by identity: gold paths hold mappings, so they have no hash. Each entry holds its gold path, so that the id
# stays its own, and there are at most this many.
_MOST_KEPT: Final = 4_096
_kept: dict[tuple[int, int], Compiled] = {}


def compiled(gold: GoldPath, settings: ScoringSettings) -> Compiled:
    """Return the compiled gold path, from the cache where it was compiled before."""
    found = _kept.get((id(gold), id(settings)))
    if found is None:
        found = _compile(gold, settings)
        if len(_kept) >= _MOST_KEPT:
            # All at once, since picking the oldest would need a lock, which a fork could leave locked.
            _kept.clear()
        _kept[id(gold), id(settings)] = found
    return found


def _compile(gold: GoldPath, settings: ScoringSettings) -> Compiled:
    if not gold.alternatives and all(isinstance(step, CallStep) for step in gold.steps):
        calls = [step for step in gold.steps if isinstance(step, CallStep)]
        word = tuple(Expected(at, required=True) for at in range(len(calls)))
        return make_plan(table_of(calls, gold, settings), word)
    language = Language(ways(gold))
    return spell_out(language, table_of(language.calls, gold, settings))
