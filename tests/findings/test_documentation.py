"""The page on findings is true: its code runs, and it names every kind."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = (Path(__file__).parents[2] / "docs" / "findings.md").read_text(encoding="utf-8")


def test_code_on_the_page_runs_from_top_to_bottom() -> None:
    blocks = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert len(blocks) == 3
    known: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, "docs/findings.md", "exec"), known)


def test_every_kind_is_on_the_page() -> None:
    source = Path(__file__).parents[2] / "agentpath_sdk" / "scoring"
    code = (source / "habits.py").read_text(encoding="utf-8") + (source / "habits_usual.py").read_text(encoding="utf-8")
    kinds = set(re.findall(r'(?:_finding\(\s*|kind=)"(\w+)"', code))
    assert {"loop", "many_steps"} <= kinds
    assert [kind for kind in sorted(kinds) if f"`{kind}`" not in PAGE] == []
