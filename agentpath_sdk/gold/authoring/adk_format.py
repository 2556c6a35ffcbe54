"""Eval sets of the Agent Development Kit: the lists of its first versions, and EvalSet in both spellings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from agentpath_sdk._plain import is_dict
from agentpath_sdk.gold.authoring.imported import Conversation, Turn, Unfit, exact_call, object_of, objects_of, text_at
from agentpath_sdk.gold.model import CallStep
from agentpath_sdk.gold.wording import is_list

__all__ = ["adk_conversations", "is_adk"]

_CASES = ("eval_cases", "evalCases")


def is_adk(value: Any) -> bool:
    """Return whether ``value`` is such a set."""
    if is_dict(value):
        return any(key in value for key in (*_CASES, "conversation"))
    if not is_list(value) or not value or not is_dict(value[0]):
        return False
    first = value[0]
    return "expected_tool_use" in first or ("data" in first and is_list(first["data"])) or "conversation" in first


def adk_conversations(value: Any) -> Iterator[Conversation]:
    """Yield the cases of the set.

    Raises:
        Unfit: something is not as the format has it.
    """
    if is_dict(value):
        told = value
        cases = next((told[key] for key in _CASES if key in told), [told])
        for at, case in enumerate(objects_of(cases, "eval_cases")):
            yield _case(case, f"eval_cases[{at}]", text_at(told, "name", "eval_set_id", "evalSetId"))
        return
    items = objects_of(value, "")
    if any("expected_tool_use" in item or "query" in item for item in items):
        yield Conversation(turns=tuple(_old_turn(item, f"[{at}]") for at, item in enumerate(items)))
        return
    for at, item in enumerate(items):
        if "data" in item:
            turns = objects_of(item["data"], f"[{at}].data")
            yield Conversation(
                id=text_at(item, "name"),
                turns=tuple(_old_turn(turn, f"[{at}].data[{number}]") for number, turn in enumerate(turns)),
            )
        else:
            yield _case(item, f"[{at}]", None)


def _old_turn(item: Mapping[str, Any], place: str) -> Turn:
    uses = objects_of(item.get("expected_tool_use"), f"{place}.expected_tool_use")
    calls = [
        exact_call(use.get("tool_name"), use.get("tool_input") or {}, f"{place}.expected_tool_use[{at}]")
        for at, use in enumerate(uses)
    ]
    return Turn(query=text_at(item, "query"), groups=_one_by_one(calls), answer=text_at(item, "reference"))


def _case(case: Mapping[str, Any], place: str, set_name: str | None) -> Conversation:
    if "conversation" not in case:
        raise Unfit(place, "key 'conversation' is missing")
    turns = objects_of(case["conversation"], f"{place}.conversation")
    session = case.get("session_input") or case.get("sessionInput")
    return Conversation(
        id=text_at(case, "eval_id", "evalId") or set_name,
        turns=tuple(_turn(turn, f"{place}.conversation[{at}]") for at, turn in enumerate(turns)),
        agent=text_at(object_of(session), "app_name", "appName"),
    )


def _turn(turn: Mapping[str, Any], place: str) -> Turn:
    between: Any = turn.get("intermediate_data") or turn.get("intermediateData") or None
    if between is not None and not is_dict(between):
        raise Unfit(f"{place}.intermediate_data", "expected an object")
    return Turn(
        query=_content(turn.get("user_content") or turn.get("userContent")),
        groups=tuple(_groups(object_of(between), f"{place}.intermediate_data")),
        answer=_content(turn.get("final_response") or turn.get("finalResponse")),
    )


def _groups(told: Mapping[str, Any], place: str) -> Iterator[tuple[CallStep, ...]]:
    """Yield the calls; those of one event were asked for together, a plain list of them says nothing of that."""
    events = told.get("invocation_events") or told.get("invocationEvents")
    if events:
        for at, event in enumerate(objects_of(events, f"{place}.invocation_events")):
            inner = f"{place}.invocation_events[{at}]"
            calls = [part for part in _parts(event.get("content")) if _used(part) is not None]
            group = tuple(_call(_used(part) or {}, inner) for part in calls)
            if group:
                yield group
        return
    key = "toolUses" if "toolUses" in told else "tool_uses"
    uses = objects_of(told.get(key), f"{place}.{key}")
    yield from _one_by_one([_call(use, f"{place}.{key}[{at}]") for at, use in enumerate(uses)])


def _call(use: Mapping[str, Any], place: str) -> CallStep:
    return exact_call(use.get("name"), use.get("args") or {}, place)


def _used(part: Mapping[str, Any]) -> Mapping[str, Any] | None:
    call = part.get("function_call") or part.get("functionCall")
    return cast("Mapping[str, Any]", call) if is_dict(call) else None


def _one_by_one(calls: Sequence[CallStep]) -> tuple[tuple[CallStep, ...], ...]:
    return tuple((call,) for call in calls)


def _content(content: Any) -> str | None:
    texts = [part["text"] for part in _parts(content) if isinstance(part.get("text"), str) and not part.get("thought")]
    return "\n".join(texts).strip() or None


def _parts(content: Any) -> list[Mapping[str, Any]]:
    parts = content.get("parts") if is_dict(content) else None
    return [part for part in parts if is_dict(part)] if is_list(parts) else []
