"""One traced invocation of a function of any kind: opened, entered, left, ended."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from contextvars import Token
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from opentelemetry import context as context_api
from opentelemetry.context import Context

from agentpath_sdk._guard import guard
from agentpath_sdk._plain import to_plain
from agentpath_sdk.tracing.attaching import attach, detach
from agentpath_sdk.tracing.binding import Binder
from agentpath_sdk.tracing.frameworks import activate_all
from agentpath_sdk.tracing.options import CallOptions
from agentpath_sdk.tracing.picking import pick_answer, pick_query
from agentpath_sdk.tracing.recorder import UNSET, Recording, fault, get_recorder

__all__ = ["Call", "CallKind", "Plan"]

CallKind: TypeAlias = Literal["agent", "tool", "phase"]

_RECORDER: Final = get_recorder()
_MAX_ITEMS: Final = 10_000


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Plan:
    """What is known of a traced callable before it is called. Also that callable's door to the recorder."""

    kind: CallKind
    name: str
    options: CallOptions
    binder: Binder
    function: object = None
    """The function that runs in the end, whatever is wrapped around it."""
    named_by_instance: bool = False
    """True for a method such as ``run``: the run is called after the class."""
    once_per_instance: bool = False
    """True for one of several entry methods that may call each other."""


class Call:
    """One invocation. Also its own key for the recorder."""

    # Defaults are class attributes: a call is opened on the user's time, and only streams need most of these.
    recording: Recording | None = None
    count = 0
    _token: Token[Context] | None = None
    _stack: ExitStack | None = None
    _items: tuple[Any, ...] | list[Any] = ()
    _room = 0

    def __init__(self, plan: Plan) -> None:
        self._plan = plan

    def open(
        self, instance: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], ambient: Context | None = None
    ) -> None:
        """Start the span; whatever goes wrong, the call itself goes on."""
        plan, options = self._plan, self._plan.options
        try:
            arguments = plan.binder.bind(args, kwargs, bound=instance is not None)
            if plan.kind == "tool":
                self.recording = _RECORDER.start(
                    self, door=plan, kind="tool", name=plan.name, arguments=arguments, description=options.description,
                    capture=options.capture, redact=options.redact, keep=options.keep, function=plan.function,
                    ambient=ambient,
                )  # fmt: skip
            elif plan.kind == "agent":
                self._open_agent(instance, arguments, args, kwargs, ambient)
            else:
                self.recording = _RECORDER.start(
                    self, door=plan, kind="phase", name=plan.name, input=arguments if arguments else UNSET,
                    capture=options.capture, redact=options.redact, keep=options.keep, ambient=ambient,
                )  # fmt: skip
        except Exception as error:
            fault("tracing.open", error)

    def _open_agent(
        self,
        instance: Any,
        arguments: Mapping[str, Any],
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
        ambient: Context | None,
    ) -> None:
        plan, options = self._plan, self._plan.options
        name = plan.name
        if plan.named_by_instance and instance is not None:
            name = (instance if issubclass(type(instance), type) else type(instance)).__name__
        query = None
        with guard("tracing.query"):
            query = pick_query(options.query, arguments, args, kwargs, options.hides)
        self.recording = _RECORDER.start(
            self, door=plan, kind="agent", name=name, gold_path=options.gold_path, query=query,
            input=arguments if arguments else UNSET,
            capture=options.capture, redact=options.redact, keep=options.keep, ambient=ambient,
        )  # fmt: skip
        if self.recording is not None and instance is not None:
            self.recording.subject = id(instance)

    def enter(self) -> None:
        """Make this call the current one for the code about to run."""
        recording = self.recording
        if recording is None:
            return
        try:
            # A call that another door opened first may have begun in another thread's context.
            own = recording.key is self
            self._token = attach(recording.context if own else recording.over(context_api.get_current()))
            if self._plan.kind == "agent":
                self._stack = activate_all()
        except Exception as error:
            fault("tracing.enter", error)

    def resume(self) -> None:
        """Make this call current again, over the context that its reader has now."""
        recording = self.recording
        if recording is None:
            return
        try:
            self._token = attach(recording.over(context_api.get_current()))
            if self._plan.kind == "agent":
                self._stack = activate_all()
        except Exception as error:
            fault("tracing.enter", error)

    def leave(self) -> None:
        """Undo ``enter`` or ``resume``."""
        stack, token = self._stack, self._token
        self._stack = self._token = None
        if stack is not None:
            with guard("tracing.leave"):
                stack.close()
        if token is not None:
            detach(token)

    def take_item(self, item: Any) -> None:
        """Keep a snapshot of an item that a stream handed out, as long as there is room."""
        self.count += 1
        recording = self.recording
        if recording is None or not recording.live or not recording.capture or len(self._items) >= _MAX_ITEMS:
            return
        with guard("tracing.item"):
            limit = _RECORDER.settings.result_limit * 2
            if self._room > limit:
                return
            plain = item if type(item) is str else to_plain(item, limit)[0]
            if not isinstance(self._items, list):
                self._items = []
            self._items.append(plain)
            self._room += len(plain) if isinstance(plain, str) else 64

    def finish(self, result: Any, *, partial_items: int | None = None) -> None:
        """End the span of a call that returned."""
        if self.recording is None:
            return
        kind = self._plan.kind
        if kind == "tool":
            _RECORDER.end(self, door=self._plan, result=result, partial_items=partial_items)
        elif kind == "agent":
            answer = None
            with guard("tracing.answer"):
                answer = pick_answer(self._plan.options.answer, result) if self.recording.live else None
            output = UNSET if result is None else result
            _RECORDER.end(self, door=self._plan, answer=answer, output=output, partial_items=partial_items)
        else:
            output = UNSET if result is None else result
            _RECORDER.end(self, door=self._plan, output=output, partial_items=partial_items)

    def finish_stream(self, *, returned: Any = None, partial: bool = False) -> None:
        """End the span of a stream: read to its end, or left by its reader."""
        items = list(self._items)
        result: Any = items
        if items and all(type(item) is str for item in items):
            result = "".join(items)
        elif not items and returned is not None:
            result = returned
        elif self._plan.kind == "agent" and items and self._plan.options.answer is None:
            # A stream of states or events: the last one that has an answer is the answer.
            result = next((i for i in reversed(items) if pick_answer(None, i) is not None), items)
        if self.recording is not None and self.recording.capture and len(items) < self.count:
            what = "result" if self._plan.kind == "tool" else "output"
            self.recording.truncated = (*self.recording.truncated, what)
        self.finish(result, partial_items=self.count if partial else None)

    def fail(self, error: BaseException) -> None:
        """End the span of a call that raised."""
        if self.recording is not None:
            partial = self.count if self.count else None
            _RECORDER.end(self, door=self._plan, error=error, partial_items=partial)
