"""Rules about the lines that Catalyst switches share: maps of marks to queues, policies and policers of ports.

Sources: Catalyst 2950 and 2970 configuration guides (QoS) and command references, as the capability data says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from qosforge.commands import PlacedLine
from qosforge.note import because
from qosforge.platforms.ios_switch.policing import PortPolicers
from qosforge.platforms.line_rules import ConfigurationLines, Fault, out_of_range, too_many


def marks_in_queues(lines: ConfigurationLines, id_: str, field: str, what: str) -> Iterator[Fault]:
    """A mark that a map puts into two queues, or two thresholds of one."""
    place_of: dict[int, str] = {}
    for line in lines.all(id_):
        threshold = line.get("threshold")
        place = f"{line.get('queue')}" + (f" threshold {threshold}" if threshold else "")
        for mark in line.get(field, ()):
            if place_of.setdefault(mark, place) != place:
                yield Fault(line, because("mark-in-two-queues", mark=f"{what} {mark}", queue=place_of[mark]))


def marks_mapped(lines: ConfigurationLines, id_: str, field: str, to: str, what: str) -> Iterator[Fault]:
    """A mark that a map makes two others of."""
    made: dict[int, int] = {}
    for line in lines.all(id_):
        for mark in line.get(field, ()):
            if made.setdefault(mark, line.values[to]) != line.values[to]:
                yield Fault(line, because("mark-in-two-queues", mark=f"{what} {mark}", queue=str(made[mark])))


def policers(
    lines: ConfigurationLines, limits_of: Callable[[str], PortPolicers | None], source: str
) -> Iterator[Fault]:
    """Rates, bursts and numbers of the policers of each port's policy."""
    policies = lines.named("policy-map")
    told: set[int] = set()
    for port in lines.all("port"):
        limits = limits_of(port.name)
        for attached in port.all("service-policy"):
            policy = policies.get(attached.name)
            if policy is None or limits is None:
                continue
            several = [line for held in policy.all("class") for line in held.all("police")]
            for fault in too_many("policers of a port", several, limits.per_port, source):
                yield fault._replace(port=port.name)
            for line in several:
                if "rate" in line.values and line.number not in told and (why := _why_not(line, limits)):
                    told.add(line.number)
                    yield out_of_range(line, why)._replace(port=port.name)


def _why_not(line: PlacedLine, limits: PortPolicers) -> str:
    rate, burst = line.values["rate"], line.values["burst"]
    if not limits.rate.minimum <= rate <= limits.rate.maximum:
        return f"{rate} is not between {limits.rate.minimum} and {limits.rate.maximum} b/s"
    if rate % limits.rate.step:
        return f"{rate} is no multiple of {limits.rate.step} b/s"
    if limits.bursts and burst not in limits.bursts:
        return f"{burst} is none of {', '.join(map(str, limits.bursts))} bytes"
    if limits.burst is not None and not limits.burst.minimum <= burst <= limits.burst.maximum:
        return f"{burst} is not between {limits.burst.minimum} and {limits.burst.maximum} bytes"
    return ""


def aggregate_policers(lines: ConfigurationLines) -> Iterator[Fault]:
    """Policers that several classes share stand beside the policies."""
    aggregates = lines.named("aggregate")
    for line in lines.all("police"):
        name = line.get("aggregate")
        if name is not None and name not in aggregates:
            yield Fault(line, because("dangling-reference", target=f"aggregate-policer {name}"))
