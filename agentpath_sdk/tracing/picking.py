"""Where the user's question is in a call's arguments, and the final answer in its result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeGuard

from agentpath_sdk._guard import guard
from agentpath_sdk._plain import is_sequence, is_text, kind_of
from agentpath_sdk.errors import ConfigurationError
from agentpath_sdk.redaction import is_secret_name
from agentpath_sdk.tracing.binding import Binder
from agentpath_sdk.tracing.messages import field_of, last_message_text
from agentpath_sdk.tracing.options import Pick

__all__ = ["check_pick", "pick_answer", "pick_query"]

_QUERY_NAMES: Final = ("query", "question", "input", "prompt", "user_input", "message", "messages", "inputs", "task")
_ANSWER_NAMES: Final = ("output", "answer", "final_answer", "content", "response", "final_output", "text", "result")
_USER: Final = frozenset({"user"})
_ASSISTANT: Final = frozenset({"assistant"})


def check_pick(pick: Pick | None, binder: Binder, *, where: str) -> None:
    """Raise ConfigurationError when ``query=`` names no parameter of the function."""
    if pick is None or callable(pick):
        return
    name = pick.partition(".")[0]
    if name not in binder.all_names and not binder.open_ended:
        known = ", ".join(sorted(binder.all_names)) or "none"
        raise ConfigurationError(f"query={pick!r}: {where} has no parameter {name!r}; its parameters are: {known}")


def pick_query(
    pick: Pick | None,
    arguments: Mapping[str, Any],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    hidden: Callable[[str], bool] = is_secret_name,
) -> str | None:
    """Return the user's question: where ``pick`` says, else under a usual name, else the first text argument that is
    not ``hidden`` by its name."""
    if pick is not None:
        with guard("tracing.query"):
            found = pick(*args, **kwargs) if callable(pick) else _at(arguments, pick.split("."))
            return _as_text(found, _QUERY_NAMES, _USER)
        return None
    for name in _QUERY_NAMES:
        if name in arguments:
            found = _as_text(arguments[name], _QUERY_NAMES, _USER)
            if found is not None:
                return found
    shown = [value for name, value in arguments.items() if not hidden(name)]
    for value in shown:
        if is_text(value):
            return value
    for value in shown:
        found = _as_text(value, _QUERY_NAMES, _USER)
        if found is not None:
            return found
    return None


def pick_answer(pick: Pick | None, result: Any) -> str | None:
    """Return the final answer: where ``pick`` says, else the text, or the usual field or last message of the result."""
    if pick is None:
        return _as_text(result, _ANSWER_NAMES, _ASSISTANT)
    with guard("tracing.answer"):
        found = pick(result) if callable(pick) else _at(result, pick.split("."))
        return _as_text(found, _ANSWER_NAMES, _ASSISTANT)
    return None


def _as_text(value: Any, names: tuple[str, ...], roles: frozenset[str], depth: int = 3) -> str | None:
    if is_text(value):
        return value
    kind = kind_of(value)
    if kind is bool or value is None or depth == 0:
        return None
    if kind is int or kind is float:
        # A number may be an answer; a question it is not.
        return str(value) if roles is _ASSISTANT else None
    if is_sequence(value):
        return last_message_text(value, roles=roles)
    for name in ("messages", *names):
        inner = field_of(value, name)
        if inner is not None:
            found = _as_text(inner, names, roles, depth - 1)
            if found is not None:
                return found
    return None


def _is_mapping(value: Any) -> TypeGuard[Mapping[str, Any]]:
    return isinstance(value, Mapping)


def _at(value: Any, path: list[str]) -> Any:
    """Return what lies at a dotted path: keys, positions, attributes (the user asked for these by name)."""
    for step in path:
        if _is_mapping(value):
            value = value[step]
        elif is_sequence(value) and step.lstrip("-").isdigit():
            value = value[int(step)]
        else:
            value = getattr(value, step)
    return value
