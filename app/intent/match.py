"""Which packets belong to a class: the header fields a match may ask for, and how matches are combined."""

from __future__ import annotations

import ipaddress
import itertools
import re
from collections.abc import Iterator
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, PlainSerializer, model_validator

from app.intent.base import Cos, Dscp, Many, Model, Name
from app.intent.policing import Precedence
from app.units import shortened

_PROTOCOLS = {"icmp": 1, "igmp": 2, "tcp": 6, "udp": 17, "gre": 47, "esp": 50, "ospf": 89}
"""Protocols by name (IANA)."""
_WITH_PORTS = frozenset({6, 17})
_PORTS = re.compile(r"([0-9]{1,5})(?:-([0-9]{1,5}))?")
_LAST_PORT = 65535
_MAC = re.compile(r"(?:[0-9a-f]{4}\.){2}[0-9a-f]{4}|(?:[0-9a-f]{2}:){5}[0-9a-f]{2}|(?:[0-9a-f]{2}-){5}[0-9a-f]{2}")
_INTERFACE = re.compile(r"[A-Za-z][A-Za-z-]*(?: ?[0-9][0-9/.:]*)?")


def _protocol(value: object) -> object:
    if isinstance(value, str):
        if value.lower() not in _PROTOCOLS:
            raise ValueError(f"{shortened(value)} is not a protocol: use 0 to 255, {', '.join(_PROTOCOLS)}")
        return _PROTOCOLS[value.lower()]
    return value


def _prefix(value: str) -> str:
    try:
        prefix = ipaddress.ip_network(value)
    except ValueError:
        pass
    else:
        if prefix.prefixlen == 0:
            raise ValueError(f"{shortened(value)} is every address: leave it out")
        return str(prefix)
    try:
        inside = ipaddress.ip_network(value, strict=False)
    except ValueError:
        raise ValueError(f"{shortened(value)} is not a prefix: write 10.1.0.0/16 or 2001:db8::/32") from None
    raise ValueError(f"{shortened(value)} has bits set behind its length: write {inside}")


def _ports(value: object) -> object:
    if isinstance(value, tuple):
        return value
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


class MatchTerm(Model):
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

    @property
    def given(self) -> tuple[str, ...]:
        """Names of the fields that ask for something."""
        return tuple(name for name in MatchTerm.model_fields if getattr(self, name))

    @model_validator(mode="after")
    def _sound(self) -> Self:
        if not self.given:
            raise ValueError("an empty match: give application, dscp, cos or another header field")
        if (self.source_port or self.destination_port) and not (
            self.protocol and _WITH_PORTS.issuperset(self.protocol)
        ):
            raise ValueError("ports without their protocol: add protocol tcp or udp, no other has ports")
        if len({ipaddress.ip_network(p).version for p in (*self.source, *self.destination)}) > 1:
            raise ValueError("prefixes of IPv4 and IPv6 in one match: give each version an alternative of its own")
        return self


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
    if len({ipaddress.ip_network(p).version for p in prefixes}) > 1:
        return None
    return MatchTerm.model_validate(values)


def _common(name: str, a: tuple[Any, ...], b: tuple[Any, ...]) -> Iterator[Any]:
    for x, y in itertools.product(a, b):
        if name in {"source_port", "destination_port"}:
            first, last = max(x[0], y[0]), min(x[1], y[1])
            if first <= last:
                yield first, last
        elif name in {"source", "destination"}:
            one, other = ipaddress.ip_network(x), ipaddress.ip_network(y)
            if one.overlaps(other):
                yield x if one.prefixlen >= other.prefixlen else y
        elif x == y:
            yield x


Terms = Annotated[tuple[MatchTerm, ...], Field(min_length=1)]


class Match(Model):
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
        self.alternatives()
        return self
