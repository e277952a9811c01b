"""On which hop, and in which direction, a mark is lost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from qosforge.audit.held import Held
from qosforge.dscp import dscp_name
from qosforge.findings import Finding, Severity
from qosforge.inventory.models import Port
from qosforge.validation.packets import Packet, matches
from qosforge.validation.paths import hops


@dataclass(frozen=True)
class Way:
    """What becomes of a mark between two stations, both named in the inventory's traffic.

    ``arrives`` is the DSCP at the far end; ``lost_at`` the input where it first became another.
    """

    source: str
    target: str
    dscp: int
    arrives: int
    lost_at: Port | None


def ways(held: Held) -> tuple[Way, ...]:
    """The way of every mark between the stations that the traffic scenarios name, in both directions."""
    pairs = {pair for scenario in held.network.traffic for a, b in scenario.between for pair in ((a, b), (b, a))}
    return tuple(way for source, target in sorted(pairs) for way in _ways(held, source, target))


def _ways(held: Held, source: str, target: str) -> Iterator[Way]:
    try:
        path = hops(held.network, source, target)
        ends = held.network.station(source).address, held.network.station(target).address
    except (KeyError, ValueError):
        return  # the inventory names stations that no links connect: no packet has a way
    for dscp in held.marks:
        packet, lost = Packet(source=ends[0], destination=ends[1], dscp=dscp), None
        for hop in path:
            before = packet.dscp
            packet = held.entered(hop.entry, packet)
            if lost is None and before == dscp != packet.dscp:
                lost = hop.entry
        yield Way(source, target, dscp, packet.dscp, lost if packet.dscp != dscp else None)


def check_marks(held: Held) -> Iterator[Finding]:
    """``mark-rewritten`` and ``mark-not-trusted`` at inputs, ``mark-not-served`` at outputs."""
    for device in held.plans:
        for port in held.connected(device):
            yield from _inputs(held, port)
        yield from _outputs(held, device)


def _inputs(held: Held, port: Port) -> Iterator[Finding]:
    """What an input makes of marks that come to it."""
    interface = held.interface(port)
    if interface is None:
        return
    changed: dict[bool, list[str]] = {}
    for dscp in held.marks if held.faces_station(port) else held.travelling:
        packet = held.arriving(port, dscp)
        after = held.entered(port, packet).dscp
        if after != dscp:
            by_rule = any(matches(term, packet) for rule in interface.ingress.rules for term in rule.any_of)
            changed.setdefault(by_rule, []).append(f"{dscp_name(dscp)} → {dscp_name(after)}")
    end = held.far(port)
    for by_rule, marks in changed.items():
        cause = f"policy {interface.ingress.policy}" if by_rule else f"trust {interface.ingress.trust.value}"
        if held.faces_station(port):
            yield Finding(
                code="mark-not-trusted",
                severity=Severity.INFO,
                message=f"marks of the hosts here are not kept ({cause}): {', '.join(marks)}",
                device=port[0],
                interface=port[1],
                direction="input",
                hint="trust the marks here if the hosts are ours, or recognise their traffic",
            )
        else:
            sender = f"what {end[1][0]} {end[1][1]} sends" if end else "what comes in"
            yield Finding(
                code="mark-rewritten",
                severity=Severity.INFO if by_rule else Severity.WARNING,
                message=f"{sender} loses its mark here ({cause}): {', '.join(marks)}",
                device=port[0],
                interface=port[1],
                direction="input",
                hint="trust the DSCP on this port, and make the maps of both devices agree",
            )


def _outputs(held: Held, device: str) -> Iterator[Finding]:
    """Outputs whose queues tell packets apart, where a mark that came in whole takes the queue of the unmarked."""
    missed: dict[Port, dict[str, list[str]]] = {}
    for hop in held.hops(device):
        plain = held.queue(hop, held.entered(hop.entry, held.arriving(hop.entry, 0)))
        if plain is None:
            continue
        marks = []
        for dscp in held.travelling:
            packet = held.entered(hop.entry, held.arriving(hop.entry, dscp))
            if packet.dscp == dscp and held.queue(hop, packet) == plain:
                marks.append(dscp_name(dscp))
        if marks:
            missed.setdefault(hop.exit, {}).setdefault(", ".join(marks), []).append(hop.entry[1])
    for port, entries in missed.items():
        rows = "; ".join(f"{marks} from {', '.join(names)}" for marks, names in entries.items())
        yield Finding(
            code="mark-not-served",
            severity=Severity.INFO,
            message=f"marks take the queue of unmarked traffic: {rows}",
            device=port[0],
            interface=port[1],
            direction="output",
            hint="map these marks to a queue of their own, or let them go",
        )
