"""Queries with slots: which fit, what stands in the slots, and what the steps then expect."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentpath_sdk.errors import ConfigurationError, FileFormatError
from agentpath_sdk.gold.binding import bind, bind_to_query, has_slots
from agentpath_sdk.gold.dumping import dump_paths
from agentpath_sdk.gold.files import parse_path
from agentpath_sdk.gold.linting import lint
from agentpath_sdk.gold.model import ArgumentMatcher, CallStep, GoldPath
from agentpath_sdk.gold.registry import GoldPathRegistry
from agentpath_sdk.gold.templates import TemplateIndex, fit


@pytest.mark.parametrize(
    ("template", "query", "values"),
    [
        ("weather in {city}", "Weather in Oslo?", {"city": "Oslo"}),
        ("weather in {city}", "weather  in\tNew York ", {"city": "New York"}),
        ("weather in {city}?", "WEATHER IN Łódź", {"city": "Łódź"}),
        ("weather in {city}", "weather in ?", None),
        ("weather in {city}", "the weather in Oslo", None),
        ("{city} weather", "Oslo weather!", {"city": "Oslo"}),
        ("from {a} to {b}", "from Oslo to Rome to Bari", {"a": "Oslo", "b": "Rome to Bari"}),
        ("{a} and {a}", "x and X", {"a": "x"}),
        ("{a} and {a}", "x and y", None),
        ("order {id}", "Order 17", {"id": "17"}),
        ("{n}km run", "5km run", {"n": "5"}),
        ("say {{hello}} to {name}", "say {hello} to Ann", {"name": "Ann"}),
        ("погода в {city}", "Погода в Осло", {"city": "Осло"}),
        ("STRASSE {x}", "straße 5", {"x": "5"}),
        ("{all}", "anything at all", {"all": "anything at all"}),
        ("{all}", "", None),
    ],
)
def test_a_query_fits_a_template_or_not(template: str, query: str, values: dict[str, str] | None) -> None:
    assert fit(template, query) == values


WORD = st.text("abc", min_size=1, max_size=3)


@given(st.lists(WORD, min_size=1, max_size=4), st.lists(WORD, min_size=4, max_size=4), st.data())
def test_a_filled_template_fits_and_the_index_finds_it(words: list[str], values: list[str], data: Any) -> None:
    """Whatever the values are; they may be others where the words of the template occur in them."""
    slotted = [data.draw(st.booleans()) for _ in words]
    template = " ".join(f"{{s{at}}} {word}" if slotted[at] else word for at, word in enumerate(words))
    query = " ".join(f"{values[at]} {word}" if slotted[at] else word for at, word in enumerate(words))
    if not any(slotted):
        return
    assert fit(template, query) is not None
    index = TemplateIndex(["z {x}", template, "{y} z", "{a} z {b}"])
    assert [one.template for one in index.fits(query)] == [template]


@given(st.lists(st.text("ab ", min_size=1, max_size=6), min_size=1, max_size=4), st.text("ab ", max_size=12))
def test_the_index_finds_what_trying_all_templates_finds(parts: list[str], query: str) -> None:
    templates = [f"{one}{{s}}{other}" for one in parts for other in parts]
    expected = {template for template in templates if fit(template, query) is not None}
    assert {one.template for one in TemplateIndex(templates).fits(query)} == expected


def _path(argument: Any, *queries: str) -> GoldPath:
    return parse_path(
        {"id": "x", "queries": list(queries or ("weather in {city}",)), "steps": [{"t": {"a": argument}}]}
    )


def _filled(argument: Any, query: str) -> ArgumentMatcher:
    path = bind_to_query(_path(argument), query)
    assert path is not None
    (step,) = path.steps
    assert isinstance(step, CallStep)
    assert step.arguments is not None
    return step.arguments["a"]


@pytest.mark.parametrize(
    ("argument", "fits", "others"),
    [
        ("{city}", ["Oslo", " oslo "], ["Rome", None, ["Oslo"]]),
        ("in {city} now", ["in Oslo now", "IN OSLO NOW"], ["in {city} now", "Oslo"]),
        ({"$contains": "{city}"}, ["x oslo y", ["OSLO"]], ["x"]),
        ({"$regex": "{city}, [A-Z]+"}, ["Oslo, NO", "oslo, NO"], ["Rome, IT", "Oslo, no"]),
        ({"$glob": "*{city}.pdf"}, ["a/Oslo.pdf"], ["a/Rome.pdf"]),
        ({"$fuzzy": "weather in {city} please", "threshold": 0.7}, ["oslo weather in please"], ["x"]),
        ({"$fold": "{city}"}, ["OSLO"], ["Rome"]),
        ({"$one_of": ["{city}", "all"]}, ["oslo", "all"], ["All"]),
        ({"$subset": {"place": "{city}"}}, [{"place": "Oslo", "x": 1}], [{"place": "Rome"}]),
        ({"place": ["{city}", 1]}, [{"place": ["Oslo", 1]}], [{"place": ["Rome", 1]}]),
        ({"$exact": "{city}"}, ["{city}"], ["Oslo"]),
        ("{{city}}", ["{city}"], ["Oslo", "{{city}}"]),
        ({"$contains": "{{city}}"}, ["a {city}"], ["Oslo"]),
    ],
)
def test_a_slot_stands_in_any_text_that_is_expected(argument: Any, fits: list[Any], others: list[Any]) -> None:
    matcher = _filled(argument, "weather in Oslo")
    assert [matcher(value).passed for value in fits] == [True] * len(fits)
    assert [matcher(value).passed for value in others] == [False] * len(others)


@pytest.mark.parametrize(("value", "passed"), [(17, True), ("17", True), (17.0, True), (18, False), (True, False)])
def test_a_number_in_the_query_is_a_number_in_the_arguments(value: Any, passed: bool) -> None:
    assert _filled("{city}", "weather in 17")(value).passed is passed


def test_signs_of_patterns_in_a_query_are_no_patterns() -> None:
    assert not _filled({"$regex": "{city}"}, "weather in .*")("Oslo").passed
    assert not _filled({"$glob": "{city}"}, "weather in *")("Oslo").passed
    assert _filled({"$regex": "{city}"}, "weather in {city}")("{city}").passed


def test_results_answers_and_groups_are_filled_too() -> None:
    path = parse_path(
        {
            "id": "x",
            "queries": ["weather in {city}"],
            "steps": [{"optional": {"t": None, "result": {"$json_path": {"$.place": "{city}"}}}}],
            "alternatives": [[{"any_order": [{"u": {"a": "{city}"}}]}]],
            "answer": {"$contains": "sunny in {city}"},
        }
    )
    bound = bind(path, {"city": "Oslo"})
    assert "{city}" not in repr((bound.steps, bound.alternatives, bound.answer))
    assert bound.slots == {"city": "Oslo"}
    assert has_slots(path)
    assert not has_slots(bound)


def test_a_path_that_is_not_filled_matches_nothing_and_says_why() -> None:
    (step,) = _path("{city}").steps
    assert isinstance(step, CallStep)
    assert step.arguments is not None
    comparison = step.arguments["a"]("Oslo")
    assert not comparison.passed
    assert comparison.reason is not None
    assert "the query that fills the slots is not known" in comparison.reason


@pytest.mark.parametrize(
    ("queries", "problem"),
    [
        (["weather in {city}", "weather in Oslo"], "the query gives no value for {city}, which steps[0].t.a uses"),
        (["weather in {city}", "weather {place}"], "the query gives no value for {city}, which steps[0].t.a uses"),
        (["weather in {city}{day}"], "nothing stands between {city} and {day}, so nothing tells them apart"),
        (["{a} {b} {c} {d} {e} {f} {g} {h} {city}"], "expected at most 8 slots, found 9"),
    ],
)
def test_a_mistake_in_a_template_is_told(queries: list[str], problem: str) -> None:
    with pytest.raises(FileFormatError) as caught:
        _path("{city}", *queries)
    assert caught.value.problem == problem


def test_braces_mean_nothing_where_no_query_has_a_slot() -> None:
    (step,) = _path("{city}", "a query").steps
    assert isinstance(step, CallStep)
    assert step.arguments is not None
    assert step.arguments["a"]("{city}").passed


def _registry(*entries: dict[str, Any]) -> GoldPathRegistry:
    return GoldPathRegistry(parse_path({"steps": [{"t": {"a": "{x}"}}], **entry}) for entry in entries)


def test_a_template_is_found_filled_with_confidence_95() -> None:
    found = _registry({"id": "a", "queries": ["weather in {x}"]}).find(query="Weather in Oslo?")
    assert (found.how, found.confidence) == ("template", 0.95)
    assert found.path is not None
    assert found.path.slots == {"x": "Oslo"}
    assert [candidate.match for candidate in found.candidates] == ["template"]


def test_an_equal_text_wins_over_a_template_and_a_template_over_a_similar_text() -> None:
    registry = _registry(
        {"id": "any", "queries": ["weather in {x}"]},
        {"id": "oslo", "queries": ["weather in Oslo"], "steps": []},
        {"id": "near", "queries": ["weather in Olso"], "steps": []},
    )
    assert [registry.find(query=query).how for query in ("weather in Oslo", "weather in Osl")] == ["text", "template"]


def test_of_two_templates_the_more_specific_one_is_meant() -> None:
    registry = _registry(
        {"id": "any", "queries": ["weather in {x}"]}, {"id": "tomorrow", "queries": ["weather in {x} tomorrow"]}
    )
    found = registry.find(query="weather in Oslo tomorrow")
    assert [path.id for path in found.paths] == ["tomorrow"]
    assert [candidate.gold.id for candidate in found.candidates] == ["tomorrow", "any"]


def test_two_templates_that_fit_equally_well_are_answered_with_none() -> None:
    registry = _registry({"id": "a", "queries": ["{x} to Rome"]}, {"id": "b", "queries": ["Oslo to {x}"]})
    found = registry.find(query="Oslo to Rome")
    assert found.paths == ()
    assert found.reason == "the query fits '{x} to Rome' and 'Oslo to {x}' equally well"
    assert registry.find(query="Bari to Rome").paths[0].id == "a"


def test_the_same_template_under_other_names_gives_alternatives() -> None:
    registry = _registry(
        {"id": "a", "queries": ["weather in {x}"]},
        {"id": "b", "queries": ["Weather in  {city}"], "steps": [{"u": {"a": "{city}"}}]},
    )
    found = registry.find(query="weather in Oslo")
    assert [(path.id, dict(path.slots)) for path in found.paths] == [("a", {"x": "Oslo"}), ("b", {"city": "Oslo"})]


def test_a_template_is_for_its_agent_only() -> None:
    registry = _registry({"id": "a", "agent": "weather-*", "queries": ["weather in {x}"]})
    assert registry.find(query="weather in Oslo", agent="weather-eu").how == "template"
    assert registry.find(query="weather in Oslo", agent="other").path is None


def test_an_id_leads_to_a_filled_path_or_to_none() -> None:
    registry = _registry({"id": "a", "queries": ["weather in {x}"]})
    found = registry.find(query="weather in Oslo", gold_path_id="a")
    assert found.how == "id"
    assert found.path is not None
    assert found.path.slots == {"x": "Oslo"}
    none = registry.find(query="what now", gold_path_id="a")
    assert none.reason == "gold path 'a' has slots, and the run's query fits none of its templates"


def test_an_id_needs_no_fitting_query_where_no_slot_is_used() -> None:
    registry = GoldPathRegistry(parse_path({"id": "a", "queries": ["weather in {x}"], "steps": ["t"]}))
    assert registry.find(gold_path_id="a").how == "id"


def test_a_query_of_megabytes_fits_no_template_and_costs_nothing() -> None:
    registry = _registry({"id": "a", "queries": ["{x} to {y}"], "steps": []})
    assert registry.find(query="a to b" * 500_000).path is None


def test_a_filled_path_is_not_written_to_a_file() -> None:
    with pytest.raises(ConfigurationError, match="is filled for one run"):
        dump_paths([bind(_path("{city}"), {"city": "Oslo"})])


def _lint(*entries: dict[str, Any]) -> list[tuple[str, str, str]]:
    return [(one.kind, one.path_id, one.message) for one in lint(parse_path(entry) for entry in entries)]


def test_clashing_templates_are_pointed_out() -> None:
    found = _lint(
        {"id": "a", "queries": ["{x} to Rome"], "steps": []},
        {"id": "b", "queries": ["Oslo to {x}"], "steps": []},
        {"id": "c", "queries": ["{x} or Berlin"], "agent": "other", "steps": []},
    )
    message = "'{x} to Rome' and 'Oslo to {x}' of 'b' fit 'oslo to Rome' equally well: it is scored by neither"
    assert found == [("clashing_templates", "a", message)]


def test_templates_of_different_weight_or_agent_do_not_clash() -> None:
    assert not _lint(
        {"id": "a", "queries": ["weather in {x}"], "steps": []},
        {"id": "b", "queries": ["weather in {x} today"], "steps": []},
    )
    assert not _lint(
        {"id": "a", "agent": "one", "queries": ["{x} to Rome"], "steps": []},
        {"id": "b", "agent": "two", "queries": ["Oslo to {x}"], "steps": []},
    )


def test_one_template_in_two_paths_makes_alternatives_and_a_slot_nobody_fills_is_pointed_out() -> None:
    assert _lint(
        {"id": "a", "queries": ["weather in {x}"], "steps": [{"t": {"a": "{y}"}}]},
        {"id": "b", "queries": ["weather in {y}"], "steps": ["u"]},
    ) == [
        ("unknown_slot", "a", "step 1, t.a: {y} is no slot of the queries, but a text like any"),
        ("alternatives", "b", "is for the same query as 'a': the better-scoring one counts for a run"),
    ]
