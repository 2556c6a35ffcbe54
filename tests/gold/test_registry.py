"""Which gold path a run belongs to, and when the right answer is none."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz import fuzz

from agentpath_sdk.errors import ConfigurationError, FileFormatError
from agentpath_sdk.gold.fuzzy_index import FuzzyIndex
from agentpath_sdk.gold.model import CallStep, GoldPath
from agentpath_sdk.gold.query_text import normalise
from agentpath_sdk.gold.registry import GoldPathRegistry, LookUp
from agentpath_sdk.trajectories.model import Trajectory


def _path(name: str, *queries: str, **fields: Any) -> GoldPath:
    return GoldPath(id=name, queries=queries, steps=(CallStep(tool="search"),), **fields)


def _ids(found: LookUp) -> list[str]:
    return [path.id for path in found.paths]


MARS = _path("mars", "What is the average temperature on Mars?")


def test_a_run_is_found_by_its_query_text() -> None:
    found = GoldPathRegistry(MARS).look_up(Trajectory(query="What is the average temperature on Mars?"))
    assert (found.path, found.how, found.confidence, found.reason) == (MARS, "text", 1.0, None)
    assert [(one.gold, one.match, one.confidence) for one in found.candidates] == [(MARS, "text", 1.0)]


@pytest.mark.parametrize(
    "query",
    [
        "what is the average temperature on mars",
        "  What is the\n average  temperature on Mars ?!",
        "What is the average temperature on Mars",
        "WHAT IS THE AVERAGE TEMPERATURE ON MARS…",
    ],
)
def test_case_blanks_width_and_trailing_punctuation_do_not_make_another_query(query: str) -> None:
    assert GoldPathRegistry(MARS).find(query=query).how == "text"


@given(st.text())
def test_normalising_twice_changes_nothing_and_case_does_not_count(text: str) -> None:
    assert normalise(normalise(text)) == normalise(text)
    assert normalise(text.upper().lower()) == normalise(text.lower().upper().lower())


def test_the_id_asked_for_wins_over_the_query() -> None:
    registry = GoldPathRegistry(MARS, _path("other", "something else"))
    found = registry.look_up(Trajectory(query=MARS.queries[0], gold_path_id="other"))
    assert (_ids(found), found.how, found.confidence) == (["other"], "id", 1.0)


def test_an_unknown_id_is_an_answer_of_none_and_no_reason_to_guess() -> None:
    found = GoldPathRegistry(MARS).look_up(Trajectory(query=MARS.queries[0], gold_path_id="mras"))
    assert (found.path, found.how, found.confidence) == (None, None, 0.0)
    assert found.reason == "no gold path has the id 'mras' that the application asked for"


def test_an_id_of_another_agents_path_is_an_answer_of_none() -> None:
    """An id in baggage reaches nested agents, too, whose runs it does not mean."""
    registry = GoldPathRegistry(_path("mars", agent="planets"))
    found = registry.find(agent="calculator", gold_path_id="mars")
    assert found.path is None
    assert found.reason == "gold path 'mars' is for agent 'planets', the run is of 'calculator'"
    assert registry.find(agent="planets", gold_path_id="mars").how == "id"


@pytest.mark.parametrize("status", ["draft", "retired"])
def test_drafts_and_retired_paths_are_not_used_unless_asked_for(status: Any) -> None:
    path = _path("mars", "temperature on mars", status=status)
    registry = GoldPathRegistry(path)
    assert registry.paths == (path,)
    assert registry.find(query="temperature on mars").path is None
    assert registry.find(query="temperature on marz").path is None
    assert registry.find(agent="any").path is None
    assert registry.find(gold_path_id="mars").reason == f"gold path 'mars' is {status}; only approved ones are used"
    assert GoldPathRegistry(path, statuses=("approved", status)).find(query="temperature on mars").path == path


@pytest.mark.parametrize(
    ("registered", "query"),
    [
        ("What is the average temperature on Mars?", "What is the averge temperature on Mars?"),
        ("What is the average temperature on Mars?", "On Mars what is the average temperature?"),
        ("Какая средняя температура на Марсе?", "Какая средняя температура на Марсе сейчас?"),
        ("Cancel the order 17 of yesterday evening", "Cancel order 17 of yesterday evening"),
    ],
)
def test_a_similar_query_is_found_with_its_similarity_as_confidence(registered: str, query: str) -> None:
    registry = GoldPathRegistry(_path("right", registered), _path("far", "Book a table for the evening"))
    found = registry.find(query=query)
    assert _ids(found) == ["right"]
    assert found.how == "fuzzy"
    expected = fuzz.token_sort_ratio(normalise(registered), normalise(query)) / 100
    assert found.confidence == pytest.approx(expected)
    assert found.confidence >= 0.9


@pytest.mark.parametrize(
    ("registered", "query"),
    [
        ("Flights to Oslo on 2024-05-01", "Flights to Oslo on 2024-05-02"),
        ("Cancel order A17 of yesterday", "Cancel order A18 of yesterday"),
        ("Convert 5 degrees to Fahrenheit", "Convert 50 degrees to Fahrenheit"),
        ("Convert 5 degrees to Fahrenheit", "Convert degrees to Fahrenheit"),
        ("From gate 3 to gate 5 please", "From gate 5 to gate 3 please"),
        ('Who wrote the novel called "Dune"?', 'Who wrote the novel called "Dawn"?'),
        ("Summarise https://a.test/x for me please", "Summarise https://a.test/y for me please"),
    ],
)
def test_another_number_date_url_or_quoted_part_is_another_query_however_similar(registered: str, query: str) -> None:
    assert fuzz.token_sort_ratio(normalise(registered), normalise(query)) > 75
    found = GoldPathRegistry(_path("x", registered)).find(query=query)
    assert found.path is None
    assert found.reason == "no registered query is like the run's, with the same numbers and quoted parts"


def test_a_query_that_is_not_similar_enough_is_none_with_the_nearest_named() -> None:
    found = GoldPathRegistry(MARS).find(query="What is the average temperature on the moon?")
    assert found.path is None
    assert [one.gold.id for one in found.candidates] == ["mars"]
    similarity = found.candidates[0].confidence
    assert 0.85 <= similarity < 0.9
    assert found.reason == f"the most similar query is {similarity:.2f} like the run's; 0.90 is needed"


def test_two_paths_equally_near_are_none() -> None:
    registry = GoldPathRegistry(
        _path("in", "Which trains leave from Basel to Zurich"), _path("out", "Which trains leave from Basel to Zurych")
    )
    found = registry.find(query="Which trains leave from Basel to Zurech")
    assert found.path is None
    assert {one.gold.id for one in found.candidates} == {"in", "out"}
    assert found.reason is not None
    assert found.reason.startswith("two gold paths are about equally near (0.9")


def test_near_queries_of_one_path_are_no_rivals() -> None:
    path = _path("x", "Which trains leave from Basel to Zurich", "Which trains leave from Basel to Zurych")
    found = GoldPathRegistry(path).find(query="Which trains leave from Basel to Zurech")
    assert (_ids(found), found.how) == (["x"], "fuzzy")
    assert len(found.candidates) == 1


def test_a_rival_for_another_agent_does_not_count() -> None:
    registry = GoldPathRegistry(
        _path("mine", "Which trains leave from Basel to Zurich", agent="travel"),
        _path("theirs", "Which trains leave from Basel to Zurych", agent="other"),
    )
    assert _ids(registry.find(query="Which trains leave from Basel to Zurech", agent="travel")) == ["mine"]


def test_paths_with_the_same_query_are_alternatives_in_their_order() -> None:
    registry = GoldPathRegistry(_path("a", "temperature on mars"), _path("b", "Temperature on Mars?"))
    exact = registry.find(query="temperature on mars")
    assert (_ids(exact), exact.how) == (["a", "b"], "text")
    similar = registry.find(query="temperature onn mars")
    assert (_ids(similar), similar.how) == (["a", "b"], "fuzzy")


@pytest.mark.parametrize(
    ("agent", "expected"),
    [
        ("travel", ["named", "glob", "any"]),
        ("travel-eu", ["glob", "any"]),
        ("other", ["any"]),
        (None, ["any"]),
    ],
)
def test_the_agent_restricts_and_the_more_particular_comes_first(agent: str | None, expected: list[str]) -> None:
    paths = (_path("any", "q"), _path("glob", "q", agent="travel*"), _path("named", "q", agent="travel"))
    assert _ids(GoldPathRegistry(paths).find(query="q", agent=agent)) == expected


def test_a_path_without_queries_applies_to_every_run_of_its_agent_that_no_query_fits() -> None:
    registry = GoldPathRegistry(_path("mars", "temperature on mars", agent="a"), _path("general", agent="a"))
    assert _ids(registry.find(query="temperature on mars", agent="a")) == ["mars"]
    found = registry.find(query="something else", agent="a")
    assert (_ids(found), found.how, found.confidence) == (["general"], "agent", 1.0)
    assert _ids(registry.find(agent="a")) == ["general"]
    assert registry.find(query="something else", agent="b").path is None


def test_a_path_without_queries_and_agent_applies_to_everything_else() -> None:
    registry = GoldPathRegistry(_path("all"), _path("glob", agent="a*"))
    assert _ids(registry.find(query="x", agent="abc")) == ["glob", "all"]
    assert _ids(registry.look_up(Trajectory())) == ["all"]


@pytest.mark.parametrize("query", [None, "", "   ", "???"])
def test_a_run_without_a_query_is_none_with_a_reason(query: str | None) -> None:
    found = GoldPathRegistry(MARS).find(query=query)
    assert (found.path, found.reason) == (None, "the run has no query")


def test_reasons_never_hold_the_query() -> None:
    registry = GoldPathRegistry(MARS, _path("x", "a secret-tokem 12"))
    for query in ("a secret-token 12", "a secret-token 13", "zzz secret-token", "secret-token " * 1_000):
        reason = registry.find(query=query).reason
        assert reason is None or "secret" not in reason


def test_an_empty_registry_answers_none() -> None:
    assert GoldPathRegistry().find(query="x", agent="a").path is None
    assert len(GoldPathRegistry()) == 0


def test_an_id_twice_is_an_error_that_names_both_places() -> None:
    with pytest.raises(ConfigurationError, match=r"'mars' is there twice \(in code and b\.yaml\); give each its own"):
        GoldPathRegistry(MARS, _path("mars", source="b.yaml"))


def test_files_folders_and_paths_may_be_mixed(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "a.yaml").write_text("steps: []\nqueries: [qa]", encoding="utf-8")
    (tmp_path / "b.json").write_text('{"steps": [], "query": "qb"}', encoding="utf-8")
    registry = GoldPathRegistry(str(tmp_path / "folder"), tmp_path / "b.json", MARS, [_path("c", "qc")])
    assert sorted(path.id for path in registry.paths) == ["a", "b", "c", "mars"]
    assert _ids(registry.find(query="QA!")) == ["a"]


def test_a_bad_file_is_an_error_at_set_up(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("stps: []", encoding="utf-8")
    with pytest.raises(FileFormatError, match=r"a\.yaml: line 1: key 'steps' is missing"):
        GoldPathRegistry(tmp_path)


def test_paths_and_answers_pickle() -> None:
    found = GoldPathRegistry(MARS).find(query=MARS.queries[0])
    assert pickle.loads(pickle.dumps(found)) == found


def test_many_threads_get_the_same_answers() -> None:
    registry = GoldPathRegistry(_path(f"p{n}", f"what is the distance to planet number {n}") for n in range(200))
    queries = [f"what is the distance to the planet number {n}" for n in range(200)]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda query: registry.find(query=query), queries * 3))
    assert [_ids(one) for one in found] == [[f"p{n}"] for n in range(200)] * 3


WORD = st.sampled_from(["mars", "venus", "temperature", "average", "on", "the", "of", "17", "18", "x", "y"])
WORDS = st.lists(WORD, max_size=6).map(" ".join)


@given(texts=st.lists(WORDS, max_size=12, unique=True), query=WORDS, least=st.floats(min_value=0.5, max_value=1.0))
def test_the_index_finds_what_comparing_with_every_text_finds(texts: list[str], query: str, least: float) -> None:
    """Buckets and lengths leave out nothing: the same as token_sort_ratio over all texts with the same numbers."""
    found = dict(FuzzyIndex(texts).nearest(query, least))

    def digits(text: str) -> list[str]:
        return [word for word in text.split() if word.isdigit()]

    ratios = {text: fuzz.token_sort_ratio(text, query) / 100 for text in texts if digits(text) == digits(query)}
    clearly = {text: ratio for text, ratio in ratios.items() if ratio > least + 1e-9}
    assert clearly.keys() <= found.keys()
    assert all(found[text] == pytest.approx(ratios[text]) for text in found)
    assert all(ratio >= least - 1e-9 for ratio in found.values())
