"""The page on metrics is true: its code runs, and it names every metric."""

from __future__ import annotations

import re
from pathlib import Path

from agentpath_sdk.scoring.score import METRICS

PAGE = (Path(__file__).parents[2] / "docs" / "metrics.md").read_text(encoding="utf-8")


def test_code_on_the_page_runs() -> None:
    blocks = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert blocks
    for block in blocks:
        exec(compile(block, "docs/metrics.md", "exec"), {})


def test_every_metric_is_on_the_page() -> None:
    assert [name for name in METRICS if f"`{name}`" not in PAGE] == []
