"""Access lists of FTOS as terms of a class."""

from __future__ import annotations

import ipaddress

from app.plan.model import PortRange, Term

_PROTOCOLS = {"ip": None, "icmp": 1, "tcp": 6, "udp": 17}
_TOP = 65535


def read_entry(text: str) -> Term | None:
    """The term of one permitting entry; None where it says something a term cannot hold (a deny, an order)."""
    words = text.split()
    if words[:1] == ["seq"]:
        words = words[2:]
    if len(words) < 4 or words[0] != "permit":
        return None
    try:
        protocol = _PROTOCOLS[words[1]] if words[1] in _PROTOCOLS else int(words[1])
        source, source_ports, rest = _end(words[2:])
        destination, destination_ports, rest = _end(rest)
    except (ValueError, IndexError):
        return None
    if rest:
        return None
    return Term(
        protocol=protocol,
        source=source,
        destination=destination,
        source_ports=source_ports,
        destination_ports=destination_ports,
    )


def _end(words: list[str]) -> tuple[str | None, tuple[PortRange, ...], list[str]]:
    """Address and ports at the head of the words, and the rest."""
    if words[0] == "any":
        address, rest = None, words[1:]
    elif words[0] == "host":
        address, rest = str(ipaddress.IPv4Network(words[1])), words[2:]
    elif "/" in words[0]:
        address, rest = str(ipaddress.IPv4Network(words[0], strict=False)), words[1:]
    else:
        address, rest = str(ipaddress.IPv4Network(f"{words[0]}/{words[1].lstrip('/')}", strict=False)), words[2:]
    match rest:
        case ["eq", port, *rest]:
            return address, (PortRange(first=int(port), last=int(port)),), rest
        case ["range", first, last, *rest]:
            return address, (PortRange(first=int(first), last=int(last)),), rest
        case ["gt", port, *rest]:
            return address, (PortRange(first=int(port) + 1, last=_TOP),), rest
        case ["lt", port, *rest]:
            return address, (PortRange(first=0, last=int(port) - 1),), rest
    return address, (), rest
