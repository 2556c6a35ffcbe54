"""Files that are not what they should be: one precise line each, no traceback, and the good ones still served."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

pytest.importorskip("typer")
pytest.importorskip("rich")

from agentpath_sdk.trajectories.otlp_write import to_otlp_json
from agentpath_sdk.trajectories.span_record import SpanRecord

RUNS = Path(__file__).parents[1] / "data" / "runs"
MIB = 1 << 20
Command: TypeAlias = Callable[..., Any]


def otlp_line(trace: int, calls: int = 3, payload: int = 20) -> str:
    """Return the spans of one run as a line of OTLP/JSON."""
    trace_id, start = f"{trace:032x}", 1_700_000_000_000_000_000 + trace * 1_000_000
    root = f"{trace * 100 + 1:016x}"
    spans = [
        SpanRecord(
            trace_id=trace_id,
            span_id=root,
            name="invoke_agent a",
            start_unix_nano=start,
            end_unix_nano=start + 1000,
            attributes={
                "gen_ai.operation.name": "invoke_agent",
                "gen_ai.agent.name": "a",
                "agentpath.run.calls": calls,
            },
        )
    ]
    spans += [
        SpanRecord(
            trace_id=trace_id,
            span_id=f"{trace * 100 + 2 + call:016x}",
            parent_span_id=root,
            name="execute_tool t",
            start_unix_nano=start + call,
            end_unix_nano=start + call + 1,
            attributes={
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": "t",
                "gen_ai.tool.call.arguments": json.dumps({"n": call, "text": "x" * payload}),
            },
        )
        for call in range(calls)
    ]
    return json.dumps(to_otlp_json(spans))


@pytest.fixture
def spans_file(tmp_path: Path) -> Path:
    file = tmp_path / "good.jsonl"
    file.write_text(f"{otlp_line(1)}\n{otlp_line(2)}\n")
    return file


def test_an_empty_file_is_no_error(agentpath: Command, tmp_path: Path) -> None:
    """0 trajectories, a note, exit 0."""
    file = tmp_path / "empty.jsonl"
    file.touch()
    outcome = agentpath("read", file, "--json")
    assert (outcome.code, outcome.out) == (0, "")
    assert "empty.jsonl: empty" in outcome.err
    assert "0 trajectories" in outcome.err


@pytest.mark.parametrize("command", ["read", "score"])
@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("cut.json", otlp_line(1)[:-40].encode(), ("line 1", "ends in the middle")),
        ("binary.bin", bytes(range(256)) * 40, ("byte 1", "no OTLP protobuf")),
        ("text.json", b"once upon a time\n", ("line 1", "expected JSON")),
        ("other.json", b'{"hello": 1}', ("line 1", "'hello'")),
        ("cut.jsonl.gz", gzip.compress(otlp_line(1).encode())[:-30], ("truncated",)),
        ("utf16.json", '{"resourceSpans": []}'.encode("utf-16"), ("UTF-16",)),
    ],
)
def test_a_bad_file_gets_one_line_that_says_what_and_where(
    agentpath: Command, tmp_path: Path, command: str, name: str, content: bytes, words: tuple[str, ...]
) -> None:
    file = tmp_path / name
    file.write_bytes(content)
    outcome = agentpath(command, file, "--json")
    assert outcome.code == 2
    assert outcome.out == ""
    [line] = outcome.errors
    assert line.startswith(str(file))
    for word in words:
        assert word in line


def test_a_missing_file_is_named(agentpath: Command, tmp_path: Path) -> None:
    outcome = agentpath("read", tmp_path / "nowhere.json")
    assert outcome.code == 2
    assert "nowhere.json: cannot be opened: no such file" in outcome.err


def test_a_folder_of_good_and_bad_files_serves_the_good_ones(
    agentpath: Command, tmp_path: Path, spans_file: Path
) -> None:
    """Each bad file has its line, every good run is there, and the exit code is 2."""
    (tmp_path / "spoilt1.json").write_bytes(b"{nonsense")
    (tmp_path / "spoilt2.bin").write_bytes(b"\x00\x01\x02" * 100)
    (tmp_path / "empty.jsonl").touch()
    (tmp_path / "notes.md").write_text("not data")
    (tmp_path / "record.json").write_bytes((RUNS / "path_example.json").read_bytes())
    outcome = agentpath("read", tmp_path, "--json")
    assert outcome.code == 2
    assert sorted(len(line["steps"]) for line in outcome.lines) == [3, 3, 4]
    assert [line.split(":")[0] for line in outcome.errors if "spoilt" in line] == [
        str(tmp_path / "spoilt1.json"),
        str(tmp_path / "spoilt2.bin"),
    ]


def test_a_broken_gold_file_is_reported_with_line_and_hint(
    agentpath: Command, tmp_path: Path, spans_file: Path
) -> None:
    """Nothing is scored against a gold file that cannot be read."""
    gold = tmp_path / "gold.yaml"
    gold.write_text("id: a\nsteps:\n  - t: {n: {$tolerence: 3}}\n")
    for arguments in (("gold", "validate", gold), ("score", spans_file, "--gold", gold, "--json")):
        outcome = agentpath(*arguments)
        assert (outcome.code, outcome.out) == (2, "")
        [line] = outcome.errors
        assert line.startswith(f"{gold}: line 3")
        assert "unknown matcher '$tolerence'" in line


def test_good_gold_files_beside_a_bad_one_still_score(agentpath: Command, tmp_path: Path, spans_file: Path) -> None:
    folder = tmp_path / "gold"
    folder.mkdir()
    (folder / "good.yaml").write_text("id: g\nagent: a\nsteps: [t, t, t]\n")
    (folder / "bad.yaml").write_text("id: b\nsteps: [\n")
    outcome = agentpath("score", spans_file, "--gold", folder, "--json")
    assert outcome.code == 2
    assert [line["score"] for line in outcome.lines] == [1.0, 1.0]
    [line] = outcome.errors
    assert line.startswith(str(folder / "bad.yaml"))


def test_a_record_whose_own_gold_is_malformed_is_named_and_the_others_score(agentpath: Command, tmp_path: Path) -> None:
    file = tmp_path / "runs.jsonl"
    good = {"id": "r1", "gold_trajectory": [{"tool": "t"}], "agent_trajectory": [{"tool": "t"}]}
    bad = {"id": "r2", "gold_trajectory": [{"name": "t"}], "agent_trajectory": [{"tool": "t"}]}
    file.write_text("\n".join(map(json.dumps, (bad, good, {**bad, "id": "r3"}))))
    outcome = agentpath("score", file, "--json")
    assert outcome.code == 2
    assert [line["id"] for line in outcome.lines] == ["r1"]
    [line] = outcome.errors
    assert "record 'r2'" in line
    assert "gold_trajectory[0]" in line


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("score", "x", "--fail-under", "acuracy=1"), "unknown metric 'acuracy'"),
        (("score", "x", "--mode", "sideways"), "sideways"),
        (("gold", "list"), "AGENTPATH_GOLD is not set"),
        (("read",), "Missing argument"),
        (("frobnicate",), "frobnicate"),
    ],
)
def test_wrong_usage_exits_with_2_and_says_what_is_wrong(
    agentpath: Command, arguments: tuple[str, ...], words: str
) -> None:
    outcome = agentpath(*arguments)
    assert outcome.code == 2
    assert words in outcome.err


def peak_memory_mib(*arguments: object) -> tuple[int, float, str, int]:
    """Return exit code, peak resident memory, stderr and the number of stdout lines of the command."""
    child = (
        "import resource, subprocess, sys\n"
        "run = subprocess.run(sys.argv[1:], stdout=subprocess.PIPE, stderr=subprocess.PIPE)\n"
        "peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss\n"
        "print(run.returncode, peak, run.stdout.count(b'\\n'))\n"
        "sys.stdout.write(run.stderr.decode())\n"
    )
    command = [sys.executable, "-c", "from agentpath_sdk.cli import main; main()", *map(str, arguments)]
    done = subprocess.run([sys.executable, "-c", child, *command], capture_output=True, text=True, check=True)
    first, _, rest = done.stdout.partition("\n")
    code, peak, lines = map(int, first.split())
    kib = peak / 1024 if sys.platform == "darwin" else peak
    return code, kib / 1024, rest, lines


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_200_mb_of_garbage_in_one_line_is_refused_in_bounded_memory(tmp_path: Path) -> None:
    file = tmp_path / "garbage.json"
    with file.open("wb") as stream:
        for _ in range(200):
            stream.write(b"garbage " * (MIB // 8))
    code, mib, err, _ = peak_memory_mib("read", file, "--json")
    assert code == 2
    [line] = err.splitlines()
    assert line.startswith(str(file))
    assert mib < 300


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_200_mb_file_of_spans_streams_in_bounded_memory(tmp_path: Path) -> None:
    file = tmp_path / "large.jsonl"
    runs = 0
    with file.open("w") as stream:
        while stream.tell() < 200 * MIB:
            runs += 1
            stream.write(otlp_line(runs, calls=4, payload=15_000) + "\n")
    gold = tmp_path / "gold.yaml"
    gold.write_text("id: g\nagent: a\nsteps: [t, t, t, t]\n")
    code, mib, err, lines = peak_memory_mib("score", file, "--gold", gold, "--json")
    assert (code, lines) == (0, runs), err
    assert mib < 300
