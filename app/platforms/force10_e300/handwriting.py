"""The commands of FTOS in full, for what people abbreviate."""

from __future__ import annotations

from app.platforms.handwriting import Dialect

DIALECT = Dialect(
    commands={
        "": (
            "interface ...",
            "ip access-list extended *",
            "class-map match-any *",
            "class-map match-all *",
            "qos-policy-input *",
            "qos-policy-output *",
            "policy-map-input *",
            "policy-map-output *",
            "wred-profile *",
            "strict-priority unicast *",
        ),
        "class-map": (
            "match ip access-group ...",
            "match ip dscp ...",
            "match ip precedence ...",
            "description ...",
        ),
        "policy": (
            "set ip-dscp *",
            "rate-police ...",
            "rate-shape ...",
            "rate-limit ...",
            "rate shape ...",
            "rate police ...",
            "bandwidth-percentage *",
            "wred green *",
            "wred yellow *",
        ),
        "map": (
            "service-queue * class-map *",
            "service-queue * class-map * qos-policy *",
            "service-queue * qos-policy *",
            "trust diffserv ...",
            "trust dot1p ...",
            "policy-aggregate *",
        ),
        "wred": ("threshold min * max *",),
        "interface": (
            "service-policy input *",
            "service-policy output *",
            "dot1p-priority *",
            "rate police ...",
            "rate limit ...",
            "rate shape ...",
            "service-class dynamic dot1p",
            "description ...",
            "switchport",
            "shutdown",
        ),
        "access-list": ("permit ...", "deny ...", "seq ...", "remark ..."),
    },
    opens={
        ("", "interface"): "interface",
        ("", "class-map"): "class-map",
        ("", "qos-policy-input"): "policy",
        ("", "qos-policy-output"): "policy",
        ("", "policy-map-input"): "map",
        ("", "policy-map-output"): "map",
        ("", "wred-profile"): "wred",
        ("", "ip"): "access-list",
    },
    families=("GigabitEthernet", "TenGigabitEthernet", "Port-channel", "Vlan", "ManagementEthernet", "Loopback"),
    spaced=True,
)
