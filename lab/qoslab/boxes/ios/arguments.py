"""Argument types of the IOS command line: DSCP and precedence names, interfaces, file names, protocols.

Code points are those of RFC 2474, 2597 and 3246; names as IOS accepts and prints them.
"""

from __future__ import annotations

import re
from functools import partial

from qoslab.grammar import choice
from qoslab.patterns import ArgumentType

DSCP_NAMES: dict[str, int] = {
    "default": 0,
    **{f"cs{n}": 8 * n for n in range(1, 8)},
    **{f"af{c}{d}": 8 * c + 2 * d for c in range(1, 5) for d in range(1, 4)},
    "ef": 46,
}
DSCP_BY_NUMBER: dict[str, str] = {str(value): name for name, value in DSCP_NAMES.items()}
PRECEDENCE_NAMES: dict[str, int] = {
    "routine": 0, "priority": 1, "immediate": 2, "flash": 3,
    "flash-override": 4, "critical": 5, "internet": 6, "network": 7,
}  # fmt: skip
TOS_NAMES: dict[str, int] = {
    "normal": 0, "min-monetary-cost": 1, "max-reliability": 2, "max-throughput": 4, "min-delay": 8,
}  # fmt: skip

# Order: how interfaces are sorted in the printout. Value: the bandwidth (kb/s) IOS assumes.
INTERFACE_KINDS: dict[str, int] = {
    "Loopback": 8000000,
    "Null": 10000000,
    "Tunnel": 9,
    "Multilink": 100000,
    "Dialer": 56,
    "Virtual-Template": 100000,
    "Port-channel": 100000,
    "Ethernet": 10000,
    "FastEthernet": 100000,
    "GigabitEthernet": 1000000,
    "TenGigabitEthernet": 10000000,
    "Serial": 1544,
    "ATM": 155000,
    "BRI": 64,
    "Vlan": 1000000,
}
LOGICAL_KINDS = (
    "Loopback", "Null", "Tunnel", "Multilink", "Dialer", "Virtual-Template", "Port-channel", "Vlan"
)  # fmt: skip

# NBAR names of the 12.x packet description modules that routers of this class carry.
APPLICATIONS = (
    "arp", "bgp", "bittorrent", "cdp", "citrix", "cuseeme", "custom-01", "dhcp", "dns", "edonkey", "egp",
    "eigrp", "exchange", "fasttrack", "finger", "ftp", "gnutella", "gopher", "gre", "h323", "http", "icmp",
    "imap", "ip", "ipinip", "ipsec", "irc", "kazaa2", "kerberos", "l2tp", "ldap", "mgcp", "napster",
    "netbios", "netshow", "nfs", "nntp", "notes", "novadigm", "ntp", "ospf", "pcanywhere", "pop3", "pptp",
    "printer", "rcmd", "rip", "rsvp", "rtcp", "rtp", "rtsp", "secure-ftp", "secure-http", "secure-imap",
    "secure-irc", "secure-ldap", "secure-nntp", "secure-pop3", "secure-telnet", "sip", "skinny", "skype",
    "smtp", "snmp", "socks", "sqlnet", "sqlserver", "ssh", "streamwork", "sunrpc", "syslog", "telnet",
    "tftp", "vdolive", "winmx", "xwindows",
)  # fmt: skip

# The release that brought names later than NBAR itself: of 12.3(7)T are those of AutoQoS for the Enterprise, the
# others are from memory.
LATER_APPLICATIONS = {
    **dict.fromkeys(("sip", "h323", "skinny", "mgcp", "rtcp"), "12.3(7)T"),
    "rtsp": "12.3(11)T",
    "skype": "12.4(4)T",
}

TCP_PORT_NAMES: dict[str, int] = {
    "ftp-data": 20, "ftp": 21, "telnet": 23, "smtp": 25, "domain": 53, "www": 80, "pop3": 110, "nntp": 119,
    "bgp": 179,
}  # fmt: skip
UDP_PORT_NAMES: dict[str, int] = {
    "domain": 53, "bootps": 67, "bootpc": 68, "tftp": 69, "ntp": 123, "snmp": 161, "snmptrap": 162, "syslog": 514,
}  # fmt: skip
PORT_NAMES = TCP_PORT_NAMES | UDP_PORT_NAMES
"""A name belongs to its protocol: ``udp ... eq ftp`` is no command, and UDP port 21 prints as a number."""

_INTERFACE = re.compile(r"([A-Za-z][A-Za-z-]*)(\d[\d/.:]*)")
_NUMBERS = re.compile(r"\d+(?:[/.:]\d+)*")


def interface_kind(word: str) -> str | None:
    """The full name of an interface type; None when unknown or ambiguous."""
    low = word.lower()
    hits = [kind for kind in INTERFACE_KINDS if kind.lower().startswith(low)]
    exact = [kind for kind in hits if kind.lower() == low]
    return (exact or hits)[0] if exact or len(hits) == 1 else None


def interface_name(token: str) -> str | None:
    """``fa0/1`` -> ``FastEthernet0/1``; None when it is no interface name."""
    found = _INTERFACE.fullmatch(token)
    if found is None or not _NUMBERS.fullmatch(found[2]):
        return None
    kind = interface_kind(found[1])
    return None if kind is None else f"{kind}{found[2]}"


def split_interface(name: str) -> tuple[str, tuple[int, ...]]:
    """``Serial0/0.1`` -> (``Serial``, (0, 0, 1))."""
    found = _INTERFACE.fullmatch(name)
    assert found is not None, name
    return found[1], tuple(int(part) for part in re.split(r"[/.:]", found[2]))


def dscp_value(name: str) -> int:
    """The number of a DSCP as IOS prints it."""
    return DSCP_NAMES[name] if name in DSCP_NAMES else int(name)


def precedence_value(name: str) -> int:
    """The number of a precedence as IOS prints it: a name in access lists, a number elsewhere."""
    return PRECEDENCE_NAMES[name] if name in PRECEDENCE_NAMES else int(name)


def _numbers(token: str) -> str | None:
    return token if _NUMBERS.fullmatch(token) else None


def _file(token: str) -> str | None:
    """``flash:/x``, ``flash:x`` or ``x`` -> ``flash:x``; other file systems stay as they are."""
    found = re.fullmatch(r"(?:(flash|nvram|system|null|tftp|ftp|scp):/?)?([^\s:]*)", token)
    if found is None or (found[1] is None and not found[2]):
        return None
    return f"{found[1] or 'flash'}:{found[2]}"


def _file_system(token: str) -> str | None:
    """A token that names a file system (so that bare words are not taken for files)."""
    return _file(token) if ":" in token else None


DSCP = choice(tuple(DSCP_NAMES), DSCP_BY_NUMBER, high=63)
# Old boxes show DSCPs and precedences in class maps and marks by name or number: here DSCP by name,
# precedence by number, as the 12.x printouts do.
_PREC_BY_NAME = choice(tuple(PRECEDENCE_NAMES), high=7)


def _precedence(token: str) -> str | None:
    value = _PREC_BY_NAME.parse(token)
    return None if value is None else str(PRECEDENCE_NAMES.get(value, value))


def _named_precedence(token: str) -> str | None:
    """Access lists print a precedence by its name."""
    value = _PREC_BY_NAME.parse(token)
    return _PRECEDENCE_BY_NUMBER.get(value, value) if value is not None else None


def _dscp_number(token: str) -> str | None:
    """``rate-limit`` prints a DSCP as a number."""
    value = DSCP.parse(token)
    return None if value is None else str(dscp_value(value))


_PAYLOAD_RANGE = re.compile(r"\d{1,3}(?:-\d{1,3})?")
_LARGEST_PAYLOAD_TYPE = 127


_CIRCUIT_NAME = re.compile(r"[A-Za-z][\w.-]{0,15}")
_CIRCUIT = re.compile(r"(?:(\d{1,3})/)?(\d{1,5})")


def _circuit(token: str) -> str | None:
    """An ATM circuit as VPI/VCI; without a VPI it is 0 (VPI 0-255, VCI 1-65535)."""
    found = _CIRCUIT.fullmatch(token)
    if found is None or int(found[1] or 0) > 255 or not 1 <= int(found[2]) <= 65535:
        return None
    return f"{int(found[1] or 0)}/{int(found[2])}"


def _payload_types(text: str) -> str | None:
    """``"0, 4-8"``: RTP payload types and ranges of them, printed in quotes when there are several."""
    parts = [part.strip() for part in text.strip('"').split(",")]
    if not all(_PAYLOAD_RANGE.fullmatch(part) for part in parts):
        return None
    if any(int(end) > _LARGEST_PAYLOAD_TYPE for part in parts for end in part.split("-")):
        return None
    return parts[0] if len(parts) == 1 else f'"{", ".join(parts)}"'


def _hex_byte(token: str) -> str | None:
    """Two hexadecimal digits, as masks of eight precedences are written."""
    return token.upper() if re.fullmatch(r"[0-9A-Fa-f]{1,2}", token) else None


def _power_of_two(token: str) -> str | None:
    """Numbers of queues: 16, 32, ... 4096."""
    return str(int(token)) if token.isascii() and token.isdigit() and int(token) in _QUEUE_COUNTS else None


def _port(names: dict[str, int], token: str) -> str | None:
    low = token.lower()
    if low in names:
        return low
    if low.isascii() and low.isdigit() and len(low) < 6 and int(low) < 65536:
        return next((name for name, port in names.items() if port == int(low)), str(int(low)))
    hits = [name for name in names if name.startswith(low)]
    return hits[0] if len(hits) == 1 else None


_PRECEDENCE_BY_NUMBER = {str(value): name for name, value in PRECEDENCE_NAMES.items()}
_TOS_BY_NUMBER = {str(value): name for name, value in TOS_NAMES.items()}
_QUEUE_COUNTS = frozenset(16 << step for step in range(9))

IOS_TYPES: dict[str, ArgumentType] = {
    "DSCP": DSCP,
    "PREC": ArgumentType("PREC", _precedence),
    "PRECNAME": ArgumentType("PRECNAME", _named_precedence),
    "TOS": choice(tuple(TOS_NAMES), _TOS_BY_NUMBER, high=15),
    "DSCPNUM": ArgumentType("DSCPNUM", _dscp_number),
    "QUEUES": ArgumentType("QUEUES", _power_of_two),
    "HEXBYTE": ArgumentType("HEXBYTE", _hex_byte),
    "PAYLOAD": ArgumentType("PAYLOAD", _payload_types, rest=True),
    "VCNAME": ArgumentType("VCNAME", lambda token: token if _CIRCUIT_NAME.fullmatch(token) else None),
    "VC": ArgumentType("VC", _circuit),
    "IFACE": ArgumentType("IFACE", interface_name),
    "IFTYPE": ArgumentType("IFTYPE", interface_kind),
    "IFNUM": ArgumentType("IFNUM", _numbers),
    "APP": choice(APPLICATIONS),
    "TCPPORT": ArgumentType("TCPPORT", partial(_port, TCP_PORT_NAMES)),
    "UDPPORT": ArgumentType("UDPPORT", partial(_port, UDP_PORT_NAMES)),
    "FILE": ArgumentType("FILE", _file_system),
    "NAME": ArgumentType("NAME", _file, loose=True),
}
IF = "{IFACE|IFTYPE IFNUM}:interface"  # one word or two, as people type it
