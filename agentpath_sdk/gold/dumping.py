"""Gold paths and rules written as YAML that reads back to equal values, short forms where they say it all."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, cast

import yaml

from agentpath_sdk.errors import ConfigurationError
from agentpath_sdk.gold.answers import answer_notation
from agentpath_sdk.gold.expression import all_calls
from agentpath_sdk.gold.matcher_writing import matcher_notation
from agentpath_sdk.gold.model import (
    AnyOrder,
    CallStep,
    GoldPath,
    OptionalStep,
    PathRule,
    Provenance,
    Repeat,
    Step,
)
from agentpath_sdk.gold.model import OneOf as Branches
from agentpath_sdk.gold.model import Sequence as InSequence
from agentpath_sdk.gold.slots import escaped, slot_names
from agentpath_sdk.gold.steps import GROUP_WORDS, STEP_KEYS
from agentpath_sdk.gold.wording import json_text
from agentpath_sdk.gold.yaml_core import Dumper

__all__ = ["dump_paths", "path_entry", "rule_entry"]


def dump_paths(paths: Iterable[GoldPath], rules: Iterable[PathRule] = ()) -> str:
    """Return the paths as one YAML document: a path by itself; several, or some with rules, under ``paths``.

    Raises:
        ConfigurationError: a path holds something that gold files have no form for, such as a matcher of your own.
    """
    entries = [path_entry(path) for path in paths]
    written = [rule_entry(rule) for rule in rules]
    document = entries[0] if len(entries) == 1 and not written else {"paths": entries}
    if written:
        document = {"rules": written} | document
    try:
        dump = cast("Callable[..., str]", yaml.dump)  # its stub leaves types open
        return dump(document, Dumper=Dumper, allow_unicode=True, sort_keys=False, width=110, default_flow_style=None)
    except yaml.representer.RepresenterError as error:
        raise ConfigurationError(f"a value that is no JSON value cannot be written: {error.args[-1]!r}") from None


def path_entry(path: GoldPath) -> dict[str, Any]:
    """Return the path as plain values in the shape of the files, without what is at its default."""
    if path.slots:
        raise ConfigurationError(f"gold path {path.id!r} is filled for one run; write the one it was made from")
    writing = _Writing(_tool_defaults(all_calls(path)), frozenset(n for t in path.templates for n in slot_names(t)))
    said: dict[str, Any] = {
        "id": path.id,
        "description": path.description,
        "version": path.version if path.version != "1" else None,
        "agent": path.agent,
        "status": path.status if path.status != "approved" else None,
        "provenance": _provenance(path.provenance),
        "tags": list(path.tags),
        "queries": [*map(escaped, path.queries), *path.templates],
        "answer": None if path.answer is None else answer_notation(path.answer),
        "weights": None if path.weights is None else dict(path.weights),
        "good_path": path.good_path,
        "thresholds": dict(path.thresholds),
        "min_steps": path.min_steps,
        "candidates": list(path.candidates),
        "tools": _tools(path, writing.tools),
    }
    entry = {key: value for key, value in said.items() if value not in (None, [], {})}
    entry["steps"] = writing.steps(path.steps)
    if path.alternatives:
        entry["alternatives"] = [writing.steps(way) for way in path.alternatives]
    return entry


def rule_entry(rule: PathRule) -> dict[str, Any]:
    """Return the rule as plain values in the shape of the files.

    Raises:
        ConfigurationError: its matcher is not one of those that gold files know.
    """
    said = {"agent": rule.agent, "name": rule.name, "severity": rule.severity if rule.severity != "warning" else None}
    return _rule(rule) | {key: value for key, value in said.items() if value is not None}


def _rule(rule: PathRule) -> dict[str, Any]:
    tools = list(rule.tools)
    match rule.kind:
        case "requires":
            return {"requires": {tools[0]: tools[1]}}
        case "never":
            return {"never": tools[0]}
        case "never_before" | "never_after":
            return {"never": tools[0], rule.kind.removeprefix("never_"): tools[1]}
        case "allowed":
            return {"allowed": tools}
        case "same_value":
            return {"same_value": [{tool: name} for tool, name in zip(tools, rule.arguments, strict=True)]}
        case "result":
            return {"result": {tools[0]: {"$ignore": True} if rule.result is None else matcher_notation(rule.result)}}
        case "at_most" | "at_least":
            return {rule.kind: {tools[0]: rule.count}}


def _provenance(provenance: Provenance) -> dict[str, Any] | None:
    if provenance == Provenance():
        return None
    return {key: value for key, value in asdict(provenance).items() if value is not None}


def _tools(path: GoldPath, defaults: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return what is known about tools, the declared ones in their order."""
    facts = {
        tool: {
            "defaults": dict(defaults.get(tool, {})),
            "effect": path.effects.get(tool),
            "extra": path.extras.get(tool),
        }
        for tool in dict.fromkeys([*path.effects, *path.extras, *defaults])
    }
    return {tool: {key: value for key, value in said.items() if value} for tool, said in facts.items()}


def _tool_defaults(calls: Iterable[CallStep]) -> dict[str, Mapping[str, Any]]:
    """Return the defaults of the tools whose calls all agree about them."""
    found: dict[str, Mapping[str, Any]] = {}
    differing: set[str] = set()
    for call in calls:
        if json_text(found.setdefault(call.tool, call.tool_defaults)) != json_text(call.tool_defaults):
            differing.add(call.tool)
    return {tool: defaults for tool, defaults in found.items() if defaults and tool not in differing}


@dataclass(frozen=True, slots=True)
class _Writing:
    """Writes the steps of a path whose tools have these defaults, and whose queries have these slots."""

    tools: Mapping[str, Mapping[str, Any]]
    slots: Collection[str]

    def steps(self, steps: Iterable[Step]) -> list[Any]:
        return [self._step(step) for step in steps]

    def _step(self, step: Step) -> Any:
        match step:
            case CallStep():
                return self._call(step)
            case OptionalStep():
                return {"optional": self._member(step.step)}
            case Repeat():
                counts = {"min": step.least if step.least != 1 else None, "max": step.most}
                return {"repeat": self._member(step.step)} | {k: v for k, v in counts.items() if v is not None}
            case AnyOrder():
                return {"parallel" if step.parallel else "any_order": [self._member(one) for one in step.steps]}
            case Branches():
                return {"one_of": [self._member(one) for one in step.branches]}
            case InSequence():
                return {"sequence": self.steps(step.steps)}

    def _member(self, step: Step) -> Any:
        """Return a sequence as a list; a list of one would read as that one step."""
        if isinstance(step, InSequence) and len(step.steps) > 1:
            return self.steps(step.steps)
        return self._step(step)

    def _call(self, step: CallStep) -> Any:
        options: dict[str, Any] = {}
        if step.result is not None:
            options["result"] = matcher_notation(step.result, self.slots)
        if step.extra_arguments == "allow":
            options["argument_mode"] = "subset"
        if step.must_succeed:
            options["must_succeed"] = True
        if step.tool_defaults and step.tool not in self.tools:
            options["tool_defaults"] = dict(step.tool_defaults)
        arguments = None
        if step.arguments is not None:
            arguments = {key: matcher_notation(one, self.slots) for key, one in step.arguments.items()}
        if step.tool in STEP_KEYS or step.tool in GROUP_WORDS:
            return {"tool": step.tool} | ({} if arguments is None else {"arguments": arguments}) | options
        if arguments is None and not options:
            return step.tool
        return {step.tool: arguments} | options
