"""The last so many keys that were added: a set that forgets its oldest."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable

__all__ = ["Remembered"]


class Remembered:
    """Holds hashes of the last ``limit`` distinct keys, in about 80 bytes each."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._order: deque[int] = deque()
        self._hashes: set[int] = set()

    def __len__(self) -> int:
        return len(self._order)

    def __contains__(self, key: Hashable) -> bool:
        return hash(key) in self._hashes

    def add(self, key: Hashable) -> None:
        """Remember ``key``; the oldest is forgotten for it where there are too many."""
        if (hashed := hash(key)) in self._hashes:
            return
        self._hashes.add(hashed)
        self._order.append(hashed)
        while len(self._order) > self._limit:
            self._hashes.discard(self._order.popleft())
