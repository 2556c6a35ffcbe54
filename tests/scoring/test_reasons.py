"""Findings and the first divergence: words that name step, tool, argument, expected and actual, without secrets."""

from __future__ import annotations

from typing import Any

import pytest

from agentpath_sdk.gold.matchers import Exact, Number, Regex
from agentpath_sdk.gold.model import CallStep, GoldPath
from agentpath_sdk.scoring.scorer import score_path
from agentpath_sdk.trajectories.model import ToolCall, ToolError, Trajectory


def gold(*steps: tuple[str, dict[str, Any] | None]) -> GoldPath:
    return GoldPath(
        id="g",
        steps=tuple(
            CallStep(
                tool=tool,
                arguments=None
                if given is None
                else {k: v if callable(v) else Exact(expected=v) for k, v in given.items()},
            )
            for tool, given in steps
        ),
    )


def run(*calls: tuple[str, Any], **more: Any) -> Trajectory:
    return Trajectory(
        steps=tuple(ToolCall(tool=tool, arguments=given) for tool, given in calls),
        **({"stop_reason": "finished"} | more),
    )


def test_first_divergence_and_where_the_run_comes_back() -> None:
    path = gold(
        ("a", {}), ("b", {}), ("calculator", {"x": Number(expected=3, abs_tolerance=0.1)}), ("d", {}), ("e", {})
    )
    actual = run(("a", {}), ("b", {}), ("calculator", {"x": 2}), ("z", {}), ("e", {}))
    score = score_path(actual, path)
    words = "step 3: calculator called with x = 2, gold expects 3 plus or minus 0.1"
    assert score.alignment.first_divergence == f"{words}; resynchronised at step 5"
    assert score.findings[0].message == f"{words}; first divergence; resynchronised at step 5"
    assert score.alignment.first_divergence_kind == "wrong_arguments calculator(x)"
    assert (score.findings[1].kind, score.findings[1].message) == ("wrong_tool", "step 4: z called, gold expects d")


def test_kinds_of_findings_with_their_places() -> None:
    path = gold(("a", None), ("b", None), ("c", None), ("d", None))
    score = score_path(run(("b", {}), ("a", {}), ("x", {}), ("d", {}), ("e", {})), path)
    assert [(f.kind, f.step, f.gold_step, f.tool) for f in score.findings] == [
        ("misplaced_step", 1, 0, "a"),
        ("wrong_tool", 2, 2, "x"),
        ("extra_step", 4, None, "e"),
    ]


def test_run_that_never_comes_back_says_so() -> None:
    score = score_path(run(("x", {}), ("y", {})), gold(("a", None), ("b", None)))
    assert score.alignment.first_divergence == "step 1: x called, gold expects a; not resynchronised"


def test_missing_step_is_named_by_the_golds_number() -> None:
    score = score_path(run(("a", {}), ("c", {})), gold(("a", None), ("b", None), ("c", None)))
    assert score.alignment.first_divergence == "gold step 2: b was not called; resynchronised at step 2"


def test_positions_are_compared_as_they_are_in_positional_mode() -> None:
    path, actual = gold(("a", None), ("b", None), ("c", None)), run(("a", {}), ("c", {}), ("b", {}))
    kinds = [f.kind for f in score_path(actual, path, mode="positional").findings]
    assert kinds == ["wrong_tool", "wrong_tool"]


def test_several_wrong_arguments_are_one_sentence() -> None:
    path = gold(("f", {"a": 1, "b": 2, "c": 3, "d": 4}))
    message = score_path(run(("f", {"a": 9, "b": 9})), path).findings[0].message
    assert message.startswith(
        "step 1: f called with a = 9, gold expects 1, and with b = 9, gold expects 2, and without c, gold expects 3, "
        "and 1 more"
    )


def test_failed_call_tells_how_it_failed() -> None:
    failed = ToolCall(
        tool="pay", arguments={}, outcome="error", error=ToolError(type="ValueError", message="no money  left")
    )
    path = GoldPath(id="g", steps=(CallStep(tool="pay", must_succeed=True),))
    score = score_path(Trajectory(steps=(failed,), stop_reason="finished"), path)
    assert score.findings[0].message.startswith(
        "step 1: pay ended with error (ValueError: no money left), gold says that it must succeed"
    )
    assert score.alignment.lines[0].kind == "failed"


def test_repeated_call_is_found_unless_the_gold_wants_it_or_the_first_failed() -> None:
    twice = run(("a", {"x": 1}), ("a", {"x": 1}))
    assert "repeated_call" in [f.kind for f in score_path(twice, gold(("a", {"x": 1}))).findings]
    assert score_path(twice, gold(("a", {"x": 1}), ("a", {"x": 1}))).findings == ()
    retried = Trajectory(
        steps=(ToolCall(tool="a", arguments={}, outcome="error"), ToolCall(tool="a", arguments={}, attempt=2)),
        stop_reason="finished",
    )
    assert "repeated_call" not in [f.kind for f in score_path(retried, gold(("a", {}))).findings]


def test_run_stopped_by_a_limit_is_found() -> None:
    assert "stopped_at_limit" in [
        f.kind for f in score_path(run(("a", {}), stop_reason="limit"), gold(("a", {}))).findings
    ]


SECRETS = (
    "sk-test-222-abcdefghijklmnop",
    "tok-333-abcdefghijklmnop",
    "pw-444-abcdefgh",
    "AIzaSyA-555-abcdefghijklmnopqrstuvwxyz0",
)


def test_no_secret_is_in_any_reason() -> None:
    given = {
        "api_key": SECRETS[0],
        "headers": {"Authorization": f"Bearer {SECRETS[1]}"},
        "password": SECRETS[2],
        "url": f"https://x.test/?key={SECRETS[3]}",
        "author": "Ann",
        "session_count": 3,
    }
    wanted: dict[str, Any] = dict.fromkeys(given, "Bob") | {"password": Regex(expected="pw-.*x")}
    failed = ToolCall(
        tool="call",
        arguments=given,
        outcome="error",
        error=ToolError(type="E", message=f"call with {SECRETS[0]} failed"),
    )
    actual = Trajectory(steps=(failed,), stop_reason="finished")
    for path in (gold(("call", wanted)), gold(("call", dict(given) | {"author": "Bob"})), gold(("call", {}))):
        text = str(score_path(actual, path).to_json())
        assert not [secret for secret in SECRETS if secret in text]
        assert "Ann" in text
    text = str(score_path(run(("call", wanted_values())), gold(("call", given))).to_json())
    assert not [secret for secret in SECRETS if secret in text]


def wanted_values() -> dict[str, Any]:
    return {"api_key": "x", "headers": {}, "password": "x", "url": "x", "author": "Bob", "session_count": 4}


def test_long_values_are_shortened() -> None:
    message = score_path(run(("f", {"x": "y" * 100_000})), gold(("f", {"x": "z" * 100_000}))).findings[0].message
    assert len(message) <= 600


@pytest.mark.parametrize("mode", ["aligned", "positional", "soft", "aligned_soft"])
def test_reasons_are_rendered_once_and_only_when_asked_for(mode: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from agentpath_sdk.scoring import findings

    rendered: list[int] = []
    real = findings.diff_lines

    def counted(*args: Any, **more: Any) -> Any:
        rendered.append(1)
        return real(*args, **more)

    monkeypatch.setattr(findings, "diff_lines", counted)
    score = score_path(run(("b", {})), gold(("a", {})), mode=mode)
    assert score.value is not None
    assert rendered == []
    assert score.findings == score.findings
    assert score.alignment.lines
    assert rendered == [1]
