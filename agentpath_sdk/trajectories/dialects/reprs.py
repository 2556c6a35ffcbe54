"""Python reprs in span attributes, read as data: nothing in them is ever called or looked up."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final

from agentpath_sdk.trajectories.decoding import plain

__all__ = ["CLASS", "fields_of", "read_repr"]

CLASS: Final = "__class__"
"""Key of the class name in what ``read_repr`` makes of ``Name(a=1)``."""

# A span's text is asked for result, error and call id in turn.
_KEPT: Final = 32
# A longer text is no repr of one message or call, and parsing Python source costs much.
_LIMIT: Final = 200_000
_STRING: Final = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
# <ChatRole.USER: 'user'> stands for its value, <object at 0x7f> for a text.
_BRACKETS: Final = re.compile(rf"({_STRING})|<[A-Za-z_][\w.]*: ({_STRING}|-?\d+)>|<([^<>]*)>", re.DOTALL)
_ASSIGNED: Final = re.compile(rf"({_STRING})|([(\[{{])|([)\]}}])|(?:^|(?<=\s))([A-Za-z_]\w*)=", re.DOTALL)


@lru_cache(maxsize=_KEPT)
def read_repr(text: str) -> Any:
    """Return the JSON value of a Python repr, or None when it is none.

    A call ``Name(a=1)`` becomes an object with its keyword arguments and ``__class__``; an enum member its value. What
    comes back may be shared: read it only.
    """
    if len(text) > _LIMIT:
        return None
    try:
        return _value(ast.parse(_BRACKETS.sub(_unbracketed, text.strip()), mode="eval").body)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None


def _unbracketed(match: re.Match[str]) -> str:
    string, value, other = match.groups()
    return string or value or repr(f"<{other}>")


def _value(node: ast.expr) -> Any:
    if isinstance(node, ast.Call):
        return _call(node)
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        return [_value(item) for item in node.elts]
    if isinstance(node, ast.Dict):
        return {
            str(_value(key)): _value(value)
            for key, value in zip(node.keys, node.values, strict=True)
            if key is not None
        }
    if isinstance(node, ast.Name | ast.Attribute):
        return ast.unparse(node)  # a name such as nan, or a class: only its text
    return plain(ast.literal_eval(node))


def _call(node: ast.Call) -> dict[str, Any]:
    found: dict[str, Any] = {CLASS: ast.unparse(node.func)}
    if node.args:
        found["args"] = [_value(argument) for argument in node.args]
    return found | {keyword.arg: _value(keyword.value) for keyword in node.keywords if keyword.arg is not None}


@lru_cache(maxsize=_KEPT)
def fields_of(text: str) -> dict[str, Any] | None:
    """Return the fields of a text such as ``content='x' name='y'`` (how pydantic prints a model), else None."""
    if len(text) > _LIMIT:
        return None
    places = list(_places(text))
    if not places or places[0][1] != 0:
        return None
    ends = [start for _, start, _ in places[1:]] + [len(text)]
    return {name: _field(text[after:end].strip()) for (name, _, after), end in zip(places, ends, strict=True)}


def _field(text: str) -> Any:
    found = read_repr(text)
    return found if found is not None or text == "None" else text


def _places(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield name, start and end of each ``name=`` that lies in no string and in no bracket."""
    depth = 0
    for match in _ASSIGNED.finditer(text):
        _, opened, closed, name = match.groups()
        depth += (opened is not None) - (closed is not None)
        if name is not None and depth == 0:
            yield name, match.start(), match.end()
