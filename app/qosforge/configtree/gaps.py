"""Find the gaps of a transition: lines between which an interface is without its policy."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from qosforge.configtree.tree import ConfigLine, Grammar


@dataclass(frozen=True)
class Gap:
    """A place that has an attachment before and after a transition, and none in between.

    ``place`` is where: the heading of an object, or what the lines name. It is without from line ``first`` (from 0)
    on, until ``lines`` others are entered.
    """

    place: str
    first: int
    lines: int

    def __str__(self) -> str:
        return (
            f"{self.place}: no policy from line {self.first + 1} until line {self.first + self.lines + 1} puts one"
        )


def gaps(
    lines: Sequence[str], current: Iterable[ConfigLine], target: Iterable[ConfigLine], grammar: Grammar
) -> tuple[Gap, ...]:
    """The gaps that entering ``lines`` opens on the way from ``current`` to ``target``, in their order."""
    held: dict[str, dict[str, str]] = {}
    for place, key, off in _attachments(current, grammar):
        held.setdefault(place, {})[key] = off
    kept = {place for place, _, _ in _attachments(target, grammar)} & held.keys()
    found: list[Gap] = []
    opened: dict[str, int] = {}
    for number, (line, context, heading) in enumerate(places(lines, grammar)):
        for place in kept:
            there = held[place]
            gone = [key for key, off in there.items() if off == line and _within(place, heading)]
            for key in gone:
                del there[key]
            if gone and not there:
                opened[place] = number
        entered = _attachment(line, context, heading, grammar)
        if entered is not None and entered[0] in kept:
            place, key, off = entered
            held[place][key] = off
            if place in opened:
                first = opened.pop(place)
                found.append(Gap(place, first, number - first))
    return tuple(sorted(found, key=lambda gap: gap.first))


def _attachments(
    tree: Iterable[ConfigLine], grammar: Grammar, context: str = "", heading: tuple[str, ...] = ()
) -> Iterator[tuple[str, str, str]]:
    """The place of every attachment, its key there and the line that takes it off."""
    for line in tree:
        found = grammar.find_rule(line, context)
        if found is None:
            continue
        made = _attachment(line.text, context, heading, grammar)
        if made is not None:
            yield made
        yield from _attachments(line.children, grammar, found[0].id, (*heading, object_name(line.text)))


def _attachment(text: str, context: str, heading: tuple[str, ...], grammar: Grammar) -> tuple[str, str, str] | None:
    found = grammar.find(text, context)
    if found is None or not found[0].attaches:
        return None
    rule, values = found
    place = " ".join((*heading, rule.attaches.format(**values)))
    return place, rule.id + " " + rule.key.format(**values), rule.negate.format(**values)


def places(lines: Sequence[str], grammar: Grammar) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Every line with the context and the headings that it is entered under."""
    stack: list[tuple[int, str, str]] = []
    for raw in lines:
        text = raw.strip()
        depth = len(raw) - len(raw.lstrip())
        while stack and stack[-1][0] >= depth:
            stack.pop()
        context = stack[-1][1] if stack else ""
        yield text, context, tuple(heading for _, _, heading in stack)
        found = grammar.find(text, context)
        if found is not None:
            stack.append((depth, found[0].id, object_name(text)))


def object_name(text: str) -> str:
    """A heading without the words that a device may print or leave out behind an interface's name."""
    return re.sub(r" (?:point-to-point|multipoint)$", "", text)


def _within(place: str, heading: tuple[str, ...]) -> bool:
    return not heading or place.startswith(" ".join(heading) + " ")
