"""The QoS lines of IOS routers: those of the MQC, and those of interfaces, CAR and virtual circuits."""

from __future__ import annotations

import re
from collections.abc import Iterator

from qosforge.commands import ELSEWHERE, ArgumentType, Change, CommandTable, Line
from qosforge.intent.scope import OWN_PREFIX
from qosforge.platforms.capability_data import Bounds, Range
from qosforge.platforms.cisco_ios.capabilities import CAPABILITIES, since
from qosforge.platforms.mqc import lines as mqc
from qosforge.platforms.mqc.queue_lines import packet_queues
from qosforge.platforms.mqc.tables import table_maps

_QOS = (
    r"(?:service-policy|fair-queue|random-detect|rate-limit|traffic-shape|priority-group|custom-queue-list|ip rtp|"
    r"(?:auto|mls|platform) qos|tx-ring-limit|max-reserved-bandwidth|ppp multilink|class \S|police|shape|"
    r"bandwidth|priority|queue-(?:limit|list)|set (?:ip )?(?:dscp|precedence|cos|qos-group|mpls)|frame-relay|"
    r"map-class|match )\b.*"
)
_TAKEN_OVER = (
    *("dscp cos", "dscp qos-group", "precedence cos", "precedence qos-group", "cos dscp", "cos precedence"),
    *("qos-group dscp", "qos-group precedence"),
    *("mpls experimental imposition dscp", "mpls experimental imposition precedence"),
    "mpls experimental topmost qos-group",
)
"""Marks that classes take from others (Enhanced Packet Marking)."""
_TEXT = re.compile(r"\s*(?:description|remark|banner|access-list \d+ remark)\b")
_COMMENT = re.compile(r"\s*/\*.*?\*/")
_PIECE = re.compile(r"\s+(?:conform|exceed)-action .+")
_BELOW_PVC = re.compile(r"(?:tx-ring-limit|service-policy|vbr-n?rt|cbr|ubr\+?|encapsulation aal5\w+)(?: .+)?")


def _whole_lines(text: str) -> str:
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
            if column is not None and not (indent == column and _BELOW_PVC.fullmatch(words)):
                column = None
            elif column is not None:
                line = " " + line
            if words.startswith("pvc ") and indent:
                column = indent
        result.append(line)
    return "\n".join(result) + "\n"


def _within(limits: Bounds | Range) -> str:
    return f"<{limits.minimum}-{limits.maximum}>"


_LIST_NUMBERS = range(CAPABILITIES.car.access_lists.first, CAPABILITIES.car.access_lists.last + 1)
_RING = f"tx-ring-limit {_within(CAPABILITIES.transmit_ring)}:packets"
_FRAGMENT = f"frame-relay fragment:what {_within(CAPABILITIES.frame_relay.fragment)}:fragment"


def _one(line: str, pattern: str, mode: str, *, key: str, negate: str = "no {line}", feature: str = "") -> Line:
    """A line about what an interface sends, of which it has one for each ``key``."""
    return Line(line, pattern, mode, change=Change(key=key, negate=negate, side="output"), since=since(feature))


# -- interfaces ----------------------------------------------------------------------------------------------
def _interfaces() -> Iterator[Line]:
    place = Change(key="{name}", negate="no interface {name}", owned=True, standing=True)
    yield Line("interface", "interface WORD:name [point-to-point|multipoint]", opens="interface", change=place)
    yield Line("interface", "interface {WORD WORD}:name", opens="interface", change=place)
    yield mqc.attached("interface")
    yield Line("bandwidth", "bandwidth <1-100000000>:kbps", "interface")
    yield Line("reservable", "max-reserved-bandwidth <1-100>:percent", "interface")
    yield Line("flow-queueing", "", "interface", no="fair-queue")
    yield _one(
        "pre-classify",
        "qos pre-classify",
        "interface",
        key="pre-classify",
        negate="no qos pre-classify",
        feature="pre_classify",
    )
    yield _one("ring", _RING, "interface", key="ring", negate="no tx-ring-limit")
    for kind in ("ip rtp", "frame-relay ip rtp"):
        yield _one("crtp", f"{kind} header-compression [REST]", "interface", key="crtp")
    yield _one(
        "tcp-compression",
        "ip tcp header-compression iphc-format",
        "interface",
        key="tcp-compression",
        negate="no ip tcp header-compression",
        feature="iphc_format",
    )
    yield Line("multilink", "ppp multilink", "interface")
    yield Line("bundle", "ppp multilink group WORD", "interface")
    for delay, feature in (("fragment delay", "multilink_fragment_delay"), ("fragment-delay", "")):
        pattern = f"ppp multilink {delay} {_within(CAPABILITIES.fragment_delay_ms)}:fragment_delay_ms"
        yield _one("fragment", pattern, "interface", key="fragment", feature=feature)
    yield _one("multilink-option", "ppp multilink interleave:option", "interface", key="{line}")
    yield _one(
        "multilink-option",
        "ppp multilink multiclass:option",
        "interface",
        key="{line}",
        feature="multilink_multiclass",
    )
    yield _one(
        "ip-mtu",
        f"ip mtu <{CAPABILITIES.ip_mtu_minimum.value}-{CAPABILITIES.ip_mtu_whole.value - 1}>:ip_mtu",
        "interface",
        key="ip-mtu",
        negate="no ip mtu",
    )
    # What tunnels, PPPoE and VPNs leave of a whole packet cuts none for others to pass between.
    yield Line("text", f"ip mtu <{CAPABILITIES.ip_mtu_whole.value}-1000000>", "interface")
    queueing = "fair-queue|random-detect|traffic-shape|priority-group|custom-queue-list"
    not_understood = (
        f"{{service-policy|{queueing}|tx-ring-limit|max-reserved-bandwidth}} [REST]",
        "ip {rtp|mtu} [REST]",
        "auto {qos|discovery} [REST]",
        "bandwidth qos-reference REST",
        "ip rsvp REST",
        "{mls|platform} qos REST",
        "qos trust REST",
        "{shape|srr-queue|wrr-queue|rcv-queue|priority-queue|queue-set} REST",
        "ppp multilink REST",
        "frame-relay {fragment|ip|fair-queue|interface-queue|payload-compression|policing|qos-autosense} [REST]",
        "hold-queue <0-1000000> out",
        "{ip nhrp|nhrp} map group REST",
    )
    # Each tunnel of a group has it as an output policy of its own. What group this end is of, the far end looks at.
    yield Line(
        "group-policy",
        "{ip nhrp|nhrp} map group WORD:group service-policy output WORD:name",
        "interface",
        change=Change(refers=("policy-map {name}",), side="output", only={"name": "(?!)"}),
    )
    yield Line("text", "{ip nhrp|nhrp} group WORD", "interface")
    yield Line("queueing", "", "interface", also=not_understood)
    yield Line("text", "description REST", "interface")
    # ``serv`` stays an abbreviation of ``service-policy``: few devices have instances.
    yield Line("instance", "service instance REST", "interface", opens="instance", abbreviated=False)
    yield Line("queueing", "", "instance", also=("service-policy REST",))
    # No interface has this command: below one it stands in a text without indentation.
    yield from (Line("express-forwarding", "ip cef [REST]", mode) for mode in ("", "interface"))
    yield Line("ipv6", "ipv6 unicast-routing", "")
    yield Line("crypto-map", "crypto map WORD:name", "interface")
    yield Line("crypto-map", "crypto map WORD:name <1-65535> [REST]", "", opens="crypto-map")
    yield Line("pre-classify", "qos pre-classify", "crypto-map")
    yield from (Line("ipv6", f"ipv6 {words}", "interface") for words in ("address REST", "enable"))


# -- committed access rate -----------------------------------------------------------------------------------
def _car_action(outcome: str) -> str:
    marks = f"set-prec-{{0}} PRECEDENCE:{outcome}_precedence|set-dscp-{{0}} DSCP:{outcome}_dscp"
    sent = "|".join(f"{word}|{marks.format(word)}" for word in ("transmit", "continue"))
    return f"{outcome}-action {{drop|{sent}}}:{outcome}"


def _rate_limits() -> Iterator[Line]:
    side, listed = "rate-limit {input|output}:side", "access-group <1-9999>:number"
    rates = "<1-2000000000>:rate <1-2000000000>:burst <1-2000000000>:most"
    actions = f"{_car_action('conform')} {_car_action('exceed')}"
    yield Line(
        "rate-limit-list",
        f"{side} {listed} {rates} {actions}",
        "interface",
        change=Change(refers=("acl {number}",), listed=True, side="{side}"),
        also=(f"{side} {listed} REST",),
    )
    yield Line(
        "rate-limit",
        f"{side} [dscp DSCP:dscp] {rates} {actions}",
        "interface",
        change=Change(listed=True, side="{side}"),
        also=("rate-limit REST",),
    )


# -- circuits ------------------------------------------------------------------------------------------------
def _circuits() -> Iterator[Line]:
    # Shaped circuits without a rate of their own have 56 kb/s (Cisco CNAP 8.4.7): first the rates, then shaping.
    shaping = Change(standing=True, partial=True, awaits="rates of circuits")
    yield Line("traffic-shaping", "frame-relay traffic-shaping", "interface", change=shaping)
    yield Line("ietf", "encapsulation frame-relay ietf", "interface")
    yield Line("frame-relay-class", "frame-relay class WORD:name", "interface")
    yield Line("frame-relay-fragment", _FRAGMENT, "interface")
    yield Line(
        "dlci",
        "frame-relay interface-dlci <0-8388607>:dlci [REST]",
        "interface",
        opens="dlci",
        change=Change(key="{dlci}", owned=True, standing=True),
        also=("frame-relay interface-dlci REST",),
    )
    in_class = Change(key="class", refers=("map-class {name}",), attaches="output", readies="rates of circuits")
    yield Line("dlci-class", "class WORD:name", "dlci", change=in_class)
    yield Line(
        "pvc",
        "pvc [WORD] CIRCUIT:circuit",
        "interface",
        opens="pvc",
        change=Change(key="{circuit}", owned=True, standing=True),
    )
    contract = Change(key="contract", standing=True)
    rate = "<1-100000000>"
    for pattern in (
        f"vbr-nrt {rate}:peak {rate}:sustained [<1-1000000>:burst]",
        f"cbr {rate}:peak",
        "{vbr-nrt|vbr-rt|cbr|ubr|ubr+|abr} REST",
        "{vbr-nrt|vbr-rt|cbr|ubr|ubr+|abr}",
    ):
        yield Line("contract", pattern, "pvc", change=contract)
    yield _one("pvc-ring", _RING, "pvc", key="ring", negate="no tx-ring-limit")
    yield mqc.attached("pvc")
    not_understood = ("{service-policy|tx-ring-limit|fair-queue|random-detect|queue-limit|precedence} [REST]",)
    yield Line("queueing", "", "pvc", also=not_understood)


def _map_classes() -> Iterator[Line]:
    yield Line(
        "map-class",
        "map-class frame-relay WORD:name",
        opens="map-class",
        # The rate must not fall below what the policy that stands there reserves.
        change=Change(
            defines="map-class {name}", owned=True, remove_first=True, only={"name": rf"{OWN_PREFIX}-\S*"}
        ),
    )
    value = Change(key="{what}", negate="no frame-relay {what}")
    rate = _within(CAPABILITIES.frame_relay.cir)
    for pattern in (
        f"frame-relay cir:what [out] {rate}:cir",
        f"frame-relay bc:what [out] <1-{CAPABILITIES.frame_relay.burst.maximum}>:bc",
        "frame-relay be:what [out] <0-0>",
        f"frame-relay mincir:what [out] {rate}:mincir",
        _FRAGMENT,
    ):
        yield Line("map-class-value", pattern, "map-class", change=value)
    also = ("frame-relay {cir|bc|be|mincir|fragment}:what REST",)
    yield Line("map-class-value", "", "map-class", change=value, also=also)
    others = ("frame-relay {adaptive-shaping|fair-queue|ip} REST",)
    yield Line("adaptive-shaping", "", "map-class", no="frame-relay adaptive-shaping", also=others)
    yield Line(
        "service-policy",
        "service-policy [input|output]:direction WORD:name",
        "map-class",
        change=Change(key="policy", refers=("policy-map {name}",), negate_before_change=True, attaches="output"),
        since=since("circuit_policy"),
    )


TABLE = CommandTable(
    *mqc.access_lists(since, own_numbers=_LIST_NUMBERS),
    *mqc.class_maps(since, applications=[(g.since, g.words.values()) for g in CAPABILITIES.nbar_words.values()],
                    labels=True),
    *mqc.policy_maps(since),
    *mqc.guarantees(since),
    *packet_queues(since),
    *table_maps(since, marks=_TAKEN_OVER),
    *mqc.marks(since, labels=True),
    *mqc.policers(since, percentages=True),
    *mqc.shapers(since, bursts=True, percentages=True),
    mqc.nested(),
    *_interfaces(),
    *_rate_limits(),
    *_circuits(),
    *_map_classes(),
    # Class-maps and policy-maps of other kinds (``type inspect``), and what has lines like theirs.
    Line("other", "{{class-map|policy-map} type|map-class {atm|dialer}|route-map} REST", opens="other"),
    shared={
        "": _QOS,
        ELSEWHERE: _QOS,
        **dict.fromkeys(("interface", "instance", "pvc", "dlci", "crypto-map", "other"), "(?!)"),
        **mqc.LIST_MODES,
    },
    arguments={**mqc.ARGUMENTS, "CIRCUIT": ArgumentType(r"(?:[0-9]{1,4}/)?[0-9]{1,5}", str)},
    prepare=_whole_lines,
    families=(
        "FastEthernet", "GigabitEthernet", "TenGigabitEthernet", "Ethernet", "Serial", "Multilink", "ATM", "Dialer",
        "Loopback", "Tunnel", "Virtual-Template", "Vlan", "BVI", "Port-channel",
    ),
)  # fmt: skip
"""The lines, in the order in which their rules are tried."""
