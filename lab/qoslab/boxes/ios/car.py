"""Committed access rate: ``rate-limit`` on interfaces, its own access lists, and what it does to packets."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from qoslab.boxes.ios import refusals
from qoslab.boxes.ios.acl import AccessList
from qoslab.boxes.ios.arguments import dscp_value
from qoslab.boxes.ios.base import IosBox
from qoslab.boxes.ios.rows import row
from qoslab.config import Section
from qoslab.grammar import Match, Refused
from qoslab.packets import Packets
from qoslab.shell import Row, Shell

_ACTION = (
    "{transmit|drop|continue|set-prec-transmit PREC|set-prec-continue PREC|set-dscp-transmit DSCPNUM"
    "|set-dscp-continue DSCPNUM|set-qos-transmit <0-99>|set-qos-continue <0-99>"
    "|set-mpls-exp-imposition-transmit <0-7>|set-mpls-exp-imposition-continue <0-7>}"
)
_STEP = 8000  # bit/s
_BURST_SHARE = 2000  # a normal burst is at least this part of the rate, in bytes
_LINE_RANK = 76
_LIST_RANK = 92
_LINE = re.compile(
    r"rate-limit \w+ (?:(?P<kind>access-group|dscp|qos-group) (?P<list>rate-limit )?(?P<value>\d+) )?"
    r"(?P<rate>\d+) (?P<normal>\d+) (?P<most>\d+) conform-action (?P<conform>.+) exceed-action (?P<exceed>.+)"
)


def global_rows() -> list[Row]:
    """``access-list rate-limit``: precedences, MAC addresses or MPLS EXP values; one entry per list."""
    return [
        row("access-list rate-limit <1-99>:number {PREC|mask HEXBYTE}:entry", _list),
        row("access-list rate-limit <100-199>:number MAC:entry", _list),
        row("access-list rate-limit <200-299>:number {<0-7>|mask HEXBYTE}:entry", _list),
        row("access-list rate-limit <1-299>:number", _whole_list, "access-list rate-limit <1-299>:number [LINE]"),
    ]


def interface_rows() -> list[Row]:
    """``rate-limit``: lines are asked in the order in which they were typed."""
    return [
        row(
            "rate-limit {input|output} [access-group {<1-2699>|rate-limit <1-299>}|dscp DSCPNUM|qos-group <0-99>]"
            " <8000-2000000000>:rate <1000-512000000>:normal <2000-1024000000>:most"
            f" conform-action {_ACTION} exceed-action {_ACTION}",
            _rate_limit,
            True,
        )
    ]


def _list(shell: Shell, match: Match) -> None:
    number = match["number"]
    key = f"access-list rate-limit {number}"
    shell.store(Section(match.text, key=key, rank=_LIST_RANK, order=(int(number),)))


def _whole_list(shell: Shell, match: Match) -> str | None:
    if not match.undone:
        return "% Incomplete command.\n"
    shell.section.remove(f"access-list rate-limit {match['number']}")
    return None


def _rate_limit(shell: Shell, match: Match) -> None:
    if match.undone:
        shell.section.remove(match.text)
        return
    rate, normal = match.number("rate"), match.number("normal")
    if rate % _STEP:
        raise Refused(refusals.RATE_STEP)
    if normal * _BURST_SHARE < rate:
        raise Refused(refusals.small_burst(-(-rate // _BURST_SHARE)))
    if match.number("most") < normal:
        raise Refused(refusals.SMALL_EXTENDED_BURST)
    shell.store(Section(match.text, rank=_LINE_RANK))


@dataclass(frozen=True)
class Limited:
    """Part of a group after the rate limits of an interface."""

    packets: Packets
    dropped: bool


Conforming = Callable[[str, int, int, Packets], int]
"""(line, rate in bit/s, burst in bytes, packets) -> how many of them conform."""


def limited(
    box: IosBox, interface: Section, direction: str, packets: Packets, conforming: Conforming
) -> list[Limited]:
    """Take packets through the lines in order; ``continue`` asks the next line, no line lets pass.

    CAR works on what CEF switches: without ``ip cef`` nothing is limited.
    """
    if box.running.value("ip cef") != "ip cef":
        return [Limited(packets, dropped=False)]
    lines = interface.starting(f"rate-limit {direction} ")
    return _from(box, [line.text for line in lines], packets, conforming)


def _from(box: IosBox, lines: list[str], packets: Packets, conforming: Conforming) -> list[Limited]:
    for at, line in enumerate(lines):
        found = _LINE.fullmatch(line)
        if found is None or not _takes(box, found, packets):
            continue
        good = conforming(line, int(found["rate"]), int(found["normal"]), packets)
        parts: list[Limited] = []
        for count, action in ((good, found["conform"]), (packets.count - good, found["exceed"])):
            if not count:
                continue
            part = _marked(packets.kept(count), action)
            if action.split()[0].endswith("continue"):
                parts += _from(box, lines[at + 1 :], part, conforming)
            else:
                parts.append(Limited(part, dropped=action == "drop"))
        return parts
    return [Limited(packets, dropped=False)]


def _takes(box: IosBox, found: re.Match[str], packets: Packets) -> bool:
    kind, value = found["kind"], found["value"]
    if kind is None:
        return True
    if kind == "dscp":
        return packets.dscp == int(value)
    if kind == "qos-group":
        return False  # nothing in the lab carries a QoS group between interfaces
    if found["list"]:
        return _rate_limit_list(box.running.value(f"access-list rate-limit {value}"), packets)
    try:
        return AccessList(box.running, value).permits(packets)
    except KeyError:
        return False  # a list without entries takes nothing, as in a class


def _rate_limit_list(line: str, packets: Packets) -> bool:
    words = line.split()[3:]
    if not words or "." in words[0]:
        return False  # MAC addresses are not carried by the lab's packets
    if words[0] == "mask":
        return bool(int(words[1], 16) & 1 << (packets.dscp >> 3))
    return packets.dscp >> 3 == int(words[0])


def _marked(packets: Packets, action: str) -> Packets:
    words = action.split()
    if words[0].startswith("set-dscp"):
        return packets.marked(dscp=dscp_value(words[1]))
    if words[0].startswith("set-prec"):
        return packets.marked(dscp=8 * int(words[1]))
    return packets
