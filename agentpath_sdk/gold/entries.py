"""The shape of gold files, as pydantic models; their JSON Schema is made from them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, TypeAlias, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints, WithJsonSchema

from agentpath_sdk.gold.expression import MAX_ANY_ORDER, MAX_REPEATS
from agentpath_sdk.gold.model import Effect, Extra, Severity, Status

__all__ = [
    "DEFINED_ELSEWHERE",
    "GROUPS",
    "AnyOrderEntry",
    "ComparingEntry",
    "FileEntry",
    "HeaderEntry",
    "OneOfEntry",
    "OptionalEntry",
    "ParallelEntry",
    "PathEntry",
    "ProvenanceEntry",
    "RepeatEntry",
    "RuleEntry",
    "SequenceEntry",
    "StepEntry",
    "ToolEntry",
]

DEFINED_ELSEWHERE: Final = "x-defined-as"
"""Key in the JSON Schemas of these models: the name of a definition that is not a model's."""


def _whole_number_as_text(value: Any) -> Any:
    return str(value) if type(value) is int else value


Text: TypeAlias = Annotated[str, StringConstraints(min_length=1, max_length=100_000)]
Name: TypeAlias = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=r"^\S(.*\S)?$")]
Label: TypeAlias = Annotated[Name, BeforeValidator(_whole_number_as_text, json_schema_input_type=Name | int)]
"""A name that people also write as a number: ``version: 2``."""
Share: TypeAlias = Annotated[float, Field(ge=0, le=1)]
Tolerance: TypeAlias = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Value: TypeAlias = Annotated[Any, WithJsonSchema({DEFINED_ELSEWHERE: "Value"})]
"""A plain value, or a matcher."""
Arguments: TypeAlias = Annotated[
    dict[str, Any],
    WithJsonSchema(
        {
            "type": "object",
            "additionalProperties": {DEFINED_ELSEWHERE: "Value"},
            # A matcher stands for a value, not for all arguments.
            "propertyNames": {"not": {DEFINED_ELSEWHERE: "MatcherWord"}},
        }
    ),
]
StepValue: TypeAlias = Annotated[Any, WithJsonSchema({DEFINED_ELSEWHERE: "Step"})]
Member: TypeAlias = Annotated[Any, WithJsonSchema({DEFINED_ELSEWHERE: "Member"})]
"""A step, or a list of steps: a sequence."""
PathValue: TypeAlias = Annotated[Any, WithJsonSchema({DEFINED_ELSEWHERE: "Path"})]
Answer: TypeAlias = Annotated[Any, WithJsonSchema({DEFINED_ELSEWHERE: "Answer"})]
Weights: TypeAlias = Annotated[Any, WithJsonSchema({DEFINED_ELSEWHERE: "Weights"})]


def _as_list(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


def _pairs(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return [{key: item} for key, item in cast("Mapping[Any, Any]", value).items()]


Names: TypeAlias = Annotated[
    list[Name],
    Field(min_length=1),
    BeforeValidator(_as_list, json_schema_input_type=Name | Annotated[list[Name], Field(min_length=1)]),
]
Pairs: TypeAlias = Annotated[
    list[Annotated[dict[Name, Name], Field(min_length=1, max_length=1)]],
    Field(min_length=1),
    BeforeValidator(_pairs, json_schema_input_type=dict[Name, Name] | list[dict[Name, Name]]),
]


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class ComparingEntry(_Entry):
    """How arguments are compared, for a step, a path or a file; the innermost word counts."""

    argument_mode: Literal["exact", "subset", "ignore"] | None = None
    fold_case: bool | None = None
    coerce_numbers: bool | None = None
    abs_tolerance: Tolerance | None = None
    rel_tolerance: Tolerance | None = None
    must_succeed: bool | None = None


class StepEntry(ComparingEntry):
    """One expected call in its long form."""

    tool: Name
    arguments: Arguments | None = None
    result: Value = None
    tool_defaults: dict[str, Any] | None = None


class OptionalEntry(_Entry):
    """A step, or several in a row, that a run may leave out."""

    optional: Member


class RepeatEntry(_Entry):
    """A step, or several in a row, that a run takes ``min`` to ``max`` times; without ``max`` as often as it likes."""

    repeat: Member
    min: Annotated[int, Field(ge=0, le=MAX_REPEATS)] = 1
    max: Annotated[int, Field(ge=1)] | None = None


class AnyOrderEntry(_Entry):
    """Members that may run in any order; ``parallel`` asks that they were asked for together."""

    any_order: Annotated[list[Member], Field(min_length=1, max_length=MAX_ANY_ORDER)]
    parallel: bool = False


class ParallelEntry(_Entry):
    """Members that are asked for together, in any order."""

    parallel: Annotated[list[Member], Field(min_length=1, max_length=MAX_ANY_ORDER)]


class OneOfEntry(_Entry):
    """Branches, of which a run takes one."""

    one_of: Annotated[list[Member], Field(min_length=1)]


class SequenceEntry(_Entry):
    """Steps in a row, as one step."""

    sequence: Annotated[list[StepValue], Field(min_length=1)]


GROUPS: Final[Mapping[str, type[_Entry]]] = {
    "optional": OptionalEntry,
    "repeat": RepeatEntry,
    "any_order": AnyOrderEntry,
    "one_of": OneOfEntry,
    "sequence": SequenceEntry,
    # Last: beside any_order it is an option.
    "parallel": ParallelEntry,
}
"""Key that makes a mapping a group of steps, and what the group may say."""


class RuleEntry(_Entry):
    """One path rule; each rule has one of the keys from ``requires`` to ``result``."""

    requires: dict[Name, Names] | None = None
    """Tool: what must have been called before it."""
    never: Names | None = None
    before: Name | None = None
    """With ``never``: not before this tool."""
    after: Name | None = None
    """With ``never``: not after this tool."""
    allowed: Annotated[list[Name], Field(min_length=1)] | None = None
    at_most: dict[Name, Annotated[int, Field(ge=0)]] | None = None
    at_least: dict[Name, Annotated[int, Field(ge=1)]] | None = None
    same_value: Pairs | None = None
    """Tool: argument, the first tool's value being the one that the others must repeat."""
    result: dict[Name, Value] | None = None
    agent: Name | None = None
    severity: Severity = "warning"
    name: Name | None = None


class ToolEntry(_Entry):
    """What is known about a tool."""

    defaults: dict[str, Any] = Field(default_factory=dict[str, Any])
    effect: Effect | None = None
    extra: Extra | None = None


class ProvenanceEntry(_Entry):
    """Where a path came from."""

    kind: Literal["manual", "generated", "promoted", "synthetic"] = "manual"
    reference: Text | None = None
    author: Text | None = None
    date: Text | None = None


class HeaderEntry(_Entry):
    """What a path may say, and a file may say for all its paths."""

    agent: Name | None = None
    version: Label | None = None
    status: Status | None = None
    provenance: ProvenanceEntry | None = None
    tags: list[Name] | None = None
    weights: Weights = None
    good_path: Share | None = None
    thresholds: dict[str, Share] | None = None
    defaults: ComparingEntry = ComparingEntry()
    tools: dict[str, ToolEntry] = Field(default_factory=dict[str, ToolEntry])


class PathEntry(HeaderEntry):
    """One gold path."""

    id: Label | None = None
    description: Text | None = None
    query: Text | None = None
    queries: list[Text] | None = None
    steps: list[StepValue]
    alternatives: list[list[StepValue]] | None = None
    answer: Answer = None
    candidates: list[Text] | None = None
    min_steps: Annotated[int, Field(ge=0)] | None = None


class FileEntry(HeaderEntry):
    """Several gold paths under one header."""

    description: Text | None = None
    paths: list[PathValue] = Field(default_factory=list[Any])
    rules: list[Annotated[Any, WithJsonSchema({DEFINED_ELSEWHERE: "RuleEntry"})]] = Field(default_factory=list[Any])
