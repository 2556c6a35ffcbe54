"""The demonstration agent's tools: full-text search over the bundled corpus, and a calculator."""

from __future__ import annotations

import ast
import math
import re
import sqlite3
import threading
from collections.abc import Callable, Mapping
from importlib.resources import files
from types import MappingProxyType
from typing import Any, Final

import yaml

__all__ = ["CalculatorError", "Corpus", "calculate", "load_data"]

_LONGEST_EXPRESSION: Final = 200
_LARGEST_EXPONENT: Final = 64

_BINARY: Final[Mapping[type[ast.operator], Callable[[float, float], float]]] = MappingProxyType(
    {
        ast.Add: lambda left, right: left + right,
        ast.Sub: lambda left, right: left - right,
        ast.Mult: lambda left, right: left * right,
        ast.Div: lambda left, right: left / right,
        ast.Pow: lambda left, right: _power(left, right),
    }
)
_UNARY: Final[Mapping[type[ast.unaryop], Callable[[float], float]]] = MappingProxyType(
    {ast.USub: lambda number: -number, ast.UAdd: lambda number: number}
)


class CalculatorError(ValueError):
    """The expression is not arithmetic, or has no finite value."""


def load_data(name: str) -> Any:
    """Return the parsed YAML file ``name`` of the demonstration's data folder."""
    return yaml.safe_load(files(str(__package__)).joinpath("data", name).read_text(encoding="utf-8"))


class Corpus:
    """Documents in an in-memory SQLite FTS5 table, ranked by BM25 with the title counting double."""

    def __init__(self, documents: list[dict[str, str]]) -> None:
        # One connection for all threads, under a lock: an in-memory database is private to its connection.
        self._lock = threading.Lock()
        self._db = sqlite3.connect(":memory:", check_same_thread=False)
        self._db.execute("CREATE VIRTUAL TABLE documents USING fts5(id UNINDEXED, title, text)")
        self._db.executemany("INSERT INTO documents VALUES (:id, :title, :text)", documents)

    def search(self, query: str, limit: int = 1) -> list[dict[str, str]]:
        """Return the ``limit`` best documents as ``{"id", "title", "text"}``; empty when no word is found."""
        terms = _match_expression(query)
        if not terms:
            return []
        sql = "SELECT id, title, text FROM documents WHERE documents MATCH ? ORDER BY bm25(documents, 0, 2, 1) LIMIT ?"
        with self._lock:
            rows = self._db.execute(sql, (terms, limit)).fetchall()
        return [{"id": row[0], "title": row[1], "text": row[2]} for row in rows]


def _match_expression(query: str) -> str:
    """Return an FTS5 query that finds any of the words by prefix, so that Russian endings do not matter."""
    words = re.findall(r"\w{3,}", query.lower())
    return " OR ".join(f'"{word[: max(4, len(word) - 2)]}"*' for word in words)


def calculate(expression: str) -> float:
    """Return the value of an arithmetic expression, rounded to six digits; names and calls are refused.

    Raises:
        CalculatorError: the text is no arithmetic, is too long, or has no finite real value.
    """
    if len(expression) > _LONGEST_EXPRESSION:
        raise CalculatorError(f"expression longer than {_LONGEST_EXPRESSION} characters")
    try:
        value = _value(ast.parse(expression, mode="eval").body)
        if math.isfinite(value):
            return float(f"{value:.6g}")
    except CalculatorError:
        raise
    except (SyntaxError, ValueError):
        raise CalculatorError(f"cannot read {expression!r}; use + - * / ** and brackets") from None
    except (ZeroDivisionError, OverflowError):
        pass
    raise CalculatorError(f"{expression!r} has no finite value")


def _value(node: ast.expr) -> float:
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return number
        case ast.UnaryOp(op=op, operand=operand) if type(op) in _UNARY:
            return _UNARY[type(op)](_value(operand))
        case ast.BinOp(op=op, left=left, right=right) if type(op) in _BINARY:
            return _BINARY[type(op)](_value(left), _value(right))
        case _:
            raise CalculatorError(f"{ast.unparse(node)!r} is not arithmetic; use numbers and + - * / ** only")


def _power(base: float, exponent: float) -> float:
    if abs(exponent) > _LARGEST_EXPONENT:
        raise CalculatorError(f"exponent larger than {_LARGEST_EXPONENT}")
    result: complex = base**exponent
    if isinstance(result, complex):
        raise CalculatorError("a root of a negative number is no real number")
    return result
