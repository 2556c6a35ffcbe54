"""Ids for paths that were not given one: readable, and the same whenever the same text is read."""

from __future__ import annotations

import hashlib
import re
from typing import Any, Final

from agentpath_sdk.gold.query_text import normalise
from agentpath_sdk.gold.wording import json_text

__all__ = ["id_from_query", "id_from_steps"]

_READABLE: Final = 40
_NOT_WORDS: Final = re.compile(r"[\W_]+")


def id_from_query(query: str) -> str:
    """Return the words of the query and six digits of its hash: ``average-temperature-on-mars-1f09c2``."""
    words = _NOT_WORDS.sub("-", normalise(query)[: _READABLE * 2]).strip("-")[:_READABLE].strip("-")
    return f"{words or 'query'}-{_digits(normalise(query))}"


def id_from_steps(steps: list[Any]) -> str:
    """Return an id for a path that has no query either."""
    return f"path-{_digits(json_text(steps))}"


def _digits(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:6]
