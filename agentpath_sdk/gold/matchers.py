"""Argument matchers: frozen values that compare one argument of a call. Pure, total, never raising."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final, Literal, TypeAlias, TypeGuard, cast

from agentpath_sdk._guard import HEALTH
from agentpath_sdk.errors import ConfigurationError
from agentpath_sdk.gold.equality import similarity, values_equal
from agentpath_sdk.gold.model import ArgumentMatcher, Comparison
from agentpath_sdk.gold.text_matchers import Contains, Fold, Fuzzy, Glob, Regex
from agentpath_sdk.gold.wording import PASSED, TypeName, failed, is_list, joined, json_text, json_type, show

__all__ = [
    "Called",
    "Contains",
    "Exact",
    "Fold",
    "Fuzzy",
    "Glob",
    "Ignore",
    "ListOf",
    "MappingOf",
    "MatcherFunction",
    "Number",
    "OneOf",
    "Regex",
    "SameSet",
    "TypeOf",
    "register_matcher",
    "registered_matchers",
]

MatcherFunction: TypeAlias = Callable[[Any, Any], "bool | float | Comparison"]
"""``function(expected, actual)``: whether they match, or how near they are in 0..1, or the whole comparison."""

# Comparisons made for one set; more would hold up the worker that scores.
_SET_COMPARISONS: Final = 200_000

_FUNCTIONS: Final[dict[str, MatcherFunction]] = {}


@dataclass(frozen=True, kw_only=True, slots=True)
class Exact:
    """The value itself, by ``values_equal``; the default for everything written plainly."""

    expected: Any

    @property
    def name(self) -> str:
        """``exact``."""
        return "exact"

    def __call__(self, actual: Any) -> Comparison:
        """Return passed for an equal value; the similarity is graded."""
        if values_equal(self.expected, actual):
            return PASSED
        return failed(show(self.expected), actual, similarity(self.expected, actual))


@dataclass(frozen=True, kw_only=True, slots=True)
class Ignore:
    """Anything, also nothing at all: the argument may be missing."""

    @property
    def name(self) -> str:
        """``ignore``."""
        return "ignore"

    @property
    def expected(self) -> None:
        """Nothing in particular."""

    def __call__(self, actual: Any) -> Comparison:
        """Return passed."""
        return PASSED


@dataclass(frozen=True, kw_only=True, slots=True)
class Number:
    """A number within a tolerance: ``abs`` in its own unit, ``rel`` as a share of the expected one; the wider counts.

    ``coerce`` also takes a text that holds nothing but a number.
    """

    expected: int | float
    abs_tolerance: float = 0.0
    rel_tolerance: float = 0.0
    coerce: bool = False

    @property
    def name(self) -> str:
        """``number``."""
        return "number"

    def __call__(self, actual: Any) -> Comparison:
        """Return passed within the tolerance, else similarity 0."""
        given = _number_in(actual) if self.coerce and isinstance(actual, str) else actual
        if not _is_number(given):
            return failed(self._words(), actual, 0.0)
        return PASSED if self._near(given) else failed(self._words(), actual, 0.0)

    def _near(self, given: int | float) -> bool:
        try:
            if abs(given - self.expected) <= max(self.abs_tolerance, self.rel_tolerance * abs(self.expected)):
                return True
            # Decimals of the shortest texts: 3.1 is within 0.1 of 3 for whoever wrote it, though not in binary.
            wanted = Decimal(str(self.expected))
            allowed = max(Decimal(str(self.abs_tolerance)), Decimal(str(self.rel_tolerance)) * abs(wanted))
            return bool(abs(Decimal(str(given)) - wanted) <= allowed)
        except (ArithmeticError, ValueError):
            # NaN, an infinity, or an integer of more digits than Python writes out.
            return False

    def _words(self) -> str:
        tolerances = [f"{self.abs_tolerance:g}"] if self.abs_tolerance else []
        if self.rel_tolerance:
            tolerances.append(f"{self.rel_tolerance:.6%}".rstrip("0%").rstrip(".") + " %")
        return show(self.expected) + (f" plus or minus {' or '.join(tolerances)}" if tolerances else "")


@dataclass(frozen=True, kw_only=True, slots=True)
class SameSet:
    """A list with these items in any order; how often an item occurs does not matter."""

    items: tuple[Any, ...]

    @property
    def name(self) -> str:
        """``set``."""
        return "set"

    @property
    def expected(self) -> list[Any]:
        """The items."""
        return list(self.items)

    def __call__(self, actual: Any) -> Comparison:
        """Return passed for the same set; the similarity is the share of shared items in all."""
        if not is_list(actual):
            return failed(self._words(), actual, 0.0)
        if len(actual) * len(self.items) > _SET_COMPARISONS:
            return failed(self._words(), actual, 0.0, f", too many items to be compared ({len(actual)})")
        missing = _absent(self.items, actual)
        extra = _absent(actual, self.items)
        if not missing and not extra:
            return PASSED
        wanted = len(_absent(self.items, ()))
        return failed(self._words(), actual, (wanted - len(missing)) / (wanted + len(extra)))

    def _words(self) -> str:
        return f"the items {show(self.expected)} in any order"


@dataclass(frozen=True, kw_only=True, slots=True)
class TypeOf:
    """Any value of one of these types."""

    types: tuple[TypeName, ...]

    @property
    def name(self) -> str:
        """``type``."""
        return "type"

    @property
    def expected(self) -> Any:
        """The one type, or the list of them."""
        return self.types[0] if len(self.types) == 1 else list(self.types)

    def __call__(self, actual: Any) -> Comparison:
        """Return passed for a value of such a type, else similarity 0."""
        kind = json_type(actual)
        # 3.0 is an integer, as in JSON Schema.
        whole = kind == "number" and (isinstance(actual, int) or (isinstance(actual, float) and actual.is_integer()))
        fits = kind in self.types or (whole and "integer" in self.types)
        return PASSED if fits else failed(f"any {' or '.join(self.types)}", actual, 0.0)


@dataclass(frozen=True, kw_only=True, slots=True)
class OneOf:
    """Any one of several matchers."""

    options: tuple[ArgumentMatcher, ...]

    @property
    def name(self) -> str:
        """``one_of``."""
        return "one_of"

    @property
    def expected(self) -> list[Any]:
        """What each option expects."""
        return [option.expected for option in self.options]

    def __call__(self, actual: Any) -> Comparison:
        """Return the best option's comparison, the earliest among equals."""
        best: Comparison | None = None
        for option in self.options:
            comparison = option(actual)
            if comparison.passed:
                return comparison
            if best is None or comparison.similarity > best.similarity:
                best = comparison
        graded = 0.0 if best is None else best.similarity
        return failed(f"one of {show(self.expected)}", actual, graded)


@dataclass(frozen=True, kw_only=True, slots=True)
class ListOf:
    """A list of as many items, each compared by its own matcher, in order."""

    items: tuple[ArgumentMatcher, ...]

    @property
    def name(self) -> str:
        """``list``."""
        return "list"

    @property
    def expected(self) -> list[Any]:
        """What each item expects."""
        return [item.expected for item in self.items]

    def __call__(self, actual: Any) -> Comparison:
        """Return passed where every item passes; the similarity is the mean over the longer list."""
        if not is_list(actual):
            return failed(f"the list {show(self.expected)}", actual, 0.0)
        results = [item(value) for item, value in zip(self.items, actual, strict=False)]
        longest = max(len(self.items), len(actual))
        graded = sum(result.similarity for result in results) / longest if longest else 1.0
        reasons = [f"item {at}: {result.reason}" for at, result in enumerate(results) if not result.passed]
        if len(self.items) != len(actual):
            reasons.append(f"expected {len(self.items)} items, got {len(actual)}")
        return joined(reasons, graded)


@dataclass(frozen=True, kw_only=True, slots=True)
class MappingOf:
    """A mapping whose keys are compared each by its own matcher; ``extra`` says whether it may have more keys."""

    items: Mapping[str, ArgumentMatcher]
    extra: Literal["forbid", "allow"] = "forbid"

    @property
    def name(self) -> str:
        """``subset`` where more keys are allowed, else ``mapping``."""
        return "subset" if self.extra == "allow" else "mapping"

    @property
    def expected(self) -> dict[str, Any]:
        """What each key expects."""
        return {key: matcher.expected for key, matcher in self.items.items()}

    def __call__(self, actual: Any) -> Comparison:
        """Return passed where every key passes; the similarity is the mean over the union of keys."""
        given = _mapping_in(actual)
        if given is None:
            return failed(f"the mapping {show(self.expected)}", actual, 0.0)
        # Like arguments: an ignored key may be missing and leaves the union.
        checked = {key: matcher for key, matcher in self.items.items() if not isinstance(matcher, Ignore)}
        results = {key: matcher(given[key]) for key, matcher in checked.items() if key in given}
        reasons = [f"{key}: {result.reason}" for key, result in results.items() if not result.passed]
        reasons += [f"{key}: expected, but missing" for key in checked if key not in given]
        extra = [key for key in given if key not in self.items] if self.extra == "forbid" else []
        reasons += [f"{key}: not expected, but given" for key in extra]
        union = len(checked) + len(extra)
        graded = sum(result.similarity for result in results.values()) / union if union else 1.0
        return joined(reasons, graded)


@dataclass(frozen=True, kw_only=True, slots=True)
class Called:
    """A function of the application, registered by name; looked up when it is called, so that it pickles."""

    function: str
    expected: Any = None
    threshold: float = 1.0
    """A number from the function passes from here on."""

    @property
    def name(self) -> str:
        """``call``."""
        return "call"

    def __call__(self, actual: Any) -> Comparison:
        """Return what the function says; a function that raises or is not registered fails the comparison."""
        function = _FUNCTIONS.get(self.function)
        if function is None:
            HEALTH.count("gold.matcher_not_registered")
            return failed(self._words(), actual, 0.0, f", but no matcher {self.function!r} is registered here")
        try:
            return self._comparison(function(self.expected, actual), actual)
        except Exception as error:
            # Not ``guard``: the fault is the application's, and the comparison has to come out all the same.
            HEALTH.fault("gold.matcher", error)
            return failed(self._words(), actual, 0.0, f", but the matcher failed with {type(error).__name__}")

    def _comparison(self, said: bool | float | Comparison, actual: Any) -> Comparison:
        if isinstance(said, Comparison):
            graded = _share(said.similarity)
            if said.passed or said.reason is None:
                return Comparison(passed=True, similarity=graded) if said.passed else self._failed(graded, actual)
            return Comparison(passed=False, similarity=graded, reason=str(said.reason))
        graded = _share(said)
        return Comparison(passed=True, similarity=graded) if graded >= self.threshold else self._failed(graded, actual)

    def _failed(self, graded: float, actual: Any) -> Comparison:
        return failed(self._words(), actual, graded)

    def _words(self) -> str:
        return f"what {self.function} takes for {show(self.expected)}"


def register_matcher(name: str, function: MatcherFunction, *, replace: bool = False) -> None:
    """Make ``function(expected, actual)`` usable in gold files as ``{$call: name, value: expected}``.

    Register before the files are loaded, and in every process that scores. The function must be pure; whatever it
    raises fails the comparison and is counted.

    Raises:
        ConfigurationError: the name is no identifier, or is taken by another function and ``replace`` is False.
    """
    if not name.isidentifier():
        raise ConfigurationError(f"matcher name {name!r} is not an identifier; use letters, digits and _")
    if not replace and _FUNCTIONS.get(name, function) is not function:
        raise ConfigurationError(f"matcher {name!r} is registered already; pass replace=True to replace it")
    _FUNCTIONS[name] = function


def registered_matchers() -> tuple[str, ...]:
    """Return the names of all registered matchers, sorted."""
    return tuple(sorted(_FUNCTIONS))


def _share(value: float) -> float:
    """Return ``value`` as a share.

    Raises:
        ValueError: it is not a number in 0..1.
    """
    share = float(value)
    if not 0.0 <= share <= 1.0:
        raise ValueError(share)
    return share


def _is_number(value: Any) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and not _is_nan(value)


def _is_nan(value: int | float) -> bool:
    return isinstance(value, float) and math.isnan(value)


def _number_in(text: str) -> int | float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    if not math.isfinite(number) or "_" in text:
        return None
    # A long integer keeps its last digits.
    return int(text) if text.strip().lstrip("+-").isdecimal() else number


def _mapping_in(actual: Any) -> Mapping[str, Any] | None:
    """Return the mapping, also out of the JSON text of one."""
    if isinstance(actual, Mapping):
        return cast("Mapping[str, Any]", actual)
    if not isinstance(actual, str) or not actual.lstrip().startswith("{"):
        return None
    try:
        decoded = json.loads(actual)
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, Any]", decoded) if isinstance(decoded, dict) else None


def _absent(items: Iterable[Any], among: Sequence[Any]) -> set[str]:
    """Return the items equal to none of ``among``, once each, as text."""
    return {json_text(item) for item in items if not any(values_equal(item, other) for other in among)}
