"""One call while it is open: its span, its place in the run, and the facts gathered for its end."""

from __future__ import annotations

import enum
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

from opentelemetry import context as context_api
from opentelemetry import trace as trace_api
from opentelemetry.context import Context
from opentelemetry.trace import Span

__all__ = ["RECORDING_KEY", "STEP_KINDS", "UNSET", "Kind", "Outcome", "Recording", "StopReason", "Unset"]

Kind: TypeAlias = Literal["agent", "tool", "model", "retrieval", "phase"]
Outcome: TypeAlias = Literal["ok", "error", "cancelled", "interrupted", "abandoned"]
"""How a call ended. ``interrupted`` = paused for approval; ``abandoned`` = its end was never seen."""
StopReason: TypeAlias = Literal["finished", "limit", "error", "cancelled", "pending", "unknown"]

STEP_KINDS: Final = frozenset({"tool", "retrieval"})


class Unset(enum.Enum):
    """The type of ``UNSET``: nothing was given, which differs from None."""

    UNSET = "unset"


UNSET: Final = Unset.UNSET

RECORDING_KEY: Final = context_api.create_key("agentpath-recording")
"""Where a Context keeps the innermost recording, found even below spans of other instrumentations."""


@dataclass(slots=True, eq=False, kw_only=True)
class Recording:
    """An open call. Mutable, and private to the recorder except for what is documented as readable."""

    key: Hashable
    door: Hashable
    kind: Kind
    name: str
    """Tool, agent, model or phase name (readable)."""
    span: Span
    """The OpenTelemetry span; not recording when the run is sampled out (readable)."""
    base: Context
    """The context the call started in."""
    parent: Recording | None
    conversation_id: str | None
    """Readable."""
    dropped: bool = False
    """True when the whole run is left out by sampling: nothing below it is recorded either."""
    attach_span: bool = True
    agent: Recording | None = None
    """The nearest enclosing agent run, itself for an agent (readable)."""
    root: Recording = field(init=False)
    doors: list[Hashable] = field(default_factory=list[Hashable])
    aliases: list[Hashable] = field(default_factory=list[Hashable])
    """Further keys under which other doors know this call."""
    live: bool = True
    """False once ended, or when nothing is recorded."""
    ended: bool = False
    subject: int = 0
    """Identity of the object whose entry method this call is."""
    open_id: int = 0
    """Key in the recorder's table of open calls."""
    touched: float = 0.0
    """Clock time of the last event in the whole run; kept on the root only."""
    calls: int = 0
    """Tool calls started in this agent run."""
    has_tool_child: bool = False
    last_call_interrupted: bool = False
    capture: bool = True
    keep: frozenset[str] = frozenset()
    redact: frozenset[str] = frozenset()
    essential: dict[str, Any] = field(default_factory=dict[str, Any])
    """Attributes that must be on the ended span whatever user code sets."""
    content: dict[str, Any] = field(default_factory=dict[str, Any])
    """Encoded content, set at the end."""
    truncated: list[str] = field(default_factory=list[str])
    raw: list[str] = field(default_factory=list[str])
    secrets: set[str] = field(default_factory=set[str])
    """Values redacted by name in this run, also looked for in its error messages and results."""
    outcome: Outcome = "ok"
    error_type: str | None = None
    error_message: str | None = None
    stop_reason: StopReason | None = None
    _context: Context | None = None

    def __post_init__(self) -> None:
        self.root = self if self.parent is None else self.parent.root
        if self.kind == "agent":
            self.agent = self
        elif self.parent is not None:
            self.agent = self.parent.agent

    @property
    def context(self) -> Context:
        """The Context for code inside this call; a decorator attaches it, a callback handler never does."""
        if self._context is None:
            self._context = self.over(self.base)
        return self._context

    def over(self, context: Context) -> Context:
        """Return ``context`` with this call as the current one."""
        if self.attach_span:
            context = trace_api.set_span_in_context(self.span, context)
        return context_api.set_value(RECORDING_KEY, self, context)

    @property
    def trace_id(self) -> int:
        """Trace id of the span."""
        return self.span.get_span_context().trace_id

    def is_below(self, other: Recording) -> bool:
        """Return whether ``other`` is an ancestor of this call."""
        above = self.parent
        while above is not None:
            if above is other:
                return True
            above = above.parent
        return False
