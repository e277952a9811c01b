"""Access lists of FTOS, of IP and of MAC addresses, as terms of a class."""

from __future__ import annotations

import ipaddress
import re

from qosforge.plan.model import PortRange, Term

_PROTOCOLS = {"ip": None, "icmp": 1, "tcp": 6, "udp": 17}
_TOP = 65535
_MAC = re.compile(r"(?:[0-9a-f]{2}:){5}[0-9a-f]{2}", re.IGNORECASE)


NO_ORDER = 254
"""``order`` of an entry that has none: the device looks at lower ones first."""


def read_entry(text: str) -> tuple[Term | None, int]:
    """The term of one permitting entry of an IP list and its order; no term where it says what none can hold."""
    words, order = _ordered(text)
    return _ip_term(words), order


def read_mac_entry(text: str) -> tuple[Term | None, int]:
    """As `read_entry`, of a MAC list."""
    words, order = _ordered(text)
    source, rest = _mac_end(words[1:])
    destination, rest = _mac_end(rest or [])
    if words[:1] != ["permit"] or rest != []:
        return None, order
    return Term(source_mac=source, destination_mac=destination), order


def _mac_end(words: list[str]) -> tuple[str | None, list[str] | None]:
    """The address at the head of the words (none where any does) and the rest; no rest where it is neither."""
    match words:
        case ["any", *rest]:
            return None, rest
        case ["host", address, *rest] if _MAC.fullmatch(address):
            digits = address.replace(":", "").lower()
            return ".".join(digits[at : at + 4] for at in (0, 4, 8)), rest
    return None, None


def _ordered(text: str) -> tuple[list[str], int]:
    """The words of an entry without its number and its order."""
    words = text.split()
    if words[:1] == ["seq"]:
        words = words[2:]
    match words:
        case [*rest, "order", number] if re.fullmatch(r"[0-9]{1,3}", number):
            return rest, int(number)
    return words, NO_ORDER


def _ip_term(words: list[str]) -> Term | None:
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
