"""What is written to a gold file reads back as it was."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from agentpath_sdk.errors import ConfigurationError
from agentpath_sdk.gold.describing import describe
from agentpath_sdk.gold.dumping import dump_paths
from agentpath_sdk.gold.embedding import use_embedder
from agentpath_sdk.gold.expression import MAX_NESTING, nesting, states
from agentpath_sdk.gold.files import load_paths, parse_path
from agentpath_sdk.gold.json_schema import gold_schema
from agentpath_sdk.gold.linting import lint
from agentpath_sdk.gold.matchers import (
    Called,
    Contains,
    Exact,
    Fold,
    Fuzzy,
    Glob,
    Ignore,
    ListOf,
    MappingOf,
    Number,
    Regex,
    SameSet,
    TypeOf,
    register_matcher,
)
from agentpath_sdk.gold.matchers import OneOf as AnyMatcher
from agentpath_sdk.gold.model import (
    AnswerCheck,
    AnyOrder,
    ArgumentMatcher,
    CallStep,
    Comparison,
    GoldPath,
    OneOf,
    OptionalStep,
    Provenance,
    Repeat,
    Sequence,
    Step,
)
from agentpath_sdk.gold.notation import MATCHER_WORDS
from agentpath_sdk.gold.query_text import normalise
from agentpath_sdk.gold.result_matchers import AtPath, Documents, InResult
from agentpath_sdk.gold.semantic import Semantic
from agentpath_sdk.gold.yaml_core import Loader, plain_value
from agentpath_sdk.settings import METRICS

SCHEMA = gold_schema()
register_matcher("test_round_trip", lambda expected, actual: expected == actual, replace=True)

# Texts that YAML could take for something else come up often enough only when asked for.
TEXTS = st.text() | st.sampled_from(
    ["{city}", "{{city}}", "in {city}", "{a} {{a}} {{{a}}}",
     "yes", "no", "null", "~", "1e3", "0x1F", "0o7", "1_000", "2024-05-01", "12:30", "<<", "=", "- a", "a: b", "$regex",
     "*x", "&x", "!x", "@x", "%x", "{a}", "[a]", "#", " x ", "\n", "a\n\nb", "\t", "\x85", "\u2028", "\ufeff", "😀",
     ".inf"]
)  # fmt: skip
NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
JSON_PATHS = st.sampled_from(["$.a", "$..b[0]", "$['x y']"])
SHARES = st.floats(min_value=0, max_value=1, exclude_min=True)
TOLERANCES = st.floats(min_value=0, max_value=1e6)
NAMES = st.text(st.characters(categories=["L", "N", "P"]), min_size=1, max_size=20)


def _no_word(mapping: Mapping[str, Any]) -> bool:
    return not any(key.startswith("$") for key in mapping)


def _has_matcher(matchers: Any) -> bool:
    return not all(isinstance(matcher, Exact) for matcher in matchers)


LEAVES: st.SearchStrategy[ArgumentMatcher] = st.one_of(
    st.builds(Exact, expected=JSON),
    st.builds(Ignore),
    st.builds(Number, expected=NUMBERS, abs_tolerance=TOLERANCES, rel_tolerance=TOLERANCES, coerce=st.booleans()),
    st.builds(Fold, expected=TEXTS),
    st.builds(Fuzzy, expected=TEXTS, threshold=SHARES),
    st.builds(Regex, expected=st.sampled_from(["a+", "[A-Z]{3}", "(?i)x|y", "\\d+\\.\\d*"])),
    st.builds(Glob, expected=TEXTS),
    st.builds(
        Contains,
        parts=st.lists(JSON.filter(lambda part: part != ""), min_size=1, max_size=3).map(tuple),
        fold_case=st.booleans(),
    ).filter(lambda matcher: "$" not in repr(matcher)),
    st.builds(SameSet, items=st.lists(JSON, max_size=3).map(tuple)).filter(lambda matcher: "$" not in repr(matcher)),
    st.builds(TypeOf, types=st.lists(st.sampled_from(["text", "integer", "null"]), min_size=1, unique=True).map(tuple)),
    st.builds(Semantic, expected=TEXTS.filter(lambda text: bool(text.strip())), threshold=SHARES),
    st.builds(
        Documents,
        ids=st.lists(st.integers() | st.text(min_size=1), min_size=1, max_size=3).map(tuple),
        least=st.none() | st.just(1),
    ),
    st.builds(Called, function=st.just("test_round_trip"), expected=JSON, threshold=SHARES),
)
MATCHERS: st.SearchStrategy[ArgumentMatcher] = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.builds(AnyMatcher, options=st.lists(inner, min_size=1, max_size=3).map(tuple)),
        st.builds(ListOf, items=st.lists(inner, min_size=1, max_size=3).filter(_has_matcher).map(tuple)),
        st.builds(
            MappingOf,
            items=st.dictionaries(TEXTS, inner, min_size=1, max_size=3)
            .filter(_no_word)
            .filter(lambda items: _has_matcher(items.values())),
        ),
        st.builds(MappingOf, items=st.dictionaries(TEXTS, inner, max_size=3), extra=st.just("allow")),
        st.builds(AtPath, items=st.dictionaries(JSON_PATHS, inner, min_size=1, max_size=2)),
    ),
    max_leaves=5,
)
CALLS = st.builds(
    CallStep,
    tool=NAMES | st.sampled_from(["tool", "arguments", "optional", "any_order", "steps", "no"]),
    arguments=st.none() | st.dictionaries(TEXTS.filter(lambda name: name not in MATCHER_WORDS), MATCHERS, max_size=3),
    extra_arguments=st.sampled_from(["forbid", "allow"]),
    tool_defaults=st.dictionaries(TEXTS, JSON, max_size=2),
    must_succeed=st.booleans(),
    result=st.none() | st.builds(InResult, matcher=MATCHERS),
)
SIMPLE_CALLS = st.builds(CallStep, tool=st.sampled_from(["a", "b", "any_order"]))


def _repeat(step: Step, least: int, more: int | None) -> Repeat:
    return Repeat(step=step, least=least, most=None if more is None else max(least + more, 1))


STEPS: st.SearchStrategy[Step] = st.recursive(
    CALLS | SIMPLE_CALLS,
    lambda inner: st.one_of(
        st.builds(OptionalStep, step=inner),
        st.builds(_repeat, inner, st.integers(0, 3), st.none() | st.integers(0, 3)),
        st.builds(Sequence, steps=st.lists(inner, min_size=1, max_size=3).map(tuple)),
        st.builds(AnyOrder, steps=st.lists(inner, min_size=1, max_size=3).map(tuple), parallel=st.booleans()),
        st.builds(OneOf, branches=st.lists(inner, min_size=1, max_size=3).map(tuple)),
    ),
    max_leaves=5,
).filter(lambda step: nesting(step) <= MAX_NESTING and states(step) <= 1_000)
FILLED = st.text(min_size=1).filter(lambda text: bool(text.strip()))
ANSWERS = st.one_of(
    st.builds(AnswerCheck, expected=FILLED | st.lists(FILLED, min_size=1, max_size=3)),
    st.builds(
        AnswerCheck,
        expected=NUMBERS,
        matcher=st.just("number"),
        abs_tolerance=TOLERANCES,
        rel_tolerance=TOLERANCES,
    ),
    st.builds(AnswerCheck, expected=FILLED, matcher=st.sampled_from(["contains", "exact"])),
    st.builds(AnswerCheck, expected=st.just("a+"), matcher=st.just("regex")),
)
QUERIES = (FILLED | st.sampled_from(["in {city}", "in {{city}}", "{city", "{{{a}}}", '{"a": {"b": 1}}'])).filter(
    lambda query: bool(normalise(query))
)
METRIC_SHARES = st.dictionaries(st.sampled_from(sorted({*METRICS} - {"composite"})), SHARES, min_size=1, max_size=3)
PATHS = st.builds(
    GoldPath,
    id=NAMES,
    description=st.none() | st.text(min_size=1),
    steps=st.lists(STEPS, max_size=3).map(tuple),
    alternatives=st.lists(st.lists(STEPS, max_size=2).map(tuple), max_size=2).map(tuple),
    templates=st.lists(st.sampled_from(["in {city}", "{city} to {a}", "say {{city}} {a} b"]), max_size=2).map(tuple),
    effects=st.dictionaries(NAMES, st.sampled_from(["read", "write"]), max_size=2),
    extras=st.dictionaries(NAMES, st.sampled_from(["free", "charged"]), max_size=2),
    candidates=st.lists(st.text(min_size=1), max_size=3, unique=True).map(tuple),
    version=NAMES,
    agent=st.none() | NAMES,
    queries=st.lists(QUERIES, max_size=3).map(tuple),
    status=st.sampled_from(["draft", "approved", "retired"]),
    provenance=st.builds(
        Provenance,
        kind=st.sampled_from(["manual", "generated", "promoted", "synthetic"]),
        reference=st.none() | st.text(min_size=1),
        author=st.none() | st.text(min_size=1),
        date=st.none() | st.just("2024-05-01"),
    ),
    tags=st.lists(NAMES, max_size=3, unique=True).map(tuple),
    answer=st.none() | ANSWERS,
    weights=st.none() | METRIC_SHARES,
    good_path=st.none() | SHARES,
    thresholds=st.just({}) | METRIC_SHARES,
    min_steps=st.none() | st.integers(min_value=0, max_value=99),
)


@pytest.fixture(autouse=True, scope="module")
def _some_embedder() -> Iterator[None]:
    """The files may hold ``$semantic`` whether or not the extra is installed."""
    use_embedder(lambda texts: [(1.0,)] * len(texts))
    yield
    use_embedder(None)


def _read(text: str, suffix: str = ".yaml") -> list[GoldPath]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, f"gold{suffix}")
        file.write_text(text, encoding="utf-8", newline="")
        return [replace(path, source=None) for path in load_paths(file)]


@settings(max_examples=150, deadline=None)
@given(path=PATHS)
def test_a_written_path_reads_back_equal(path: GoldPath) -> None:
    """Compared by repr too: to Python ``True == 1 == 1.0``."""
    (again,) = _read(dump_paths([path]))
    assert again == path
    assert repr(again) == repr(path)


@settings(max_examples=60, deadline=None)
@given(path=PATHS)
def test_a_written_path_is_what_the_json_schema_describes(path: GoldPath) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    value, wrong = plain_value(yaml.compose(dump_paths([path]), Loader=Loader))
    assert not wrong
    errors = jsonschema.Draft202012Validator(SCHEMA).iter_errors(value)
    assert [error.message for error in errors] == []


@pytest.mark.parametrize(
    "argument",
    [
        "{city}",
        "in {city} and {{city}}",
        "{{city}}",
        ["{city}", 1, "{other}"],
        {"a": "{city}", "b": {"$contains": ["{city}", "x"]}},
        {"$fuzzy": "in {city}", "threshold": 0.5},
        {"$regex": "{city}|{{city}}"},
        {"$glob": "*{{city}}"},
        {"$one_of": [{"$fold": "{city}"}, {"$exact": "{city}"}, {"$semantic": "{city}"}]},
        {"$call": "test_round_trip", "value": {"x": ["{city}"]}},
        {"$json_path": {"$.a": "{city}"}},
    ],
)
def test_slots_are_written_as_they_are_read(argument: Any) -> None:
    path = parse_path(
        {
            "id": "x",
            "queries": ["weather in {city}"],
            "steps": [{"t": {"a": argument}, "result": {"$contains": "{city}"}}],
            "answer": "sun in {city}",
        }
    )
    assert _read(dump_paths([path])) == [path]


@settings(max_examples=25, deadline=None)
@given(paths=st.lists(PATHS, max_size=4, unique_by=lambda path: path.id))
def test_several_written_paths_read_back_equal(paths: list[GoldPath]) -> None:
    assert _read(dump_paths(paths)) == paths


@settings(max_examples=40, deadline=None)
@given(path=PATHS)
def test_any_path_can_be_described_and_looked_over(path: GoldPath) -> None:
    text = describe(path)
    assert text.startswith(f"{path.id} (version {path.version}")
    assert len(text.splitlines()) >= 3
    assert all(finding.path_id == path.id for finding in lint([path]))


def test_the_written_form_is_what_a_person_would_write() -> None:
    path = parse_path(
        {
            "id": "mars-temperature",
            "queries": ["What is the average temperature on Mars?"],
            "steps": [
                {"search": {"query": {"$fuzzy": "average temperature Mars", "threshold": 0.8}}},
                {"calculator": {"expression": "-63 * 1.8 + 32"}, "must_succeed": True},
                "response",
            ],
            "answer": {"$number": -81.4, "abs": 0.5},
        }
    )
    assert dump_paths([path]) == (
        "id: mars-temperature\n"
        "queries: ['What is the average temperature on Mars?']\n"
        "answer: {$number: -81.4, abs: 0.5}\n"
        "steps:\n"
        "- search:\n"
        "    query: {$fuzzy: average temperature Mars, threshold: 0.8}\n"
        "- calculator: {expression: -63 * 1.8 + 32}\n"
        "  must_succeed: true\n"
        "- response\n"
    )


class _Own:
    name = "own"
    expected = 1

    def __call__(self, actual: Any) -> Comparison:
        return Comparison(passed=True, similarity=1.0)


@pytest.mark.parametrize(
    ("matcher", "message"),
    [
        (_Own(), "a matcher of type _Own cannot be written to a gold file"),
        (Exact(expected={1, 2}), "a value that is no JSON value cannot be written"),
        (MappingOf(items={"$in": Ignore()}), "a mapping with matchers and the key '\\$in' cannot be written"),
    ],
)
def test_what_files_have_no_form_for_is_refused(matcher: ArgumentMatcher, message: str) -> None:
    path = GoldPath(id="x", steps=(CallStep(tool="t", arguments={"a": matcher}),))
    with pytest.raises(ConfigurationError, match=message):
        dump_paths([path])
