"""Table-maps: which mark becomes which, where a policer or a class says so by the name of a table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from qosforge.commands import Change, Line, ReadConfiguration, ReadLine
from qosforge.intent.scope import OWN_PREFIX
from qosforge.plan.model import TRANSMIT, Action, Rule, Term
from qosforge.plan.terms import meet
from qosforge.platforms.mqc.lines import Since, unknown_release
from qosforge.platforms.recognition import points_of

POLICED = f"{OWN_PREFIX}-POLICED"
"""The table of what policers write on packets that exceed."""
_MARKS = range(64)
_EIGHT = 8
_FIELDS = {
    "dscp": ("dscp", 64),
    "precedence": ("precedence", _EIGHT),
    "cos": ("cos", _EIGHT),
    "qos-group": ("qos_group", 100),
    "mpls experimental imposition": ("mpls_imposition", _EIGHT),
    "mpls experimental topmost": ("mpls_topmost", _EIGHT),
}
"""The names that plans have for marks, and how many of each there are."""
_SWITCHED = ("dscp dscp", "dscp cos", "cos dscp", "cos cos")


def table_maps(since: Since = unknown_release, *, marks: Iterable[str] = _SWITCHED) -> Iterator[Line]:
    """Table-maps, and the ``marks`` of classes that are taken from another one, by a table or as it is."""
    named = Change(defines="table-map {name}", owned=True, only={"name": rf"{OWN_PREFIX}\S*"})
    yield Line("table-map", "table-map WORD:name", opens="table-map", change=named, since=since("table_maps"))
    yield Line("row", "map from <0-63>:old to <0-63>:new", "table-map", change=Change(key="{old}"))
    rest = Change(key="default", negate="default copy")
    yield Line("rest", "default {copy|ignore:ignore|<0-63>:new}", "table-map", change=rest)
    for mark in marks:
        field, source = mark.rsplit(" ", 1)
        pattern = f"set {{{field}}}:field {source}:source"
        by_table = Change(key="{field}", refers=("table-map {table}",))
        yield Line("set-table", f"{pattern} table WORD:table", "class", change=by_table, since=since("table_maps"))
        copied = Change(key="{field}")
        yield Line("set-table", pattern, "class", change=copied, since=since("table_maps"))


class TableMaps:
    """The table-maps of one configuration: what each makes of a mark."""

    def __init__(self, reading: ReadConfiguration) -> None:
        self._tables = {name: _rows(table) for name, table in reading.objects("table-map").items()}

    def __contains__(self, name: str) -> bool:
        return name in self._tables

    def keeps_all(self, name: str) -> bool:
        """Whether a table leaves every mark as it is."""
        table = self._tables.get(name)
        return table is not None and all(new in (None, mark) for mark, new in enumerate(table))

    def rules(self, rule: Rule, line: ReadLine, name: str) -> tuple[Rule, ...] | None:
        """A class that takes a mark from another one, as a class for each mark that it makes of others.

        None where the class cannot be told so. ``name`` begins the names of those classes; what is left as it is
        stays in the class.
        """
        (held, _), (target, width) = _FIELDS[line["source"]], _FIELDS[line["field"]]
        written = f"set_{target}"
        if rule.police is not None or getattr(rule, written) is not None or held not in Term.model_fields:
            return None
        values: dict[int, list[int]] = {}
        for mark, new in enumerate(self._values(line)):
            if new is not None and new < width and (held != target or new != mark):
                values.setdefault(new, []).append(mark)
        found = []
        for new, marks in values.items():
            met = (meet(term, Term.model_validate({held: tuple(marks)})) for term in rule.any_of)
            terms = tuple(dict.fromkeys(term for term in met if term is not None))
            if terms:
                change = {"name": f"{name}-{line['source']}-{marks[0]}", "any_of": terms, written: new}
                found.append(rule.model_copy(update=change))
        return (*found, rule)

    def _values(self, line: ReadLine) -> Iterator[int | None]:
        """What becomes of each mark: a table says it, or it is copied, of a DSCP the upper three bits."""
        (_, width), (_, room) = _FIELDS[line["source"]], _FIELDS[line["field"]]
        table = self._tables.get(line.get("table", ""))
        for mark in range(width):
            copied = mark >> 3 if line["source"] == "dscp" and room == _EIGHT else mark
            yield copied if table is None else table[mark] if mark < len(table) else mark

    def action(self, name: str, rule: Rule) -> Action | None:
        """What a table makes of the DSCPs of a class's packets; None where it makes different ones of them."""
        table = self._tables.get(name)
        if table is None:
            return None
        points = marks_of(rule) or _MARKS
        new = {point if (made := table[point]) is None else made for point in points}
        if all(table[point] in (None, point) for point in points):
            return TRANSMIT
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


def _rows(table: ReadLine) -> tuple[int | None, ...]:
    """What a table makes of each mark; None where it leaves that of the class alone (``default ignore``)."""
    rows = {line["old"]: line["new"] for line in table.below if line.id == "row"}
    rest = next((line for line in table.below if line.id == "rest"), None)
    usual = None if rest is None else rest.get("new")
    leaves = rest is not None and "ignore" in rest
    return tuple(rows.get(mark, None if leaves else mark if usual is None else usual) for mark in _MARKS)
