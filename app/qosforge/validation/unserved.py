"""Check that a class with an objective is served as one at every hop of its paths, in both directions."""

from __future__ import annotations

from collections.abc import Iterator

from qosforge.findings import Finding
from qosforge.intent.models import Verify
from qosforge.inventory.models import Network, Port
from qosforge.note import note
from qosforge.units import format_rate
from qosforge.validation.context import ValidationContext, class_at
from qosforge.validation.packets import Packet, queue_of
from qosforge.validation.samples import kind_of, served_levels
from qosforge.validation.ways import UNCLASSIFIED, Passage, Way, packets_on, passages, unanswered, ways


def check_unserved(context: ValidationContext) -> Iterator[Finding]:
    """``hop-unserved`` and ``answers-in-other-class``, once for each class and port, and class and path.

    A class keeps its objective where every output on its way tells it apart from other traffic. An output that the
    intent leaves alone is judged by what its device holds; one whose link no other traffic can fill needs nothing.
    """
    told: set[tuple[str, Port]] = set()
    for check in context.compilation.intent.intent.verify:
        for way in ways(context, check):
            for name in check.classes:
                yield from _answers(context, way, name)
                if context.compilation.intent.intent.objective_of(check, name) is not None:
                    yield from _hops(context, check, way, name, told)


def _answers(context: ValidationContext, way: Way, name: str) -> Iterator[Finding]:
    if (levels := served_levels(context, name)) is None:
        return
    if kinds := dict.fromkeys(kind_of(answer) for answer in unanswered(context, way, levels)):
        entry = way.hops[0].entry
        place = class_at(context, name, entry, "input")
        yield note("answers-in-other-class", place, kinds=", ".join(kinds), way=str(way))


def _hops(
    context: ValidationContext, check: Verify, way: Way, name: str, told: set[tuple[str, Port]]
) -> Iterator[Finding]:
    if (levels := served_levels(context, name)) is None:
        return
    for packet in packets_on(context, way, levels):
        for passage in passages(context, way, packet):
            port = passage.hop.exit
            if (name, port) in told or context.schedules(port) or _told_apart(context, passage):
                continue
            if (rates := _crowded(context.compilation.network, passage)) is None:
                continue
            told.add((name, port))
            where = class_at(context, name, port, "output")
            yield note(
                "hop-unserved",
                where,
                variant="unknown" if passage.system is None else ("narrower" if rates[0] > rates[1] else "crowded"),
                way=str(way),
                coming=format_rate(rates[0]),
                rate=format_rate(rates[1]),
            )


def _told_apart(context: ValidationContext, passage: Passage) -> bool:
    """Whether a device that the intent leaves alone there serves a packet otherwise than unmarked traffic."""
    interface, scheduler = context.interface(passage.hop.exit), context.scheduler(passage.hop.exit)
    if passage.system is None or interface is None or scheduler is None or scheduler.discipline in UNCLASSIFIED:
        return False
    plain = Packet(passage.packet.source, passage.packet.destination)
    taken = [queue_of(passage.system, interface.egress.dividing, scheduler, p) for p in (passage.packet, plain)]
    return taken[0] != taken[1]


def _crowded(network: Network, passage: Passage) -> tuple[int, int] | None:
    """Bits per second that come by the packet's own link, and of the output's link, which all inputs could fill.

    None where all links of the device together bring no more than the output's link takes.
    """
    device, port = passage.hop.device, passage.hop.exit
    into = {near: _rate(network, near) for near in _ports(network, device) if near != port}
    out = _rate(network, port)
    return (_rate(network, passage.hop.entry), out) if sum(into.values()) > out else None


def _ports(network: Network, device: str) -> Iterator[Port]:
    for link in network.links:
        yield from (end for end in (link.a, link.b) if end[0] == device)
    yield from (station.attach for station in network.stations if station.attach[0] == device)


def _rate(network: Network, port: Port) -> int:
    if (end := network.neighbour(port)) is not None:
        return end[0].rate
    return sum(station.rate for station in network.stations if station.attach == port)
