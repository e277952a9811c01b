"""IP access lists: the lines, and what they match."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable
from dataclasses import dataclass

from qoslab.boxes.ios.arguments import PORT_NAMES, TOS_NAMES, dscp_value, precedence_value
from qoslab.boxes.ios.rows import leaving, row
from qoslab.config import Section
from qoslab.grammar import Match
from qoslab.packets import Packets
from qoslab.shell import Row, Run, Shell

PROTOCOLS: dict[str, int] = {
    "icmp": 1, "igmp": 2, "ipinip": 4, "tcp": 6, "udp": 17, "gre": 47, "esp": 50, "ahp": 51,
    "eigrp": 88, "ospf": 89, "pim": 103,
}  # fmt: skip

_PROTOCOL_NAMES = {str(number): name for name, number in PROTOCOLS.items()}

_WHO = "{any|host IP|IP IP}"
_PORTS = "[eq {port}*8|gt {port}|lt {port}|neq {port}|range {port} {port}]"
_OPTIONS = "{[precedence PRECNAME] [tos TOS]|dscp DSCP} [fragments] [log|log-input]"
_STANDARD = "{permit|deny} {any|host IP|IP [IP]} [log]"
_EXTENDED = "{{permit|deny}} {protocol} {who} {ports} {who} {ports} [established] {options}"


def extended_patterns() -> list[str]:
    """The extended entry forms: with ports for TCP and UDP, with a type for ICMP, plain for the rest."""
    plain = "|".join(name for name in PROTOCOLS if name not in {"tcp", "udp", "icmp"})
    return [
        *(
            _EXTENDED.format(
                protocol=protocol, who=_WHO, ports=_PORTS.format(port=f"{protocol.upper()}PORT"), options=_OPTIONS
            )
            for protocol in ("tcp", "udp")
        ),
        f"{{permit|deny}} icmp {_WHO} {_WHO} [WORD] {_OPTIONS}",
        f"{{permit|deny}} {{ip|{plain}|<0-255>}} {_WHO} {_WHO} {_OPTIONS}",
    ]


def global_rows() -> list[Row]:
    """``access-list N ...`` and ``ip access-list {standard|extended} ...``."""
    rows = [
        row("access-list {<1-99>|<1300-1999>}:number remark LINE:text", _remark),
        row(f"access-list {{<1-99>|<1300-1999>}}:number {{{_STANDARD}}}:entry", _numbered, True),
        row("access-list {<100-199>|<2000-2699>}:number remark LINE:text", _remark),
        row("ip access-list standard WORD:name", _named("standard"), True),
        row("ip access-list extended WORD:name", _named("extended"), True),
    ]
    numbered = "access-list {<100-199>|<2000-2699>}:number"
    rows += [row(f"{numbered} {{{pattern}}}:entry", _numbered, True) for pattern in extended_patterns()]
    # Without an entry the whole list goes.
    rows.append(row("access-list <1-2699>:number", _incomplete, True))
    return rows


def submode_rows() -> dict[str, list[Row]]:
    """Rows inside a named list."""
    return {
        "std-nacl": [*leaving(), *_entries(_STANDARD)],
        "ext-nacl": [*leaving(), *(one for pattern in extended_patterns() for one in _entries(pattern))],
    }


def _entries(pattern: str) -> list[Row]:
    return [
        row(f"[<1-2147483647>] {{{pattern}}}:entry", _entry, True),
        row("[<1-2147483647>] remark LINE:text", lambda s, m: _keep(s, f"remark {m['text']}")),
    ]


def _keep(shell: Shell, text: str) -> None:
    shell.store(Section(text))


def _entry(shell: Shell, match: Match) -> None:
    text = canonical_entry(match["entry"])
    if match.undone:
        shell.section.remove(text)
    else:
        _keep(shell, text)


def _numbered(shell: Shell, match: Match) -> None:
    name = f"access-list {match['number']}"
    root = shell.box.running
    if match.undone:  # classic IOS forgets the whole list whatever entry was named
        for line in root.starting(f"{name} "):
            root.remove(line.key)
        return
    shell.box.store(
        root,
        Section(f"{name} {canonical_entry(match['entry'])}", rank=91, order=(int(match["number"]),)),
        faulty=shell.planted_faults,
    )


def _remark(shell: Shell, match: Match) -> None:
    number = match["number"]
    shell.store(Section(f"access-list {number} remark {match['text']}", rank=91, order=(int(number),)))


def _incomplete(shell: Shell, match: Match) -> str | None:
    if not match.undone:
        return "% Incomplete command.\n"
    _numbered(shell, match)
    return None


def _named(kind: str) -> Run:
    def run(shell: Shell, match: Match) -> str | None:
        key = f"ip access-list {match['name']}"
        text = f"ip access-list {kind} {match['name']}"
        mode = "std-nacl" if kind == "standard" else "ext-nacl"
        held = shell.section.get(key)
        if match.undone:
            shell.section.remove(key)
            return None
        if held is not None and held.mode != mode:
            return f"% A named IP access list with name {match['name']} of another type exists"
        shell.enter(mode, held or shell.store(Section(text, key=key, rank=90, mode=mode)))
        return None

    return run


def canonical_entry(text: str) -> str:
    """How IOS prints an entry: ``deny`` is padded, whole-host wildcards fold into ``host`` and ``any``."""
    rest = text.split()
    action = rest.pop(0)
    done: list[str] = []
    if not _is_address(rest[0]):  # extended: a protocol first, and two addresses
        done.append(_PROTOCOL_NAMES.get(rest[0], rest[0]))
        rest.pop(0)
        done += _printed(rest)
        while rest and not _is_address(rest[0]):
            done.append(rest.pop(0))
    done += _printed(rest)
    return " ".join([action.ljust(6) if action == "deny" else action, *done, *rest])


def _is_address(word: str) -> bool:
    return word in {"any", "host"} or "." in word


def _printed(rest: list[str]) -> list[str]:
    """Take one address off the front and return it as printed."""
    word = rest.pop(0)
    if word == "any":
        return [word]
    if word == "host":
        return [word, rest.pop(0)]
    if not rest or not re.fullmatch(r"\d+\.\d+\.\d+\.\d+", rest[0]):
        return [word]  # a standard entry without a wildcard
    wildcard = rest.pop(0)
    return {"0.0.0.0": ["host", word], "255.255.255.255": ["any"]}.get(wildcard, [word, wildcard])  # noqa: S104


class AccessList:
    """A list's entries in order; the first that matches decides, none means deny."""

    def __init__(self, running: Section, name: str) -> None:
        """Raises KeyError when the running configuration has no such list."""
        held = running.get(f"ip access-list {name}")
        prefix = f"access-list {name} "
        if held is not None:
            lines = [child.text for child in held]
        else:
            lines = [line.text[len(prefix) :] for line in running.starting(prefix)]
        self.entries = [line.split() for line in lines if not line.startswith("remark")]
        if not self.entries:
            raise KeyError(name)

    def permits(self, packets: Packets) -> bool:
        """True when the deciding entry is a permit."""
        return _IPV4.permits(self.entries, packets)


@dataclass(frozen=True)
class Entries:
    """How the entries of lists of one version of IP read; they are about packets of that version alone.

    ``any_protocol`` is the word for all protocols. ``address`` takes what an entry asks of an address off the front
    of its words, and tells whether an address is that.
    """

    ip_version: int
    any_protocol: str
    protocols: dict[str, int]
    address: Callable[[list[str], str], bool]

    def permits(self, entries: list[list[str]], packets: Packets) -> bool:
        """True when the first entry that is about the packets is a permit."""
        if packets.ip_version != self.ip_version:
            return False
        return next((entry[0] == "permit" for entry in entries if self._matches(entry[1:], packets)), False)

    def _matches(self, words: list[str], packets: Packets) -> bool:
        if _is_address(words[0]):  # a standard list
            return self.address(words, packets.src)
        protocol, *rest = words
        number = self.protocols.get(protocol, int(protocol) if protocol.isdigit() else -1)
        return (
            (protocol == self.any_protocol or number == packets.protocol)
            and self.address(rest, packets.src)
            and _ports(rest, packets.src_port)
            and self.address(rest, packets.dst)
            and _ports(rest, packets.dst_port)
            and _options(rest, packets)
        )


def _address(rest: list[str], address: str) -> bool:
    word = rest.pop(0)
    if word == "any":
        return True
    if word == "host":
        return rest.pop(0) == address
    wildcard = 0
    if rest and re.fullmatch(r"\d+\.\d+\.\d+\.\d+", rest[0]):
        wildcard = int(ipaddress.IPv4Address(rest.pop(0)))
    care = ~wildcard & 0xFFFFFFFF
    return int(ipaddress.IPv4Address(word)) & care == int(ipaddress.IPv4Address(address)) & care


def _number(word: str) -> int:
    return PORT_NAMES[word] if word in PORT_NAMES else int(word)


def _ports(rest: list[str], port: int) -> bool:
    """Take what an entry asks of a port off the front, and tell whether a port is that."""
    if not rest or rest[0] not in {"eq", "gt", "lt", "neq", "range"}:
        return True
    how = rest.pop(0)
    values = [_number(rest.pop(0))]
    if how == "range":
        return values[0] <= port <= _number(rest.pop(0))
    while rest and how == "eq" and (rest[0].isdigit() or rest[0] in PORT_NAMES):
        values.append(_number(rest.pop(0)))
    tests = {"eq": port in values, "neq": port != values[0], "gt": port > values[0], "lt": port < values[0]}
    return tests[how]


def _tos(word: str) -> int:
    """The four bits behind the precedence (RFC 1349)."""
    return TOS_NAMES[word] if word in TOS_NAMES else int(word)


def _options(rest: list[str], packets: Packets) -> bool:
    """Whether packets have the marks that stand at the end of an entry."""
    if "dscp" in rest and dscp_value(rest[rest.index("dscp") + 1]) != packets.dscp:
        return False
    if "precedence" in rest and precedence_value(rest[rest.index("precedence") + 1]) != packets.dscp >> 3:
        return False
    if "tos" in rest and _tos(rest[rest.index("tos") + 1]) != packets.dscp << 1 & 0xF:
        return False
    # The lab offers plain, complete packets: nothing is a fragment or part of an established flow.
    return "fragments" not in rest and "established" not in rest


_IPV4 = Entries(4, "ip", PROTOCOLS, _address)
