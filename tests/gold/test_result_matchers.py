"""What a call returned, and how a gold file says what it should be."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agentpath_sdk.errors import FileFormatError
from agentpath_sdk.gold.files import parse_path
from agentpath_sdk.gold.model import ArgumentMatcher, CallStep, Comparison
from agentpath_sdk.gold.result_matchers import Documents


def _matcher(raw: Any) -> ArgumentMatcher:
    (step,) = parse_path({"id": "x", "steps": [{"search": None, "result": raw}]}).steps
    assert isinstance(step, CallStep)
    assert step.arguments is None
    assert step.result is not None
    return step.result


def _compared(raw: Any, result: Any) -> Comparison:
    return _matcher(raw)(result)


ROWS = {"rows": [{"id": 1, "name": "Oslo"}, {"id": 2, "name": "Rome"}], "total": 2}


@pytest.mark.parametrize(
    ("raw", "result", "passed"),
    [
        ({"status": "ok"}, {"status": "ok"}, True),
        ({"status": "ok"}, '{"status": "ok"}', True),
        ({"status": "ok"}, {"status": "ok", "x": 1}, False),
        ({"$subset": {"status": "ok"}}, '{"status": "ok", "x": 1}', True),
        ({"$contains": "Mars"}, "about Mars", True),
        ({"$contains": "Mars"}, {"content": [{"type": "text", "text": "about Mars"}]}, True),
        ({"$contains": ["Mars", "Venus"]}, [{"text": "Mars"}, {"text": "Venus"}], True),
        ({"$contains": "Mars"}, [{"text": "Venus"}], False),
        ({"$contains": "Mars"}, None, False),
        ({"$regex": "(?s).*-63.*"}, {"deep": [{"t": "it is -63 degrees"}]}, True),
        ({"$type": "list"}, [], True),
        ({"$type": "list"}, "[1]", True),
        ({"$json_path": {"$.rows[*].name": "Rome"}}, ROWS, True),
        ({"$json_path": {"$.rows[*].name": "Rome"}}, json.dumps(ROWS), True),
        ({"$json_path": {"$.rows[0].name": "Rome"}}, ROWS, False),
        ({"$json_path": {"rows[?@.id > 1].name": {"$glob": "R*"}, "total": {"$number": 3, "abs": 1}}}, ROWS, True),
        ({"$json_path": {"$..name": "Bari"}}, ROWS, False),
        ({"$json_path": {"$.missing": {"$ignore": True}}}, ROWS, False),
        ({"$json_path": {"$.a": 1}}, "no structure", False),
        ({"$documents": ["d1", "d2"]}, [{"id": "d2"}, {"id": "d1"}, {"id": "d3"}], True),
        ({"$documents": ["d1", "d2"]}, [{"id": "d2"}], False),
        ({"$documents": ["d1", "d2"], "least": 1}, [{"id": "d2"}], True),
        ({"$documents": [7]}, {"hits": {"hits": [{"_id": "7"}]}}, True),
        ({"$documents": ["a.pdf"]}, [{"page_content": "x", "metadata": {"source": "a.pdf"}}], True),
        ({"$documents": ["d1"]}, '["d1", "d2"]', True),
        ({"$documents": ["d1"]}, [{"text": "d1"}], False),
        ({"$documents": ["d1"]}, None, False),
        ({"$exact": None}, None, True),
    ],
)
def test_a_result_fits_or_not(raw: Any, result: Any, passed: bool) -> None:
    comparison = _compared(raw, result)
    assert comparison.passed is passed
    assert (comparison.reason is None) is passed
    assert 0 <= comparison.similarity <= 1


def test_documents_are_graded_by_how_many_of_those_wanted_came_back() -> None:
    comparison = Documents(ids=("a", "b", "c", "d"))([{"id": "a"}])
    assert comparison.similarity == 0.25
    assert comparison.reason == 'expected the documents ["a", "b", "c", "d"], got 1 of them; missing ["b", "c", "d"]'
    enough = Documents(ids=("a", "b", "c", "d"), least=2)([{"id": "a"}])
    assert enough.similarity == 0.5
    assert enough.reason is not None
    assert enough.reason.startswith("expected 2 of the documents")


def test_the_reason_names_the_path_and_what_is_there() -> None:
    assert _compared({"$json_path": {"$.total": 3, "$.x": 1}}, ROWS).reason == (
        "$.total: expected 3, got number 2; $.x: expected 1, got null: nothing is there"
    )


def test_results_of_any_size_and_depth_are_compared_in_bounded_time() -> None:
    deep: Any = "d1"
    for _ in range(5_000):
        deep = [deep]
    assert _compared({"$documents": ["d1"]}, deep).passed
    assert not _compared({"$documents": ["d1"]}, [{"id": str(number)} for number in range(100_000)]).passed
    assert not _compared({"$contains": "x"}, "[" * 100_000).passed


def test_a_result_left_out_is_not_checked() -> None:
    (step,) = parse_path({"id": "x", "steps": [{"search": {"q": 1}, "result": None}]}).steps
    assert isinstance(step, CallStep)
    assert step.result is None


@pytest.mark.parametrize(
    ("raw", "problem"),
    [
        ({"$documents": []}, "expected the ids of documents (texts or whole numbers), found an empty list"),
        ({"$documents": [1.5]}, "expected the ids of documents (texts or whole numbers), found number 1.5"),
        ({"$documents": "a"}, 'expected a list, found text "a"'),
        ({"$documents": ["a"], "least": 2}, "expected a whole number from 1 to 1, found number 2"),
        ({"$json_path": "a"}, 'expected a mapping of paths to values, found text "a"'),
        ({"$json_path": {"a b": 1}}, "'a b' is no JSON path: unexpected token 'b'"),
        ({"$json_path": {"$[?match(@.a, '(a+)+')]": 1}}, "regular expressions are not read in paths"),
        ({"$json_path": {"$.a": {"$fuzy": "x"}}}, "unknown matcher '$fuzy'"),
    ],
)
def test_a_mistake_in_a_result_is_told(raw: Any, problem: str) -> None:
    with pytest.raises(FileFormatError) as caught:
        _matcher(raw)
    assert problem in caught.value.problem
