"""Run every ``bench_*.py`` beside this file and print one table; writes ``bench-output/results.json`` too.

Usage: python benchmarks/run.py [NAME ...]     (NAME = tracing, langchain, scoring, ...)
"""

from __future__ import annotations

import importlib
import json
import platform
import sys
from dataclasses import asdict
from pathlib import Path

from rich.console import Console
from rich.table import Table

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from harness import Row  # noqa: E402 - the folder of this file must be importable first

_VERDICT = {True: "[green]met[/]", False: "[red]missed[/]", None: ""}


def _names(wanted: list[str]) -> list[str]:
    found = sorted(path.stem.removeprefix("bench_") for path in HERE.glob("bench_*.py"))
    if unknown := set(wanted) - set(found):
        sys.exit(f"unknown benchmark {sorted(unknown)}; known are {found}")
    return wanted or found


def _table(title: str, rows: list[Row]) -> Table:
    table = Table("measured", "value", "unit", "goal", "", "note", title=title, title_justify="left")
    for row in rows:
        goal = "" if row.goal is None else f"<= {row.goal:g}"
        table.add_row(row.name, f"{row.value:,.4g}", row.unit, goal, _VERDICT[row.met], row.note)
    return table


def main() -> None:
    """Run the named benchmarks (all without a name) and print their rows."""
    console = Console()
    console.print(f"Python {platform.python_version()}, {platform.machine()}; medians of side-by-side rounds")
    results: dict[str, list[dict[str, object]]] = {}
    for name in _names(sys.argv[1:]):
        rows: list[Row] = importlib.import_module(f"bench_{name}").rows()
        console.print(_table(name, rows))
        results[name] = [asdict(row) | {"met": row.met} for row in rows]
    out = HERE.parent / "bench-output" / "results.json"
    out.parent.mkdir(exist_ok=True)
    out.write_text(json.dumps(results, indent=2), encoding="utf-8")
    console.print(f"also in {out.relative_to(HERE.parent)}")


if __name__ == "__main__":
    main()
