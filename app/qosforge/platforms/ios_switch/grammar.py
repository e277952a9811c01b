"""Configuration lines that the Catalyst switches share: ACLs, class-maps, policies, trust, CoS and DSCP maps."""

from __future__ import annotations

from qosforge.configtree import LineRule

CLASSIFIERS = (
    LineRule(
        "access-list",
        r"ip access-list extended (?P<name>QOSFORGE\S*)",
        defines="acl {name}",
        owned=True,
        ordered=True,
    ),
    LineRule("ace", r"(?:permit|deny) .+", context="access-list"),
    LineRule(
        "mac-list",
        r"mac access-list extended (?P<name>QOSFORGE\S*)",
        defines="acl {name}",
        owned=True,
        ordered=True,
    ),
    LineRule("mac-ace", r"(?:permit|deny) .+", context="mac-list"),
    LineRule(
        "class-map",
        r"class-map (?:match-(?:all|any) )?(?P<name>\S+)",
        key="{name}",
        defines="class-map {name}",
        negate="no class-map {name}",
        owned=True,
        # One match a class-map: the old one goes before the new one comes.
        remove_first=True,
    ),
    LineRule("match-acl", r"match access-group name (?P<name>\S+)", context="class-map", refers=("acl {name}",)),
    LineRule("match", r"match .+", context="class-map"),
    LineRule("policy-map", r"policy-map (?P<name>\S+)", defines="policy-map {name}", owned=True, ordered=True),
    LineRule("class", r"class (?P<name>\S+)", context="policy-map", refers=("class-map {name}",), owned=True),
    LineRule("set", r"set (?:ip )?(?P<field>\S+) .+", context="class", key="{field}"),
    LineRule("police", r"police .+", context="class", key="police", negate_before_change=True),
    LineRule("class-trust", r"trust\b.*", context="class", key="trust", negate="no trust"),
)
"""Rules of ACLs, class-maps and policies."""

MAPS = (
    LineRule("cos-dscp", r"(?:no )?mls qos map cos-dscp.*", key="cos-dscp", negate="no mls qos map cos-dscp"),
    LineRule("dscp-cos", r"(?:no )?mls qos map dscp-cos.*", group="dscp-cos", reset="no mls qos map dscp-cos"),
)
"""Rules of the maps between CoS and DSCP; a ``no`` line stands for the map as delivered."""

INTERFACE = LineRule("interface", r"interface (?P<name>\S.*)", remove_first=True)
"""A port has a policy or a trust, and attaching a policy takes the trust away: the old one goes first."""

TRUST = (
    LineRule(
        "trust-device",
        r"(?:no )?mls qos trust device.*",
        context="interface",
        key="trust-device",
        negate="no mls qos trust device",
    ),
    LineRule(
        "trust",
        r"(?:no )?mls qos trust(?: (?:cos|dscp|ip-precedence)(?: pass-through dscp)?)?",
        context="interface",
        key="trust",
        negate="no mls qos trust",
    ),
    LineRule(
        "cos-override",
        r"(?:no )?mls qos cos override",
        context="interface",
        key="cos-override",
        negate="no mls qos cos override",
    ),
)
"""Rules of what a port trusts: a mark, only while it sees a phone, or nothing but its own CoS."""


def attached(*needs: str) -> LineRule:
    """The rule of a policy on a port; ``needs`` is what else must be there before it."""
    return LineRule(
        "service-policy",
        r"service-policy input (?P<name>\S+)",
        context="interface",
        key="input",
        refers=("policy-map {name}", *needs),
        negate_before_change=True,
        attaches="input",
    )
