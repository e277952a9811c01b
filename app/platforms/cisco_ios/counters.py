"""Counters of attached policies: ``show policy-map interface``, in the form of images before HQF."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from app.plan.model import Plan
from app.platforms.base import Direction, QueueCount

COMMAND = "show policy-map interface"

_INTERFACE = re.compile(r" ?(?P<name>[A-Z][\w./:-]*)")
_POLICY = re.compile(r"  Service-policy (?P<direction>input|output): \S+")
_CLASS = re.compile(r"    Class-map: (?P<name>\S+) \(match-\w+\)")
_PACKETS = re.compile(r"      (?P<packets>\d+) packets, \d+ bytes")
_QUEUED = re.compile(r" +\(pkts matched/bytes matched\) (?P<packets>\d+)/\d+")
_DROPS = re.compile(r" +\((?:total drops/bytes drops|depth/total drops/no-buffer drops)\) (?P<numbers>[\d/]+)")


def counter_commands(plan: Plan) -> tuple[str, ...]:
    """One command tells of every attached policy; without one there is nothing to ask."""
    attached = any(i.ingress.policy or i.egress.policy for i in plan.interfaces)
    return (COMMAND,) if attached else ()


def read_counters(answers: Mapping[str, str], plan: Plan) -> tuple[QueueCount, ...]:
    """Classes of the policies attached to the plan's interfaces; classes of child policies are left out.

    Raises:
        ValueError: counters stand under no interface or policy.
    """
    names = {interface.name for interface in plan.interfaces}
    text = answers.get(COMMAND, "")
    return tuple(count for count in _counts(text.splitlines()) if count.interface in names)


def _counts(lines: list[str]) -> Iterator[QueueCount]:
    interface = ""
    direction: Direction | None = None
    at = 0
    while at < len(lines):
        line = lines[at].rstrip()
        at += 1
        if match := _INTERFACE.fullmatch(line):
            interface, direction = match["name"], None
        elif match := _POLICY.fullmatch(line):
            direction = "input" if match["direction"] == "input" else "output"
        elif match := _CLASS.fullmatch(line):
            if direction is None:
                raise ValueError(f"class {match['name']} stands under no policy")
            body = []
            while at < len(lines) and (not lines[at].strip() or lines[at].startswith("      ")):
                body.append(lines[at].rstrip())
                at += 1
            yield _count(interface, direction, match["name"], body)


def _count(interface: str, direction: Direction, name: str, body: list[str]) -> QueueCount:
    packets: int | None = None
    queued: int | None = None
    drops: int | None = None
    priority = False
    for line in body:
        if line.lstrip().startswith("Service-policy :"):
            break  # a child policy counts its own classes below
        if packets is None and (match := _PACKETS.fullmatch(line)):
            packets = int(match["packets"])
        elif line.strip() == "Strict Priority":
            priority = True
        elif match := _QUEUED.fullmatch(line):
            queued = int(match["packets"])
        elif match := _DROPS.fullmatch(line):
            # "total drops/bytes drops" of a priority queue, "depth/total drops/no-buffer drops" of another.
            numbers = match["numbers"].split("/")
            drops = int(numbers[0] if len(numbers) == 2 else numbers[1])
    if packets is None:
        raise ValueError(f"class {name} of {interface} has no packet counter")
    return QueueCount(
        interface, direction, name, packets, drops, priority if direction == "output" else None, queued
    )
