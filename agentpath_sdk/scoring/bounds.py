"""How high the composite of a run can be, from what it has in common with a sequence of gold calls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from rapidfuzz.distance import DamerauLevenshtein, Levenshtein

from agentpath_sdk.scoring.formulas import path_efficiency
from agentpath_sdk.scoring.score import Mode
from agentpath_sdk.scoring.table import Table

__all__ = ["PATH_PARTS", "Bounds"]

PATH_PARTS: Final = frozenset(
    {"tool_accuracy", "argument_accuracy", "argument_similarity", "step_order_accuracy", "path_efficiency"}
)
"""The parts of a composite for which it takes no matching of whole calls."""
_NOT_OF_THE_PATH: Final = frozenset({"goal_success", "answer_exact", "answer_f1"})


class Bounds:
    """The weights that tell ways through a gold path apart, and the length of one run."""

    __slots__ = (
        "_argument",
        "_efficiency",
        "_near",
        "_order",
        "_rest",
        "_tool",
        "calls",
        "credit",
        "distance",
        "free",
        "weights",
    )

    def __init__(self, table: Table, mode: Mode, calls: int, free: int) -> None:
        self.calls = calls
        self.free = free
        """How many of the calls may turn out to be free extras."""
        given = {name: weight for name, weight in table.weights.parts if name not in _NOT_OF_THE_PATH}
        self.weights: Mapping[str, float] = given
        self.credit = max(0.0, table.settings.position_credit) if mode in ("soft", "aligned_soft") else 0.0
        """What a right tool at a wrong place counts for."""
        self.distance = (DamerauLevenshtein if table.settings.damerau else Levenshtein).distance
        """Edits between two sequences of letters."""
        self._tool = given.get("tool_accuracy", 0.0)
        self._argument = given.get("argument_accuracy", 0.0)
        self._near = given.get("argument_similarity", 0.0)
        self._order = given.get("step_order_accuracy", 0.0)
        self._efficiency = given.get("path_efficiency", 0.0)
        self._rest = sum(weight for name, weight in given.items() if name not in PATH_PARTS)

    @property
    def of_path_parts_only(self) -> bool:
        """Whether the composite needs no matching of whole calls."""
        return not self._rest

    def bound(self, pairs: int, common: int, passed: int, distance: int, length: int, min_steps: int) -> float:
        """Return what the composite does not exceed.

        Args:
            pairs: at most so many pairs there are that keep the order.
            common: so many calls have a tool that the other side has, in whatever order.
            passed: at most so many pairs pass in full.
            distance: at least so many edits the names need.
            length: calls of the sequence.
            min_steps: calls of the shortest way.
        """
        right = max(pairs + self.credit * (common - pairs), self.credit * common)
        gain = self._tool * right + self._argument * passed + self._near * pairs
        return self.bound_of_gain(gain, distance, length, length, min_steps)

    def gain(self, passed: bool, near: float) -> float:
        """Return what a pair adds, times the length of the longer side."""
        return self._tool * max(1.0, self.credit) + self._argument * passed + self._near * near

    @property
    def gain_misplaced(self) -> float:
        """What a right tool at a wrong place adds, times the same."""
        return self._tool * self.credit

    def bound_of_gain(self, gain: float, distance: int, shortest: int, longest: int, min_steps: int) -> float:
        """Return the same from the sum of what pairs add, for sequences of ``shortest`` to ``longest`` calls."""
        fewest = self.calls - self.free
        if not shortest and not fewest:
            return sum(self.weights.values())
        # Of n calls more than the run has, n are edits at least, so that a longer sequence gains nothing by them.
        distance = max(distance, shortest - self.calls)
        most = max(min(self.calls + distance, max(self.calls, longest)), 1)
        total = self._rest + min(self._tool + self._argument + self._near, gain / max(fewest, shortest))
        total += self._order * (1.0 - max(0, distance - self.free) / most)
        return total + self._efficiency * path_efficiency(min(1, longest), max(fewest, min(1, self.calls)), min_steps)
