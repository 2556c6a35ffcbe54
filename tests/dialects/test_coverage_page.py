"""The page on span vocabularies says what the reader finds today."""

from __future__ import annotations

from .coverage_page import PAGE, page


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run: python -m tests.dialects.coverage_page"


def test_nothing_that_the_spans_hold_is_found_wrong() -> None:
    assert "✗" not in page()
