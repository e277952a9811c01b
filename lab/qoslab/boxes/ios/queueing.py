"""Queueing and shaping of an interface without the modular command line, and what it runs by default."""

from __future__ import annotations

from qoslab.boxes.ios import refusals
from qoslab.boxes.ios.arguments import IF
from qoslab.boxes.ios.attach import RESERVABLE, Attachments
from qoslab.boxes.ios.base import IosBox
from qoslab.boxes.ios.rows import row, setting
from qoslab.boxes.ios.train import PRE_CLASSIFY
from qoslab.boxes.ios.wred import Wred
from qoslab.config import Section
from qoslab.grammar import Match, Refused, SyntaxRefused
from qoslab.shell import Row, Shell

_RANK = 72
_SHAPE_RANK = 76
_LEVEL = "{high|medium|normal|low}"
_PROTOCOL = "protocol {ip|arp|bridge|cdp|compressedtcp|dlsw|ipx|appletalk|decnet|llc2|pad|rsrb|stun|vines|xns}"
_WHICH = "[fragments|gt <0-65535>|lt <0-65535>|list <1-2699>|tcp TCPPORT|udp UDPPORT]"
_SHAPE_RATE = "<8000-100000000>"
_BITS = "[<0-100000000>:bc [<0-100000000>:be [<1-4096>:limit]]]"


def global_rows() -> list[Row]:
    """``priority-list`` and ``queue-list``."""
    priority = [
        f"{_PROTOCOL} {_LEVEL} {_WHICH}",
        f"interface {IF} {_LEVEL}",
        f"default {_LEVEL}",
        "queue-limit <0-32767> <0-32767> <0-32767> <0-32767>",
    ]
    custom = [
        f"{_PROTOCOL} <0-16> {_WHICH}",
        f"interface {IF} <0-16>",
        "default <1-16>",
        "lowest-custom <0-16>",
        "queue <0-16> byte-count <1-16777215> [limit <0-32767>]",
        "queue <0-16> limit <0-32767>",
    ]
    return [
        row(f"{kind} <1-16>:number {{{form}}}:entry", _list_entry, True)
        for kind, forms in (("priority-list", priority), ("queue-list", custom))
        for form in forms
    ]


def interface_rows(box: IosBox, attachments: Attachments) -> list[Row]:
    """Interface mode."""
    return [
        setting("tx-ring-limit <1-32767>", rank=63),
        *([row("qos pre-classify", _pre_classify, True)] if box.train.since(PRE_CLASSIFY) else []),
        row("ip mtu <68-18000>:n", _ip_mtu, "ip mtu [<68-18000>]"),
        setting("ip rtp priority <2000-65535> <0-16383> <0-2000000>", rank=71),
        _reservable_row(attachments),
        row("fair-queue [QUEUES [QUEUES [<0-1000>]]]", _fair_queue, "fair-queue [LINE]"),
        row("priority-group <1-16>", _queueing, "priority-group [<1-16>]"),
        row("custom-queue-list <1-16>", _queueing, "custom-queue-list [<1-16>]"),
        *Wred(box.train, _RANK, _no_policy).rows(),
        setting("random-detect flow", rank=_RANK + 3),
        setting("random-detect flow average-depth-factor <1-16>", rank=_RANK + 3,
                defaults=["random-detect flow average-depth-factor 4"]),
        setting("random-detect flow count <16-32768>", rank=_RANK + 3),
        row(f"traffic-shape rate {_SHAPE_RATE} {_BITS}", _traffic_shape, "traffic-shape rate [LINE]"),
        row(f"traffic-shape group <1-2699>:list {_SHAPE_RATE} {_BITS}", _traffic_shape,
            "traffic-shape group <1-2699>:list [LINE]"),
        row(f"traffic-shape adaptive [{_SHAPE_RATE}]", _traffic_shape, "traffic-shape adaptive [LINE]"),
        row("traffic-shape fecn-adapt", _traffic_shape, True),
    ]  # fmt: skip


def default_queueing(box: IosBox, interface: Section) -> str:
    """``weighted fair``, ``fifo`` or a legacy strategy when no policy is attached.

    Serial lines of 2.048 Mb/s or less run flow WFQ unless told otherwise.
    """
    line = interface.value("fair-queue")
    for legacy, name in (("priority-group", "priority-list"), ("custom-queue-list", "custom-list"),
                         ("random-detect", "random early detection(RED)")):  # fmt: skip
        if legacy in interface:
            return name
    if line:
        return "fifo" if line.startswith("no ") else "weighted fair"
    return "weighted fair" if _fair_by_default(interface) and box.bandwidth(interface) <= 2048 else "fifo"


def _fair_by_default(interface: Section) -> bool:
    return interface.text.split()[1].rstrip("0123456789/.:") in {"Serial", "BRI"}


def _no_policy(section: Section) -> None:
    if "service-policy output" in section:
        raise Refused(refusals.POLICY_PRESENT)


def _list_entry(shell: Shell, match: Match) -> None:
    """A value replaces the one for the same thing; rules are kept in the order in which they were typed."""
    kind, number = match.words[:2]
    entry = match["entry"].split()
    single = entry[0] in {"default", "queue-limit", "lowest-custom"}
    key = f"{kind} {number} {entry[0]}" if single else match.text
    if entry[0] == "queue":
        key = f"{kind} {number} {' '.join(entry[:3])}"
    if match.undone:
        shell.section.remove(key)
    else:
        shell.store(Section(match.text, key=key, rank=93, order=(kind, int(number))))


def _reservable_row(attachments: Attachments) -> Row:
    pattern = "max-reserved-bandwidth <1-100>:n"

    def reserve(shell: Shell, match: Match) -> str | None:
        if match.undone or match.number("n") == RESERVABLE:
            shell.section.remove("max-reserved-bandwidth")
        else:
            shell.store(Section(match.text, key="max-reserved-bandwidth", rank=74))
        warned = attachments.hqf and not match.undone and not shell.loading
        return refusals.RESERVABLE_IGNORED if warned else None

    return row(pattern, reserve, "max-reserved-bandwidth [<1-100>]")


def _pre_classify(shell: Shell, match: Match) -> None:
    """On tunnels and virtual templates alone (Cisco tech note 18667; crypto maps have one of their own)."""
    if match.undone:
        shell.section.remove("qos pre-classify")
        return
    if not shell.section.text.split()[1].startswith(("Tunnel", "Virtual-Template")):
        raise SyntaxRefused("invalid", 0, match.line)
    shell.store(Section("qos pre-classify", rank=64))


def _ip_mtu(shell: Shell, match: Match) -> None:
    link = int(shell.section.value("mtu", "mtu 1500").split()[1])
    if match.undone or match.number("n") == link:
        shell.section.remove("ip mtu")
        return
    if match.number("n") > link:
        raise SyntaxRefused("invalid", match.line.rindex(match.line.split()[-1]), match.line)
    shell.store(Section(match.text, key="ip mtu", rank=12))


def _fair_queue(shell: Shell, match: Match) -> None:
    section = shell.section
    by_default = _fair_by_default(section)
    if match.undone:
        section.remove("fair-queue")
        if by_default:
            shell.store(Section("no fair-queue", key="fair-queue", rank=_RANK))
        return
    _no_policy(section)
    if by_default and match.text == "fair-queue":
        section.remove("fair-queue")
        return
    shell.store(Section(match.text, key="fair-queue", rank=_RANK))


def _queueing(shell: Shell, match: Match) -> None:
    if match.undone:
        shell.section.remove(match.words[0])
        return
    _no_policy(shell.section)
    shell.store(Section(match.text, key=match.words[0], rank=_RANK + 1))


def _traffic_shape(shell: Shell, match: Match) -> None:
    """One rate for the whole interface, or one per access list."""
    section, kind = shell.section, match.words[1]
    key = f"traffic-shape group {match['list']}" if "list" in match else f"traffic-shape {kind}"
    if match.undone:
        section.remove(key)
        return
    other = {"rate": "traffic-shape group ", "group": "traffic-shape rate "}.get(kind)
    if other is not None and section.starting(other):
        raise Refused("% traffic-shape rate and traffic-shape group exclude each other")
    shell.store(Section(match.text, key=key, rank=_SHAPE_RANK))
