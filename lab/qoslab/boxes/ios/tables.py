"""``table-map``: how one mark is translated into another."""

from __future__ import annotations

from qoslab.boxes.ios.base import IosBox
from qoslab.boxes.ios.rows import group, leaving, row
from qoslab.boxes.ios.train import TABLE_MAPS
from qoslab.config import Section
from qoslab.grammar import Match, Refused
from qoslab.shell import Row, Shell

_RANK = 59
_COPY = "default copy"  # not printed


def global_rows(box: IosBox) -> list[Row]:
    """``table-map``; a table that a policy uses cannot go."""
    if not box.train.since(TABLE_MAPS):
        return []
    opened = group("table-map WORD:name", "table-map", rank=_RANK)

    def table(shell: Shell, match: Match) -> None:
        name = match["name"]
        lines = (line for policy in box.running.starting("policy-map ") for line in policy.walk())
        if match.undone and any(line.text.endswith(f" table {name}") for line in lines):
            raise Refused(f"% Table-map {name} is being used")
        opened.run(shell, match)

    return [row("table-map WORD:name", table, True)]


def submode_rows() -> dict[str, list[Row]]:
    """``map from X to Y`` and what happens to every other value (0-63 each)."""
    return {
        "table-map": [
            *leaving(),
            row("map from <0-63>:old to <0-63>:new", _map, "map from <0-63>:old [to <0-63>]"),
            row("default {copy|ignore|<0-63>}:rest", _default, "default [LINE]"),
        ]
    }


def translated(table: Section, value: int) -> int | None:
    """What a table makes of a value; None where the mark is left alone."""
    line = table.value(f"map from {value}")
    if line:
        return int(line.split()[-1])
    rest = table.value("default", _COPY).split()[1]
    return value if rest == "copy" else None if rest == "ignore" else int(rest)


def _map(shell: Shell, match: Match) -> None:
    key = f"map from {match['old']}"
    if match.undone:
        shell.section.remove(key)
    else:
        shell.store(Section(match.text, key=key, rank=10, order=(match.number("old"),)))


def _default(shell: Shell, match: Match) -> None:
    if match.undone or match.text == _COPY:
        shell.section.remove("default")
    else:
        shell.store(Section(match.text, key="default", rank=20))
