"""``trace_agent``, ``trace_tool``, ``trace_step``: one line on what people already have."""

from __future__ import annotations

from collections.abc import Iterable
from contextvars import ContextVar
from functools import partial
from types import TracebackType
from typing import Any, Final, Protocol, Self, TypeVar, cast, overload

from agentpath_sdk.errors import ConfigurationError
from agentpath_sdk.tracing.binding import Binder
from agentpath_sdk.tracing.calls import Call, Plan
from agentpath_sdk.tracing.options import CallOptions, Pick
from agentpath_sdk.tracing.wrapping import traced

__all__ = ["Step", "Tracing", "trace_agent", "trace_step", "trace_tool"]

_T = TypeVar("_T")


class Tracing(Protocol):
    """A decorator that returns what it is given, to a type checker and to its callers."""

    def __call__(self, target: _T, /) -> _T:
        """Return ``target``, traced."""
        ...


@overload
def trace_agent(target: _T, /) -> _T: ...
@overload
def trace_agent(
    target: _T,
    /,
    *,
    name: str | None = None,
    gold_path: str | None = None,
    query: Pick | None = None,
    answer: Pick | None = None,
    capture: bool | None = None,
    redact: Iterable[str] = (),
    keep: Iterable[str] = (),
) -> _T: ...
@overload
def trace_agent(
    *,
    name: str | None = None,
    gold_path: str | None = None,
    query: Pick | None = None,
    answer: Pick | None = None,
    capture: bool | None = None,
    redact: Iterable[str] = (),
    keep: Iterable[str] = (),
) -> Tracing: ...
def trace_agent(
    target: Any = None,
    /,
    *,
    name: str | None = None,
    gold_path: str | None = None,
    query: Pick | None = None,
    answer: Pick | None = None,
    capture: bool | None = None,
    redact: Iterable[str] = (),
    keep: Iterable[str] = (),
) -> Any:
    """Trace each run of an agent as an ``invoke_agent`` span, with the calls of known frameworks inside it.

    Works as ``@trace_agent``, ``@trace_agent(...)`` and ``trace_agent(obj)``. ``target`` is a function or method of any
    kind (sync, async, generator, partial), a class (its entry methods: calling, ``run``, ``invoke``, ``forward``, ...;
    one run even where these call each other), a framework's agent (a LangGraph graph, any Runnable), or an object with
    ``tools`` and an entry method. What comes back behaves and type-checks as ``target``.

    Args:
        name: agent name; by default the function's, or the class's for methods such as ``run``.
        gold_path: id of the gold path these runs belong to; by default found by the query.
        query: where the user's question is: an argument name, a dotted path (``request.text``, ``messages.0.content``)
            or a callable given the call's arguments. By default an argument called query, question, input, prompt,
            message or messages (its last user message), else the first text argument.
        answer: where the final answer is in the result: a dotted path or a callable given the result. By default the
            text itself, its output, answer, content, ..., or its last message.
        capture: False = record no content of these runs' own spans; by default as the settings say.
        redact: argument names whose values are always redacted.
        keep: argument names that only look like secrets; their values are still searched for secret forms.

    Raises:
        ConfigurationError: ``target`` cannot be traced, or an option does not fit it.
    """
    options = CallOptions(
        name=_name(name), gold_path=gold_path, query=query, answer=answer, capture=capture,
        redact=_names("redact", redact), keep=_names("keep", keep),
    )  # fmt: skip
    if target is None:
        return partial(traced, kind="agent", options=options)
    return traced(target, "agent", options)


@overload
def trace_tool(target: _T, /) -> _T: ...
@overload
def trace_tool(
    target: _T,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    capture: bool | None = None,
    redact: Iterable[str] = (),
    keep: Iterable[str] = (),
) -> _T: ...
@overload
def trace_tool(
    *,
    name: str | None = None,
    description: str | None = None,
    capture: bool | None = None,
    redact: Iterable[str] = (),
    keep: Iterable[str] = (),
) -> Tracing: ...
def trace_tool(
    target: Any = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    capture: bool | None = None,
    redact: Iterable[str] = (),
    keep: Iterable[str] = (),
) -> Any:
    """Trace each call of a tool as an ``execute_tool`` span: a step of the enclosing agent's trajectory.

    Works as ``@trace_tool``, ``@trace_tool(...)`` and ``trace_tool(obj)`` on a function or method of any kind, a class,
    a callable object, a framework's tool, or an object with ``run``, ``invoke``, ``call``, ``forward`` or ``execute``.
    A tool that a framework's handler reports too stays one step. What comes back behaves and type-checks as ``target``.

    Args:
        name: tool name; by default the function's or the object's own.
        description: what the tool does, kept on the span.
        capture: False = record neither arguments nor result nor error messages; by default as the settings say.
        redact: argument names whose values are always redacted.
        keep: argument names that only look like secrets (``token`` of a parser); their values are still searched.

    Raises:
        ConfigurationError: ``target`` cannot be traced, or an option does not fit it.
    """
    options = CallOptions(
        name=_name(name), description=description, capture=capture,
        redact=_names("redact", redact), keep=_names("keep", keep),
    )  # fmt: skip
    if target is None:
        return partial(traced, kind="tool", options=options)
    return traced(target, "tool", options)


def trace_step(*, phase: str, capture: bool | None = None, redact: Iterable[str] = ()) -> Step:
    """Mark a step that is no tool call (planning, an audit, a guard): ``@trace_step(phase="audit")`` on a function of
    any kind, or ``with trace_step(phase="audit") as step: ... step.output(value)`` around a block.

    Raises:
        ConfigurationError: ``phase`` is empty.
    """
    if not phase.strip():
        raise ConfigurationError("trace_step(phase=...) needs a name for the phase, for example 'audit'")
    return Step(CallOptions(name=phase, capture=capture, redact=_names("redact", redact)))


class Step:
    """A marked phase, as decorator or around a block; may be reused and nested."""

    def __init__(self, options: CallOptions) -> None:
        self._options = options

    def __call__(self, target: _T, /) -> _T:
        """Return ``target``, each call of which is one such phase."""
        return cast(_T, traced(target, "phase", self._options))

    def output(self, value: Any) -> None:
        """Say what came out of the phase that is open here."""
        opened = _OPEN_STEPS.get()
        if opened:
            opened[-1].output = value

    def __enter__(self) -> Self:
        plan = Plan(kind="phase", name=self._options.name or "", options=self._options, binder=_NO_ARGUMENTS)
        call = Call(plan)
        call.open(None, (), {})
        call.enter()
        _OPEN_STEPS.set((*_OPEN_STEPS.get(), _OpenStep(call)))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        opened = _OPEN_STEPS.get()
        if not opened:
            return
        _OPEN_STEPS.set(opened[:-1])
        step = opened[-1]
        step.call.leave()
        if error is None:
            step.call.finish(step.output)
        else:
            step.call.fail(error)

    async def __aenter__(self) -> Self:
        return self.__enter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.__exit__(kind, error, traceback)


class _OpenStep:
    __slots__ = ("call", "output")

    def __init__(self, call: Call) -> None:
        self.call = call
        self.output: Any = None


_NO_ARGUMENTS: Final = Binder(lambda: None)
_OPEN_STEPS: Final[ContextVar[tuple[_OpenStep, ...]]] = ContextVar("agentpath_open_steps", default=())


def _name(name: str | None) -> str | None:
    if name is not None and not name.strip():
        raise ConfigurationError("name='' is empty; leave it out to use the function's own name")
    return name


def _names(option: str, given: Iterable[str]) -> frozenset[str]:
    if isinstance(given, str):
        raise ConfigurationError(f"{option}={given!r} is one text; give a list of argument names: [{given!r}]")
    return frozenset(given)
