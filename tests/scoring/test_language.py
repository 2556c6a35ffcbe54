"""Of all the ways a gold path accepts, a run is compared with the one that gives the highest composite."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from agentpath_sdk.gold.model import AnyOrder, CallStep, GoldPath, OneOf, OptionalStep, Repeat, Sequence, Step
from agentpath_sdk.scoring import compiled
from agentpath_sdk.scoring import expansions as written_out
from agentpath_sdk.scoring.score import PathScore
from agentpath_sdk.scoring.scorer import score_path
from agentpath_sdk.settings import ScoringSettings
from agentpath_sdk.trajectories.model import Trajectory

from .language import PATHS, RUNS, STEPS, as_linear, calls, expansions, run_made_from

MODES: tuple[Any, ...] = ("aligned", "positional", "soft", "aligned_soft")


@pytest.fixture(params=["written out", "searched"], scope="module")
def _route(request: pytest.FixtureRequest) -> Iterator[None]:
    """Both ways of finding the best sequence."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "searched":
            patch.setattr(written_out, "_MOST_WORDS", 0)
        compiled._kept.clear()
        yield
    compiled._kept.clear()


def edits_of(score: PathScore, run: Trajectory) -> int:
    """Return the edits of a score's alignment."""
    pairs = [
        (line.gold, line.run)
        for line in score.alignment.lines
        if line.kind in ("match", "wrong_arguments") and line.gold is not None and line.run is not None
    ]
    gold = sum(line.gold is not None for line in score.alignment.lines)
    total, last_gold, last_run = 0, -1, -1
    for gold_at, run_at in (*pairs, (gold, len(run.steps))):
        total += max(gold_at - last_gold, run_at - last_run) - 1
        last_gold, last_run = gold_at, run_at
    return total


def by_trying_everything(
    path: GoldPath, run: Trajectory, mode: Any, given: ScoringSettings | None = None
) -> list[tuple[int, PathScore]]:
    """Return the best sequences, with their alternatives: highest composite, of these fewest edits."""
    scored = [
        (number, score_path(run, as_linear(path, word), mode=mode, settings=given)) for number, word in expansions(path)
    ]
    best = max(score.metrics["composite"] for _, score in scored)
    equals = [one for one in scored if one[1].metrics["composite"] == best]
    fewest = min(edits_of(score, run) for _, score in equals)
    return [one for one in equals if edits_of(one[1], run) == fewest]


NAMES = ("tool_accuracy", "argument_accuracy", "argument_similarity", "step_order_accuracy", "path_efficiency")


@pytest.mark.usefixtures("_route")
@settings(max_examples=100, deadline=None)
@given(PATHS, RUNS, st.sampled_from(MODES))
def test_alignment_is_the_one_that_trying_every_sequence_gives(path: GoldPath, run: Trajectory, mode: Any) -> None:
    assume(sum(1 for _ in expansions(path)) < 100)
    found, wanted = score_path(run, path, mode=mode), by_trying_everything(path, run, mode)
    first = min(number for number, _ in wanted)
    assert found.alignment.alternative in (first, None)
    lines = [score.alignment.lines for number, score in wanted if number == first]
    assert found.alignment.lines in lines
    same = wanted[0][1] if len(wanted) == 1 else None
    assert found.metrics["composite"] == wanted[0][1].metrics["composite"]
    assert same is None or {name: found.metrics[name] for name in NAMES} == {name: same.metrics[name] for name in NAMES}


WEIGHTS = st.sampled_from(
    [
        {"argument_similarity": 1.0},
        {"step_order_accuracy": 1.0},
        {"path_efficiency": 0.5, "recall": 0.5},
        {"precision": 0.5, "tool_accuracy": 0.5},
        {"graded_recall": 0.7, "path_efficiency": 0.3},
    ]
)


@pytest.mark.usefixtures("_route")
@settings(max_examples=60, deadline=None)
@given(PATHS, RUNS, WEIGHTS, st.sampled_from(MODES), st.booleans(), st.sampled_from([0.0, 0.5, 2.0]))
def test_other_weights_choose_by_their_own_composite(
    path: GoldPath, run: Trajectory, weights: dict[str, float], mode: Any, damerau: bool, credit: float
) -> None:
    chosen = ScoringSettings(weights=weights, damerau=damerau, position_credit=credit)
    assume(sum(1 for _ in expansions(path)) < 100)
    # Recall counts required steps only, which the plain gold paths cannot say.
    assume("recall" not in "".join(weights) or all(required for _, word in expansions(path) for _, required in word))
    found, wanted = score_path(run, path, mode=mode, settings=chosen), by_trying_everything(path, run, mode, chosen)
    assert found.metrics["composite"] == pytest.approx(wanted[0][1].metrics["composite"], abs=1e-9)


@pytest.mark.usefixtures("_route")
@settings(max_examples=60, deadline=None)
@given(PATHS, st.data())
def test_run_made_from_the_gold_loses_nothing_but_what_it_could_have_left_out(
    path: GoldPath, data: st.DataObject
) -> None:
    _, word = data.draw(st.sampled_from(list(expansions(path))[:50]))
    assume(not any(one.name != "exact" for step, _ in word for one in (step.arguments or {}).values()))
    score = score_path(run_made_from(word), path)
    shortest = sum(required for _, required in word)
    efficiency = min(1.0, shortest / len(word)) if word else 1.0
    assert score.metrics["composite"] >= round(0.8 + 0.2 * efficiency, 12)
    if shortest == len(word):
        assert {value for name, value in score.metrics.items()} == {1.0}
        assert score.alignment.first_divergence is None


@pytest.mark.usefixtures("_route")
@settings(max_examples=60, deadline=None)
@given(st.lists(calls() | STEPS, min_size=2, max_size=3), PATHS, RUNS, st.data())
def test_order_of_the_members_of_a_group_changes_nothing(
    members: list[Step], path: GoldPath, run: Trajectory, data: st.DataObject
) -> None:
    other = data.draw(st.permutations(members))
    scores = [
        score_path(run, replace(path, steps=(*path.steps, AnyOrder(steps=tuple(one))))).metrics
        for one in (members, other)
    ]
    assert scores[0]["composite"] == scores[1]["composite"]


@pytest.mark.usefixtures("_route")
@settings(max_examples=60, deadline=None)
@given(PATHS, PATHS, RUNS)
def test_further_alternative_never_lowers_the_composite(path: GoldPath, other: GoldPath, run: Trajectory) -> None:
    more = replace(path, alternatives=(*path.alternatives, other.steps, *other.alternatives))
    assert score_path(run, more).metrics["composite"] >= score_path(run, path).metrics["composite"]


@pytest.mark.usefixtures("_route")
@settings(max_examples=60, deadline=None)
@given(PATHS, STEPS, RUNS, st.data())
def test_optional_step_that_is_not_taken_never_lowers_the_composite(
    path: GoldPath, step: Step, run: Trajectory, data: st.DataObject
) -> None:
    at = data.draw(st.integers(0, len(path.steps)))
    more = replace(path, steps=(*path.steps[:at], OptionalStep(step=step), *path.steps[at:]))
    assert score_path(run, more).metrics["composite"] >= score_path(run, path).metrics["composite"]


def renamed(step: Step, names: dict[str, str]) -> Step:
    match step:
        case CallStep():
            return replace(step, tool=names.get(step.tool, step.tool))
        case Sequence() | AnyOrder():
            return replace(step, steps=tuple(renamed(one, names) for one in step.steps))
        case OneOf():
            return replace(step, branches=tuple(renamed(one, names) for one in step.branches))
        case OptionalStep() | Repeat():
            return replace(step, step=renamed(step.step, names))


@pytest.mark.usefixtures("_route")
@settings(max_examples=60, deadline=None)
@given(PATHS, RUNS, st.permutations("abcde"))
def test_renaming_tools_changes_no_score(path: GoldPath, run: Trajectory, order: list[str]) -> None:
    names = dict(zip("abcde", order, strict=True))
    other = replace(
        path,
        steps=tuple(renamed(step, names) for step in path.steps),
        alternatives=tuple(tuple(renamed(step, names) for step in way) for way in path.alternatives),
    )
    moved = replace(run, steps=tuple(replace(call, tool=names[call.tool]) for call in run.steps))
    assert score_path(moved, other).metrics == score_path(run, path).metrics
