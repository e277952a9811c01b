"""The page of configuration lines is that of the tables."""

from __future__ import annotations

from pathlib import Path

from qosforge.platforms.reference import page

PAGE = Path(__file__).parents[2] / "docs" / "commands.md"


def test_the_page_is_that_of_the_tables() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "python -m qosforge.platforms.reference > docs/commands.md"
