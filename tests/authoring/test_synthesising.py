"""Templates with lists of values become gold paths."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentpath_sdk.errors import FileFormatError
from agentpath_sdk.gold.authoring.synthesising import MAX_PATHS, Synthetic, synthesise
from agentpath_sdk.gold.dumping import dump_paths, path_entry
from agentpath_sdk.gold.files import read_gold

pytest.importorskip("simpleeval")

ADD = """\
id: add-{a}-{b}
query: What is {a} plus {b}?
agent: maths
values: {a: [1, 2], b: [10, 20]}
computed: {total: "{a} + {b}"}
steps:
  - calculator: {expression: "{a} + {b}", left: "{a}"}
  - response
answer: "{total}"
"""

Synthesise = Callable[..., tuple[Synthetic, ...]]


@pytest.fixture
def synth(tmp_path: Path) -> Synthesise:
    """Synthesise from the text of a file."""

    def run(text: str, **more: Any) -> tuple[Synthetic, ...]:
        file = tmp_path / "template.yaml"
        file.write_text(text)
        return synthesise(file, **more)

    return run


def test_each_combination_is_a_path_with_its_values_filled_in(synth: Synthesise) -> None:
    made = synth(ADD, date="2026-03-01")
    assert [one.path.id for one in made] == ["add-1-10", "add-1-20", "add-2-10", "add-2-20"]
    path, values = made[1]
    assert values == {"a": 1, "b": 20, "total": 21}
    entry = path_entry(path)
    assert entry["queries"] == ["What is 1 plus 20?"]
    assert entry["steps"] == [{"calculator": {"expression": "1 + 20", "left": 1}}, "response"]
    assert entry["answer"] == 21
    told = path.provenance
    assert (told.kind, told.reference, told.date) == ("synthetic", "template template.yaml", "2026-03-01")


def test_the_paths_read_back(synth: Synthesise, tmp_path: Path) -> None:
    made = synth(ADD)
    file = tmp_path / "gold.yaml"
    file.write_text(dump_paths([one.path for one in made]))
    back = read_gold(file)
    assert back.problems == ()
    assert [path.steps for path in back.paths] == [one.path.steps for one in made]


def test_lists_can_be_zipped(synth: Synthesise) -> None:
    text = "query: '{a} {b}'\nvalues: {a: [1, 2], b: [x, y]}\ncombine: zip\nsteps: [{t: {a: '{a}'}}]\n"
    assert [one.path.queries for one in synth(text)] == [("1 x",), ("2 y",)]


def test_combinations_can_be_left_out(synth: Synthesise) -> None:
    text = "query: '{a} to {b}'\nvalues: {a: [x, y], b: [x, y]}\nwhere: ['{a} != {b}']\nsteps: [t]\n"
    assert [one.path.queries for one in synth(text)] == [("x to y",), ("y to x",)]


def test_a_sample_is_drawn_the_same_for_the_same_seed(synth: Synthesise) -> None:
    text = "query: '{a} {b} {c}'\nvalues:\n" + "".join(f"  {name}: {list(range(100))}\n" for name in "abc")
    text += "steps: [t]\n"
    first, again, other = (synth(text, sample=5, seed=seed) for seed in (1, 1, 2))
    assert [one.values for one in first] == [one.values for one in again]
    assert [one.values for one in first] != [one.values for one in other]
    assert len({one.path.id for one in first}) == 5
    with pytest.raises(FileFormatError, match=rf"gives 1000000 paths, {MAX_PATHS} at most"):
        synth(text)


def test_slots_stand_anywhere_and_values_keep_their_type(synth: Synthesise) -> None:
    text = """\
query: weather in {city}
values: {city: [Oslo], tool: [get_weather], days: [3], exact: [[1, 2]]}
steps:
  - optional:
      "{tool}": {city: {$fold: "{city}"}, days: "{days}", ids: "{exact}", text: "for {days} days: {exact}"}
"""
    [(path, _)] = synth(text)
    assert path_entry(path)["steps"] == [
        {
            "optional": {
                "get_weather": {"city": {"$fold": "Oslo"}, "days": 3, "ids": [1, 2], "text": "for 3 days: [1, 2]"}
            }
        }
    ]


def test_slots_without_values_stay_slots_of_the_gold_path(synth: Synthesise) -> None:
    text = (
        "query: weather in {city} for {days} days\nvalues: {days: [3]}\nsteps: [{t: {city: '{city}', n: '{days}'}}]\n"
    )
    [(path, _)] = synth(text)
    assert path.templates == ("weather in {city} for 3 days",)
    assert path_entry(path)["steps"] == [{"t": {"city": "{city}", "n": 3}}]


@pytest.mark.parametrize("further", ["", " in {city}"])
def test_braces_in_values_and_doubled_ones_are_meant_as_they_stand(
    synth: Synthesise, tmp_path: Path, further: str
) -> None:
    text = (
        f"query: 'find {{a}} {{{{b}}}}{further}'\nvalues: {{a: ['{{x}}']}}\nsteps: [{{t: {{q: '{{a}} {{{{b}}}}'}}}}]\n"
    )
    [(path, _)] = synth(text)
    file = tmp_path / "gold.yaml"
    file.write_text(dump_paths([path]))
    [back] = read_gold(file).paths
    assert back.steps == path.steps
    assert path.steps[0].arguments["q"]("{x} {b}").passed  # type: ignore[union-attr,index]  # a call with arguments
    if not further:
        assert path.queries == back.queries == ("find {x} {b}",)


def test_an_id_without_slots_is_numbered(synth: Synthesise) -> None:
    text = "id: add\nquery: '{a}'\nvalues: {a: [1, 2]}\nsteps: [t]\n"
    assert [one.path.id for one in synth(text)] == ["add-1", "add-2"]


def test_several_templates_may_share_a_file(synth: Synthesise) -> None:
    one = "query: 'one {a}'\nvalues: {a: [1]}\nsteps: [t]\n"
    assert len(synth(f"{one}---\n{one.replace('one', 'two')}")) == 2


@pytest.mark.parametrize(
    ("change", "place", "words"),
    [
        (("values: {a: [1, 2], b: [10, 20]}\n", ""), "line 1", "key 'values' is missing"),
        (("a: [1, 2]", "a: []"), "line 4, values.a", "at least 1 item"),
        (('{a} + {b}"}\n', '{a} + {bb}"}\n'), "line 5, computed.total", "there is no slot 'bb'"),
        (('{a} + {b}"}\n', '{a} / 0"}\n'), "line 5, computed.total", "division by zero"),
        (("computed: {total", "computed: {a"), "line 5, computed.a", "is under 'values' too"),
        (("  - response", "  - respons: {x: {$nope: 1}}"), "line 8, steps[1].respons.x.$nope", "'$nope'"),
        (("answer:", "anwser:"), "line 9, anwser", "unknown key 'anwser'"),
        (("values: {a: [1, 2]", "combine: zip\nvalues: {a: [1]"), "line 5, values", "a has 1, b has 2"),
        (("values: {a: [1, 2]", "combine: mix\nvalues: {a: [1]"), "line 4, combine", "expected"),
    ],
)
def test_each_mistake_is_named_with_its_place(
    synth: Synthesise, change: tuple[str, str], place: str, words: str
) -> None:
    assert change[0] in ADD
    with pytest.raises(FileFormatError) as caught:
        synth(ADD.replace(*change))
    assert caught.value.place == place
    assert words in caught.value.problem


def test_a_file_without_a_template_is_refused(synth: Synthesise) -> None:
    for text, words in (("", "no template"), ("- 3\n", "expected a template"), ("a: [", "no valid YAML")):
        with pytest.raises(FileFormatError, match=words):
            synth(text)
