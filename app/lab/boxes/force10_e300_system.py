"""FTOS commands that are not policy-based QoS: names, users, interfaces, routing, box-wide queues.

Lines the box only keeps and shows are rows of a table: pattern, how many leading words make the
line unique, and where it stands in the listing.
"""

from __future__ import annotations

import ipaddress
import re

from app.lab.boxes.force10_e300_lists import network
from app.lab.boxes.force10_e300_qos import METER, SHAPE, chassis, checked_shape, existing, item
from app.lab.boxes.force10_e300_state import POLICY_FAMILIES, SHORT_NAMES, Block, Interface
from app.lab.config import Section
from app.lab.grammar import Match, Refused
from app.lab.patterns import ArgumentType
from app.lab.shell import Row, Run, Shell
from app.lab.typed import Held, row

SLOTS, PORTS = 6, 48
"""An E300 has six line-card slots; no card of it has more ports than this."""

PLAIN_NUMBERS = {"Port-channel": (1, 255), "Vlan": (1, 4094), "Loopback": (0, 16383)}
"""Families numbered without slot and port."""

_JOINED = re.compile(r"([A-Za-z-]+)(\d.*)")


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
        good = found[2].isdigit() and len(found[2]) < 6 and low <= int(found[2]) <= high
        return f"{family} {int(found[2])}" if good else None
    slot, slash, port = found[2].partition("/")
    if not slash or not slot.isdigit() or not port.isdigit() or len(slot + port) > 4:
        return None
    return f"{family} {int(slot)}/{int(port)}" if int(slot) < SLOTS and int(port) < PORTS else None


def _slot_port(token: str) -> str | None:
    name = canonical_interface(f"gi{token}")
    return name.split()[1] if name else None


def _ports(token: str) -> str | None:
    slot, slash, ports = token.partition("/")
    good = slash and slot.isdigit() and re.fullmatch(r"\d+(-\d+)?(,\d+(-\d+)?)*", ports)
    return token if good and int(slot) < SLOTS and all(int(n) < PORTS for n in re.findall(r"\d+", ports)) else None


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


def kept(words: int, rank: int) -> Run:
    """A box-wide line that is stored under its first ``words`` words."""

    def run(shell: Shell, match: Match) -> None:
        lines = chassis(shell).plain
        key = " ".join(match.words[:words])
        if match.negated:
            lines.remove(key)
        else:
            lines.put(Section(match.text, key=key, rank=rank))

    return run


def _hostname(shell: Shell, match: Match) -> None:
    chassis(shell).hostname = "Force10" if match.negated else match["name"]


def _strict(shell: Shell, match: Match) -> None:
    chassis(shell).strict_queue = None if match.negated else match.number("queue")


# -- interfaces ---------------------------------------------------------------------------------------


def _interface(shell: Shell, match: Match) -> None:
    held, name = chassis(shell).interfaces, match["interface"]
    if match.negated:
        if existing(held, name, "Interface").physical:
            raise Refused("% Error: A physical interface cannot be removed.")
        del held[name]
        return
    family, _, number = name.partition(" ")
    shell.enter("interface", Held(name, held.setdefault(name, Interface(family, number))))


def _short(edited: Interface) -> str:
    return f"{SHORT_NAMES[edited.family].capitalize()} {edited.number}"


def _address(shell: Shell, match: Match) -> None:
    edited = item(shell, Interface)
    if match.negated:
        edited.address = ""
        return
    if "switchport" in edited.options:
        raise Refused(f"% Error: Port is in Layer 2 mode {_short(edited)}.")
    words = match.values("address")
    mask = network(words)
    assert mask is not None
    edited.address = f"{ipaddress.IPv4Address(words[0].partition('/')[0])}/{mask.prefixlen}"


def _shutdown(shell: Shell, match: Match) -> None:
    item(shell, Interface).shutdown = not match.negated


def _option(shell: Shell, match: Match) -> None:
    edited, key = item(shell, Interface), match.words[0]
    if match.negated:
        edited.options.pop(key, None)
        return
    if key == "switchport" and edited.address:
        raise Refused(f"% Error: Port is in Layer 3 mode {_short(edited)}.")
    edited.options[key] = match.text


def _port_qos(shell: Shell, match: Match) -> None:
    edited, key = item(shell, Interface), match["kind"]
    if match.negated:
        edited.options.pop(key, None)
        return
    if edited.policies:
        raise Refused("% Error: Policy-based QoS is configured on this interface.")
    if "amount" in match:
        checked_shape(match)
    edited.options[key] = match.text


def _member(shell: Shell, match: Match) -> None:
    edited, how = item(shell, Interface), match["how"]
    if edited.family != "Vlan":
        raise Refused("% Error: Only a VLAN has member ports.")
    ports = edited.members.setdefault(how, [])
    if match.negated:
        if match["ports"] not in ports:
            raise Refused("% Error: Port is not a member of this VLAN.")
        ports.remove(match["ports"])
    elif match["ports"] not in ports:
        ports.append(match["ports"])


def _service_policy(shell: Shell, match: Match) -> None:
    edited, direction = item(shell, Interface), match["direction"]
    if match.negated:
        if edited.policies.get(direction) is None or match.get("name") not in {"", edited.policies[direction]}:
            raise Refused("% Error: Service-policy is not configured on this interface.")
        del edited.policies[direction]
        return
    if edited.family not in POLICY_FAMILIES:
        raise Refused(f"% Error: Service-policy is not supported on {edited.family} interfaces.")
    policy = existing(chassis(shell).policy_maps[direction], match["name"], "Policy-map")
    if any(key in edited.options for key in ("dot1p-priority", "rate police", "rate limit", "rate shape")):
        raise Refused("% Error: Port-based QoS is configured on this interface.")
    if policy.layer2 != ("layer2" in match):
        raise Refused(f"% Error: Policy-map {policy.name} is of another layer.")
    if policy.layer2 and "switchport" not in edited.options:
        raise Refused(f"% Error: Port is not in Layer 2 mode {_short(edited)}.")
    edited.policies[direction] = policy.name


INTERFACE_ROWS: list[Row] = [
    row("ip address {PREFIXED|IP LENGTH|IP IP}:address", _address, no="ip address [LINE]"),
    row("shutdown", _shutdown, no=True),
    row("description LINE", _option, no="description [LINE]"),
    row("mtu <592-9252>", _option, no="mtu [<592-9252>]"),
    row("speed {10|100|1000|auto}", _option, no="speed [LINE]"),
    row("duplex {full|half}", _option, no="duplex [LINE]"),
    row("negotiation auto", _option, no=True),
    row("keepalive [<1-32767>]", _option, no=True),
    row("portmode hybrid", _option, no=True),
    row("switchport", _option, no=True),
    row("bandwidth <1-10000000>", _option, no="bandwidth [LINE]"),
    row("name LINE", _option, no="name [LINE]"),
    row("channel-member {GigabitEthernet|TenGigabitEthernet} PORTLIST", _option, no=True),
    row("dot1p-priority:kind <0-7>", _port_qos, no="dot1p-priority:kind [<0-7>]"),
    row(f"{{rate police}}:kind {METER}", _port_qos, no="{rate police}:kind [LINE]"),
    row(f"{{rate limit}}:kind {METER}", _port_qos, no="{rate limit}:kind [LINE]"),
    row(f"{{rate shape}}:kind {SHAPE}", _port_qos, no="{rate shape}:kind [LINE]"),
    row("{tagged|untagged}:how {{GigabitEthernet|TenGigabitEthernet|Port-channel} PORTLIST}:ports",
        _member, no=True),
    row("service-policy {input:direction WORD:name [layer2:layer2]|output:direction WORD:name}",
        _service_policy, no="service-policy {input|output}:direction [WORD:name] [layer2]"),
]  # fmt: skip


# -- blocks that are only kept ------------------------------------------------------------------------


def block(mode: str) -> Run:
    """A line that opens a block of kept lines in ``mode``."""

    def run(shell: Shell, match: Match) -> None:
        held = chassis(shell).blocks
        if match.negated:
            existing(held, match.text, "Configuration")
            del held[match.text]
            return
        shell.enter(mode, Held(match.text, held.setdefault(match.text, Block(match.text))))

    return run


def _block_line(words: int) -> Run:
    def run(shell: Shell, match: Match) -> None:
        lines = item(shell, Block).body
        key = " ".join(match.words[:words])
        if match.negated:
            lines.pop(key, None)
        else:
            lines[key] = match.text

    return run


ROUTER_ROWS: list[Row] = [
    row("router-id IP", _block_line(1), no="router-id [IP]"),
    row("network PREFIX area {<0-65535>|IP}", _block_line(2), no=True),
    row(f"passive-interface {{default|{NAMED}}}", _block_line(3), no=True),
    row("redistribute {connected|static}", _block_line(2), no=True),
    row("auto-cost [reference-bandwidth <1-4294967>]", _block_line(1), no=True),
]
LINE_ROWS: list[Row] = [
    row("exec-timeout <0-35791> [<0-2147483>]", _block_line(1), no="exec-timeout [LINE]"),
    row("password LINE", _block_line(1), no="password [LINE]"),
    row("login authentication WORD", _block_line(2), no=True),
    row("access-class WORD", _block_line(1), no="access-class [WORD]"),
]
TREE_ROWS: list[Row] = [
    row("disable", _block_line(1), no=True),
    row("bridge-priority <0-61440>", _block_line(1), no="bridge-priority [LINE]"),
]

SYSTEM_ROWS: list[Row] = [
    row("hostname WORD:name", _hostname, no="hostname [WORD]"),
    row("strict-priority unicast <1-7>:queue", _strict, no="strict-priority unicast [<1-7>]"),
    row("qos-rate-adjust <1-144>", kept(1, 30), no="qos-rate-adjust [<1-144>]"),
    row("queue egress multicast {bandwidth-percentage <0-100>|linecard {<0-5>|all}"
        " [bandwidth-percent <0-100>|wred-profile WORD]}", kept(3, 31), no="queue egress multicast [LINE]"),
    row("queue backplane multicast bandwidth-percent <5-95>", kept(3, 31),
        no="queue backplane multicast [LINE]"),
    row("enable {password|secret} LINE", kept(2, 11), no="enable {password|secret} [LINE]"),
    row("username WORD {password|secret} LINE", kept(2, 12), no="username WORD [LINE]"),
    row("service {timestamps LINE|password-encryption}", kept(2, 10), no="service LINE"),
    row("boot system LINE", kept(2, 10), no="boot system LINE"),
    row("redundancy LINE", kept(2, 10), no="redundancy LINE"),
    row("linecard <0-5> provision WORD", kept(2, 13), no="linecard <0-5> [LINE]"),
    row("clock timezone LINE", kept(2, 14), no="clock timezone [LINE]"),
    row("ip {domain-name|name-server} LINE", kept(2, 15), no="ip {domain-name|name-server} [LINE]"),
    row("ip {ssh|telnet|ftp} LINE", kept(3, 16), no="ip {ssh|telnet|ftp} LINE"),
    row("ip route {PREFIX|IP IP|IP LENGTH} {IP|Null 0} [<1-255>]", kept(9, 17), no=True),
    row("snmp-server LINE", kept(3, 18), no="snmp-server [LINE]"),
    row("logging LINE", kept(2, 18), no="logging LINE"),
    row("ntp server IP [prefer]", kept(3, 18), no="ntp server IP"),
    row("banner {motd|login|exec} LINE", kept(2, 19), no="banner {motd|login|exec} [LINE]"),
    row(f"interface {NAMED}", _interface, no=True),
    row("router ospf <1-65535>", block("router"), no=True),
    row("line {vty <0-9> [<0-9>]|console 0|aux 0}", block("line"), no=True),
    row("protocol spanning-tree {rstp|0}", block("spanning-tree"), no=True),
]  # fmt: skip
