"""Which packets belong to a class: the header fields a match may ask for, and how matches are combined."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Container, Iterable, Iterator
from functools import lru_cache
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, PlainSerializer, model_validator

from qosforge.intent.base import Cos, Dscp, IntentModel, Many, MplsExperimental, Name, QosGroup
from qosforge.intent.policing import Precedence
from qosforge.intent.ports import intersect_ports
from qosforge.units import shortened

PROTOCOLS = {"icmp": 1, "igmp": 2, "tcp": 6, "udp": 17, "gre": 47, "esp": 50, "ospf": 89}
"""Protocols by name (IANA)."""
_WITH_PORTS = frozenset({6, 17})
_PORTS = re.compile(r"([0-9]{1,5})(?:-([0-9]{1,5}))?")
_LAST_PORT = 65535
_LONGEST_PREFIX = 49
"""Characters of a prefix: of IPv6 with all its digits and a part written as IPv4."""
_MAC = re.compile(r"(?:[0-9a-f]{4}\.){2}[0-9a-f]{4}|(?:[0-9a-f]{2}:){5}[0-9a-f]{2}|(?:[0-9a-f]{2}-){5}[0-9a-f]{2}")
_INTERFACE = re.compile(r"[A-Za-z][A-Za-z-]*(?: ?[0-9][0-9/.:]*)?")


def _protocol(value: object) -> object:
    if isinstance(value, str):
        if value.lower() not in PROTOCOLS:
            raise ValueError(f"{shortened(value)} is not a protocol: use 0 to 255, {', '.join(PROTOCOLS)}")
        return PROTOCOLS[value.lower()]
    return value


_Block = tuple[int, int, int]
"""A prefix: the IP version, the bits before its length as a number, and the length."""


def _read(prefix: str) -> tuple[str, _Block]:
    """A prefix in its usual form, and what it means; only short ones are remembered, so that few bytes are kept."""
    return _parsed(prefix) if len(prefix) <= _LONGEST_PREFIX else _parsed.__wrapped__(prefix)


def _network(prefix: str, *, strict: bool = True) -> ipaddress.IPv4Network | ipaddress.IPv6Network:
    if "%" in prefix:  # a zone is one host's own name for a link, and may be any text
        raise ValueError("a zone")
    return ipaddress.ip_network(prefix, strict=strict)


@lru_cache(maxsize=8192)
def _parsed(prefix: str) -> tuple[str, _Block]:
    network = _network(prefix)
    free = network.max_prefixlen - network.prefixlen
    return str(network), (network.version, int(network.network_address) >> free, network.prefixlen)


def _prefix(value: str) -> str:
    try:
        prefix, (_, _, length) = _read(value)
    except ValueError:
        pass
    else:
        if length == 0:
            raise ValueError(f"{shortened(value)} is every address: leave it out")
        return prefix
    try:
        inside = _network(value, strict=False)
    except ValueError:
        raise ValueError(f"{shortened(value)} is not a prefix: write 10.1.0.0/16 or 2001:db8::/32") from None
    raise ValueError(f"{shortened(value)} has bits set behind its length: write {inside}")


def _ports(value: object) -> object:
    if isinstance(value, tuple):
        return value
    if type(value) is int and 0 <= value <= _LAST_PORT:
        return value, value
    found = None if isinstance(value, bool) else _PORTS.fullmatch(str(value))
    if found is None or not isinstance(value, int | str):
        raise ValueError(f"{shortened(value)} is no port and no range: write 5060 or 16384-32767")
    first, last = int(found[1]), int(found[2] or found[1])
    if last > _LAST_PORT or first > last:
        raise ValueError(f"{shortened(value)} is no range of ports: 0 to 65535, the lower one first")
    return first, last


def _written_ports(value: tuple[int, int]) -> int | str:
    return value[0] if value[0] == value[1] else f"{value[0]}-{value[1]}"


def _mac(value: str) -> str:
    if _MAC.fullmatch(value.lower()) is None:
        raise ValueError(f"{shortened(value)} is not a MAC address: write 00:1b:54:aa:bb:cc or 001b.54aa.bbcc")
    digits = re.sub("[^0-9a-f]", "", value.lower())
    return ".".join(digits[at : at + 4] for at in (0, 4, 8))


def _interface(value: str) -> str:
    if _INTERFACE.fullmatch(value) is None:
        raise ValueError(f"{shortened(value)} is not an interface: write it as the inventory does, FastEthernet0/0")
    return value


Protocol = Annotated[
    int, Field(ge=0, le=255, strict=True), BeforeValidator(_protocol, json_schema_input_type=int | str)
]
Prefix = Annotated[str, AfterValidator(_prefix)]
Ports = Annotated[
    tuple[int, int],
    BeforeValidator(_ports, json_schema_input_type=int | str),
    PlainSerializer(_written_ports, when_used="json"),
]
Vlan = Annotated[int, Field(ge=1, le=4094, strict=True)]
VOICE_VLAN = "voice"
VlanOrVoice = Vlan | Literal["voice"]
"""A VLAN by number, or the voice VLAN that each port has in the inventory."""
Mac = Annotated[str, AfterValidator(_mac)]
InterfaceName = Annotated[str, Field(max_length=40), AfterValidator(_interface)]


class MatchTerm(IntentModel):
    """One alternative of a match; the given fields must all hold, each field lists alternatives.

    ``source`` and ``destination`` are prefixes of one IP version, ports inclusive ranges of TCP or UDP.
    """

    application: Many[Name] = ()
    dscp: Many[Dscp] = ()
    cos: Many[Cos] = ()
    precedence: Many[Precedence] = ()
    protocol: Many[Protocol] = ()
    source: Many[Prefix] = ()
    destination: Many[Prefix] = ()
    source_port: Many[Ports] = ()
    destination_port: Many[Ports] = ()
    vlan: Many[VlanOrVoice] = ()
    source_mac: Many[Mac] = ()
    destination_mac: Many[Mac] = ()
    input_interface: Many[InterfaceName] = ()
    mpls_experimental: Many[MplsExperimental] = ()
    qos_group: Many[QosGroup] = ()

    @property
    def set_fields(self) -> tuple[str, ...]:
        """Names of the fields that ask for something."""
        return tuple(name for name in MatchTerm.model_fields if getattr(self, name))

    @model_validator(mode="after")
    def _sound(self) -> Self:
        if not self.set_fields:
            raise ValueError("an empty match: give application, dscp, cos or another header field")
        if (self.source_port or self.destination_port) and not (
            self.protocol and _WITH_PORTS.issuperset(self.protocol)
        ):
            raise ValueError("ports without their protocol: add protocol tcp or udp, no other has ports")
        if _of_both_versions((*self.source, *self.destination)):
            raise ValueError("prefixes of IPv4 and IPv6 in one match: give each version an alternative of its own")
        return self


def _of_both_versions(prefixes: tuple[str, ...]) -> bool:
    """Whether prefixes are of IPv4 and IPv6; they were read before, so that a colon tells which."""
    return len({":" in prefix for prefix in prefixes}) > 1


def meet(one: MatchTerm, other: MatchTerm) -> MatchTerm | None:
    """What belongs to both; None where nothing can."""
    values: dict[str, tuple[Any, ...]] = {}
    for name in MatchTerm.model_fields:
        a, b = getattr(one, name), getattr(other, name)
        if a and b:
            common = tuple(dict.fromkeys(_common(name, a, b)))
            if not common:
                return None
            values[name] = common
        elif a or b:
            values[name] = a or b
    prefixes = (*values.get("source", ()), *values.get("destination", ()))
    if _of_both_versions(prefixes):
        return None
    # What both say was checked with them, and no part of it is wrong beside another one.
    return MatchTerm.model_construct(set(values), **values)


def _common(name: str, a: tuple[Any, ...], b: tuple[Any, ...]) -> Iterator[Any]:
    if name in {"source_port", "destination_port"}:
        yield from intersect_ports(a, b)
    elif name in {"source", "destination"}:
        yield from _common_prefixes(a, b)
    else:
        both = set(a) & set(b)
        yield from (x for x in a if x in both)


def _within(block: _Block, lengths: Iterable[int], blocks: Container[_Block]) -> _Block | None:
    """One of some blocks that a block lies in; it is found by the lengths that they have."""
    version, bits, own = block
    found = ((version, bits >> (own - length), length) for length in lengths if length <= own)
    return next((one for one in found if one in blocks), None)


def _common_prefixes(a: tuple[str, ...], b: tuple[str, ...]) -> Iterator[str]:
    """The prefixes that say what both do. Two either lie one in the other or have nothing in common."""
    ours, theirs = {_read(prefix)[1]: prefix for prefix in a}, {_read(prefix)[1]: prefix for prefix in b}
    lengths = {length for *_, length in ours}
    inner: dict[_Block, list[str]] = {}
    for block, prefix in theirs.items():
        outer = _within(block, lengths, ours)
        if outer is not None:
            inner.setdefault(outer, []).append(prefix)
    lengths = {length for *_, length in theirs}
    for block, prefix in ours.items():
        if _within(block, lengths, theirs) is not None:
            yield prefix
        else:
            yield from inner.get(block, ())


def _joined_values(some: tuple[MatchTerm, ...], others: tuple[MatchTerm, ...]) -> int:
    """How many values are looked at, at most, where some alternatives are joined with each of others in turn."""

    def total(term: MatchTerm) -> int:
        return sum(len(getattr(term, name)) for name in MatchTerm.model_fields)

    looked_at, left = 0, sum(map(total, some))
    for term in others:
        left += len(some) * total(term)  # what two lists of ranges have in common is no longer than both
        looked_at += left
    return looked_at


MOST_ALTERNATIVES = 1_024
"""Alternatives that a match may list."""
MOST_JOINED = 65_536
"""Values that the alternatives under ``any`` and ``all`` may come to where they are joined."""

Terms = Annotated[tuple[MatchTerm, ...], Field(min_length=1, max_length=MOST_ALTERNATIVES)]


class Match(IntentModel):
    """Which packets belong to a class: one of ``any``, each of ``all`` and not one of ``none``, as far as given."""

    any: Terms = ()
    all: Terms = ()
    none: Terms = ()

    def alternatives(self) -> tuple[MatchTerm, ...]:
        """``any`` and ``all`` as alternatives of which one has to hold; empty where only ``none`` is given."""
        found: tuple[MatchTerm, ...] = self.any
        for term in self.all:
            met = [meet(one, term) for one in found] if found else [term]
            found = tuple(dict.fromkeys(one for one in met if one is not None))
            if not found:
                raise ValueError(
                    "the parts of the match exclude each other: nothing belongs to all of them, remove one"
                )
        return found

    @model_validator(mode="after")
    def _sound(self) -> Self:
        if not (self.any or self.all or self.none):
            raise ValueError("an empty match: give any, all or none")
        joined = _joined_values(self.any or self.all[:1], self.all)
        if self.all and joined > MOST_JOINED:
            raise ValueError(
                f"'any' and 'all' join to {joined:,} values, at most {MOST_JOINED:,} are read: write ranges or "
                "prefixes instead of single values, or divide the class"
            )
        self.alternatives()
        return self
