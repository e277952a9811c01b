"""Typed arguments of the ACLI, and the ways in which a 5510 says no.

Only ``% Cannot modify settings`` is published; the reason printed after it is the lab's wording.
"""

from __future__ import annotations

import ipaddress
import re
from typing import cast

from qoslab.boxes.nortel_5510.state import QosConfig, port_list
from qoslab.boxes.nortel_5510.tables import PORTS
from qoslab.grammar import Match, Refused, SyntaxRefused
from qoslab.patterns import ArgumentType
from qoslab.shell import Shell
from qoslab.typed import TypedBox

NAME_LENGTH = 16
"""Longest name of a QoS object."""

_NAME = re.compile(r'"?([A-Za-z0-9_.:+-]{1,64})"?')
_RANGE = re.compile(r"(?:1/)?(\d{1,3})(?:-(?:1/)?(\d{1,3}))?")


def _name(token: str) -> str | None:
    found = _NAME.fullmatch(token)
    return found[1] if found and token.count('"') in {0, 2} else None


def parse_ports(token: str) -> list[int] | None:
    """``1-4,7``, ``1/19`` (unit 1) or ``ALL`` as port numbers; None when it is no list of ports."""
    if token.lower() == "all":
        return list(range(1, PORTS + 1))
    ports: set[int] = set()
    for part in token.split(","):
        found = _RANGE.fullmatch(part)
        if not found:
            return None
        low, high = int(found[1]), int(found[2] or found[1])
        if not 1 <= low <= high <= PORTS:
            return None
        ports.update(range(low, high + 1))
    return sorted(ports)


def _ports(token: str) -> str | None:
    ports = parse_ports(token)
    return port_list(ports) if ports else None


def _port(token: str) -> str | None:
    ports = parse_ports(token)
    return str(ports[0]) if ports and len(ports) == 1 else None


def _prefix(token: str) -> str | None:
    try:
        return str(ipaddress.ip_network(token, strict=False)) if token.partition("/")[2].isdigit() else None
    except ValueError:
        return None


_MAC = re.compile(r"[0-9A-Fa-f]{2}([:-])[0-9A-Fa-f]{2}(\1[0-9A-Fa-f]{2}){4}")


def _mac(token: str) -> str | None:
    return token.replace("-", ":").lower() if _MAC.fullmatch(token) else None


def _ethertype(token: str) -> str | None:
    return token if re.fullmatch(r"0x[0-9A-Fa-f]{1,4}", token) else None


TYPES = {
    "NAME": ArgumentType("NAME", _name, loose=True),
    "PORTS": ArgumentType("PORTS", _ports),
    "PORT": ArgumentType("PORT", _port),
    "PREFIX": ArgumentType("PREFIX", _prefix),
    "ETHER": ArgumentType("ETHER", _mac),
    "TYPE": ArgumentType("TYPE", _ethertype),
}
"""Names (quotes around them are dropped), ports of the one unit, prefixes, MAC addresses, ethertypes."""


def config(shell: Shell) -> QosConfig:
    """The QoS configuration that a login edits."""
    return cast("TypedBox[QosConfig]", shell.box).state


def refused(reason: str) -> Refused:
    """The box keeps its settings, for ``reason``."""
    return Refused(f"% Cannot modify settings\n% {reason}")


def unknown(match: Match) -> SyntaxRefused:
    """The form (``no`` or ``default``) does not exist for this command."""
    return SyntaxRefused("invalid", 0, match.line)


def incomplete(match: Match) -> SyntaxRefused:
    """A required part is missing."""
    return SyntaxRefused("incomplete", len(match.line), match.line)


def single(match: Match) -> None:
    """Raises SyntaxRefused when an option was given twice."""
    for values in match.args.values():
        if len(values) > 1:
            raise unknown(match)


def number(match: Match, name: str) -> int | None:
    """An optional number."""
    return match.number(name) if name in match else None


def new_name(match: Match) -> str:
    """The object's name. Raises Refused when it is too long."""
    name = match.get("name")
    if len(name) > NAME_LENGTH:
        raise refused(f"Name must not exceed {NAME_LENGTH} characters")
    return name
