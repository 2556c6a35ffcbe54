"""What can still be gained from each place of a gold expression on, for each rest of a run: the look ahead."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from agentpath_sdk.scoring.alignment import SIMILARITY_ONE
from agentpath_sdk.scoring.bounds import Bounds
from agentpath_sdk.scoring.executed import Run
from agentpath_sdk.scoring.pairs import UNKNOWN
from agentpath_sdk.scoring.words import Language

__all__ = ["Ahead", "Outlook", "Pairing", "Pairings"]

# Cells of the tables looked ahead, per run; what lies beyond is taken to gain all that can be gained.
_MOST_CELLS: Final = 200_000
_EDIT_BITS: Final = 24
_PAIR: Final = 1 << 72
_FAR: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Pairing:
    """One gold call with each call of the run."""

    same: tuple[bool, ...]
    """Whether the tools are the same."""
    gains: tuple[float, ...]
    """What the pair adds to the composite at most; 0 where the two cannot be a pair."""
    ranks: tuple[int, ...]
    """What it adds to the rank of an alignment: pairs, similarity, edits. -1 (an edit) where it is none."""
    elsewhere: float
    """What the gold call adds at most where it is not in a pair."""


class Pairings:
    """The pairings of one run with the calls of a gold path, made when first asked for."""

    def __init__(self, run: Run, bounds: Bounds) -> None:
        self.run = run
        self.bounds = bounds
        self.calls = len(run.letters)
        self.most_gained = bounds.gain(passed=True, near=1.0)
        self._made: dict[int, Pairing] = {}

    def of(self, call: int) -> Pairing:
        """Return the pairing of a gold call, by its number in the table."""
        found = self._made.get(call)
        if found is None:
            found = self._made[call] = self._make(call)
        return found

    def _make(self, call: int) -> Pairing:
        run, bounds = self.run, self.bounds
        letter = run.plan.table.letters[call]
        same = tuple(other == letter for other in run.letters)
        gains, ranks = [0.0] * self.calls, [-1] * self.calls
        for at, alike in enumerate(same):
            if alike and run.eligible_for(call, at):
                verdict = run.verdict_of(call, at)
                passed, near = (True, 1.0) if verdict is UNKNOWN else verdict
                gains[at] = bounds.gain(passed, near)
                ranks[at] = _PAIR + (int(verdict[1] * SIMILARITY_ONE + 0.5) << _EDIT_BITS)
        return Pairing(same, tuple(gains), tuple(ranks), bounds.gain_misplaced if any(same) else 0.0)


@dataclass(slots=True)
class Ahead:
    """What can follow a place at best; the rows count from each place of the run on."""

    gains: list[float]
    distances: list[int]
    shortest: int = _FAR
    longest: int = 0
    required: int = 0
    """Of the calls that follow, at most so many belong to a shortest way."""


class Outlook:
    """The look ahead from every place that follows the starts."""

    def __init__(self, language: Language, starts: Sequence[int], pairings: Pairings) -> None:
        self._language = language
        self._pairings = pairings
        calls = pairings.calls
        self._unknown = Ahead(
            gains=[pairings.most_gained * (calls - at) for at in range(calls + 1)],
            distances=[0] * (calls + 1),
            shortest=0,
            longest=_FAR,
            required=_FAR,
        )
        places = self._places(starts)
        self._ahead = {place: self._nothing(place) for place in places}
        # Backwards, until nothing changes: a second time only where a repetition leads back.
        places.reverse()
        changed = True
        while changed:
            changed = False
            for place in places:
                changed = self._improve(place) or changed

    def at(self, place: int) -> Ahead:
        """Return what can follow the place."""
        return self._ahead.get(place, self._unknown)

    def _places(self, starts: Sequence[int]) -> list[int]:
        most = max(64, _MOST_CELLS // (self._pairings.calls + 1))
        found = dict.fromkeys(starts)
        waiting = list(found)
        for place in waiting:
            for _, after in self._language.arcs(place):
                if after not in found and len(found) < most:
                    found[after] = None
                    waiting.append(after)
        return waiting

    def _nothing(self, place: int) -> Ahead:
        calls = self._pairings.calls
        if self._language.ends(place):
            return Ahead([0.0] * (calls + 1), list(range(calls, -1, -1)), shortest=0)
        return Ahead([0.0] * (calls + 1), [_FAR] * (calls + 1))

    def _improve(self, place: int) -> bool:
        here = self._ahead[place]
        before = (here.gains.copy(), here.distances.copy(), here.shortest, here.longest, here.required)
        for expected, after in self._language.arcs(place):
            then = self.at(after)
            here.shortest = min(here.shortest, then.shortest + 1)
            here.longest = min(_FAR, max(here.longest, then.longest + 1))
            here.required = min(_FAR, max(here.required, then.required + expected.required))
            self._extend(here, then, self._pairings.of(expected.call))
        return before != (here.gains, here.distances, here.shortest, here.longest, here.required)

    def _extend(self, here: Ahead, then: Ahead, pairing: Pairing) -> None:
        gains, distances, calls = here.gains, here.distances, self._pairings.calls
        gains[calls] = max(gains[calls], then.gains[calls] + pairing.elsewhere)
        distances[calls] = min(distances[calls], then.distances[calls] + 1)
        for at in range(calls - 1, -1, -1):
            found = then.gains[at + 1] + pairing.gains[at]
            gains[at] = max(gains[at], gains[at + 1], found, then.gains[at] + pairing.elsewhere)
            edits = then.distances[at + 1] + (not pairing.same[at])
            distances[at] = min(distances[at], distances[at + 1] + 1, edits, then.distances[at] + 1)
