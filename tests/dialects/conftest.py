"""No vocabulary may fail on a span: a reader that raises is a fault, and here a failed test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from agentpath_sdk._guard import HEALTH


@pytest.fixture(autouse=True)
def no_faults() -> Iterator[None]:
    before = HEALTH.counts()
    yield
    after = HEALTH.counts()
    assert {k: v for k, v in after.items() if k.startswith("fault.dialects") and v != before.get(k, 0)} == {}
