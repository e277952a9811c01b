"""Rules about the lines of a 2950: weights and the map of CoS to queues, lists that its hardware takes, policers.

Sources: command reference OL-10102-01 and configuration guides 78-11380, 78-14982-01, as the capability data says.
"""

from __future__ import annotations

from collections.abc import Iterator

from qosforge.note import because
from qosforge.platforms.catalyst_2950.capabilities import CAPABILITIES
from qosforge.platforms.ios_switch.line_rules import aggregate_policers, marks_in_queues, marks_mapped, policers
from qosforge.platforms.ios_switch.policing import PortPolicers
from qosforge.platforms.line_rules import ConfigurationLines, Fault, out_of_range
from qosforge.platforms.mqc.list_rules import access_lists

_GUIDE = "command reference OL-10102-01"
_PORTS = ("source", "destination")


def weights(lines: ConfigurationLines) -> Iterator[Fault]:
    """A weight of zero makes a queue the expedite queue, which only the last one can be."""
    for line in lines.all("wrr-bandwidth"):
        for queue, weight in enumerate(line.values["weights"], start=1):
            if not weight and queue != CAPABILITIES.expedite_queue.value:
                yield out_of_range(line, f"queue {queue} has no weight: 0 is for the expedite queue alone")


def code_points(lines: ConfigurationLines) -> Iterator[Fault]:
    """Code points that the switch does not have."""
    known = CAPABILITIES.supported_dscp.value
    for line in lines.all("match-mark", "set", "cos-dscp", "dscp-cos"):
        for field in ("dscp", "set_dscp"):
            value = line.get(field)
            for dscp in value if isinstance(value, tuple) else () if value is None else (value,):
                if dscp not in known:
                    yield out_of_range(line, f"DSCP {dscp} is none of {', '.join(map(str, sorted(known)))}")


def port_ranges(lines: ConfigurationLines) -> Iterator[Fault]:
    """Ranges of ports in the lists of classes: a mask and a value tell one port."""
    listed = {match.name for match in lines.all("match-acl")}
    for line in lines.all("ace"):
        if line.above is None or line.above.name not in listed:
            continue
        for side in _PORTS:
            if {f"{side}_first", f"{side}_above", f"{side}_below"} & line.values.keys():
                why = "the lists of this switch tell single ports, no ranges"
                yield Fault(line, because("policy-side", why=why))


def cos_map(lines: ConfigurationLines) -> Iterator[Fault]:
    """Each CoS is in one queue, and each DSCP has one CoS."""
    yield from marks_in_queues(lines, "wrr-cos-map", "cos", "CoS")
    yield from marks_mapped(lines, "dscp-cos", "dscp", "cos", "DSCP")


def _limits(port: str) -> PortPolicers | None:
    return CAPABILITIES.police.get(port.rstrip("0123456789/"))


def port_policers(lines: ConfigurationLines) -> Iterator[Fault]:
    """The policers of each port."""
    return policers(lines, _limits, _GUIDE)


LINE_RULES = (weights, code_points, port_ranges, cos_map, port_policers, aggregate_policers, access_lists)
"""The rules of these switches."""
