"""Which class a packet falls into: as an intent means it, and as the rules of a plan do it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from qosforge.packet_sets.space import PacketSet, PacketSpace
from qosforge.packet_sets.terms import Applications, of_class, of_rule, of_term
from qosforge.plan.model import Rule
from qosforge.plan.request import ClassRequest

Names = Mapping[str, str]
PortsOf = Callable[[str], Applications]
"""The applications that are told by ports, by the class that asks for them."""


@dataclass(frozen=True)
class NamedSet:
    """The packets of a class if no earlier one takes them; ``name`` is None for a rule that serves no class."""

    name: str | None
    packets: PacketSet


def regions(ordered: Iterable[NamedSet]) -> Iterator[NamedSet]:
    """What each class of a list gets where the first one that matches takes a packet."""
    earlier: list[PacketSet] = []
    for one in ordered:
        rest = one.packets
        for taken in earlier:
            rest -= taken
            if rest.is_void:
                break
        yield NamedSet(one.name, rest)
        earlier.append(one.packets)


def together(found: Iterable[NamedSet]) -> dict[str | None, PacketSet]:
    """The packets of each class in all."""
    result: dict[str | None, PacketSet] = {}
    for one in found:
        result[one.name] = result[one.name] | one.packets if one.name in result else one.packets
    return result


def meant_on_input(space: PacketSpace, classes: Sequence[ClassRequest], ports_of: PortsOf) -> Iterator[NamedSet]:
    """The classes as an input tells them, in order: those that divide a class stand before it.

    A class below another one that an input does nothing to is part of that one there.
    """
    for entry in classes:
        whole = of_class(space, entry, ports_of(entry.name))
        acting = {c.name for child in entry.children for c in every_class(child) if acts(c)}
        for below in meant_on_input(space, entry.children, ports_of):
            if below.name in acting and below.name != entry.children[-1].name:
                yield NamedSet(below.name, below.packets & whole)
        yield NamedSet(entry.name, whole)


def every_class(entry: ClassRequest) -> Iterator[ClassRequest]:
    """A class and those that divide it."""
    yield entry
    for child in entry.children:
        yield from every_class(child)


def acts(entry: ClassRequest) -> bool:
    """Whether an input does something to the packets of a class."""
    police = entry.treatment.police
    return entry.mark is not None or (police is not None and police.direction == "input")


def marked(space: PacketSpace, entry: ClassRequest) -> PacketSet | None:
    """The packets with the marks of a class and of those below it; None where none of them carries one."""
    marks = [c.recognised_by for c in every_class(entry)]
    found = [of_term(space, mark, {}) for mark in marks if mark is not None]
    return space.union(found) if found else None


def class_of(ordered: Iterable[NamedSet], packet: PacketSet) -> str | None:
    """The class that a single packet falls into; None where it is in none of them."""
    return next((one.name for one in ordered if packet.inside(one.packets)), None)


def done(space: PacketSpace, rules: Iterable[Rule], names: Names) -> Iterator[NamedSet]:
    """The rules of a plan as sets of the intent's classes, in order; ``names`` are the classes of rules."""
    for rule in rules:
        yield NamedSet(names.get(rule.name), of_rule(space, rule))
