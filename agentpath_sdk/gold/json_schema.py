"""The JSON Schema of gold files, for editors: made from the models that read them."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from importlib import resources
from typing import Any, Final, cast

from pydantic import BaseModel

from agentpath_sdk.gold.entries import (
    DEFINED_ELSEWHERE,
    GROUPS,
    FileEntry,
    PathEntry,
    RuleEntry,
    StepEntry,
)
from agentpath_sdk.gold.notation import MATCHER_WORDS, matcher_schemas
from agentpath_sdk.gold.rule_entries import KINDS
from agentpath_sdk.gold.steps import STEP_KEYS
from agentpath_sdk.gold.wording import is_list
from agentpath_sdk.settings import METRICS, WEIGHT_PROFILES

__all__ = ["SCHEMA_FILE", "gold_schema", "schema_text", "written_schema"]

SCHEMA_FILE: Final = "gold-path.schema.json"
"""Name of the shipped file, beside this module."""

_REFERENCE: Final = "#/$defs/{}"
_HAS_WORD: Final = {"type": "object", "not": {"propertyNames": {"pattern": "^([^$]|$)"}}}
"""Fits a mapping with a key that starts with ``$``."""


def schema_text() -> str:
    """Return the shipped JSON Schema as text."""
    return resources.files("agentpath_sdk.gold").joinpath(SCHEMA_FILE).read_text(encoding="utf-8")


def gold_schema() -> dict[str, Any]:
    """Return the JSON Schema of a document of a gold file: a path, several, a record, or rules.

    It says what an editor can check while one writes. What takes more (a pattern that compiles, a tool named once in a
    step, slots that every query fills, bounds on groups inside groups) is left to loading.
    """
    definitions: dict[str, Any] = {}
    models: list[type[BaseModel]] = [PathEntry, FileEntry, RuleEntry, StepEntry, *GROUPS.values()]
    for model in models:
        definitions[model.__name__] = _of_model(model, definitions)
    definitions |= {
        "Value": _value(),
        "MatcherWord": {"enum": sorted(MATCHER_WORDS)},
        "Step": _step(),
        "Member": {"anyOf": [_ref("Step"), {"type": "array", "items": _ref("Step"), "minItems": 1}]},
        "ShortStep": _short_step(),
        "Answer": _answer(),
        "Weights": _weights(),
        "Record": _record(),
        "Path": _first_fitting([(_requires("gold_trajectory"), _ref("Record"))], _ref("PathEntry")),
    }
    definitions["RuleEntry"]["oneOf"] = [_requires(kind) for kind in KINDS]
    document = _first_fitting([({"anyOf": [_requires("paths"), _requires("rules")]}, _ref("FileEntry"))], _ref("Path"))
    root = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Gold paths",
        "description": "Gold paths and path rules of agentpath-sdk: one, several, or a list.",
        **_first_fitting([({"type": "array"}, {"items": _ref("Path")})], document),
    }
    return cast("dict[str, Any]", _resolved({**root, "$defs": dict(sorted(definitions.items()))}))


def _of_model(model: type[BaseModel], definitions: dict[str, Any]) -> dict[str, Any]:
    """Return the model's schema; those of the models inside it go to ``definitions``."""
    schema = model.model_json_schema()
    definitions.update(schema.pop("$defs", {}))
    return cast("dict[str, Any]", _plain(schema))


def _plain(schema: Any) -> Any:
    """Return the schema without titles made from field names, and with a description's code marks taken out."""
    if is_list(schema):
        return [_plain(inner) for inner in schema]
    if not isinstance(schema, dict):
        return schema
    kept = cast("dict[str, Any]", schema)
    return {key: _plain(value) for key, value in kept.items() if key != "title" or not isinstance(value, str)}


def _resolved(schema: Any) -> Any:
    """Return the schema with what is defined elsewhere as references."""
    if is_list(schema):
        return [_resolved(inner) for inner in schema]
    if not isinstance(schema, dict):
        return schema
    inner = cast("dict[str, Any]", schema)
    if DEFINED_ELSEWHERE in inner:
        rest = {key: value for key, value in inner.items() if key not in (DEFINED_ELSEWHERE, "default")}
        return {**rest, **_ref(inner[DEFINED_ELSEWHERE])}
    return {key: _resolved(value) for key, value in inner.items()}


def _ref(name: str) -> dict[str, Any]:
    return {"$ref": _REFERENCE.format(name)}


def _requires(*keys: str) -> dict[str, Any]:
    return {"type": "object", "required": list(keys)}


def _first_fitting(cases: list[tuple[Mapping[str, Any], Mapping[str, Any]]], otherwise: Mapping[str, Any]) -> Any:
    """Return a schema that is the first whose condition fits: an editor then shows the errors of that one only."""
    schema: Mapping[str, Any] = otherwise
    for condition, then in reversed(cases):
        schema = {"if": condition, "then": then, "else": schema}
    return dict(schema)


def _value() -> dict[str, Any]:
    matchers = [({"type": "object", "required": [word]}, schema) for word, schema in matcher_schemas().items()]
    inside = {"additionalProperties": _ref("Value"), "items": _ref("Value")}
    return {
        "description": "A value as it stands, or a matcher: a mapping whose first key starts with $.",
        **_first_fitting([(_HAS_WORD, _first_fitting([*matchers], {"enum": []}))], inside),
    }


def _step() -> dict[str, Any]:
    groups = [(_requires(word), _ref(entry.__name__)) for word, entry in GROUPS.items()]
    return {
        "description": "A tool, a tool with its arguments, or a group of steps.",
        **_first_fitting(
            [({"type": "string"}, {"minLength": 1}), (_requires("tool"), _ref("StepEntry")), *groups],
            _ref("ShortStep"),
        ),
    }


def _short_step() -> dict[str, Any]:
    """Return the schema of ``tool: {argument: value}`` with options beside it."""
    long_form = StepEntry.model_json_schema()["properties"]
    options = {key: _plain(long_form[key]) for key in sorted(STEP_KEYS - {"tool", "arguments"})}
    return {
        "type": "object",
        "minProperties": 1,
        "properties": options,
        "not": {"anyOf": [_requires("arguments"), _requires("steps")]},
        "propertyNames": {"pattern": r"^\S(.*\S)?$"},
        "additionalProperties": {"anyOf": [{"type": "null"}, long_form["arguments"]["anyOf"][0]]},
    }


def _answer() -> dict[str, Any]:
    text = {"type": "string", "pattern": r"\S"}
    schemas = matcher_schemas()
    words = {word: schemas[word] for word in ("$exact", "$fold", "$contains", "$regex", "$number", "$semantic")}
    # Fewest words in common have no like among the matchers of arguments; their form is that of nearness in meaning.
    words["$f1"] = {**schemas["$semantic"], "required": ["$f1"]}
    words["$f1"]["properties"] = {"$f1": text, "threshold": schemas["$semantic"]["properties"]["threshold"]}
    for word in ("$exact", "$fold", "$contains", "$regex"):
        words[word] = {**words[word], "properties": {word: text}}
    del words["$number"]["properties"]["coerce"]
    words["$number"]["properties"]["unit"] = text
    return {"anyOf": [text, {"type": "number"}, {"type": "array", "items": text, "minItems": 1}, *words.values()]}


def _weights() -> dict[str, Any]:
    parts = sorted({*METRICS} - {"composite", "effect_score"})
    weights = {part: {"type": "number", "minimum": 0} for part in parts}
    by_metric = {"type": "object", "properties": weights, "additionalProperties": False, "minProperties": 1}
    return {"anyOf": [{"enum": sorted(WEIGHT_PROFILES)}, by_metric]}


def _record() -> dict[str, Any]:
    return {
        "description": "A record of a program: its arguments are literal.",
        "type": "object",
        "required": ["gold_trajectory"],
        "properties": {
            "query": {"type": ["string", "null"]},
            "gold_trajectory": {
                "type": "array",
                "items": {"anyOf": [{"type": "string"}, {"type": "object", "required": ["tool"]}]},
            },
        },
    }


def written_schema() -> str:
    """Return the JSON Schema as the text of the shipped file."""
    return json.dumps(gold_schema(), ensure_ascii=False, indent=1) + "\n"


if __name__ == "__main__":
    sys.stdout.write(written_schema())
