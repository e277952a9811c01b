"""Entries of extended access lists, of IP to and from the plan's terms, of MAC addresses from them."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator

from qosforge.dscp import dscp_name, parse_dscp
from qosforge.plan.model import PortRange, Term

PROTOCOLS = {
    "tcp": 6, "udp": 17, "icmp": 1, "igmp": 2, "ipinip": 4, "gre": 47, "esp": 50, "ahp": 51, "eigrp": 88,
    "ospf": 89, "pim": 103,
}  # fmt: skip
TCP_PORTS = {
    "ftp-data": 20, "ftp": 21, "telnet": 23, "smtp": 25, "domain": 53, "www": 80, "pop3": 110, "nntp": 119,
    "bgp": 179,
}  # fmt: skip
UDP_PORTS = {
    "domain": 53, "bootps": 67, "bootpc": 68, "tftp": 69, "ntp": 123, "snmp": 161, "snmptrap": 162, "syslog": 514,
}  # fmt: skip
_ALL_PORTS = 65535


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


def mac_entries(terms: tuple[Term, ...]) -> tuple[str, ...]:
    """The entry of every term of MAC addresses."""
    ends = [[f"host {mac}" if mac else "any" for mac in (t.source_mac, t.destination_mac)] for t in terms]
    return tuple(f"permit {source} {destination}" for source, destination in ends)


def read_entry(text: str) -> Term:
    """The term of one permitting entry.

    Raises:
        ValueError: it denies, or has a part that terms do not hold.
    """
    words = text.split()
    if words and words[0].isdigit():
        words = words[1:]
    if len(words) < 2 or words[0] != "permit":
        raise ValueError(f"not a permitting entry: {text}")
    protocol = words[1]
    names = UDP_PORTS | TCP_PORTS
    rest = words[2:]
    source, rest = _read_address(rest)
    source_ports, rest = _read_ports(rest, names)
    destination, rest = _read_address(rest)
    destination_ports, rest = _read_ports(rest, names)
    values: dict[str, object] = {}
    match rest:
        case []:
            pass
        case ["dscp", value]:
            values["dscp"] = (parse_dscp(value),)
        case ["precedence", value] if value.isdigit():
            values["precedence"] = (int(value),)
        case _:
            raise ValueError(f"not understood: {' '.join(rest)}")
    if protocol != "ip":
        values["protocol"] = PROTOCOLS[protocol] if protocol in PROTOCOLS else int(protocol)
    return Term(
        source=source,
        source_ports=source_ports,
        destination=destination,
        destination_ports=destination_ports,
        **values,
    )


def _read_address(words: list[str]) -> tuple[str | None, list[str]]:
    match words:
        case ["any", *rest]:
            return None, rest
        case ["host", address, *rest]:
            return str(ipaddress.ip_network(address)), rest
        case [address, wildcard, *rest]:
            return str(ipaddress.ip_network(f"{address}/{wildcard}", strict=False)), rest
    raise ValueError("an address is missing")


def _read_ports(words: list[str], names: dict[str, int]) -> tuple[tuple[PortRange, ...], list[str]]:
    def number(word: str) -> int:
        return names[word] if word in names else int(word)

    match words:
        case ["eq", port, *rest]:
            return (PortRange(first=number(port), last=number(port)),), rest
        case ["range", first, last, *rest]:
            return (PortRange(first=number(first), last=number(last)),), rest
        case ["gt", port, *rest]:
            return (PortRange(first=number(port) + 1, last=_ALL_PORTS),), rest
        case ["lt", port, *rest]:
            return (PortRange(first=0, last=number(port) - 1),), rest
    return (), words
