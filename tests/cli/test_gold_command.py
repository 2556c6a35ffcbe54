"""`agentpath gold validate`, `list` and `show`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

Command: TypeAlias = Callable[..., Any]

GOLD = """\
paths:
  - id: mars
    query: How warm is Mars?
    steps:
      - search: {query: {$fuzzy: temperature of Mars}}
      - response
    answer: {$number: -63}
  - id: venus
    status: draft
    query: How warm is Venus?
    steps: [search, response]
"""


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    file = tmp_path / "gold.yaml"
    file.write_text(GOLD)
    return file


def test_a_sound_file_is_said_to_be_so_with_advice_on_what_is_odd(agentpath: Command, gold: Path) -> None:
    outcome = agentpath("gold", "validate", gold)
    assert outcome.code == 0
    assert "2 gold paths" in outcome.out
    assert "venus is draft" in outcome.out
    [line] = agentpath("gold", "validate", gold, "--json").lines
    assert (line["valid"], line["paths"], line["advice"][0]["path"]) == (True, 2, "venus")


def test_each_problem_of_a_bad_file_is_a_line(agentpath: Command, tmp_path: Path) -> None:
    file = tmp_path / "bad.yaml"
    file.write_text("id: a\nstepps: []\nsteps:\n  - t: {n: {$nope: 1}}\n")
    outcome = agentpath("gold", "validate", file)
    assert outcome.code == 2
    assert len(outcome.errors) == 2
    assert all(line.startswith(f"{file}: line") for line in outcome.errors)
    [line] = agentpath("gold", "validate", file, "--json").lines
    assert line["valid"] is False
    assert len(line["problems"]) == 2


def test_the_list_has_a_row_a_path(agentpath: Command, gold: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """AGENTPATH_GOLD stands in for a file that is not given."""
    assert [line["id"] for line in agentpath("gold", "list", gold, "--json").lines] == ["mars", "venus"]
    monkeypatch.setenv("AGENTPATH_GOLD", str(gold))
    outcome = agentpath("gold", "list")
    assert outcome.code == 0
    assert "How warm is Mars?" in outcome.out
    assert "draft" in outcome.out


def test_show_tells_a_path_in_words_and_as_data(agentpath: Command, gold: Path) -> None:
    outcome = agentpath("gold", "show", gold, "--id", "ma*")
    assert outcome.code == 0
    assert "temperature of Mars" in outcome.out
    assert "venus" not in outcome.out
    [line] = agentpath("gold", "show", gold, "--id", "mars", "--json").lines
    assert line["steps"][1] == "response"


def test_an_id_that_is_not_there_is_named(agentpath: Command, gold: Path) -> None:
    outcome = agentpath("gold", "show", gold, "--id", "pluto")
    assert outcome.code == 2
    assert "'pluto'" in outcome.err
