"""What tools do to the world, read from where they already say it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, cast

from agentpath_sdk.gold.model import Effect

__all__ = ["effects_from"]

_WORDS: Final[Mapping[str, Effect]] = {"read": "read", "write": "write", "read_only": "read", "readonly": "read"}


def effects_from(tools: object) -> dict[str, Effect]:
    """Return the effect of each tool that tells one; a tool that does not is left out, and so charged in full.

    Takes what people have: MCP tools, or the answer to ``list_tools`` (``annotations`` with ``readOnlyHint`` and
    ``destructiveHint``), LangChain tools (``metadata`` with these hints, itself or under ``annotations``, or with
    ``effect: read`` or ``write``), the same as mappings, or a mapping of tool name to effect or to such a mapping.
    Where two tools of a name differ, it writes. Nothing is imported, and no tool is called.
    """
    found: dict[str, Effect] = {}
    for name, tool in _named(tools):
        effect = _effect(tool)
        if effect is not None and found.get(name) != "write":
            found[name] = effect
    return found


def _named(tools: object) -> Iterator[tuple[str, object]]:
    listed = _part(tools, "tools")
    by_name = _by_name(tools)
    if isinstance(listed, list | tuple):
        yield from _with_names(cast("Iterable[object]", listed))
    elif by_name is not None:
        yield from by_name.items()
    else:
        yield from _with_names(cast("Iterable[object]", tools) if _is_several(tools) else (tools,))


def _with_names(tools: Iterable[object]) -> Iterator[tuple[str, object]]:
    for tool in tools:
        name = _part(tool, "name") or _part(_part(tool, "function"), "name")
        if isinstance(name, str) and name:
            yield name, tool


def _by_name(tools: object) -> Mapping[str, object] | None:
    is_tool = not isinstance(tools, Mapping) or "name" in tools
    return None if is_tool else cast("Mapping[str, object]", tools)


def _is_several(tools: object) -> bool:
    is_tool = isinstance(tools, Mapping | str | bytes) or _part(tools, "name") is not None
    return not is_tool and isinstance(tools, Iterable)


def _effect(tool: object) -> Effect | None:
    if isinstance(tool, str):
        return _WORDS.get(tool)
    for place in _places(tool):
        said = _part(place, "effect")
        if isinstance(said, str) and said in _WORDS:
            return _WORDS[said]
        hinted = _hinted(place)
        if hinted is not None:
            return hinted
    return None


def _places(tool: object) -> Iterator[object]:
    """Yield where a tool may say it, the nearest first."""
    metadata = _part(tool, "metadata")
    yield from (_part(tool, "annotations"), _part(metadata, "annotations"), metadata)
    yield from (_part(_part(tool, "function"), "annotations"), tool)


def _hinted(place: object) -> Effect | None:
    """Return what the hints of MCP say. ``idempotentHint`` alone says nothing, nor does "not destructive"."""
    reads, destroys = _part(place, "readOnlyHint"), _part(place, "destructiveHint")
    if reads is True:
        return "read"
    return "write" if reads is False or destroys is True else None


def _part(thing: object, name: str) -> Any:
    if isinstance(thing, Mapping):
        return cast("Mapping[str, Any]", thing).get(name)
    if thing is None or isinstance(thing, str | bytes | list | tuple):
        return None
    try:
        return getattr(thing, name, None)
    except Exception:
        # A property of somebody's tool may raise; it then says nothing.
        return None
