"""A call's arguments by name, at the cost of a zip; ``inspect.Signature.bind`` costs more than a span."""

from __future__ import annotations

import functools
import inspect
import types
import weakref
from collections.abc import Mapping
from typing import Any, Final

import wrapt

from agentpath_sdk._plain import kind_of
from agentpath_sdk.tracing.messages import field_of

__all__ = [
    "TRACED_TOOLS",
    "Binder",
    "inner_function",
    "innermost_function",
    "note_traced_tool",
    "partial_function",
    "raw_function",
]

_MAX_WRAPPERS: Final = 50
TRACED_TOOLS: Final[weakref.WeakSet[Any]] = weakref.WeakSet()
"""The innermost functions of all tools that were decorated: what a framework's handler looks for in its own tools."""
_PROXIES: Final = (wrapt.FunctionWrapper, wrapt.BoundFunctionWrapper, wrapt.ObjectProxy)
_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


class Binder:
    """The parameter names of one callable."""

    __slots__ = ("_bound_names", "_instance_name", "_names", "_rest", "all_names", "open_ended")

    def __init__(self, target: Any) -> None:
        parameters = _parameters(target)
        self._names = tuple(p.name for p in parameters if p.kind in _POSITIONAL)
        # A function or classmethod gets its instance in front of the arguments that the wrapper sees.
        takes_instance = isinstance(target, types.FunctionType | classmethod)
        self._bound_names = self._names[1:] if takes_instance else self._names
        # A method reached without binding (through ``property``, or as a plain function of the class).
        self._instance_name = self._names[0] if takes_instance and self._names[:1] in (("self",), ("cls",)) else None
        self._rest = next((p.name for p in parameters if p.kind is p.VAR_POSITIONAL), "args")
        self.all_names = frozenset(p.name for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD))
        self.open_ended = not parameters or any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters)

    def bind(self, args: tuple[Any, ...], kwargs: Mapping[str, Any], *, bound: bool) -> Mapping[str, Any]:
        """Return the arguments as given, by name, without the instance; total, also for a call that does not fit."""
        if not args:
            return kwargs
        names = self._bound_names if bound else self._names
        arguments = dict(zip(names, args, strict=False))
        if len(args) > len(names):
            arguments[self._rest] = list(args[len(names) :])
        arguments.update(kwargs)
        if self._instance_name is not None and not bound:
            arguments.pop(self._instance_name, None)
        return arguments


def raw_function(target: Any) -> Any:
    """Return the function whose code runs: of a partial, a class or static method, a callable object."""
    while True:
        if isinstance(target, functools.partial):
            target = partial_function(target)
        elif isinstance(target, classmethod | staticmethod | types.MethodType):
            target = inner_function(target)
        elif not isinstance(target, types.FunctionType) and not isinstance(target, type):
            kind = kind_of(target)
            method = inspect.getattr_static(kind, "__call__", None)
            return method if isinstance(method, types.FunctionType) else target
        else:
            return target


def innermost_function(target: Any) -> Any:
    """Return the function that does the work in the end: ``raw_function`` of what wrappers made with
    ``functools.wraps`` (retries, caches, traced functions) say they wrap."""
    for _ in range(_MAX_WRAPPERS):
        target = raw_function(target)
        wrapped = target.__wrapped__ if issubclass(kind_of(target), _PROXIES) else field_of(target, "__wrapped__")
        if wrapped is None:
            break
        target = wrapped
    return target


def note_traced_tool(function: Any) -> None:
    """Have frameworks' handlers know a decorated tool by the function it runs, whatever it is called there."""
    if isinstance(function, types.FunctionType):
        TRACED_TOOLS.add(function)


def inner_function(method: Any) -> Any:
    """Return the function inside a class, static or bound method."""
    return method.__func__


def partial_function(partial: Any) -> Any:
    """Return the function that a partial calls."""
    return partial.func


def _parameters(target: Any) -> list[inspect.Parameter]:
    if isinstance(target, classmethod | staticmethod):
        target = inner_function(target)
    try:
        return list(inspect.signature(target).parameters.values())
    except (ValueError, TypeError):
        return []
