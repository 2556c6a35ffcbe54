"""Which recorded runs become gold paths, and what the reviewer sees."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from agentpath_sdk.gold.authoring.promoting import MAX_CALLS, Known, promote
from agentpath_sdk.gold.authoring.reviewing import review_page
from agentpath_sdk.gold.dumping import dump_paths
from agentpath_sdk.gold.files import read_gold
from agentpath_sdk.gold.model import AnswerCheck
from agentpath_sdk.trajectories.files import read_trajectories
from agentpath_sdk.trajectories.model import Trajectory

MakeRun = Callable[..., Trajectory]


def test_only_runs_that_reached_their_goal_are_used(make_run: MakeRun) -> None:
    found = promote([make_run("a"), make_run("a", "b", success=False), make_run("a", "c", success=None)])
    [promotion] = found.paths
    assert [step.tool for step in promotion.merged.evidence] == ["a"]
    assert (promotion.missed, promotion.unknown) == (1, 1)
    assert found.skipped == {"the goal was missed": 1, "nobody knows whether the goal was reached": 1}


def test_incomplete_and_unfinished_runs_are_not_used(make_run: MakeRun) -> None:
    cut = make_run("a", completeness="known_incomplete")
    found = promote([cut, replace(make_run("a"), stop_reason="limit")])
    assert found.paths == ()
    assert found.skipped == {"the recording is not complete": 1, "the run did not finish (limit)": 1}


def test_another_word_on_the_goal_can_be_given(make_run: MakeRun) -> None:
    found = promote(
        [make_run("a", success=None, final_answer="12"), make_run("b", success=None, final_answer="13")],
        reached=lambda run: run.final_answer == "12",
    )
    assert [step.tool for step in found.paths[0].merged.evidence] == ["a"]


def test_runs_are_one_task_by_agent_and_normalised_query(make_run: MakeRun) -> None:
    found = promote(
        [
            make_run("a", query="How warm is Mars?"),
            make_run("a", "b", query="how warm is  mars"),
            make_run("c", query="How warm is Venus?"),
            make_run("d", query="How warm is Mars?", agent="other"),
            make_run("e", query=None),
        ]
    )
    assert [(p.path.agent, p.path.queries, p.merged.runs) for p in found.paths] == [
        (None, ("How warm is Mars?",), 2),
        (None, ("How warm is Venus?",), 1),
        ("other", ("How warm is Mars?",), 1),
    ]
    assert len({p.path.id for p in found.paths}) == 3
    assert found.skipped == {"no query is known": 1}


def test_one_path_an_agent_can_be_asked_for(make_run: MakeRun) -> None:
    runs = [make_run("a", query="x", agent="Billing bot"), make_run("a", query="y", agent="Billing bot")]
    [promotion] = promote(runs, by="agent").paths
    assert (promotion.path.id, promotion.path.agent, promotion.path.queries) == ("billing-bot", "Billing bot", ())


def test_query_agent_and_number_of_runs_narrow_the_choice(make_run: MakeRun) -> None:
    runs = [make_run("a", query="x", agent="one"), make_run("a", query="X?", agent="one"), make_run("a", query="y")]
    assert [p.path.queries for p in promote(runs, query="x").paths] == [("x",)]
    assert [p.path.agent for p in promote(runs, agent="o*").paths] == ["one"]
    found = promote(runs, least_runs=2)
    assert [p.merged.runs for p in found.paths] == [2]
    assert found.skipped == {"too few runs of the task reached the goal": 1}


def test_paths_are_drafts_that_name_their_runs(make_run: MakeRun) -> None:
    runs = [make_run("a", trace_id="4bf92f3577b34da6a3ce929d0e0e4736"), make_run("a", attributes={"record.id": "r-2"})]
    path = promote(runs, author="Ann", date="2026-03-01").paths[0].path
    assert path.status == "draft"
    told = path.provenance
    assert (told.kind, told.author, told.date) == ("promoted", "Ann", "2026-03-01")
    assert told.reference == "trace 4bf92f3577b34da6a3ce929d0e0e4736, record r-2"
    assert promote(runs, status="approved").paths[0].path.status == "approved"


def test_what_is_known_of_a_task_stands_in_its_path(make_run: MakeRun) -> None:
    known = Known(answer=AnswerCheck(expected="12"), effects={"book": "write"}, extras={"look": "free"})
    path = promote([make_run("look", "book")], known=lambda _: known).paths[0].path
    assert (path.answer, path.effects, path.extras) == (known.answer, known.effects, known.extras)
    assert path.steps[1].must_succeed  # type: ignore[union-attr]  # a call


def test_recorded_successes_of_real_agents_become_files_that_read_back(data: Path, tmp_path: Path) -> None:
    for file, tasks in (("fireact.jsonl", 12), ("tau_airline.jsonl", 7)):
        found = promote(read_trajectories(data / "runs" / file))
        paths = [promotion.path for promotion in found.paths]
        assert len(paths) == tasks
        gold = tmp_path / f"{file}.yaml"
        gold.write_text(dump_paths(paths))
        back = read_gold(gold)
        assert back.problems == ()
        assert [(one.id, one.steps, one.queries) for one in back.paths] == [(p.id, p.steps, p.queries) for p in paths]


def test_the_page_says_what_was_seen_how_often_and_warns(make_run: MakeRun) -> None:
    failed = make_run("a", success=False)
    runs = [make_run(("s", {"q": "x"}), "b"), make_run(("s", {"q": "y"}), ("note", {"t": "z" * 300})), failed]
    page = review_page(promote(runs))
    assert "does not make its way the shortest" in page
    assert "merged from 2 runs that reached the goal (1 missed it)" in page
    assert '| 1 | s | required | 2 of 2 runs | q: one of the values seen; seen "x" (1), "y" (1) |' in page
    assert "- the goal was missed: 1 run" in page
    assert "| one of several | 1 of 2 runs |" in page


def test_the_page_warns_of_a_single_run_and_of_runs_with_nothing_in_common(make_run: MakeRun) -> None:
    assert "One run only" in review_page(promote([make_run("a")]))
    assert "No step is in all runs" in review_page(promote([make_run("a"), make_run("b")]))


def test_texts_of_people_are_no_markup_in_the_page(make_run: MakeRun) -> None:
    run = make_run(("s", {"q": "a | b\n# <script>[x](y)"}), query="*bold* | `x`\n## heading")
    page = review_page(promote([run]))
    assert "\n## heading" not in page
    assert "<script>" not in page
    rows = [line for line in page.splitlines() if line.startswith("| 1 |")]
    assert len(rows) == 1
    assert rows[0].replace("\\|", "").count("|") == 6


def test_runs_too_long_to_be_repeated_are_said_to_be(make_run: MakeRun) -> None:
    found = promote([make_run(*["t"] * (MAX_CALLS + 1))])
    assert (found.paths, found.skipped) == ((), {f"the run has more than {MAX_CALLS} calls": 1})


def test_a_merged_path_too_large_for_a_gold_file_is_not_written(
    make_run: MakeRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agentpath_sdk.gold.authoring.promoting.MAX_STATES", 2)
    found = promote([make_run("a", "b", "c")])
    assert (found.paths, found.skipped) == ((), {"the merged path is too large for a gold file": 1})
