"""Spans and score records as JSON Lines: whole lines, strict JSON, no secrets, and a full disk harms nobody."""

from __future__ import annotations

import errno
import json
import multiprocessing
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExportResult

from agentpath_jsonl import JsonlScoreExporter, JsonlSpanExporter
from agentpath_jsonl.lines import LineFile
from agentpath_sdk import redaction, semconv
from agentpath_sdk._guard import HEALTH
from agentpath_sdk.errors import ConfigurationError
from agentpath_sdk.scoring.score import Finding
from agentpath_sdk.trajectories.files import read_trajectories

from .fakes import path_score, score_record

SECRET = "sk-test-4f9a8b7c6d5e4f3a2b1c"


def lines(path: Path) -> list[Any]:
    def refuse(token: str) -> Any:
        raise ValueError(f"{token} is no JSON")

    return [json.loads(line, parse_constant=refuse) for line in path.read_text().splitlines()]


def test_each_record_is_a_line_with_score_run_and_reasons(tmp_path: Path) -> None:
    path = tmp_path / "new folder" / "scores.jsonl"
    exporter = JsonlScoreExporter(path)
    assert exporter.export((score_record(), score_record("1" * 16, value=None))).exported == 2
    exporter.export((score_record(revision=2),))
    first, second, third = lines(path)
    assert (first["score"], first["label"], first["tool_accuracy"], first["revision"]) == (0.75, "bad_path", 0.75, 1)
    assert second["score"] == {"not_evaluated": "no gold path"}
    assert (third["id"], third["revision"]) == (first["id"], 2)


def test_secrets_do_not_reach_the_score_file(tmp_path: Path) -> None:
    finding = Finding(kind="wrong_arguments", message=f"expected 'Ann', got {SECRET}")
    JsonlScoreExporter(tmp_path / "s.jsonl").export((score_record(score=path_score(findings=(finding,))),))
    assert SECRET not in (tmp_path / "s.jsonl").read_text()
    assert "expected 'Ann'" in (tmp_path / "s.jsonl").read_text()


def test_a_record_that_cannot_be_cleaned_does_not_leave(tmp_path: Path) -> None:
    def broken(_name: str | None, _value: Any) -> Any:
        raise ValueError(SECRET)

    remove = redaction.add_rule(broken)
    try:
        result = JsonlScoreExporter(tmp_path / "s.jsonl").export((score_record(),))
    finally:
        remove()
    assert (result.exported, result.retry) == (0, ())
    assert (tmp_path / "s.jsonl").read_text() == ""


def test_a_full_disk_is_counted_the_record_waits_and_no_half_line_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "s.jsonl"
    exporter = JsonlScoreExporter(path)
    exporter.export((score_record(),))
    real_write, calls = os.write, [0]

    def almost_full(descriptor: int, data: Any) -> int:
        calls[0] += 1
        if calls[0] == 1:
            return real_write(descriptor, bytes(data)[:10])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "write", almost_full)
    result = exporter.export((score_record(revision=2),))
    monkeypatch.undo()
    assert [record.revision for record in result.retry] == [2]
    assert HEALTH.counts()["fault.jsonl.scores"] == 1
    assert [line["revision"] for line in lines(path)] == [1]
    exporter.export(result.retry)
    assert [line["revision"] for line in lines(path)] == [1, 2]


def test_a_line_torn_by_a_crash_spoils_only_itself(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(b'{"torn": ')
    LineFile(path).append([b'{"whole": 1}'])
    assert path.read_bytes().splitlines() == [b'{"torn": ', b'{"whole": 1}']


def test_files_rotate_before_they_grow_beyond_the_limit(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    file = LineFile(path, max_bytes=100, keep=2)
    for number in range(40):
        file.append([b"x" * 20 + b"%03d" % number])
    found = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
    assert set(found) == {"s.jsonl", "s.jsonl.1", "s.jsonl.2"}
    assert all(len(content) <= 100 for content in found.values())
    assert found["s.jsonl"].endswith(b"039\n")


def test_a_file_that_was_moved_away_is_made_anew(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    file = LineFile(path)
    file.append([b"1"])
    path.rename(tmp_path / "archived")
    file.append([b"2"])
    assert path.read_bytes() == b"2\n"


@pytest.mark.skipif(os.name == "nt", reason="no advisory locks there")
def test_several_processes_never_mix_their_lines(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=_write_many, args=(path, letter)) for letter in "abcd"]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(30)
    written = b"".join(p.read_bytes() for p in tmp_path.iterdir()).splitlines()
    assert len(written) == 400
    assert all(len(set(line)) == 1 and len(line) == 3_000 for line in written)


def _write_many(path: Path, letter: str) -> None:
    file = LineFile(path, max_bytes=150_000, keep=20)
    for _ in range(20):
        file.append([letter.encode() * 3_000] * 5)


@pytest.mark.parametrize(("given", "words"), [({"max_bytes": 0}, "max_bytes=0"), ({"keep": 0}, "keep=0")])
def test_wrong_options_are_refused(tmp_path: Path, given: dict[str, int], words: str) -> None:
    with pytest.raises(ConfigurationError, match=words):
        JsonlScoreExporter(tmp_path / "s.jsonl", **given)


def test_a_place_that_cannot_be_written_is_an_error_at_set_up(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="cannot write to"):
        JsonlScoreExporter(tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigurationError, match="cannot write to"):
        JsonlSpanExporter(tmp_path / "file" / "spans.jsonl")


@pytest.mark.parametrize("path", ["a\0b", 5, None, ""], ids=repr)
def test_what_is_no_path_of_a_file_is_refused(path: Any) -> None:
    with pytest.raises(ConfigurationError, match="cannot write to"):
        JsonlScoreExporter(path)


def test_the_files_of_a_run_are_readable_by_their_owner_only(tmp_path: Path) -> None:
    JsonlScoreExporter(tmp_path / "s.jsonl")
    assert (tmp_path / "s.jsonl").stat().st_mode & 0o077 == 0


@pytest.mark.skipif(not Path("/dev/fd").is_dir(), reason="open files cannot be counted here")
def test_a_file_system_without_locks_costs_no_open_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    exporter = JsonlScoreExporter(tmp_path / "s.jsonl")

    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("agentpath_jsonl.lines.fcntl.flock", refuse)
    before = len(os.listdir("/dev/fd"))
    for _ in range(5):
        assert exporter.export((score_record(),)).retry == (score_record(),)
    assert len(os.listdir("/dev/fd")) == before


def traced(path: Path) -> TracerProvider:
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(JsonlSpanExporter(path)))
    return provider


def test_spans_are_otlp_json_that_reads_back_as_trajectories_without_secrets(tmp_path: Path) -> None:
    tracer = traced(tmp_path / "spans.jsonl").get_tracer("somebody.else")
    agent = {semconv.OPERATION_NAME: "invoke_agent", semconv.AGENT_NAME: "planner"}
    tool = {
        semconv.OPERATION_NAME: "execute_tool",
        semconv.TOOL_NAME: "call",
        semconv.TOOL_CALL_ARGUMENTS: json.dumps({"author": "Анна", "api_key": "plain", "note": SECRET}),
    }
    with (
        tracer.start_as_current_span("invoke_agent planner", attributes=agent),
        tracer.start_as_current_span("execute_tool call", attributes=tool),
    ):
        pass
    text = (tmp_path / "spans.jsonl").read_text()
    assert SECRET not in text
    assert "plain" not in text
    assert all(set(line) == {"resourceSpans"} for line in lines(tmp_path / "spans.jsonl"))
    (trajectory,) = read_trajectories(tmp_path / "spans.jsonl")
    (step,) = trajectory.steps
    assert (trajectory.agent, step.tool) == ("planner", "call")
    assert step.arguments is not None
    assert step.arguments["author"] == "Анна"


def test_a_span_file_that_cannot_be_written_is_a_failure_and_not_an_exception(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    exporter = JsonlSpanExporter(tmp_path / "spans.jsonl")
    provider = TracerProvider(shutdown_on_exit=False)
    span = provider.get_tracer("t").start_span("x")
    span.end()

    def fail(*_: Any) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "write", fail)
    assert exporter.export([span]) is SpanExportResult.FAILURE  # type: ignore[list-item] # the SDK's span is readable
    assert HEALTH.counts()["fault.jsonl.spans"] == 1


def test_numbers_that_json_cannot_say_leave_the_line_strict(tmp_path: Path) -> None:
    record = score_record()
    odd = replace(record, score=path_score(metrics={"tool_accuracy": float("nan")}))
    JsonlScoreExporter(tmp_path / "s.jsonl").export((odd,))
    assert lines(tmp_path / "s.jsonl")[0]["tool_accuracy"] in (None, "NaN")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_child_forked_in_the_middle_of_a_write_does_not_keep_the_file_locked(tmp_path: Path) -> None:
    file = LineFile(tmp_path / "s.jsonl")
    hold, go = os.pipe()
    with file._locked(1):
        child = os.fork()
        if child == 0:
            os.read(hold, 1)  # lives on, with the parent's descriptor, until told
            try:
                file.append([b"child"])
            finally:
                os._exit(0)
    file.append([b"parent"])
    os.write(go, b"x")
    assert os.waitpid(child, 0)[1] == 0
    assert (tmp_path / "s.jsonl").read_bytes() == b"parent\nchild\n"
