"""Counters of attached policies: ``show policy-map interface``, as the family prints it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from qosforge.plan.model import Plan
from qosforge.platforms.base import Direction, QueueCount

COMMAND = "show policy-map interface"

_INTERFACE = re.compile(r" ?(?P<name>[A-Z][A-Za-z]+\d[\d/]*) *")
_POLICY = re.compile(r" +Service-policy (?P<direction>input|output): \S+ *")
_CLASS = re.compile(r" +Class-map: (?P<name>\S+) \(match-\w+\) *")
_LEVEL_STATS = re.compile(r" +queue stats for all priority classes: *")
_LEVEL = re.compile(r" +priority level (?P<level>\d) *", re.IGNORECASE)
_CLASS_LEVEL = re.compile(r" +Priority Level: (?P<level>\d) *")
_PACKETS = re.compile(r" +(?P<packets>\d+) packets(?:, \d+ bytes)? *")
_DROPS = re.compile(r" +\(total drops\) (?P<drops>\d+) *")


def counter_commands(plan: Plan) -> tuple[str, ...]:
    """One command tells of every attached policy; without one there is nothing to ask."""
    attached = any(i.ingress.policy or i.egress.policy for i in plan.interfaces)
    return (COMMAND,) if attached else ()


def read_counters(answers: Mapping[str, str], plan: Plan) -> tuple[QueueCount, ...]:
    """The classes of the policies attached to the plan's interfaces.

    Where a policy shapes a port, the classes inside it are the interface's. Drops of a priority level stand apart
    from its class.

    Raises:
        ValueError: counters stand under no interface or policy.
    """
    shaped = {i.name for i in plan.interfaces if i.egress.dividing is not i.egress}
    names = {i.name for i in plan.interfaces}
    found = []
    for count, depth in _counts(answers.get(COMMAND, "").splitlines()):
        inner = 1 if count.interface in shaped and count.direction == "output" else 0
        if count.interface in names and depth == inner:
            found.append(count)
    return tuple(found)


def _counts(lines: list[str]) -> Iterator[tuple[QueueCount, int]]:
    """Every class with how deep its policy stands in others."""
    interface = ""
    direction: Direction | None = None
    by_level: dict[str, int] = {}
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        if match := _INTERFACE.fullmatch(line):
            interface, direction = match["name"], None
        elif match := _POLICY.fullmatch(line):
            direction = "input" if match["direction"] == "input" else "output"
            by_level = {}
        elif _LEVEL_STATS.fullmatch(line):
            body, at = _below(lines, at, line)
            level, drops = _first(_LEVEL, body), _first(_DROPS, body)
            if level is not None and drops is not None:
                by_level[level] = int(drops)
        elif match := _CLASS.fullmatch(line):
            if direction is None:
                raise ValueError(f"class {match['name']} stands under no policy")
            body, at = _below(lines, at, line)
            packets, level = _first(_PACKETS, body), _first(_CLASS_LEVEL, body)
            if packets is None:
                raise ValueError(f"class {match['name']} of {interface} has no packet counter")
            dropped = _first(_DROPS, body)
            drops_here = by_level.get(level) if level is not None else None if dropped is None else int(dropped)
            first = level is not None if direction == "output" else None
            depth = (len(line) - len(line.lstrip()) - 4) // 4
            yield QueueCount(interface, direction, match["name"], int(packets), drops_here, first), depth


def _below(lines: list[str], at: int, head: str) -> tuple[list[str], int]:
    """The lines further in than a heading, up to a policy inside; and where they end."""
    indent = len(head) - len(head.lstrip())
    body = []
    while at < len(lines):
        line = lines[at]
        if line.strip() and (len(line) - len(line.lstrip()) <= indent or line.strip().startswith("Service-policy")):
            break
        body.append(line)
        at += 1
    return body, at


def _first(pattern: re.Pattern[str], lines: list[str]) -> str | None:
    return next((match[1] for line in lines if (match := pattern.fullmatch(line))), None)
