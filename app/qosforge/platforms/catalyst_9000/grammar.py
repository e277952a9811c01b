"""Which configuration lines of a Catalyst 9000 belong to QoS, what they refer to and how they are taken back."""

from __future__ import annotations

from qosforge.configtree import Grammar, LineRule
from qosforge.platforms.catalyst_9000.names import ACL_PREFIX, OWN

_NAME = rf"(?P<name>(?!{OWN})\S+)"
"""The name of a class or policy that is not the device's own."""


def _in_class(rule: str, pattern: str, negate: str, *, booked: str = "", unit: str = "") -> LineRule:
    return LineRule(rule, pattern, context="class", key=rule, negate=negate, booked=booked, unit=unit)


GRAMMAR = Grammar(
    rules=(
        LineRule(
            "access-list",
            rf"ip access-list extended (?P<name>{ACL_PREFIX}\S*)",
            defines="acl {name}",
            owned=True,
            ordered=True,
        ),
        LineRule("ace", r"(?:permit|deny) .+", context="access-list"),
        LineRule(
            "class-map",
            rf"class-map (?:match-(?:all|any) )?{_NAME}",
            key="{name}",
            defines="class-map {name}",
            negate="no class-map {name}",
            owned=True,
            ordered=True,
        ),
        LineRule(
            "match-acl", r"match access-group name (?P<name>\S+)", context="class-map", refers=("acl {name}",)
        ),
        LineRule("match", r"match .+", context="class-map"),
        LineRule(
            "policy-map",
            rf"policy-map {_NAME}",
            defines="policy-map {name}",
            owned=True,
            ordered=True,
            remove_first=True,
        ),
        LineRule(
            "class", r"class class-default", context="policy-map", implied=True, owned=True, remove_first=True
        ),
        LineRule(
            "class",
            r"class (?P<name>\S+)",
            context="policy-map",
            refers=("class-map {name}",),
            owned=True,
            remove_first=True,
        ),
        # One class has a level: it is given up before another one takes it.
        _in_class("priority", r"priority(?: level (?P<level>\d))?.*", "no priority", unit="level {level}"),
        _in_class(
            "bandwidth",
            r"bandwidth (?P<unit>(?:remaining )?(?:percent |ratio )?)(?P<amount>\d+)",
            "no bandwidth",
            booked="{amount}",
            unit="in {unit}",
        ),
        _in_class("queue-buffers", r"queue-buffers ratio \d+", "no queue-buffers"),
        _in_class("shape", r"shape average .+", "no shape average"),
        LineRule("queue-limit", r"queue-limit .+", context="class"),
        _in_class("red", r"random-detect dscp-based", "no random-detect dscp-based"),
        LineRule("red-row", r"random-detect .+", context="class"),
        LineRule("set", r"set (?P<field>\S+) .+", context="class", key="{field}"),
        # Entered anew, a policer forgets its actions: another rate is another policer.
        LineRule("police", r"police .+", context="class", negate="no police", remove_first=True),
        LineRule("action", r"(?:conform|exceed|violate)-action .+", context="police"),
        # The device prints it one blank further in than the shape before it.
        *(
            LineRule(
                "child",
                r"service-policy (?P<name>\S+)",
                context=above,
                key="child",
                refers=("policy-map {name}",),
                negate_before_change=True,
            )
            for above in ("shape", "class")
        ),
        LineRule("interface", r"interface (?P<name>\S+)", key="{name}", owned=True, standing=True),
        LineRule(
            "service-policy",
            r"service-policy (?P<direction>input|output) (?P<name>\S+)",
            context="interface",
            key="{direction}",
            refers=("policy-map {name}",),
            negate_before_change=True,
            attaches="{direction}",
        ),
    )
)
"""The rules; what the device itself has to protect its processor is none of ours."""
