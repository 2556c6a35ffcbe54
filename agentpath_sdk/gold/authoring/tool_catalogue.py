"""The list of an agent's tools, as OpenAI, Anthropic, MCP and JSON Schema users have it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

from agentpath_sdk._plain import is_dict
from agentpath_sdk.errors import FileFormatError
from agentpath_sdk.gold.documents import read_documents
from agentpath_sdk.gold.effects import effects_from
from agentpath_sdk.gold.model import Effect
from agentpath_sdk.gold.wording import found, is_list

__all__ = ["ToolSpec", "read_tools", "tools_from"]

_SCHEMA_KEYS: Final = ("parameters", "inputSchema", "input_schema", "args_schema")


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolSpec:
    """One tool: its name, what it is for, the JSON Schema of its arguments where it is known."""

    name: str
    description: str | None = None
    parameters: Mapping[str, Any] | None = None
    """JSON Schema of the arguments' object; None = not known."""
    effect: Effect | None = None

    @property
    def properties(self) -> Mapping[str, Any] | None:
        """JSON Schema by argument; None where arguments are not known, or others may be given too."""
        if self.parameters is None or self.parameters.get("additionalProperties") not in (None, False):
            return None
        return cast("Mapping[str, Any]", self.parameters.get("properties") or {})

    @property
    def required(self) -> Sequence[str]:
        """The arguments that every call must give."""
        required = (self.parameters or {}).get("required")
        return [str(name) for name in required] if is_list(required) else []


def read_tools(source: str | os.PathLike[str]) -> tuple[ToolSpec, ...]:
    """Return the tools of a JSON or YAML file.

    Raises:
        FileFormatError: it cannot be read, or holds no list of tools.
    """
    problems: list[FileFormatError] = []
    documents = read_documents(Path(source), problems.append)
    if problems:
        raise problems[0]
    try:
        values = [document.value for document in documents]
        return tools_from(values[0] if len(values) == 1 else values)
    except ValueError as error:
        raise FileFormatError(str(error), file=str(source)) from None


def tools_from(value: Any) -> tuple[ToolSpec, ...]:
    """Return the tools of a list: names, or objects with a name, a description and a schema.

    Read are OpenAI's ``{"type": "function", "function": {...}}``, Anthropic's ``input_schema``, MCP's ``tools/list``
    (with its annotations ``readOnlyHint`` and ``destructiveHint``), and a mapping of names to descriptions.

    Raises:
        ValueError: what was found instead, and where.
    """
    items = _items(value)
    if not items:
        raise ValueError(f"expected a list of tools, found {found(value)}")
    tools = [_tool(item, f"tools[{at}]") for at, item in enumerate(items)]
    names = [tool.name for tool in tools]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ValueError(f"the tool {twice!r} is there twice")
    return tuple(tools)


def _items(value: Any) -> Sequence[Any]:
    if is_list(value):
        return value
    if not is_dict(value):
        return []
    mapping = value
    for key in ("tools", "functions", "result"):
        if key in mapping and isinstance(mapping[key], dict | list):
            return _items(mapping[key])
    if "name" in mapping or "function" in mapping:
        return [mapping]
    return [{"name": name, "description": text} for name, text in mapping.items() if isinstance(text, str)]


def _tool(item: Any, place: str) -> ToolSpec:
    if isinstance(item, str) and item.strip():
        return ToolSpec(name=item.strip())
    if not is_dict(item):
        raise ValueError(f"{place}: expected a name or an object with 'name', found {found(item)}")
    told = item
    inner = told.get("function")
    if is_dict(inner):
        told = inner
    name = told.get("name")
    if not isinstance(name, str) or not name.strip():
        raise ValueError(f"{place}: expected an object with a text 'name', found {found(item)}")
    description = told.get("description")
    return ToolSpec(
        name=name.strip(),
        description=description if isinstance(description, str) and description.strip() else None,
        parameters=_schema(told, place),
        effect=effects_from([item]).get(name),
    )


def _schema(told: Mapping[str, Any], place: str) -> Mapping[str, Any] | None:
    key = next((key for key in _SCHEMA_KEYS if told.get(key) is not None), None)
    if key is None:
        return None
    schema = told[key]
    if not is_dict(schema):
        raise ValueError(f"{place}: expected a JSON Schema under {key!r}, found {found(schema)}")
    typed = schema
    # Some write the properties alone.
    return typed if "properties" in typed or "type" in typed or not typed else {"properties": typed}
