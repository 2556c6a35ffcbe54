"""`agentpath doctor`: what is installed, what is set, and what to do about what is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from agentpath_sdk.cli.checkup import Check, State, installation, places
from agentpath_sdk.cli.console import out, plain, write_json
from agentpath_sdk.cli.counters import COUNTER_MEANINGS
from agentpath_sdk.cli.environment import environment

__all__ = ["doctor"]

_STYLES: Final[dict[State, str]] = {"ok": "green", "info": "dim", "warning": "yellow", "error": "red"}
_COUNTERS: Final = "health counters"


def doctor(*, counters: bool, as_json: bool) -> int:
    """Print all checks; return 2 when one of them is an error, else 0.

    ``counters``: also say what each health counter means (always, as JSON).
    """
    found = [*installation(), *environment(), *places()]
    if as_json:
        for check in (*found, *_counters()):
            write_json(asdict(check))
    else:
        _print([*found, *_counters()] if counters else found, out())
    return 2 if any(check.state == "error" for check in found) else 0


def _counters() -> list[Check]:
    return [Check(area=_COUNTERS, name=name, state="info", found=text) for name, text in COUNTER_MEANINGS.items()]


def _print(found: Sequence[Check], console: Console) -> None:
    for area in dict.fromkeys(check.area for check in found):
        console.print(Text(area, style="bold"))
        console.print(_table([check for check in found if check.area == area]))
    if not any(check.area == _COUNTERS for check in found):
        console.print(Text(f"{_COUNTERS}: agentpath doctor --counters says what each one means", style="dim"))
    advice = [check for check in found if check.advice]
    console.print(Text("what to do" if advice else "nothing to do", style="bold"))
    for check in advice:
        console.print(Text(f"  {check.name}: ", style=_STYLES[check.state]).append(plain(check.advice), "default"))


def _table(found: Sequence[Check]) -> Table:
    table = Table(box=None, show_header=False, padding=(0, 0, 0, 2))
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for check in found:
        table.add_row(Text(check.state, style=_STYLES[check.state]), plain(check.name), plain(check.found))
    return table
