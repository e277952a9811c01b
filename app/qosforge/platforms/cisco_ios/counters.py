"""Counters of attached policies: ``show policy-map interface``, in the form of images before HQF."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise

from qosforge.plan.model import Plan
from qosforge.platforms.base import Direction, QueueCount
from qosforge.platforms.mqc.lines import CLASS_DEFAULT

COMMAND = "show policy-map interface"

_INTERFACE = re.compile(r" ?(?P<name>[A-Z][\w./:-]*)")
_POLICY = re.compile(r"  Service-policy (?P<direction>input|output): \S+")
_CLASS = re.compile(r"    Class-map: (?P<name>\S+) \(match-\w+\)")
_PACKETS = re.compile(r"      (?P<packets>\d+) packets, (?P<bytes>\d+) bytes")
_QUEUED = re.compile(r" +\(pkts matched/bytes matched\) (?P<packets>\d+)/\d+")
_DROPS = re.compile(r" +\((?:total drops/bytes drops|depth/total drops/no-buffer drops)\) (?P<numbers>[\d/]+)")


def counter_commands(plan: Plan) -> tuple[str, ...]:
    """One command tells of every attached policy; without one there is nothing to ask."""
    attached = any(i.ingress.policy or i.egress.policy for i in plan.interfaces)
    return (COMMAND,) if attached else ()


def read_counters(answers: Mapping[str, str], plan: Plan) -> tuple[QueueCount, ...]:
    """Classes of the policies attached to the plan's interfaces, and those of the policies inside them.

    Where a policy shapes a port, the classes inside it are the interface's. What the other policies inside classes
    count for the rest of their class is in the count of that class.

    Raises:
        ValueError: counters stand under no interface or policy.
    """
    shaped = {i.name: i.egress.dividing is not i.egress for i in plan.interfaces}
    text = answers.get(COMMAND, "")
    return tuple(
        count
        for count, depth in _counts(text.splitlines())
        if count.interface in shaped and _counted(count, depth, shaped[count.interface])
    )


def _counted(count: QueueCount, depth: int, shaped: bool) -> bool:
    """Whether a count is that of a class of the interface; a policy around all of them counts none."""
    first = 1 if shaped and count.direction == "output" else 0
    return depth == first or (depth > first and count.queue != CLASS_DEFAULT)


def _counts(lines: list[str]) -> Iterator[tuple[QueueCount, int]]:
    """Every class with how many policies it is inside of."""
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
            yield from _class_counts(interface, direction, match["name"], body)


def _class_counts(
    interface: str, direction: Direction, name: str, body: list[str], depth: int = 0
) -> Iterator[tuple[QueueCount, int]]:
    """A class, then those of the policy inside it, which stand four columns further in."""
    yield _count(interface, direction, name, body), depth
    inside = next((at for at, line in enumerate(body) if line.lstrip().startswith("Service-policy :")), len(body))
    lines = [line[4:] for line in body[inside + 1 :]]
    starts = [at for at, line in enumerate(lines) if _CLASS.fullmatch(line)]
    for start, end in pairwise([*starts, len(lines)]):
        found = _CLASS.fullmatch(lines[start])
        assert found is not None
        yield from _class_counts(interface, direction, found["name"], lines[start + 1 : end], depth + 1)


def _count(interface: str, direction: Direction, name: str, body: list[str]) -> QueueCount:
    packets: int | None = None
    size: int | None = None
    queued: int | None = None
    drops: int | None = None
    priority = False
    for line in body:
        if line.lstrip().startswith("Service-policy :"):
            break  # a child policy counts its own classes below
        if packets is None and (match := _PACKETS.fullmatch(line)):
            packets, size = int(match["packets"]), int(match["bytes"])
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
        interface,
        direction,
        name,
        packets,
        drops,
        priority if direction == "output" else None,
        queued,
        size_bytes=size,
    )
