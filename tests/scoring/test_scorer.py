"""Scores of whole runs: the reference example, terminal steps, edge rules, what is not evaluated, labels."""

from __future__ import annotations

import copy
import dataclasses
import json
import pickle
from typing import Any

import pytest

from agentpath_sdk.errors import ConfigurationError
from agentpath_sdk.gold.matchers import Exact, Ignore
from agentpath_sdk.gold.model import AnswerCheck, CallStep, GoldPath
from agentpath_sdk.scoring.score import METRICS, Alignment, PathScore
from agentpath_sdk.scoring.scorer import not_evaluated, score_best, score_path
from agentpath_sdk.settings import WEIGHT_PROFILES, ScoringSettings
from agentpath_sdk.trajectories.model import GoalWord, ToolCall, Trajectory

MODES: tuple[Any, ...] = ("aligned", "positional", "soft", "aligned_soft")
FOUR = ("tool_accuracy", "argument_accuracy", "step_order_accuracy", "path_efficiency")
NOT_OF_THE_PATH = {
    "goal_success",
    "answer_exact",
    "answer_f1",
    "write_f1",
    "way_efficiency",
    "effect_score",
    "rules_passed",
}
PATH_METRICS = [name for name in METRICS if name not in NOT_OF_THE_PATH]


def step(tool: str, given: dict[str, Any] | None = None, **more: Any) -> CallStep:
    return CallStep(
        tool=tool, arguments=None if given is None else {k: Exact(expected=v) for k, v in given.items()}, **more
    )


def gold(*steps: CallStep | str, **more: Any) -> GoldPath:
    return GoldPath(id="g", steps=tuple(step(s) if isinstance(s, str) else s for s in steps), **more)


def run(*calls: ToolCall | str, **more: Any) -> Trajectory:
    steps = tuple(ToolCall(tool=c, arguments={}) if isinstance(c, str) else c for c in calls)
    return Trajectory(steps=steps, **({"stop_reason": "finished"} | more))


def call(tool: str, given: Any = None, **more: Any) -> ToolCall:
    return ToolCall(tool=tool, arguments=given, **more)


REFERENCE = gold(
    step("retrieval", {"query": "средняя температура Марса"}),
    step("calculator", {"expression": "x * 1.8 + 32"}),
    step("response", {}),
)
REFERENCE_RUN = run(
    call("retrieval", {"query": "температура Марса"}),
    call("retrieval", {"query": "Марс температура"}),
    call("calculator", {"expression": "x * 1.8 + 32"}),
    call("response", {}),
    stop_reason="unknown",
)


@pytest.mark.parametrize(
    ("mode", "four", "composite"),
    [
        ("aligned", (0.75, 0.5, 0.75, 0.75), 0.675),
        ("positional", (0.25, 0.0, 0.75, 0.75), 0.375),
        ("soft", (0.5, 0.0, 0.75, 0.75), 0.45),
        ("aligned_soft", (0.75, 0.5, 0.75, 0.75), 0.675),
    ],
)
def test_reference_example_scores_exactly(mode: Any, four: tuple[float, ...], composite: float) -> None:
    score = score_path(REFERENCE_RUN, REFERENCE, mode=mode)
    assert tuple(score.metrics[name] for name in FOUR) == four
    assert score.value == score.metrics["composite"] == composite
    assert score.mode == mode


def test_reference_example_pairs_the_nearer_retrieval() -> None:
    score = score_path(REFERENCE_RUN, REFERENCE)
    assert score.metrics["argument_similarity"] == pytest.approx((0.81 + 1 + 1) / 4, abs=0.002)
    assert [(line.gold, line.run) for line in score.alignment.lines] == [(0, 0), (None, 1), (1, 2), (2, 3)]


def test_soft_credit_for_swapped_tools() -> None:
    swapped = run("a", "c", "b")
    assert score_path(swapped, gold("a", "b", "c"), mode="soft").metrics["tool_accuracy"] == pytest.approx(2 / 3)
    assert score_path(swapped, gold("a", "b", "c"), mode="aligned_soft").metrics["tool_accuracy"] == pytest.approx(
        2.5 / 3
    )


def test_swap_of_neighbours_is_one_edit_where_asked_for() -> None:
    swapped = run("a", "c", "b")
    plain = score_path(swapped, gold("a", "b", "c"))
    damerau = score_path(swapped, gold("a", "b", "c"), settings=ScoringSettings(damerau=True))
    assert plain.metrics["step_order_accuracy"] == pytest.approx(1 / 3)
    assert damerau.metrics["step_order_accuracy"] == pytest.approx(2 / 3)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "live",
    [
        run(*REFERENCE_RUN.steps[:0], call("retrieval", {"query": "средняя температура Марса"}),
            call("calculator", {"expression": "x * 1.8 + 32"}), final_answer="-81"),
        run(call("retrieval", {"query": "средняя температура Марса"}),
            call("calculator", {"expression": "x * 1.8 + 32"}), final_answer=None, stop_reason="finished"),
        run(call("retrieval", {"query": "средняя температура Марса"}),
            call("calculator", {"expression": "x * 1.8 + 32"}), call("finish", {"answer": "-81"}), final_answer="-81"),
    ],
    ids=["answer without a span", "answer not captured", "pseudo tool of another name"],
)  # fmt: skip
def test_live_run_that_follows_the_gold_scores_one_in_every_metric(live: Trajectory, mode: Any) -> None:
    score = score_path(live, REFERENCE, mode=mode)
    assert {score.metrics[name] for name in PATH_METRICS} == {1.0}
    assert score.alignment.first_divergence is None
    assert score.findings == ()


def test_missing_final_answer_is_a_missing_step() -> None:
    score = score_path(run("a", stop_reason="error"), gold("a", "finish"))
    assert score.metrics["tool_accuracy"] == 0.5
    assert [f.kind for f in score.findings if f.gold_step == 1] == ["missing_step"]


def test_gold_without_a_terminal_step_counts_none_in_the_run() -> None:
    score = score_path(run("a", "finish", "b", final_answer="x"), gold("a", "b"))
    assert score.value == 1.0
    assert [line.run for line in score.alignment.lines] == [0, 2]


def test_answer_without_a_span_has_no_step_index() -> None:
    lines = score_path(run("a", final_answer="x"), gold("a", "answer")).alignment.lines
    assert [(line.gold, line.run, line.kind) for line in lines] == [(0, 0, "match"), (1, None, "match")]


def test_terminal_tools_can_be_set() -> None:
    settings = ScoringSettings(terminal_tools=frozenset({"say"}))
    assert score_path(run("a", final_answer="x"), gold("a", "say"), settings=settings).value == 1.0
    assert score_path(run("a", final_answer="x"), gold("a", "finish"), settings=settings).value != 1.0


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("path", "actual", "value"),
    [
        (gold(), run(), 1.0),
        (gold(), run(final_answer="done"), 1.0),
        (gold(), run("a"), 0.0),
        (gold("a"), run(), 0.0),
        (gold("a"), run("a"), 1.0),
        (gold(step("a", {})), run("a"), 1.0),
    ],
    ids=["both empty", "answer only", "gold empty", "run empty", "unchecked", "no arguments expected, none given"],
)
def test_edges(path: GoldPath, actual: Trajectory, value: float, mode: Any) -> None:
    score = score_path(actual, path, mode=mode)
    assert {name: score.metrics[name] for name in PATH_METRICS} == dict.fromkeys(PATH_METRICS, value)
    json.loads(json.dumps(score.to_json(), allow_nan=False))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"completeness": "known_incomplete", "incomplete_reasons": ("2 spans dropped",)}, "2 spans dropped"),
        ({"stop_reason": "cancelled"}, "cancelled"),
        ({"stop_reason": "pending"}, "pending"),
        ({"stop_reason": "unknown", "steps": (call("a", {}, outcome="interrupted"),)}, "pending"),
        ({"stop_reason": "unknown", "steps": (call("a", {}, outcome="cancelled"),)}, "cancelled"),
    ],
)
def test_runs_that_cannot_be_scored_say_why(changes: dict[str, Any], reason: str, mode: Any) -> None:
    score = score_path(dataclasses.replace(run("a"), **changes), gold("a"), mode=mode)
    assert score.value is None
    assert score.label == "not_evaluated"
    assert reason in (score.not_evaluated or "")
    assert score.metrics == {}
    line = json.loads(json.dumps(score.to_json(), allow_nan=False))
    assert reason in line["tool_accuracy"]["not_evaluated"]
    assert reason in line["not_evaluated"]


def test_presumed_incomplete_is_scored_and_marked() -> None:
    actual = run("a", completeness="presumed_incomplete", incomplete_reasons=("root missing",))
    score = score_path(actual, gold("a"))
    assert score.value == 1.0
    assert score.completeness == "presumed_incomplete"
    assert "root missing" in next(f.message for f in score.findings if f.kind == "incomplete")


def test_no_gold_path_gives_findings_and_the_goal_only() -> None:
    actual = run(call("a", {"x": 1}), call("a", {"x": 1}), call("b", {}, outcome="error"), goal=GoalWord(success=True))
    score = score_best(actual, [])
    assert score.not_evaluated == "no gold path"
    assert score.metrics == {"goal_success": 1.0}
    assert [f.kind for f in score.findings] == ["failed_step", "repeated_call"]
    assert score.gold_path_id is None


@pytest.mark.parametrize(
    ("state", "words"),
    [("truncated", "arguments truncated"), ("not_captured", "arguments not captured"), ("redacted", "redacted")],
)
@pytest.mark.parametrize("mode", MODES)
def test_unknown_arguments_leave_the_tool_metrics(state: Any, words: str, mode: Any) -> None:
    actual = run("a", call("note", arguments_state=state))
    score = score_path(actual, gold("a", step("note", {"id": 42})), mode=mode)
    assert score.value is None
    assert words in (score.not_evaluated or "")
    assert score.metrics == {"tool_accuracy": 1.0, "step_order_accuracy": 1.0, "path_efficiency": 1.0}
    assert words in score.metric_reasons["argument_accuracy"]
    assert "step 2, note" in score.metric_reasons["graded_recall"]
    assert [line.kind for line in score.alignment.lines] == ["match", "match"]
    assert score_path(actual, gold("a", "note"), mode=mode).value == 1.0


def test_unknown_arguments_of_a_step_that_does_not_matter_are_no_obstacle() -> None:
    hidden = call("note", arguments_state="truncated")
    score = score_path(run(call("note", {"id": 42}), hidden), gold(step("note", {"id": 42})))
    assert score.metrics["argument_accuracy"] == 0.5
    assert score.metrics["recall"] == 1.0
    assert score_path(run("note", hidden), gold(step("note", {"id": 42}))).value is None
    assert score_path(run(hidden), gold(step("note", {"id": 42}, extra_arguments="allow"))).value is None
    ignored = CallStep(tool="note", arguments={"id": Ignore()}, extra_arguments="allow")
    assert score_path(run(hidden), gold(ignored)).value == 1.0


def test_arguments_that_are_no_object_do_not_match_and_are_evaluated() -> None:
    actual = run(call("a", None, arguments_state="unparsed", raw_arguments="[1, 2"))
    score = score_path(actual, gold(step("a", {"x": 1})))
    assert score.metrics["tool_accuracy"] == 1.0
    assert score.metrics["argument_accuracy"] == 0.0
    assert "[1, 2" in score.findings[0].message


def test_step_that_must_succeed_is_not_matched_by_a_failed_call() -> None:
    actual = run(*(call(name, {}, outcome="error" if name in "abd" else "ok") for name in "abcde"))
    score = score_path(actual, gold(*(step(name, must_succeed=True) for name in "abcde")))
    assert score.metrics["tool_accuracy"] == pytest.approx(2 / 5)
    assert [(f.kind, f.step) for f in score.findings] == [("failed_step", 0), ("failed_step", 1), ("failed_step", 3)]


def test_retry_meets_a_step_that_must_succeed() -> None:
    actual = run(call("a", {"x": 1}, outcome="error"), call("a", {"x": 1}, attempt=2))
    score = score_path(actual, gold(step("a", {"x": 1}, must_succeed=True)))
    assert [(line.gold, line.run) for line in score.alignment.lines if line.gold == 0] == [(0, 1)]
    assert score.metrics["recall"] == 1.0


def test_failure_that_does_not_matter_is_matched_with_a_finding() -> None:
    score = score_path(run(call("a", {}, outcome="error")), gold("a"))
    assert score.value == 1.0
    assert [f.kind for f in score.findings] == ["failed_step"]


def test_calls_of_one_tool_are_matched_one_to_one_for_the_most() -> None:
    """First come, first served would pair the first gold step with the only call that fits the second."""
    wanted = [{"a": 1, "b": 1, "c": 1}, {"a": 1, "b": 1, "c": 2}]
    actual = [{"a": 1, "b": 1, "c": 2}, {"a": 1, "b": 5, "c": 5}]
    for golds in (wanted, wanted[::-1]):
        for calls in (actual, actual[::-1]):
            score = score_path(run(*(call("book", c) for c in calls)), gold(*(step("book", g) for g in golds)))
            assert score.metrics["graded_recall"] == pytest.approx(2 / 3)
            assert score.metrics["recall"] == score.metrics["precision"] == 0.5


def test_repeated_expected_calls() -> None:
    path = gold(step("search", {"q": "x"}), step("search", {"q": "x"}))
    assert score_path(run(*[call("search", {"q": "x"})] * 2), path).value == 1.0
    once = score_path(run(call("search", {"q": "x"})), path)
    assert (once.metrics["recall"], once.metrics["precision"]) == (0.5, 1.0)


def test_extra_calls_are_charged_by_precision_only() -> None:
    score = score_path(run(*(call("weather", {"t": t}) for t in (9, 13, 21))), gold(step("weather", {"t": 9})))
    assert score.metrics["recall"] == 1.0
    assert score.metrics["precision"] == pytest.approx(1 / 3)


def test_in_order_two_of_three() -> None:
    score = score_path(run("A", "A", "B"), gold("A", "B", "A"))
    assert score.metrics["tool_accuracy"] == pytest.approx(2 / 3)
    assert score.value is not None
    assert score.value < 1.0


@pytest.mark.parametrize(
    ("success", "good", "label"),
    [
        (True, True, "solid"),
        (True, False, "lucky"),
        (False, True, "unlucky"),
        (False, False, "failed"),
        (None, True, "good_path"),
        (None, False, "bad_path"),
    ],
)
def test_label_joins_path_and_goal(success: bool | None, good: bool, label: str) -> None:
    word = None if success is None else GoalWord(success=success)
    assert score_path(run("a" if good else "b", goal=word), gold("a")).label == label


def test_threshold_of_a_good_path_is_inclusive_and_settable_per_path() -> None:
    actual = run("a", "a", "b", "c", "d", "e")
    value = score_path(actual, gold("a", "b", "c", "d", "e")).value
    assert value is not None
    assert score_path(actual, gold("a", "b", "c", "d", "e", good_path=value)).label == "good_path"
    assert score_path(actual, gold("a", "b", "c", "d", "e", good_path=value + 1e-6)).label == "bad_path"
    assert score_path(actual, gold("a", "b", "c", "d", "e"), settings=ScoringSettings(good_path=0.99)).label == (
        "bad_path"
    )


def test_weights_of_the_path_win_over_the_settings() -> None:
    settings = ScoringSettings(weights=WEIGHT_PROFILES["efficiency"])
    assert score_path(REFERENCE_RUN, REFERENCE, settings=settings).value == pytest.approx(0.7)
    own = dataclasses.replace(REFERENCE, weights={"tool_accuracy": 2.0})
    assert score_path(REFERENCE_RUN, own, settings=settings).value == 0.75


def test_weighted_goal_is_left_out_where_there_is_none_and_not_evaluated_where_unknown() -> None:
    weights = {"tool_accuracy": 1.0, "goal_success": 1.0}
    assert score_path(run("a"), gold("a", weights=weights)).value == 1.0
    assert score_path(run("a", goal=GoalWord(success=False)), gold("a", weights=weights)).value == 0.5
    unknown = score_path(run("a"), gold("a", weights=weights, answer=AnswerCheck(expected="x")))
    assert unknown.value is None
    assert unknown.metrics["tool_accuracy"] == 1.0
    assert score_path(run("a"), gold("a", weights={"goal_success": 1.0})).value is None


@pytest.mark.parametrize(
    "weights",
    [{"speed": 1.0}, {"tool_accuracy": -1.0}, {"tool_accuracy": float("nan")}, {}, {"tool_accuracy": 0.0}],
)
def test_weights_that_make_no_sense_leave_the_composite_out(weights: dict[str, float]) -> None:
    score = score_path(run("a", "b"), gold("a", weights=weights))
    assert score.value is None
    assert score.not_evaluated is not None
    assert "weight" in score.not_evaluated
    assert score.metrics["tool_accuracy"] == 0.5


def test_huge_weights_are_scaled() -> None:
    assert score_path(run("a"), gold("a", weights={"tool_accuracy": 1e308, "path_efficiency": 1e308})).value == 1.0


def test_shorter_run_is_clipped_at_one_and_marked() -> None:
    score = score_path(run("a"), gold("a", "b"))
    assert score.metrics["path_efficiency"] == 1.0
    assert "incomplete" in [f.kind for f in score.findings]


def test_least_steps_can_be_given() -> None:
    score = score_path(run("a", "b"), gold("a", "b", min_steps=1))
    assert score.metrics["path_efficiency"] == 0.5


def test_best_alternative_counts_and_is_named() -> None:
    paths = [
        dataclasses.replace(gold("x", "y"), id="far"),
        dataclasses.replace(gold("a", "b"), id="near"),
        dataclasses.replace(gold("a", "b"), id="same"),
    ]
    score = score_best(run("a", "b"), paths)
    assert (score.gold_path_id, score.value) == ("near", 1.0)


def test_alternative_with_fewer_edits_wins_a_tie() -> None:
    weights = {"tool_accuracy": 1.0}
    far = dataclasses.replace(gold("a", "x", "b", "y", weights=weights), id="four edits")
    near = dataclasses.replace(gold("c", "a", "d", "b", weights=weights), id="two edits")
    actual = run("a", "b", "c", "d")
    assert score_path(actual, far).value == score_path(actual, near).value
    fewer = score_best(actual, [far, near]).gold_path_id
    assert fewer == score_best(actual, [near, far]).gold_path_id


def test_alternative_that_is_not_evaluated_counts_only_where_none_is() -> None:
    hidden = run(call("a", arguments_state="truncated"))
    unknown = dataclasses.replace(gold(step("a", {"x": 1})), id="unknown")
    assert score_best(hidden, [unknown, gold("b")]).gold_path_id == "g"
    assert score_best(hidden, [unknown]).not_evaluated is not None


def test_unknown_mode_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="fuzzy"):
        score_path(run(), gold(), mode="fuzzy")  # type: ignore[arg-type]  # the wrong word is what is tested


def test_run_too_long_for_the_table_is_not_evaluated() -> None:
    score = score_path(run(*["b"] * 2_000), gold(*["a"] * 1_000))
    assert score.value is None
    assert "too long" in (score.not_evaluated or "")


def test_loop_of_many_equal_calls_is_scored() -> None:
    path = gold(*(step("search", {"q": f"red {w}"}) for w in ("car", "bus", "cab", "van", "bike", "ship")))
    score = score_path(run(*[call("search", {"q": "red"})] * 2_000), path)
    assert score.metrics["recall"] == 0.0
    assert 0.0 < score.metrics["graded_recall"] < 1.0


def test_scores_are_values() -> None:
    """Compared, copied, pickled and replaced like any frozen dataclass, rendered reasons and all."""
    score = score_path(REFERENCE_RUN, REFERENCE)
    again = score_path(REFERENCE_RUN, REFERENCE)
    assert score == again
    assert pickle.loads(pickle.dumps(score)) == copy.deepcopy(score) == copy.copy(again)
    assert dataclasses.replace(score, mode="soft").findings == score.findings
    with pytest.raises(dataclasses.FrozenInstanceError):
        score.value = 1.0  # type: ignore[misc]  # that it cannot be set is what is tested
    with pytest.raises(AttributeError):
        _ = score.nothing


def test_scores_do_not_share_their_mappings() -> None:
    first, second = score_path(run("a"), gold("a")), score_path(run("a"), gold("a"))
    assert first.metrics is not second.metrics
    assert first.metric_reasons is not second.metric_reasons


def test_score_can_be_built_by_hand() -> None:
    score = PathScore(value=0.5, name="composite", label="bad_path", metrics={"composite": 0.5})
    assert score.alignment == Alignment()
    assert score.to_json()["score"] == 0.5


def test_json_has_metrics_first_then_the_verdict() -> None:
    line = score_path(REFERENCE_RUN, REFERENCE).to_json()
    assert list(line)[: len(METRICS)] == list(METRICS)
    assert line["goal_success"] == {"not_evaluated": "neither the application nor an expected answer tells"}
    assert (line["score"], line["score_name"], line["label"]) == (0.675, "composite", "bad_path")
    assert (line["gold_path_id"], line["mode"], line["completeness"]) == ("g", "aligned", "complete")
    assert line["findings"][0]["kind"] == "wrong_arguments"
    assert line["alignment"]["lines"][1]["kind"] == "extra"
    assert json.loads(json.dumps(line, allow_nan=False)) == line


def test_not_evaluated_keeps_the_identity_of_the_gold() -> None:
    score = not_evaluated("paused", run("a"), gold("a"))
    assert (score.gold_path_id, score.gold_path_version, score.not_evaluated) == ("g", "1", "paused")
    assert set(score.metric_reasons) == set(METRICS)
