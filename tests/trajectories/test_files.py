"""Files, folders and iterables: what is read, in bounded memory, and what is said of what cannot be."""

from __future__ import annotations

import gzip
import io
import json
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from agentpath_sdk import semconv
from agentpath_sdk.errors import FileFormatError
from agentpath_sdk.trajectories import documents, span_spool
from agentpath_sdk.trajectories.files import read_items, read_spans, read_trajectories
from agentpath_sdk.trajectories.model import CallRequest, GoalWord, ToolCall, ToolError, Trajectory, Usage
from agentpath_sdk.trajectories.otlp import to_otlp_json
from agentpath_sdk.trajectories.reconstruct import reconstruct
from agentpath_sdk.trajectories.span_record import SpanRecord
from agentpath_sdk.trajectories.trajectory_json import (
    trajectory_from_json,
    trajectory_to_json,
    trajectory_to_record,
)

from .build import agent, tool


def run_of(n: int) -> list[SpanRecord]:
    trace = {"trace": f"trace{n}"}
    calls = [tool(f"{n}.{k}", "search", {"q": k}, f"r{k}", parent=f"A{n}", start=n + k, **trace) for k in range(3)]
    return [*calls, agent(f"A{n}", query=f"q{n}", answer="a", start=n, end=n + 9, **trace)]


SPANS = [record for n in range(4) for record in run_of(n)]
RUNS = reconstruct(SPANS)


def write(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def otlp(spans: list[SpanRecord], **dump: Any) -> str:
    return json.dumps(to_otlp_json(spans), **dump)


def console(spans: list[SpanRecord]) -> str:
    """Return spans as the console exporter prints them."""

    def one(s: SpanRecord) -> str:
        context = {"trace_id": f"0x{s.trace_id}", "span_id": f"0x{s.span_id}", "trace_state": "[]"}
        times = {"start_time": iso(s.start_unix_nano), "end_time": iso(s.end_unix_nano)}
        rest = {"attributes": dict(s.attributes), "events": [], "links": [], "resource": {"attributes": {}}}
        parent = {"parent_id": f"0x{s.parent_span_id}" if s.parent_span_id else None}
        status = {"status": {"status_code": "UNSET"}, "kind": "SpanKind.INTERNAL"}
        return json.dumps({"name": s.name, "context": context, **parent, **times, **rest, **status}, indent=4)

    return "\n".join(map(one, spans)) + "\n"


def iso(nanos: int) -> str:
    from datetime import UTC, datetime

    return datetime.fromtimestamp(nanos // 10**9, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def protobuf(spans: list[SpanRecord]) -> bytes:
    json_format = pytest.importorskip("google.protobuf.json_format")
    from base64 import b64encode

    from opentelemetry.proto.trace.v1.trace_pb2 import TracesData

    document = to_otlp_json(spans)
    for resource_spans in document["resourceSpans"]:
        for scope_spans in resource_spans["scopeSpans"]:
            for s in scope_spans["spans"]:
                for key in ("traceId", "spanId", "parentSpanId"):
                    if key in s:
                        s[key] = b64encode(bytes.fromhex(s[key])).decode()
    return bytes(json_format.ParseDict(document, TracesData()).SerializeToString())


def prefixed(message: bytes) -> bytes:
    return len(message).to_bytes(4, "big") + message


# --- forms ----------------------------------------------------------------------------------------------------------

FORMS: dict[str, Callable[[], str | bytes]] = {
    "document": lambda: otlp(SPANS),
    "pretty": lambda: otlp(SPANS, indent=2),
    "pretty-flat": lambda: otlp(SPANS, indent=0),
    "lines": lambda: "".join(otlp([s]) + "\n" for s in SPANS),
    "lines-with-gaps": lambda: "\n\n".join(otlp([s]) for s in SPANS) + "\n \n",
    "no-last-newline": lambda: "\n".join(otlp([s]) for s in SPANS),
    "windows": lambda: "".join(otlp([s]) + "\r\n" for s in SPANS),
    "byte-order-mark": lambda: b"\xef\xbb\xbf" + otlp(SPANS).encode(),
    "array": lambda: json.dumps([to_otlp_json([s]) for s in SPANS]),
    "pretty-array": lambda: json.dumps([to_otlp_json([s]) for s in SPANS], indent=1),
    "pretty-documents": lambda: "\n".join(otlp([s], indent=2) for s in SPANS),
    "mixed": lambda: otlp(SPANS[:5]) + "\n" + otlp(SPANS[5:], indent=2) + "\n",
    "gzip": lambda: gzip.compress(otlp(SPANS).encode()),
    "two-gzips": lambda: gzip.compress(otlp(SPANS[:5]).encode() + b"\n") + gzip.compress(otlp(SPANS[5:]).encode()),
    "console": lambda: console([replace(s, scope=None) for s in SPANS]),
    "protobuf": lambda: protobuf(SPANS),
    "protobuf-gzip": lambda: gzip.compress(protobuf(SPANS)),
    "protobuf-prefixed": lambda: prefixed(protobuf(SPANS[:5])) + prefixed(protobuf(SPANS[5:])),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_the_same_spans_gives_the_same_trajectories(form: str, tmp_path: Path) -> None:
    found = tuple(read_trajectories(write(tmp_path / "spans", FORMS[form]())))
    assert [trajectory_to_json(t) for t in found] == [trajectory_to_json(t) for t in RUNS]


def test_spans_of_a_trace_scattered_over_files_and_shuffled_give_the_same_trajectories(tmp_path: Path) -> None:
    rng = random.Random(7)
    for _ in range(5):
        spans = rng.sample(SPANS, len(SPANS))
        for number in range(3):
            write(tmp_path / f"part{number}.jsonl", "".join(otlp([s]) + "\n" for s in spans[number::3]))
        assert tuple(read_trajectories(tmp_path)) == RUNS


def test_what_does_not_fit_into_memory_gives_the_same_from_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "spans.jsonl", "".join(otlp([s]) + "\n" for s in reversed(SPANS)))
    folders: list[Path] = []
    real = span_spool.tempfile.TemporaryDirectory

    def remembered(**more: Any) -> Any:
        folder = real(dir=tmp_path, **more)
        folders.append(Path(folder.name))
        return folder

    monkeypatch.setattr(span_spool, "_MEMORY_LIMIT", 100)
    monkeypatch.setattr(span_spool.SpanSpool.__init__, "__kwdefaults__", {"memory_limit": 100})
    monkeypatch.setattr(span_spool.tempfile, "TemporaryDirectory", remembered)
    assert tuple(read_trajectories(path)) == RUNS
    assert len(folders) == 1
    assert not folders[0].exists()


def test_spans_on_disk_of_a_file_that_proved_bad_are_taken_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(span_spool.SpanSpool.__init__, "__kwdefaults__", {"memory_limit": 100})
    write(tmp_path / "a-bad.jsonl", "".join(otlp([s]) + "\n" for s in run_of(9)) + "{broken\n")
    write(tmp_path / "b-good.jsonl", otlp(SPANS))
    errors: list[FileFormatError] = []
    assert tuple(read_trajectories(tmp_path, on_error=errors.append)) == RUNS
    assert len(errors) == 1


def test_an_iterable_of_records_or_of_sdk_spans_is_a_source() -> None:
    assert tuple(read_trajectories(iter(SPANS))) == RUNS
    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracer = provider.get_tracer(semconv.SCOPE_NAME)
    with tracer.start_as_current_span("a", attributes={semconv.OPERATION_NAME: "invoke_agent"}):
        named = {semconv.OPERATION_NAME: "execute_tool", semconv.TOOL_NAME: "search"}
        tracer.start_span("t", attributes=named).end()
    (run,) = read_trajectories(exporter.get_finished_spans())
    assert [step.tool for step in run.steps] == ["search"]
    assert tuple(read_trajectories(())) == ()


def test_many_spans_of_the_sdk_are_a_source_though_their_resource_holds_a_lock(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(span_spool.SpanSpool.__init__, "__kwdefaults__", {"memory_limit": 1})
    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    named = {semconv.OPERATION_NAME: "invoke_agent"}
    provider.get_tracer("x").start_span("a", attributes=named).end()
    assert len(list(read_trajectories(exporter.get_finished_spans()))) == 1


@pytest.mark.parametrize("form", ["lines", "gzip"])
def test_standard_input_is_a_source_and_stays_open(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    content = FORMS[form]()
    buffer = io.BufferedReader(io.BytesIO(content.encode() if isinstance(content, str) else content))
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=buffer))
    assert tuple(read_trajectories("-")) == RUNS
    assert not buffer.closed


def test_a_result_nested_without_end_can_still_be_written(tmp_path: Path) -> None:
    deep = tool("t", "t", {}, "[" * 900 + "]" * 900, parent="A")
    (run,) = read_trajectories(write(tmp_path / "deep.json", otlp([agent("A", end=9), deep])))
    assert "nested too deeply" in json.dumps(trajectory_to_json(run))


def test_several_paths_are_a_source_and_are_joined(tmp_path: Path) -> None:
    first = write(tmp_path / "one.json", otlp(SPANS[::2]))
    second = write(tmp_path / "two.json", otlp(SPANS[1::2]))
    assert tuple(read_trajectories([first, str(second)])) == RUNS


def test_spans_can_be_read_one_by_one(tmp_path: Path) -> None:
    assert list(read_spans(write(tmp_path / "spans.jsonl", FORMS["lines"]()))) == SPANS


# --- trajectories and records ---------------------------------------------------------------------------------------

FULL = Trajectory(
    steps=(
        ToolCall(
            tool="search",
            arguments={"q": "é", "n": [1, None]},
            result={"rows": 3},
            call_id="c1",
            agent="planner",
            span_id="0" * 16,
            parallel_group=1,
            start_unix_nano=1_700_000_000_123_456_789,
            end_unix_nano=1_700_000_000_123_456_790,
        ),
        ToolCall(
            tool="pay",
            arguments_state="truncated",
            raw_arguments='{"a": 1',
            result_state="not_captured",
            outcome="error",
            error=ToolError(type="E", message="no"),
            kind="agent",
            attempt=2,
            partial_items=2,
        ),
    ),
    agent="planner",
    query="q",
    final_answer="a",
    requested=(CallRequest(tool="pay", arguments={"a": 1}, call_id="c2", fate="refused"),),
    conversation_id="t1",
    trace_id="1" * 32,
    span_id="2" * 16,
    parent_span_id="3" * 16,
    gold_path_id="g",
    completeness="presumed_incomplete",
    incomplete_reasons=("root missing",),
    stop_reason="limit",
    goal=GoalWord(success=False, reason="r", source="judge"),
    usage=Usage(input_tokens=3),
    start_unix_nano=1,
    end_unix_nano=2,
    revision=2,
    late=True,
    attributes={"service.name": "shop"},
)


@pytest.mark.parametrize("trajectory", [FULL, Trajectory(), *RUNS])
def test_a_trajectory_written_as_json_is_read_back_the_same(trajectory: Trajectory, tmp_path: Path) -> None:
    path = write(tmp_path / "runs.jsonl", json.dumps(trajectory_to_json(trajectory)) + "\n")
    assert tuple(read_trajectories(path)) == (replace(trajectory, events=()),)


def test_a_line_holds_the_documented_keys() -> None:
    line = trajectory_to_json(RUNS[0])
    run_keys = {"trace_id", "span_id", "agent", "query", "final_answer", "conversation_id", "completeness"}
    step_keys = {"tool", "arguments", "result", "outcome", "error", "call_id", "agent", "parallel_group"}
    assert run_keys | {"stop_reason", "steps"} <= set(line)
    assert step_keys | {"start_unix_nano", "end_unix_nano"} <= set(line["steps"][0])
    assert line["steps"][0]["error"] is None


def test_a_record_with_both_trajectories_gives_the_run_and_keeps_the_gold_beside_it(tmp_path: Path) -> None:
    record = {
        "query": "Какая температура?",
        "gold_trajectory": [{"tool": "retrieval", "arguments": {}}],
        "agent_trajectory": [
            {"tool": "retrieval", "arguments": {"query": "Марс"}},
            {"tool": "response", "arguments": {}},
        ],
    }
    (item,) = read_items(write(tmp_path / "r.json", json.dumps(record, ensure_ascii=False, indent=2)))
    assert [(s.tool, s.arguments) for s in item.trajectory.steps] == [
        ("retrieval", {"query": "Марс"}),
        ("response", {}),
    ]
    assert (item.trajectory.query, item.record) == ("Какая температура?", record)


def test_a_record_of_recorded_data_gives_the_run_with_its_known_outcome(tmp_path: Path) -> None:
    record = {
        "id": "hotpot-1",
        "query": "Who?",
        "gold": [],
        "actual": [{"tool": "search", "arguments": {"q": "x"}, "outcome": "not_found"}, {"tool": "pay", "error": "no"}],
        "success": True,
        "predicted_answer": "he",
    }
    (run,) = read_trajectories(write(tmp_path / "r.jsonl", json.dumps(record)))
    assert run.goal == GoalWord(success=True, source="record")
    assert (run.final_answer, run.attributes) == ("he", {"record.id": "hotpot-1"})
    assert [(s.outcome, s.arguments_state) for s in run.steps] == [("ok", "known"), ("error", "not_captured")]


def test_a_trajectory_in_the_record_shape_is_read_back_with_what_the_shape_holds(tmp_path: Path) -> None:
    record = trajectory_to_record(RUNS[0])
    assert set(record) == {"query", "agent_trajectory", "final_answer"}
    (run,) = read_trajectories(write(tmp_path / "r.jsonl", json.dumps(record)))
    assert [(s.tool, s.arguments) for s in run.steps] == [(s.tool, s.arguments) for s in RUNS[0].steps]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ({"steps": 1, "completeness": "complete"}, "steps: found int, expected a list"),
        ({"steps": [{}], "completeness": "complete"}, r"steps\[0\]: a step is an object with a text 'tool'"),
        ({"steps": [], "completeness": "half"}, "'completeness' is 'half', expected one of complete,"),
        ({"steps": [{"tool": "t", "kind": "x"}], "completeness": "complete"}, r"steps\[0\]: 'kind' is 'x'"),
        ({"steps": [], "completeness": "complete", "revision": "two"}, "'revision' is 'two', expected a whole number"),
        ({"steps": [], "completeness": "complete", "requested": [1]}, r"requested\[0\]"),
    ],
)
def test_a_line_that_is_no_trajectory_is_refused_with_the_place(line: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        trajectory_from_json(line)


# --- bad input ------------------------------------------------------------------------------------------------------


def error_of(path: Path) -> str:
    with pytest.raises(FileFormatError) as caught:
        list(read_trajectories(path))
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith(str(path))
    return str(caught.value).removeprefix(str(path))


BAD: dict[str, tuple[Callable[[], str | bytes], str]] = {
    "cut line": (
        lambda: otlp(SPANS[:1]) + "\n" + otlp(SPANS)[:300],
        ": line 2, column 301: the JSON ends in the middle",
    ),
    "cut pretty": (lambda: otlp(SPANS, indent=2)[:2_000], ": lines 1-"),
    "bad line": (lambda: otlp(SPANS) + "\n{'a': 1}\n" + otlp(SPANS), ": line 2, column 2: not valid JSON"),
    "prose": (
        lambda: "hello, this is my trace\n",
        ": line 1, column 1: found 'hello, this is my trace', expected JSON",
    ),
    "two on a line": (lambda: otlp(SPANS[:1]) * 2, "more than one JSON value on one line"),
    "number": (lambda: "42\n", ": line 1: found int, expected an object"),
    "list of numbers": (lambda: "[1]", "item 1 of the list is int"),
    "stranger": (lambda: '{"a": 1}', "found an object with 'a'"),
    "jaeger": (lambda: '{"data": [{"traceID": "1"}]}', "Jaeger"),
    "gold only": (lambda: '{"query": "q", "gold_trajectory": []}', "a record without a run"),
    "bad id": (
        lambda: otlp(SPANS).replace(SPANS[0].trace_id, "zz"),
        ": line 1: resourceSpans[0].scopeSpans[0].spans[0]",
    ),
    "binary": (lambda: bytes(range(256)) * 50, ": byte 1: binary data that is no OTLP protobuf"),
    "picture": (lambda: b"\x89PNG\r\n\x1a\n\x00\x00", ": byte 1: binary data"),
    "cut protobuf": (
        lambda: protobuf(SPANS)[:-10],
        ": byte 1: binary data that is no OTLP protobuf, or one that was cut",
    ),
    "rotten protobuf": (lambda: b"\x0a\x05\x0a\xff\xff\xff\xff" * 3, ": byte 1: not an OTLP protobuf message"),
    "cut gzip": (lambda: gzip.compress(otlp(SPANS).encode())[:-20], ": broken gzip data"),
    "rotten gzip": (lambda: b"\x1f\x8b" + b"\x07" * 100, ": broken gzip data"),
    "utf-16": (lambda: otlp(SPANS).encode("utf-16"), ": byte 1: UTF-16 text (save it as UTF-8)"),
    "latin-1": (lambda: '{"resourceSpans": [], "é": 1}'.encode("latin-1"), ": byte 24: text that is not UTF-8"),
    "late latin-1": (lambda: (otlp(SPANS) + '\n{"é": 1}').encode("latin-1"), ": line 2"),
}


@pytest.mark.parametrize("kind", BAD)
def test_a_file_that_cannot_be_read_is_told_in_one_precise_line(kind: str, tmp_path: Path) -> None:
    if kind == "rotten protobuf":
        pytest.importorskip("opentelemetry.proto", reason="needs the extra otlp")
    content, words = BAD[kind]
    assert words in error_of(write(tmp_path / "bad", content()))


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    assert "no such file" in error_of(tmp_path / "none.json")


def test_garbage_without_line_ends_is_given_up_at_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "DOCUMENT_LIMIT", 1 << 20)
    path = write(tmp_path / "garbage.jsonl", '{"' + "x" * (3 << 20))
    assert ": line 1: line of more than 1 MiB (write JSON Lines" in error_of(path)


def test_a_document_of_many_lines_is_given_up_at_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "DOCUMENT_LIMIT", 1 << 20)
    path = write(tmp_path / "endless.json", "[\n" + "1,\n" * (1 << 20))
    assert ": line 1: JSON document of more than 1 MiB" in error_of(path)


def test_a_protobuf_message_beyond_the_limit_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "DOCUMENT_LIMIT", 100)
    assert "binary data" in error_of(write(tmp_path / "spans.pb", protobuf(SPANS)))


def test_an_empty_file_gives_nothing_and_a_note(tmp_path: Path) -> None:
    for content in ("", " \n\n", '{"resourceSpans": []}', "[]"):
        notes: list[str] = []
        path = write(tmp_path / "empty.json", content)
        assert list(read_trajectories(path, on_note=notes.append)) == []
        assert notes == [f"{path}: empty: no spans, trajectories or records"]


def test_calls_outside_every_agent_are_noted(tmp_path: Path) -> None:
    notes: list[str] = []
    path = write(tmp_path / "stray.json", otlp([tool("t", "search", {})]))
    assert list(read_trajectories(path, on_note=notes.append)) == []
    assert notes == ["1 tool calls outside every agent run were left out"]


def test_a_folder_of_good_and_bad_files_gives_the_good_and_names_each_bad_one(tmp_path: Path) -> None:
    inner = tmp_path / "more"
    inner.mkdir()
    write(tmp_path / "a-bad.json", "{nonsense")
    write(tmp_path / "b-good.json", otlp(SPANS[:8]))
    write(tmp_path / "c-cut.jsonl", otlp(SPANS)[:-5])
    write(inner / "d-good.jsonl.gz", gzip.compress(otlp(SPANS[8:]).encode()))
    write(inner / "e-bad.bin", bytes(100))
    for ignored in (".hidden.json", "README.md", "gold.yaml"):
        write(tmp_path / ignored, "{nonsense")
    errors: list[str] = []
    found = tuple(read_trajectories(tmp_path, on_error=lambda e: errors.append(e.file)))
    assert found == RUNS
    assert errors == [str(tmp_path / "a-bad.json"), str(tmp_path / "c-cut.jsonl"), str(inner / "e-bad.bin")]
    with pytest.raises(FileFormatError, match=r"a-bad\.json"):
        list(read_trajectories(tmp_path))


def test_a_folder_without_files_is_noted(tmp_path: Path) -> None:
    notes: list[str] = []
    assert list(read_trajectories(tmp_path, on_note=notes.append)) == []
    assert notes == [f"{tmp_path}: no files"]


def test_score_lines_beside_the_spans_are_passed_over(tmp_path: Path) -> None:
    write(tmp_path / "scores.jsonl", json.dumps({"score": 1.0, "score_name": "composite", "label": "solid"}) + "\n")
    write(tmp_path / "spans.jsonl", otlp(SPANS))
    notes: list[str] = []
    assert tuple(read_trajectories(tmp_path, on_note=notes.append)) == RUNS
    assert notes == []


def test_a_protobuf_file_without_the_extra_names_the_extra_and_others_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "a.pb", protobuf(SPANS))
    write(tmp_path / "b.json", otlp(SPANS))
    monkeypatch.setitem(__import__("sys").modules, "opentelemetry.proto.trace.v1.trace_pb2", None)
    errors: list[str] = []
    assert tuple(read_trajectories(tmp_path, on_error=lambda error: errors.append(str(error)))) == RUNS
    (message,) = errors
    assert message.startswith(str(tmp_path / "a.pb"))
    assert "pip install 'agentpath-sdk[otlp]'" in message
