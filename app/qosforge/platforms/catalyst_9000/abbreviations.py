"""The commands of a Catalyst 9000 in full, for what people abbreviate."""

from __future__ import annotations

from qosforge.platforms.abbreviations import CommandSyntax

SYNTAX = CommandSyntax(
    commands={
        "": (
            "interface ...",
            "class-map *",
            "class-map match-all *",
            "class-map match-any *",
            "policy-map *",
            "ip access-list extended *",
            "ip access-list standard *",
            "table-map *",
            "control-plane",
        ),
        "class-map": (
            "match access-group ...",
            "match cos ...",
            "match dscp ...",
            "match precedence ...",
            "match protocol ...",
            "match qos-group *",
            "description ...",
        ),
        "policy-map": ("class *", "description ..."),
        "class": (
            "bandwidth *",
            "bandwidth percent *",
            "bandwidth remaining percent *",
            "bandwidth remaining ratio *",
            "priority level ...",
            "queue-buffers ratio *",
            "queue-limit dscp ...",
            "random-detect dscp-based",
            "random-detect dscp ...",
            "shape average ...",
            "police ...",
            "set cos *",
            "set dscp *",
            "set precedence *",
            "set qos-group *",
            "service-policy *",
        ),
        "interface": ("service-policy input *", "service-policy output *", "switchport ...", "description ..."),
        "access-list": ("permit ...", "deny ...", "remark ..."),
        "control-plane": ("service-policy input *", "service-policy output *"),
    },
    opens={
        ("", "interface"): "interface",
        ("", "class-map"): "class-map",
        ("", "policy-map"): "policy-map",
        ("", "ip"): "access-list",
        ("", "control-plane"): "control-plane",
        ("policy-map", "class"): "class",
    },
    families=(
        "FastEthernet", "GigabitEthernet", "TwoGigabitEthernet", "FiveGigabitEthernet", "TenGigabitEthernet",
        "TwentyFiveGigE", "FortyGigabitEthernet", "HundredGigE", "Port-channel", "Vlan", "Loopback",
    ),
)  # fmt: skip
