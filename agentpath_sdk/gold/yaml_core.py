"""YAML by the core schema of YAML 1.2, read into plain JSON values and written from them."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any, ClassVar, Final, TypeAlias, cast

import yaml

__all__ = ["MAX_DEPTH", "Dumper", "Loader", "Loc", "node_at", "plain_value"]

Loc: TypeAlias = tuple[str | int, ...]
"""Where in a document: keys and positions from its root."""

MAX_DEPTH: Final = 64
# Counted with every alias written out, so that a few lines of aliases cannot fill the memory.
_MAX_VALUES: Final = 1_000_000

_UNICODE_BREAKS: Final = re.compile("[\x85\u2028\u2029\ufeff]")
_TAG: Final = "tag:yaml.org,2002:"
_RESOLVERS: Final = (
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("bool", r"true|True|TRUE|false|False|FALSE", list("tTfF")),
    ("int", r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", list("-+0123456789")),
    (
        "float",
        r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)",
        list("-+.0123456789"),
    ),
)

Wrong: TypeAlias = tuple[int, str, str]
"""Line (from 1), problem and hint."""


# Composes nodes only; what a plain scalar means is decided by the core schema. PyYAML may lack libyaml.
Loader: Final[Any] = type(
    "Loader", (getattr(yaml, "CSafeLoader", yaml.SafeLoader),), {"yaml_implicit_resolvers": dict[str, Any]()}
)


class Dumper(yaml.SafeDumper):
    """Writes JSON values only, and quotes what YAML 1.1 or 1.2 would take for something else than a text."""

    yaml_representers: ClassVar[dict[Any, Any]] = {
        kind: represent
        for kind, represent in yaml.SafeDumper.yaml_representers.items()
        if kind in (str, bool, int, float, list, tuple, dict, type(None), None)
    }

    def ignore_aliases(self, data: Any) -> bool:
        """Return True: people read these files."""
        return True


def _text_node(dumper: Dumper, text: str) -> yaml.ScalarNode:
    """Return a node that is escaped where a line break of Unicode would be read back as a blank."""
    represent = cast("Callable[..., yaml.ScalarNode]", dumper.represent_scalar)  # its stub leaves types open
    return represent(_TAG + "str", text, style='"' if _UNICODE_BREAKS.search(text) else None)


Dumper.add_representer(str, _text_node)

for _name, _pattern, _first in _RESOLVERS:
    Loader.add_implicit_resolver(_TAG + _name, re.compile(f"(?:{_pattern})\\Z"), _first)
    cast("Any", Dumper).add_implicit_resolver(_TAG + _name, re.compile(f"(?:{_pattern})\\Z"), _first)


def plain_value(node: yaml.Node) -> tuple[Any, list[Wrong]]:
    """Return the plain value of a node, and what in it no JSON value can be."""
    reading = _Reading()
    return reading.value(node), reading.wrong


def node_at(root: yaml.Node, loc: Loc) -> int:
    """Return the line (from 0) of the key or item at ``loc``, or of the last part of the way that exists."""
    node, line = root, root.start_mark.line
    for part in loc:
        if isinstance(node, yaml.MappingNode):
            pair = next(((key, value) for key, value in node.value if key.value == part), None)
            if pair is None:
                break
            line, node = pair[0].start_mark.line, pair[1]
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
            node = node.value[part]
            line = node.start_mark.line
        else:
            break
    return line


class _TooMuch(Exception):
    """The document cannot be gone on with."""

    def __init__(self, node: yaml.Node, problem: str) -> None:
        self.node, self.problem = node, problem


class _Reading:
    """One walk over the nodes of a document, with its bounds."""

    def __init__(self) -> None:
        self.wrong: list[Wrong] = []
        self._left = _MAX_VALUES
        self._open: set[int] = set()

    def value(self, node: yaml.Node) -> Any:
        try:
            return self._value(node, 0)
        except _TooMuch as much:
            self._wrong(much.node, much.problem)
            return None

    def _value(self, node: yaml.Node, depth: int) -> Any:
        self._left -= 1
        if self._left < 0:
            raise _TooMuch(node, f"has more than {_MAX_VALUES} values, aliases written out")
        if depth > MAX_DEPTH:
            raise _TooMuch(node, f"is nested deeper than {MAX_DEPTH} levels")
        if isinstance(node, yaml.CollectionNode):
            return self._collection(node, depth)
        return self._scalar(node)

    def _collection(self, node: yaml.CollectionNode, depth: int) -> Any:
        if id(node) in self._open:
            raise _TooMuch(node, "an alias stands inside what it stands for")
        self._open.add(id(node))
        try:
            return self._inside(node, depth)
        finally:
            self._open.discard(id(node))

    def _inside(self, node: yaml.CollectionNode, depth: int) -> Any:
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, depth)
        self._check_tag(node, "seq")
        return [self._value(item, depth + 1) for item in node.value]

    def _mapping(self, node: yaml.MappingNode, depth: int) -> dict[str, Any]:
        self._check_tag(node, "map")
        found: dict[str, Any] = {}
        for key_node, value_node in node.value:
            key = self._key(key_node)
            if key in found:
                self._wrong(key_node, f"key {key!r} is given twice in one mapping")
            found[key] = self._value(value_node, depth + 1)
        return found

    def _key(self, node: yaml.Node) -> str:
        if not isinstance(node, yaml.ScalarNode) or node.tag != _TAG + "str":
            shown = repr(node.value) if isinstance(node, yaml.ScalarNode) else "a list or mapping"
            hint = "put it in quotes" if isinstance(node, yaml.ScalarNode) else ""
            self._wrong(node, f"expected a text as key, found {shown}", hint)
            return f"{node.start_mark.line}:{node.start_mark.column}"
        if node.value == "<<" and node.style is None:
            self._wrong(node, "merge keys (<<) are not read", "repeat the keys, or set them under 'defaults'")
        return str(node.value)

    def _scalar(self, node: yaml.Node) -> Any:
        kind, text = node.tag.removeprefix(_TAG), str(node.value)
        if kind == "str":
            return text
        if kind == "null":
            return None
        if kind == "bool":
            return text.lower() == "true"
        if kind in ("int", "float"):
            return self._number(node, kind, text)
        self._check_tag(node, "str")
        return text

    def _number(self, node: yaml.Node, kind: str, text: str) -> int | float | None:
        try:
            number = _integer(text) if kind == "int" else float(text.replace(".inf", "inf").replace(".nan", "nan"))
        except ValueError:
            number = math.nan
        if isinstance(number, float) and not math.isfinite(number):
            self._wrong(node, f"{text[:40]} is no JSON number", "put it in quotes if it is a text")
            return None
        return number

    def _check_tag(self, node: yaml.Node, kind: str) -> None:
        if node.tag != _TAG + kind:
            self._wrong(
                node, f"the tag {node.tag.replace(_TAG, '!!')} is not read", "matchers are written {$word: ...}"
            )

    def _wrong(self, node: yaml.Node, problem: str, hint: str = "") -> None:
        self.wrong.append((node.start_mark.line + 1, problem, hint))


def _integer(text: str) -> int:
    if text.startswith("0o"):
        return int(text[2:], 8)
    return int(text, 16) if text.startswith("0x") else int(text)
