"""FTOS commands that are not policy-based QoS: names, users, routing, box-wide queues.

Lines the box only keeps and shows are rows of a table: pattern, how many leading words make the
line unique, and where it stands in the listing.
"""

from __future__ import annotations

from qoslab.boxes.force10_e300.names import NAMED
from qoslab.boxes.force10_e300.qos import chassis, existing, item, since
from qoslab.boxes.force10_e300.state import Block
from qoslab.config import Section
from qoslab.grammar import Match
from qoslab.shell import Row, Run, Shell
from qoslab.typed import Held, row


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


BACKPLANE_MULTICAST = "queue backplane multicast bandwidth-percent"
BACKPLANE_DEFAULT = 20
"""Percent of the backplane that multicast gets unless told.  FTOS prints the keyword without its end."""


def _backplane(shell: Shell, match: Match) -> None:
    since(shell, match, "backplane", 7, 7, 1)
    lines, percent = chassis(shell).plain, match.number("percent", BACKPLANE_DEFAULT)
    lines.remove(BACKPLANE_MULTICAST)
    if percent != BACKPLANE_DEFAULT:
        lines.put(Section(f"{BACKPLANE_MULTICAST} {percent}", key=BACKPLANE_MULTICAST, rank=31))


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


def block_line(words: int) -> Run:
    """A line that a block keeps under its first ``words`` words."""

    def run(shell: Shell, match: Match) -> None:
        lines = item(shell, Block).body
        key = " ".join(match.words[:words])
        if match.negated:
            lines.pop(key, None)
        else:
            lines[key] = match.text

    return run


ROUTER_ROWS: list[Row] = [
    row("neighbor IP LINE", block_line(3), no="neighbor IP LINE"),
    row("area-password LINE", block_line(1), no="area-password [LINE]"),
    row("router-id IP", block_line(1), no="router-id [IP]"),
    row("network PREFIX area {<0-65535>|IP}", block_line(2), no=True),
    row(f"passive-interface {{default|{NAMED}}}", block_line(3), no=True),
    row("redistribute {connected|static}", block_line(2), no=True),
    row("auto-cost [reference-bandwidth <1-4294967>]", block_line(1), no=True),
]
LINE_ROWS: list[Row] = [
    row("exec-timeout <0-35791> [<0-2147483>]", block_line(1), no="exec-timeout [LINE]"),
    row("password LINE", block_line(1), no="password [LINE]"),
    row("login authentication WORD", block_line(2), no=True),
    row("access-class WORD", block_line(1), no="access-class [WORD]"),
]
TREE_ROWS: list[Row] = [
    row("disable", block_line(1), no=True),
    row("bridge-priority <0-61440>", block_line(1), no="bridge-priority [LINE]"),
]

SYSTEM_ROWS: list[Row] = [
    row("hostname WORD:name", _hostname, no="hostname [WORD]"),
    row("strict-priority unicast <1-7>:queue", _strict, no="strict-priority unicast [<1-7>]"),
    row("qos-rate-adjust <1-144>", kept(1, 30), no="qos-rate-adjust [<1-144>]"),
    row("queue egress multicast bandwidth-percentage <0-100>", kept(3, 31),
        no="queue egress multicast bandwidth-percentage [<0-100>]"),
    row("queue backplane multicast bandwidth-percentage <5-95>:percent", _backplane,
        no="queue backplane multicast bandwidth-percentage [<5-95>]"),
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
    row("ntp authentication-key <1-4294967295> LINE", kept(3, 18), no="ntp authentication-key <1-4294967295>"),
    row("tacacs-server LINE", kept(3, 18), no="tacacs-server LINE"),
    row("radius-server LINE", kept(2, 18), no="radius-server LINE"),
    row("banner {motd|login|exec} LINE", kept(2, 19), no="banner {motd|login|exec} [LINE]"),
    row("router {{ospf|bgp} <1-65535>|isis [WORD]}", block("router"), no=True),
    row("line {vty <0-9> [<0-9>]|console 0|aux 0}", block("line"), no=True),
    row("protocol spanning-tree {rstp|0}", block("spanning-tree"), no=True),
]  # fmt: skip
