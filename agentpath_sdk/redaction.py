"""Secrets are taken out before anything is stored or sent. Pure, structure-preserving, and failing closed.

A value is a secret by its form (``sk-...``, ``AKIA...``, a JSON Web Token, a private key, credentials in a URL, ...),
by the name it is kept under (``password``, ``Authorization``, ``apiKey``, but not ``author``, ``token_count`` or
``secretion``), or by its type (pydantic's secrets). What remains of it is ``[redacted]``.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Collection
from functools import lru_cache
from typing import Any, Final, TypeAlias

from agentpath_sdk import _secret_forms as forms
from agentpath_sdk._guard import HEALTH
from agentpath_sdk._plain import REDACTED as MARKER
from agentpath_sdk._plain import is_dict, is_list, to_plain
from agentpath_sdk._secret_forms import may_hold_secret

__all__ = [
    "FAILED",
    "MARKER",
    "Rule",
    "add_rule",
    "has_rules",
    "is_secret_name",
    "redact",
    "redact_text",
    "suspicious",
    "without_secrets",
]

FAILED: Final = "[redaction failed]"
"""What is left of a value whose redaction raised."""

Rule: TypeAlias = Callable[[str | None, Any], Any]
"""``rule(name, value)`` returns ``value`` or what to put in its place. It is called for every text, number, list and
mapping, with the name it is kept under (None for free text). A rule that raises makes the whole value FAILED."""

_LARGE: Final = 1 << 20
_rules: tuple[Rule, ...] = ()
_rules_lock: Final = threading.Lock()


def add_rule(rule: Rule) -> Callable[[], None]:
    """Apply ``rule`` to everything recorded from now on; return a function that takes it away again."""
    global _rules
    with _rules_lock:
        _rules = (*_rules, rule)

    def remove() -> None:
        global _rules
        with _rules_lock:
            _rules = tuple(r for r in _rules if r is not rule)

    return remove


def redact(
    value: Any,
    *,
    keep: Collection[str] = (),
    found: list[Any] | None = None,
    known: Collection[str] = (),
) -> Any:
    """Return ``value`` with the same shape and no secrets in it.

    Objects become plain JSON values. ``keep`` are names that are no secrets here; ``known`` are texts to take out
    wherever they occur; values redacted by name are added to ``found``. Never raises: FAILED is returned instead.
    """
    try:
        plain, _ = to_plain(value, _LARGE)
        return _Redactor(frozenset(keep), found if found is not None else [], tuple(known)).value(None, plain)
    except Exception as error:
        HEALTH.fault("redaction", error)
        return FAILED


def redact_text(text: str) -> str:
    """Return ``text`` without secrets; FAILED when a rule raised."""
    if not _rules and not suspicious(text):
        return text
    try:
        return str(_Redactor(frozenset(), [], ()).value(None, text))
    except Exception as error:
        HEALTH.fault("redaction", error)
        return FAILED


def without_secrets(text: str) -> str:
    """Return ``text`` without secrets, the application's rules not asked; never raises."""
    try:
        return forms.clean_text(text, MARKER, is_secret_name) if may_hold_secret(text, is_secret_name) else text
    except Exception as error:
        HEALTH.fault("redaction", error)
        return FAILED


def has_rules() -> bool:
    """Return whether the application has rules of its own."""
    return bool(_rules)


def suspicious(text: str) -> bool:
    """Return False only if ``text`` (plain, or the JSON of a value) surely holds nothing that would be redacted."""
    return bool(_rules) or may_hold_secret(text, is_secret_name)


@lru_cache(maxsize=4_096)
def is_secret_name(name: str) -> bool:
    """Return whether what is kept under ``name`` is a secret, whatever it looks like."""
    return forms.names_secret(name)


class _Redactor:
    """One pass over one value."""

    def __init__(self, keep: frozenset[str], found: list[Any], known: tuple[str, ...]) -> None:
        self._keep = keep
        self._found = found
        self._known = known
        self._rules = _rules

    def value(self, name: str | None, value: Any) -> Any:
        """Return the clean form of a plain JSON value kept under ``name``."""
        for rule in self._rules:
            value = rule(name, value)
        if isinstance(value, str):
            return self._text(value)
        if is_dict(value):
            return self._entries(value)
        if is_list(value):
            return self._items(value)
        return value

    def _entries(self, entries: dict[str, Any]) -> dict[str, Any]:
        clean: dict[str, Any] = {}
        named = _named_pair(entries)
        for key, item in entries.items():
            named_here = key not in self._keep and is_secret_name(key)
            secret = named_here or (named and key.lower() in _VALUE_KEYS)
            name = self._text(key)
            while name in clean:
                name += "'"
            clean[name] = self._by_name(key, item) if secret else self.value(key, item)
        return clean

    def _items(self, items: list[Any]) -> list[Any]:
        if len(items) == 2 and isinstance(items[0], str) and items[0] not in self._keep and is_secret_name(items[0]):
            # A header or a form field as a pair.
            return [items[0], self._by_name(items[0], items[1])]
        return [self.value(None, item) for item in items]

    def _by_name(self, name: str, item: Any) -> Any:
        if item is None or isinstance(item, bool) or item in ("", [], {}):
            return item
        _collect(item, self._found)
        return MARKER

    def _text(self, text: str) -> str:
        for secret in self._known:
            text = text.replace(secret, MARKER)
        if not may_hold_secret(text, is_secret_name):
            return text
        inner = _embedded(text)
        if inner is None:
            return forms.clean_text(text, MARKER, is_secret_name)
        # JSON inside a text, to any depth: names and pairs are found by its structure.
        clean = self.value(None, inner)
        return text if clean == inner else json.dumps(clean, ensure_ascii=False)


def _embedded(text: str) -> Any:
    """Return the list, mapping or quoted text that ``text`` is the JSON of, else None."""
    if text.lstrip()[:1] not in ("{", "[", '"'):
        return None
    try:
        found: Any = json.loads(text, parse_constant=str)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, str) or is_list(found) or is_dict(found) else None


_NAME_KEYS: Final = frozenset({"name", "key", "header", "field", "param"})
_VALUE_KEYS: Final = frozenset({"value", "values", "val"})


def _named_pair(entries: dict[str, Any]) -> bool:
    """Return whether the mapping is a pair of a secret's name and its value, ``{"name": "Cookie", "value": ...}``."""
    if len(entries) > 6 or _VALUE_KEYS.isdisjoint(key.lower() for key in entries):
        return False
    names = (v for k, v in entries.items() if k.lower() in _NAME_KEYS)
    return any(isinstance(name, str) and len(name) < 80 and is_secret_name(name) for name in names)


def _collect(item: Any, found: list[Any]) -> None:
    """Add every text inside a redacted value to ``found``."""
    if isinstance(item, str):
        found.append(item)
    elif is_dict(item):
        for inner in item.values():
            _collect(inner, found)
    elif is_list(item):
        for inner in item:
            _collect(inner, found)
