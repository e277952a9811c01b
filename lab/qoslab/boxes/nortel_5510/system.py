"""ACLI commands of the 5510 outside QoS: the box keeps them and shows them in their section.

Every row says the section of the listing, the pattern, and how many leading words make it unique.
"""

from __future__ import annotations

from qoslab.boxes.nortel_5510.arguments import config
from qoslab.config import Section
from qoslab.grammar import Match
from qoslab.shell import Row, Run, Shell
from qoslab.typed import row

SECTIONS = ("CORE (Phase 1)", "SNMP", "SYSTEM LOGGING", "STACK", "VLAN", "STP", "IP", "L3", "INTERFACE")
"""Sections of the listing that these lines fall into, in its order; QOS comes after them."""

NO_AUTOSAVE = "no autosave enable"


def kept(section: str, words: int) -> Run:
    """A line that is stored in ``section`` under its first ``words`` words."""

    def run(shell: Shell, match: Match) -> None:
        lines = config(shell).plain.setdefault(section, Section(""))
        key = " ".join(match.words[:words])
        if match.negated:
            lines.remove(key)
        else:
            lines.put(Section(match.text, key=key))

    return run


def _autosave(shell: Shell, match: Match) -> None:
    lines = config(shell).plain.setdefault(SECTIONS[0], Section(""))
    if match.negated:
        lines.put(Section(NO_AUTOSAVE))
    else:
        lines.remove(NO_AUTOSAVE)


def _port_state(shell: Shell, match: Match) -> None:
    lines = config(shell).plain.setdefault("INTERFACE", Section(""))
    key = f"shutdown port {match['ports']}"
    if match.negated:
        lines.remove(key)
    else:
        lines.put(Section(key))


SYSTEM_ROWS: list[Row] = [
    row("autosave enable", _autosave, no=True),
    row("snmp-server {name|location|contact} LINE", kept("SNMP", 2), no="snmp-server {name|location|contact}"),
    row("snmp-server community LINE", kept("SNMP", 3), no="snmp-server community [LINE]"),
    row("snmp-server host LINE", kept("SNMP", 4), no="snmp-server host LINE"),
    row("snmp-server user LINE", kept("SNMP", 3), no="snmp-server user LINE"),
    row("radius-server {key|host} LINE", kept("CORE (Phase 1)", 2), no="radius-server {key|host} [LINE]"),
    row("tacacs server host LINE", kept("CORE (Phase 1)", 4), no="tacacs server host LINE"),
    row("cli password LINE", kept("CORE (Phase 1)", 3), no=None),
    row("username NAME NAME [NAME]", kept("CORE (Phase 1)", 2), no="username NAME"),
    row("clock LINE", kept("CORE (Phase 1)", 2), no=None),
    row("sntp {enable|server {primary|secondary} address IP}", kept("CORE (Phase 1)", 3), no=True),
    row("ssh [LINE]", kept("CORE (Phase 1)", 2), no=True),
    row("telnet-access LINE", kept("CORE (Phase 1)", 2), no=None),
    row("banner {static|custom|disabled}", kept("CORE (Phase 1)", 1), no="banner"),
    row("logging LINE", kept("SYSTEM LOGGING", 2), no="logging LINE"),
    row("vlan create <2-4094> [name NAME] type port", kept("VLAN", 3), no=None),
    row("vlan delete <2-4094>", kept("VLAN", 3), no=None),
    row("vlan name <1-4094> LINE", kept("VLAN", 3), no=None),
    row("vlan members [add|remove] <1-4094> PORTS", kept("VLAN", 4), no=None),
    row("vlan ports PORTS {tagging {tagAll|untagAll|tagPvidOnly|untagPvidOnly}|pvid <1-4094>"
        "|priority <0-7>|filter-untagged-frame {enable|disable}}", kept("VLAN", 4), no=None),
    row("vlan configcontrol {automatic|autopvid|flexible|strict}", kept("VLAN", 2), no=None),
    row("vlan mgmt <1-4094>", kept("VLAN", 2), no=None),
    row("vlan igmp <1-4094> LINE", kept("VLAN", 4), no=None),
    row("spanning-tree LINE", kept("STP", 4), no="spanning-tree LINE"),
    row("mlt <1-32> LINE", kept("STACK", 3), no="mlt <1-32>"),
    row("ip address {switch|stack|unit <1-8>} IP [netmask IP] [default-gateway IP]", kept("IP", 3), no=None),
    row("ip address IP netmask IP [default-gateway IP]", kept("IP", 2), no=None),
    row("ip default-gateway IP", kept("IP", 2), no="ip default-gateway [IP]"),
    row("ip {routing|bootp server LINE}", kept("L3", 2), no=True),
    row("ip route IP IP IP [<1-65535>]", kept("L3", 5), no=True),
]  # fmt: skip

INTERFACE_ROWS: list[Row] = [
    row("name [port PORTS] LINE", kept("INTERFACE", 3), no="name [port PORTS]"),
    row("shutdown port PORTS:ports", _port_state, no=True),
    row("speed port PORTS {10|100|1000|auto}", kept("INTERFACE", 3), no=None),
    row("duplex port PORTS {full|half|auto}", kept("INTERFACE", 3), no=None),
    row("auto-negotiation-advertisements port PORTS LINE", kept("INTERFACE", 3), no=None),
    row("spanning-tree port PORTS LINE", kept("INTERFACE", 3), no=None),
    row("flowcontrol port PORTS {asymmetric|auto|disable|symmetric}", kept("INTERFACE", 3), no=None),
]
