"""The ordered list of commands that turns one configuration tree into another.

What differs becomes operations, whose order follows from what they define and refer to (`operations`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Self

from qosforge.configtree.operations import Operation, ordered_lines
from qosforge.configtree.tables import lines_freed, without_freed
from qosforge.configtree.tree import ConfigLine, Grammar, LineRule, Tree


@dataclass(frozen=True)
class ManagedLine:
    """A managed line with its rule, its key and its formatted templates."""

    line: ConfigLine
    rule: LineRule
    values: Mapping[str, str]
    grammar: Grammar

    @cached_property
    def below(self) -> dict[str, ManagedLine]:
        """The managed lines below it."""
        return managed(self.line.children, self.rule.id, self.grammar)

    @cached_property
    def key(self) -> str:
        """What tells this setting or object from the others of its context."""
        return self.rule.id + " " + self.rule.key.format(**self.values)

    @property
    def negated(self) -> str:
        """The line that takes it back."""
        return self.rule.negate.format(**self.values)

    @property
    def booked(self) -> int:
        """What it takes of the amount that its object sums."""
        return int(self.rule.booked.format(**self.values) or 0)

    @property
    def unit(self) -> str:
        """The unit of that amount."""
        return self.rule.unit.format(**self.values)

    @property
    def absence(self) -> bool:
        """Whether the line itself says that the setting (or the whole table) is not there."""
        return self.line.text in (self.negated, self.rule.reset.format(**self.values))


def managed(tree: Iterable[ConfigLine], context: str, grammar: Grammar) -> dict[str, ManagedLine]:
    """The lines of a tree that a rule of the context speaks of, by their key; of one key the last."""
    entries: dict[str, ManagedLine] = {}
    for line in tree:
        found = grammar.find_rule(line, context)
        if found is not None:
            entry = ManagedLine(line, *found, grammar)
            entries[entry.key] = entry
    return entries


def merge(current: Tree, desired: Tree, grammar: Grammar, context: str = "") -> Tree:
    """What ``current`` becomes when ``desired`` is put into it.

    Owned objects are replaced but for lines without a rule, tables (``group``) as a whole, other settings by their
    key; everything else stays, unless it gives way to what is desired or goes with its table (`lines_freed`). A
    desired line that takes a setting back (``no ...``) stands for its absence.
    """
    freed = lines_freed(current, desired, grammar, context)
    kept = {line.text for line in current if line.kept} - freed
    wanted = managed((line for line in desired if line.text not in kept), context, grammar)
    groups = {e.rule.group.format(**e.values) for e in wanted.values() if e.rule.group}
    kinds = {e.rule.id for e in wanted.values()}
    result: list[ConfigLine] = []
    used: set[str] = set()
    for line in current:
        if line.kept and line.text in freed:
            continue
        found = grammar.find_rule(line, context)
        entry = ManagedLine(line, *found, grammar) if found else None
        if entry and entry.rule.group and entry.rule.group.format(**entry.values) in groups:
            continue
        if entry and entry.rule.gives_way_to in kinds:
            continue
        if entry is None or entry.key not in wanted:
            result.append(line)
            continue
        used.add(entry.key)
        new = wanted[entry.key]
        if not new.absence:
            result.append(_merged(line, new, grammar))
    for key, entry in wanted.items():
        if key in used or entry.absence:
            continue
        below = entry.line.children
        if not entry.rule.owned:
            below = merge((), below, grammar, entry.rule.id)
        result.append(ConfigLine(entry.line.text, below, entry.line.number))
    return tuple(result)


def _merged(line: ConfigLine, new: ManagedLine, grammar: Grammar) -> ConfigLine:
    """What one object or setting becomes when the desired one with its key is put into it."""
    text = line.text if new.rule.standing and new.rule.owned else new.line.text
    desired = new.below
    if not new.rule.owned or (desired and all(e.rule.partial for e in desired.values())):
        return ConfigLine(text, merge(line.children, new.line.children, grammar, new.rule.id), line.number)
    beside: list[ConfigLine] = []
    held: dict[str, ConfigLine] = {}
    for child in line.children:
        found = grammar.find_rule(child, new.rule.id)
        entry = ManagedLine(child, *found, grammar) if found else None
        if entry is not None and entry.key in desired:
            if entry.rule.owned or entry.rule.standing:
                held[entry.key] = _merged(child, desired[entry.key], grammar)
        elif entry is None or entry.rule.standing:
            beside.append(child)
    replaced = {id(desired[key].line): merged for key, merged in held.items()}
    there = {child.text for child in beside if child.kept}
    coming = (replaced.get(id(c), c) for c in new.line.children if c.text not in there)
    return ConfigLine(text, (*beside, *coming), line.number)


def transition(current: Tree, target: Tree, grammar: Grammar) -> list[str]:
    """Lines that turn ``current`` into ``target``, in an order the device accepts; empty when they are alike.

    Only lines under a rule are touched.
    """
    current = without_freed(current, target, grammar)
    return _transition(_Objects.of(current, grammar), _Objects.of(target, grammar), grammar)


def transitions(current: Tree, target: Tree, grammar: Grammar) -> tuple[list[str], list[str]]:
    """The `transition` from ``current`` to ``target``, and the one back."""
    current = without_freed(current, target, grammar)
    before, after = _Objects.of(current, grammar), _Objects.of(target, grammar)
    return _transition(before, after, grammar), _transition(after, before, grammar)


@dataclass(frozen=True)
class _Objects:
    """The managed lines at the top of a tree, and what each object refers to, itself or below it."""

    entries: dict[str, ManagedLine]
    references: dict[str, set[str]]

    @classmethod
    def of(cls, tree: Tree, grammar: Grammar) -> Self:
        entries = managed(tree, "", grammar)
        references: dict[str, set[str]] = {}
        for entry in entries.values():
            defined, referred = set[str](), set[str]()
            _describe(entry, defined, referred)
            for name in defined:
                references.setdefault(name, set()).update(referred)
        return cls(entries, references)


def _transition(current: _Objects, target: _Objects, grammar: Grammar) -> list[str]:
    operations = _operations(current.entries, target.entries, grammar)
    return ordered_lines(operations, current.references, target.references, grammar.leave)


def _operations(
    before: dict[str, ManagedLine], after: dict[str, ManagedLine], grammar: Grammar
) -> Iterator[Operation]:
    yield from _group_operations(before, after, grammar)
    for key, entry in after.items():
        if entry.rule.group:
            continue
        old = before.get(key)
        operation = Operation()
        if old is None:
            _describe(entry, operation.creates, operation.adds)
            operation.lines = list(_entered(entry.line, grammar, 0))
        else:
            operation.lines = _changed(old, entry, grammar, 0, operation)
            # What refers to an object finds it as it will be.
            operation.changes = {entry.rule.defines.format(**entry.values)} - {""}
            operation.creates |= operation.changes
            # What stays referred to is not dropped: nothing has to wait for it.
            operation.drops -= operation.adds
            operation.attachments = list(_attachments(old, entry, operation.lines))
        if operation.lines:
            yield operation
    for key, entry in before.items():
        if key not in after and not entry.rule.group:
            operation = Operation(lines=[entry.negated])
            _describe(entry, operation.deletes, operation.drops)
            yield operation


def _attachments(old: ManagedLine, new: ManagedLine, lines: list[str]) -> Iterator[Operation]:
    """Of the lines that change an object those that attach, swap or detach something, by direction."""
    before = old.below
    after = new.below
    found: dict[str, Operation] = {}
    for side, other, at in ((before, after, 0), (after, before, 1)):
        for key, entry in side.items():
            if not entry.rule.attaches or (key in other and other[key].line.text == entry.line.text):
                continue
            operation = found.setdefault(entry.rule.attaches.format(**entry.values), Operation())
            line = " " + (entry.line.text if at else entry.negated)
            operation.lines += [line] if line in lines else []
            _describe(entry, set(), operation.adds if at else operation.drops)
    for operation in found.values():
        # What stays referred to is not dropped: nothing has to wait for it.
        operation.drops -= operation.adds
        if operation.lines:
            yield operation


def _group_operations(
    before: dict[str, ManagedLine], after: dict[str, ManagedLine], grammar: Grammar
) -> Iterator[Operation]:
    groups: dict[str, tuple[list[ManagedLine], list[ManagedLine]]] = {}
    for side, entries in enumerate((before, after)):
        for entry in entries.values():
            if entry.rule.group:
                name = entry.rule.group.format(**entry.values)
                groups.setdefault(name, ([], []))[side].append(entry)
    order = {id(rule): 0 if rule.ordered else position for position, rule in enumerate(grammar.rules)}
    for old, new in groups.values():
        held, wanted = {e.line.text for e in old}, {e.line.text for e in new}
        kept = held if held <= wanted else set()
        entered = sorted((e for e in new if e.line.text not in kept), key=lambda e: order[id(e.rule)])
        operation = Operation(lines=[e.line.text for e in entered])
        if held and not kept:
            gone = sorted(old, key=lambda e: -order[id(e.rule)])
            resets = [e.rule.reset.format(**e.values) for e in old if e.rule.reset]
            operation.lines[:0] = list(dict.fromkeys(resets)) or [e.negated for e in gone]
            for entry in gone:
                _describe(entry, operation.deletes, operation.drops)
        for entry in entered:
            _describe(entry, operation.creates, operation.adds)
        # What stays referred to is not dropped: nothing has to wait for it.
        operation.drops -= operation.adds
        if operation.lines:
            yield operation


def _describe(entry: ManagedLine, defined: set[str], referred: set[str]) -> None:
    if entry.rule.defines:
        defined.add(entry.rule.defines.format(**entry.values))
    referred.update(r.format(**entry.values) for r in entry.rule.refers)
    # A space begins no name of an object.
    defined.update({" " + entry.rule.readies} if entry.rule.readies else ())
    referred.update({" " + entry.rule.awaits} if entry.rule.awaits else ())
    for child in entry.below.values():
        _describe(child, defined, referred)


def _entered(line: ConfigLine, grammar: Grammar, depth: int) -> Iterator[str]:
    yield " " * depth + line.text
    for child in line.children:
        yield from _entered(child, grammar, depth + 1)
    if line.children and grammar.leave:
        yield " " * (depth + 1) + grammar.leave


def _changed(old: ManagedLine, new: ManagedLine, grammar: Grammar, depth: int, operation: Operation) -> list[str]:
    """Lines that turn one setting or object into another with the same key."""
    renamed = old.line.text != new.line.text
    if renamed and not (old.line.children or new.line.children):
        added, dropped = set[str](), set[str]()
        _describe(new, added, added)
        _describe(old, dropped, dropped)
        operation.adds |= added - dropped
        operation.drops |= dropped - added
        first = old.rule.negate_before_change or new.rule.negate_before_change
        gone = [" " * depth + old.negated] if first else []
        return [*gone, *_entered(new.line, grammar, depth)]
    removals, entries = _below(old, new, grammar, depth + 1, operation)
    below = removals + entries if new.rule.remove_first else entries + removals
    return _section(new, below, grammar, depth) if below or renamed else []


def _section(entry: ManagedLine, below: list[str], grammar: Grammar, depth: int) -> list[str]:
    return [" " * depth + entry.line.text, *below, *([" " * (depth + 1) + grammar.leave] if grammar.leave else [])]


def _below(
    old: ManagedLine, new: ManagedLine, grammar: Grammar, depth: int, operation: Operation
) -> tuple[list[str], list[str]]:
    """What is taken back and what is entered below one object; both in an order the device accepts."""
    before = old.below
    after = new.below
    shared = [k for k in before if k in after]
    if new.rule.ordered and _units(after) and _units(before) - _units(after):
        shared = []
    elif new.rule.ordered and _reordered(before, after):
        # A device keeps its classes in the order of entry: what stands behind the first difference is entered anew.
        position = next(i for i, (a, b) in enumerate(zip(before, after, strict=False)) if a != b)
        shared = list(before)[:position]
    displaced = _displaced(before, after)
    shared = [k for k in shared if k not in displaced]
    gone = [before[k] for k in before if k not in after or k in displaced or (new.rule.ordered and k not in shared)]
    gone = [e for e in gone if not e.rule.implied or e.key not in after]
    indent = " " * depth
    removals = [indent + e.negated for e in reversed(gone)]
    for entry in gone:
        _describe(entry, operation.deletes, operation.drops)
    kept = [k for k in after if k in shared or (after[k].rule.implied and k in before)]
    # What a device checks as a sum (percents of a policy) must never be above it on the way: shrink before growing.
    kept.sort(key=lambda k: _growth(before[k], after[k]))
    entries: list[str] = []
    for key in kept:
        was, will = before[key], after[key]
        if was.unit != will.unit:
            removals.append(indent + was.negated)
        if new.rule.remove_first and will.rule.remove_first and was.line.text == will.line.text:
            # All that goes below an object goes before anything comes.
            taken, put = _below(was, will, grammar, depth + 1, operation)
            removals += _section(will, taken, grammar, depth) if taken else []
            entries += _section(will, put, grammar, depth) if put else []
        elif new.rule.remove_first and _negated_first(was, will):
            # What comes here may stand elsewhere still: all that goes below an object goes before it.
            negation, *lines = _changed(was, will, grammar, depth, operation)
            removals.append(negation)
            entries += lines
        else:
            entries += _changed(was, will, grammar, depth, operation)
    for key, entry in after.items():
        if key not in kept:
            entries.extend(_new_child(entry, grammar, depth, operation))
    # What is entered anew in another place goes first, lest it be taken back after it has come.
    return ([], removals + entries) if any(e.key in after for e in gone) else (removals, entries)


def _negated_first(was: ManagedLine, will: ManagedLine) -> bool:
    """Whether a setting becomes another one that the device takes only after the first is gone."""
    changed = was.line.text != will.line.text and not (was.line.children or will.line.children)
    return changed and (was.rule.negate_before_change or will.rule.negate_before_change)


def _growth(old: ManagedLine | None, new: ManagedLine) -> int:
    """By how much more an object books than before, once all that goes is gone."""
    before = old.below if old else {}
    after = new.below
    own = new.booked - (old.booked if old else 0)
    return own + sum(_growth(before.get(key), entry) for key, entry in after.items())


def _units(entries: dict[str, ManagedLine]) -> set[str]:
    """The units of what objects other than implied ones book."""
    explicit = [e for e in entries.values() if not e.rule.implied]
    children = [c for e in explicit for c in e.below.values()]
    return {child.unit for child in children if child.unit}


def _new_child(entry: ManagedLine, grammar: Grammar, depth: int, operation: Operation) -> Iterator[str]:
    _describe(entry, operation.creates, operation.adds)
    yield from _entered(entry.line, grammar, depth)


def _displaced(before: dict[str, ManagedLine], after: dict[str, ManagedLine]) -> set[str]:
    """The listed lines in both that stand behind the first difference: a device puts what is entered at the end."""
    old = [k for k, e in before.items() if e.rule.listed]
    new = [k for k, e in after.items() if e.rule.listed]
    kept = [k for k in old if k in new]
    position = next((i for i, (a, b) in enumerate(zip(kept, new, strict=False)) if a != b), len(kept))
    return set(kept[position:])


def _reordered(before: dict[str, ManagedLine], after: dict[str, ManagedLine]) -> bool:
    # An implied entry (class-default) always stands last, whatever the order of entry.
    old = [k for k, e in before.items() if not e.rule.implied]
    new = [k for k, e in after.items() if not e.rule.implied]
    common = [k for k in old if k in new]
    return [k for k in new if k in before] != common or new[: len(common)] != common
