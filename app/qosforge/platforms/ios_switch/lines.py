"""Configuration lines that the Catalyst switches share: ACLs, class-maps, policies, trust, CoS and DSCP maps."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from qosforge.commands import ArgumentType, Change, Line
from qosforge.configtree import ConfigLine, Tree
from qosforge.platforms.mqc import lines as mqc

PORT = re.compile(r"interface (?:Fast|Gigabit|TenGigabit)?Ethernet\d\S*")
"""Heading of a physical port."""
ARGUMENTS = {
    **mqc.ARGUMENTS,
    "PORT": ArgumentType(PORT.pattern.removeprefix("interface "), str),
}
FAMILIES = ("FastEthernet", "GigabitEthernet", "TenGigabitEthernet", "Ethernet", "Port-channel", "Vlan")


def flatten_classes(tree: Tree) -> Tree:
    """The tree with the actions of every class side by side: switches print a policer further in than the mark."""
    return tuple(
        replace(line, children=tuple(map(_flattened, line.children)))
        if line.text.startswith("policy-map ")
        else line
        for line in tree
    )


def _flattened(class_: ConfigLine) -> ConfigLine:
    return replace(class_, children=tuple(_side_by_side(class_.children)))


def _side_by_side(lines: Tree) -> Iterator[ConfigLine]:
    for line in lines:
        yield replace(line, children=())
        yield from _side_by_side(line.children)


_POLICER = (
    "<1-1000000000000>:rate <1-1000000000000>:burst "
    "[exceed-action {drop:exceed|policed-dscp-transmit:exceed|dscp DSCP:exceed_dscp}]"
)


def setting(line: str, pattern: str, mode: str = "", *, no: str, key: str = "", **more: object) -> Line:
    """A setting that a bare ``no`` and ``no`` give back; behind ``no`` its values may be said as well."""
    change = Change(key=key or line, negate=f"no {no}", **more)  # type: ignore[arg-type]
    return Line(line, pattern, mode, change=change, also=(f"{no} REST",), no=f"{no} [REST]")


def table(line: str, command: str, pattern: str) -> Line:
    """A map in lines, which only ``no`` and the bare command resets as a whole."""
    change = Change(group=line, reset=f"no {command}")
    return Line(line, f"{command} {pattern}", change=change, also=(f"{command} REST",), no=f"{command} [REST]")


_MAC_END = "{{any|host MAC:{0}}}"

CLASSIFIERS = (
    *mqc.access_lists(),
    Line(
        "mac list",
        "mac access-list extended WORD:name",
        opens="mac list",
        change=Change(
            defines="acl {name}", matches=True, owned=True, ordered=True, only={"name": rf"{mqc.ACL_PREFIX}\S*"}
        ),
    ),
    Line("remark", "remark REST", "mac list"),
    Line(
        "ace",
        f"permit {_MAC_END.format('source_mac')} {_MAC_END.format('destination_mac')}",
        "mac list",
        change=Change(),
        also=("{permit|deny} REST",),
    ),
    Line(
        "class-map",
        "class-map [match-any|match-all]:mode WORD:name",
        opens="class-map",
        change=Change(
            key="{name}",
            defines="class-map {name}",
            matches=True,
            negate="no class-map {name}",
            owned=True,
            # One match a class-map: the old one goes before the new one comes.
            remove_first=True,
        ),
    ),
    Line("match-acl", "match access-group name WORD:name", "class-map", change=Change(refers=("acl {name}",))),
    Line("match-acl", "match access-group WORD:name", "class-map", change=Change()),
    Line("match-mark", "match [ip] dscp DSCP:dscp*8", "class-map", change=Change()),
    Line(
        "match-mark", "match ip precedence <0-7>:precedence*8", "class-map", change=Change(), also=("match REST",)
    ),
    Line("text", "description REST", "class-map"),
    Line(
        "policy-map",
        "policy-map WORD:name",
        opens="policy-map",
        change=Change(defines="policy-map {name}", owned=True, ordered=True),
    ),
    Line("text", "description REST", "policy-map"),
    Line(
        "class",
        "class WORD:name",
        "policy-map",
        opens="class",
        change=Change(refers=("class-map {name}",), owned=True),
        also=("class WORD:name REST",),
    ),
    Line(
        "set",
        "set [ip] {dscp:field DSCP:set_dscp|precedence:field <0-7>:set_precedence}",
        "class",
        change=Change(key="{field}"),
        also=("set [ip] WORD:field REST",),
    ),
    Line(
        "police",
        f"police {{aggregate WORD:aggregate|{_POLICER}}}",
        "class",
        change=Change(key="police", negate_before_change=True),
        also=("police REST",),
    ),
    Line("trust", "trust [dscp]", "class", change=Change(key="trust", negate="no trust"), also=("trust REST",)),
    Line("aggregate", f"mls qos aggregate-policer WORD:name {_POLICER}", also=("mls qos aggregate-policer REST",)),
)
"""Rows of ACLs, class-maps and policies."""

MAPS = (
    setting("cos-dscp", "mls qos map cos-dscp DSCP:dscp*=8", no="mls qos map cos-dscp"),
    table("dscp-cos", "mls qos map dscp-cos", "DSCP:dscp*64 to <0-7>:cos"),
)
"""Rows of the maps between CoS and DSCP; a ``no`` line stands for the map as delivered."""


def ports(*needs: str) -> tuple[Line, ...]:
    """Rows of what a port trusts and of its policy; ``needs`` is what else must be there before a policy."""
    # A port has a policy or a trust, and attaching a policy takes the trust away: the old one goes first.
    heading = Change(remove_first=True)
    return (
        Line("port", "interface PORT:name", opens="interface", change=heading),
        Line("other-interface", "interface REST:name", opens="interface", change=heading),
        setting("trust-device", "mls qos trust device cisco-phone", "interface", no="mls qos trust device"),
        Line(
            "trust",
            "mls qos trust [cos|dscp]:mark [pass-through dscp]:pass_through",
            "interface",
            change=Change(key="trust", negate="no mls qos trust"),
            also=("mls qos trust ip-precedence [pass-through dscp]",),
            no="mls qos trust [cos|dscp|ip-precedence]",
        ),
        setting("cos-override", "mls qos cos override", "interface", no="mls qos cos override"),
        Line("port-cos", "mls qos cos <0-7>:cos", "interface", no="mls qos cos [<0-7>]"),
        Line(
            "service-policy",
            "service-policy input WORD:name",
            "interface",
            change=Change(
                key="input", refers=("policy-map {name}", *needs), negate_before_change=True, attaches="input"
            ),
        ),
        Line("service-policy", "", "interface", also=("service-policy output WORD:name",)),
        # Ports are of more kinds than `voip` in public configurations of 2960-X and 3560-CX switches.
        Line("auto-qos", "auto qos {voip|trust|video|classify} [REST]", "interface", also=("auto qos REST",)),
        Line("flow-control", "flowcontrol {receive|send}:side {on|off|desired}:state", "interface"),
        Line("text", "{description|shutdown} [REST]", "interface"),
        Line(
            "text",
            "switchport [{access|block|mode|nonegotiate|port-security|protected|trunk|voice} [REST]]",
            "interface",
        ),
    )
