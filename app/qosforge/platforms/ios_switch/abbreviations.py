"""The commands of the Catalysts in full, for what people abbreviate."""

from __future__ import annotations

from qosforge.platforms.abbreviations import CommandSyntax

FAMILIES = ("FastEthernet", "GigabitEthernet", "TenGigabitEthernet", "Ethernet", "Port-channel", "Vlan")

SYNTAX = CommandSyntax(
    commands={
        "": (
            "interface ...",
            "class-map *",
            "class-map match-all *",
            "class-map match-any *",
            "policy-map *",
            "ip access-list extended *",
            "mac access-list extended *",
            "mls qos",
            "mls qos map cos-dscp ...",
            "mls qos map dscp-cos ...",
            "mls qos map policed-dscp ...",
            "mls qos aggregate-policer ...",
            "mls qos srr-queue ...",
            "mls qos queue-set ...",
            "wrr-queue bandwidth ...",
            "wrr-queue cos-map ...",
        ),
        "class-map": (
            "match access-group ...",
            "match ip dscp ...",
            "match ip precedence ...",
            "description ...",
        ),
        "policy-map": ("class *", "description ..."),
        "class": ("set ip dscp *", "set dscp *", "set ip precedence *", "trust ...", "police ..."),
        "interface": (
            "mls qos trust",
            "mls qos trust cos",
            "mls qos trust dscp",
            "mls qos trust ip-precedence",
            "mls qos trust cos pass-through dscp",
            "mls qos trust device *",
            "mls qos cos override",
            "mls qos cos *",
            "service-policy input *",
            "service-policy output *",
            "priority-queue out",
            "srr-queue bandwidth share ...",
            "srr-queue bandwidth shape ...",
            "srr-queue bandwidth limit *",
            "queue-set *",
            "switchport ...",
            "description ...",
            "auto qos ...",
        ),
        "access-list": ("permit ...", "deny ...", "remark ..."),
    },
    opens={
        ("", "interface"): "interface",
        ("", "class-map"): "class-map",
        ("", "policy-map"): "policy-map",
        ("", "ip"): "access-list",
        ("", "mac"): "access-list",
        ("policy-map", "class"): "class",
    },
    families=FAMILIES,
)
