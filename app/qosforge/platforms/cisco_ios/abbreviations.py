"""The commands of IOS routers in full, for what people abbreviate, and QoS lines that stand where none are read."""

from __future__ import annotations

import re
from collections.abc import Iterator

from qosforge.configtree import Tree
from qosforge.plan.model import UnknownLine
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
            "ipv6 access-list *",
            "map-class frame-relay *",
            "access-list ...",
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
            "frame-relay ip rtp header-compression ...",
            "frame-relay traffic-shaping",
            "frame-relay interface-dlci ...",
            "frame-relay class *",
            "pvc ...",
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
        "pvc": (
            "vbr-nrt ...",
            "vbr-rt ...",
            "cbr *",
            "ubr ...",
            "encapsulation ...",
            "tx-ring-limit *",
            "service-policy input *",
            "service-policy output *",
        ),
        "dlci": ("class *",),
        "map-class": (
            "frame-relay cir ...",
            "frame-relay bc ...",
            "frame-relay be ...",
            "frame-relay mincir ...",
            "frame-relay fragment *",
            "frame-relay fair-queue ...",
            "frame-relay adaptive-shaping ...",
            "frame-relay ip rtp priority ...",
            "service-policy *",
            "service-policy input *",
            "service-policy output *",
        ),
    },
    opens={
        ("", "interface"): "interface",
        ("", "class-map"): "class-map",
        ("", "policy-map"): "policy-map",
        ("", "ip"): "access-list",
        ("", "ipv6"): "access-list",
        ("", "map-class"): "map-class",
        ("interface", "pvc"): "pvc",
        ("interface", "frame-relay"): "dlci",
        ("policy-map", "class"): "class",
    },
    families=(
        "FastEthernet", "GigabitEthernet", "TenGigabitEthernet", "Ethernet", "Serial", "Multilink", "ATM", "Dialer",
        "Loopback", "Tunnel", "Virtual-Template", "Vlan", "BVI", "Port-channel",
    ),
)  # fmt: skip

_READ_ELSEWHERE = re.compile(r"(?:interface|class-map|policy-map|map-class) .+")
_COMMENT = re.compile(r"\s*/\*.*?\*/")
_TEXT = re.compile(r"\s*(?:description|remark|banner|access-list \d+ remark)\b")
_PIECE = re.compile(r"\s+(?:conform|exceed)-action .+")
_ON_PVC = re.compile(r"(?:tx-ring-limit|service-policy|vbr-n?rt|cbr|ubr\+?|encapsulation aal5\w+)(?: .+)?")
_QOS = re.compile(
    r"(?:service-policy|fair-queue|random-detect|rate-limit|traffic-shape|priority-group|custom-queue-list|ip rtp|"
    r"tx-ring-limit|max-reserved-bandwidth|ppp multilink|class \S|police|shape|bandwidth|priority|"
    r"queue-(?:limit|list)|set (?:ip )?(?:dscp|precedence|cos)|frame-relay|map-class|match )\b.*"
)


def cleaned(text: str) -> str:
    """The text without comments of the kind ``/* ... */``, with broken ``rate-limit`` lines whole again, and with
    what follows a PVC in its own column below it. Lines keep their numbers."""
    result: list[str] = []
    head: int | None = None  # the last rate-limit line
    column: int | None = None  # that of a PVC with nothing below it yet
    for raw in text.splitlines():
        line = raw if _TEXT.match(raw) else _COMMENT.sub("", raw)
        indent, words = len(line) - len(line.lstrip()), line.strip()
        if head is not None and _PIECE.fullmatch(line):
            result[head] += " " + words
            result.append("")
            continue
        if words:
            head = len(result) if words.startswith("rate-limit ") else None
            if column is not None and not (indent == column and _ON_PVC.fullmatch(words)):
                column = None
            elif column is not None:
                line = " " + line
            if words.startswith("pvc ") and indent:
                column = indent
        result.append(line)
    return "\n".join(result) + "\n"


def astray(tree: Tree, context: str = "") -> Iterator[UnknownLine]:
    """QoS lines outside interfaces, class-maps and policy-maps: nothing of a plan can come of them."""
    for line in tree:
        if not context and _READ_ELSEWHERE.fullmatch(line.text):
            continue
        if _QOS.fullmatch(line.text):
            yield UnknownLine(line=line.number, text=line.text, context=context)
        if not line.text.startswith("route-map "):
            yield from astray(line.children, line.text)
