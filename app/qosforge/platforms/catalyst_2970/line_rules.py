"""Rules about the lines of a 2970: the parts of buffers, thresholds, maps of marks to queues, policers.

Sources: Catalyst 2970 configuration guide 78-15462-03, Catalyst 3750 command reference (mls qos queue-set), as the
capability data says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from qosforge.note import because
from qosforge.platforms.catalyst_2970.capabilities import CAPABILITIES
from qosforge.platforms.ios_switch.line_rules import aggregate_policers, marks_in_queues, marks_mapped, policers
from qosforge.platforms.ios_switch.policing import PortPolicers
from qosforge.platforms.line_rules import ConfigurationLines, Fault, out_of_range, reversed_pair
from qosforge.platforms.mqc.list_rules import access_lists

_ALL = 100
_FARTHER = re.compile(r"12\.2\(25\)SE[E-Z]|12\.2\((?:3[5-9]|[4-9]\d)\)|1[5-9]\.")
"""Images with thresholds up to 3200 per cent: from 12.2(25)SEE1 on."""
_MAPS = (
    ("input-cos", "CoS"),
    ("input-dscp", "DSCP"),
    ("output-cos", "CoS"),
    ("output-dscp", "DSCP"),
)


def buffers(lines: ConfigurationLines) -> Iterator[Fault]:
    """The buffers of a set, and those of the ingress queues, are divided among its queues."""
    for line in lines.all("queue-set-buffers", "input-buffers"):
        parts = next((value for value in line.values.values() if isinstance(value, tuple)), ())
        if sum(parts) != _ALL:
            yield Fault(line, because("sum-differs", what="buffers", total=sum(parts), limit=_ALL, unit="%"))


def thresholds(lines: ConfigurationLines) -> Iterator[Fault]:
    """Thresholds of a queue: none above the most that the queue takes, nor above what the release has."""
    for line in lines.all("queue-set-threshold"):
        if "first" not in line.values:
            continue
        most = line.values["most"]
        for name in ("first", "second"):
            if line.values[name] > most:
                yield reversed_pair(line, line.values[name], most)
        highest = CAPABILITIES.threshold.maximum
        values = [line.values[name] for name in ("first", "second", "most")]
        if max(values) > highest and re.search(r"\(", lines.image) and not _FARTHER.search(lines.image):
            yield out_of_range(line, f"{max(values)} is not between 1 and {highest} on {lines.image}")
    for line in lines.all("input-threshold"):
        first, second = line.get("thresholds", (0, 0))
        if first > second:
            yield reversed_pair(line, first, second)


def maps(lines: ConfigurationLines) -> Iterator[Fault]:
    """Each mark is in one queue, and has one other mark."""
    for id_, what in _MAPS:
        yield from marks_in_queues(lines, id_, "marks", what)
    yield from marks_mapped(lines, "dscp-cos", "dscp", "cos", "DSCP")
    yield from marks_mapped(lines, "policed-dscp", "dscp", "policed", "DSCP")


def _limits(_port: str) -> PortPolicers:
    return CAPABILITIES.police


def port_policers(lines: ConfigurationLines) -> Iterator[Fault]:
    """The policers of each port."""
    return policers(lines, _limits, "Catalyst 2970 configuration guide")


LINE_RULES = (buffers, thresholds, maps, port_policers, aggregate_policers, access_lists)
"""The rules of these switches."""
