"""Model Context Protocol: ``mcp.method.name``; client and server each make a span of one call."""

from __future__ import annotations

from typing import Any, Final

from agentpath_sdk.trajectories.dialects.contents import loaded
from agentpath_sdk.trajectories.dialects.dialect import Dialect, Role, attribute
from agentpath_sdk.trajectories.dialects.results import error_in, result_in
from agentpath_sdk.trajectories.shapes import as_object
from agentpath_sdk.trajectories.span_record import SpanRecord

__all__ = ["MCP"]

_METHOD: Final = "mcp.method.name"
_CALL: Final = "tools/call"


def _role(span: SpanRecord) -> Role | None:
    method = span.attributes.get(_METHOD)
    return None if method is None else ("tool" if method == _CALL else "none")


def _tool_name(span: SpanRecord) -> str | None:
    named = span.attributes.get("gen_ai.tool.name") or span.attributes.get("mcp.tool.name")
    said = named or span.name.partition(_CALL + " ")[2]
    return str(said) if said else None


def _arguments(span: SpanRecord) -> Any:
    params = as_object(loaded(span.attributes.get("mcp.request.argument") or span.attributes.get("mcp.request.params")))
    return None if params is None else params.get("arguments", params)


def _result(span: SpanRecord) -> Any:
    said = span.attributes.get("mcp.response.value")
    return None if said is None else result_in(said)


def _returned_error(span: SpanRecord) -> str | None:
    return error_in(span.attributes.get("mcp.response.value"))


MCP: Final = Dialect(
    name="mcp",
    role=_role,
    marks=frozenset({_METHOD}),
    tool_name=_tool_name,
    arguments=_arguments,
    result=_result,
    returned_error=_returned_error,
    conversation_id=attribute("mcp.session.id"),
)
