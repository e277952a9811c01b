"""Kept lines of tables that are cleared as a whole: which of them cannot stay, and go with their table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from qosforge.configtree.tree import ConfigLine, Grammar, LineRule, Tree


@dataclass(frozen=True)
class _Row:
    """A line of a table, and what its rule says of it."""

    line: ConfigLine
    rule: LineRule
    values: Mapping[str, str]

    @property
    def absent(self) -> bool:
        """Whether the line itself says that there is nothing."""
        return self.line.text in (self.rule.negate.format(**self.values), self.rule.reset.format(**self.values))

    @property
    def place(self) -> str:
        return self.rule.place.format(**self.values)


def lines_freed(current: Tree, desired: Tree, grammar: Grammar, context: str = "") -> frozenset[str]:
    """The kept lines of ``current``, by their text, that cannot stay where they are as ``desired`` is put into it.

    Where nothing of a table goes, what comes is entered beside its kept lines. Where something does, or a kept line
    stands in the place of one that comes, the table is cleared: its kept lines go with it, and what is desired of
    them has to be entered again.
    """
    if not any(line.kept for line in current):
        return frozenset()
    tables, coming = _tables(current, grammar, context), _tables(desired, grammar, context)
    freed = (_freed(tables[name], rows) for name, rows in coming.items() if name in tables)
    return frozenset[str]().union(*freed)


def _freed(rows: Iterable[_Row], coming: Iterable[_Row]) -> frozenset[str]:
    wanted = {row.line.text: row.place for row in coming if not row.absent}
    managed = {row.line.text for row in rows if not row.line.kept}
    kept = {row.line.text: row for row in rows if row.line.kept}
    taken = {row.place for text, row in kept.items() if text not in wanted} - {""}
    entered = {place for text, place in wanted.items() if text not in managed and text not in kept}
    if managed <= wanted.keys() and not taken & entered:
        return frozenset()
    return frozenset(text for text, row in kept.items() if row.rule.reset)


def _tables(tree: Tree, grammar: Grammar, context: str) -> dict[str, list[_Row]]:
    """The rows of each table, kept ones among them."""
    found: dict[str, list[_Row]] = {}
    for line in tree:
        told = grammar.find(line.text, context)
        if told is not None and told[0].group and not told[0].gives_way_to:
            row = _Row(line, *told)
            found.setdefault(row.rule.group.format(**row.values), []).append(row)
    return found


def without_freed(current: Tree, target: Tree, grammar: Grammar) -> Tree:
    """``current`` with the kept lines of tables as any other where ``target`` does not keep them."""
    if not any(line.kept for line in current):
        return current
    staying = {line.text for line in target if line.kept}
    gone = {
        row.line.text
        for rows in _tables(current, grammar, "").values()
        for row in rows
        if row.line.kept and row.rule.reset and row.line.text not in staying
    }
    return tuple(replace(line, kept=False) if line.kept and line.text in gone else line for line in current)
