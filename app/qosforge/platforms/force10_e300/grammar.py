"""Which configuration lines of FTOS belong to QoS, what they refer to and how they are taken back."""

from __future__ import annotations

from qosforge.configtree import Grammar, LineRule

_ANY_CLASS = r"class-map (?:match-(?:all|any) )?(?P<name>\S+)(?: layer2)?"

RULES = (
    LineRule(
        "acl",
        r"(?P<kind>ip|mac) access-list extended (?P<name>QOSFORGE\S*)",
        defines="{kind} acl {name}",
        owned=True,
        # The device takes no rule twice, whatever its number.
        remove_first=True,
    ),
    LineRule(
        "ace",
        r"seq (?P<seq>\d+) .+",
        context="acl",
        key="{seq}",
        negate="no seq {seq}",
        negate_before_change=True,
    ),
    LineRule("ace", r"(?:permit|deny) .+", context="acl"),
    LineRule(
        "class-map",
        _ANY_CLASS,
        key="{name}",
        defines="class-map {name}",
        negate="no class-map {name}",
        owned=True,
        ordered=True,
    ),
    LineRule(
        "match-acl",
        r"match (?P<kind>ip|mac) access-group (?P<name>\S+).*",
        context="class-map",
        refers=("{kind} acl {name}",),
    ),
    LineRule("match", r"match .+", context="class-map"),
    LineRule(
        "input-policy", r"qos-policy-input (?P<name>\S+)(?: layer2)?", defines="input-policy {name}", owned=True
    ),
    LineRule("set", r"set (?P<field>\S+) \d+", context="input-policy", key="{field}", negate="no set {field}"),
    LineRule("rate-police", r"rate-police .+", context="input-policy", key="", negate="no rate-police"),
    LineRule("wred-profile", r"wred-profile (?P<name>\S+)", defines="wred {name}"),
    LineRule("threshold", r"threshold .+", context="wred-profile", key="", negate="no threshold"),
    LineRule("output-policy", r"qos-policy-output (?P<name>\S+)", defines="output-policy {name}", owned=True),
    LineRule(
        "percentage",
        r"bandwidth-percentage \d+",
        context="output-policy",
        key="",
        negate="no bandwidth-percentage",
    ),
    LineRule(
        "wred",
        r"wred (?P<colour>green|yellow) (?P<name>\S+)",
        context="output-policy",
        key="{colour}",
        refers=("wred {name}",),
        negate="no wred {colour}",
    ),
    LineRule(
        "rate", r"(?P<kind>rate-(?:limit|shape)) .+", context="output-policy", key="{kind}", negate="no {kind}"
    ),
    LineRule(
        "input-map",
        r"policy-map-input (?P<name>\S+)(?: layer2)?",
        defines="input-map {name}",
        owned=True,
    ),
    LineRule(
        "service",
        r"service-queue (?P<queue>\d) class-map (?P<name>\S+) qos-policy (?P<policy>\S+)",
        context="input-map",
        key="{queue}",
        refers=("class-map {name}", "input-policy {policy}"),
        negate="no service-queue {queue}",
    ),
    LineRule(
        "service",
        r"service-queue (?P<queue>\d) class-map (?P<name>\S+)",
        context="input-map",
        key="{queue}",
        refers=("class-map {name}",),
        negate="no service-queue {queue}",
    ),
    LineRule(
        "service",
        r"service-queue (?P<queue>\d) qos-policy (?P<policy>\S+)",
        context="input-map",
        key="{queue}",
        refers=("input-policy {policy}",),
        negate="no service-queue {queue}",
    ),
    LineRule("trust", r"trust (?P<what>\S+)(?: fallback)?", context="input-map", key="", negate="no trust {what}"),
    LineRule(
        "aggregate",
        r"policy-aggregate (?P<policy>\S+)",
        context="input-map",
        key="",
        refers=("input-policy {policy}",),
        negate="no policy-aggregate",
    ),
    LineRule("output-map", r"policy-map-output (?P<name>\S+)", defines="output-map {name}", owned=True),
    LineRule(
        "service-out",
        r"service-queue (?P<queue>\d) qos-policy (?P<policy>\S+)",
        context="output-map",
        key="{queue}",
        refers=("output-policy {policy}",),
        negate="no service-queue {queue}",
    ),
    LineRule(
        "aggregate-out",
        r"policy-aggregate (?P<policy>\S+)",
        context="output-map",
        key="",
        refers=("output-policy {policy}",),
        negate="no policy-aggregate",
    ),
    LineRule("strict", r"strict-priority unicast \d", key="", negate="no strict-priority unicast"),
    LineRule("interface", r"interface (?P<name>\S.*)"),
    LineRule(
        "service-policy",
        r"service-policy (?P<direction>input|output) (?P<name>\S+)(?: layer2)?",
        context="interface",
        key="{direction}",
        refers=("{direction}-map {name}",),
        attaches="{direction}",
    ),
)

GRAMMAR = Grammar(rules=RULES)
