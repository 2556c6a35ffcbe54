"""The trace tree: an agent's run as its spans tell it, with the score on the root."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final

import orjson
from rich.text import Text
from rich.tree import Tree

from agentpath_sdk import semconv
from agentpath_sdk.cli.console import plain
from agentpath_sdk.cli.tables import COLUMNS, label_text
from agentpath_sdk.trajectories.span_record import SpanRecord

__all__ = ["trace_trees"]

_LONGEST_CONTENT: Final = 72
_NANOSECONDS_PER_MILLISECOND: Final = 1e6


def trace_trees(spans: Iterable[SpanRecord]) -> list[Tree]:
    """Return one tree per root span, in order of start; a span whose parent is missing counts as a root."""
    ordered = sorted(spans, key=lambda span: (span.start_unix_nano, span.span_id))
    known = {span.span_id for span in ordered}
    children: defaultdict[str, list[SpanRecord]] = defaultdict(list)
    roots: list[SpanRecord] = []
    for span in ordered:
        if span.parent_span_id in known and span.parent_span_id != span.span_id:
            children[str(span.parent_span_id)].append(span)
        else:
            roots.append(span)
    return [_grow(Tree(_line(root), guide_style="dim"), root, children) for root in roots]


def _grow(tree: Tree, span: SpanRecord, children: dict[str, list[SpanRecord]]) -> Tree:
    for line in _score_lines(span):
        tree.add(line)
    # Popping makes a cycle of parents harmless.
    for child in children.pop(span.span_id, ()):
        _grow(tree.add(_line(child)), child, children)
    return tree


def _line(span: SpanRecord) -> Text:
    text = Text(plain(span.name), style="red" if span.status == "error" else "bold" if _is_agent(span) else "")
    milliseconds = (span.end_unix_nano - span.start_unix_nano) / _NANOSECONDS_PER_MILLISECOND
    text.append(f"  {milliseconds:.1f} ms", style="not bold dim")
    for name in (semconv.TOOL_CALL_ARGUMENTS, semconv.TOOL_CALL_RESULT):
        if name in span.attributes:
            arrow = " -> " if name == semconv.TOOL_CALL_RESULT else "  "
            text.append(arrow + plain(_decoded(span.attributes[name]), _LONGEST_CONTENT), style="not bold dim")
    return text


def _decoded(content: object) -> object:
    """Return the text inside a JSON text, so that it is not shown with two layers of quotes; else ``content``."""
    try:
        value = orjson.loads(str(content))
    except orjson.JSONDecodeError:
        return content
    return value if isinstance(value, str) else content


def _is_agent(span: SpanRecord) -> bool:
    return span.attributes.get(semconv.OPERATION_NAME) == semconv.OP_INVOKE_AGENT


def _score_lines(span: SpanRecord) -> Sequence[Text]:
    attributes = span.attributes
    if semconv.SCORE_NOT_EVALUATED in attributes:
        return [Text(f"score: not evaluated, {plain(attributes[semconv.SCORE_NOT_EVALUATED])}", style="dim")]
    if semconv.SCORE_VALUE not in attributes:
        return []
    line = Text(f"{semconv.SCORE_VALUE} = {attributes[semconv.SCORE_VALUE]:.3f}  ", style="bold")
    line.append_text(label_text(str(attributes.get(semconv.SCORE_LABEL, ""))))
    for metric, heading in COLUMNS.items():
        value = attributes.get(semconv.METRIC_PREFIX + metric)
        line.append("" if value is None else f"  {heading} {value:.2f}", style="not bold")
    first = attributes.get(semconv.RUN_FIRST_DIVERGENCE)
    return [line] if first is None else [line, Text(f"first divergence: {plain(first)}")]
