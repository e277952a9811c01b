"""Find what a transition costs the lines that are kept, and where they spoil what it is for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from qosforge.configtree.gaps import object_name, places
from qosforge.configtree.reach import reached
from qosforge.configtree.tree import ConfigLine, Grammar, LineRule, Tree

_Path = tuple[str, ...]


@dataclass(frozen=True)
class Loss:
    """A kept line that cannot both stay as it is and let a transition do what it is for.

    ``removed``: the line ``by`` takes it away, itself or with what it stands below; ``giving-way`` where it is to
    (`LineRule.gives_way_to`). ``replaced``: ``by`` is another value of its setting. ``detached``: it stays, but at
    ``by`` (an interface and a direction) nothing refers any more to ``holder``, the object that it stands below.
    ``condition``: it stays, and is one of the conditions by which ``holder``, which ``by`` refers to, tells
    packets.
    """

    line: ConfigLine
    how: Literal["removed", "giving-way", "replaced", "detached", "condition"]
    by: str
    holder: str = ""


def losses(lines: Sequence[str], current: Tree, target: Tree, desired: Tree, grammar: Grammar) -> tuple[Loss, ...]:
    """What entering ``lines`` costs the kept lines of ``current``.

    The lines turn ``current`` into ``target``, which is ``desired`` merged into it.
    """
    before, after = _Objects(current, grammar), _Objects(target, grammar)
    return (
        *_Taken(lines, grammar).find(current),
        *_detached(before, after),
        *_conditions(after, _Objects(desired, grammar).attached),
    )


class _Taken:
    """Kept lines that are taken away or replaced by the lines of a transition."""

    def __init__(self, lines: Sequence[str], grammar: Grammar) -> None:
        self._grammar = grammar
        self._entered: set[tuple[_Path, str]] = set()
        self._settings: dict[tuple[_Path, str], str] = {}
        for text, context, heading in places(lines, grammar):
            self._entered.add((heading, text))
            if (found := grammar.find(text, context)) is not None:
                self._settings[heading, _key(*found)] = text

    def find(
        self, tree: Tree, context: str = "", heading: _Path = (), above: tuple[tuple[_Path, str], ...] = ()
    ) -> Iterator[Loss]:
        """``above`` are the lines that would take what holds the tree."""
        for line in tree:
            found = self._grammar.find(line.text, context)
            taking = above
            if found is not None:
                rule, values = found
                taking += tuple((heading, t.format(**values)) for t in (rule.negate, rule.reset) if t)
            if line.kept:
                yield from self._loss(line, heading, taking, found)
            if found is not None:
                yield from self.find(line.children, found[0].id, (*heading, object_name(line.text)), taking)

    def _loss(
        self,
        line: ConfigLine,
        heading: _Path,
        taking: Iterable[tuple[_Path, str]],
        found: tuple[LineRule, Mapping[str, str]] | None,
    ) -> Iterator[Loss]:
        by = next((text for at, text in taking if (at, text) in self._entered), None)
        if by is not None:
            yield Loss(line, "giving-way" if found and found[0].gives_way_to else "removed", by)
        elif found is not None and not found[0].group:
            other = self._settings.get((heading, _key(*found)))
            if other is not None:
                yield Loss(line, "replaced", other)


def _key(rule: LineRule, values: Mapping[str, str]) -> str:
    return rule.id + " " + rule.key.format(**values)


def _detached(before: _Objects, after: _Objects) -> Iterator[Loss]:
    """Kept lines in objects that a place refers to before the transition, and not after it."""
    for place, names in before.attached.items() if before.kept else ():
        left = before.reached(names) - after.reached(after.attached.get(place, ()))
        for name in sorted(left & before.kept.keys()):
            yield from (Loss(line, "detached", place, name) for line in before.kept[name])


def _conditions(after: _Objects, ours: Mapping[str, set[str]]) -> Iterator[Loss]:
    """Kept lines by which classes tell packets at places whose policies are ours."""
    met: set[str] = set()
    for place, names in ours.items() if after.kept else ():
        for name in sorted(after.reached(names) & after.kept.keys() & after.matching - met):
            met.add(name)
            yield from (Loss(line, "condition", place, name) for line in after.kept[name])


class _Objects:
    """The objects of a tree: what they refer to, the kept lines in them, and which of them each place has.

    ``matching`` are those that tell packets.
    """

    def __init__(self, tree: Tree, grammar: Grammar) -> None:
        self.kept: dict[str, list[ConfigLine]] = {}
        self.attached: dict[str, set[str]] = {}
        self.matching: set[str] = set()
        self._refers: dict[str, set[str]] = {}
        self._grammar = grammar
        self._add(tree, "", (), "")

    def _add(self, tree: Tree, context: str, heading: _Path, holder: str) -> None:
        for line in tree:
            found = self._grammar.find(line.text, context)
            name = holder
            if found is not None and found[0].defines:
                name = found[0].defines.format(**found[1])
                self.matching.update({name} if found[0].matches else ())
            if line.kept:
                # Where such a line attaches something to an object, it is part of that.
                attached = found[0].attaches.format(**found[1]) if found is not None else ""
                for part in dict.fromkeys((name, attached or name)):
                    self.kept.setdefault(part, []).append(line)
            elif found is not None:
                rule, values = found
                refers = {template.format(**values) for template in rule.refers}
                if rule.attaches:
                    place = " ".join((*heading, rule.attaches.format(**values)))
                    self.attached.setdefault(place, set()).update(refers)
                self._refers.setdefault(name, set()).update(refers)
                self._add(line.children, rule.id, (*heading, object_name(line.text)), name)

    def reached(self, names: Iterable[str]) -> set[str]:
        """The objects of these names and what they refer to, in any number of steps."""
        return reached(names, lambda name: self._refers.get(name, ()))
