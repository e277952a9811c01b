"""Table-maps: which mark becomes which, where a policer or a class says so by the name of a table."""

from __future__ import annotations

from collections.abc import Iterator

from qosforge.commands import Change, Entry, Line, Reading
from qosforge.intent.scope import OWN_PREFIX
from qosforge.plan.model import TRANSMIT, Action, Rule
from qosforge.platforms.recognition import points_of

POLICED = f"{OWN_PREFIX}-POLICED"
"""The table of what policers write on packets that exceed."""
_MARKS = range(64)


def table_maps() -> Iterator[Line]:
    """Table-maps, and the marks of classes that are taken from one."""
    named = Change(defines="table-map {name}", owned=True, only={"name": rf"{OWN_PREFIX}\S*"})
    yield Line("table-map", "table-map WORD:name", opens="table-map", change=named)
    yield Line("row", "map from <0-63>:old to <0-63>:new", "table-map", change=Change(key="{old}"))
    rest = Change(key="default", negate="default copy")
    yield Line("rest", "default {copy|ignore|<0-63>:new}", "table-map", change=rest)
    yield Line(
        "set-table",
        "set {dscp|cos}:field {dscp|cos}:source table WORD:table",
        "class",
        change=Change(key="{field}", refers=("table-map {table}",)),
    )


class TableMaps:
    """The table-maps of one configuration: what each makes of a mark."""

    def __init__(self, reading: Reading) -> None:
        self._tables = {name: _rows(table) for name, table in reading.objects("table-map").items()}

    def __contains__(self, name: str) -> bool:
        return name in self._tables

    def keeps_all(self, name: str) -> bool:
        """Whether a table leaves every mark as it is."""
        return self._tables.get(name) == tuple(_MARKS)

    def action(self, name: str, rule: Rule) -> Action | None:
        """What a table makes of the DSCPs of a class's packets; None where it makes different ones of them."""
        table = self._tables.get(name)
        if table is None:
            return None
        points = marks_of(rule)
        if all(table[point] == point for point in points or _MARKS):
            return TRANSMIT
        new = {table[point] for point in points or _MARKS}
        return Action(set_dscp=new.pop()) if len(new) == 1 else None


def marks_of(rule: Rule) -> frozenset[int] | None:
    """The DSCPs that a class's packets have behind its own mark; None where they may have any."""
    if rule.set_dscp is not None:
        return frozenset({rule.set_dscp})
    if rule.set_precedence is not None or not rule.any_of or rule.none_of:
        return None
    points: set[int] = set()
    for term in rule.any_of:
        asked = points_of(term)
        if asked is None:
            return None
        points |= asked
    return frozenset(points)


def _rows(table: Entry) -> tuple[int, ...]:
    rows = {line["old"]: line["new"] for line in table.below if line.id == "row"}
    rest = next((line.get("new") for line in table.below if line.id == "rest"), None)
    return tuple(rows.get(mark, mark if rest is None else rest) for mark in _MARKS)
