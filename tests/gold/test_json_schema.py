"""The JSON Schema of gold files says what loading says, as far as a schema can."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from agentpath_sdk.gold.documents import read_documents
from agentpath_sdk.gold.json_schema import SCHEMA_FILE, gold_schema, schema_text, written_schema
from agentpath_sdk.gold.notation import MATCHER_WORDS
from agentpath_sdk.gold.yaml_core import Loader, plain_value

jsonschema = pytest.importorskip("jsonschema")

ROOT = Path(__file__).resolve().parents[2]
CORPUS = ROOT / "tests" / "data" / "malformed_gold"
CHECKED: Any = jsonschema.Draft202012Validator(json.loads(schema_text()))

LOADING_ONLY = {
    "group.yaml",  # a group word where a tool is meant
    "ids_twice.yaml",
    "matcher_contains.yaml",  # an empty part
    "matcher_regex.yaml",  # a pattern that does not compile
    "matcher_set.yaml",  # a matcher inside plain items
    "no_id.yaml",
    "only_options.yaml",
    "query_both.yaml",
    "query_empty.yaml",  # punctuation only
    "query_slot.yaml",
    "record_arguments.json",
    "record_both.json",
    "slot_not_given.yaml",
    "thresholds.yaml",  # names of metrics
    "two_tools.yaml",
    "weights_zero.yaml",
    "alternatives_states.yaml",
    "repeat_max.yaml",
    "rule_order.yaml",
    "rule_self.yaml",
    "json_path.yaml",
}
"""Files whose mistake a schema cannot tell."""


def _values(file: Path) -> Iterator[Any]:
    problems: list[Any] = []
    documents = read_documents(file, problems.append)
    if not problems:
        yield from (document.value for document in documents)


def test_the_shipped_schema_is_that_of_the_models() -> None:
    """If not: ``python -m agentpath_sdk.gold.json_schema``, into both files."""
    assert schema_text() == written_schema()
    assert (ROOT / "docs" / SCHEMA_FILE).read_text(encoding="utf-8") == written_schema()


def test_the_schema_is_one_and_knows_every_matcher() -> None:
    schema = gold_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    assert {*schema["$defs"]["MatcherWord"]["enum"]} == MATCHER_WORDS
    used = set(re.findall(r'"#/\$defs/(\w+)"', written_schema()))
    assert used <= schema["$defs"].keys()


def _examples() -> list[tuple[str, Any]]:
    files = [*(ROOT / "examples" / "gold").iterdir()]
    found = [(file.name, value) for file in files for value in _values(file)]
    page = (ROOT / "docs" / "gold-paths.md").read_text(encoding="utf-8")
    for language, name, body in re.findall(r"^```(yaml|json) (\S+)\n(.*?)^```", page, re.MULTILINE | re.DOTALL):
        if language == "json":
            found += [(name, json.loads(line)) for line in body.splitlines()]
        else:
            found.append((name, plain_value(yaml.compose(body, Loader=Loader))[0]))
    return found


@pytest.mark.parametrize(("name", "value"), _examples())
def test_every_example_is_accepted(name: str, value: Any) -> None:
    assert [error.message for error in CHECKED.iter_errors(value)] == []


def test_malformed_files_are_rejected_where_a_schema_can_tell() -> None:
    files = [file for file in sorted(CORPUS.iterdir()) if file.name != "expected.json" and [*_values(file)]]
    accepted = {file.name for file in files if all(CHECKED.is_valid(value) for value in _values(file))}
    assert accepted - LOADING_ONLY == set()
    assert len(files) - len(accepted) > 40
