"""Which configuration lines of IOS belong to QoS, what they refer to and how they are taken back."""

from __future__ import annotations

from app.configtree import Grammar, LineRule

CLASS_DEFAULT = "class-default"
"""What the box calls the class of everything else."""

RULES = (
    LineRule("access-list", r"ip access-list extended (?P<name>QOSFORGE\S*)", defines="acl {name}", owned=True),
    LineRule("ace", r"(?:permit|deny) .+", context="access-list"),
    LineRule(
        "class-map",
        r"class-map (?:match-(?:all|any) )?(?P<name>\S+)",
        key="{name}",
        defines="class-map {name}",
        negate="no class-map {name}",
        owned=True,
        ordered=True,
    ),
    LineRule(
        "match-acl", r"match (?:not )?access-group name (?P<name>\S+)", context="class-map", refers=("acl {name}",)
    ),
    LineRule("match", r"match .+", context="class-map"),
    LineRule(
        "policy-map",
        r"policy-map (?P<name>\S+)",
        defines="policy-map {name}",
        owned=True,
        ordered=True,
        remove_first=True,
    ),
    LineRule("class", r"class class-default", context="policy-map", implied=True, owned=True, remove_first=True),
    LineRule(
        "class",
        r"class (?P<name>\S+)",
        context="policy-map",
        refers=("class-map {name}",),
        owned=True,
        remove_first=True,
    ),
    LineRule("child", r"service-policy (?P<name>\S+)", context="class", key="child", refers=("policy-map {name}",)),
    LineRule(
        "priority",
        r"priority(?: (?:percent )?(?P<amount>\d+).*)?",
        context="class",
        key="priority",
        negate="no priority",
        booked="{amount}",
    ),
    LineRule(
        "bandwidth",
        r"bandwidth (?P<unit>(?:remaining )?(?:percent |ratio )?)(?P<amount>\d+)",
        context="class",
        key="bandwidth",
        negate="no bandwidth",
        booked="{amount}",
        unit="in {unit}",
    ),
    LineRule("queue-limit", r"queue-limit .+", context="class", key="queue-limit", negate="no queue-limit"),
    LineRule("fair-queue", r"fair-queue(?: .+)?", context="class", key="fair-queue", negate="no fair-queue"),
    LineRule(
        "red", r"random-detect(?: (?:dscp|prec)-based)?", context="class", key="red", negate="no random-detect"
    ),
    LineRule(
        "red-row",
        r"random-detect (?P<what>(?:dscp|precedence) \S+) .+",
        context="class",
        key="{what}",
        negate="no random-detect {what}",
    ),
    LineRule("red-option", r"random-detect (?P<what>\S+) ?.*", context="class", key="{what}"),
    LineRule("set", r"set (?:ip )?(?P<field>\S+) .+", context="class", key="{field}"),
    # Entered anew, a policer forgets its actions: another rate is another policer.
    LineRule("police", r"police .+", context="class", negate="no police"),
    LineRule("action", r"(?P<kind>conform|exceed|violate)-action .+", context="police", key="{kind}"),
    LineRule("shape", r"shape .+", context="class", key="shape", negate="no shape average"),
    LineRule("interface", r"interface (?P<name>\S.*)", owned=True),
    LineRule(
        "service-policy",
        r"service-policy (?P<direction>input|output) (?P<name>\S+)",
        context="interface",
        key="{direction}",
        refers=("policy-map {name}",),
        negate_before_change=True,
    ),
    LineRule("crtp", r"ip rtp header-compression.*", context="interface", key="crtp"),
    LineRule(
        "fragment",
        r"ppp multilink fragment[- ]delay \d+",
        context="interface",
        key="fragment",
    ),
    LineRule("interleave", r"ppp multilink interleave", context="interface"),
    LineRule("ip-mtu", r"ip mtu \d+", context="interface", key="ip-mtu", negate="no ip mtu"),
)

GRAMMAR = Grammar(rules=RULES)
