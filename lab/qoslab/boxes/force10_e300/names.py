"""How FTOS names interfaces: families, slots and ports, lists and ranges of them."""

from __future__ import annotations

import ipaddress
import re

from qoslab.patterns import ArgumentType

SHORT_NAMES = {
    "GigabitEthernet": "gi",
    "TenGigabitEthernet": "te",
    "SONET": "so",
    "Port-channel": "po",
    "Vlan": "vl",
    "Loopback": "lo",
    "ManagementEthernet": "ma",
}
"""Interface families and the tag each has in the mode prompt."""

SLOTS, PORTS = 6, 48
"""An E300 has six line-card slots; no card of it has more ports than this."""

PLAIN_NUMBERS = {"Port-channel": (1, 255), "Vlan": (1, 4094), "Loopback": (0, 16383)}
"""Families numbered without slot and port."""

_JOINED = re.compile(r"([A-Za-z-]+)(\d.*)")


def _whole(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 6


def canonical_interface(text: str) -> str | None:
    """``gi0/0`` or ``gigabitethernet 0/0`` as ``GigabitEthernet 0/0``; None when it names none."""
    found = _JOINED.fullmatch("".join(text.split()))
    if not found:
        return None
    word = found[1].lower()
    families = [name for name in SHORT_NAMES if name.lower().startswith(word)]
    if len(families) != 1:
        return None
    family = families[0]
    if family in PLAIN_NUMBERS:
        low, high = PLAIN_NUMBERS[family]
        good = _whole(found[2]) and low <= int(found[2]) <= high
        return f"{family} {int(found[2])}" if good else None
    slot, slash, port = found[2].partition("/")
    if not slash or not _whole(slot) or not _whole(port):
        return None
    return f"{family} {int(slot)}/{int(port)}" if int(slot) < SLOTS and int(port) < PORTS else None


def _numbers(text: str) -> list[int] | None:
    """``1-4,7`` as numbers; None for an empty or unusable range."""
    found: list[int] = []
    for part in text.split(","):
        low, _, high = part.partition("-")
        if not _whole(low) or not _whole(high or low):
            return None
        numbers = range(int(low), min(int(high or low), PORTS) + 1)
        if not numbers:
            return None
        found += numbers
    return found


def _slot_port(token: str) -> str | None:
    name = canonical_interface(f"gi{token}")
    return name.split()[1] if name else None


def _ports(token: str) -> str | None:
    slot, slash, ports = token.partition("/")
    numbers = _numbers(ports) if slash and _whole(slot) else None
    return token if numbers and int(slot) < SLOTS and max(numbers) < PORTS else None


def _prefixed(token: str) -> str | None:
    try:
        return str(ipaddress.IPv4Interface(token)) if "/" in token else None
    except ValueError:
        return None


def _joined(token: str) -> str | None:
    return canonical_interface(token) if token[-1:].isdigit() else None


TYPES = {
    "SLOTPORT": ArgumentType("SLOTPORT", _slot_port),
    "PORTLIST": ArgumentType("PORTLIST", _ports),
    "PREFIXED": ArgumentType("PREFIXED", _prefixed),
    "IFACE": ArgumentType("IFACE", _joined),
}

NAMED = (
    "{{GigabitEthernet|TenGigabitEthernet|SONET|ManagementEthernet} SLOTPORT"
    "|Port-channel <1-255>|Vlan <1-4094>|Loopback <0-16383>|IFACE}:interface"
)
"""Pattern of an interface name, in one word or two."""


def listed(text: str) -> list[str]:
    """Names of the ports that ``GigabitEthernet 0/1-4,7`` (a member list of one slot) stands for."""
    family, _, rest = text.partition(" ")
    slot, slash, ports = rest.partition("/")
    if not slash:
        return [text]
    return [f"{family} {int(slot)}/{port}" for port in _numbers(ports) or []]


def ranged(text: str) -> list[str] | None:
    """Names of the ports of ``gi 0/0 - 3, te 1/0``; None when a part names no port."""
    names: list[str] = []
    for part in text.split(","):
        first, dash, last = (piece.strip() for piece in part.partition("-"))
        name = canonical_interface(first)
        if name is None or "/" not in name:
            return None
        head, _, port = name.rpartition("/")
        ports = _numbers(f"{port}-{last}") if dash else [int(port)]
        if ports is None or ports[-1] >= PORTS:
            return None
        names += [f"{head}/{number}" for number in ports]
    return list(dict.fromkeys(names))


def short(name: str) -> str:
    """``Gi 0/0``: how messages and tables name an interface."""
    family, _, number = name.partition(" ")
    return f"{SHORT_NAMES[family].capitalize()} {number}"
