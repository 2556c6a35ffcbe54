"""Matchers for what a call returned: at a JSON path, retrieved documents, text inside structure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, cast

from agentpath_sdk._guard import HEALTH
from agentpath_sdk.gold.model import ArgumentMatcher, Comparison
from agentpath_sdk.gold.wording import PASSED, failed, is_list, joined, show

__all__ = ["AtPath", "Documents", "InResult", "compiled_path", "structure"]

# Values looked at inside one result.
_MAX_VALUES: Final = 20_000
_MAX_TEXT: Final = 1_000_000
_PATTERNS: Final = re.compile(r"\b(?:match|search)\s*\(|=~")
_ID_KEYS: Final = ("id", "_id", "doc_id", "document_id", "document.id", "docid", "source", "url")


@dataclass(frozen=True, kw_only=True, slots=True)
class AtPath:
    """A structure with a fitting value at each JSON path (RFC 9535); of several values at a path one must fit."""

    items: Mapping[str, ArgumentMatcher]

    @property
    def name(self) -> str:
        """``json_path``."""
        return "json_path"

    @property
    def expected(self) -> dict[str, Any]:
        """What is expected at each path."""
        return {path: matcher.expected for path, matcher in self.items.items()}

    def __call__(self, actual: Any) -> Comparison:
        """Return passed where every path has a fitting value; the similarity is the mean over the paths."""
        value = structure(actual)
        results = {path: _at(path, matcher, value) for path, matcher in self.items.items()}
        reasons = [f"{path}: {result.reason}" for path, result in results.items() if not result.passed]
        return joined(reasons, sum(one.similarity for one in results.values()) / max(len(results), 1))


@dataclass(frozen=True, kw_only=True, slots=True)
class Documents:
    """A list of documents with these ids among them, ``least`` of them at least (all, where it is None).

    Documents are mappings with an id (``id``, ``_id``, ``doc_id``, ``document_id``, ``source``, ``url``, also inside
    ``metadata``), at any depth; or plain texts and numbers in a list.
    """

    ids: tuple[str | int, ...]
    least: int | None = None

    @property
    def name(self) -> str:
        """``documents``."""
        return "documents"

    @property
    def expected(self) -> list[str | int]:
        """The ids."""
        return list(self.ids)

    def __call__(self, actual: Any) -> Comparison:
        """Return passed where enough ids are there; the similarity is the share of those wanted."""
        wanted = {str(one) for one in self.ids}
        least = len(wanted) if self.least is None else min(self.least, len(wanted))
        missing = sorted(wanted - set(_document_ids(structure(actual))))
        got = len(wanted) - len(missing)
        if got >= least:
            return PASSED
        few = "" if self.least is None else f"{least} of "
        words = f"{few}the documents {show(self.expected)}"
        return Comparison(
            passed=False,
            similarity=got / least,
            reason=f"expected {words}, got {got} of them; missing {show(missing)}",
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class InResult:
    """A matcher on a result: fits it as it is, or the structure in its text, or all text in its structure."""

    matcher: ArgumentMatcher

    @property
    def name(self) -> str:
        """That of the matcher."""
        return self.matcher.name

    @property
    def expected(self) -> Any:
        """What the matcher expects."""
        return self.matcher.expected

    def __call__(self, actual: Any) -> Comparison:
        """Return the best of the comparisons, the one with the result as it is among equals."""
        best = self.matcher(actual)
        for form in _other_forms(actual):
            if best.passed:
                break
            other = self.matcher(form)
            best = other if other.passed or other.similarity > best.similarity else best
        return best


@lru_cache(maxsize=1_024)
def compiled_path(path: str) -> Any:
    """Return a compiled JSON path.

    Raises:
        ValueError: it is none, or it would search by regular expression, which nothing bounds in time.
    """
    import jsonpath  # it takes a tenth of a second, and few gold files need it

    if _PATTERNS.search(path):
        raise ValueError("regular expressions are not read in paths; put {$regex: ...} on the value")
    try:
        return jsonpath.compile(path)
    except jsonpath.JSONPathError as error:
        raise ValueError(str(error).partition("\n")[0]) from None


def structure(value: Any) -> Any:
    """Return the list or mapping that a JSON text holds, else the value itself."""
    if not isinstance(value, str) or len(value) > _MAX_TEXT or value.lstrip()[:1] not in ("{", "["):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def _other_forms(actual: Any) -> Iterator[Any]:
    decoded = structure(actual)
    if decoded is not actual:
        yield decoded
    if isinstance(decoded, Mapping) or is_list(decoded):
        yield "\n".join(text for _, text in _leaves(decoded) if isinstance(text, str))


def _at(path: str, matcher: ArgumentMatcher, value: Any) -> Comparison:
    try:
        found: list[Any] = compiled_path(path).findall(value) if isinstance(value, dict | list) else []
    except Exception as error:
        # A path may ask for what a value has not; the comparison has to come out all the same.
        HEALTH.fault("gold.json_path", error)
        found = []
    if not found:
        return failed(f"{show(matcher.expected)}", None, 0.0, ": nothing is there")
    results = [matcher(one) for one in found[:_MAX_VALUES]]
    return next((one for one in results if one.passed), max(results, key=lambda one: one.similarity))


def _document_ids(value: Any) -> Iterator[str]:
    """Yield every id found at any depth, and the plain items of lists."""
    for key, leaf in _leaves(value):
        if (key is None or key in _ID_KEYS) and isinstance(leaf, str | int) and not isinstance(leaf, bool):
            yield str(leaf)


def _leaves(value: Any) -> Iterator[tuple[str | None, Any]]:
    """Yield the plain values inside, in order, each with its key; None for an item of a list. Bounded, no recursion."""
    stack: list[tuple[str | None, Any]] = [("", value)]
    left = _MAX_VALUES
    while stack and left:
        left -= 1
        key, inner = stack.pop()
        if isinstance(inner, Mapping):
            stack.extend(reversed([(str(name), one) for name, one in cast("Mapping[str, Any]", inner).items()]))
        elif is_list(inner):
            stack.extend((None, one) for one in reversed(inner))
        else:
            yield key, inner
