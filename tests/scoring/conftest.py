"""Faults of the scorer fail its tests instead of being counted only."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from agentpath_sdk._guard import HEALTH


@pytest.fixture(autouse=True, scope="session")
def _raise_faults() -> Iterator[None]:
    before, HEALTH.raise_faults = HEALTH.raise_faults, True
    yield
    HEALTH.raise_faults = before
