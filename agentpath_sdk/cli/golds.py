"""Which gold path a run is scored against: the files given, else the record's own, else AGENTPATH_GOLD."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from agentpath_sdk.cli.run import ScoredRun
from agentpath_sdk.gold.files import GoldRead, parse_path, read_gold
from agentpath_sdk.gold.model import GoldPath
from agentpath_sdk.gold.registry import GoldPathRegistry, LookUp
from agentpath_sdk.scoring.score import Mode
from agentpath_sdk.scoring.scorer import not_evaluated, score_best
from agentpath_sdk.settings import ScoringSettings, resolve
from agentpath_sdk.trajectories.files import ReadItem

__all__ = ["Golds"]

_OWN_KEYS = ("gold_trajectory", "gold")


@dataclass(frozen=True, kw_only=True, slots=True)
class Golds:
    """The gold paths a command was given, and how to score with them.

    Raises:
        ConfigurationError: a setting in the environment is wrong.
    """

    read: GoldRead = field(default_factory=GoldRead)
    given: GoldPathRegistry | None = None
    """Of `--gold`; wins over a record's own."""
    fallback: GoldPathRegistry | None = None
    """Of AGENTPATH_GOLD."""
    settings: ScoringSettings = field(default_factory=lambda: resolve({}).scoring)
    """Of the environment, as a service with that environment scores."""

    @classmethod
    def load(cls, sources: Sequence[Path]) -> Self:
        """Return the gold paths of ``sources``; bad files are in ``read.problems``, the good ones serve."""
        if sources:
            read = read_gold(*sources)
            return cls(read=read, given=GoldPathRegistry(read.paths))
        named = [part for part in os.environ.get("AGENTPATH_GOLD", "").split(os.pathsep) if part]
        if not named:
            return cls()
        read = read_gold(*named)
        return cls(read=read, fallback=GoldPathRegistry(read.paths))

    @property
    def none_given(self) -> bool:
        """Whether neither ``--gold`` nor the environment names any."""
        return self.given is None and self.fallback is None

    def score(self, item: ReadItem, mode: Mode) -> ScoredRun:
        """Return the verdict on one run.

        Raises:
            FileFormatError: the record's own gold path is malformed.
        """
        own = None if self.given is not None else own_path(item.record, item.file)
        if own is not None:
            return self._against(item, (own,), "record", 1.0, mode)
        registry = self.fallback if self.given is None else self.given  # an empty one is false
        found = LookUp(reason="no gold path was given") if registry is None else registry.look_up(item.trajectory)
        if not found.paths:
            return ScoredRun(
                trajectory=item.trajectory,
                score=not_evaluated("no gold path", item.trajectory),
                gold_reason=found.reason,
                file=item.file,
            )
        return self._against(item, found.paths, str(found.how), found.confidence, mode)

    def _against(
        self, item: ReadItem, paths: Sequence[GoldPath], match: str, confidence: float, mode: Mode
    ) -> ScoredRun:
        score = score_best(item.trajectory, paths, mode=mode, settings=self.settings)
        return ScoredRun(
            trajectory=item.trajectory,
            score=score,
            gold_path=next((path for path in paths if path.id == score.gold_path_id), paths[0]),
            gold_match=match,
            gold_confidence=confidence,
            file=item.file,
        )


def own_path(record: Mapping[str, Any] | None, file: str | None) -> GoldPath | None:
    """Return the gold path inside a record, or None where it has none."""
    key = next((key for key in _OWN_KEYS if isinstance((record or {}).get(key), list)), None)
    if record is None or key is None:
        return None
    return parse_path({**record, "gold_trajectory": record[key]}, source=file or "<record>")
