"""Rules about the lines of the modular QoS command line: shares of a policy, what excludes each other in a class,
policies inside classes and at interfaces, thresholds and policers.

Sources: Cisco IOS QoS command reference (bandwidth, priority, random-detect, police, service-policy); IOS in a
Nutshell (12.3), service-policy; Multi-Level Priority Queues (12.2SB, 15S).
"""

from __future__ import annotations

from collections.abc import Iterator

from qosforge.commands import PlacedLine
from qosforge.commands.placed_line import walk
from qosforge.note import because
from qosforge.platforms.line_rules import (
    ConfigurationLines,
    Fault,
    not_together,
    reversed_pair,
    sum_above,
)
from qosforge.platforms.mqc.lines import CLASS_DEFAULT

QUEUEING = ("bandwidth", "priority", "fair-queue", "queue-limit", "red", "red-row", "shape", "buffers", "tail")
"""The lines of classes that queue."""
_WHOLE = 100
_SUMS = (("percent", "guarantees of the classes"), ("remaining_percent", "parts of the rest"))
_BOUNDS = (
    ("red-row", "minimum", "maximum"),
    ("police", "rate", "peak"),
    ("police", "percent", "peak_percent"),
    ("police", "burst", "extended"),
)
"""Pairs of values of one line of which the second may not be the smaller."""


def policies_of(lines: ConfigurationLines) -> Iterator[PlacedLine]:
    """The policy-maps with their classes."""
    return lines.all("policy-map")


def unit_of(line: PlacedLine) -> str:
    """The unit in which a class says its share."""
    for value, unit in (("remaining_percent", "per cent of the rest"), ("ratio", "ratio of the rest")):
        if value in line.values:
            return unit
    return "per cent" if "percent" in line.values else "kb/s"


def shares(lines: ConfigurationLines) -> Iterator[Fault]:
    """Units and sums of the classes of each policy."""
    for policy in policies_of(lines):
        first: PlacedLine | None = None
        sums = {"percent": 0, "remaining_percent": 0}
        for line in (line for held in policy.all("class") for line in held.all("bandwidth", "priority")):
            if line.id == "bandwidth":
                first = first or line
                if unit_of(line) != unit_of(first):
                    yield Fault(
                        line,
                        because("units-mixed", unit=unit_of(line), other=first.text, otherunit=unit_of(first)),
                    )
            for value, what in (
                ("percent", "guarantees of the classes"),
                ("remaining_percent", "parts of the rest"),
            ):
                if value in line.values:
                    sums[value] += line.values[value]
                    if sums[value] > _WHOLE:
                        yield sum_above(what, line, sums[value], _WHOLE, "%")


def exclusive(lines: ConfigurationLines) -> Iterator[Fault]:
    """Lines of one class, and of two, that exclude each other."""
    for policy in policies_of(lines):
        levels: dict[object, PlacedLine] = {}
        for held in policy.all("class"):
            priority = held.first("priority")
            marks = list(held.all("set", "set-table"))
            for mark in marks[1:]:
                # Two layer 3 markings (dscp and precedence) are not allowed.
                if {mark.get("field"), marks[0].get("field")} == {"dscp", "precedence"}:
                    yield not_together(mark, marks[0].text, "a class writes the DSCP or the precedence")
            if priority is None:
                continue
            for line in held.all("bandwidth", "fair-queue", "red"):
                yield not_together(line, priority.text, "priority excludes bandwidth, fair queue and WRED")
            if held.name == CLASS_DEFAULT:
                yield not_together(priority, held.text, "the class of everything else has no priority")
            level = priority.get("level")
            if level in levels and level is not None:
                yield not_together(priority, levels[level].text, "a priority level is that of one class")
            if levels and (level is None) != (None in levels):
                other = next(iter(levels.values()))
                yield not_together(priority, other.text, "priority with a level and without exclude each other")
            levels.setdefault(level, priority)


def bounds(lines: ConfigurationLines) -> Iterator[Fault]:
    """Thresholds and rates of one line in the wrong order."""
    for id_, low, high in _BOUNDS:
        for line in lines.all(id_):
            if low in line.values and high in line.values and line.values[low] > line.values[high]:
                yield reversed_pair(line, line.values[low], line.values[high])


def queues(policy: PlacedLine, policies: dict[str, PlacedLine], seen: frozenset[str] = frozenset()) -> bool:
    """Whether a policy, or one inside it, queues."""
    return any(
        line.id in QUEUEING
        or (
            line.id == "child"
            and line.name in policies
            and line.name not in seen
            and queues(policies[line.name], policies, seen | {line.name})
        )
        for line in walk(policy.below)
    )


def nested(lines: ConfigurationLines, depth: int) -> Iterator[Fault]:
    """Policies inside classes: a queueing one wants a shape there, and there is a ``depth`` of policies."""
    policies = lines.named("policy-map")
    for child in lines.all("child"):
        held, inner = child.above, policies.get(child.name)
        while held is not None and held.id != "class":
            held = held.above  # where devices print the policy below the shape
        if held is None or inner is None:
            continue
        if queues(inner, policies) and not any(line.id == "shape" for line in walk(held.below)):
            yield not_together(child, held.text, "a policy that queues, inside a class, wants a shape there")
    for policy in policies.values():
        for child in _children(policy):
            if _depth(policies.get(child.name), policies, frozenset({policy.name})) + 1 > depth:
                yield not_together(child, policy.text, f"policies stand inside each other {depth} deep at most")


def _children(policy: PlacedLine) -> Iterator[PlacedLine]:
    return (line for line in walk(policy.below) if line.id == "child")


def _depth(policy: PlacedLine | None, policies: dict[str, PlacedLine], seen: frozenset[str]) -> int:
    if policy is None or policy.name in seen:
        return 0
    inner = seen | {policy.name}
    return 1 + max((_depth(policies.get(child.name), policies, inner) for child in _children(policy)), default=0)


def sides(lines: ConfigurationLines) -> Iterator[Fault]:
    """Policies at the side of an interface where the device does not take them."""
    policies = lines.named("policy-map")
    for attached in lines.all("service-policy"):
        policy = policies.get(attached.name)
        if policy is None or attached.get("direction") != "input":
            continue
        if queues(policy, policies):
            yield Fault(attached, because("policy-side", why=f"{policy.text} queues, which works at outputs alone"))
