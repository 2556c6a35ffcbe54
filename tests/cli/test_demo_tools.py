"""The demonstration's search and calculator are real tools, safe to hand to a model."""

from __future__ import annotations

import pytest

from agentpath_sdk.cli.demo.tools import CalculatorError, Corpus, calculate, load_data


@pytest.mark.parametrize(
    ("expression", "value"),
    [("210 - 273.15", -63.15), ("-(2 + 3) * 4", -20.0), ("139820 / 12742", 10.9732), ("2 ** 10", 1024.0)],
)
def test_arithmetic_is_computed_to_six_digits(expression: str, value: float) -> None:
    assert calculate(expression) == value


@pytest.mark.parametrize(
    "expression",
    [
        "__import__('os').system('true')",
        "open('x')",
        "x + 1",
        "'a' * 9",
        "True + 1",
        "2 ** 999999",
        "9 ** 64 ** 64",
        "1 / 0",
        "1e308 * 10",
        "(-8) ** 0.5",
        "1 +",
        "1.5 AU × 8",
        "(" * 150,
        "1" * 300,
        "1 \0",
        "",
    ],
)
def test_anything_else_is_refused(expression: str) -> None:
    with pytest.raises(CalculatorError):
        calculate(expression)


def test_search_ranks_and_bears_russian_endings() -> None:
    corpus = Corpus(load_data("corpus.yaml"))
    assert [hit["id"] for hit in corpus.search("средняя температура Марса")] == ["mars-ru"]
    assert [hit["id"] for hit in corpus.search("gravity on Neptune")] == ["neptune-en"]
    assert len(corpus.search("планета", limit=3)) > 1


@pytest.mark.parametrize("query", ["", "?!", '" OR 1=1', "title:*", "NEAR(", "zzzzzz"])
def test_search_takes_any_text(query: str) -> None:
    """FTS syntax in a query is only words; nothing found is an empty list."""
    assert Corpus(load_data("corpus.yaml")).search(query) == []


def test_the_corpus_has_twenty_documents_in_two_languages() -> None:
    documents = load_data("corpus.yaml")
    assert len(documents) == 20
    assert {document["id"].rsplit("-", 1)[1] for document in documents} == {"en", "ru"}
