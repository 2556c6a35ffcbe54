"""Files with one mistake each, and the exact words that tell its author where and what it is."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path

import pytest

from agentpath_sdk.gold import matchers
from agentpath_sdk.gold.files import read_gold

LARGER = "(JSON Lines files (.jsonl) may be larger)"
QUOTES = "(put it in quotes if it is a text)"
CORPUS = Path(__file__).resolve().parents[1] / "data" / "malformed_gold"
EXPECTED: dict[str, list[str]] = json.loads((CORPUS / "expected.json").read_text(encoding="utf-8"))
"""File name -> each problem as it is told, without the file's name."""


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_a_mistake_is_told_with_place_finding_and_expectation(name: str) -> None:
    file = CORPUS / name
    read = read_gold(file)
    assert [str(problem) for problem in read.problems] == [f"{file}: {message}" for message in EXPECTED[name]]
    assert read.paths == ()


def test_every_file_of_the_corpus_is_expected_to_be_bad() -> None:
    assert {file.name for file in CORPUS.iterdir()} == {*EXPECTED, "expected.json"}


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("deep.yaml", "steps: " + "[" * 100 + "]" * 100, "line 1: is nested deeper than 64 levels"),
        ("deep.json", "[" * 100 + "]" * 100, "line 1: is nested deeper than 64 levels"),
        ("very_deep.json", "[" * 100_000, "line 1: is nested deeper than 64 levels"),
        ("digits.json", '{"a": ' + "9" * 5_000 + "}", "line 1: holds a number of thousands of digits"),
        (
            "digits.yaml",
            "a: " + "9" * 5_000,
            f"line 1: {'9' * 40} is no JSON number {QUOTES}",
        ),
    ],
)
def test_values_beyond_all_bounds_are_refused(tmp_path: Path, name: str, content: str, message: str) -> None:
    file = tmp_path / name
    file.write_text(content, encoding="utf-8")
    assert [str(problem) for problem in read_gold(file).problems] == [f"{file}: {message}"]


def test_thousands_of_open_brackets_in_yaml_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "very_deep.yaml"
    file.write_text("steps: " + "[" * 100_000, encoding="utf-8")
    assert len(read_gold(file).problems) == 1


def test_a_matcher_that_nobody_registered_is_told_with_those_that_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "gold.yaml"
    file.write_text("steps: [{t: {a: {$call: iata_code}}}]", encoding="utf-8")
    place = f"{file}: line 1, steps[0].t.a.$call: no matcher 'iata_code' is registered"
    monkeypatch.setattr(matchers, "_FUNCTIONS", {})
    assert [str(problem) for problem in read_gold(file).problems] == [
        f"{place} (call register_matcher before the gold files are loaded)"
    ]
    monkeypatch.setattr(matchers, "_FUNCTIONS", {"iata_codes": max})
    assert [str(problem) for problem in read_gold(file).problems] == [f"{place} (did you mean 'iata_codes'?)"]


def test_all_mistakes_of_a_file_are_told_at_once(tmp_path: Path) -> None:
    file = tmp_path / "gold.yaml"
    file.write_text(
        "id: x\nquerys: [a]\nsteps:\n  - search: {q: {$fuzy: a}, n: {$number: b}}\n  - 3\nanswer: true\n",
        encoding="utf-8",
    )
    assert [problem.place for problem in read_gold(file).problems] == [
        "line 2, querys",
        "line 4, steps[0].search.q.$fuzy",
        "line 4, steps[0].search.n.$number",
        "line 5, steps[1]",
        "line 6, answer",
    ]


def test_aliases_that_would_fill_the_memory_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "laughs.yaml"
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 30)]
    file.write_text("\n".join(lines), encoding="utf-8")
    (problem,) = read_gold(file).problems
    assert problem.problem == "has more than 1000000 values, aliases written out"


@pytest.mark.parametrize(
    ("name", "byte", "message"),
    [
        ("garbage.jsonl", b"x", "line 1: is longer than 4 MB; expected one JSON object a line"),
        (
            "garbage.json",
            b"x",
            f"is 200 MB large; a .json file may have 64 MB {LARGER}",
        ),
        (
            "garbage.yaml",
            b"x",
            f"is 200 MB large; a .yaml file may have 16 MB {LARGER}",
        ),
        ("garbage", b"\0", f"is 200 MB large; a gold file may have 64 MB {LARGER}"),
        ("zeros.jsonl", b"\0", "line 1: is longer than 4 MB; expected one JSON object a line"),
    ],
)
def test_200_mb_in_one_line_are_refused_in_little_memory(tmp_path: Path, name: str, byte: bytes, message: str) -> None:
    file = tmp_path / name
    with file.open("wb") as out:
        for _ in range(200):
            out.write(byte * 1_048_576)
    tracemalloc.start()
    try:
        problems = read_gold(file).problems
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    file.unlink()
    assert [str(problem) for problem in problems] == [f"{file}: {message}"]
    assert peak < 20 * 1_048_576


def test_at_most_a_hundred_mistakes_of_a_file_are_told(tmp_path: Path) -> None:
    file = tmp_path / "gold.jsonl"
    file.write_text("3\n" * 1_000, encoding="utf-8")
    assert len(read_gold(file).problems) == 100


def test_a_file_that_may_not_be_read_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "gold.yaml"
    file.write_text("id: x", encoding="utf-8")

    def refused(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refused)
    assert [str(problem) for problem in read_gold(file).problems] == [f"{file}: cannot be read: Permission denied"]
