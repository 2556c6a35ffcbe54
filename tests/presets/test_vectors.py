"""Other evaluators' own cases come out as they do there, or by a defect that the documentation names."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from agentpath_sdk.scoring.presets import PRESETS

ROOT = Path(__file__).parents[2]
PEERS = ROOT / "benchmarks" / "peers"
CASES = ROOT / "tests" / "data" / "vectors" / "open.jsonl.gz"
PAGE = (ROOT / "docs" / "presets.md").read_text(encoding="utf-8")

pytestmark = pytest.mark.skipif(not PEERS.is_dir(), reason="the adapters are not part of this distribution")

# agentdiff, graphrag-eval and mastra have no adapter.
UNCOMPARED = {
    "agentdiff.tdi",
    "graphrag_eval.compare_steps",
    "graphrag_eval.steps_score",
    "mastra.compare_trajectories",
}


def compared(file: Path) -> list[dict[str, Any]]:
    """The lines that the command prints for a file, which leaves nothing unexplained."""
    command = [sys.executable, str(PEERS / "vectors.py"), str(file)]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture(scope="module")
def lines(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    file = tmp_path_factory.mktemp("vectors") / "open.jsonl"
    file.write_bytes(gzip.decompress(CASES.read_bytes()))
    return compared(file)


def test_every_case_has_a_line(lines: list[dict[str, Any]]) -> None:
    ids = [json.loads(line)["id"] for line in gzip.decompress(CASES.read_bytes()).splitlines()]
    assert [line["id"] for line in lines] == ids


def test_every_value_is_reproduced_or_is_an_instance_of_a_documented_defect(lines: list[dict[str, Any]]) -> None:
    different = [
        line
        for line in lines
        if line["value"] is not None
        and "defect" not in line
        and abs(float(line["value"]) - float(line["expected"])) > 1e-6
    ]
    assert different == []
    assert {line["metric"] for line in lines if line["value"] is None} == UNCOMPARED


def test_defects_are_declared_only_where_the_values_differ_and_are_rare(lines: list[dict[str, Any]]) -> None:
    declared = [line for line in lines if "defect" in line]
    assert all(abs(float(line["value"]) - float(line["expected"])) > 1e-6 for line in declared)
    assert all(f"`{line['defect']}`" in PAGE for line in declared)
    # Nearly all of them are one rule of one peer, which gives 0 for every run of another length.
    counts = Counter(line["defect"] for line in declared)
    assert counts.most_common(1)[0][0] == "ragas-zero-for-unequal-lengths"
    assert counts.total() - counts["ragas-zero-for-unequal-lengths"] <= 10


def test_each_documented_defect_has_a_counterexample_that_shows_it() -> None:
    found = {line["id"]: line for line in compared(PEERS / "counterexamples.jsonl")}
    assert {name: line["defect"] for name, line in found.items()} == {name: name for name in found}
    section = PAGE[PAGE.index("## Defects") :]
    documented = {row.split("`")[1] for row in section.splitlines() if row.startswith("| `")}
    assert documented == set(found)


def test_a_difference_that_no_defect_explains_is_shown_and_fails(tmp_path: Path) -> None:
    case = {
        "id": "wrong",
        "metric": "adk.tool_trajectory_avg_score",
        "settings": {"match_type": "EXACT"},
        "reference": [{"tool": "a", "arguments": {}}],
        "actual": [{"tool": "b", "arguments": {}}],
        "expected": 1.0,
    }
    file = tmp_path / "wrong.jsonl"
    file.write_text(json.dumps(case) + "\n")
    command = [sys.executable, str(PEERS / "vectors.py"), str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, json.loads(done.stdout)["value"]) == (1, 0.0)


def test_the_page_names_presets_that_exist_and_its_code_runs() -> None:
    rows = [row.split("|")[1] for row in PAGE[: PAGE.index("| arguments |")].splitlines() if row.startswith("| `")]
    kinds = [name for row in rows for name in row.replace("`", "").replace(" ", "").split(",")]
    assert sorted(kinds) == sorted(name for name in PRESETS if "/" not in name)
    for block in PAGE.split("```python")[1:]:
        exec(compile(block.split("```")[0], "docs/presets.md", "exec"), {})
