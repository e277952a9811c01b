"""Commands of FTOS for access-lists: ``ip access-list``, ``mac access-list`` and the rules in them.

The rules of a MAC list are not published in the guides that the lab follows: they have the form of
IP rules with addresses and masks in colon notation.
"""

from __future__ import annotations

import ipaddress
import re

from qoslab.boxes.force10_e300.acl import DEFAULT_ORDER, PROTOCOLS, AccessList, MacRule, Ports, Rule
from qoslab.boxes.force10_e300.qos import chassis, existing, item, unused
from qoslab.grammar import Match, Refused
from qoslab.patterns import ArgumentType
from qoslab.shell import Row, Shell
from qoslab.typed import Held, row

LAST_NUMBER = 65_534
"""Highest sequence number of a rule."""


def _prefix(token: str) -> str | None:
    if "/" not in token:
        return None
    try:
        return str(ipaddress.IPv4Network(token, strict=False))
    except ValueError:
        return None


def _length(token: str) -> str | None:
    digits = token[1:]
    if not token.startswith("/") or not digits.isascii() or not digits.isdigit() or len(digits) > 2:
        return None
    return f"/{int(digits)}" if int(digits) <= 32 else None


_COLONS = re.compile(r"[0-9a-f]{2}(:[0-9a-f]{2}){5}", re.IGNORECASE)


def _ethernet(token: str) -> str | None:
    return token.lower() if _COLONS.fullmatch(token) else None


TYPES = {
    "PREFIX": ArgumentType("PREFIX", _prefix),
    "LENGTH": ArgumentType("LENGTH", _length),
    "ETHER": ArgumentType("ETHER", _ethernet),
}
"""``A/len`` in one word, ``/len`` standing alone after an address, a MAC address or mask."""


def network(words: list[str]) -> ipaddress.IPv4Network | None:
    """An address condition: any, host A, A/len, A /len or A mask. Raises Refused for a broken mask."""
    if words == ["any"]:
        return None
    if words[0] == "host":
        return ipaddress.IPv4Network(words[1])
    text = words[0] if len(words) == 1 else words[0] + ("" if words[1].startswith("/") else "/") + words[1]
    try:
        return ipaddress.IPv4Network(text, strict=False)
    except ValueError as bad:
        raise Refused("% Error: Invalid mask.") from bad


def _ports(words: list[str]) -> Ports | None:
    if not words:
        return None
    low, high = int(words[1]), int(words[-1])
    if low > high:
        raise Refused("% Error: Invalid port range.")
    return Ports(words[0], low, high)


def _list(shell: Shell, match: Match) -> None:
    kind = "mac" if match.words[0] == "mac" else match["kind"]
    held, name = chassis(shell).lists(kind), match["name"]
    if match.negated:
        if existing(held, name, "Access-list").kind != kind:
            raise Refused(f"% Error: Access-list {name} is of another type.")
        unused(chassis(shell).users_of_acl(kind, name), "Access-list")
        del held[name]
        return
    longest = chassis(shell).acl_name_length
    if len(name) > longest:
        raise Refused(f"% Error: Name must not exceed {longest} characters.")
    present = held.setdefault(name, AccessList(name, kind))
    if present.kind != kind:
        raise Refused(f"% Error: Access-list {name} already exists with another type.")
    shell.enter(f"acl-{kind}", Held(name, present))


def _rule(match: Match) -> Rule:
    protocol = match.get("protocol", "ip")
    return Rule(
        permit=match["verb"] == "permit",
        protocol=None if protocol == "ip" else PROTOCOLS[protocol] if protocol in PROTOCOLS else int(protocol),
        src=network(match.values("src")),
        dst=network(match.values("dst")) if "dst" in match else None,
        src_ports=_ports(match.values("src_ports")),
        dst_ports=_ports(match.values("dst_ports")),
        dscp=match.number("dscp") if "dscp" in match else None,
        order=match.number("order", DEFAULT_ORDER),
        tail="".join(f" {word}" for word in match.values("tail")),
    )


def _mac(words: list[str]) -> tuple[str, str] | None:
    """An Ethernet address condition: any, host M or M mask."""
    if words == ["any"]:
        return None
    return (words[1], "00:00:00:00:00:00") if words[0] == "host" else (words[0], words[1])


def _mac_rule(match: Match) -> MacRule:
    return MacRule(
        permit=match["verb"] == "permit",
        src=_mac(match.values("src")),
        dst=_mac(match.values("dst")),
        order=match.number("order", DEFAULT_ORDER),
        tail="".join(f" {word}" for word in match.values("tail")),
    )


def _add(shell: Shell, match: Match) -> None:
    edited = item(shell, AccessList)
    rule = _mac_rule(match) if edited.kind == "mac" else _rule(match)
    if match.negated:
        found = next((seq for seq, held in edited.rules.items() if held == rule), None)
        if found is None:
            raise Refused("% Error: Rule does not exist.")
        del edited.rules[found]
        return
    if rule in edited.rules.values():
        raise Refused("% Error: Rule already exists.")
    number = match.number("seq") if "seq" in match else edited.next_number()
    if number > LAST_NUMBER:
        raise Refused(f"% Error: Sequence number must not exceed {LAST_NUMBER}.")
    edited.rules[number] = rule


def _remove(shell: Shell, match: Match) -> None:
    if item(shell, AccessList).rules.pop(match.number("seq"), None) is None:
        raise Refused("% Error: Rule does not exist.")


def _remark(shell: Shell, match: Match) -> None:
    remarks = item(shell, AccessList).remarks
    if match.negated:
        remarks.pop(match.words[0], None)
    else:
        remarks[match.words[0]] = match.text


_MAC_ADDRESS = "{any|host ETHER|ETHER ETHER}"
_ADDRESS = "{any|host IP|PREFIX|IP LENGTH|IP IP}"
_PORTS = "{eq <0-65535>|neq <0-65535>|gt <0-65535>|lt <0-65535>|range <0-65535> <0-65535>}"
_TAIL = "[count:tail] [log:tail] [order <0-254>:order]"
_BODY = (
    f"{{permit|deny}}:verb {{ip|icmp|<0-255>}}:protocol {_ADDRESS}:src {_ADDRESS}:dst [dscp <0-63>:dscp] {_TAIL}"
)
_PORT_BODY = (
    f"{{permit|deny}}:verb {{tcp|udp}}:protocol {_ADDRESS}:src [{_PORTS}:src_ports]"
    f" {_ADDRESS}:dst [{_PORTS}:dst_ports] [dscp <0-63>:dscp] {_TAIL}"
)
_STANDARD_BODY = f"{{permit|deny}}:verb {_ADDRESS}:src {_TAIL}"

_COMMON: list[Row] = [
    row("description LINE", _remark, no="description [LINE]"),
    row("remark LINE", _remark, no="remark [LINE]"),
]


def _unnumber(shell: Shell, match: Match) -> None:
    if match.negated:
        _remove(shell, match)
    else:
        _add(shell, match)


EXTENDED_ROWS: list[Row] = [
    *_COMMON,
    row(f"seq <0-{LAST_NUMBER}>:seq {{{_BODY}|{_PORT_BODY}}}", _unnumber, no=f"seq <0-{LAST_NUMBER}>:seq"),
    row(f"{{{_BODY}|{_PORT_BODY}}}", _add, no=True),
]

STANDARD_ROWS: list[Row] = [
    *_COMMON,
    row(f"seq <0-{LAST_NUMBER}>:seq {_STANDARD_BODY}", _unnumber, no=f"seq <0-{LAST_NUMBER}>:seq"),
    row(_STANDARD_BODY, _add, no=True),
]

_MAC_BODY = f"{{permit|deny}}:verb {_MAC_ADDRESS}:src {_MAC_ADDRESS}:dst {_TAIL}"

MAC_ROWS: list[Row] = [
    *_COMMON,
    row(f"seq <0-{LAST_NUMBER}>:seq {_MAC_BODY}", _unnumber, no=f"seq <0-{LAST_NUMBER}>:seq"),
    row(_MAC_BODY, _add, no=True),
]

LIST_ROWS: list[Row] = [
    row("ip access-list {extended|standard}:kind WORD:name", _list, no=True),
    row("mac access-list extended WORD:name", _list, no=True),
]
"""What configuration mode offers."""
