"""IPv6 access lists: the lines, and what they match.

Cisco IOS IPv6 Command Reference, ``ipv6 access-list`` and ``permit (IPv6)``: lists with upper-layer protocols and
ports came with 12.2(13)T, ``any`` is an abbreviation of ``::/0``, and addresses are printed in upper case. Lists of
IPv6 are about packets of IPv6 alone, and those of IPv4 about packets of IPv4 alone.
"""

from __future__ import annotations

import ipaddress

from qoslab.boxes.ios.acl import Entries
from qoslab.boxes.ios.rows import group, leaving, row
from qoslab.boxes.ios.train import IPV6_LISTS, Train
from qoslab.config import Section
from qoslab.grammar import Match
from qoslab.packets import Packets
from qoslab.patterns import ArgumentType
from qoslab.shell import Row, Shell

_PROTOCOLS = {"icmp": 58, "tcp": 6, "udp": 17, "ahp": 51, "esp": 50, "pcp": 108, "sctp": 132}
_NAMES = {str(number): name for name, number in _PROTOCOLS.items()}
_WHO = "{any|host IPV6|PREFIX6}"
_PORTS = "[eq {port}|gt {port}|lt {port}|neq {port}|range {port} {port}]"
_OPTIONS = "[dscp DSCP] [fragments] [log|log-input] [sequence <1-4294967294>]:sequence"


def global_rows(train: Train) -> list[Row]:
    """``ipv6 access-list``."""
    if not train.since(IPV6_LISTS):
        return []
    return [group("ipv6 access-list WORD", "ipv6-acl", rank=94)]


def submode_rows() -> dict[str, list[Row]]:
    """Rows inside a list."""
    return {
        "ipv6-acl": [
            *leaving(),
            *(row(f"{{permit|deny}} {pattern}", _entry, True) for pattern in _patterns()),
            row("remark LINE:text", lambda shell, match: _keep(shell, f"remark {match['text']}")),
        ]
    }


def _patterns() -> list[str]:
    ports = {name: _PORTS.format(port=f"{name.upper()}PORT") for name in ("tcp", "udp")}
    plain = "|".join(name for name in _PROTOCOLS if name not in ports)
    return [
        *(f"{name} {_WHO} {ports[name]} {_WHO} {ports[name]} {_OPTIONS}" for name in ports),
        f"{{ipv6|{plain}|<0-255>}} {_WHO} {_WHO} {_OPTIONS}",
    ]


def _keep(shell: Shell, text: str) -> None:
    shell.store(Section(text))


def _entry(shell: Shell, match: Match) -> None:
    words = match.text.split()
    if "sequence" in words:
        words = words[: words.index("sequence")]
    words[1] = _NAMES.get(words[1], words[1])
    text = " ".join(words)
    if match.undone:
        shell.section.remove(text)
    else:
        _keep(shell, text)


def _address(rest: list[str], address: str) -> bool:
    word = rest.pop(0)
    if word == "any":
        return True
    network = ipaddress.IPv6Network(rest.pop(0) if word == "host" else word)
    return ":" in address and ipaddress.IPv6Address(address) in network


_IPV6 = Entries(6, "ipv6", _PROTOCOLS, _address)


def permits(held: Section, packets: Packets) -> bool:
    """Whether a list permits packets."""
    return _IPV6.permits([line.text.split() for line in held if not line.text.startswith("remark")], packets)


def _printed_address(token: str) -> str | None:
    try:
        return str(ipaddress.IPv6Address(token)).upper()
    except ValueError:
        return None


def _printed_prefix(token: str) -> str | None:
    """A prefix as the box prints it: without the bits behind it, and the one of all addresses as ``any``."""
    if "/" not in token:
        return None
    try:
        network = ipaddress.IPv6Network(token, strict=False)
    except ValueError:
        return None
    return str(network).upper() if network.prefixlen else "any"


TYPES = {
    "IPV6": ArgumentType("IPV6", _printed_address),
    "PREFIX6": ArgumentType("PREFIX6", _printed_prefix),
}
