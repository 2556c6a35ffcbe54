"""Gold answers of two public benchmarks: TRAJECT-Bench, and the Berkeley Function-Calling Leaderboard (BFCL)."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, cast

from agentpath_sdk._plain import is_dict
from agentpath_sdk.gold.authoring.imported import Conversation, Turn, Unfit, exact_call, items_of, objects_of, text_at
from agentpath_sdk.gold.matchers import Exact, Fold, Ignore, MappingOf
from agentpath_sdk.gold.matchers import OneOf as AnyMatcher
from agentpath_sdk.gold.model import ArgumentMatcher, CallStep
from agentpath_sdk.gold.wording import found, is_list, show

__all__ = ["bfcl_conversations", "is_bfcl", "is_bfcl_question", "is_traject", "traject_conversations"]

_TRAJECT_TOOLS: Final = ("tool list", "tool_list", "gold")
_REQUIRED: Final = ("arguments", "required parameters", "required_parameters")
_OPTIONAL: Final = ("optional_arguments", "optional parameters", "optional_parameters")
_POSITIONAL: Final = "_positional"
_NO_NAMES: Final = "arguments are given by position, so that their names are not known: they are not checked"


# --- TRAJECT-Bench ---------------------------------------------------------------------------------------------------


def is_traject(value: Any) -> bool:
    """Return whether ``value`` is one of its records, or a list of them."""
    if is_list(value):
        return bool(value) and is_traject(value[0])
    if not is_dict(value) or "query" not in value:
        return False
    record = value
    return "tool list" in record or "tool_list" in record or ("gold_order" in record and is_list(record.get("gold")))


def traject_conversations(value: Any) -> Iterator[Conversation]:
    """Yield the records; ``parallel`` ones have one group of calls, whose order is free.

    Optional parameters are those that a tool could do without; the values given are part of what the query asks for.
    """
    for at, record in enumerate(objects_of(value if is_list(value) else [value], "")):
        key = next((key for key in _TRAJECT_TOOLS if key in record), "gold")
        calls = tuple(
            _traject_call(tool, f"[{at}].{key}[{number}]")
            for number, tool in enumerate(objects_of(record.get(key), f"[{at}].{key}"))
        )
        kind = text_at(record, "gold_order", "trajectory_type", "kind")
        groups = (calls,) if kind in ("any", "parallel") else tuple((call,) for call in calls)
        tags = [tag for tag in (text_at(record, "domain"), text_at(record, "kind", "trajectory_type")) if tag]
        turn = Turn(query=text_at(record, "query"), groups=groups, answer=text_at(record, "final_answer"))
        description = text_at(record, "task_name")
        yield Conversation(id=text_at(record, "id"), turns=(turn,), description=description, tags=tuple(tags))


def _traject_call(tool: Mapping[str, Any], place: str) -> CallStep:
    name = text_at(tool, "tool", "tool name", "tool_name")
    required, optional = (
        _named(next((tool[key] for key in keys if key in tool), None), place) for keys in (_REQUIRED, _OPTIONAL)
    )
    return exact_call(name, {**required, **optional}, place)


def _named(value: Any, place: str) -> dict[str, Any]:
    """Return arguments given as an object, or as a list of names and values."""
    if is_dict(value):
        return value
    named: dict[str, Any] = {}
    for item in objects_of(value, place):
        name = text_at(item, "name")
        if name is None or "value" not in item:
            raise Unfit(place, f"expected a parameter with 'name' and 'value', found {found(item)}")
        named[name] = item["value"]
    return named


# --- BFCL ------------------------------------------------------------------------------------------------------------


def is_bfcl(value: Any) -> bool:
    """Return whether ``value`` is a record of its answers, with the queries beside or apart, or a list of them."""
    if is_list(value):
        return bool(value) and is_bfcl(value[0])
    if not is_dict(value):
        return False
    record = value
    if "ground_truth" in record and "id" in record:
        return is_list(record["ground_truth"])
    turns = record.get("turns")
    return "involved_classes" in record and is_list(turns) and all("gold" in turn for turn in objects_of(turns, ""))


def is_bfcl_question(value: Any) -> bool:
    """Return whether ``value`` is a record of its questions, without answers."""
    return is_dict(value) and is_list(value.get("question")) and "id" in value and "ground_truth" not in value


def bfcl_conversations(value: Any, questions: Mapping[str, Any]) -> Iterator[Conversation]:
    """Yield the records.

    Several calls of a single turn are parallel ones, in any order; those of a turn of several are in order.
    ``questions``: id -> the record's question, from the file that has them.
    """
    for at, record in enumerate(objects_of(value if is_list(value) else [value], "")):
        name = text_at(record, "id")
        if "turns" in record:
            turns = [_sample_turn(turn, f"[{at}].turns") for turn in objects_of(record["turns"], f"[{at}].turns")]
        else:
            asked = _queries(record.get("question") or questions.get(name or ""))
            turns = list(_answer_turns(items_of(record["ground_truth"], "ground_truth"), asked, f"[{at}].ground_truth"))
        classes = [str(one) for one in items_of(record.get("involved_classes"), "involved_classes")]
        missing = all(turn.query is None for turn in turns)
        yield Conversation(id=name, turns=tuple(turns), tags=tuple(classes), missing_query=missing)


def _sample_turn(turn: Mapping[str, Any], place: str) -> Turn:
    calls: list[tuple[CallStep, ...]] = []
    notes: list[str] = []
    for call in objects_of(turn.get("gold"), f"{place}.gold"):
        arguments = call.get("arguments")
        by_position = is_dict(arguments) and _POSITIONAL in arguments
        notes += [f"{call.get('tool')}: {_NO_NAMES}"] if by_position else []
        calls.append((exact_call(call.get("tool"), None if by_position else arguments, f"{place}.gold"),))
    return Turn(query=text_at(turn, "query"), groups=tuple(calls), notes=tuple(notes))


def _answer_turns(truth: Sequence[Any], asked: Sequence[str | None], place: str) -> Iterator[Turn]:
    if truth and all(is_dict(one) for one in truth):
        calls = tuple(_options_call(one, place) for one in truth)
        yield Turn(query=next(iter(asked), None), groups=(calls,))
        return
    turns = truth if all(map(is_list, truth)) else [truth]
    for number, turn in enumerate(turns):
        calls_and_notes = [_written_call(one, f"{place}[{number}]") for one in turn]
        yield Turn(
            query=asked[number] if number < len(asked) else None,
            groups=tuple((call,) for call, _ in calls_and_notes),
            notes=tuple(note for _, note in calls_and_notes if note is not None),
        )


def _queries(question: Any) -> list[str | None]:
    """Return the query of each turn: the last message of the user in it."""
    if isinstance(question, str):
        return [question]
    turns: Sequence[Any] = question if is_list(question) else []
    if turns and is_dict(turns[0]):
        turns = [turns]
    return [_last_of_user(turn) for turn in turns if is_list(turn)]


def _last_of_user(messages: Sequence[Any]) -> str | None:
    told = [message for message in messages if is_dict(message)]
    return next((text_at(one, "content") for one in reversed(told) if one.get("role") == "user"), None)


def _written_call(text: Any, place: str) -> tuple[CallStep, str | None]:
    """Return a call written as Python has it: ``mv(source='a', destination='b')``; read, never run."""
    if not isinstance(text, str):
        raise Unfit(place, f"expected a call written as text, found {found(text)}")
    try:
        node = ast.parse(text.strip(), mode="eval").body
        if not isinstance(node, ast.Call):
            raise ValueError
        tool = ast.unparse(node.func)
        arguments = {word.arg: ast.literal_eval(word.value) for word in node.keywords if word.arg is not None}
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise Unfit(place, f"expected a call with literal arguments, found {show(text)}") from None
    if node.args:
        return exact_call(tool, None, place), f"{tool}: {_NO_NAMES}"
    return exact_call(tool, _json(arguments), place), None


def _json(value: Any) -> Any:
    if is_dict(value):
        return {str(key): _json(inner) for key, inner in cast("dict[object, Any]", value).items()}
    if is_list(value):
        return [_json(inner) for inner in value]
    if value is None or isinstance(value, str | bool | int | float):
        return value
    raise Unfit("", f"expected JSON values as arguments, found a {type(value).__name__}")


def _options_call(call: Mapping[str, Any], place: str) -> CallStep:
    """Return a call of which each argument has a list of values that will do; ``""`` in it: it may be left out."""
    if len(call) != 1:
        raise Unfit(place, f"expected an object with one function, found {found(call)}")
    [(tool, arguments)] = call.items()
    if not is_dict(arguments):
        raise Unfit(place, f"{tool}: expected an object of arguments, found {found(arguments)}")
    matchers: dict[str, ArgumentMatcher] = {}
    defaults: dict[str, Any] = {}
    for name, options in arguments.items():
        values = [value for value in items_of(options, f"{place}.{tool}.{name}") if value != ""]
        if not values:
            continue
        matchers[name] = _any_of(values)
        if len(values) < len(options):
            defaults[name] = values[0]
    return CallStep(tool=tool, arguments=matchers, tool_defaults=defaults)


def _any_of(values: Sequence[Any]) -> ArgumentMatcher:
    options = tuple(map(_option, values))
    return options[0] if len(options) == 1 else AnyMatcher(options=options)


def _option(value: Any) -> ArgumentMatcher:
    """Return the matcher of one value; the benchmark compares texts without case, and objects key by key."""
    if isinstance(value, str):
        return Fold(expected=value)
    if is_dict(value) and value:
        inner = value
        if all(is_list(options) and options for options in inner.values()) and not any(
            k.startswith("$") for k in inner
        ):
            return MappingOf(items={key: _key_option(options) for key, options in inner.items()})
    return Exact(expected=value)


def _key_option(options: Sequence[Any]) -> ArgumentMatcher:
    values = [value for value in options if value != ""]
    return _any_of(values) if len(values) == len(options) else Ignore()
