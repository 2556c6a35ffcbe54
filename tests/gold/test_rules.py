"""Path rules: how they are written, what breaks them, and what is said about it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentpath_sdk.errors import FileFormatError
from agentpath_sdk.gold.describing import describe_rule
from agentpath_sdk.gold.dumping import dump_paths, rule_entry
from agentpath_sdk.gold.files import parse_path, parse_rules, read_gold
from agentpath_sdk.gold.linting import lint
from agentpath_sdk.gold.model import PathRule
from agentpath_sdk.gold.registry import GoldPathRegistry
from agentpath_sdk.gold.reloading import ReloadingRegistry
from agentpath_sdk.gold.rules import RuleWatch, check_rules, rules_passed, violated_at_once
from agentpath_sdk.trajectories.model import ToolCall, Trajectory


def _call(said: str | ToolCall) -> ToolCall:
    """``tool``, ``tool!`` for a failed call, ``tool@3`` for one of parallel group 3."""
    if isinstance(said, ToolCall):
        return said
    name, _, group = said.partition("@")
    outcome: Any = "error" if name.endswith("!") else "ok"
    return ToolCall(tool=name.rstrip("!"), outcome=outcome, parallel_group=int(group) if group else None)


def _verdicts(
    rule: dict[str, Any], *calls: str | ToolCall, **more: Any
) -> list[tuple[bool | None, tuple[int, ...], str]]:
    run = Trajectory(steps=tuple(map(_call, calls)), **more)
    return [(one.passed, one.steps, one.message) for one in check_rules(parse_rules([rule]), run)]


def _only(rule: dict[str, Any], *calls: str | ToolCall, **more: Any) -> tuple[bool | None, tuple[int, ...], str]:
    (verdict,) = _verdicts(rule, *calls, **more)
    return verdict


REQUIRES = {"requires": {"refund": "lookup"}}


@pytest.mark.parametrize(
    ("rule", "calls", "passed", "steps", "message"),
    [
        (REQUIRES, ["lookup", "refund"], True, (), ""),
        (REQUIRES, ["lookup"], True, (), ""),
        (REQUIRES, [], True, (), ""),
        (REQUIRES, ["refund", "lookup"], False, (0,), "step 1: refund was called without lookup before it"),
        (REQUIRES, ["lookup!", "refund"], False, (1,), "step 2: refund was called without lookup before it"),
        (REQUIRES, ["lookup@1", "refund@1"], False, (1,), "step 2: refund was called without lookup before it"),
        (REQUIRES, ["lookup@1", "lookup@2", "refund@1"], True, (), ""),
        (REQUIRES, ["lookup@1", "x@2", "refund@2"], True, (), ""),
        ({"never": "wire"}, ["a", "wire!", "wire"], False, (1, 2), "step 2: wire must never be called"),
        ({"never": "delete_*"}, ["delete_all"], False, (0,), "step 1: delete_all must never be called"),
        ({"never": "wire"}, ["wired"], True, (), ""),
        ({"never": "notify", "before": "pay"}, ["pay", "notify"], True, (), ""),
        ({"never": "notify", "before": "pay"}, ["notify"], True, (), ""),
        (
            {"never": "notify", "before": "pay"},
            ["notify", "a", "pay"],
            False,
            (0, 2),
            "step 3: pay was called after notify (step 1)",
        ),
        ({"never": "notify", "before": "pay"}, ["notify@1", "pay@1"], True, (), ""),
        (
            {"never": "search", "after": "pay"},
            ["search", "pay", "search", "search"],
            False,
            (1, 2, 3),
            "step 3: search was called after pay (step 2)",
        ),
        ({"allowed": ["a", "b*"]}, ["a", "bb", "final_answer"], True, (), ""),
        ({"allowed": ["a"]}, ["a", "sh"], False, (1,), "step 2: sh is not among the allowed tools"),
        ({"at_most": {"a": 1}}, ["a", "b", "a!"], False, (2,), "step 3: a was called more often than once"),
        ({"at_most": {"a": 0}}, ["a"], False, (0,), "step 1: a must not be called at all"),
        ({"at_most": {"a": 2}}, ["a", "a"], True, (), ""),
        ({"at_least": {"a": 2}}, ["a", "a"], True, (), ""),
        (
            {"at_least": {"a": 2}},
            ["a", "a!"],
            False,
            (),
            "a was called once without an error, at least 2 are needed",
        ),
    ],
)
def test_a_rule_holds_or_is_broken_with_evidence(
    rule: dict[str, Any], calls: list[str], passed: bool, steps: tuple[int, ...], message: str
) -> None:
    verdict = _only(rule, *calls)
    assert verdict[:2] == (passed, steps)
    assert verdict[2].startswith(message)
    assert bool(verdict[2]) == bool(message)


def _tool(name: str, result: Any = None, **arguments: Any) -> ToolCall:
    return ToolCall(tool=name, arguments=arguments, result=result)


SAME = {"same_value": {"lookup": "order", "refund": "order"}}


@pytest.mark.parametrize(
    ("rule", "calls", "message"),
    [
        (SAME, [_tool("lookup", order=17), _tool("refund", order=17.0)], ""),
        (SAME, [_tool("lookup", order=17), _tool("lookup", order=18), _tool("refund", order=18)], ""),
        (SAME, [_tool("refund", order=18)], ""),
        (
            SAME,
            [_tool("lookup", order=17), _tool("refund", order=18)],
            "step 2: refund.order is 18, lookup.order was 17 (step 1)",
        ),
        (
            SAME,
            [_tool("lookup", order=17), _tool("refund")],
            "step 2: refund.order is missing, lookup.order was 17 (step 1)",
        ),
        (
            {"same_value": {"pay": "account.id"}},
            [_tool("pay", account={"id": 1}), _tool("pay", account={"id": 1}), _tool("pay", account={"id": 2})],
            "step 3: pay.account.id is 2, pay.account.id was 1 (step 1)",
        ),
        (
            {"same_value": {"lookup": "$result.rows.0.id", "refund": "order"}},
            [_tool("lookup", result='{"rows": [{"id": 5}]}'), _tool("refund", order=6)],
            "step 2: refund.order is 6, lookup.$result.rows.0.id was 5 (step 1)",
        ),
        (
            {"same_value": [{"login": "password"}, {"confirm": "password"}]},
            [_tool("login", password="hunter2"), _tool("confirm", password="hunter3")],
            'step 2: confirm.password is "[redacted]", login.password was "[redacted]" (step 1)',
        ),
    ],
)
def test_a_value_must_be_one_from_before(rule: dict[str, Any], calls: list[ToolCall], message: str) -> None:
    passed, _, said = _only(rule, *calls)
    assert (passed, said) == (not message, message)


def test_a_value_that_was_not_recorded_is_not_evaluated() -> None:
    unknown = ToolCall(tool="refund", arguments_state="truncated")
    assert _only(SAME, _tool("lookup", order=17), unknown) == (None, (), "step 2: refund.order is not known")
    first = ToolCall(tool="lookup", arguments_state="redacted")
    assert _only(SAME, first, _tool("lookup", order=1), _tool("refund", order=2))[0] is None


RESULT = {"result": {"search": {"$contains": "Mars"}}}


@pytest.mark.parametrize(
    ("call", "passed", "message"),
    [
        (_tool("search", result="about Mars"), True, ""),
        (_tool("search", result=[{"type": "text", "text": "about Mars"}]), True, ""),
        (_tool("other", result="x"), True, ""),
        (_tool("search", result="Venus"), False, "step 1: the result of search does not fit: "),
        (ToolCall(tool="search", outcome="error"), False, "step 1: search ended with error instead of a result"),
        (ToolCall(tool="search", result_state="truncated"), None, "step 1: the result of search is truncated"),
    ],
)
def test_every_result_of_a_tool_must_fit(call: ToolCall, passed: bool | None, message: str) -> None:
    verdict = _only(RESULT, call)
    assert verdict[0] is passed
    assert verdict[2].startswith(message)


def test_no_secret_of_a_result_is_told() -> None:
    _, _, message = _only(RESULT, _tool("search", result={"api_key": "sk-test-222aaaaaaaaaaaaaaaaaa", "a": "Venus"}))
    assert "sk-test" not in message
    assert "Venus" in message


@pytest.mark.parametrize(
    ("rule", "calls", "passed"),
    [
        ({"never": "wire"}, ["wire"], False),
        ({"never": "wire"}, ["a"], None),
        (REQUIRES, ["refund"], None),
        ({"at_least": {"a": 1}}, [], None),
        ({"at_least": {"a": 1}}, ["a"], True),
        ({"at_most": {"a": 0}}, ["a"], False),
    ],
)
def test_with_calls_missing_only_what_is_sure_is_said(
    rule: dict[str, Any], calls: list[str], passed: bool | None
) -> None:
    assert _only(rule, *calls, completeness="known_incomplete")[0] is passed


def test_a_run_that_is_not_at_its_end_need_not_have_called_everything_yet() -> None:
    assert _only({"at_least": {"a": 1}}, stop_reason="pending")[0] is None
    assert _only({"at_least": {"a": 1}}, stop_reason="limit")[0] is False


def test_the_share_of_rules_passed_leaves_out_what_was_not_evaluated() -> None:
    rules = parse_rules([{"never": ["a", "b"]}, {"allowed": ["a", "b"]}, RESULT])
    run = Trajectory(steps=(_call("a"), ToolCall(tool="search", result_state="truncated")))
    results = check_rules(rules, run)
    assert [result.passed for result in results] == [False, True, False, None]
    assert rules_passed(results) == pytest.approx(1 / 3)
    assert rules_passed(()) is None


def test_a_rule_is_for_runs_of_its_agent() -> None:
    rules = (*parse_rules([{"never": "a"}], agent="support-*"), *parse_rules([{"never": "a", "agent": "sales"}]))
    run = Trajectory(steps=(_call("a"),), agent="support-eu")
    assert [result.rule.agent for result in check_rules(rules, run)] == ["support-*"]
    assert check_rules(rules, Trajectory(agent="other")) == ()


def test_a_rule_that_lacks_its_parts_and_a_matcher_that_raises_are_not_evaluated() -> None:
    class Broken:
        name = "broken"
        expected = None

        def __call__(self, actual: Any) -> Any:
            raise RuntimeError("x")

    from agentpath_sdk._guard import HEALTH

    before = HEALTH.counts().get("fault.gold.rule", 0)
    rules = [PathRule(kind="requires", tools=("a",)), PathRule(kind="result", tools=("a",), result=Broken())]
    results = check_rules(rules, Trajectory(steps=(_call("a"),)))
    assert [result.passed for result in results] == [None, None]
    assert results[1].message == "the rule could not be checked: RuntimeError"
    assert HEALTH.counts()["fault.gold.rule"] == before + 2


def test_evidence_is_bounded() -> None:
    (result,) = check_rules(parse_rules([{"never": "a"}]), Trajectory(steps=(_call("a"),) * 1_000))
    assert len(result.steps) == 20
    many = [_tool("lookup", order=number) for number in range(300)]
    assert _only(SAME, *many, _tool("refund", order=-1))[0] is True


# --- while the run goes on -------------------------------------------------------------------------


def test_a_forbidden_call_is_known_at_once_and_told_once() -> None:
    watch = RuleWatch(parse_rules([{"never": "wire", "severity": "critical"}, REQUIRES, {"at_least": {"a": 1}}]))
    assert watch.see(_call("a")) == ()
    (broken,) = watch.see(_call("wire"))
    assert (broken.rule.severity, broken.steps) == ("critical", (1,))
    assert watch.see(_call("wire")) == ()
    assert [one.rule.kind for one in watch.see(_call("refund"))] == ["requires"]


def test_a_single_call_is_judged_by_the_rules_that_need_no_other() -> None:
    rules = parse_rules([{"never": "wire"}, {"allowed": ["wire"]}, REQUIRES, {"at_most": {"wire": 0, "b": 1}}, RESULT])
    assert [one.rule.kind for one in violated_at_once(rules, _call("wire"))] == ["never", "at_most"]
    assert [one.rule.kind for one in violated_at_once(rules, _call("refund"))] == ["allowed"]


NAMES = st.sampled_from(["a", "b", "a!", "b!", "a@1", "b@1", "c"])
SOME_RULES = parse_rules(
    [
        {"requires": {"a": "b"}},
        {"never": "c"},
        {"never": "a", "before": "b"},
        {"never": "a", "after": "b"},
        {"allowed": ["a", "b"]},
        {"at_most": {"a": 2}},
        {"at_least": {"b": 1}},
    ]
)


@given(st.lists(NAMES, max_size=8))
def test_each_rule_agrees_with_its_meaning_spelt_out(names: list[str]) -> None:
    calls = [_call(name) for name in names]

    def before(one: int, other: int) -> bool:
        group = calls[one].parallel_group
        return one < other and (group is None or group != calls[other].parallel_group)

    where = {tool: [at for at, call in enumerate(calls) if call.tool == tool] for tool in "abc"}
    good = {tool: [at for at in where[tool] if calls[at].outcome == "ok"] for tool in "abc"}
    expected = [
        all(any(before(b, a) for b in good["b"]) for a in where["a"]),
        not where["c"],
        not any(before(a, b) for a in where["a"] for b in where["b"]),
        not any(before(b, a) for a in where["a"] for b in where["b"]),
        not where["c"],
        len(where["a"]) <= 2,
        bool(good["b"]),
    ]
    results = check_rules(SOME_RULES, Trajectory(steps=tuple(calls)))
    assert [result.passed for result in results] == expected
    watch = RuleWatch(SOME_RULES)
    told = [one.rule for call in calls for one in watch.see(call)]
    broken = [one.rule for one in results if one.passed is False and one.rule.kind != "at_least"]
    assert sorted(map(repr, told)) == sorted(map(repr, broken))


# --- files ----------------------------------------------------------------------------------------


def test_one_entry_may_stand_for_several_rules() -> None:
    rules = parse_rules(
        [
            {"requires": {"refund": ["lookup", "check"], "pay": "check"}},
            {"never": ["x", "y"]},
            {"at_most": {"a": 1, "b": 2}},
        ]
    )
    assert [(rule.kind, rule.tools) for rule in rules] == [
        ("requires", ("refund", "lookup")),
        ("requires", ("refund", "check")),
        ("requires", ("pay", "check")),
        ("never", ("x",)),
        ("never", ("y",)),
        ("at_most", ("a",)),
        ("at_most", ("b",)),
    ]


@pytest.mark.parametrize(
    ("rule", "problem"),
    [
        ({}, "expected one of requires, never, allowed, at_most, at_least, same_value, result, found none"),
        ({"never": "a", "allowed": ["a"]}, "expected one of requires, never, allowed, at_most, at_least, same_value,"),
        ({"forbidden": "a"}, "unknown key 'forbidden' (did you mean 'never'?)"),
        ({"at_most": {"a": "3"}}, "expected a whole number, found text"),
        ({"at_most": {"a": -1}}, "expected a number of at least 0, found number -1"),
        ({"requires": {"a": 3}}, "expected a list, found number 3"),
        ({"requires": {"a": "a"}}, "'a' cannot require itself"),
        ({"allowed": "a", "before": "b"}, "expected a list, found text"),
        ({"allowed": ["a"], "before": "b"}, "'before' beside 'allowed'; it belongs to 'never'"),
        ({"never": "a", "before": "b", "after": "c"}, "'before' and 'after' in one rule; expected one of them"),
        ({"never": "a", "severity": "high"}, "expected 'info', 'warning' or 'critical'"),
        ({"result": {"a": {"$fuzy": "x"}}}, "unknown matcher '$fuzy'"),
        ({"same_value": {"a": 1}}, "expected a text, found number 1"),
        ("never a", "expected a mapping"),
    ],
)
def test_a_mistake_in_a_rule_is_told(rule: Any, problem: str) -> None:
    with pytest.raises(FileFormatError) as caught:
        parse_rules([rule])
    assert problem in str(caught.value)


def test_rules_come_from_files_with_and_without_paths(tmp_path: Any) -> None:
    (tmp_path / "rules.yaml").write_text("agent: support\nrules:\n- never: wire\n", encoding="utf-8")
    (tmp_path / "both.yaml").write_text(
        "agent: sales\nrules: [{never: x, agent: any-*}]\npaths: [{id: a, steps: []}]\n", encoding="utf-8"
    )
    (tmp_path / "bad.yaml").write_text("rules: [{never: y}, 3]\n", encoding="utf-8")
    read = read_gold(tmp_path)
    assert [(rule.tools, rule.agent) for rule in read.rules] == [(("x",), "any-*"), (("wire",), "support")]
    assert len(read.problems) == 1
    assert read.notes == ()
    (tmp_path / "bad.yaml").unlink()
    registry = GoldPathRegistry(tmp_path)
    assert [rule.tools for rule in registry.rules_for("support")] == [("wire",)]
    assert registry.rules_for(None) == ()
    assert ReloadingRegistry(tmp_path).rules_for("any-one") == registry.rules_for("any-one")


RULES = st.sampled_from(
    parse_rules(
        [
            {"requires": {"refund": "lookup"}, "severity": "critical", "name": "look before"},
            {"never": ["a", "b"]},
            {"never": "a", "before": "b"},
            {"never": "a", "after": "b", "agent": "x*"},
            {"allowed": ["a", "b"]},
            {"at_most": {"a": 0}},
            {"at_least": {"a": 2}, "severity": "info"},
            {"same_value": [{"a": "x"}, {"a": "y.z"}]},
            {"result": {"a": {"$contains": "x"}, "b": None}},
        ]
    )
)


@given(st.lists(RULES, max_size=4))
def test_written_rules_read_back_equal(rules: list[PathRule]) -> None:
    assert parse_rules([rule_entry(rule) for rule in rules]) == tuple(rules)


def test_paths_and_rules_are_written_to_one_file(tmp_path: Any) -> None:
    path = parse_path({"id": "p", "agent": "x", "steps": ["a"]})
    rules = parse_rules([{"never": "b"}], agent="x")
    file = tmp_path / "gold.yaml"
    file.write_text(dump_paths([path], rules), encoding="utf-8")
    registry = GoldPathRegistry(file)
    assert [one.id for one in registry.paths] == ["p"]
    assert [rule.tools for rule in registry.rules_for("x")] == [("b",)]


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ({**REQUIRES, "severity": "critical"}, "refund needs lookup before it (critical)"),
        ({"never": "a", "name": "no a"}, "no a: a is never called"),
        ({"never": "a", "after": "b"}, "a is never called after b"),
        ({"allowed": ["a", "b"]}, "no other tools are called than a, b"),
        (SAME, "refund.order must be a value that lookup.order had before"),
        ({"same_value": {"a": "x"}}, "a.x is the same in all calls"),
        (RESULT, 'every result of search is a text or list that contains "Mars"'),
    ],
)
def test_rules_in_plain_words(rule: dict[str, Any], words: str) -> None:
    (one,) = parse_rules([rule])
    assert describe_rule(one) == words


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ([{"never": "a"}, {"at_least": {"a": 1}}], "a must be called and must never be called"),
        ([{"at_most": {"a": 1}}, {"at_least": {"a": 2}}], "a is to be called at most 1 and at least 2 times"),
        ([{"requires": {"a": "b"}}, {"requires": {"b": "a"}}], "neither can ever be called"),
        ([{"requires": {"a": "b"}}, {"never": "b"}], "a needs b, which is never to be called, so it can never"),
        ([{"allowed": ["a"]}, {"requires": {"a": "b"}}], "a needs b, which is not allowed"),
        ([{"never": "b", "before": "a"}, {"requires": {"a": "b"}}], "a needs b, which is never to be called before it"),
        ([{"never": "a", "after": "b"}, {"requires": {"a": "b"}}], "a needs b, and is never to be called after it"),
        ([{"never": "a*"}, {"allowed": ["ab"]}], "a* is allowed and never to be called"),
        ([{"at_most": {"a": 1}}, {"at_most": {"a": 2}}], "is there with 1 and with 2; only one of them decides"),
        ([{"never": "a"}, {"never": "a"}], "is there twice"),
        ([{"never": "a", "agent": "x"}, {"at_least": {"a": 1}, "agent": "y"}], None),
        ([{"never": "a"}, {"allowed": ["b"]}, {"requires": {"b": "c"}, "agent": "x"}], "a needs"),
    ],
)
def test_rules_that_stand_against_each_other_are_pointed_out(rules: list[Any], message: str | None) -> None:
    found = [one for one in lint((), parse_rules(rules)) if one.kind == "rule_conflict"]
    if message == "a needs":
        assert [one.message for one in found] == [
            "b needs c before it: b needs c, which is not allowed, so it can never be called"
        ]
        return
    assert [message in one.message for one in found if message] == ([] if message is None else [True])


def test_paths_that_break_a_rule_are_pointed_out() -> None:
    path = parse_path(
        {"id": "p", "agent": "x", "steps": [{"one_of": [["a", "wire"], "a"]}, "a", {"optional": "sh"}, "response"]}
    )
    rules = parse_rules(
        [{"never": "wire"}, {"allowed": ["a", "wire"]}, {"at_most": {"a": 1}}, {"never": "a", "agent": "y"}]
    )
    assert [one.message for one in lint([path], rules) if one.path_id == "p"] == [
        "step 1.1.2 is wire, but the rule says: wire is never called",
        "step 3 is sh, but the rule says: no other tools are called than a, wire",
        "takes a 2 times, but the rule says: a is called at most 1 times",
    ]
