"""Print, for each case of other evaluators' metrics, our value beside theirs: ``vectors.py FILE.jsonl``.

One JSON object a line: ``id``, ``metric``, ``value`` (ours; null where there is no adapter, or nothing to compare
with), ``expected`` (theirs), and ``defect`` where a documented defect of theirs accounts for the difference. Counts
go to standard error; the exit code is 1 when a difference is left unexplained.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

from adapters import ADAPTERS
from cases import Case, close, read_case

__all__ = ["compare", "main", "verdict"]

Line: TypeAlias = dict[str, Any]


def compare(case: Case) -> Line:
    """Return the line for one case."""
    line: Line = {"id": case.id, "metric": case.metric, "value": None, "expected": case.expected}
    adapter = ADAPTERS.get(case.metric)
    if adapter is None or case.expected is None:
        return line
    answer = adapter(case)
    line["value"] = answer.value
    if (defect := answer.defect_behind(case.expected)) is not None:
        line["defect"] = defect
    return line


def verdict(line: Line) -> str:
    """Return ``reproduced``, ``defect``, ``different`` or ``not compared`` for a line of ``compare``."""
    if line["value"] is None:
        return "not compared"
    if close(line["value"], line["expected"]):
        return "reproduced"
    return "defect" if "defect" in line else "different"


def _lines(texts: Iterable[str]) -> Iterator[Line]:
    return (compare(read_case(text)) for text in texts if text.strip())


def main(arguments: list[str]) -> int:
    """Print the lines for the named file and return the exit code."""
    if len(arguments) != 1:
        print("usage: vectors.py FILE.jsonl", file=sys.stderr)
        return 2
    counts: Counter[str] = Counter()
    with Path(arguments[0]).open(encoding="utf-8") as file:
        for line in _lines(file):
            counts[verdict(line)] += 1
            print(json.dumps(line, ensure_ascii=False))
    print(", ".join(f"{name}: {count}" for name, count in sorted(counts.items())), file=sys.stderr)
    return 1 if counts["different"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
