"""Look-up among ten thousand registered queries and templates, reading them, and path rules."""

from __future__ import annotations

import json
import random
import tempfile
from pathlib import Path

from harness import Row, median_seconds

from agentpath_sdk.gold.dumping import dump_paths
from agentpath_sdk.gold.embedding import available, embed
from agentpath_sdk.gold.files import load_paths, parse_rules
from agentpath_sdk.gold.matchers import Exact, Fuzzy
from agentpath_sdk.gold.model import CallStep, GoldPath
from agentpath_sdk.gold.registry import GoldPathRegistry, LookUp
from agentpath_sdk.gold.rules import check_rules
from agentpath_sdk.gold.semantic import Semantic
from agentpath_sdk.gold.slots import Slot
from agentpath_sdk.trajectories.model import ToolCall, Trajectory

PATHS = 10_000
CALLS = 100

_WORDS = {
    "verb": "find book cancel compare explain list summarise translate convert check show describe",
    "kind": "average cheapest latest nearest largest oldest safest fastest warmest highest direct early",
    "thing": "temperature flight order train hotel planet moon river museum recipe invoice ticket report law song",
    "place": "Mars Oslo Berlin Kyiv Lima Quito Cairo Osaka Perth Bergen Turin Porto Leeds Basel Malmo Tartu",
}
_CHOICES = {name: words.split() for name, words in _WORDS.items()}
_TAILS = ["for two people", "in the evening", "with a window seat", "in plain words", "since last year", "by train"]


def _query(chance: random.Random, number: int) -> str:
    verb, kind, thing = (chance.choice(_CHOICES[name]) for name in ("verb", "kind", "thing"))
    places = [chance.choice(_CHOICES["place"]) for _ in range(2)]
    words = [verb, "the", kind, thing, "in", places[0], "and", places[1], chance.choice(_TAILS)]
    if number % 4 == 0:
        words.append(f"on 2024-{chance.randrange(1, 13):02}-{chance.randrange(1, 29):02}")
    return " ".join(words)


def _queries(chance: random.Random) -> list[str]:
    """Return distinct texts; three in four hold no number, so that they fall into one bucket: the worst case."""
    found: dict[str, None] = {}
    while len(found) < PATHS:
        found[_query(chance, len(found))] = None
    return list(found)


def _misspelt(query: str) -> str:
    return query.replace("the ", "teh ", 1)


def _paths(queries: list[str]) -> list[GoldPath]:
    steps = (CallStep(tool="search"), CallStep(tool="response"))
    return [GoldPath(id=f"path-{number}", queries=(query,), steps=steps) for number, query in enumerate(queries)]


def _one_by_one(registry: GoldPathRegistry, queries: list[str]) -> list[LookUp]:
    return [registry.find(query=query, agent="agent") for query in queries]


def _check(found: list[LookUp], how: str | None, least: float) -> None:
    """A fast look-up of nothing would be no result."""
    share = sum(one.how == how for one in found) / len(found)
    if share < least:
        raise AssertionError(f"only {share:.0%} of the look-ups were answered by {how}")


def _look_up_rows(registry: GoldPathRegistry, queries: list[str], chance: random.Random) -> list[Row]:
    picked = chance.sample(queries, CALLS)
    plain = [query for query in picked if not any(sign.isdigit() for sign in query)]
    near = [_misspelt(query) for query in plain]
    dated = [_misspelt(query) for query in picked if query not in plain]
    strange = [" ".join([*chance.sample(query.split(), 4), "please", "tell", "me", "more"]) for query in plain]
    _check(_one_by_one(registry, picked), "text", 1.0)
    _check(_one_by_one(registry, strange), None, 1.0)
    if not all(one.candidates for one in _one_by_one(registry, near)):
        raise AssertionError("a misspelt query has no candidate")
    cases = [
        ("look-up, equal text", picked, 1_000.0, "10,000 queries, normalised anew or from the cache"),
        ("look-up, similar text, no number", near, 10_000.0, "about 7,500 texts in the bucket"),
        ("look-up, similar text, with a date", dated, 10_000.0, ""),
        ("look-up, no such text", strange, 10_000.0, "about 7,500 texts in the bucket"),
    ]
    return [
        Row(
            name=name,
            value=median_seconds(lambda asked=asked: _one_by_one(registry, asked), calls=len(asked)) * 1e6,
            unit="us",
            goal=goal,
            note=note,
        )
        for name, asked, goal, note in cases
    ]


def _templates(queries: list[str]) -> list[str]:
    """Return a template per query, of four kinds: a slot at the end, at the start, in the middle, at both ends."""
    found: dict[str, None] = {}
    for number, query in enumerate(queries):
        words = query.split()
        kinds = (
            [*words[:-3], f"{number}", "{a}"],
            ["{a}", *words[2:], f"{number}"],
            [*words[:4], f"{number}", "{a}", *words[5:]],
            ["{a}", *words[2:5], f"{number}", *words[5:7], "{b}"],
        )
        found[" ".join(kinds[number % 4])] = None
    return list(found)


def _template_row(queries: list[str], chance: random.Random) -> Row:
    step = CallStep(tool="search", arguments={"query": Slot(pattern=Exact(expected="{a}"))})
    templates = _templates(queries)
    paths = [GoldPath(id=f"t-{at}", templates=(one,), steps=(step,)) for at, one in enumerate(templates)]
    registry = GoldPathRegistry(paths)
    asked = [one.format(a="two words", b="more") for one in chance.sample(templates, CALLS)]
    _check(_one_by_one(registry, asked), "template", 1.0)
    return Row(
        name="look-up, template",
        value=median_seconds(lambda: _one_by_one(registry, asked), calls=len(asked)) * 1e6,
        unit="us",
        goal=1_000.0,
        note="10,000 templates, slots filled into the path",
    )


def _rules_row() -> Row:
    rules = parse_rules(
        [
            {"requires": {"refund": "lookup"}},
            {"never": ["wire", "delete_*"]},
            {"allowed": ["lookup", "search*", "refund", "notify"]},
            {"at_most": {"search": 20}},
            {"same_value": {"lookup": "order", "refund": "order"}},
        ]
    )
    names = ["lookup", "search", "search", "refund", "notify"]
    run = Trajectory(steps=tuple(ToolCall(tool=name, arguments={"order": 17}) for name in names * 2))
    if any(result.passed is not True for result in check_rules(rules, run)):
        raise AssertionError("a rule is broken")
    value = median_seconds(lambda: [check_rules(rules, run) for _ in range(CALLS)], calls=CALLS) * 1e6
    return Row(name="path rules, 6 on a run of 10 calls", value=value, unit="us a run")


_PARAPHRASES = [
    ("average temperature on Mars", "Mars mean temp"),
    ("weather in Paris tomorrow", "tomorrow's forecast for Paris"),
    ("AAPL stock price", "price of Apple shares"),
    ("python list sort", "how to sort a list in Python"),
    ("Марс", "планета Марс"),
    ("средняя температура Марса", "температура Марса"),
    ("температура Марса", "Марс температура"),
    ("курс доллара", "стоимость USD в рублях"),
    ("погода в Париже завтра", "прогноз погоды на завтра в Париже"),
    ("average temperature on Mars", "средняя температура на Марсе"),
]
_OTHERS = [
    ("средняя температура Марса", "население Токио"),
    ("average temperature on Mars", "population of Tokyo"),
    ("book flight to NYC", "cancel flight to NYC"),
    ("Paris", "London"),
    ("flights on 2024-05-01", "flights on 2024-05-02"),
    ("купить билет в Москву", "отменить билет в Москву"),
    ("SELECT name FROM users", "SELECT email FROM users"),
]


def _meaning_rows() -> list[Row]:
    """Return how many paraphrases each matcher misses, and how many other texts it takes for the same."""
    if not available():
        return []
    found: list[Row] = []
    for name, kind in (("$fuzzy, threshold 0.8", Fuzzy), ("$semantic, threshold 0.6", Semantic)):
        missed = sum(not kind(expected=one)(other).passed for one, other in _PARAPHRASES)
        wrong = sum(kind(expected=one)(other).passed for one, other in _OTHERS)
        note = f"and {wrong} of {len(_OTHERS)} other texts taken for the same; English and Russian"
        found.append(Row(name=f"{name}: missed", value=missed, unit=f"of {len(_PARAPHRASES)}", note=note))
    value = median_seconds(lambda: embed([_PARAPHRASES[0][1]]), calls=1) * 1e6
    return [*found, Row(name="a text to its vector", value=value, unit="us", note="of the packaged model, one thread")]


def _file_rows(paths: list[GoldPath], folder: Path) -> list[Row]:
    yaml_file, lines_file = folder / "gold.yaml", folder / "gold.jsonl"
    yaml_file.write_text(dump_paths(paths[:1_000]), encoding="utf-8")
    records = ({"id": path.id, "query": path.queries[0], "gold_trajectory": ["search", "response"]} for path in paths)
    lines_file.write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    return [
        Row(
            name="read gold paths, YAML",
            value=median_seconds(lambda: load_paths(yaml_file), calls=1_000, rounds=5) * 1e6,
            unit="us a path",
        ),
        Row(
            name="read gold paths, JSON Lines",
            value=median_seconds(lambda: load_paths(lines_file), calls=PATHS, rounds=3) * 1e6,
            unit="us a path",
        ),
    ]


def rows() -> list[Row]:
    """Return microseconds per look-up and per path read."""
    chance = random.Random(20_240_501)
    queries = _queries(chance)
    paths = _paths(queries)
    registry = GoldPathRegistry(paths)
    with tempfile.TemporaryDirectory() as folder:
        looked_up = [*_look_up_rows(registry, queries, chance), _template_row(queries, chance)]
        return [*looked_up, _rules_row(), *_meaning_rows(), *_file_rows(paths, Path(folder))]


if __name__ == "__main__":
    for row in rows():
        print(f"{row.name:40} {row.value:10.1f} {row.unit} {row.note}")
