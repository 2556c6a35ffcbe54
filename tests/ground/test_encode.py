"""Encoding: any object, strict JSON, within the limit, without the object's own code."""

from __future__ import annotations

import dataclasses
import datetime as dt
import decimal
import enum
import json
import threading
import types
import uuid
from collections import OrderedDict, deque, namedtuple
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field, RootModel, SecretStr

from agentpath_sdk._encode import decode, encode

LIMIT = 1_000


class Colour(enum.Enum):
    RED = "red"


class Loud:
    """Runs user code at every turn."""

    def __repr__(self) -> str:
        raise AssertionError("repr was called")

    __str__ = __repr__

    def __iter__(self) -> Iterator[int]:
        raise AssertionError("iterated")

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"attribute {name} was asked for")

    @property
    def __dict__(self) -> Any:  # type: ignore[override]  # hostile on purpose
        raise AssertionError("the instance dict was asked for")


@dataclasses.dataclass
class Inner:
    value: int
    password: str = dataclasses.field(default="hunter2", repr=False)

    @property
    def computed(self) -> int:
        raise AssertionError("a property was read")


@dataclasses.dataclass
class Outer:
    inner: Inner
    others: list[Inner]


@dataclasses.dataclass(slots=True)
class Slotted:
    a: int
    b: str


class Model(BaseModel):
    a: int = 1
    key: SecretStr = SecretStr("pw-444")
    internal: str = Field("not for others", exclude=True)

    def model_dump(self, **_: Any) -> Any:
        raise AssertionError("an overridable method was called")


class Extra(BaseModel, extra="allow"):
    a: int = 1


class Names(RootModel[list[str]]):
    pass


Point = namedtuple("Point", "x y")


def strict(text: str) -> Any:
    def refuse(name: str) -> Any:
        raise AssertionError(f"{name} is not strict JSON")

    return json.loads(text, parse_constant=refuse)


def encoded(value: Any, limit: int = LIMIT) -> Any:
    result = encode(value, limit)
    assert len(result.text) <= limit
    return strict(result.text)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"q": "x", "n": 1, "f": 1.0, "t": True, "z": None}, {"q": "x", "n": 1, "f": 1.0, "t": True, "z": None}),
        (dt.datetime(2020, 1, 2, 3, tzinfo=dt.timezone(dt.timedelta(hours=2))), "2020-01-02T03:00:00+02:00"),
        (dt.date(2020, 1, 2), "2020-01-02"),
        (decimal.Decimal("1.10"), "1.10"),
        (uuid.UUID(int=5), "00000000-0000-0000-0000-000000000005"),
        (PurePosixPath("/a/b"), "/a/b"),
        (b"plain text", "plain text"),
        ({3, 1, 2}, [1, 2, 3]),
        (frozenset({"b", "a"}), ["a", "b"]),
        (Colour.RED, "red"),
        ((1, (2, 3)), [1, [2, 3]]),
        (deque([1, 2]), [1, 2]),
        (OrderedDict(b=1, a=2), {"b": 1, "a": 2}),
        (types.MappingProxyType({"a": 1}), {"a": 1}),
        (Point(1, 2), {"x": 1, "y": 2}),
        ({1: "a", (2, 3): "b", None: "c"}, {"1": "a", "[2,3]": "b", "null": "c"}),
        ({1: "a", "1": "b"}, {"1": "a", "1 (str)": "b"}),
        (float("nan"), "NaN"),
        ([float("inf"), -float("inf")], ["Infinity", "-Infinity"]),
        (10**30, 10**30),
        (2**63, 2**63),
        ("a\ud800b", "a\ufffdb"),
        (Outer(Inner(1), [Inner(2)]), {
            "inner": {"value": 1, "password": "[redacted]"}, "others": [{"value": 2, "password": "[redacted]"}],
        }),
        (Slotted(1, "x"), {"a": 1, "b": "x"}),
        (Model(), {"a": 1, "key": "[redacted]"}),
        (Extra(a=2, b=[3]), {"a": 2, "b": [3]}),  # type: ignore[call-arg]  # the model allows more
        (Names(["a"]), ["a"]),
        (ValueError("bad", 3), {"exception": "ValueError", "args": ["bad", 3]}),
    ],
    ids=lambda v: type(v).__name__,
)  # fmt: skip
def test_values_keep_their_meaning(value: Any, expected: Any) -> None:
    assert encoded(value) == expected


def test_types_of_numbers_survive() -> None:
    assert encode({"i": 1, "f": 1.0, "b": True}, LIMIT).text == '{"i":1,"f":1.0,"b":true}'


def test_what_has_no_json_form_is_marked_with_its_type_and_no_address() -> None:
    def numbers() -> Iterator[int]:
        raise AssertionError("the generator was advanced")
        yield 1

    values = [numbers(), threading.Lock(), object(), Loud(), numbers, Loud, json, lambda: None]
    first = [encode(value, LIMIT).text for value in values]
    second = [encode(v, LIMIT).text for v in [numbers(), threading.Lock(), object(), Loud(), numbers, Loud, json]]
    assert first[: len(second)] == second
    assert first[0] == '"<generator>"'
    assert "lock" in first[1]
    assert not any("0x" in text for text in first)


def test_a_generator_is_not_advanced() -> None:
    numbers = iter([1, 2, 3])
    encode({"n": numbers}, LIMIT)
    assert next(numbers) == 1


def test_no_code_of_the_object_runs() -> None:
    assert encoded([Loud(), {"k": Loud()}, Inner(1)])[0].endswith("Loud>")


def test_what_holds_itself_is_marked() -> None:
    loop: dict[str, Any] = {"a": 1}
    loop["self"] = [loop]
    assert encoded(loop) == {"a": 1, "self": ["<cycle>"]}


def test_equal_parts_that_are_no_cycle_are_written_out() -> None:
    part = {"a": 1}
    assert encoded([part, part]) == [{"a": 1}, {"a": 1}]


def test_very_deep_values_end_in_a_marker() -> None:
    deep: Any = "bottom"
    for _ in range(5_000):
        deep = [deep]
    assert "<too deep>" in encode(deep, 16_384).text


def test_numpy_scalars_and_arrays_are_numbers() -> None:
    numpy = pytest.importorskip("numpy")
    value = {"i": numpy.int64(3), "a": numpy.array([1.0, float("nan")]), "b": numpy.bool_(True)}
    assert encoded(value) == {"i": 3, "a": [1.0, "NaN"], "b": True}


def test_binary_data_is_told_apart_without_its_content() -> None:
    one, two = encoded(b"\xff\x00"), encoded(b"\xff\x01")
    assert one != two
    assert one.startswith("<bytes of 2")


def test_text_is_readable_in_every_script() -> None:
    text = encode({"city": "Санкт-Петербург", "face": "😀"}, LIMIT).text
    assert text == '{"city":"Санкт-Петербург","face":"😀"}'


def test_keys_keep_their_order() -> None:
    assert encode({"b": 1, "a": 2}, LIMIT).text == '{"b":1,"a":2}'


def test_long_text_is_shortened_between_whole_characters_and_small_leaves_stay_whole() -> None:
    result = encode({"id": 42, "city": "Санкт-Петербург", "text": "😀" * 300}, 200)
    value = strict(result.text)
    assert result.truncated
    assert 190 <= len(result.text) <= 200
    assert (value["id"], value["city"]) == (42, "Санкт-Петербург")
    assert set(value["text"]) == {"😀", "…"}


def test_no_combined_character_is_cut_in_two() -> None:
    family = "👨‍👩‍👧"
    text = strict(encode(family * 50, 101).text)
    assert not text.rstrip("…").endswith("\u200d")


def test_many_entries_are_left_out_from_the_end_with_a_note() -> None:
    result = encode({f"k{n}": n for n in range(1_000)}, 200)
    value = strict(result.text)
    assert result.truncated
    assert value["k0"] == 0
    assert value["…"].endswith("more")
    items = strict(encode(list(range(5_000)), 100).text)
    assert items[:3] == [0, 1, 2]
    assert items[-1].endswith("more")


def test_five_million_characters_are_cut() -> None:
    result = encode("x" * 5_000_000, 16_384)
    assert result.truncated
    assert 16_000 < len(result.text) <= 16_384


def test_a_value_that_fits_is_not_flagged() -> None:
    text = "x" * (LIMIT - 2)
    assert encode(text, LIMIT) == (f'"{text}"', False)


def test_it_is_a_snapshot() -> None:
    value = {"a": [1]}
    text = encode(value, LIMIT).text
    value["a"].append(2)
    assert text == '{"a":[1]}'


def test_decode_keeps_long_integers_and_refuses_what_is_not_json() -> None:
    assert decode("123456789012345678901234567890") == 123456789012345678901234567890
    assert decode('{"a":[1,2.0,null]}') == {"a": [1, 2.0, None]}
    for text in ("NaN", "{'a': 1}", '{"a": Infinity, "b": 12345678901234567890}', ""):
        with pytest.raises(ValueError, match=r"."):
            decode(text)


scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.binary()
    | st.decimals().filter(lambda d: not d.is_snan())
    | st.datetimes()
    | st.timedeltas()
    | st.complex_numbers()
    | st.uuids()
    | st.builds(Loud)
    | st.characters(categories=["Cs"])
)
keys = st.text() | st.integers() | st.floats() | st.none() | st.booleans() | st.tuples(st.integers(), st.text())
objects = st.recursive(
    scalars,
    lambda inner: st.lists(inner) | st.dictionaries(keys, inner) | st.tuples(inner, inner) | st.sets(scalars.filter(
        lambda v: not isinstance(v, Loud)
    )),
    max_leaves=40,
)  # fmt: skip


@given(objects, st.integers(16, 400))
def test_total_strict_and_within_the_limit_for_any_object(value: Any, limit: int) -> None:
    result = encode(value, limit)
    assert len(result.text) <= limit
    strict(result.text)
    orjson.loads(orjson.dumps(result.text))
    assert encode(value, limit) == result


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner),
    max_leaves=40,
)


@given(json_values)
def test_json_values_come_back_as_they_were(value: Any) -> None:
    result = encode(value, 1_000_000)
    assert not result.truncated
    assert decode(result.text) == value
