"""`agentpath score`: every form of input, which gold path counts, gates and exit codes."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from agentpath_sdk.trajectories.otlp_write import to_otlp_json
from agentpath_sdk.trajectories.span_record import SpanRecord

Command: TypeAlias = Callable[..., Any]

EXAMPLE = Path(__file__).parents[1] / "data" / "runs" / "path_example.json"


@pytest.fixture
def example() -> dict[str, Any]:
    return dict(json.loads(EXAMPLE.read_text(encoding="utf-8")))


def numbers(line: dict[str, Any], *metrics: str) -> list[float]:
    return [round(line[metric], 6) for metric in metrics]


FIVE = ("tool_accuracy", "argument_accuracy", "step_order_accuracy", "path_efficiency", "composite")


@pytest.mark.parametrize(
    ("mode", "values"), [("aligned", [0.75, 0.5, 0.75, 0.75, 0.675]), ("positional", [0.25, 0, 0.75, 0.75, 0.375])]
)
def test_a_record_with_both_trajectories_is_scored_against_itself(
    agentpath: Command, mode: str, values: list[float]
) -> None:
    outcome = agentpath("score", EXAMPLE, "--json", "--mode", mode)
    [line] = outcome.lines
    assert outcome.code == 0
    assert numbers(line, *FIVE) == values
    assert (line["score_name"], line["mode"], line["gold_path_match"]) == ("composite", mode, "record")


def test_a_line_holds_what_the_contract_says(agentpath: Command) -> None:
    [line] = agentpath("score", EXAMPLE, "--json").lines
    expected = (*FIVE, "score", "score_name", "label", "gold_path_id", "gold_path_match", "mode", "completeness")
    for key in (*expected, "findings", "alignment", "query"):
        assert key in line
    assert line["goal_success"]["not_evaluated"]


def test_soft_mode_gives_credit_for_a_right_tool_at_a_wrong_place(agentpath: Command, tmp_path: Path) -> None:
    file = tmp_path / "swap.json"
    steps = [{"tool": tool} for tool in "abc"]
    file.write_text(json.dumps({"gold_trajectory": steps, "agent_trajectory": [steps[0], steps[2], steps[1]]}))
    [line] = agentpath("score", file, "--json", "--mode", "soft").lines
    assert numbers(line, "tool_accuracy") == [round(2 / 3, 6)]


def write_forms(folder: Path, record: dict[str, Any]) -> dict[str, Path]:
    """Return files that all hold two copies of ``record``, in every form that is read."""
    texts = {
        "array.json": json.dumps([record, record]),
        "pretty.json": "\n".join(json.dumps(record, indent=2, ensure_ascii=False) for _ in range(2)),
        "pretty-array.json": json.dumps([record, record], indent=1),
        "lines.jsonl": f"{json.dumps(record)}\n\n{json.dumps(record)}\n",
        "windows.jsonl": f"\ufeff{json.dumps(record)}\r\n{json.dumps(record)}",
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8", newline="")
    (folder / "zipped.jsonl.gz").write_bytes(gzip.compress(texts["lines.jsonl"].encode()))
    return {name: folder / name for name in (*texts, "zipped.jsonl.gz")}


@pytest.mark.parametrize(
    "name", ["array.json", "pretty.json", "pretty-array.json", "lines.jsonl", "windows.jsonl", "zipped.jsonl.gz"]
)
def test_records_are_read_in_every_form(agentpath: Command, tmp_path: Path, example: dict[str, Any], name: str) -> None:
    outcome = agentpath("score", write_forms(tmp_path, example)[name], "--json")
    assert outcome.code == 0
    assert [line["score"] for line in outcome.lines] == [0.675, 0.675]


def test_what_read_writes_score_reads(agentpath: Command, tmp_path: Path) -> None:
    """Trajectory lines and plain records both carry the steps; the gold path then comes from --gold."""
    for shape in ("trajectory", "record"):
        runs = tmp_path / f"{shape}.jsonl"
        runs.write_text(agentpath("read", EXAMPLE, "--json", "--format", shape).out, encoding="utf-8")
        [line] = agentpath("score", runs, "--gold", EXAMPLE, "--json").lines
        assert numbers(line, *FIVE) == [0.75, 0.5, 0.75, 0.75, 0.675]
        assert line["gold_path_match"] == "text"


def test_records_of_one_query_each_keep_their_own_gold(agentpath: Command, tmp_path: Path) -> None:
    """A look-up by query could not tell these two apart."""
    file = tmp_path / "runs.jsonl"
    run = [{"tool": "a"}]
    records = [
        {"id": "good", "query": "q", "gold_trajectory": [{"tool": "a"}], "agent_trajectory": run},
        {"id": "bad", "query": "q", "gold_trajectory": [{"tool": "b"}], "agent_trajectory": run},
    ]
    file.write_text("\n".join(map(json.dumps, records)))
    lines = agentpath("score", file, "--json").lines
    assert [(line["id"], line["tool_accuracy"]) for line in lines] == [("good", 1.0), ("bad", 0.0)]


def test_records_that_say_gold_and_actual_are_read_too(agentpath: Command, tmp_path: Path) -> None:
    file = tmp_path / "runs.json"
    file.write_text(json.dumps({"gold": [{"tool": "a"}], "actual": [{"tool": "a"}], "success": True}))
    [line] = agentpath("score", file, "--json").lines
    assert (line["score"], line["label"], line["goal_success"]) == (1.0, "solid", 1.0)


def test_gold_that_is_given_wins_over_the_records_own(agentpath: Command, tmp_path: Path) -> None:
    gold = tmp_path / "gold.yaml"
    gold.write_text("id: other\nsteps: [something_else]\n")
    [line] = agentpath("score", EXAMPLE, "--gold", gold, "--json").lines
    assert (line["gold_path_id"], line["gold_path_match"], line["tool_accuracy"]) == ("other", "agent", 0.0)


def test_the_environments_gold_serves_runs_without_their_own(
    agentpath: Command, tmp_path: Path, example: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    gold = tmp_path / "gold.yaml"
    gold.write_text("id: other\nsteps: [something_else]\n")
    monkeypatch.setenv("AGENTPATH_GOLD", str(gold))
    bare = tmp_path / "run.json"
    bare.write_text(json.dumps({key: value for key, value in example.items() if key != "gold_trajectory"}))
    lines = agentpath("score", EXAMPLE, bare, "--json").lines
    assert [line["gold_path_match"] for line in lines] == ["record", "agent"]


def test_a_run_without_a_gold_path_is_not_evaluated_and_no_error(agentpath: Command, tmp_path: Path) -> None:
    file = tmp_path / "run.json"
    file.write_text(json.dumps({"query": "q", "agent_trajectory": [{"tool": "a"}]}))
    outcome = agentpath("score", file, "--json")
    [line] = outcome.lines
    assert outcome.code == 0
    assert line["label"] == "not_evaluated"
    assert line["score"] == {"not_evaluated": "no gold path"}
    assert line["gold_path_reason"]


def test_without_any_gold_path_the_way_to_give_one_is_said(agentpath: Command, tmp_path: Path) -> None:
    run, empty = tmp_path / "run.json", tmp_path / "gold.yaml"
    run.write_text(json.dumps({"query": "q", "agent_trajectory": [{"tool": "search", "arguments": {}}]}))
    empty.write_text("")
    assert "--gold" in agentpath("score", run).err
    assert "--gold" not in agentpath("score", run, EXAMPLE, "--gold", EXAMPLE).err
    assert agentpath("score", EXAMPLE).err == ""
    nothing = agentpath("score", run, "--gold", empty, "--json")
    assert nothing.lines[0]["gold_path_reason"] != "no gold path was given"


def test_spans_are_scored_by_their_query(agentpath: Command, tmp_path: Path) -> None:
    root = SpanRecord(
        trace_id="1" * 32,
        span_id="1" * 16,
        name="invoke_agent a",
        start_unix_nano=1,
        end_unix_nano=9,
        attributes={
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": "a",
            "gen_ai.input.messages": json.dumps(
                [{"role": "user", "parts": [{"type": "text", "content": "How warm is Mars?"}]}]
            ),
        },
    )
    tool = SpanRecord(
        trace_id="1" * 32,
        span_id="2" * 16,
        parent_span_id="1" * 16,
        name="execute_tool search",
        start_unix_nano=2,
        end_unix_nano=3,
        attributes={
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "search",
            "gen_ai.tool.call.arguments": '{"q": "Mars"}',
        },
    )
    spans, gold = tmp_path / "spans.json", tmp_path / "gold.yaml"
    spans.write_text(json.dumps(to_otlp_json([root, tool])))
    gold.write_text("id: mars\nquery: how warm is mars\nsteps:\n  - search: {q: Mars}\n")
    [line] = agentpath("score", spans, "--gold", gold, "--json").lines
    assert (line["score"], line["gold_path_match"], line["trace_id"]) == (1.0, "text", "1" * 32)


@pytest.mark.parametrize(
    ("gate", "code"),
    [("tool_accuracy=0.8", 1), ("tool_accuracy=0.75", 0), ("score=0.7", 1), ("goal_success=0.1", 1)],
)
def test_a_missed_gate_exits_with_1_and_says_which(agentpath: Command, gate: str, code: int) -> None:
    """Low scores alone fail nothing."""
    outcome = agentpath("score", EXAMPLE, "--json", "--fail-under", gate)
    assert outcome.code == code
    assert outcome.errors == [] if code == 0 else gate.split("=")[0] in outcome.errors[0]


@pytest.mark.parametrize(("least", "code"), [(0.8, 1), (0.7, 0)])
def test_a_gold_files_own_threshold_exits_with_1(agentpath: Command, tmp_path: Path, least: float, code: int) -> None:
    gold = tmp_path / "gold.yaml"
    gold.write_text(f"id: strict\nthresholds: {{tool_accuracy: {least}}}\nsteps: [retrieval, calculator, response]\n")
    outcome = agentpath("score", EXAMPLE, "--gold", gold, "--json")
    assert outcome.code == code
    assert outcome.lines[0]["tool_accuracy"] == 0.75
    assert ("'strict'" in outcome.err) == bool(code)


def test_bad_input_outranks_a_missed_gate(agentpath: Command, tmp_path: Path) -> None:
    bad = tmp_path / "bad.json"
    bad.write_text("{")
    assert agentpath("score", EXAMPLE, bad, "--json", "--fail-under", "score=1").code == 2


def test_the_environments_settings_count_as_they_do_live(agentpath: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENTPATH_GOOD_PATH", "0.6")
    monkeypatch.setenv("AGENTPATH_WEIGHTS", "accuracy")
    [line] = agentpath("score", EXAMPLE, "--json").lines
    assert (line["label"], round(line["composite"], 6)) == ("good_path", 0.65)
    monkeypatch.setenv("AGENTPATH_GOOD_PATH", "high")
    outcome = agentpath("score", EXAMPLE, "--json")
    assert outcome.code == 2
    assert "AGENTPATH_GOOD_PATH" in outcome.err
