"""Any Python object as a plain JSON value (None, bool, int, float, str, list, dict of str), by its type alone.

No method that a user could have written is called: no ``repr``, no ``str`` of unknown objects, no properties, no
iteration of anything but the built-in containers. What an object stores is read from its instance dict or slots.
"""

from __future__ import annotations

import datetime as dt
import decimal
import enum
import fractions
import itertools
import math
import pathlib
import re
import sys
import types
import uuid
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, TypeGuard, cast

import orjson

__all__ = [
    "REDACTED",
    "TOO_LARGE",
    "class_name",
    "is_dict",
    "is_list",
    "is_sequence",
    "is_text",
    "kind_of",
    "to_plain",
    "whole_text",
]

TOO_LARGE: Final = "<too large>"
REDACTED: Final = "[redacted]"
_CYCLE: Final = "<cycle>"
_TOO_DEEP: Final = "<too deep>"
_MAX_DEPTH: Final = 100
_MAX_DIGITS: Final = 1_000
_SECRET_NAMES: Final = frozenset({"SecretStr", "SecretBytes", "Secret"})
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_MISSING: Final = object()
# As ``type`` itself has them: a metaclass may have its own.
_module_of: Final[Callable[[type], Any]] = vars(type)["__module__"].__get__
_name_of: Final[Callable[[type], Any]] = vars(type)["__qualname__"].__get__


kind_of: Final[Callable[[Any], type[Any]]] = cast(Any, type)
"""``type`` as a type checker can follow it: the true class also of proxies."""


def is_dict(value: Any) -> TypeGuard[dict[str, Any]]:
    """Return whether ``value`` is a dict; by its true class, as ``isinstance`` would ask the object itself."""
    return issubclass(type(value), dict)


def is_list(value: Any) -> TypeGuard[list[Any]]:
    """Return whether ``value`` is a list."""
    return issubclass(type(value), list)


def is_sequence(value: Any) -> TypeGuard[list[Any] | tuple[Any, ...]]:
    """Return whether ``value`` is a list or a tuple."""
    return issubclass(type(value), (list, tuple))


def is_text(value: Any) -> TypeGuard[str]:
    """Return whether ``value`` is a text."""
    return issubclass(type(value), str)


def whole_text(text: str) -> str:
    """Return ``text`` as a plain ``str`` that UTF-8 can hold: lone surrogates replaced."""
    text = str.__str__(text)
    try:
        text.encode()
    except UnicodeEncodeError:
        return _SURROGATE.sub("\ufffd", text)
    return text


def to_plain(value: Any, room: int) -> tuple[Any, bool]:
    """Return ``value`` as a plain JSON value, and whether something was left out because it has far more than
    ``room`` characters. Total: raises for no value."""
    walk = _Walk(room)
    return walk.plain(value), walk.cut


class _Walk:
    """One conversion: what is open above (cycles), and how much room is left."""

    def __init__(self, room: int) -> None:
        self.room = room
        self.left = room
        self.cut = False
        self._open: set[int] = set()

    def plain(self, value: Any) -> Any:
        """Return the plain form of ``value``; whatever goes wrong gives a marker."""
        self.left -= 1
        kind = kind_of(value)
        convert = _EXACT.get(kind)
        try:
            if convert is not None:
                return convert(self, value)
            return self._by_ancestry(value)
        except Exception:
            return marker(value)

    def text(self, value: str) -> str:
        """Return a text without lone surrogates, cut where no reader would see the rest."""
        if len(value) > self.room:
            value = value[: self.room]
            self.cut = True
        self.left -= len(value)
        return whole_text(value)

    def items(self, value: Any, items: Iterable[Any]) -> Any:
        """Return a list of the plain items, a marker where ``value`` is inside itself."""
        return self._inside(value, lambda: [self.plain(item) for item in self._while_room(items)])

    def entries(self, value: Any, entries: Iterable[tuple[Any, Any]]) -> Any:
        """Return a dict of the plain entries, a marker where ``value`` is inside itself."""
        return self._inside(value, lambda: self._dict(entries))

    def _dict(self, entries: Iterable[tuple[Any, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, item in self._while_room(entries):
            name = self.key(key)
            while name in found:
                # 1 and "1" are two keys in Python and one in JSON.
                name = f"{name} ({type(key).__name__})"
            found[name] = self.plain(item)
        return found

    def key(self, key: Any) -> str:
        """Return the name of a mapping key: text as it is, anything else as its JSON."""
        if type(key) is str:
            return self.text(key)
        plain = self.plain(key)
        return plain if isinstance(plain, str) else orjson.dumps(plain).decode()

    def _inside(self, value: Any, convert: Callable[[], Any]) -> Any:
        if id(value) in self._open:
            return _CYCLE
        if len(self._open) >= _MAX_DEPTH:
            return _TOO_DEEP
        self._open.add(id(value))
        try:
            return convert()
        finally:
            self._open.discard(id(value))

    def _while_room(self, items: Iterable[Any]) -> Iterator[Any]:
        for item in items:
            if self.left <= 0:
                self.cut = True
                return
            yield item

    def _by_ancestry(self, value: Any) -> Any:
        kind = kind_of(value)
        ancestry = kind.__mro__
        if issubclass(kind, enum.Enum):
            return self.plain(object.__getattribute__(value, "_value_"))
        if _is_secret(ancestry):
            return REDACTED
        names: Any = _static(kind, "_fields")
        if issubclass(kind, tuple) and is_sequence(names):
            return self.entries(value, zip(names, _iterate_tuple(value), strict=False))
        for base in ancestry:
            convert = _EXACT.get(base)
            if convert is not None:
                return convert(self, value)
        return self._by_shape(value)

    def _by_shape(self, value: Any) -> Any:
        kind = kind_of(value)
        if "__pydantic_fields__" in kind.__dict__ or "__pydantic_core_schema__" in kind.__dict__:
            return self._pydantic(value)
        fields = _static(kind, "__dataclass_fields__")
        if is_dict(fields):
            shown = [(f.name, f.repr) for f in fields.values() if _is_field(f)]
            return self._fields(value, shown)
        attributes = _static(kind, "__attrs_attrs__")
        if is_sequence(attributes):
            return self._fields(value, [(a.name, a.repr is not False) for a in attributes])
        if kind.__module__.partition(".")[0] == "numpy":
            return self._numpy(value)
        if isinstance(wrapped := _static(kind, "__wrapped__", _MISSING), property) or wrapped is not _MISSING:
            return self._proxied(value)
        return marker(value)

    def _fields(self, value: Any, names: list[tuple[str, bool]]) -> Any:
        """Return named fields as stored; one declared ``repr=False`` was meant not to be shown."""
        return self.entries(value, ((n, _stored(value, n) if shown else _HIDDEN) for n, shown in names))

    def _pydantic(self, value: Any) -> Any:
        declared = cast("dict[str, Any]", _static(kind_of(value), "__pydantic_fields__", {}))
        if list(declared) == ["root"]:
            return self.plain(_stored(value, "root"))
        names = [(n, _shown(f)) for n, f in declared.items() if getattr(f, "exclude", None) is not True]
        fields = [(n, _stored(value, n) if shown else _HIDDEN) for n, shown in names]
        extra = _slot(value, "__pydantic_extra__")
        if is_dict(extra):
            fields.extend(list(_dict_items(extra)))
        return self.entries(value, fields)

    def _numpy(self, value: Any) -> Any:
        numpy: Any = sys.modules.get("numpy")
        kind = kind_of(value)
        if numpy is None:
            return marker(value)
        if issubclass(kind, numpy.generic):
            return self.plain(numpy.generic.item(value))
        if kind is numpy.ndarray:
            if value.size > self.room:
                self.cut = True
                value = value.reshape(-1)[: self.room]
            return self.plain(value.tolist())
        return marker(value)

    def _proxied(self, value: Any) -> Any:
        wrapt: Any = sys.modules.get("wrapt")
        kind = kind_of(value)
        if wrapt is not None and issubclass(kind, wrapt.ObjectProxy):
            return self._inside(value, lambda: self.plain(value.__wrapped__))
        return marker(value)


class _Hidden:
    """Stands for a value that its class says not to show."""


_HIDDEN: Final = _Hidden()


def marker(value: Any) -> str:
    """Return the stand-in for what has no JSON form: its type's name, never an address or content."""
    kind = kind_of(value)
    if kind is types.FunctionType or kind is types.BuiltinFunctionType:
        return f"<function {value.__qualname__}>"
    if issubclass(kind, type):
        return f"<class {_name_of(value)}>"
    return f"<{class_name(kind)}>"


def class_name(kind: type) -> str:
    """Return a class's name, with its module unless built in; what a metaclass says of them is not asked."""
    module, name = _module_of(kind), _name_of(kind)
    return f"{module}.{name}" if type(module) is str and module != "builtins" else str(name)


def _integer(walk: _Walk, value: int) -> Any:
    exact = int.__index__(value)
    # Writing very long integers takes quadratic time, and Python refuses at 4,300 digits.
    return exact if exact.bit_length() < _MAX_DIGITS * 3 else f"<int of {exact.bit_length()} bits>"


def _float(walk: _Walk, value: float) -> Any:
    exact = float.__float__(value)
    if math.isfinite(exact):
        return exact
    return "NaN" if math.isnan(exact) else "Infinity" if exact > 0 else "-Infinity"


def _bytes(walk: _Walk, value: bytes | bytearray) -> Any:
    """Return bytes that are text as text, so that redaction sees it; others without their content."""
    data = bytes(memoryview(value)[: walk.room * 4])
    if b"\0" not in data and len(value) == len(data):
        try:
            return walk.text(data.decode())
        except UnicodeDecodeError:
            pass
    return f"<{type(value).__name__} of {len(value)} crc32 {zlib.crc32(memoryview(value)[: 1 << 20]):08x}>"


def _memory(walk: _Walk, value: memoryview) -> Any:
    return _bytes(walk, value.tobytes()) if value.nbytes <= walk.room * 4 else f"<memoryview of {value.nbytes}>"


def _unordered(walk: _Walk, value: Any) -> Any:
    """Return a set as a list in the order of its items' JSON."""
    iterate = _iterate_set if isinstance(value, set) else _iterate_frozenset
    items = walk.items(value, list(itertools.islice(iterate(value), walk.room)))
    return sorted(items, key=_sort_key) if is_list(items) else items


def _sort_key(plain: Any) -> tuple[str, Any]:
    if isinstance(plain, int | float) and not isinstance(plain, bool):
        return "", plain
    try:
        return type(plain).__name__, orjson.dumps(plain, option=orjson.OPT_SORT_KEYS).decode()
    except (TypeError, ValueError):
        return type(plain).__name__, ""


def _exception(walk: _Walk, value: BaseException) -> Any:
    arguments = BaseException.__dict__["args"].__get__(value)
    return {"exception": _name_of(type(value)), "args": walk.plain(arguments)}


# The built-in methods themselves: a subclass may have its own.
_dict_items: Final[Callable[[Any], Iterable[tuple[Any, Any]]]] = vars(dict)["items"]
_iterate_list: Final[Callable[[Any], Iterator[Any]]] = vars(list)["__iter__"]
_iterate_tuple: Final[Callable[[Any], Iterator[Any]]] = vars(tuple)["__iter__"]
_iterate_deque: Final[Callable[[Any], Iterator[Any]]] = vars(deque)["__iter__"]
_iterate_set: Final[Callable[[Any], Iterator[Any]]] = vars(set)["__iter__"]
_iterate_frozenset: Final[Callable[[Any], Iterator[Any]]] = vars(frozenset)["__iter__"]

_EXACT: Final[dict[type, Callable[[_Walk, Any], Any]]] = {
    types.NoneType: lambda w, v: None,
    bool: lambda w, v: v,
    int: _integer,
    float: _float,
    str: lambda w, v: w.text(str.__str__(v)),
    dict: lambda w, v: w.entries(v, list(itertools.islice(_dict_items(v), w.room))),
    types.MappingProxyType: lambda w, v: w.entries(v, list(v.items())),
    list: lambda w, v: w.items(v, _iterate_list(v)),
    tuple: lambda w, v: w.items(v, _iterate_tuple(v)),
    deque: lambda w, v: w.items(v, list(itertools.islice(_iterate_deque(v), w.room))),
    set: _unordered,
    frozenset: _unordered,
    range: lambda w, v: w.items(v, v),
    bytes: _bytes,
    bytearray: _bytes,
    memoryview: _memory,
    complex: lambda w, v: complex.__str__(v),
    decimal.Decimal: lambda w, v: decimal.Decimal.__str__(v),
    fractions.Fraction: lambda w, v: fractions.Fraction.__str__(v),
    dt.datetime: lambda w, v: dt.datetime.isoformat(v),
    dt.date: lambda w, v: dt.date.isoformat(v),
    dt.time: lambda w, v: dt.time.isoformat(v),
    dt.timedelta: lambda w, v: dt.timedelta.__str__(v),
    uuid.UUID: lambda w, v: uuid.UUID.__str__(v),
    pathlib.PurePath: lambda w, v: pathlib.PurePath.__str__(v),
    re.Pattern: lambda w, v: w.plain(v.pattern),
    BaseException: _exception,
    _Hidden: lambda w, v: REDACTED,
}


def _is_secret(ancestry: tuple[type, ...]) -> bool:
    return any(k.__name__ in _SECRET_NAMES and k.__module__.partition(".")[0] == "pydantic" for k in ancestry)


def _shown(field: Any) -> bool:
    return getattr(field, "repr", True) is not False


def _is_field(field: Any) -> bool:
    """Return whether a dataclass field is stored on the instance (no ClassVar, no InitVar)."""
    return getattr(getattr(field, "_field_type", None), "name", "_FIELD") == "_FIELD"


def _static(kind: type, name: str, default: Any = None) -> Any:
    """Return a class attribute from the class dicts, without descriptors or a metaclass's ``__getattr__``."""
    for base in kind.__mro__:
        found = base.__dict__.get(name, _MISSING)
        if found is not _MISSING:
            return found
    return default


def _stored(value: Any, name: str) -> Any:
    """Return an instance attribute as stored in its dict or slot, never through a property."""
    try:
        stored = object.__getattribute__(value, "__dict__")
    except AttributeError:
        stored = None
    if kind_of(stored) is dict and is_dict(stored) and name in stored:
        return stored[name]
    return _slot(value, name)


def _slot(value: Any, name: str) -> Any:
    kind = kind_of(value)
    member = _static(kind, name)
    if isinstance(member, types.MemberDescriptorType):
        try:
            return member.__get__(value)
        except AttributeError:
            return None
    return None
