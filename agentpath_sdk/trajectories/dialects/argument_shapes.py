"""What instrumentations wrap arguments in, opened: ``kwargs``, positional arguments, whole callback payloads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from agentpath_sdk.trajectories.dialects.contents import loaded
from agentpath_sdk.trajectories.dialects.reprs import read_repr
from agentpath_sdk.trajectories.shapes import as_list, as_object

__all__ = ["POSITIONAL", "from_callback", "from_python_call", "parameter_names", "without"]

POSITIONAL: Final = "agentpath.positional"
"""Key of the positional arguments that no schema names."""

# What instrumentations put beside args and kwargs.
_BESIDE: Final = frozenset({"args", "kwargs", "sanitize_inputs_outputs"})
_PAYLOAD: Final = frozenset({"inputs", "input_str", "tags", "metadata", "kwargs", "outputs", "output"})


def from_python_call(value: Any, parameters: Sequence[str] = ()) -> Any:
    """Return the arguments by name of ``{"args": [...], "kwargs": {...}}``; anything else as it is.

    Positional arguments get the names of ``parameters``, in order; without names they stay together under
    ``POSITIONAL``, to be named by what the model asked for.
    """
    found = as_object(loaded(value))
    if found is None or not found or not _BESIDE.issuperset(found):
        return value
    keywords = as_object(found.get("kwargs", {}))
    positional = as_list(found.get("args", ()))
    if keywords is None or positional is None:
        return value
    if not positional:
        return keywords
    names = [name for name in parameters if name not in keywords]
    if len(names) < len(positional):
        return {POSITIONAL: list(positional), **keywords}
    return dict(zip(names, positional, strict=False)) | dict(keywords)


def from_callback(value: Any) -> Any:
    """Return the arguments inside a whole callback payload ``{"input_str", "inputs", "tags", "metadata", ...}``;
    anything else as it is."""
    found = as_object(loaded(value))
    if found is None or not _PAYLOAD.issuperset(found) or not ("inputs" in found or "input_str" in found):
        return value
    inner = found.get("inputs")
    if as_object(inner) is not None:
        return inner
    said = found.get("input_str")
    if isinstance(said, str) and (literal := as_object(loaded(said))) is not None:
        return literal
    if isinstance(said, str) and (literal := as_object(read_repr(said))) is not None:
        return literal
    return said if said is not None else value


def without(value: Any, *names: str) -> Any:
    """Return arguments without those of ``names`` that are null: what a framework added on its own."""
    found = as_object(loaded(value))
    if found is None or not any(name in found and found[name] is None for name in names):
        return value
    return {key: item for key, item in found.items() if not (key in names and item is None)}


def parameter_names(schema: Any) -> tuple[str, ...]:
    """Return the parameter names of a tool's schema in order: of a JSON schema or of a plain mapping of them."""
    found = as_object(loaded(schema))
    if found is None:
        return ()
    properties: Mapping[str, Any] | None = as_object(found.get("properties"))
    if properties is not None:
        return tuple(properties)
    described = all(as_object(value) is not None for value in found.values())
    return tuple(found) if described else ()
