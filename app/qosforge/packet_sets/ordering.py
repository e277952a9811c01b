"""What the order of classes does: which of them get nothing, and which share packets with earlier ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from qosforge.intent.models import MatchTerm, TrafficClass
from qosforge.packet_sets.space import PacketSet, PacketSpace
from qosforge.packet_sets.terms import of_term, of_terms
from qosforge.packet_sets.witness import Witness


@dataclass(frozen=True)
class Shadowed:
    """A class, or the alternative at ``position`` of its ``any``, that earlier classes take all packets of.

    ``witness`` is one of these packets, and ``taken_by`` the class that takes it.
    """

    name: str
    position: int | None
    taken_by: str
    witness: Witness


@dataclass(frozen=True)
class Overlap:
    """Two classes that share packets, none of them all of its own: they go to the one that stands first."""

    first: str
    name: str
    witness: Witness


@dataclass(frozen=True)
class _Matched:
    entry: TrafficClass
    terms: tuple[MatchTerm, ...]
    alternatives: tuple[PacketSet, ...]
    packets: PacketSet


def find_shadowed(space: PacketSpace, classes: Sequence[TrafficClass]) -> Iterator[Shadowed]:
    """The classes of one level, and alternatives of them, that no packet falls into."""
    earlier: list[_Matched] = []
    for one in _matched(space, classes):
        found = _taker(space, one.packets, earlier)
        if found is not None:
            yield Shadowed(one.entry.name, None, *found)
        elif one.entry.match is not None and not one.entry.match.all:
            for position, alternative in enumerate(one.alternatives):
                found = _taker(space, alternative, earlier)
                if found is not None:
                    yield Shadowed(one.entry.name, position, *found)
        earlier.append(one)


def find_overlaps(space: PacketSpace, classes: Sequence[TrafficClass]) -> Iterator[Overlap]:
    """The pairs of classes of one level whose order matters although neither is part of the other.

    Those that look at the same field are told: that a flow may carry any mark says nothing of an intent. What is
    shadowed is not told again.
    """
    known = tuple(_matched(space, classes))
    for at, one in enumerate(known):
        for first in known[:at]:
            both = _shared(space, first, one, known[:at]) & space.possible(one_application=True)
            if both.is_empty or one.packets.inside(first.packets) or first.packets.inside(one.packets):
                continue
            if (witness := space.witness(both)) is not None:
                yield Overlap(first.entry.name, one.entry.name, witness)


def _matched(space: PacketSpace, classes: Sequence[TrafficClass]) -> Iterator[_Matched]:
    for entry in classes:
        if entry.match is None:
            continue
        terms = entry.match.alternatives()
        without = of_terms(space, entry.match.none, {})
        found = tuple(of_term(space, term, {}) - without for term in terms) or (~without,)
        yield _Matched(entry, terms, found, space.union(found))


def _taker(space: PacketSpace, packets: PacketSet, earlier: Sequence[_Matched]) -> tuple[str, Witness] | None:
    """The class that takes a packet of a set, where earlier ones take all of them."""
    rest = packets
    for one in earlier:
        rest -= one.packets
    if packets.is_empty or not rest.is_empty:
        return None
    for one in earlier:
        if (witness := space.witness(packets & one.packets)) is not None:
            return one.entry.name, witness
    return None


def _shared(space: PacketSpace, one: _Matched, other: _Matched, earlier: Sequence[_Matched]) -> PacketSet:
    """The packets that two classes share by alternatives that look at the same field."""
    taken = space.union(each.packets for each in earlier)
    mine, theirs = _by_fields(space, one, space.nothing), _by_fields(space, other, taken)
    return space.union(first & second for a, first in mine.items() for b, second in theirs.items() if a & b)


def _by_fields(space: PacketSpace, one: _Matched, taken: PacketSet) -> dict[frozenset[str], PacketSet]:
    """The alternatives of a class that are not all taken, those that look at the same fields together."""
    found: dict[frozenset[str], PacketSet] = {}
    for term, packets in zip(one.terms, one.alternatives, strict=False):
        if not packets.inside(taken):
            fields = frozenset(term.set_fields)
            found[fields] = found.get(fields, space.nothing) | packets
    return found
