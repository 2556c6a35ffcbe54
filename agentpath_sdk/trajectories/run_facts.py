"""What a run is about: query, answer, conversation, goal, usage, tags."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from agentpath_sdk.trajectories.completeness import own_spans
from agentpath_sdk.trajectories.decoding import plain
from agentpath_sdk.trajectories.dialects.contents import answer_in
from agentpath_sdk.trajectories.dialects.dialect import Fact
from agentpath_sdk.trajectories.model import GoalWord, Json, Usage
from agentpath_sdk.trajectories.requests import turn_fact
from agentpath_sdk.trajectories.run import Run
from agentpath_sdk.trajectories.tree import Node

__all__ = ["conversation_id", "final_answer", "first_fact", "goal", "query", "tags", "usage"]

# Tools by whose call an agent gives its answer.
_ANSWERING: Final = ("final_answer",)
_TAG_COUNT: Final = 32
_TAG_LIMIT: Final = 256
_RESOURCE_TAGS: Final = (
    "service.name",
    "service.namespace",
    "service.version",
    "deployment.environment.name",
    "deployment.environment",
)
# What instrumentations write: everything else on an agent's span was put there by the application.
_NOT_TAGS: Final = (
    "gen_ai.", "agentpath.", "openinference.", "llm.", "input.", "output.", "traceloop.", "langfuse.", "langsmith.",
    "mlflow.", "logfire.", "pydantic_ai.", "gcp.vertex.", "error.", "exception.", "code.", "thread.", "server.",
    "http.", "url.", "network.", "otel.", "telemetry.", "process.",
)  # fmt: skip


def first_fact(nodes: Sequence[Node], fact: Fact) -> Any:
    """Return ``fact`` as the first of ``nodes`` that says it does, else None."""
    for node in nodes:
        if (found := node.read(fact)) is not None:
            return found
    return None


def query(run: Run, turns: Sequence[Node]) -> str | None:
    """Return what the run was asked: its own word, its first model turn's, or its workflow's.

    A workflow may wrap what it was asked in a prompt of its own for each agent: then its word stands.
    """
    found: str | None = first_fact([*own_spans(run), *_inside(run)], "query")
    if found is None and turns:
        found = turn_fact(turns[0], "query")
    if found is None:
        found = first_fact(_container(run), "query")
    asked: str | None = first_fact(_container(run), "query")
    return asked if found is not None and asked is not None and asked in found else found


def final_answer(run: Run, turns: Sequence[Node], *, ends_with_answer: bool) -> str | None:
    """Return what the run answered: its own word or, where its last event is a model turn that asks for no call
    (``ends_with_answer``), that turn's text; else its workflow's answer."""
    said = _by_tool(run)
    if said is None:
        said = first_fact([*own_spans(run), *_inside(run)], "final_answer")
    if said is None and ends_with_answer:
        said = turn_fact(turns[-1], "final_answer")
    if said is None:
        said = first_fact(_container(run), "final_answer")
    return said


def _by_tool(run: Run) -> str | None:
    """Return the answer that the run gave by a tool of its framework made for that."""
    for node in run.members:
        if node.role == "tool" and node.read("framework_tool") == "pseudo" and node.read("tool_name") in _ANSWERING:
            return answer_in(node.read("result"))
    return None


def _inside(run: Run) -> list[Node]:
    """Return the one workflow span directly inside an agent's span: the same run, seen from further in."""
    if run.node is None or len(run.node.children) != 1:
        return []
    (child,) = run.node.children
    return [child] if child.role in ("workflow", "chain") else []


def _container(run: Run) -> list[Node]:
    return [] if run.container is None else [run.container]


def conversation_id(run: Run) -> str | None:
    """Return the conversation's id: the run's own, that of a span around it, or one inside it."""
    said = first_fact([*own_spans(run), *_around(run), *run.members], "conversation_id")
    return None if said is None else str(said)


def _around(run: Run) -> Iterator[Node]:
    above = run.node.parent if run.node is not None else None
    while above is not None:
        yield above
        above = above.parent


def goal(run: Run) -> GoalWord | None:
    """Return what the application said about the goal while the run was open."""
    own = own_spans(run)
    success = first_fact(own, "goal_success")
    if success is None:
        return None
    reason, source = first_fact(own, "goal_reason"), first_fact(own, "goal_source")
    return GoalWord(success=success, reason=None if reason is None else str(reason), source=str(source or "app"))


def usage(run: Run, turns: Sequence[Node]) -> Usage:
    """Return the tokens of the model turns, or what the agent's own span says where no turn was seen."""
    nodes = turns or own_spans(run)[:1]
    return Usage(input_tokens=_sum(nodes, "input_tokens"), output_tokens=_sum(nodes, "output_tokens"))


def _sum(nodes: Sequence[Node], fact: Fact) -> int | None:
    found = [count for node in nodes if (count := node.read(fact)) is not None]
    return sum(found) if found else None


def tags(run: Run) -> Mapping[str, Json]:
    """Return resource and application attributes worth keeping; at most 32, texts of at most 256 characters."""
    nodes = own_spans(run) or run.members[:1]
    if not nodes:
        return {}
    record = nodes[0].record
    resource = {name: record.resource[name] for name in _RESOURCE_TAGS if name in record.resource}
    own = {k: v for node in own_spans(run) for k, v in node.record.attributes.items() if _is_tag(k, v)}
    return dict(sorted((resource | {k: plain(own[k]) for k in sorted(own)[:_TAG_COUNT]}).items()))


def _is_tag(name: str, value: Any) -> bool:
    # Bare words ("name", "args") are what some instrumentations write; an application's own names have a dot.
    if name.startswith(_NOT_TAGS) or "." not in name:
        return False
    return isinstance(value, bool | int | float) or (isinstance(value, str) and len(value) <= _TAG_LIMIT)
