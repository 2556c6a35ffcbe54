"""Lists of tools as people have them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agentpath_sdk.errors import FileFormatError
from agentpath_sdk.gold.authoring.tool_catalogue import read_tools, tools_from

SCHEMA = {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]}


@pytest.mark.parametrize(
    "value",
    [
        [{"type": "function", "function": {"name": "s", "description": "d", "parameters": SCHEMA}}],
        [{"name": "s", "description": "d", "input_schema": SCHEMA}],
        {"tools": [{"name": "s", "description": "d", "inputSchema": SCHEMA}]},
        {"jsonrpc": "2.0", "id": 1, "result": {"tools": [{"name": "s", "description": "d", "inputSchema": SCHEMA}]}},
        {"name": "s", "description": "d", "parameters": SCHEMA},
    ],
)
def test_each_way_to_write_a_tool_is_read(value: Any) -> None:
    [tool] = tools_from(value)
    assert (tool.name, tool.description, list(tool.properties or {}), tool.required) == ("s", "d", ["q"], ["q"])


def test_names_alone_and_names_with_descriptions_will_do() -> None:
    assert [tool.name for tool in tools_from(["a", "b"])] == ["a", "b"]
    [tool] = tools_from({"search": "Searches the web."})
    assert (tool.name, tool.description, tool.properties) == ("search", "Searches the web.", None)


def test_what_a_tool_does_is_taken_from_its_annotations() -> None:
    tools = tools_from(
        [
            {"name": "r", "annotations": {"readOnlyHint": True}},
            {"name": "w", "annotations": {"readOnlyHint": False, "destructiveHint": True}},
            {"name": "u"},
        ]
    )
    assert [tool.effect for tool in tools] == ["read", "write", None]


def test_arguments_beyond_the_schema_are_fine_where_it_says_so() -> None:
    [tool] = tools_from([{"name": "s", "parameters": {**SCHEMA, "additionalProperties": True}}])
    assert tool.properties is None


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "expected a list of tools"),
        ([], "expected a list of tools"),
        ([3], r"tools\[0\]: expected a name"),
        ([{"description": "x"}], r"tools\[0\]: expected an object with a text 'name'"),
        (["a", "a"], "'a' is there twice"),
        ([{"name": "a", "parameters": []}], "expected a JSON Schema"),
    ],
)
def test_what_is_no_list_of_tools_is_said_to_be_none(value: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        tools_from(value)


def test_a_file_of_tools_is_json_or_yaml(tmp_path: Path) -> None:
    file = tmp_path / "tools.yaml"
    file.write_text("- name: s\n  description: d\n- t\n")
    assert [tool.name for tool in read_tools(file)] == ["s", "t"]
    file.write_text("- 3\n")
    with pytest.raises(FileFormatError, match=r"tools\[0\]"):
        read_tools(file)
    with pytest.raises(FileFormatError, match="does not exist"):
        read_tools(tmp_path / "none.json")
