"""Docs say only what holds: links resolve, and every module is of a readable size."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TEXTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
CODE = sorted(
    path for folder in ("agentpath_sdk", "integrations", "exporters") for path in (ROOT / folder).glob("**/*.py")
)


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_relative_links_point_at_existing_files(path: Path) -> None:
    """A link inside the repository leads somewhere."""
    prose = re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    links = re.findall(r"\]\((?!https?:|#|mailto:)([^)#\s]+)", prose)
    assert [link for link in links if not (path.parent / link).exists()] == []


@pytest.mark.parametrize("path", CODE, ids=lambda path: str(path.relative_to(ROOT)))
def test_modules_stay_under_five_hundred_lines(path: Path) -> None:
    """A module that grows past this has more than one responsibility."""
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 500


@pytest.mark.parametrize("path", CODE, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_module_is_named_after_nothing(path: Path) -> None:
    """A module's name says what is in it."""
    assert path.stem not in {"utils", "helpers", "common", "manager", "base"}
