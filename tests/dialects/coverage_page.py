"""The page docs/span-vocabularies.md, made of what the reader finds in the recorded cases.

Run ``python -m tests.dialects.coverage_page`` in the repository's root to write it again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from agentpath_sdk.trajectories.dialects import BUILT_IN

from .exceptions import EXCEPTIONS, Lacking, lacking
from .real_cases import CASES, PAIRS, TRUTH, Verdict, pair_of, verdict_of

__all__ = ["PAGE", "page"]

PAGE: Final = Path(__file__).parents[2] / "docs" / "span-vocabularies.md"
_FACTS: Final[tuple[tuple[str, Lacking, Callable[[Verdict], bool]], ...]] = (
    ("steps", "steps", lambda v: v.steps),
    ("arguments", "arguments", lambda v: v.arguments == v.count),
    ("errors", "errors", lambda v: v.errors),
    ("agent", "agents", lambda v: v.agents),
    ("query", "query", lambda v: v.query),
    ("answer", "answer", lambda v: v.answer),
    ("conversation", "conversation", lambda v: v.conversation),
)
_HEAD: Final = """# Spans of other instrumentations

Teams that have an instrumentation keep it: the same reader rebuilds trajectories from the spans of all of these. The
tables are made from runs of the published packages whose true calls are known (`tests/data/spans`), by
`python -m tests.dialects.coverage_page`; a test holds this page to what the reader finds.

## Vocabularies

A span may speak several at once. For each fact the first one in this order that says it wins:

{order}

A package can add one: an entry point of group `agentpath_dialects` that is an
`agentpath_sdk.trajectories.dialects.dialect.Dialect`. Such vocabularies are asked first; one that cannot be loaded, or
fails on a span, is counted (`fault.dialects.*`) and changes nothing else.

## What is found

✓ = found right in every case; – = the spans do not hold it (see below); · = the cases have none. Several marks mean
that it depends on the case.

| framework | instrumentation | cases | calls | {facts} |
|---|---|---|---|{rules}|
{rows}

## What spans do not hold

| cases | missing | why |
|---|---|---|
{exceptions}
"""


def page() -> str:
    """Return the page's text."""
    return _HEAD.format(
        order=", ".join(f"`{dialect.name}`" for dialect in BUILT_IN) + ", `otel`.",
        facts=" | ".join(title for title, _, _ in _FACTS),
        rules="|".join("---" for _ in _FACTS),
        rows="\n".join(_row(pair) for pair in PAIRS),
        exceptions="\n".join(f"| `{pattern}` | {', '.join(facts)} | {why} |" for pattern, facts, why in EXCEPTIONS),
    )


def _row(pair: str) -> str:
    cases = [case for case in CASES if pair_of(case) == pair]
    framework, _, instrumentation = pair.partition("__")
    calls = sum(len(TRUTH[case]["steps"]) for case in cases)
    marks = " | ".join(_mark(cases, fact, check) for _, fact, check in _FACTS)
    return f"| {framework} | {instrumentation} | {len(cases)} | {calls} | {marks} |"


def _mark(cases: Iterable[str], fact: Lacking, check: Callable[[Verdict], bool]) -> str:
    return " ".join(sorted({_case_mark(case, fact, check) for case in cases}, key="✓–·✗".index))


def _case_mark(case: str, fact: Lacking, check: Callable[[Verdict], bool]) -> str:
    asked = {"query": "query", "answer": "final_answer", "conversation": "session_id"}.get(fact)
    if asked is not None and TRUTH[case][asked] is None:
        return "·"
    if lacking(case, fact) is not None:
        return "–"
    return "✓" if check(verdict_of(case)) else "✗"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
