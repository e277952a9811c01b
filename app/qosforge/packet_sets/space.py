"""Sets of packets as binary decision diagrams (OxiDD): union, intersection, complement, a packet of them."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from dataclasses import replace

from oxidd.bcdd import BCDDFunction, BCDDManager
from oxidd.util import DDMemoryError

from qosforge.packet_sets.fields import BITS, EXCLUSIVE, FIELDS, WITH_PORTS, Atom, prefix_bits
from qosforge.packet_sets.witness import Witness

NODES = 1 << 18
"""Nodes that the diagrams of one space may have: some megabytes, which are filled within seconds."""
_STACK = 8 << 20
"""Bytes of the stack of the thread that computes."""
_PREFERRED: tuple[tuple[str, tuple[int, ...]], ...] = (
    ("ipv4", (1,)),
    ("ipv6", (1,)),
    ("tagged", (0,)),
    ("dscp", (0,)),
    ("protocol", (17,)),
    ("protocol", (6,)),
    ("source_port", (49152,)),
    ("destination_port", (50000,)),
)
"""What a packet that is shown has where it may: values that people do not stumble over."""


class TooComplexError(Exception):
    """The sets have no diagram of bearable size: nothing is proven of them."""


def _manager(nodes: int) -> BCDDManager:
    """What keeps the diagrams of a space, with a thread of its own.

    Its stack is no deeper than a diagram: a computing process may not have the gigabyte that OxiDD reserves else.

    Raises:
        MemoryError: there is no room for it.
    """
    os.environ["OXIDD_STACK_SIZE"] = str(_STACK)
    try:
        return BCDDManager(nodes, nodes // 4, 1)
    except (Exception, KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # a panic of the library: it got no thread
        raise MemoryError("no room for sets of packets") from error


class PacketSpace:
    """All packets. Sets of one space are compared with each other; a space belongs to one thread.

    Every operation on its sets may raise `TooComplexError`.
    """

    # Each operation translates the library's error itself: a context manager costs more than most of them do.

    def __init__(self, nodes: int = NODES) -> None:
        self._manager = _manager(nodes)
        self._manager.add_vars(BITS)
        self._atoms: dict[Atom, int] = {}

    # Nothing here refers to a set: the diagrams and their thread are gone as soon as the last set is.

    @property
    def everything(self) -> PacketSet:
        """All packets."""
        return PacketSet(self, self._manager.true())

    @property
    def nothing(self) -> PacketSet:
        """No packet."""
        return PacketSet(self, self._manager.false())

    @property
    def ipv4(self) -> PacketSet:
        """The packets of IPv4."""
        return self.among("ipv4", [1])

    @property
    def ipv6(self) -> PacketSet:
        """The packets of IPv6."""
        return self.among("ipv6", [1])

    @property
    def ip(self) -> PacketSet:
        """The packets of either version of IP."""
        return self.ipv4 | self.ipv6

    def possible(self, *, one_application: bool = False) -> PacketSet:
        """The packets that there can be: of one version of IP, of one address, from one interface.

        With ``one_application`` those that are of one application at most: there may be others, as some
        applications are part of others.
        """
        fields = EXCLUSIVE | ({"application"} if one_application else frozenset())
        found = ~(self.ipv4 & self.ipv6)
        for field in sorted(fields):
            any_before = self.nothing
            for atom in (known for known in self._atoms if known.field == field):
                found -= any_before & self.atom(atom)
                any_before |= self.atom(atom)
        return found

    def among(self, field: str, values: Iterable[int]) -> PacketSet:
        """The packets whose field has one of some values."""
        return self.within(field, [(value, value) for value in values])

    def within(self, field: str, ranges: Iterable[tuple[int, int]]) -> PacketSet:
        """The packets whose field has a value in one of some ranges, first and last value included."""
        found = self.nothing
        for first, last in ranges:
            found |= self._at_least(field, first) & self._at_most(field, last)
        return found

    def ports(self, field: str, ranges: Iterable[tuple[int, int]]) -> PacketSet:
        """The packets with a port in one of some ranges: those of TCP and UDP have ports."""
        return self.within(field, ranges) & self.ip & self.among("protocol", WITH_PORTS)

    def prefix(self, field: str, prefix: str) -> PacketSet:
        """The packets whose address is in a prefix."""
        version, bits, length = prefix_bits(prefix)
        found = self.ipv4 if version == 4 else self.ipv6
        places = FIELDS[field].places[:length]
        try:
            inside = self._manager.true()
            for step, place in enumerate(reversed(places)):
                bit = self._manager.var(place)
                inside = inside & (bit if bits >> step & 1 else ~bit)
        except DDMemoryError as error:
            raise TooComplexError from error
        return found & PacketSet(self, inside)

    def atom(self, atom: Atom) -> PacketSet:
        """The packets of which a condition holds that is not looked into."""
        if atom not in self._atoms:
            self._atoms[atom] = self._manager.add_vars(1)[0]
        return PacketSet(self, self._manager.var(self._atoms[atom]))

    def union(self, sets: Iterable[PacketSet]) -> PacketSet:
        """The packets in any of some sets."""
        found = self.nothing
        for one in sets:
            found |= one
        return found

    def of(self, packet: Witness, *, without: Collection[str] = ()) -> PacketSet:
        """The set of one packet alone, or of all that differ from it in some fields."""
        found = self.everything
        for name, value in packet.values.items():
            if name not in without:
                found &= self.among(name, [value])
        for atom in self._atoms:
            found &= self.atom(atom) if atom in packet.atoms else ~self.atom(atom)
        return found

    def witness(self, packets: PacketSet, domain: PacketSet | None = None) -> Witness | None:
        """A packet of a set; None where there can be none. It has usual values, and one application, if it may.

        A field of it matters where another value would take it out of the set, among the packets of ``domain``.
        """
        rest = packets & self.possible()
        if rest.is_void:
            return None
        rest = _prefer(rest, self.possible(one_application=True))
        for atom in self._atoms:
            rest = _prefer(rest, ~self.atom(atom))
        for field, values in _PREFERRED:
            rest = _prefer(rest, self.among(field, values))
        try:
            cube = rest.diagram.pick_cube() or []
        except DDMemoryError as error:
            raise TooComplexError from error
        bits = [bool(bit) for bit in cube]
        chosen = {
            name: sum(bits[place] << at for at, place in enumerate(reversed(field.places)))
            for name, field in FIELDS.items()
        }
        atoms = tuple(sorted(atom for atom, place in self._atoms.items() if bits[place]))
        found = Witness(chosen, atoms)
        others = self.possible() if domain is None else self.possible() & domain
        if found.version is not None:
            others &= self.ip
        matters = {name for name in FIELDS if not (self.of(found, without=_beside(name)) & others).inside(packets)}
        return replace(found, matters=frozenset(matters))

    def _at_most(self, field: str, value: int) -> PacketSet:
        try:
            found = self._manager.true()
            for step, place in enumerate(reversed(FIELDS[field].places)):
                bit = self._manager.var(place)
                found = ~bit | found if value >> step & 1 else ~bit & found
        except DDMemoryError as error:
            raise TooComplexError from error
        return PacketSet(self, found)

    def _at_least(self, field: str, value: int) -> PacketSet:
        try:
            found = self._manager.true()
            for step, place in enumerate(reversed(FIELDS[field].places)):
                bit = self._manager.var(place)
                found = bit & found if value >> step & 1 else bit | found
        except DDMemoryError as error:
            raise TooComplexError from error
        return PacketSet(self, found)


class PacketSet:
    """Some of the packets of a space; ``diagram`` is the decision diagram that tells which."""

    __slots__ = ("diagram", "space")

    def __init__(self, space: PacketSpace, diagram: BCDDFunction) -> None:
        self.space = space
        self.diagram = diagram

    def __or__(self, other: PacketSet) -> PacketSet:
        try:
            return PacketSet(self.space, self.diagram | other.diagram)
        except DDMemoryError as error:
            raise TooComplexError from error

    def __and__(self, other: PacketSet) -> PacketSet:
        try:
            return PacketSet(self.space, self.diagram & other.diagram)
        except DDMemoryError as error:
            raise TooComplexError from error

    def __sub__(self, other: PacketSet) -> PacketSet:
        try:
            return PacketSet(self.space, self.diagram & ~other.diagram)
        except DDMemoryError as error:
            raise TooComplexError from error

    def __invert__(self) -> PacketSet:
        try:
            return PacketSet(self.space, ~self.diagram)
        except DDMemoryError as error:
            raise TooComplexError from error

    @property
    def is_void(self) -> bool:
        """Whether the set has nothing in it, packets that there cannot be included."""
        return not self.diagram.satisfiable()

    @property
    def is_empty(self) -> bool:
        """Whether no packet that there can be is in the set."""
        return (self & self.space.possible()).is_void

    def same_as(self, other: PacketSet) -> bool:
        """Whether both have the same packets."""
        if self.diagram == other.diagram:
            return True
        return (self - other).is_empty and (other - self).is_empty

    def inside(self, other: PacketSet) -> bool:
        """Whether all packets of the set are in another one."""
        return (self - other).is_empty


def _beside(field: str) -> tuple[str, ...]:
    """The fields that change together with one of them."""
    return ("ipv4", "ipv6", "source", "destination") if field in ("ipv4", "ipv6") else (field,)


def _prefer(packets: PacketSet, others: PacketSet) -> PacketSet:
    both = packets & others
    return packets if both.is_void else both
