"""Traced stand-ins: of functions, of classes, of objects with tools."""

from __future__ import annotations

import copy
import functools
import inspect
import sys
import types
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, TypeGuard, cast

import wrapt

from agentpath_sdk._plain import is_dict, is_list, kind_of
from agentpath_sdk.errors import ConfigurationError
from agentpath_sdk.tracing.binding import (
    Binder,
    inner_function,
    innermost_function,
    note_traced_tool,
    partial_function,
    raw_function,
)
from agentpath_sdk.tracing.calls import CallKind, Plan
from agentpath_sdk.tracing.frameworks import wrapped_by_integration
from agentpath_sdk.tracing.messages import field_of
from agentpath_sdk.tracing.options import CallOptions
from agentpath_sdk.tracing.picking import check_pick
from agentpath_sdk.tracing.running import runner_for

__all__ = ["AGENT_METHODS", "TOOL_METHODS", "TracedFunction", "TracedObject", "traced", "traced_methods"]

AGENT_METHODS: Final = (
    "__call__", "run", "arun", "run_sync", "run_async", "run_stream", "invoke", "ainvoke", "stream", "astream",
    "forward", "aforward", "execute", "aexecute", "ask", "aask", "chat", "achat", "answer", "respond", "kickoff",
)  # fmt: skip
"""The methods by which people start an agent object."""
TOOL_METHODS: Final = (
    "__call__", "run", "arun", "invoke", "ainvoke", "call", "acall", "forward", "aforward", "execute", "aexecute",
)  # fmt: skip
"""The methods by which agents call a tool object."""
_NAMELESS: Final = frozenset({*AGENT_METHODS, "<lambda>"})


if TYPE_CHECKING:
    _BoundFunctionWrapper = wrapt.BoundFunctionWrapper[..., Any]
    _FunctionWrapper = wrapt.FunctionWrapper[..., Any]
    _ObjectProxy = wrapt.ObjectProxy[Any]
else:  # older releases are not generic at run time
    _BoundFunctionWrapper, _FunctionWrapper, _ObjectProxy = (
        wrapt.BoundFunctionWrapper,
        wrapt.FunctionWrapper,
        wrapt.ObjectProxy,
    )


class _TracedMethod(_BoundFunctionWrapper):
    """A traced function bound to an instance or class."""

    def __reduce_ex__(self, protocol: Any) -> Any:
        return getattr, (self._self_instance, self.__wrapped__.__name__)

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: Any) -> Any:
        return self


class TracedFunction(_FunctionWrapper):
    """A function with a span around each call; in every other respect the function itself."""

    __bound_function_wrapper__ = _TracedMethod

    def __init__(self, wrapped: Any, plan: Plan) -> None:
        super().__init__(wrapped, functools.partial(runner_for(_code_flags(wrapped)), plan))
        self._self_plan = plan

    @property
    def traced_plan(self) -> Plan:
        """How this function is traced."""
        return self._self_plan

    def __reduce_ex__(self, protocol: Any) -> Any:
        # By reference where the module has it under its name, as functions are pickled.
        inner, plan = self.__wrapped__, self.traced_plan
        name = getattr(inner, "__qualname__", "")
        found = _find_global(getattr(inner, "__module__", None), name)
        if found is self:
            return name
        if isinstance(found, TracedFunction) and found.__wrapped__ is inner:
            # The module's own name for the function leads to another stand-in.
            return _rebuild_beside, (found, plan.kind, plan.options)
        return _rebuild, (inner, plan.kind, plan.options)

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: Any) -> Any:
        return self


class TracedObject(_ObjectProxy):
    """An object whose entry methods are traced; in every other respect the object itself."""

    def __init__(self, wrapped: Any, methods: Mapping[str, TracedFunction]) -> None:
        super().__init__(wrapped)
        self._self_methods: dict[str, Any] = dict(methods)

    def __getattr__(self, name: str) -> Any:
        # wrapt looks here only for names that the proxy class itself lacks.
        methods = object.__getattribute__(self, "_self_methods")
        return methods[name] if name in methods else getattr(self.__wrapped__, name)

    def __reduce_ex__(self, protocol: Any) -> Any:
        plans = {name: method.traced_plan for name, method in self._self_methods.items()}
        first = next(iter(plans.values()))
        return _rebuild_object, (self.__wrapped__, tuple(plans), first.kind, first.options)

    def __copy__(self) -> Any:
        return _with_same_methods(copy.copy(self.__wrapped__), self._self_methods)

    def __deepcopy__(self, memo: Any) -> Any:
        return _with_same_methods(copy.deepcopy(self.__wrapped__, memo), self._self_methods)


class _CallableObject(TracedObject):
    """The same for an object that can be called."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        call: Any = self._self_methods.get("__call__", self.__wrapped__)
        return call(*args, **kwargs)


def traced(target: Any, kind: CallKind, options: CallOptions) -> Any:
    """Return the traced form of anything ``trace_agent`` or ``trace_tool`` accepts.

    Raises:
        ConfigurationError: ``target`` is none of what is accepted, or an option does not fit it.
    """
    if isinstance(target, TracedFunction) and target.traced_plan.kind == kind:
        target = cast(Any, target).__wrapped__
    if isinstance(target, type):
        return _traced_class(cast("type[Any]", target), kind, options)
    if _is_function_like(target):
        return TracedFunction(target, _plan(target, kind, options))
    if kind != "phase":
        stand_in = wrapped_by_integration(target, options, as_agent=kind == "agent")
        if stand_in is not None:
            return stand_in
    if kind == "agent":
        return _traced_agent_object(target, options)
    if callable(target):
        return TracedFunction(target, _plan(target, kind, options))
    if kind == "tool":
        return _traced_tool_object(target, options)
    raise _not_accepted(target, kind)


def traced_methods(obj: Any, names: Iterable[str], options: CallOptions, *, kind: CallKind = "agent") -> TracedObject:
    """Return ``obj`` with the methods of these names traced, as one run even where they call each other."""
    name = options.name or _object_name(obj)
    found = {n: method for n in names if callable(method := getattr(obj, n, None))}
    return _with_methods(obj, _traced_entries(found, kind, replace(options, name=name)))


def _traced_entries(methods: Mapping[str, Any], kind: CallKind, options: CallOptions) -> dict[str, TracedFunction]:
    """Return entry methods traced; a ``query`` that names a parameter of some of them is left out for the others."""
    plain, pick = replace(options, query=None), options.query
    first = pick.partition(".")[0] if isinstance(pick, str) else None
    having = {name for name, method in methods.items() if first in Binder(method).all_names}
    fitting = having if first is not None and having else set(methods)
    return {
        name: TracedFunction(method, _plan(method, kind, options if name in fitting else plain, once=True))
        for name, method in methods.items()
    }


def _with_methods(obj: Any, methods: Mapping[str, TracedFunction]) -> TracedObject:
    return (_CallableObject if callable(obj) else TracedObject)(obj, methods)


def _with_same_methods(obj: Any, methods: Mapping[str, TracedFunction]) -> TracedObject:
    """Return a copy of a traced object traced as that one is."""
    return _with_methods(obj, {n: TracedFunction(getattr(obj, n), m.traced_plan) for n, m in methods.items()})


def _plan(target: Any, kind: CallKind, options: CallOptions, *, once: bool = False) -> Plan:
    binder = Binder(target)
    own_name = _function_name(target)
    name = options.name or own_name
    if kind == "agent":
        check_pick(options.query, binder, where=f"{own_name}()")
    unknown = (options.redact | options.keep) - binder.all_names
    if unknown and not binder.open_ended and kind != "agent":
        raise ConfigurationError(
            f"redact/keep names {sorted(unknown)!r}, but {own_name}() has the parameters {sorted(binder.all_names)!r}"
        )
    function = innermost_function(target)
    if kind == "tool":
        note_traced_tool(function)
    nameless = options.name is None and own_name in _NAMELESS
    return Plan(
        kind=kind,
        name=name,
        options=options,
        binder=binder,
        function=function,
        named_by_instance=nameless,
        once_per_instance=once,
    )


def _traced_class(cls: type[Any], kind: CallKind, options: CallOptions) -> Any:
    """Trace a class's entry methods in place, so that it stays the class it was (pickling, isinstance, subclasses)."""
    accepted = AGENT_METHODS if kind == "agent" else TOOL_METHODS
    given = replace(options, name=options.name or (cls.__name__ if kind == "agent" else _object_name(cls)))
    found: dict[str, Any] = {n: inspect.getattr_static(cls, n, None) for n in accepted}
    methods = {n: m for n, m in found.items() if _is_function_like(m)}
    if not methods:
        raise ConfigurationError(
            f"class {cls.__name__!r} has no method to trace; one of these is needed: {', '.join(accepted)}"
        )
    for name, method in _traced_entries(methods, kind, given).items():
        setattr(cls, name, method)
    return cls


def _traced_agent_object(obj: Any, options: CallOptions) -> Any:
    tools = getattr(obj, "tools", None)
    has_tools = isinstance(tools, Mapping | list | tuple) and bool(cast(Any, tools))
    methods = [name for name in AGENT_METHODS if callable(getattr(obj, name, None))]
    if not methods or not (has_tools or callable(obj)):
        raise _not_accepted(obj, "agent")
    if has_tools:
        _trace_tools(obj, tools)
    return traced_methods(obj, methods, options)


def _trace_tools(obj: Any, tools: Any) -> None:
    """Put traced tools where the agent object looks for them."""
    # In place where that is possible: the agent may hold the same collection elsewhere too.
    if is_dict(tools):
        tools.update({name: _traced_tool(tool, str(name)) for name, tool in tools.items()})
        return
    if is_list(tools):
        tools[:] = [_traced_tool(tool, None) for tool in tools]
        return
    try:
        obj.tools = _traced_mapping(tools) if _is_mapping(tools) else tuple(_traced_tool(t, None) for t in tools)
    except (AttributeError, TypeError) as error:
        raise ConfigurationError(
            f"the tools of {type(obj).__name__!r} cannot be replaced ({error}); "
            "apply trace_tool to each of them before giving them to the agent"
        ) from None


def _is_mapping(tools: Any) -> TypeGuard[Mapping[Any, Any]]:
    return isinstance(tools, Mapping)


def _traced_mapping(tools: Mapping[Any, Any]) -> dict[Any, Any]:
    return {name: _traced_tool(tool, str(name)) for name, tool in tools.items()}


def _traced_tool(tool: Any, name: str | None) -> Any:
    if isinstance(tool, TracedFunction | TracedObject):
        return tool
    try:
        return traced(tool, "tool", CallOptions(name=name))
    except ConfigurationError:
        # A schema, a string, a provider's built-in tool: nothing here is ever called by this process.
        return tool


def _traced_tool_object(obj: Any, options: CallOptions) -> Any:
    methods = [name for name in TOOL_METHODS if callable(getattr(obj, name, None))]
    if not methods:
        raise _not_accepted(obj, "tool")
    return traced_methods(obj, methods, options, kind="tool")


def _not_accepted(target: Any, kind: CallKind) -> ConfigurationError:
    accepted = "a function or method of any kind, a class, a callable object"
    if kind == "agent":
        accepted += (
            ", a LangGraph graph or any LangChain Runnable (with the 'langchain' extra), or an object with `tools` "
            f"and one of the methods {', '.join(AGENT_METHODS[1:])}"
        )
    else:
        accepted += f", a framework's tool, or an object with one of the methods {', '.join(TOOL_METHODS[1:])}"
    return ConfigurationError(f"trace_{kind} cannot trace a {type(target).__name__}; it accepts {accepted}")


def _is_function_like(target: Any) -> bool:
    return isinstance(
        target,
        types.FunctionType
        | types.MethodType
        | types.BuiltinFunctionType
        | classmethod
        | staticmethod
        | functools.partial,
    )


def _code_flags(target: Any) -> int:
    code = getattr(raw_function(target), "__code__", None)
    return code.co_flags if isinstance(code, types.CodeType) else 0


def _function_name(target: Any) -> str:
    """Return what people call it: the function's own name, an object's ``name``, else its class."""
    if isinstance(target, functools.partial):
        return _function_name(partial_function(target))
    if isinstance(target, classmethod | staticmethod):
        return _function_name(inner_function(target))
    name = getattr(target, "__name__", None)
    return name if isinstance(name, str) else _object_name(target)


def _object_name(obj: Any) -> str:
    """Return an object's or class's ``name``, as stored (no property is run), else its class's name."""
    kind: type[Any] = obj if isinstance(obj, type) else kind_of(obj)
    for attribute in ("name", "tool_name"):
        name = None if obj is kind else field_of(obj, attribute)
        name = inspect.getattr_static(kind, attribute, None) if name is None else name
        if isinstance(name, str) and name:
            return name
    return kind.__name__


def _find_global(module: str | None, qualified_name: str) -> Any:
    found: Any = sys.modules.get(module or "")
    for part in qualified_name.split("."):
        found = getattr(found, part, None)
    return found


def _rebuild(wrapped: Any, kind: CallKind, options: CallOptions) -> Any:
    return traced(wrapped, kind, options)


def _rebuild_beside(found: TracedFunction, kind: CallKind, options: CallOptions) -> Any:
    return traced(found.__wrapped__, kind, options)


def _rebuild_object(obj: Any, names: tuple[str, ...], kind: CallKind, options: CallOptions) -> Any:
    return traced_methods(obj, names, options, kind=kind)
