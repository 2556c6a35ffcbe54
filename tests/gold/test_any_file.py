"""Whatever is in a file, reading it ends in paths or in problems, never in an exception."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from agentpath_sdk.gold.describing import describe
from agentpath_sdk.gold.dumping import dump_paths
from agentpath_sdk.gold.entries import FileEntry, PathEntry, StepEntry
from agentpath_sdk.gold.files import GoldRead, read_gold
from agentpath_sdk.gold.linting import lint
from agentpath_sdk.gold.notation import MATCHER_WORDS

SUFFIXES = st.sampled_from([".yaml", ".json", ".jsonl", ""])
# The words of gold files, so that random documents come near to being right.
WORDS = sorted(
    {
        *FileEntry.model_fields,
        *PathEntry.model_fields,
        *StepEntry.model_fields,
        *(MATCHER_WORDS - {"$call"}),
        "gold_trajectory",
        "agent_trajectory",
        "abs",
        "threshold",
        "score",
        "tool_accuracy",
        "optional",
    }
)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.sampled_from(WORDS)
DOCUMENTS = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(WORDS) | st.text(max_size=3), inner),
    max_leaves=15,
)
SIGNS = st.text(st.sampled_from(list("abc:-[]{}'\"|>&*!%@#?,.~<= \n\t0123456789$")) | st.characters(), max_size=60)


def _read(content: bytes, suffix: str) -> GoldRead:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, f"gold{suffix}")
        file.write_bytes(content)
        read = read_gold(file)
    assert not (read.paths and read.problems)
    assert read.paths or read.problems or read.notes
    for problem in read.problems:
        assert problem.file == str(file)
        assert "\n" not in str(problem)
    return read


@settings(max_examples=200, deadline=None)
@given(document=DOCUMENTS, suffix=SUFFIXES)
def test_any_document(document: Any, suffix: str) -> None:
    read = _read(json.dumps(document).encode(), suffix)
    for path in read.paths:
        describe(path)
    lint(read.paths)
    if read.paths:
        dump_paths(read.paths)


def test_keys_of_several_lines_stay_within_one_line_of_the_message() -> None:
    read = _read(b'{"id": "x", "steps": [{"tool": "t", "a\\nb": 1}], "tools": {"c d": 3}}', ".json")
    assert [problem.place for problem in read.problems] == ["line 1, tools.'c d'", "line 1, steps[0].'a\\nb'"]


@settings(max_examples=200, deadline=None)
@given(text=SIGNS, suffix=SUFFIXES)
def test_any_text(text: str, suffix: str) -> None:
    _read(text.encode("utf-8", "surrogatepass"), suffix)


@settings(max_examples=100, deadline=None)
@given(content=st.binary(max_size=60), suffix=SUFFIXES)
def test_any_bytes(content: bytes, suffix: str) -> None:
    _read(content, suffix)


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_a_good_file_with_one_character_changed(data: Any) -> None:
    good = (
        "id: refund\nqueries: [Refund order 17]\nagent: shop-*\ndefaults: {fold_case: true}\nsteps:\n"
        "  - lookup: {order: 17, fields: {$set: [a, b]}}\n  - refund: {amount: {$number: 19.9, abs: 0.005}}\n"
        "    must_succeed: true\n  - response\nanswer: {$contains: refunded}\nthresholds: {score: 0.5}\n"
    )
    at = data.draw(st.integers(0, len(good) - 1))
    new = data.draw(SIGNS.filter(bool).map(lambda text: text[0]))
    _read((good[:at] + new + good[at + data.draw(st.integers(0, 1)) :]).encode("utf-8", "surrogatepass"), ".yaml")
