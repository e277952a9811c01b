"""Rules about the lines of a 5510: what filters refer to by number, their order and room, and the queues of a set.

Sources: filters and QoS guide NN48500-559 (elements, classifiers, meters, 3.4: limits of a port), as the capability
data says.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from qosforge.commands import PlacedLine
from qosforge.note import because
from qosforge.platforms.line_rules import ConfigurationLines, Fault, out_of_range, reversed_pair, too_many
from qosforge.platforms.nortel_5510.capabilities import CAPABILITIES

_GUIDE = "filters and QoS guide NN48500-559, 3.4"
_ACTIONS = range(1, 10)
"""Actions that the device has itself (drop, standard forwarding and others)."""


class _Reference(NamedTuple):
    """A value of a line by which it refers to an object, and which kind of line makes that.

    ``of`` is the value of the other line that is meant, ``when`` another value that has to hold for it.
    """

    line: str
    value: str
    to: str
    of: str = "number"
    when: tuple[str, str] = ("", "")


_REFERENCES = (
    _Reference("classifier", "element", "ip-element", when=("kind", "ip")),
    _Reference("classifier", "element", "l2-element", when=("kind", "l2")),
    _Reference("classifier-block", "set", "classifier", of="set"),
    _Reference("classifier-block", "inside", "action"),
    _Reference("classifier-block", "meter", "meter"),
    _Reference("meter", "inside", "action"),
    _Reference("meter", "outside", "action"),
    _Reference("policy", "classifier", "classifier", when=("type", "classifier")),
    _Reference("policy", "classifier", "classifier-block", of="block", when=("type", "block")),
    _Reference("policy", "inside", "action"),
    _Reference("policy", "meter", "meter"),
)
_BOUNDS = (
    ("ip-element", "src_port_min", "src_port_max"),
    ("ip-element", "dst_port_min", "dst_port_max"),
    ("l2-element", "vlan_min", "vlan_max"),
    ("meter", "rate", "burst_rate"),
    ("shaper", "rate", "burst_rate"),
)


def references(lines: ConfigurationLines) -> Iterator[Fault]:
    """Filters whose numbers nothing has."""
    for reference in _REFERENCES:
        known = {str(line.get(reference.of)) for line in lines.all(reference.to)}
        for line in lines.all(reference.line):
            name, holds = reference.when
            value = line.get(reference.value)
            if value is None or (name and str(line.get(name)) != holds) or str(value) in known:
                continue
            if reference.to == "action" and value in _ACTIONS:
                continue
            target = f"{reference.to} {value}" if reference.of == "number" else f"{reference.to} of {value}"
            yield Fault(line, because("dangling-reference", target=target))


def orders(lines: ConfigurationLines) -> Iterator[Fault]:
    """Filters of a port group in one place of its order, and more of them than it has places."""
    groups: dict[str, list[PlacedLine]] = {}
    for line in lines.all("policy"):
        place = str(line.get("group") or f"port {line.get('port')}")
        groups.setdefault(place, []).append(line)
    highest = CAPABILITIES.precedences.value
    for policies in groups.values():
        taken: dict[int, PlacedLine] = {}
        for line in policies:
            order = line.get("precedence")
            if order is None:
                continue
            if not 1 <= order <= highest:
                yield out_of_range(line, f"{order} is not between 1 and {highest}")
            elif taken.setdefault(order, line) is not line:
                yield Fault(line, because("line-twice", variant="order", first=taken[order].text))
        yield from too_many("filters of a port group", policies, highest, _GUIDE)


def bounds(lines: ConfigurationLines) -> Iterator[Fault]:
    """Ranges that end before they begin, and bursts below the rate."""
    for id_, low, high in _BOUNDS:
        for line in lines.all(id_):
            if low in line.values and high in line.values and line.values[low] > line.values[high]:
                yield reversed_pair(line, line.values[low], line.values[high])


def rates(lines: ConfigurationLines) -> Iterator[Fault]:
    """Rates of meters, in steps of a megabit."""
    limits = CAPABILITIES.meter_rate
    for line in lines.all("meter"):
        rate = line.get("rate")
        if rate is None:
            continue
        if not limits.minimum <= rate * 1000 <= limits.maximum:
            yield out_of_range(line, f"{rate} is not between {limits.minimum // 1000} and {limits.maximum // 1000}")
        elif rate * 1000 % limits.step:
            yield out_of_range(line, f"{rate} is no multiple of {limits.step // 1000}")
    meters = list(lines.all("meter"))
    yield from too_many("meters of a port", meters, CAPABILITIES.filter_limits.value.meters, _GUIDE)
    classifiers = list(lines.all("classifier"))
    limit = CAPABILITIES.filter_limits.value.classifiers
    yield from too_many("classifiers of a port", classifiers, limit, _GUIDE)


def queues(lines: ConfigurationLines) -> Iterator[Fault]:
    """Queues that a set does not have."""
    sets = CAPABILITIES.queue_sets.value
    for line in lines.all("queue"):
        there = len(sets.get(line.values["set"], ()))
        if line.values["queue"] > there:
            yield out_of_range(line, f"queue set {line.values['set']} has {there} queues")


def names(lines: ConfigurationLines) -> Iterator[Fault]:
    """Names that the device does not take."""
    limit = CAPABILITIES.name_limit.value
    for line in lines.all("if-group", "action", "meter", "classifier"):
        if len(line.name) > limit:
            yield out_of_range(line, f"the name has {len(line.name)} characters, of {limit}")


LINE_RULES = (references, orders, bounds, rates, queues, names)
"""The rules of these switches."""
