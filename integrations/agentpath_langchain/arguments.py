"""A tool call's arguments as structure, from whatever form an event has them in."""

from __future__ import annotations

import ast
import inspect
import types
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, cast

import orjson

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool
from agentpath_langchain.shapes import is_dict, is_list
from agentpath_sdk.tracing.binding import TRACED_TOOLS, innermost_function

__all__ = [
    "arguments_of",
    "decode_text",
    "sole_parameter",
    "tool_in_call",
    "traced_function_in_call",
    "without_injected",
]

_SUSPECTS: Final = frozenset({"state", "store", "runtime", "config", "callbacks", "run_manager", "tool_call_id"})
_CONFIG_KEYS: Final = frozenset(
    {"tags", "metadata", "callbacks", "run_name", "max_concurrency", "recursion_limit", "configurable", "run_id"}
)
_FRAMEWORK_MODULES: Final = ("langgraph.", "langchain.", "langchain_core.")
_LONGEST_TEXT: Final = 65_536
_FRAMES: Final = 12
_UNNAMED: Final = "input"
_VARIADIC: Final = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def arguments_of(
    text: str, inputs: Mapping[str, Any] | None, *, from_tool: bool, call_id: str | None
) -> Mapping[str, Any] | str:
    """Return arguments by name, or the raw text where they are no object.

    ``from_tool`` says the event comes from a running tool, which gives ``inputs`` for everything but a plain string;
    an event with only the text form of an object has that text decoded, without evaluating any code.
    """
    if inputs is not None:
        return without_injected(inputs, call_id)
    if from_tool:
        tool = tool_in_call()
        return {(sole_parameter(tool) if tool is not None else None) or _UNNAMED: text}
    decoded = decode_text(text)
    return without_injected(decoded, call_id) if isinstance(decoded, dict) else decoded


def decode_text(text: str) -> dict[str, Any] | str:
    """Return the object that JSON or Python-literal ``text`` stands for; ordinary words as ``{"input": text}``;
    broken text, lists, numbers and the like unchanged."""
    found: Any = None
    decoded = False
    if len(text) <= _LONGEST_TEXT:
        for parse in (orjson.loads, ast.literal_eval):
            try:
                found, decoded = parse(text), True
                break
            except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
                continue
    if is_dict(found) and all(type(key) is str for key in found):
        return found
    if (decoded and not isinstance(found, str)) or text.lstrip()[:1] in ("{", "["):
        return text
    return {_UNNAMED: text}


def without_injected(inputs: Mapping[str, Any], call_id: str | None) -> Mapping[str, Any]:
    """Return ``inputs`` without what the framework put in: state, store, runtime, config, callbacks, call id.

    LangChain drops most of these itself, by the tool's annotations; a tool whose schema is plain JSON has none. So a
    name alone is not enough here: an ordinary argument called ``state`` or ``config`` stays.
    """
    if _SUSPECTS.isdisjoint(inputs):
        return inputs
    return {k: v for k, v in inputs.items() if k not in _SUSPECTS or not _is_injected(k, v, call_id)}


def _is_injected(name: str, value: Any, call_id: str | None) -> bool:
    if name == "tool_call_id":
        return value is None or value == call_id
    if value is None or isinstance(value, str | bytes | int | float):
        return False
    if type(value).__module__.startswith(_FRAMEWORK_MODULES):
        return True
    if name == "config":
        return isinstance(value, Mapping) and _is_runnable_config(cast("Mapping[str, Any]", value))
    if name == "state":
        return _holds_messages(value)
    return name in ("callbacks", "run_manager")


def _is_runnable_config(value: Mapping[str, Any]) -> bool:
    return bool(value.keys() & {"callbacks", "configurable"}) and value.keys() <= _CONFIG_KEYS


def _holds_messages(value: Any) -> bool:
    messages: Any = value.get("messages") if is_dict(value) else getattr(value, "messages", None)
    return is_list(messages) and all(type(m).__module__.startswith("langchain_core.messages") for m in messages)


def tool_in_call() -> BaseTool | None:
    """Return the tool whose ``run`` or ``arun`` is announcing itself, else None.

    The event names the tool but neither its parameters (a plain string belongs under the only one's name) nor its
    function. The tool is a local of the frame that raised the event, a few steps up; only calls with a plain string and
    those of processes with decorated tools come here.
    """
    from langchain_core.tools import BaseTool

    codes = (BaseTool.run.__code__, BaseTool.arun.__code__)
    frame = inspect.currentframe()
    for _ in range(_FRAMES):
        if frame is None:
            break
        if frame.f_code in codes:
            tool = frame.f_locals.get("self")
            return tool if isinstance(tool, BaseTool) else None
        frame = frame.f_back
    return None


def traced_function_in_call() -> Any:
    """Return the decorated function that the tool announcing itself runs in the end, None when it runs no such one."""
    tool = tool_in_call()
    given: Any = getattr(tool, "func", None) or getattr(tool, "coroutine", None)
    function = None if given is None else innermost_function(given)
    return function if isinstance(function, types.FunctionType) and function in TRACED_TOOLS else None


def sole_parameter(tool: BaseTool) -> str | None:
    """Return the name of the tool's only parameter, None when it has none or several."""
    if tool.args_schema is not None:
        names = [name for name in tool.args if name != "kwargs"]
    else:
        function: Any = getattr(tool, "func", None) or getattr(tool, "coroutine", None) or getattr(tool, "_run", str)
        names = [p.name for p in inspect.signature(function).parameters.values() if p.kind not in _VARIADIC]
        names = [name for name in names if name not in _SUSPECTS]
    return names[0] if len(names) == 1 else None
