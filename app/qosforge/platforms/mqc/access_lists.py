"""Access lists of routers: named, numbered and IPv6 ones, to and from the plan's terms."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from qosforge.commands import ReadConfiguration, ReadLine
from qosforge.commands.pattern import PRECEDENCES
from qosforge.dscp import dscp_name
from qosforge.memoise import memoise
from qosforge.plan.model import PortRange, Term
from qosforge.plan.request import ClassRequest, DeviceRequest
from qosforge.platforms.flow_ports import read_ports
from qosforge.platforms.mqc.conditions import Condition
from qosforge.platforms.mqc.lines import ACL_PREFIX, IPV6_PROTOCOLS, PROTOCOLS, TCP_PORTS, UDP_PORTS

IPV6_SUFFIX = ".V6"
"""Ends the name of a class's list of IPv6 prefixes, beside the one of IPv4."""


def version(term: Term) -> int | None:
    """The IP version of a term's prefixes; None where it has none."""
    prefix = term.source or term.destination
    return ipaddress.ip_network(prefix).version if prefix else None


def entries(terms: tuple[Term, ...]) -> tuple[str, ...]:
    """The entry of every term, as a running configuration prints it (well-known ports by name)."""
    return tuple(line for term in terms for line in _entries(term))


def _entries(term: Term) -> Iterator[str]:
    protocol = next((n for n, number in PROTOCOLS.items() if number == term.protocol), str(term.protocol))
    if term.protocol is None:
        protocol = "ip"
    names = {number: name for name, number in _names(protocol).items()}
    for source in term.source_ports or (None,):
        for destination in term.destination_ports or (None,):
            words = ["permit", protocol, _address(term.source), _ports(source, names)]
            words += [_address(term.destination), _ports(destination, names)]
            marks = [f"dscp {dscp_name(d)}" for d in term.dscp] + [f"precedence {p}" for p in term.precedence]
            for option in marks or [""]:
                yield " ".join(w for w in [*words, option] if w)


def _names(protocol: str) -> dict[str, int]:
    return {"tcp": TCP_PORTS, "udp": UDP_PORTS}.get(protocol, {})


def _address(prefix: str | None) -> str:
    if prefix is None:
        return "any"
    network = ipaddress.ip_network(prefix)
    if network.num_addresses == 1:
        return f"host {network.network_address}"
    return f"{network.network_address} {network.hostmask}"


def _ports(ports: PortRange | None, names: dict[int, str]) -> str:
    if ports is None:
        return ""
    first, last = names.get(ports.first, str(ports.first)), names.get(ports.last, str(ports.last))
    return f"eq {first}" if first == last else f"range {first} {last}"


def ip_entries(terms: tuple[Term, ...]) -> tuple[str, ...]:
    """The entry of every term, as a running configuration prints it: ports and precedences by name."""
    return tuple(re.sub(r"(?<= precedence )[0-7]$", _precedence, line) for line in entries(terms))


def _precedence(match: re.Match[str]) -> str:
    return PRECEDENCES[int(match[0])]


def ipv6_entries(terms: tuple[Term, ...]) -> tuple[str, ...]:
    """As `ip_entries`, for terms with prefixes of IPv6 (in upper case, as the device prints them)."""
    lines = []
    names = {number: name for name, number in IPV6_PROTOCOLS.items()}
    for term in terms:
        for line in entries((term.model_copy(update={"source": None, "destination": None}),)):
            words = line.split()
            near = words.index("any")
            far = words.index("any", near + 1)
            words[near], words[far] = _ipv6_address(term.source), _ipv6_address(term.destination)
            words[1] = "ipv6" if term.protocol is None else names.get(term.protocol, str(term.protocol))
            lines.append(" ".join(words))
    return tuple(lines)


def _ipv6_address(prefix: str | None) -> str:
    if prefix is None:
        return "any"
    network = ipaddress.ip_network(prefix)
    if network.num_addresses == 1:
        return f"host {str(network.network_address).upper()}"
    return str(network).upper()


@dataclass(frozen=True)
class AccessList:
    """A named extended access list of one IP version: what it permits, as the device prints it.

    ``of_one_version`` where an entry without addresses has none like it in a list of the other version.
    """

    name: str
    entries: tuple[str, ...]
    version: int = 4
    of_one_version: bool = False


def speaks_ipv6(request: DeviceRequest) -> bool:
    """Whether the inventory says that a device has IPv6, or the intent asks for its prefixes."""
    return "ipv6" in request.features or _asks_ipv6(request.classes)


@memoise
def _asks_ipv6(classes: tuple[ClassRequest, ...]) -> bool:
    """Whether classes, or those below them, look at prefixes of IPv6."""
    terms = (t for c in classes for t in (*c.terms, *c.none_of))
    return any(ipaddress.ip_network(p).version == 6 for t in terms for p in (*t.source, *t.destination)) or any(
        _asks_ipv6(c.children) for c in classes if c.children
    )


def lists_of(name: str, terms: Iterable[Term], *, both: bool = False) -> list[AccessList]:
    """A list for the terms of each IP version; those without a prefix are of IPv4, with ``both`` of IPv6 too.

    Entries of IPv6 ask for no precedence.
    """
    four, six, alone = list[Term](), list[Term](), False
    for term in terms:
        if version(term) != 6:
            four.append(term)
        if version(term) == 6 or (version(term) is None and both and not term.precedence):
            six.append(term)
        elif version(term) is None:
            alone = True
    lists = [AccessList(name, ip_entries(tuple(four)), of_one_version=alone)] if four else []
    if six:
        lists.append(AccessList(name + IPV6_SUFFIX, ipv6_entries(tuple(six)), 6))
    return lists


def _read_entry(values: Mapping[str, Any]) -> Term:
    """The term of an entry, by what its line says (`qosforge.platforms.mqc.lines.access_lists`).

    Raises:
        ValueError: it is none, its addresses are no prefixes, or a range of ports is empty.
    """
    if "rest" in values:
        raise ValueError(f"not understood: {values['rest']}")
    protocol = values.get("protocol")
    return Term(
        protocol=protocol if isinstance(protocol, int) else None,
        source=_read_prefix(values, "source"),
        destination=_read_prefix(values, "destination"),
        source_ports=read_ports(values, "source"),
        destination_ports=read_ports(values, "destination"),
        **{mark: (values[mark],) for mark in ("dscp", "precedence") if mark in values},
    )


def _read_prefix(values: Mapping[str, Any], end: str) -> str | None:
    address, wildcard = values.get(end), values.get(f"{end}_wildcard")
    if address is None or wildcard is None:
        return None if address is None else str(ipaddress.ip_network(address, strict=False))
    free = int(ipaddress.IPv4Address(wildcard))
    if free & (free + 1):
        raise ValueError(f"the wildcard {wildcard} leaves out bits that are no prefix's")
    return str(ipaddress.ip_network(f"{address}/{32 - free.bit_length()}", strict=False))


def _entry_of(line: ReadLine) -> Term | None:
    """The term of a line of a list; None where it is none."""
    try:
        return None if "remark" in line else _read_entry(line.values)
    except ValueError:
        return None


class AccessLists:
    """The access lists of one configuration, by name or number."""

    def __init__(self, reading: ReadConfiguration) -> None:
        self._reading = reading
        self._lists: dict[str, list[ReadLine]] = {}
        self._headings: dict[str, str] = {}
        for line in reading.all("access-list", "standard-list", "ipv6-access-list"):
            self._lists.setdefault(line.name, []).extend(line.below)
            self._headings[line.name] = line.line.text
        for line in reading.all("numbered-list"):
            self._lists.setdefault(str(line["number"]), []).append(line)
        self._ipv6 = {line.name for line in reading.all("ipv6-access-list")}

    def __contains__(self, name: str) -> bool:
        return name in self._lists

    @property
    def foreign_numbers(self) -> tuple[int, ...]:
        """The numbers of lists that are not ours: ours begin with a remark that says so."""
        return tuple(
            int(name)
            for name, lines in self._lists.items()
            if name.isdecimal() and not any(line.get("remark", "").startswith(ACL_PREFIX) for line in lines)
        )

    def in_both_versions(self, names: Collection[str]) -> frozenset[Term]:
        """The terms without addresses that some of these lists permit to IPv4, and others to IPv6."""
        four, six = (
            {
                term
                for name in names
                if (name in self._ipv6) == ipv6
                for line in self._lists[name]
                if line.get("action") != "deny" and (term := _entry_of(line)) is not None and version(term) is None
            }
            for ipv6 in (False, True)
        )
        return frozenset(four & six)

    def texts(self, name: str) -> Iterator[str]:
        """The entries of a list as they are written, remarks left out."""
        return (line.line.text for line in self._lists[name] if "remark" not in line)

    def terms(self, name: str, *, beside: Collection[Term] = ()) -> tuple[Term, ...]:
        """What a list permits, where exceptions are not understood: an entry that denies some of it is kept apart.

        Raises:
            KeyError: there is no such list.
        """
        return self.condition(name, beside=beside, exceptions=False).any_of

    def condition(self, name: str, *, beside: Collection[Term] = (), exceptions: bool = True) -> Condition:
        """What a list permits; an entry that asks for more than terms hold is kept apart.

        The first entry that matches decides: what is denied of nothing that is permitted behind it says nothing.
        ``beside`` are terms that a list of IPv6 has of one of IPv4, which says them.

        Raises:
            KeyError: there is no such list.
        """
        heading = self._headings.get(name, f"access-list {name}")
        found = Condition()
        denied: list[ReadLine] = []
        missed: list[ReadLine] = []
        for line in reversed(self._lists[name]):
            if "remark" in line:
                continue
            term = _entry_of(line)
            if name in self._ipv6 and term in beside:
                continue
            # Terms without a prefix are of IPv4.
            if term is None or (name in self._ipv6 and version(term) != 6):
                missed.append(line)
            elif line.get("action") != "deny":
                joined = Condition((term,)).union(found)
                if joined is None:
                    missed += denied
                    joined = Condition((term, *found.any_of))
                found = joined
            elif (without := found.except_(term)) is not found:
                if exceptions:
                    found = without
                    denied.append(line)
                else:
                    missed.append(line)
        for line in reversed(missed):
            self._reading.miss(line, heading)
        return found
