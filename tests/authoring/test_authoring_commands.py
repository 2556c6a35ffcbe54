"""`agentpath gold promote`, `draft`, `synth` and `import`: files, exit codes, one line a problem."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentpath_sdk.gold.files import load_paths
from agentpath_sdk.gold.registry import GoldPathRegistry

pytest.importorskip("typer")
pytest.importorskip("rich")

Outcome = tuple[int, str, list[str]]
Command = Callable[..., Outcome]

DRAFT = json.dumps({"steps": [{"search": {"query": {"$fuzzy": "Mars", "threshold": 0.8}}}, "response"]})


@pytest.fixture
def gold(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Command:
    """Run ``agentpath gold ...``: exit code, stdout, lines of stderr."""
    for name in ("AGENTPATH_GOLD", "NO_COLOR", "FORCE_COLOR", "COLUMNS", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    from agentpath_sdk.cli.app import run

    def command(*arguments: object) -> Outcome:
        code = run(["gold", *(str(argument) for argument in arguments)])
        out, err = capfd.readouterr()
        assert "Traceback" not in out + err
        return code, out, err.splitlines()

    return command


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    file = tmp_path / "tools.json"
    file.write_text(json.dumps([{"name": "search", "parameters": {"query": {"type": "string"}}}]))
    return file


def records(tmp_path: Path, *rows: dict[str, Any]) -> Path:
    file = tmp_path / "runs.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def row(*tools: str, query: str = "go", **more: Any) -> dict[str, Any]:
    return {"query": query, "agent_trajectory": [{"tool": tool, "arguments": {}} for tool in tools], **more}


# --- promote ---------------------------------------------------------------------------------------------------------


def test_promote_writes_a_gold_file_and_a_page_to_review(gold: Command, data: Path, tmp_path: Path) -> None:
    output = tmp_path / "gold" / "mined.yaml"
    code, out, err = gold("promote", data / "runs/fireact.jsonl", "-o", output, "--least-runs", "2", "--author", "Ann")
    assert (code, out) == (0, "")
    paths = load_paths(output)
    assert len(paths) == 10
    assert {path.status for path in paths} == {"draft"}
    assert {path.provenance.author for path in paths} == {"Ann"}
    assert output.read_text().startswith("# Promoted from recorded runs")
    page = (tmp_path / "gold" / "mined.review.md").read_text()
    assert page.startswith("# Promoted gold paths to review: 10")
    assert any("they may not be the shortest" in line for line in err)
    assert gold("validate", output)[0] == 0


def test_promote_without_a_file_writes_to_standard_output(gold: Command, tmp_path: Path) -> None:
    runs = records(tmp_path, row("a", "b", success=True, id="r1"), row("a", success=True, id="r2"))
    code, out, _ = gold("promote", runs, "--approve")
    assert code == 0
    file = tmp_path / "out.yaml"
    file.write_text(out)
    [path] = load_paths(file)
    assert (path.status, path.provenance.reference) == ("approved", "record r1, record r2")
    code, out, _ = gold("promote", runs, "--json")
    line = json.loads(out)
    assert line["support"]["runs"] == 2
    assert line["support"]["steps"][1] == {"tool": "b", "role": "optional", "seen": 1, "of": 2}


def test_promote_takes_the_word_of_expected_answers_where_none_was_recorded(gold: Command, tmp_path: Path) -> None:
    runs = records(tmp_path, row("a", final_answer="It is 12."), row("b", final_answer="13"))
    code, out, err = gold("promote", runs)
    assert (code, out) == (2, "")
    assert any("nothing to promote" in line for line in err)
    assert "- a: {}" in gold("promote", runs, "--answer", "12")[1]
    assert "- b: {}" in gold("promote", runs, "--answer", '{"$regex": "^1[3-9]$"}')[1]
    file = tmp_path / "answers.yaml"
    file.write_text("id: known\nstatus: draft\nquery: go\nsteps: [x]\nanswer: 12\ntools: {a: {effect: write}}\n")
    code, out, _ = gold("promote", runs, "--gold", file)
    assert code == 0
    assert "answer: 12" in out
    assert "must_succeed: true" in out


def test_a_recorded_miss_is_not_promoted_whatever_the_answer(gold: Command, tmp_path: Path) -> None:
    runs = records(tmp_path, row("a", final_answer="12", success=False))
    assert gold("promote", runs, "--answer", "12")[0] == 2


def test_nothing_is_replaced_unless_asked(gold: Command, tmp_path: Path) -> None:
    runs = records(tmp_path, row("a", success=True))
    output = tmp_path / "gold.yaml"
    output.write_text("kept")
    code, _, err = gold("promote", runs, "-o", output)
    assert code == 2
    assert err == [f"agentpath: {output} is there already; give another name, or --force to replace it"]
    assert output.read_text() == "kept"
    assert gold("promote", runs, "-o", output, "--force")[0] == 0
    assert load_paths(output)


def test_bad_runs_and_bad_answers_are_a_line_each(gold: Command, tmp_path: Path) -> None:
    bad = tmp_path / "bad.json"
    bad.write_text('{"nothing": 1}')
    good = records(tmp_path, row("a", success=True))
    code, out, err = gold("promote", bad, good)
    assert code == 2
    assert "- a: {}" in out
    assert sum(str(bad) in line for line in err) == 1
    code, _, err = gold("promote", good, "--answer", '{"$nope": 1}')
    assert code == 2
    assert err[0].startswith("agentpath: --answer: '$nope' is no matcher for answers")


# --- draft -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def http() -> None:
    pytest.importorskip("httpx")
    pytest.importorskip("tenacity")


@pytest.mark.usefixtures("http")
def test_draft_asks_the_endpoint_and_writes_drafts(
    gold: Command, tools: Path, tmp_path: Path, endpoint: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", "sk-9")
    stub = endpoint("not yet", DRAFT)
    output = tmp_path / "drafts.yaml"
    queries = tmp_path / "queries.txt"
    queries.write_text("How warm is Mars?\n\nHow warm is Venus?\n")
    options = ["--tools", tools, "--base-url", stub.base_url, "--model", "m", "--api-key-env", "MY_KEY", "-o", output]
    code, out, err = gold("draft", "How cold is Mars?", "--queries", queries, "--agent", "space", *options)
    assert (code, out) == (0, "")
    assert err == ["3 of 3 queries drafted with m; review them before they are approved"]
    paths = load_paths(output)
    assert [path.queries[0] for path in paths] == ["How cold is Mars?", "How warm is Mars?", "How warm is Venus?"]
    assert {(path.status, path.agent, path.provenance.kind) for path in paths} == {("draft", "space", "generated")}
    assert set(stub.keys) == {"Bearer sk-9"}
    assert "sk-9" not in output.read_text()
    assert GoldPathRegistry(output).find(query="How warm is Mars?", agent="space").path is None


@pytest.mark.usefixtures("http")
def test_a_query_without_a_valid_draft_is_named_and_the_others_are_kept(
    gold: Command, tools: Path, endpoint: Callable[..., Any]
) -> None:
    stub = endpoint('{"steps": [{"browse": {}}]}', DRAFT)
    options = ["--tools", tools, "--base-url", stub.base_url, "--model", "m", "--attempts", "1"]
    code, out, err = gold("draft", "one", "two", *options)
    assert code == 2
    assert "- two" in out or "[two]" in out
    assert err[0].startswith("'one': no valid draft in 1 answers; the last: there is no tool 'browse'")


@pytest.mark.usefixtures("http")
def test_an_endpoint_that_fails_ends_the_work_and_keeps_what_there_is(
    gold: Command, tools: Path, endpoint: Callable[..., Any]
) -> None:
    stub = endpoint(DRAFT, {"status": 401, "raw": b"{}"})
    code, out, err = gold("draft", "one", "two", "three", "--tools", tools, "--base-url", stub.base_url, "--model", "m")
    assert code == 2
    assert "[one]" in out
    assert "status 401" in err[0]
    assert len(stub.requests) == 2


@pytest.mark.usefixtures("http")
def test_draft_needs_a_query_tools_and_an_address(gold: Command, tools: Path, tmp_path: Path) -> None:
    options = ["--base-url", "http://127.0.0.1:1/v1", "--model", "m"]
    assert gold("draft", "--tools", tools, *options)[2][0].startswith("agentpath: no query is given")
    assert "does not exist" in gold("draft", "q", "--tools", tmp_path / "none", *options)[2][0]
    assert gold("draft", "q", "--tools", tools, "--base-url", "nowhere", "--model", "m")[0] == 2
    assert gold("draft", "q")[0] == 2


# --- synth and import ------------------------------------------------------------------------------------------------


def test_synth_writes_the_paths_and_the_queries(gold: Command, tmp_path: Path) -> None:
    pytest.importorskip("simpleeval")
    template = tmp_path / "add.yaml"
    template.write_text(
        "query: '{a} plus {b}?'\nvalues: {a: [1, 2], b: [3]}\ncomputed: {c: '{a} + {b}'}\n"
        "steps: [{add: {a: '{a}', b: '{b}'}}, response]\nanswer: '{c}'\n"
    )
    output, queries = tmp_path / "gold.yaml", tmp_path / "queries.jsonl"
    code, _, err = gold("synth", template, "-o", output, "--queries", queries)
    assert (code, err) == (0, ["2 gold paths made"])
    paths = load_paths(output)
    lines = [json.loads(line) for line in queries.read_text().splitlines()]
    assert [line["query"] for line in lines] == ["1 plus 3?", "2 plus 3?"]
    assert [line["gold_path_id"] for line in lines] == [path.id for path in paths]
    assert lines[0]["values"] == {"a": 1, "b": 3, "c": 4}
    template.write_text("query: x\nsteps: []\n")
    code, _, err = gold("synth", template)
    assert code == 2
    assert err[0].startswith(f"{template}: line 1: key 'values' is missing")


def test_import_writes_a_gold_file(gold: Command, data: Path, tmp_path: Path) -> None:
    output = tmp_path / "gold.yaml"
    code, _, err = gold("import", data / "adk/eval_set_helm.json", data / "messages/openai.json", "-o", output)
    assert code == 0
    assert err[-1] == "3 gold paths from adk, messages"
    assert len(load_paths(output)) == 3
    code, out, err = gold("import", data / "adk/eval_set_helm.json", data / "README.md", "--json", "--draft")
    assert code == 2
    assert json.loads(out)["status"] == "draft"
    assert str(data / "README.md") in err[0]


def test_import_of_a_named_format_takes_no_other(gold: Command, data: Path) -> None:
    code, out, err = gold("import", data / "adk/eval_set_helm.json", "--format", "messages")
    assert (code, out) == (2, "")
    assert "expected a list of messages" in err[0]
