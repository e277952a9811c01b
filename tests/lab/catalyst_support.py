"""What the Catalysts' grammar tests share."""

from __future__ import annotations

from qoslab.box import Box

from .conftest import type_lines

INVALID = "% Invalid input"


def held(box: Box, *lines: str) -> list[str]:
    """Type lines that must be taken; returns what the running configuration has more than before."""
    before = box.running_text().splitlines()
    assert type_lines(box, *lines)[1] == []
    return [line.strip() for line in box.running_text().splitlines() if line not in before]
