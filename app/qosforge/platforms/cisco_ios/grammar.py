"""Which configuration lines of IOS belong to QoS, what they refer to and how they are taken back."""

from __future__ import annotations

from qosforge.configtree import Grammar, LineRule

CLASS_DEFAULT = "class-default"
"""What the device calls the class of everything else."""

RULES = (
    LineRule("access-list", r"ip access-list extended (?P<name>QOSFORGE\S*)", defines="acl {name}", owned=True),
    LineRule("ace", r"(?:permit|deny) .+", context="access-list"),
    LineRule("ipv6-access-list", r"ipv6 access-list (?P<name>QOSFORGE\S*)", defines="acl {name}", owned=True),
    LineRule("ipv6-ace", r"(?:permit|deny) .+", context="ipv6-access-list"),
    # The numbers that CAR's lists are given (`access_lists` of the capability data).
    LineRule(
        "numbered-list",
        r"access-list (?P<number>1[5-9]\d) .+",
        defines="acl {number}",
        group="access-list {number}",
        reset="no access-list {number}",
    ),
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
    LineRule(
        "child",
        r"service-policy (?:output )?(?P<name>\S+)",
        context="class",
        key="child",
        refers=("policy-map {name}",),
        negate_before_change=True,
    ),
    LineRule(
        "priority",
        r"priority(?: level \d)?(?: (?:percent )?(?P<amount>\d+).*)?",
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
    # Entered anew, a policer forgets its actions: another rate is another policer. One outcome may have several
    # actions, each entered beside the others, and a new one does not replace them: those that go, go first.
    LineRule("police", r"police .+", context="class", negate="no police", remove_first=True),
    LineRule("action", r"(?:conform|exceed|violate)-action .+", context="police"),
    LineRule("shape", r"shape (?P<kind>average|peak) .+", context="class", key="shape", negate="no shape {kind}"),
    LineRule(
        "shape-option",
        r"shape (?P<what>adaptive|max-buffers) .+",
        context="class",
        key="{what}",
        negate="no shape {what}",
    ),
    LineRule(
        "compression",
        r"compression header ip.*",
        context="class",
        key="compression",
        negate="no compression header ip",
    ),
    LineRule(
        "map-class",
        r"map-class frame-relay (?P<name>QOSFORGE\S*)",
        defines="map-class {name}",
        owned=True,
        # The rate must not fall below what the policy that stands there reserves.
        remove_first=True,
    ),
    LineRule(
        "map-class-value",
        r"frame-relay (?P<what>cir|bc|be|mincir|fragment) .+",
        context="map-class",
        key="{what}",
        negate="no frame-relay {what}",
    ),
    LineRule(
        "map-class-policy",
        r"service-policy (?:(?:input|output) )?(?P<name>\S+)",
        context="map-class",
        key="policy",
        refers=("policy-map {name}",),
        negate_before_change=True,
        attaches="output",
    ),
    LineRule(
        "interface",
        r"interface (?P<name>\S.*?)(?: (?:point-to-point|multipoint))?",
        key="{name}",
        negate="no interface {name}",
        owned=True,
        standing=True,
    ),
    LineRule("traffic-shaping", r"frame-relay traffic-shaping", context="interface", standing=True, partial=True),
    LineRule(
        "dlci",
        r"frame-relay interface-dlci (?P<dlci>\d+).*",
        context="interface",
        key="{dlci}",
        owned=True,
        standing=True,
    ),
    LineRule(
        "dlci-class",
        r"class (?P<name>\S+)",
        context="dlci",
        key="class",
        refers=("map-class {name}",),
        attaches="output",
    ),
    LineRule(
        "pvc",
        r"pvc (?:\S+ )?(?P<circuit>(?:\d+/)?\d+)",
        context="interface",
        key="{circuit}",
        owned=True,
        standing=True,
    ),
    LineRule("contract", r"(?:vbr-n?rt|cbr|ubr\+?|abr)(?: .+)?", context="pvc", key="contract", standing=True),
    LineRule("pvc-ring", r"tx-ring-limit \d+", context="pvc", key="ring", negate="no tx-ring-limit"),
    LineRule(
        "pvc-policy",
        r"service-policy (?P<direction>input|output) (?P<name>\S+)",
        context="pvc",
        key="{direction}",
        refers=("policy-map {name}",),
        negate_before_change=True,
        attaches="{direction}",
    ),
    LineRule(
        "rate-limit-list",
        r"rate-limit (?:input|output) access-group (?P<number>\d+) .+",
        context="interface",
        refers=("acl {number}",),
        listed=True,
    ),
    LineRule("rate-limit", r"rate-limit .+", context="interface", listed=True),
    LineRule("ring", r"tx-ring-limit \d+", context="interface", key="ring", negate="no tx-ring-limit"),
    LineRule(
        "service-policy",
        r"service-policy (?P<direction>input|output) (?P<name>\S+)",
        context="interface",
        key="{direction}",
        refers=("policy-map {name}",),
        negate_before_change=True,
        attaches="{direction}",
    ),
    LineRule("crtp", r"ip rtp header-compression.*", context="interface", key="crtp"),
    LineRule("frame-relay-crtp", r"frame-relay ip rtp header-compression.*", context="interface", key="crtp"),
    LineRule(
        "fragment",
        r"ppp multilink fragment[- ]delay \d+",
        context="interface",
        key="fragment",
    ),
    LineRule("interleave", r"ppp multilink (?:interleave|multiclass)", context="interface"),
    LineRule("ip-mtu", r"ip mtu \d+", context="interface", key="ip-mtu", negate="no ip mtu"),
)

GRAMMAR = Grammar(rules=RULES)
