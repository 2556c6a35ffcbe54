"""Computed values of templates: ``{a} + {b}``, evaluated without access to anything but the slots (extra ``synth``)."""

from __future__ import annotations

import ast
import importlib
import math
import operator
from collections.abc import Callable, Mapping
from typing import Any, Final

from agentpath_sdk._plain import is_dict
from agentpath_sdk.errors import MissingExtraError
from agentpath_sdk.gold.slots import SLOT
from agentpath_sdk.gold.wording import is_list, show

__all__ = ["ExpressionError", "evaluate", "names_in"]

_MAX_EXPRESSION: Final = 500
_MAX_POWER_BITS: Final = 4_096
_DIGITS: Final = 12


class ExpressionError(Exception):
    """Why an expression has no value."""


def evaluate(expression: str, values: Mapping[str, Any]) -> Any:
    """Return the value of an expression over slots, written ``{name}`` or ``name``.

    Arithmetic, comparisons, ``and``, ``or``, ``not``, ``x if y else z``, indexing, and the functions abs, ceil, floor,
    float, int, len, lower, max, min, round, str, sum, title, upper. A number is rounded to twelve digits, and whole
    where it is whole: 0.1 + 0.2 is 0.3 and 6 / 2 is 3.

    Raises:
        ExpressionError: it cannot be read, or has no value for these slots.
        MissingExtraError: the extra ``synth`` is not installed.
    """
    if len(expression) > _MAX_EXPRESSION:
        raise ExpressionError(f"has {len(expression)} characters; {_MAX_EXPRESSION} are read at most")
    evaluator = _evaluator(values)
    try:
        value = evaluator.eval(SLOT.sub(r"(\1)", expression))
    except SyntaxError as error:
        raise ExpressionError(f"is no expression: {error.msg}") from None
    except RecursionError:
        raise ExpressionError("is nested too deep") from None
    except Exception as error:
        # Whatever arithmetic on people's values may raise, the evaluator's own errors included.
        raise ExpressionError(f"has no value: {_words(error)}") from None
    return _plain(value)


def names_in(expression: str) -> frozenset[str]:
    """Return the names used in an expression, functions aside; empty where it cannot be read."""
    try:
        tree = ast.parse(SLOT.sub(r"(\1)", expression).strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError):
        return frozenset()
    return frozenset(node.id for node in ast.walk(tree) if isinstance(node, ast.Name)) - _FUNCTIONS.keys()


def _evaluator(values: Mapping[str, Any]) -> Any:
    try:
        library: Any = importlib.import_module("simpleeval")
    except ImportError:
        raise MissingExtraError("simpleeval", "synth") from None
    operators = {**library.DEFAULT_OPERATORS, ast.Pow: _power, ast.Mod: _remainder}
    evaluator = library.SimpleEval(
        operators=operators, functions=dict(_FUNCTIONS), names=dict(values), allowed_attrs=frozenset()
    )
    # A format may ask for a gigabyte of blanks.
    del evaluator.nodes[ast.JoinedStr]
    return evaluator


def _words(error: Exception) -> str:
    if type(error).__name__ == "NameNotDefined":
        return f"there is no slot {getattr(error, 'name', '')!r}"
    return " ".join(str(error).split())[:200] or type(error).__name__


def _power(base: Any, exponent: Any) -> Any:
    if isinstance(base, int) and isinstance(exponent, int) and base.bit_length() * abs(exponent) > _MAX_POWER_BITS:
        raise ExpressionError("the power is too large")
    return _number(base) ** _number(exponent)


def _remainder(one: Any, other: Any) -> Any:
    # On texts it would be formatting, which may ask for a gigabyte of blanks too.
    return operator.mod(_number(one), _number(other))


def _number(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ExpressionError(f"{show(value)} is no number")
    return value


def _plain(value: Any) -> Any:
    """Return the value as JSON has it."""
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return _rounded(value)
    if is_list(value):
        return [_plain(item) for item in value]
    if is_dict(value):
        return {key: _plain(item) for key, item in value.items()}
    raise ExpressionError(f"gives a {type(value).__name__}, which no gold file can hold")


def _rounded(value: float) -> int | float:
    if not math.isfinite(value):
        raise ExpressionError(f"gives {value}, which is no JSON number")
    near = float(f"{value:.{_DIGITS}g}")
    return int(near) if near.is_integer() and abs(near) < 1e15 else near


def _text(function: Callable[[str], str]) -> Callable[[Any], str]:
    return lambda value: function(str(value))


_FUNCTIONS: Final[Mapping[str, Callable[..., Any]]] = {
    "abs": abs,
    "ceil": math.ceil,
    "floor": math.floor,
    "float": float,
    "int": int,
    "len": len,
    "lower": _text(str.lower),
    "max": max,
    "min": min,
    "round": round,
    "str": str,
    "sum": sum,
    "title": _text(str.title),
    "upper": _text(str.upper),
}
