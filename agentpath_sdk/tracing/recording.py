"""One call while it is open: its span, its place in the run, and the facts gathered for its end."""

from __future__ import annotations

import enum
from collections.abc import Hashable, Mapping
from types import MappingProxyType
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


_SPAN_KEY: Final = next(iter(trace_api.set_span_in_context(trace_api.INVALID_SPAN, Context())))
"""Where OpenTelemetry keeps the current span, asked from its public function once instead of two dict copies a call."""
_NONE: Final[Mapping[str, Any]] = MappingProxyType({})


class Recording:
    """An open call. Mutable, and private to the recorder except for what is documented as readable.

    Defaults are class attributes: opening a call is on the user's time, and most calls never need most of these.
    """

    dropped = False
    """True when the whole run is left out by sampling: nothing below it is recorded either."""
    attach_span = True
    live = True
    """False once ended, or when nothing is recorded."""
    ended = False
    subject = 0
    """Identity of the object whose entry method this call is."""
    open_id = 0
    """Key in the recorder's table of open calls."""
    aliases: tuple[Hashable, ...] = ()
    """Further keys under which other doors know this call."""
    touched = 0.0
    """Clock time of the last event in the whole run; kept on the root only."""
    calls = 0
    """Tool calls started in this agent run."""
    function: object = None
    """The function that the call runs in the end, where it is known."""
    failed_door: Hashable = None
    """A further door that told of an error: what it reports next is another attempt at the same call."""
    has_tool_child = False
    last_call_interrupted = False
    capture = True
    keep: frozenset[str] = frozenset()
    redact: frozenset[str] = frozenset()
    truncated: tuple[str, ...] = ()
    raw: tuple[str, ...] = ()
    secrets: frozenset[str] = frozenset()
    """Values redacted by name in this run, also looked for in its error messages and results; kept on the root only."""
    outcome: Outcome = "ok"
    error_type: str | None = None
    error_message: str | None = None
    stop_reason: StopReason | None = None
    """Said by the end of the call itself."""
    noted_stop_reason: StopReason | None = None
    """Said earlier, by what ran inside; holds if the call then ends well."""
    late: Mapping[str, Any] = _NONE
    """Further essential attributes known only after the start."""
    _context: Context | None = None

    def __init__(
        self,
        key: Hashable,
        door: Hashable,
        kind: Kind,
        name: str,
        span: Span,
        base: Context,
        parent: Recording | None,
        conversation_id: str | None,
        essential: Mapping[str, Any],
    ) -> None:
        self.key = key
        self.door = door
        self.doors: tuple[Hashable, ...] = (door,)
        self.kind: Kind = kind
        self.name = name
        """Tool, agent, model or phase name (readable)."""
        self.span = span
        """The OpenTelemetry span; not recording when the run is sampled out (readable)."""
        self.base = base
        """The context the call started in."""
        self.parent = parent
        self.conversation_id = conversation_id
        """Readable."""
        self.essential = essential
        """Attributes that must be on the ended span whatever user code sets."""
        self.content: dict[str, Any] = {}
        """Encoded content, set at the end."""
        self.root: Recording = self if parent is None else parent.root
        self.agent: Recording | None = self if kind == "agent" else None if parent is None else parent.agent
        """The nearest enclosing agent run, itself for an agent (readable)."""

    @property
    def context(self) -> Context:
        """The Context for code inside this call; a decorator attaches it, a callback handler never does."""
        if self._context is None:
            self._context = self.over(self.base)
        return self._context

    def over(self, context: Context) -> Context:
        """Return ``context`` with this call as the current one."""
        if self.attach_span:
            return Context({**context, _SPAN_KEY: self.span, RECORDING_KEY: self})
        return Context({**context, RECORDING_KEY: self})

    def is_current_in(self, context: Context) -> bool:
        """Return whether ``context`` is inside this call with no span of others between."""
        return context is self._context or context.get(_SPAN_KEY) is self.span

    @property
    def trace_id(self) -> int:
        """Trace id of the span."""
        return self.span.get_span_context().trace_id

    def forget_cycles(self) -> None:
        """Let go of what refers back to this ended call, so that no garbage waits for the collector."""
        self.key, self.aliases, self._context = None, (), None

    def is_same_call(self, name: str, function: object) -> bool:
        """Return whether a tool of this name and function, started inside, may be this very call told again: by the
        function where both are known (a tool may have been given another name), else by the name."""
        if function is not None and self.function is not None:
            return function is self.function
        return name == self.name

    def try_again(self) -> None:
        """Forget how an attempt at this call failed."""
        self.outcome, self.error_type, self.error_message, self.stop_reason = "ok", None, None, None
        self.failed_door = None

    def is_below(self, other: Recording) -> bool:
        """Return whether ``other`` is an ancestor of this call."""
        above = self.parent
        while above is not None:
            if above is other:
                return True
            above = above.parent
        return False
