"""What a run changed, and the way there: the parts of ``effect_score``.

What an agent changed tells nearly everything where tools have effects: a write that is wrong, missing or too many is
charged in full. Reads are one way among several: a missing one costs little, an extra one nothing. A tool of which
nobody says what it does is taken to write.
"""

from __future__ import annotations

from collections.abc import Sequence

from agentpath_sdk.scoring.alignment import Pair
from agentpath_sdk.scoring.executed import Run
from agentpath_sdk.scoring.formulas import path_efficiency
from agentpath_sdk.scoring.pairs import FAILED_OUTCOMES
from agentpath_sdk.scoring.whole_calls import match_whole_calls, same_place_doubts

__all__ = ["add_effects"]


def add_effects(run: Run, pairs: Sequence[Pair], metrics: dict[str, float], reasons: dict[str, str]) -> None:
    """Add ``write_f1`` and ``way_efficiency``; ``pairs`` are those of the optimal alignment."""
    _add_write_f1(run, metrics, reasons)
    used = {at for _, at in pairs}
    charged = sum(at in used or not _is_free(run, at) for at in range(len(run.calls)))
    gold_count = len(run.plan.letters)
    # A run that only read more than a gold path without steps has done nothing.
    metrics["way_efficiency"] = path_efficiency(gold_count, charged, run.plan.min_steps)


def _add_write_f1(run: Run, metrics: dict[str, float], reasons: dict[str, str]) -> None:
    """F1 of the calls that write and did not fail, whole and one-to-one; none expected and none made is 1."""
    wanted = run.plan.writing
    made = [at for at, call in enumerate(run.calls) if _writes(run, at) and call.outcome not in FAILED_OUTCOMES]
    if wanted is None or not wanted.letters or not made:
        metrics["write_f1"] = float((wanted is None or not wanted.letters) and not made)
        return
    part = run.only(made, wanted)
    passed, _, undecided = match_whole_calls(part, same_place_doubts(part))
    if undecided is None:
        metrics["write_f1"] = 2.0 * passed / (len(wanted.letters) + len(made))
    else:
        reasons["write_f1"] = part.unknown_words(undecided)


def _writes(run: Run, at: int) -> bool:
    terminal = run.plan.reader.terminal
    answers = terminal is not None and run.letters[at] == terminal[0]
    return not answers and run.plan.gold.effects.get(run.calls[at].tool) != "read"


def _is_free(run: Run, at: int) -> bool:
    gold, tool = run.plan.gold, run.calls[at].tool
    return gold.effects.get(tool) == "read" and gold.extras.get(tool) != "charged"
