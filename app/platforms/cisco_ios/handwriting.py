"""The commands of IOS routers in full, for what people abbreviate, and QoS lines that stand where none are read."""

from __future__ import annotations

import re
from collections.abc import Iterator

from app.configtree import Tree
from app.plan.model import UnknownLine
from app.platforms.handwriting import Dialect

DIALECT = Dialect(
    commands={
        "": (
            "interface ...",
            "class-map *",
            "class-map match-all *",
            "class-map match-any *",
            "policy-map *",
            "ip access-list extended *",
        ),
        "class-map": (
            "match any",
            "match access-group ...",
            "match cos ...",
            "match dscp ...",
            "match ip dscp ...",
            "match ip precedence ...",
            "match ip rtp ...",
            "match precedence ...",
            "match protocol ...",
            "match input-interface ...",
            "match not ...",
            "match class-map *",
            "match qos-group *",
            "description ...",
        ),
        "policy-map": ("class *", "description ..."),
        "class": (
            "bandwidth *",
            "bandwidth percent *",
            "bandwidth remaining percent *",
            "bandwidth remaining ratio *",
            "priority ...",
            "priority percent ...",
            "queue-limit ...",
            "fair-queue ...",
            "random-detect ...",
            "shape average ...",
            "shape peak ...",
            "police ...",
            "set cos *",
            "set dscp *",
            "set precedence *",
            "set ip dscp *",
            "set ip precedence *",
            "service-policy *",
        ),
        "interface": (
            "bandwidth *",
            "service-policy input *",
            "service-policy output *",
            "fair-queue ...",
            "random-detect ...",
            "rate-limit input ...",
            "rate-limit output ...",
            "traffic-shape ...",
            "priority-group ...",
            "custom-queue-list ...",
            "ip rtp header-compression ...",
            "ip rtp priority ...",
            "ip mtu *",
            "tx-ring-limit ...",
            "max-reserved-bandwidth *",
            "ppp multilink",
            "ppp multilink group *",
            "ppp multilink interleave",
            "ppp multilink multiclass",
            "ppp multilink fragment delay *",
            "ppp multilink fragment-delay *",
            "encapsulation ...",
            "description ...",
        ),
        "access-list": ("permit ...", "deny ...", "remark ..."),
    },
    opens={
        ("", "interface"): "interface",
        ("", "class-map"): "class-map",
        ("", "policy-map"): "policy-map",
        ("", "ip"): "access-list",
        ("policy-map", "class"): "class",
    },
    families=(
        "FastEthernet", "GigabitEthernet", "TenGigabitEthernet", "Ethernet", "Serial", "Multilink", "ATM", "Dialer",
        "Loopback", "Tunnel", "Virtual-Template", "Vlan", "BVI", "Port-channel",
    ),
)  # fmt: skip

_READ_ELSEWHERE = re.compile(r"(?:interface|class-map|policy-map) .+")
_QOS = re.compile(
    r"(?:service-policy|fair-queue|random-detect|rate-limit|traffic-shape|priority-group|custom-queue-list|ip rtp|"
    r"tx-ring-limit|max-reserved-bandwidth|ppp multilink|class \S|police|shape|bandwidth|priority|"
    r"queue-(?:limit|list)|set (?:ip )?(?:dscp|precedence|cos)|frame-relay|map-class|match )\b.*"
)


def astray(tree: Tree, context: str = "") -> Iterator[UnknownLine]:
    """QoS lines outside interfaces, class-maps and policy-maps: nothing of a plan can come of them."""
    for line in tree:
        if not context and _READ_ELSEWHERE.fullmatch(line.text):
            continue
        if _QOS.fullmatch(line.text):
            yield UnknownLine(line=line.number, text=line.text, context=context)
        if not line.text.startswith("route-map "):
            yield from astray(line.children, line.text)
