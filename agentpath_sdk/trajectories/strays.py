"""Calls that no agent's span is around: whose they are, if anybody's."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from agentpath_sdk import semconv
from agentpath_sdk.trajectories.run import Partition, Run, node_of, within
from agentpath_sdk.trajectories.tree import CALLS, Node, enclosing, top

__all__ = ["place_strays", "with_loose"]

# A span of an application's own, named like a thing in code: "support_agent", not "POST /chat".
_PLAIN_NAME: Final = re.compile(r"[A-Za-z_]+(?:[.-][A-Za-z_]+)*")
_PROTOCOLS: Final = ("http.", "rpc.", "messaging.", "db.", "url.", "server.", "net.")


def with_loose(parts: Partition) -> Partition:
    """Return ``parts`` with the unattached calls of other instrumentations as a run without agent."""
    foreign = [node for node in parts.unattached if node.record.scope != semconv.SCOPE_NAME]
    if not foreign:
        return parts
    run = Run(node=None, span_id=foreign[0].record.span_id, members=foreign)
    ours = tuple(node for node in parts.unattached if node.record.scope == semconv.SCOPE_NAME)
    return Partition(runs=(*parts.runs, run), unattached=ours)


def place_strays(runs: list[Run], strays: Sequence[Node], nodes: Sequence[Node]) -> Partition:
    """Return the runs of a trace with ``strays`` in the run each belongs to, or in one made for them, or unattached."""
    unattached: list[Node] = []
    implicit: dict[str, Run] = {}
    for node in strays:
        uppermost = top(node)
        home = _home(node, uppermost, runs, nodes) if uppermost.parent_missing else None
        if home is not None:
            home.members.append(node)
            home.adopted = True
        elif not uppermost.locally_rooted:
            _rootless(node, implicit).members.append(node)
        elif uppermost.role in CALLS or runs:
            unattached.append(node)
        else:
            root = uppermost.record.span_id
            run = Run(node=uppermost, span_id=root, agent=_plain_name(uppermost))
            implicit.setdefault(root, run).members.append(node)
    if not runs and not implicit:
        implicit = {run.span_id: run for run in _told_by_models(nodes)}
    for run in implicit.values():
        run.members = _with_company(run, nodes)
    for run in runs:
        run.members.sort(key=lambda n: n.key)
    return Partition(runs=(*runs, *implicit.values()), unattached=tuple(unattached))


def _plain_name(node: Node) -> str | None:
    """Return the name of an application's own span around its calls, the only name there is for the agent."""
    record = node.record
    plain = node.role == "none" and record.kind == "internal" and _PLAIN_NAME.fullmatch(record.name) is not None
    return record.name if plain and not any(name.startswith(_PROTOCOLS) for name in record.attributes) else None


def _told_by_models(nodes: Sequence[Node]) -> list[Run]:
    """Return the runs of a trace in which only model clients are traced: one per top span, where any model asked for
    a call; model spans that are tops themselves make one together."""
    found: dict[str, Run] = {}
    for node in nodes:
        if node.role != "model" or node.utility:
            continue
        uppermost = top(node)
        alone = uppermost is node
        key = "" if alone else uppermost.record.span_id
        agent = None if alone else _plain_name(uppermost)
        run = found.setdefault(
            key, Run(node=None if alone else uppermost, span_id=uppermost.record.span_id, agent=agent, told=True)
        )
        run.members.append(node)
    return [run for run in found.values() if any(node.read("requests") for node in run.members)]


def _home(node: Node, uppermost: Node, runs: Sequence[Run], nodes: Sequence[Node]) -> Run | None:
    """Return the run for a call whose parent span is missing, where ids leave one choice or time decides it.

    Only in a trace whose single root is there: then the missing span must lie below that root.
    """
    roots = [n for n in nodes if n.locally_rooted]
    if len(roots) != 1 or uppermost.locally_rooted:
        return None
    inside = [run for run in runs if run.node is not None and top(run.node) is roots[0] and within(node, run.node)]
    named = [run for run in inside if run.agent is not None and run.agent == node.read("agent_name")]
    return max(named or inside, key=lambda run: node_of(run).key, default=None)


def _rootless(node: Node, implicit: dict[str, Run]) -> Run:
    """Return the run for a call whose agent's span is missing: one per agent name, since calls of one run may hang
    on different missing spans between them and the agent. Its id is the first missing parent: mostly the agent's."""
    name = node.read("agent_name")
    missing = top(node).record.parent_span_id or ""
    for run in implicit.values():
        if run.node is None and (run.agent == name or run.span_id == missing):
            return run
    return implicit.setdefault(missing, Run(node=None, span_id=missing, agent=name))


def _with_company(run: Run, nodes: Sequence[Node]) -> list[Node]:
    """Return the calls of an implicit run together with the models and phases that hang on the same tops."""
    tops = {top(node).record.span_id for node in run.members}
    calls = {node.record.span_id for node in run.members}
    return [
        n for n in nodes if n.record.span_id in calls or (n.role not in CALLS and n is not run.node and _free(n, tops))
    ]


def _free(node: Node, tops: set[str]) -> bool:
    return top(node).record.span_id in tops and enclosing(node, frozenset(("agent",))) is None and node.role != "agent"
