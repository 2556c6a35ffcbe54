"""Which spans are agent runs, and which call belongs to which run: every call to exactly one, or to none."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from agentpath_sdk.trajectories.dialects.dialect import Role
from agentpath_sdk.trajectories.run import Partition, Run, is_ours, node_of, within
from agentpath_sdk.trajectories.strays import place_strays, with_loose
from agentpath_sdk.trajectories.tree import CALLS, Node, add_child, below, enclosing, top

__all__ = ["partition"]

_WORK: Final[frozenset[Role]] = frozenset((*CALLS, "model"))
_AROUND_AGENT: Final[frozenset[Role]] = frozenset((*CALLS, "agent"))
_AROUND_WORKFLOW: Final[frozenset[Role]] = frozenset((*CALLS, "agent", "workflow"))
_AROUND_CHAIN: Final[frozenset[Role]] = frozenset((*CALLS, "agent", "workflow", "chain"))
_CONTAINERS: Final[frozenset[Role]] = frozenset(("workflow", "chain"))


def partition(nodes: Sequence[Node], *, keep_loose: bool = False) -> Partition:
    """Return the runs of one trace.

    A run is an agent span, or a workflow span that makes calls itself or holds no agent. An agent span inside another
    that does no work, is no call's inside and is not ours is plumbing (LangChain calls any named runnable an agent).
    An agent span around exactly one other, with no work of its own, is the same run seen twice. A trace without any
    agent gives one run to its root, named after it where that is the application's own; a call that is itself the root
    belongs to nobody. ``keep_loose`` makes such calls of other instrumentations a run without agent.
    """
    for node in nodes:
        if node.role == "agent" and node.parent is not None:
            _take_in_work(node, node.parent)
    runs = _absorb(_run_nodes(nodes))
    owners = _owners(nodes, runs)
    for node in nodes:
        owner = owners.get(node.record.span_id)
        if owner is not None and node is not owner.node:
            owner.members.append(node)
    found = list(dict.fromkeys(runs.values()))
    strays = [n for n in nodes if n.role in CALLS and not n.utility and n.record.span_id not in owners]
    parts = place_strays(_with_delegates(found), strays, nodes)
    return with_loose(parts) if keep_loose else parts


def _with_delegates(runs: Sequence[Run]) -> list[Run]:
    """Return ``runs`` and, for each call of an agent that has calls inside but no agent's span, a run of that agent."""
    found: list[Run] = []
    for run in runs:
        found.append(run)
        for node in [n for n in run.members if n.role == "tool" and n.read("framework_tool") == "agent"]:
            inside = {id(inner) for inner in below(node)}
            members = [member for member in run.members if id(member) in inside]
            if any(member.role in CALLS for member in members):
                run.members = [member for member in run.members if id(member) not in inside]
                name = node.read("target")
                found.append(Run(node=node, span_id=node.record.span_id, agent=name, members=members, caller=node))
    return found


# --- which spans are runs -------------------------------------------------------------------------------------------


def _take_in_work(agent: Node, parent: Node) -> None:
    """Hang below an empty agent span the one beside it that has its work: the span of the same name that lies within
    its time (OpenLLMetry makes agent and graph node siblings when an agent runs inside a tool or a node)."""
    if agent.children or (name := agent.read("agent_name")) is None:
        return
    beside = [n for n in parent.children if n is not agent and n.role == "none" and _is_called(n, str(name))]
    for node in beside:
        if within(node, agent):
            parent.children.remove(node)
            add_child(agent, node)


def _is_called(node: Node, name: str) -> bool:
    return node.record.name == name or node.record.name.endswith(f" {name}")


def _run_nodes(nodes: Sequence[Node]) -> list[Node]:
    """Return the run spans, outermost first within the canonical order."""
    works: set[str] = set()
    holds_agent: set[str] = set()
    calls_itself: set[str] = set()
    found: list[Node] = []
    for node in sorted(nodes, key=lambda n: -n.depth):
        span_id = node.record.span_id
        is_run = not node.utility and _is_run(node, works, holds_agent, calls_itself)
        if is_run:
            found.append(node)
        above = node.parent
        if above is None:
            continue
        if is_run or span_id in works or node.role in _WORK:
            works.add(above.record.span_id)
        if is_run or span_id in holds_agent:
            holds_agent.add(above.record.span_id)
        if not is_run and not node.utility and (node.role in CALLS or span_id in calls_itself):
            calls_itself.add(above.record.span_id)
    return sorted(found, key=lambda n: n.key)


def _is_run(node: Node, works: set[str], holds_agent: set[str], calls_itself: set[str]) -> bool:
    span_id = node.record.span_id
    if node.role == "agent":
        around = enclosing(node, _AROUND_AGENT)
        if around is None or around.role != "agent" or span_id in works or is_ours(node):
            return True
        # Two agents that show their calls in messages only.
        return not any(inner.role in _WORK for inner in below(top(around))) and node.read("transcript") is not None
    if node.role == "workflow":
        around = enclosing(node, _AROUND_WORKFLOW)
        outermost = around is None or around.role in CALLS
        return outermost and (span_id in calls_itself or span_id not in holds_agent)
    if node.role == "chain":
        around = enclosing(node, _AROUND_CHAIN)
        return (around is None or around.role in CALLS) and span_id in calls_itself
    return False


def _absorb(nodes: Sequence[Node]) -> dict[str, Run]:
    """Return span id -> run, where the spans of one run seen twice share their run."""
    runs = {n.record.span_id: Run(node=n, span_id=n.record.span_id, agent=_name(n)) for n in nodes}
    inside: dict[str, list[Run]] = {}
    for run in runs.values():
        _settle(run, runs)
        if run.parent is not None:
            inside.setdefault(run.parent.span_id, []).append(run)
    # Innermost first: a wrapper of a wrapper takes over what that one took.
    for run in sorted(runs.values(), key=lambda r: -node_of(r).depth):
        within = inside.get(run.span_id, ())
        if len(within) == 1 and _same_run(run, within[0]) and not _works_itself(node_of(run), runs):
            _take_over(run, within[0], inside)
    return _merged(runs)


def _name(node: Node) -> str | None:
    said = node.read("agent_name")
    return node.function if said is None else str(said)


def _settle(run: Run, runs: dict[str, Run]) -> None:
    """Find what is around ``run``: a call of another run, another run, or a workflow that is no run."""
    above = node_of(run).parent
    while above is not None:
        if above.record.span_id in runs:
            run.parent = runs[above.record.span_id]
            return
        if above.role in CALLS:
            run.caller = above
            return
        if above.role in _CONTAINERS and run.container is None:
            run.container = above
        above = above.parent


def _same_run(outer: Run, inner: Run) -> bool:
    a, b = node_of(outer), node_of(inner)
    if outer.agent is not None and outer.agent == inner.agent:
        return True
    queries, answers = (a.read("query"), b.read("query")), (a.read("final_answer"), b.read("final_answer"))
    known = [pair for pair in (queries, answers) if None not in pair]
    return not known or any(one == other for one, other in known)


def _works_itself(node: Node, runs: dict[str, Run]) -> bool:
    pending = list(node.children)
    while pending:
        child = pending.pop()
        if child.record.span_id in runs:
            continue
        if child.role in _WORK and not child.utility:
            return True
        pending.extend(child.children)
    return False


def _take_over(run: Run, inner: Run, inside: dict[str, list[Run]]) -> None:
    run.absorbed += [node_of(inner), *inner.absorbed]
    run.agent = run.agent if run.agent is not None else inner.agent
    for innermost in inside.pop(inner.span_id, ()):
        innermost.parent = run
        inside.setdefault(run.span_id, []).append(innermost)
    inside[run.span_id].remove(inner)


def _merged(runs: dict[str, Run]) -> dict[str, Run]:
    taken = {node.record.span_id: run for run in runs.values() for node in run.absorbed}
    for span_id, run in list(runs.items()):
        while run.span_id in taken:
            run = taken[run.span_id]
        runs[span_id] = run
    return runs


# --- which span belongs to which run --------------------------------------------------------------------------------


def _owners(nodes: Iterable[Node], runs: dict[str, Run]) -> dict[str, Run]:
    owners: dict[str, Run] = {}
    for node in sorted(nodes, key=lambda n: n.depth):
        own = runs.get(node.record.span_id)
        if own is None and node.parent is not None:
            own = owners.get(node.parent.record.span_id)
        if own is not None:
            owners[node.record.span_id] = own
    return owners
