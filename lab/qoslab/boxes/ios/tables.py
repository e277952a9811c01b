"""``table-map``: how one mark is translated into another."""

from __future__ import annotations

from qoslab.boxes.ios.base import IosBox
from qoslab.boxes.ios.rows import group, leaving, row
from qoslab.boxes.ios.train import TABLE_MAPS
from qoslab.config import Section
from qoslab.grammar import Match, Refused
from qoslab.shell import Row, Shell

_RANK = 59
_IOS_XE = "16.0"
"""From here a table prints whole: with ``default copy``, and two blanks before the value that is mapped (running
configurations of Catalyst 9000s)."""
_COPY = "default copy"


def global_rows(box: IosBox) -> list[Row]:
    """``table-map``; a table that a policy uses cannot go."""
    if not box.train.since(TABLE_MAPS):
        return []
    opened = group("table-map WORD:name", "table-map", rank=_RANK)

    def table(shell: Shell, match: Match) -> None:
        name = match["name"]
        lines = (line for policy in box.running.starting("policy-map ") for line in policy.walk())
        if match.undone and any(line.text.rstrip().endswith(f" table {name}") for line in lines):
            raise Refused(f"% Table-map {name} is being used")
        opened.run(shell, match)
        if not match.undone and box.train.since(_IOS_XE) and "default" not in shell.section:
            shell.store(Section(_COPY, key="default", rank=20))

    return [row("table-map WORD:name", table, True)]


def submode_rows(box: IosBox) -> dict[str, list[Row]]:
    """``map from X to Y`` and what happens to every other value (0-63 each)."""
    whole = box.train.since(_IOS_XE)

    def value(shell: Shell, match: Match) -> None:
        key = f"map from {match['old']}"
        if match.undone:
            shell.section.remove(key)
        else:
            text = match.text.replace("from ", "from  ") if whole else match.text
            shell.store(Section(text, key=key, rank=10, order=(match.number("old"),)))

    def default(shell: Shell, match: Match) -> None:
        text = _COPY if match.undone else match.text
        if text == _COPY and not whole:
            shell.section.remove("default")
        else:
            shell.store(Section(text, key="default", rank=20))

    return {
        "table-map": [
            *leaving(),
            row("map from <0-63>:old to <0-63>:new", value, "map from <0-63>:old [to <0-63>]"),
            row("default {copy|ignore|<0-63>}:rest", default, "default [LINE]"),
        ]
    }


def translated(table: Section, value: int) -> int | None:
    """What a table makes of a value; None where the mark is left alone."""
    line = table.value(f"map from {value}")
    if line:
        return int(line.split()[-1])
    rest = table.value("default", _COPY).split()[1]
    return value if rest == "copy" else None if rest == "ignore" else int(rest)
