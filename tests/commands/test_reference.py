"""The page of configuration lines is that of the tables."""

from __future__ import annotations

import re
from pathlib import Path

from qosforge.platforms.reference import page

PAGE = Path(__file__).parents[2] / "docs" / "commands.md"


def test_the_page_is_that_of_the_tables() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "python -m qosforge.platforms.reference > docs/commands.md"


def test_no_line_is_a_wall_and_each_name_that_shortens_one_is_told() -> None:
    """What is long and stands again and again has a name, which the section tells below its lines."""
    blocks = re.findall(r"```\n(.*?)```\n((?:\n`[A-Z_]+`: [^\n]*\n)*)", page(), re.DOTALL)
    assert max(len(line) for block, _ in blocks for line in block.splitlines()) < 260
    told = 0
    for block, names in blocks:
        used = set(re.findall(r"\b(?:ACTION|PORT_RANGE|SETTING)(?:_\d)?\b", block))
        assert used == set(re.findall(r"(?m)^`([A-Z_]+)`: ", names)), block
        told += len(used)
    assert told > 3
