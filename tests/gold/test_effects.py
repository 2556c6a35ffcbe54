"""What tools do to the world, as they say it themselves."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from agentpath_sdk.gold.effects import effects_from
from agentpath_sdk.gold.files import parse_path
from agentpath_sdk.gold.registry import GoldPathRegistry


@dataclass
class Annotations:
    """As in MCP: hints that are None where nothing is said."""

    readOnlyHint: bool | None = None
    destructiveHint: bool | None = None
    idempotentHint: bool | None = None


@dataclass
class McpTool:
    name: str
    annotations: Annotations | None = None


@dataclass
class LangChainTool:
    name: str
    metadata: dict[str, Any] | None = None
    tags: list[str] = field(default_factory=list)


def test_mcp_annotations_are_read() -> None:
    tools = [
        McpTool("search", Annotations(readOnlyHint=True)),
        McpTool("pay", Annotations(readOnlyHint=False, destructiveHint=False)),
        McpTool("drop", Annotations(destructiveHint=True)),
        McpTool("retry", Annotations(idempotentHint=True)),
        McpTool("soft", Annotations(destructiveHint=False)),
        McpTool("plain"),
    ]
    expected = {"search": "read", "pay": "write", "drop": "write"}
    assert effects_from(tools) == expected
    assert effects_from(SimpleNamespace(tools=tools)) == expected
    assert effects_from(iter(tools)) == expected


def test_langchain_metadata_is_read() -> None:
    assert effects_from(
        (
            LangChainTool("a", {"readOnlyHint": True, "title": "A"}),
            LangChainTool("b", {"annotations": {"destructiveHint": True}}),
            LangChainTool("c", {"effect": "write"}),
            LangChainTool("d"),
        )
    ) == {"a": "read", "b": "write", "c": "write"}


def test_a_real_langchain_tool_is_read() -> None:
    tools = pytest.importorskip("langchain_core.tools")

    def lookup(order: int) -> str:
        """Look an order up."""
        raise AssertionError

    tool = tools.StructuredTool.from_function(lookup, metadata={"effect": "read"})
    assert effects_from([tool]) == {"lookup": "read"}
    assert effects_from(tool) == {"lookup": "read"}


@pytest.mark.parametrize(
    ("tools", "effects"),
    [
        ([{"name": "a", "annotations": {"readOnlyHint": True}}], {"a": "read"}),
        ([{"type": "function", "function": {"name": "a"}, "annotations": {"readOnlyHint": False}}], {"a": "write"}),
        ({"a": "read", "b": "write", "c": "both"}, {"a": "read", "b": "write"}),
        ({"a": {"annotations": {"readOnlyHint": True}}, "b": None}, {"a": "read"}),
        ({"name": "a", "effect": "read"}, {"a": "read"}),
        ([{"name": "a", "effect": "read"}, {"name": "a", "effect": "write"}], {"a": "write"}),
        ([{"name": "a", "effect": "write"}, {"name": "a", "effect": "read"}], {"a": "write"}),
        ([{"name": "a", "annotations": {"readOnlyHint": "true"}}], {}),
        (None, {}),
        ("search", {}),
        (3, {}),
        ([None, 3, "x", []], {}),
    ],
)
def test_other_forms_are_read_and_foreign_ones_say_nothing(tools: Any, effects: dict[str, str]) -> None:
    assert effects_from(tools) == effects


def test_a_tool_whose_properties_raise_says_nothing() -> None:
    class Hostile:
        name = "a"

        @property
        def annotations(self) -> Any:
            raise RuntimeError("x")

    assert effects_from([Hostile()]) == {}


def test_what_a_gold_file_says_wins_over_what_the_tools_say() -> None:
    path = parse_path({"id": "a", "steps": ["pay"], "tools": {"pay": {"effect": "read"}}})
    registry = GoldPathRegistry([path], effects=effects_from({"pay": "write", "search": "read"}))
    assert registry.paths[0].effects == {"pay": "read", "search": "read"}
